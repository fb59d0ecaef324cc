//! Steps of a save that fail, or at which the program is killed: for tests.

use ramie_core::lock::lock;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// What happens at one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no more space.
    DiskFull,
    /// It is not allowed.
    Denied,
    /// The program ends at once.
    Killed,
}

/// The steps that are watched: those below one folder.
struct Plan {
    folder: PathBuf,
    /// The step at which something happens, and what.
    at: Option<(usize, Fault)>,
    steps: Vec<String>,
}

static PLANS: Mutex<Vec<Plan>> = Mutex::new(Vec::new());

fn plans() -> MutexGuard<'static, Vec<Plan>> {
    lock(&PLANS)
}

/// Watches the steps below a folder from now on; `at` is the number of that with the
/// fault, from 0.
pub fn plan(folder: &Path, at: Option<(usize, Fault)>) {
    let mut plans = plans();
    plans.retain(|plan| plan.folder != folder);
    plans.push(Plan {
        folder: folder.to_owned(),
        at,
        steps: Vec::new(),
    });
}

/// The steps below a folder since it is watched; that ends here.
pub fn steps(folder: &Path) -> Vec<String> {
    let mut plans = plans();
    match plans.iter().position(|plan| plan.folder == folder) {
        Some(i) => plans.remove(i).steps,
        None => Vec::new(),
    }
}

/// A step is reached.
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
