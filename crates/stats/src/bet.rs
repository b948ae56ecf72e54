//! A bet against "the true log ratio is at most θ", placed before each block.
//!
//! Three bettors share the stake; wealth is the sum of theirs. Each one's stake
//! depends on the blocks before and on how far the block lies from θ, not on
//! which side. The block then multiplies the bettor's wealth by 1 + κ·pull,
//! where the pull, from -1 to 1, grows with the block and is as strong upwards
//! as downwards. If θ is the truth and noise is as likely to push a block up as
//! down by the same amount, each factor is 1 on average, and less if the truth
//! is lower still: wealth cannot be expected to grow, and reaches W at any time
//! at all with probability at most 1/W (Ville 1939). Bets on symmetry are those
//! of Ramdas, Ruf, Larsson and Koolen, "Admissible anytime-valid sequential
//! inference must rely on nonnegative martingales" (2020), with stakes set from
//! the past as by Waudby-Smith and Ramdas, "Estimating means of bounded random
//! variables by betting" (2024). That a mean of such wealths is one again is
//! Robbins' method of mixtures (1970).
//!
//! - The *bold* bettor measures distances from θ by the typical distance so
//!   far. It is the soonest to find a θ that lies a good standard deviation
//!   from the blocks, and finds nothing much nearer. Its pull is that of the
//!   likelihood ratio between Gaussian noise about θ ± δ.
//! - The *patient* bettor measures them by the spread of the blocks before, and
//!   in ever larger units, so that it finds ever smaller distances.
//! - The *stubborn* bettor stakes everything on each block's side: 12 blocks on
//!   one side suffice, however scattered they are.

/// Blocks that the patient bettor only looks at, to learn the scale of noise.
const FIRST_LOOKS: usize = 3;

/// The parts of the stake.
const BOLD: f64 = 0.64;
const PATIENT: f64 = 0.34;
/// As 0.02 · 2¹² is more than 40.
const STUBBORN: f64 = 0.02;

/// The part κ of its wealth that the bold bettor stakes.
const BOLD_STAKE: f64 = 0.98;
/// Its steepness per typical distance: r / (1 - r²), where r = 0.6 is the shift
/// δ over the root mean square distance, and 1.479 turns the squared mean root
/// of distances into the latter if noise is Gaussian.
const BOLD_STEEPNESS: f64 = 0.6 / (1.0 - 0.6 * 0.6) / 1.479;

/// The part κ that the patient bettor stakes. Much less than all, because where
/// noise has two modes many blocks are outliers and each must cost little: with
/// 0.6 a factor of 2.5 at most.
const PATIENT_STAKE: f64 = 0.6;
/// √(2 ln 40) / √n per standard deviation is the steepness at which a Gaussian
/// bettor soonest has 40 times the stake (Waudby-Smith and Ramdas).
const PATIENT_STEEPNESS: f64 = 2.7;

/// Distance, in log ratio, over which the patient bettor's pull on the block
/// after so many blocks of this spread goes from nothing to all; infinite while
/// it only looks.
pub(crate) fn patient_scale(blocks: usize, spread: f64) -> f64 {
    if blocks < FIRST_LOOKS {
        return f64::INFINITY;
    }
    PATIENT_STAKE * spread * (blocks as f64).sqrt() / PATIENT_STEEPNESS
}

/// The patient bettor's advantage, on one block, of the bet that the truth lies
/// above θ over the bet that it lies below.
pub(crate) fn patient_log_odds(distance: f64, scale: f64) -> f64 {
    let pull = PATIENT_STAKE * pull(distance, scale);
    pull.ln_1p() - (-pull).ln_1p()
}

/// Where the scale is zero only the side counts.
fn pull(distance: f64, scale: f64) -> f64 {
    if distance == 0.0 { 0.0 } else { (distance / scale).tanh() }
}

/// What the bets against one θ, in one direction, have become.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wealth {
    blocks: f64,
    /// Sum of the square roots of the distances; a mean that heavy tails hardly
    /// move.
    roots: f64,
    bold: Product,
    patient: Product,
    stubborn: Product,
}

impl Wealth {
    /// Before the first block.
    pub(crate) fn start() -> Self {
        let one = Product { factor: 1.0, log: 0.0 };
        Self { blocks: 0.0, roots: 0.0, bold: one, patient: one, stubborn: one }
    }

