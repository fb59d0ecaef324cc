//! Waiting for checkpoints saved by another program.

use super::{StepNames, steps};
use crate::Result;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Options of [`wait_for_new_checkpoint`] and [`checkpoints_iterator`].
pub struct WaitOptions {
    names: StepNames,
    poll: Duration,
    timeout: Option<Duration>,
    timeout_fn: Option<Box<dyn FnMut() -> bool + Send>>,
    min_interval: Duration,
}

impl Default for WaitOptions {
    fn default() -> WaitOptions {
        WaitOptions {
            names: StepNames::new(),
            poll: Duration::from_secs(1),
            timeout: None,
            timeout_fn: None,
            min_interval: Duration::ZERO,
        }
    }
}

impl WaitOptions {
    /// Creates default options: poll every second, without a timeout.
    pub fn new() -> WaitOptions {
        WaitOptions::default()
    }

    /// Sets the format of step names.
    pub fn step_name_format(mut self, names: StepNames) -> WaitOptions {
        self.names = names;
        self
    }

    /// Sets the time between two polls. Defaults to one second.
    pub fn poll_interval(mut self, interval: Duration) -> WaitOptions {
        self.poll = interval;
        self
    }

    /// Sets how long to wait for a checkpoint. By default, there is no timeout.
    pub fn timeout(mut self, timeout: Duration) -> WaitOptions {
        self.timeout = Some(timeout);
        self
    }

    /// Sets a function that is called on timeout. If it returns `true`, no more checkpoints are
    /// expected and the wait ends; otherwise the wait starts again.
    pub fn timeout_fn(mut self, f: impl FnMut() -> bool + Send + 'static) -> WaitOptions {
        self.timeout_fn = Some(Box::new(f));
        self
    }

    /// Sets the minimum time between two checkpoints returned by the iterator.
    pub fn min_interval(mut self, interval: Duration) -> WaitOptions {
        self.min_interval = interval;
        self
    }

    /// Waits for a checkpoint of step `until_step` or later.
    fn wait(&mut self, folder: &Path, until_step: Option<u64>) -> Result<Option<u64>> {
        let mut begun = Instant::now();
        loop {
            let last = steps::last(folder, &self.names)?;
            if last >= until_step && last.is_some() {
                return Ok(last);
            }
            let left = self.timeout.map(|t| t.saturating_sub(begun.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                if self.timeout_fn.as_mut().is_none_or(|over| over()) {
                    return Ok(None);
                }
                begun = Instant::now();
            }
            let pause = left.filter(|left| !left.is_zero());
            std::thread::sleep(self.poll.min(pause.unwrap_or(self.poll)));
        }
    }
}

impl std::fmt::Debug for WaitOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WaitOptions")
            .field("names", &self.names)
            .field("poll", &self.poll)
            .field("timeout", &self.timeout)
            .field("min_interval", &self.min_interval)
            .finish_non_exhaustive()
    }
}

/// Waits for a checkpoint in a directory: of step `until_step` or later, or any if it is `None`.
/// Returns the last step, or `None` after the timeout.
///
/// ```no_run
/// use ramie_checkpoint::manager::{WaitOptions, wait_for_new_checkpoint};
/// use std::time::Duration;
/// # fn main() -> ramie_checkpoint::Result<()> {
/// let options = WaitOptions::new().timeout(Duration::from_secs(600));
/// if let Some(step) = wait_for_new_checkpoint("run", Some(1000), options)? {
///     println!("step {step} is there");
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if the directory cannot be listed.
pub fn wait_for_new_checkpoint(
    folder: impl AsRef<Path>,
    until_step: Option<u64>,
    mut options: WaitOptions,
) -> Result<Option<u64>> {
    options.wait(folder.as_ref(), until_step)
}

/// Returns an iterator over the steps that another program saves in a directory. Each call returns
/// the last step; steps that were saved while the caller was busy are skipped. The iterator ends
/// on timeout.
///
/// ```no_run
/// use ramie_checkpoint::manager::{WaitOptions, checkpoints_iterator};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// for step in checkpoints_iterator("run", WaitOptions::new()) {
///     println!("evaluates step {}", step?);
/// }
/// # Ok(())
/// # }
/// ```
///
/// The other program may delete a step while it is being read, so configure it to keep several.
pub fn checkpoints_iterator(
    folder: impl Into<PathBuf>,
    options: WaitOptions,
) -> CheckpointsIterator {
    CheckpointsIterator {
        folder: folder.into(),
        options,
        last: None,
        ended: false,
    }
}

/// Iterator over new steps, created by [`checkpoints_iterator`].
#[derive(Debug)]
pub struct CheckpointsIterator {
    folder: PathBuf,
    options: WaitOptions,
    /// The last returned step, and when it was returned.
    last: Option<(u64, Instant)>,
    ended: bool,
}

impl Iterator for CheckpointsIterator {
    type Item = Result<u64>;

    fn next(&mut self) -> Option<Result<u64>> {
        if self.ended {
            return None;
        }
        if let Some((_, given)) = self.last {
            std::thread::sleep(self.options.min_interval.saturating_sub(given.elapsed()));
        }
        let until_step = self.last.map(|(step, _)| step + 1);
        match self.options.wait(&self.folder, until_step) {
            Ok(Some(step)) => {
                self.last = Some((step, Instant::now()));
                Some(Ok(step))
            }
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = true;
                Some(Err(error))
            }
        }
    }
}
