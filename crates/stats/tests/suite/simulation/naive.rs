//! What is done without `iotoll`, as a control: the harness must find it wrong.

use iotoll_stats::Decision;

use crate::simulation::machine::Machine;

/// Looks after every block from the tenth on whether the 95% t-interval leaves
/// out zero. The critical value is that for 10 blocks, and so too careful for
/// all later ones.
pub(crate) fn peeking_t_test_rejects(machine: &mut Machine, blocks: usize) -> bool {
    let mut log_ratios = Vec::new();
    (0..blocks).any(|_| {
        log_ratios.push(machine.block());
        log_ratios.len() >= 10 && t_statistic(&log_ratios).abs() > 2.262
    })
}

/// Looks once, after the last block.
pub(crate) fn single_t_test_rejects(machine: &mut Machine, blocks: usize) -> bool {
    let log_ratios: Vec<f64> = (0..blocks).map(|_| machine.block()).collect();
    t_statistic(&log_ratios).abs() > 1.972
}

fn t_statistic(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
    mean / (variance / count).sqrt()
}

/// Runs A some times, then B as often, and believes the ratio of the means.
pub(crate) fn a_then_b(machine: &mut Machine, repeats: usize, threshold: f64) -> Decision {
    let base: f64 = (0..repeats).map(|_| machine.base().exp()).sum();
    let other: f64 = (0..repeats).map(|_| machine.other().exp()).sum();
    match other / base {
        ratio if ratio > 1.0 + threshold => Decision::Greater,
        ratio if ratio < 1.0 / (1.0 + threshold) => Decision::Less,
        _ => Decision::Within,
    }
}
