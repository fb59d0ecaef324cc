//! Agreement of all processes on the step at which a preempted program ends.
//!
//! The request reaches one process, at any time between two steps, but all processes must save the
//! same step. Each process therefore reports its progress and pauses until all have done so; they
//! end at the step after that of the most advanced process. A separate thread does this, because
//! the program may be waiting for other processes inside a step.

use crate::commit::Meeting;
use crate::preemption;
use ramie_core::lock::lock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

/// Reports whether a step is the one at which the program ends.
pub(super) struct Preempted {
    shared: Arc<Shared>,
    watcher: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    progress: Mutex<Progress>,
    stop: AtomicBool,
}

/// Progress of this process, counted in distinct steps that asked, since step numbers may have
/// gaps.
#[derive(Default)]
struct Progress {
    asked: u64,
    last: Option<u64>,
    /// Count at which the program ends.
    end: Option<u64>,
}

impl Shared {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }
}

/// Polling interval of the thread.
const INTERVAL: Duration = Duration::from_millis(50);

impl Preempted {
    /// Starts watching for the request, if there are several processes.
    pub fn watch(meeting: Option<Meeting>) -> Preempted {
        let shared = Arc::<Shared>::default();
        let watcher = meeting.and_then(|meeting| {
            let shared = shared.clone();
            let thread = std::thread::Builder::new().name("checkpoint preemption".into());
            let spawned = thread.spawn(move || shared.watch(&meeting));
            if let Err(error) = &spawned {
                tracing::error!(%error, "failed to spawn the thread that watches for preemption");
            }
            spawned.ok()
        });
        Preempted { shared, watcher }
    }

    /// Returns whether the program should save and exit at this step. All calls for a step give one answer: a
    /// request that arrives after the step's save ends the program at the next step, which is saved.
    pub fn reached(&self, step: u64) -> bool {
        let mut progress = self.shared.progress();
        if progress.last != Some(step) {
            progress.last = Some(step);
            progress.asked += 1;
            if self.watcher.is_none() {
                progress.end = preemption::requested().then_some(progress.asked);
            }
        }
        progress.end.is_some_and(|end| progress.asked >= end)
    }
}

impl Shared {
    fn watch(&self, meeting: &Meeting) {
        while !self.stop.load(Ordering::SeqCst) {
            let told = if preemption::requested() {
                meeting.tell("preempted").map(|()| true)
            } else {
                meeting.is_told("preempted", INTERVAL)
            };
            match told {
                Ok(false) => continue,
                Ok(true) => self.settle(meeting),
                Err(error) => tracing::warn!(%error, "the processes could not agree on the last \
                                                      step"),
            }
            return;
        }
    }

    /// Agrees on the last step while this process is paused.
    fn settle(&self, meeting: &Meeting) {
        let mut progress = self.progress();
        match meeting.exchange("progress", progress.asked) {
            Ok(all) => progress.end = Some(all.into_iter().max().unwrap_or(0) + 1),
            Err(error) => {
                tracing::warn!(%error, "the processes could not agree on the last step");
                progress.end = Some(progress.asked + 1);
            }
        }
    }
}

impl Drop for Preempted {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
    }
}
