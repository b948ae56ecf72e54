//! Axes: where a value stands between the ends, and which values are marked.

/// A part of an axis by which its ends are moved out, so that nothing stands at the rim.
const MARGIN: f64 = 0.04;
/// More marks than this do not fit beside each other on a telephone.
const TICKS_MAX: usize = 7;

/// Parts of a decade that are marked, as many as there is room for.
const FINE: [&[f64]; 3] =
    [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0], &[1.0, 2.0, 5.0], &[1.0, 3.0]];

/// An axis from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Scale {
    /// An axis of logarithms that holds all the values above 0; nothing where there are none.
    pub(crate) fn log(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let logs = values.into_iter().filter(|value| *value > 0.0).map(f64::ln);
        let (low, high) = ends(logs.filter(|log| log.is_finite()))?;
        // Ends that are all but the same are no axis.
        let more = ((high - low) * MARGIN).max(0.05);
        Some(Self { low: low - more, high: high + more, is_log: true })
    }

    /// An axis from 0 to the largest value.
    pub(crate) fn from_zero(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (_, high) = ends(values.into_iter().filter(|value| value.is_finite()))?;
        (high > 0.0).then_some(Self { low: 0.0, high: high * (1.0 + MARGIN), is_log: false })
    }

    /// Where a value stands, from 0 to 1; what is beyond an end stands there.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = if self.is_log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// How many times the lower end the upper one is, as a logarithm.
    pub(crate) fn log_width(&self) -> f64 {
        self.high - self.low
    }

    /// Round values that are marked.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        if self.is_log { self.log_ticks() } else { self.linear_ticks() }
    }

    /// Whether a value is between the ends.
    pub(crate) fn holds(&self, value: f64) -> bool {
        let value = if self.is_log { value.ln() } else { value };
        (self.low..=self.high).contains(&value)
    }

    fn log_ticks(&self) -> Vec<f64> {
        let decade = |value: f64| (value / std::f64::consts::LN_10).floor() as i32;
        let decades = decade(self.low)..=decade(self.high);
        let of = |steps: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|d| steps.iter().map(move |s| s * 10_f64.powi(d)));
            all.filter(|value| self.holds(*value)).collect()
        };
        let fine = FINE.iter().map(|steps| of(steps)).find(|ticks| ticks.len() <= TICKS_MAX);
        let whole = of(&[1.0]);
        let ticks = fine.unwrap_or_else(|| {
            let every = whole.len().div_ceil(TICKS_MAX).max(1);
            whole.iter().copied().step_by(every).collect()
        });
        // Less than half an octave has none of those.
        if ticks.len() < 2 { self.even_ticks() } else { ticks }
    }

    /// Steps of one size, on an axis that is too short for anything else.
    fn even_ticks(&self) -> Vec<f64> {
        let (low, high) = (self.low.exp(), self.high.exp());
        let step = round_step((high - low) / 4.0);
        multiples(step, low, high)
    }

    fn linear_ticks(&self) -> Vec<f64> {
        multiples(round_step((self.high - self.low) / 5.0), self.low, self.high)
    }
}

/// Ratios that are marked on an axis of ratios, 1 among them.
pub(crate) fn ratio_ticks(scale: &Scale) -> Vec<f64> {
    const SETS: [&[f64]; 4] = [
        &[0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.25],
        &[0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0],
        &[0.1, 0.2, 0.33, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0],
        &[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0],
    ];
    let of = |set: &[f64]| -> Vec<f64> {
        set.iter().copied().filter(|ratio| scale.holds(*ratio)).collect()
    };
    let covers = |set: &[f64]| {
        let (first, last) = (set[0].ln(), set[set.len() - 1].ln());
        first <= scale.low + 0.25 * scale.log_width()
            && last >= scale.high - 0.25 * scale.log_width()
    };
    let fitting = SETS.iter().filter(|set| covers(set)).map(|set| of(set));
    let mut fitting = fitting.filter(|ticks| (3..=TICKS_MAX).contains(&ticks.len()));
    fitting.next().unwrap_or_else(|| {
        let mut ticks = scale.log_ticks();
        if !ticks.iter().any(|tick| (tick - 1.0).abs() < 1e-9) && scale.holds(1.0) {
            ticks.push(1.0);
        }
        ticks
    })
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

/// The round step nearest above a size: 1, 2 or 5 times a power of ten.
fn round_step(size: f64) -> f64 {
    let power = 10_f64.powf(size.max(f64::MIN_POSITIVE).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= size * 0.999).unwrap_or(size)
}

fn multiples(step: f64, low: f64, high: f64) -> Vec<f64> {
    if !(step > 0.0 && (high - low) / step < 100.0) {
        return Vec::new();
    }
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|multiple| multiple as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(low: f64, high: f64) -> Scale {
        Scale::log([low, high]).unwrap_or_else(|| panic!("it has ends"))
    }

    #[test]
    fn values_stand_between_the_ends_and_beyond_them_at_the_ends() {
        let scale = log(10.0, 1000.0);
        assert!((scale.at(100.0) - 0.5).abs() < 1e-9);
        assert!(scale.at(10.0) > 0.01 && scale.at(1000.0) < 0.99);
        assert!(scale.at(0.0) <= 0.0 && scale.at(1e9) >= 1.0);
        assert_eq!(Scale::log([0.0, f64::NAN]), None);
        assert_eq!(Scale::from_zero([0.0]), None);
    }

    #[test]
    fn ticks_are_round_few_and_there_on_any_axis() {
        for (low, high) in
            [(3.0, 3.0), (3.0, 3.1), (3.0, 5.0), (1.0, 90.0), (2e2, 7e9), (1e-9, 1e12)]
        {
            let ticks = log(low, high).ticks();
            assert!((2..=TICKS_MAX + 1).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
        }
        assert_eq!(log(150.0, 7000.0).ticks(), [200.0, 500.0, 1e3, 2e3, 5e3]);
        let linear = Scale::from_zero([103.0]).map(|scale| scale.ticks());
        assert_eq!(linear, Some(vec![0.0, 50.0, 100.0]));
    }

    #[test]
    fn an_axis_of_ratios_always_has_the_mark_of_the_same() {
        for (low, high) in
            [(0.97, 1.04), (0.8, 1.0), (0.5, 1.1), (0.03, 1.2), (1.0, 3000.0), (1e-6, 1.0)]
        {
            let ticks = ratio_ticks(&log(low, high));
            assert!(
                ticks.iter().any(|tick| (tick - 1.0).abs() < 1e-9),
                "{low} to {high}: {ticks:?}"
            );
            assert!((2..=TICKS_MAX + 2).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
        }
    }
}
