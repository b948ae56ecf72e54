//! What stands at a trace's beginning and at its end.

use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::op::Op;

/// What was recorded, how, and at what cost.
// Each is a field of the format, which older traces lack.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Header {
    /// What saw the calls.
    pub mechanism: Mechanism,
    /// Whether it was attached to a running process (`iotoll watch`), so that the trace begins
    /// in the middle of what the program does.
    pub attached: bool,
    /// The name of the command's program, without its folder and arguments.
    pub program: String,
    /// When it began, in seconds since 1970.
    pub started_s: u64,
    /// As uname(2) has it: `6.8.0-45-generic`.
    pub kernel: String,
    /// How many processors the program could use.
    pub processors: u32,
    /// The size of a page of memory.
    pub page_bytes: u32,
    /// Whether calls say for how long their thread was off the processor. Traces of version 1
    /// do not.
    #[serde(default)]
    pub sees_waiting: bool,
    /// Whether calls say what they waited for: a device, a lock, a pipe or socket, a processor.
    #[serde(default)]
    pub divides_waits: bool,
    /// What the recorder sees beside calls. Older recorders saw none of it.
    #[serde(default)]
    pub sees: Sees,
    /// How many operations of the program's own the command did, where its user said so.
    #[serde(default)]
    pub operations: Option<u64>,
    /// Whether entries say which thread woke another one ([`Entry::Woken`](crate::Entry::Woken)).
    /// Traces of versions 1 and 2 do not.
    #[serde(default)]
    pub sees_wakers: bool,
    /// How much longer the program took for each call because it was recorded.
    #[serde(rename = "toll_ns")]
    pub overhead_ns: OverheadNs,
    /// How much of that falls within the recorded time of the call. It is less than nothing where
    /// calls seem shorter than they are: entering and leaving the kernel may fall outside.
    #[serde(rename = "toll_within_ns")]
    pub overhead_within_ns: OverheadNs,
    /// The same of calls that name a file, which is written down; none where these were not
    /// told apart.
    #[serde(default)]
    pub named: Option<NamedOverhead>,
    /// How much longer the program took, beside that, for each system call that the recorder sees
    /// in a slower way ([`Call::dispatched`]); all of it is outside of the recorded times. None where
    /// there is one way only.
    #[serde(default)]
    pub dispatch_ns: Option<OverheadNs>,
    /// How much longer it took to start a process and have it end. None where that is not known, as of
    /// older recorders.
    #[serde(default)]
    pub process_ns: Option<OverheadNs>,
    /// How much longer beside that where the process became another program.
    #[serde(default)]
    pub program_ns: Option<OverheadNs>,
}

/// What a recorder sees beside system calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sees {
    /// Page faults of mapped files ([`Op::Fault`]).
    pub faults: bool,
    /// What `io_uring` does with files.
    pub rings: bool,
    /// When no thread was on a processor ([`Entry::Idle`](crate::Entry::Idle)).
    pub idle: bool,
}

impl Header {
    /// How much longer the program took for this call because it was recorded.
    pub fn overhead_of(&self, call: &Call) -> OverheadNs {
        let mut sum = self.named_of(call).map_or(self.overhead_ns, |named| named.overhead_ns);
        let OverheadNs { low, high } = self.dispatch_ns.unwrap_or_default();
        let all = |each: i64| each.saturating_mul(i64::from(call.dispatched));
        sum.add(OverheadNs { low: all(low), high: all(high) });
        sum
    }

    /// What the recorder measured while it recorded.
    pub(crate) fn measured(&mut self, overhead_ns: OverheadNs, within_ns: OverheadNs) {
        (self.overhead_ns, self.overhead_within_ns) = (overhead_ns, within_ns);
        (self.named, self.dispatch_ns) = (None, None);
    }

    /// How much of that falls within its recorded time.
    pub fn overhead_within(&self, call: &Call) -> OverheadNs {
        self.named_of(call).map_or(self.overhead_within_ns, |named| named.overhead_within_ns)
    }

    fn named_of(&self, call: &Call) -> Option<NamedOverhead> {
        let is_written_down = call.op.is_call() && call.op != Op::Msync;
        self.named.filter(|_| is_written_down && (call.path.is_some() || call.to.is_some()))
    }
}

/// What a call costs that names a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedOverhead {
    /// How much longer the program took for it because it was recorded.
    #[serde(rename = "toll_ns")]
    pub overhead_ns: OverheadNs,
    /// How much of that falls within its recorded time.
    #[serde(rename = "toll_within_ns")]
    pub overhead_within_ns: OverheadNs,
}

/// How calls were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Programs in the kernel, on its tracepoints.
    Ebpf,
    /// A library within the program: functions in place of libc's, and signals for what does not go
    /// through them.
    #[serde(rename = "hybrid")]
    Preload,
    /// Every call stops at the recorder.
    Ptrace,
    /// Nothing: the trace was made up, as by a test.
    #[default]
    Planted,
}

/// What one call costs, as measured on this machine: between these two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverheadNs {
    /// At the least.
    pub low: i64,
    /// At the most.
    pub high: i64,
}

impl OverheadNs {
    /// In the middle of both.
    pub fn middle(self) -> i64 {
        self.low.midpoint(self.high)
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.low = self.low.saturating_add(other.low);
        self.high = self.high.saturating_add(other.high);
    }
}

/// What the whole recording amounted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// From the recording's beginning to its end: a command's, when it became its program.
    pub wall_ns: u64,
    /// Processor time outside the kernel, of all processes.
    pub user_ns: u64,
    /// Processor time within the kernel.
    pub system_ns: u64,
    /// The command's end, as wait(2) has it; none where it had not ended.
    pub status: Option<i32>,
}

impl Summary {
    /// Whether processor time was counted: of a watched process that ends before its recording does,
    /// nothing is left to read.
    pub(crate) fn knows_processor_time(&self) -> bool {
        self.user_ns > 0 || self.system_ns > 0
    }
}
