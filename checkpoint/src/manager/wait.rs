//! Waiting for checkpoints that another program saves.

use super::{StepNames, steps};
use crate::Result;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How [`wait_for_new_checkpoint`] and [`checkpoints_iterator`] wait.
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
    /// Looks every second, for ever.
    pub fn new() -> WaitOptions {
        WaitOptions::default()
    }

    /// How the steps are called.
    pub fn step_name_format(mut self, names: StepNames) -> WaitOptions {
        self.names = names;
        self
    }

    /// How long it waits between two looks; a second, if not set.
    pub fn poll_interval(mut self, interval: Duration) -> WaitOptions {
        self.poll = interval;
        self
    }

    /// How long it waits for a checkpoint; for ever, if not set.
    pub fn timeout(mut self, timeout: Duration) -> WaitOptions {
        self.timeout = Some(timeout);
        self
    }

    /// A function that is asked when the time is over, whether no more checkpoints will
    /// come. If it says no, the wait goes on.
    pub fn timeout_fn(mut self, f: impl FnMut() -> bool + Send + 'static) -> WaitOptions {
        self.timeout_fn = Some(Box::new(f));
        self
    }

    /// The least time between two checkpoints that the iterator gives.
    pub fn min_interval(mut self, interval: Duration) -> WaitOptions {
        self.min_interval = interval;
        self
    }

    /// Waits for a checkpoint of `until_step` or later.
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

/// Waits for a checkpoint in a folder: of the step `until_step` or a later one, or of
/// any. Returns the last step; nothing, if the time is over.
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
/// If the folder cannot be listed.
pub fn wait_for_new_checkpoint(
    folder: impl AsRef<Path>,
    until_step: Option<u64>,
    mut options: WaitOptions,
) -> Result<Option<u64>> {
    options.wait(folder.as_ref(), until_step)
}

/// Gives the steps of a folder as another program saves them, each time the last one
/// that is there: what is saved while the caller is busy is passed over. It ends when
/// the time is over.
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
/// The program that saves may delete a step while it is being read: let it keep a few.
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

/// Steps as they come, from [`checkpoints_iterator`].
#[derive(Debug)]
pub struct CheckpointsIterator {
    folder: PathBuf,
    options: WaitOptions,
    /// The step that was given last, and when.
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
