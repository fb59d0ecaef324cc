//! Fault injection for tests: operations of a save that fail, or at which the program is killed.

use ramie_core::lock::lock;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// Effect of a fault at one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No space is left.
    DiskFull,
    /// Permission is denied.
    Denied,
    /// The program aborts.
    Killed,
}

/// Watched operations below one directory.
struct Plan {
    folder: PathBuf,
    /// Index of the operation with the fault, and its effect.
    at: Option<(usize, Fault)>,
    steps: Vec<String>,
}

static PLANS: Mutex<Vec<Plan>> = Mutex::new(Vec::new());

fn plans() -> MutexGuard<'static, Vec<Plan>> {
    lock(&PLANS)
}

/// Starts watching the operations below a directory; `at` is the 0-based index of the operation
/// with the fault.
pub fn plan(folder: &Path, at: Option<(usize, Fault)>) {
    let mut plans = plans();
    plans.retain(|plan| plan.folder != folder);
    plans.push(Plan {
        folder: folder.to_owned(),
        at,
        steps: Vec::new(),
    });
}

/// Returns the operations below a directory since it was watched, and stops watching.
pub fn steps(folder: &Path) -> Vec<String> {
    let mut plans = plans();
    match plans.iter().position(|plan| plan.folder == folder) {
        Some(i) => plans.remove(i).steps,
        None => Vec::new(),
    }
}

/// Records an operation and injects the planned fault.
pub fn reach(path: &Path, what: &'static str) -> io::Result<()> {
    let mut plans = plans();
    let Some(plan) = plans.iter_mut().find(|plan| path.starts_with(&plan.folder)) else {
        return Ok(());
    };
    let step = plan.steps.len();
    plan.steps.push(format!("{what} {}", path.display()));
    match plan.at {
        Some((at, fault)) if at == step => match fault {
            Fault::DiskFull => Err(io::ErrorKind::StorageFull.into()),
            Fault::Denied => Err(io::ErrorKind::PermissionDenied.into()),
            Fault::Killed => std::process::abort(),
        },
        _ => Ok(()),
    }
}
