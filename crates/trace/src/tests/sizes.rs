//! How many bytes a call takes in a trace.

use crate::Op;
use crate::flags::{O_APPEND, O_CREAT, O_RDWR, O_WRONLY};
use crate::planted::Planted;

/// What the format promises, on average.
const BYTES_PER_CALL: f64 = 12.0;

/// Times and sizes that scatter as real ones do: no two are alike.
struct Scatter(u64);

impl Scatter {
    /// From half of it to one and a half, and one in 64 some ten times as long.
    fn about(&mut self, typical: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = self.0 >> 33;
        let long = if random.is_multiple_of(64) { 10 } else { 1 };
        (typical / 2 + random % typical.max(1)) * long
    }
}

/// Traces of so many calls: bytes per call.
fn bytes_per_call(calls: u64, plant: impl Fn(&mut Planted, &mut Scatter)) -> f64 {
    let (mut planted, mut scatter) = (Planted::new("/srv/app"), Scatter(7));
    plant(&mut planted, &mut scatter);
    planted.finish().len() as f64 / calls as f64
}

fn log(planted: &mut Planted, scatter: &mut Scatter) {
    for _ in 0..20_000 {
        planted.open("var/log/app.log", O_WRONLY | O_APPEND | O_CREAT, 3);
        planted.moved(Op::Write, 3, scatter.about(137), scatter.about(900));
        planted.on(Op::Close, 3, scatter.about(400));
        planted.think(scatter.about(30_000));
    }
}

fn tree(planted: &mut Planted, scatter: &mut Scatter) {
    for number in 0..20_000 {
        let (folder, name) = (number / 12, scatter.about(1_000_000));
        let path = format!("src/component{folder}/module_{name}.rs");
        planted.named(Op::Stat, &path, scatter.about(1500), 0);
        planted.open(&path, 0, 4);
        let bytes = scatter.about(9000);
        planted.moved(Op::Read, 4, bytes, scatter.about(4000));
        planted.on(Op::Close, 4, scatter.about(400));
        planted.moved(Op::Write, 3, bytes, scatter.about(6000));
    }
}

fn database(planted: &mut Planted, scatter: &mut Scatter) {
    planted.open("app.db", O_RDWR, 3);
    for transaction in 0..20_000 {
        for _ in 0..3 {
            let page = scatter.about(300) * 4096;
            planted.call(1, Op::Write, scatter.about(2500), |call| {
                (call.fd, call.offset, call.length) = (3, page as i64, 4096);
                call.result = 4096;
            });
        }
        let took_ns = scatter.about(700_000);
        planted.call(1, Op::Fdatasync, took_ns, |call| {
            (call.fd, call.waited_ns) = (3, took_ns - scatter.about(30_000).min(took_ns));
        });
        planted.call(1, Op::Lock, scatter.about(600), |call| {
            (call.fd, call.flags, call.offset) = (3, 6, 0x4000_0001);
            (call.mode, call.length) = (transaction % 2 + 1, 1);
        });
    }
}

/// Four threads that read anywhere in two files at the same time.
fn threads(planted: &mut Planted, scatter: &mut Scatter) {
    planted.open("one", 0, 3);
    planted.open("two", 0, 4);
    for thread in 2..6 {
        planted.begin(1, thread, true);
    }
    for number in 0..100_000 {
        let thread = 2 + (scatter.about(100) % 4) as u32;
        let (began_ns, took_ns) = (planted.now_ns, scatter.about(8000));
        let (offset, length) = (scatter.about(1 << 18) as i64 * 4096, 4096);
        planted.call(thread, Op::Read, took_ns, |call| {
            (call.fd, call.offset, call.length) = (3 + number % 2, offset, length);
            call.result = length as i64;
        });
        planted.now_ns = began_ns + took_ns / 4;
    }
}

/// Fails where a field is written that follows from the call before, or a time that is 0.
#[test]
fn a_call_takes_twelve_bytes_at_the_most_on_average() {
    let sizes = [
        ("log", bytes_per_call(60_000, log)),
        ("tree", bytes_per_call(100_000, tree)),
        ("database", bytes_per_call(100_000, database)),
        ("threads", bytes_per_call(100_000, threads)),
    ];
    assert!(sizes.iter().all(|(_, bytes)| *bytes <= BYTES_PER_CALL), "{sizes:.1?}");
}
