//! What the system says of this process. On Linux: elsewhere most of it is not said.

use std::fs;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// What it uses, as far as that is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Processor time of all its threads.
    pub(super) cpu: Option<Duration>,
    /// Bytes of memory.
    pub(super) resident: Option<u64>,
    pub(super) open_files: Option<u64>,
    pub(super) max_files: Option<u64>,
}

impl Usage {
    pub(super) fn now() -> Self {
        Self {
            cpu: clock_gettime(ClockId::ProcessCPUTime).try_into().ok(),
            resident: fs::read_to_string("/proc/self/status").ok().as_deref().and_then(resident_bytes),
            // The folder that is read is open itself meanwhile.
            open_files: fs::read_dir("/proc/self/fd")
                .ok()
                .map(|files| files.count().saturating_sub(1) as u64),
            max_files: getrlimit(Resource::Nofile).current,
        }
    }
}

/// Of the text of `/proc/self/status`, which counts in KiB.
fn resident_bytes(status: &str) -> Option<u64> {
    let kibibytes =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?;
    Some(kibibytes.parse::<u64>().ok()? << 10)
}
