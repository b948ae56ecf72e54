//! Pressure stall information: how long tasks waited for a resource
//! (`Documentation/accounting/psi.rst`).

use std::path::Path;

use model::probes::Pressure;

use crate::file::KernelFile;
use crate::root::Root;

/// Pressure, held open to be read around each slice: the three files of the machine or of a control group.
#[derive(Debug)]
pub(crate) struct PressureProbe {
    cpu: KernelFile,
    io: KernelFile,
    memory: KernelFile,
}

impl PressureProbe {
    pub(crate) fn machine(root: &Root, unread: &mut Vec<String>) -> Option<Self> {
        let mut open =
            |name: &str, tells| root.open(format!("/proc/pressure/{name}"), tells, unread);
        Some(Self {
            cpu: open("cpu", "pressure on processors")?,
            io: open("io", "pressure on storage")?,
            memory: open("memory", "pressure on memory")?,
        })
    }

    pub(crate) fn group(root: &Root, folder: &Path) -> Option<Self> {
        let open = |name: &str| root.open_if_there(folder.join(name));
        Some(Self {
            cpu: open("cpu.pressure")?,
            io: open("io.pressure")?,
            memory: open("memory.pressure")?,
        })
    }

    pub(crate) fn read(&self) -> Option<Pressure> {
        let [cpu_some_ns, _] = self.cpu.with_text(totals)?;
        let [io_some_ns, io_full_ns] = self.io.with_text(totals)?;
        let [memory_some_ns, memory_full_ns] = self.memory.with_text(totals)?;
        Some(Pressure { cpu_some_ns, io_some_ns, io_full_ns, memory_some_ns, memory_full_ns })
    }
}

/// The totals of the lines `some` and `full`; kernels before 5.13 have no `full`
/// line for processors.
pub(crate) fn totals(text: &str) -> Option<[u64; 2]> {
    let total = |kind: &str| {
        let line = text.lines().find(|line| line.starts_with(kind))?;
        let (_, micros) = line.rsplit_once("total=")?;
        Some(micros.trim().parse::<u64>().ok()?.saturating_mul(1000))
    };
    Some([total("some")?, total("full").unwrap_or_default()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_microseconds() {
        let text = "some avg10=0.00 avg60=0.26 avg300=0.66 total=12\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=9\n";
        assert_eq!(totals(text), Some([12_000, 9_000]));
        assert_eq!(totals("some avg10=0.00 total=3\n"), Some([3_000, 0]));
        assert_eq!(totals(""), None);
    }
}
