//! One notation for what two times differ by: `5.3× faster (4.8–5.9)`, `12% less (9–15%)`,
//! `13% less to 8% more`.

use model::analysis::Comparison;
use units::{percent, three_digits, two_digits};

/// From this factor on a difference is told as a factor, below it as a percentage.
pub(crate) const FACTOR_FROM: f64 = 1.5;
/// Nobody could act on a smaller share, which is told as none.
const SHARE_MIN: f64 = 0.0005;

/// A ratio of times and its interval in words.
pub(crate) struct Difference {
    /// `5.3× faster`, `12% less`; empty where it is not known.
    pub(crate) ratio: String,
    /// `4.8–5.9`, `9–15%`, `13% less to 8% more`; empty where there is no bound.
    pub(crate) interval: String,
}

impl Difference {
    pub(crate) fn new(ratio: Option<f64>, low: Option<f64>, high: Option<f64>) -> Self {
        let interval = match (low, high) {
            (Some(low), Some(high)) => between(ratio, low, high),
            (Some(low), None) => format!("{} at best", told(low)),
            (None, Some(high)) => format!("{} at worst", told(high)),
            (None, None) => String::new(),
        };
        Self { ratio: ratio.map_or_else(String::new, told), interval }
    }

    pub(crate) fn of(comparison: &Comparison) -> Self {
        Self::new(comparison.ratio, comparison.ratio_low, comparison.ratio_high)
    }

    /// ` (4.8–5.9)`; nothing where there is no bound.
    pub(crate) fn in_brackets(&self) -> String {
        if self.interval.is_empty() { String::new() } else { format!(" ({})", self.interval) }
    }
}

/// The text of a ratio that rounds to 1.
pub(crate) const SAME: &str = "same";

/// `5.3× faster`, `1.6× slower`, `12% less`, `16% more`, `same`.
pub(crate) fn told(ratio: f64) -> String {
    match Way::of(ratio) {
        Way::Factor(factor, word) => format!("{}× {word}", two_digits(factor)),
        Way::Share(0.0, _) => SAME.to_owned(),
        Way::Share(share, word) => format!("{} {word}", percent(share)),
    }
}

/// Where a ratio lies, by its bounds alone: `4.9–7% more`, `13% less to 8% more`.
pub(crate) fn range(low: Option<f64>, high: Option<f64>) -> String {
    let Difference { interval, .. } = Difference::new(None, low, high);
    let (Some(low), true) = (low, interval.contains('–')) else { return interval };
    let word = match Way::of(low) {
        Way::Factor(_, word) => format!("× {word}"),
        Way::Share(_, word) => format!(" {word}"),
    };
    interval + &word
}

/// The same without `faster`, for where that is said already: `5.3×`.
pub(crate) fn in_short(ratio: f64) -> String {
    told(ratio).replace("× faster", "×")
}

/// `is 5.3× faster than`, `takes 12% less time than`, `takes the same time as`.
pub(crate) fn against(ratio: f64) -> String {
    match Way::of(ratio) {
        Way::Factor(..) => format!("is {} than", told(ratio)),
        Way::Share(0.0, _) => "takes the same time as".to_owned(),
        Way::Share(..) => format!("takes {} time than", told(ratio)),
    }
}

/// How a ratio is told.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Factor(f64, &'static str),
    Share(f64, &'static str),
}

impl Way {
    fn of(ratio: f64) -> Self {
        let is_less = ratio < 1.0;
        let factor = if is_less { 1.0 / ratio } else { ratio };
        if factor >= FACTOR_FROM {
            return Self::Factor(factor, if is_less { "faster" } else { "slower" });
        }
        let share = Some((ratio - 1.0).abs()).filter(|share| *share >= SHARE_MIN);
        Self::Share(share.unwrap_or_default(), if is_less { "less" } else { "more" })
    }
}

/// Both ends of an interval: where they are on one side of "same", in the notation of the
/// ratio, the smaller figure first.
fn between(ratio: Option<f64>, low: f64, high: f64) -> String {
    let is_one_sided = low > 1.0 + SHARE_MIN || high < 1.0 - SHARE_MIN;
    if !is_one_sided {
        return format!("{} to {}", told(low), told(high));
    }
    let in_order = |ends: [f64; 2]| if ends[0] < ends[1] { ends } else { [ends[1], ends[0]] };
    if let Way::Factor(..) = Way::of(ratio.unwrap_or(low)) {
        let ends = in_order([low, high].map(|end| if high < 1.0 { 1.0 / end } else { end }));
        let [short, long] = [two_digits, three_digits].map(|digits| ends.map(digits));
        let [least, most] = if short[0] == short[1] { long } else { short };
        return format!("{least}–{most}");
    }
    let [least, most] = in_order([low, high].map(|end| (end - 1.0).abs())).map(percent);
    format!("{}–{most}", least.trim_end_matches('%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ratio: f64, low: f64, high: f64) -> String {
        let difference = Difference::new(Some(ratio), Some(low), Some(high));
        format!("{}{}", difference.ratio, difference.in_brackets())
    }

    #[test]
    fn factors_and_shares_have_one_notation_for_point_and_interval() {
        assert_eq!(of(0.19, 0.17, 0.21), "5.3× faster (4.8–5.9)");
        assert_eq!(of(1.6, 1.52, 1.7), "1.6× slower (1.5–1.7)");
        assert_eq!(of(0.88, 0.85, 0.91), "12% less (9–15%)");
        assert_eq!(of(1.16, 1.10, 1.22), "16% more (10–22%)");
        assert_eq!(of(0.98, 0.87, 1.08), "2% less (13% less to 8% more)");
        assert_eq!(of(1.0, 1.0, 1.0), "same (same to same)");
        assert_eq!(of(0.2293, 0.2291, 0.2295), "4.4× faster (4.36–4.36)");
        assert_eq!(of(0.62, 0.5, 0.7), "1.6× faster (1.4–2.0)");
        assert_eq!(of(0.7, 0.5, 0.8), "30% less (20–50%)");
    }

    #[test]
    fn a_bound_alone_says_which() {
        assert_eq!(Difference::new(None, Some(0.5), None).interval, "2.0× faster at best");
        assert_eq!(Difference::new(None, None, Some(1.2)).interval, "20% more at worst");
        assert_eq!(Difference::new(None, None, None).in_brackets(), "");
        assert_eq!(range(Some(1.049), Some(1.07)), "4.9–7% more");
        assert_eq!(range(Some(0.1), Some(0.2)), "5.0–10× faster");
        assert_eq!(range(Some(0.9), Some(1.1)), "10% less to 10% more");
    }

    #[test]
    fn a_sentence_reads_well() {
        assert_eq!(against(0.19), "is 5.3× faster than");
        assert_eq!(against(1.12), "takes 12% more time than");
        assert_eq!(against(1.0001), "takes the same time as");
        assert_eq!((in_short(0.1), in_short(2.0)), ("10×".into(), "2.0× slower".into()));
    }
}