    /// Takes in a block that lies `distance` above the θ that is bet against.
    pub(crate) fn settle(&mut self, distance: f64, patient_scale: f64) {
        self.blocks += 1.0;
        self.roots += distance.abs().sqrt();
        let typical = (self.roots / self.blocks).powi(2);
        self.bold.multiply(1.0 + BOLD_STAKE * pull(BOLD_STEEPNESS * distance, typical));
        self.patient.multiply(1.0 + PATIENT_STAKE * pull(distance, patient_scale));
        self.stubborn.multiply(1.0 + pull(distance, 0.0));
    }

    /// The logarithm of the wealth over the stake.
    pub(crate) fn log(&self) -> f64 {
        log_sum(self.log_without_stubborn(), STUBBORN.ln() + self.stubborn.log())
    }

    /// The same without what the stubborn bettor holds, which leaps where θ
    /// passes a block.
    pub(crate) fn log_without_stubborn(&self) -> f64 {
        log_sum(BOLD.ln() + self.bold.log(), PATIENT.ln() + self.patient.log())
    }
}

/// The logarithm of the sum of two numbers of which the logarithms are given,
/// not both -∞.
fn log_sum(a: f64, b: f64) -> f64 {
    let (less, more) = if a < b { (a, b) } else { (b, a) };
    more + (less - more).exp().ln_1p()
}

/// A product of many factors, of which a logarithm is taken only now and then.
#[derive(Clone, Copy, Debug)]
struct Product {
    factor: f64,
    log: f64,
}

impl Product {
    fn multiply(&mut self, factor: f64) {
        self.factor *= factor;
        if !(1e-100..1e100).contains(&self.factor) {
            self.log = self.log();
            self.factor = 1.0;
        }
    }

    fn log(self) -> f64 {
        self.log + self.factor.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(distances: &[f64]) -> Wealth {
        let mut wealth = Wealth::start();
        for (blocks, &distance) in distances.iter().enumerate() {
            wealth.settle(distance, patient_scale(blocks, 0.03));
        }
        wealth
    }

    #[test]
    fn the_parts_of_the_stake_are_all_of_it() {
        assert!((BOLD + PATIENT + STUBBORN - 1.0).abs() < 1e-12);
        assert!(Wealth::start().log().abs() < 1e-12);
    }

    #[test]
    fn a_fair_coin_cannot_be_beaten() {
        for distance in [1e-9, 0.01, 0.1, 3.0, 1e9] {
            let before = [0.01, -0.02, 0.5, 0.03, 0.04];
            let next = |distance| after(&[before.as_slice(), &[distance]].concat()).log().exp();
            let mean = 0.5 * (next(distance) + next(-distance));
            let now = after(&before).log().exp();
            assert!((mean / now - 1.0).abs() < 1e-12, "{distance}: {mean} {now}");
        }
    }

    /// Else a truth below θ could make the bet against θ a good one.
    #[test]
    fn a_higher_block_never_earns_less() {
        let before = [0.01, -0.02, 0.5, 0.03, 0.04];
        let mut last = f64::NEG_INFINITY;
        for step in -200..200 {
            let distance = f64::from(step) * 0.01;
            let wealth = after(&[before.as_slice(), &[distance]].concat()).log();
            assert!(wealth >= last, "{distance}: {wealth} after {last}");
            last = wealth;
        }
    }

    #[test]
    fn an_outlier_does_not_ruin() {
        let mut stalled = [0.03; 40];
        stalled[20] = -1e9;
        let stalled = after(&stalled).log();
        assert!(stalled > 10.0, "{stalled}");
    }

    #[test]
    fn twelve_on_one_side_suffice_however_scattered() {
        let mut scattered = [1e-6; 12];
        scattered[0] = 1e6;
        assert!(after(&scattered).log() >= 40.0_f64.ln());
        scattered[5] = -1e-6;
        assert!(after(&scattered).log() < 40.0_f64.ln());
    }

    #[test]
    fn without_variation_the_side_alone_counts() {
        assert!(patient_log_odds(0.0, 0.0) == 0.0);
        assert!((patient_log_odds(1e-300, 0.0) - 4.0_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn a_long_product_neither_overflows_nor_vanishes() {
        for factor in [1.98, 0.02] {
            let mut product = Product { factor: 1.0, log: 0.0 };
            (0..5_000).for_each(|_| product.multiply(factor));
            let expected = 5_000.0 * f64::ln(factor);
            assert!((product.log() / expected - 1.0).abs() < 1e-12);
        }
        let mut product = Product { factor: 1.0, log: 0.0 };
        product.multiply(0.0);
        product.multiply(2.0);
        assert!(product.log() == f64::NEG_INFINITY);
    }
}
