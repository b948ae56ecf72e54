//! What this machine lacks for trying a command, and what still works.

use places::WorkDir;
use process::StopFlag;

use crate::filter::syncs_free;
use crate::view::{Arrangement, View};

/// What is missing here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Why commands can have no private view of the files, if so. Nothing can be tried then.
    pub view: Option<String>,
    /// Why syncs cannot be free, if so.
    pub filter: Option<String>,
    /// Whether setuid programs have no rights in a view.
    pub takes_rights: bool,
}

/// Finds out what is missing, by trying it.
pub fn missing(work: &WorkDir, stop: &StopFlag) -> Missing {
    let view = View::open(&Arrangement::default(), work.path(), stop);
    let takes_rights = view.as_ref().is_ok_and(View::takes_rights);
    let filter = match (syncs_free(), &view) {
        (None, _) => Some("the numbers of its calls are not known".to_owned()),
        (Some(filter), Ok(_)) => {
            let mut command = std::process::Command::new("/proc/self/exe");
            command.arg("--version").stdout(std::process::Stdio::null());
            sys::call_filter::filter_calls(&mut command, filter);
            command.status().err().map(|error| format!("seccomp is refused ({error})"))
        }
        (Some(_), Err(_)) => None,
    };
    Missing { view: view.err().map(|error| error.to_string()), filter, takes_rights }
}
