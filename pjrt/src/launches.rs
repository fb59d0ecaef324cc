//! The order of launches on several devices.

use crate::event::Event;
use ramie_base::lock::lock;
use smallvec::SmallVec;
use std::sync::{Mutex, MutexGuard};

/// The launches of one client on several devices, of which only one happens at a time.
///
/// All devices must see launches in the same order; otherwise collectives of two programs would
/// wait for each other. On CPU devices this is not sufficient: the plugin runs all devices on one
/// thread pool, and a collective blocks its thread until the other devices arrive, so two
/// concurrent runs can occupy all threads and deadlock. There, a launch waits for the previous
/// one to end.
#[derive(Default)]
pub(crate) struct Launches(Mutex<Launch>);

#[derive(Default)]
pub(crate) struct Launch {
    /// The number of the launch, which is not zero.
    pub id: i32,
    /// One event per device, done when the device has finished. The next launch waits for them.
    pub events: SmallVec<[Event; 8]>,
}

impl Launches {
    /// Begins a launch after the events of the previous one. The next launch begins when the guard
    /// is dropped.
    pub fn begin(&self) -> MutexGuard<'_, Launch> {
        let mut launch = lock(&self.0);
        for event in launch.events.drain(..) {
            // The error is reported where the results are waited for.
            let _ = event.settle();
        }
        launch.id = launch.id.wrapping_add(1).max(1);
        launch
    }
}
