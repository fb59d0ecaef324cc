//! Launches on several devices.

use crate::buffer::Buffer;
use crate::error::Result;
use crate::event::Event;
use crate::executable::Inner;
use crate::execute::{Handles, NonDonatable};
use crate::sys::RawEvent;
use crate::under_way::Events;
use ramie_base::lock::lock;
use smallvec::SmallVec;
use std::ptr::null_mut;
use std::sync::Mutex;

/// The launches of one client on several devices, of which only one happens at a time.
///
/// All devices must see launches in the same order; otherwise collectives of two programs would
/// wait for each other. On CPU devices this is not sufficient: the plugin runs all devices on one
/// thread pool, and a collective blocks its thread until the other devices arrive, so two
/// concurrent runs can occupy all threads and deadlock. There, a launch waits for the previous
/// one to end.
#[derive(Default)]
pub(crate) struct Launches(Mutex<Previous>);

#[derive(Default)]
struct Previous {
    id: i32,
    /// One event per device, done when the device has finished.
    events: SmallVec<[Event; 8]>,
}

impl Inner {
    pub(crate) fn launch_many(
        &self,
        args: &[&Buffer],
        kept: &NonDonatable,
        handles: &mut Handles,
        outputs: &mut Vec<Buffer>,
    ) -> Result<Events> {
        let uses = Uses::begin(self, args, kept)?;
        self.collect(args, kept, handles)?;
        let (devices, api) = (self.devices.len(), self.client.api);
        let (inputs, count) = (self.signature.inputs.len(), self.signature.outputs.len());
        let mut results = Handles::from_elem(null_mut(), count * devices);
        let mut events: SmallVec<[*mut RawEvent; 8]> = SmallVec::from_elem(null_mut(), devices);
        let argument_lists: SmallVec<[_; 8]> = (0..devices)
            .map(|d| handles.as_ptr().wrapping_add(d * inputs))
            .collect();
        let output_lists: SmallVec<[_; 8]> = (0..devices)
            .map(|d| results.as_mut_ptr().wrapping_add(d * count))
            .collect();
        {
            let mut previous = lock(&self.client.launches.0);
            for event in previous.events.drain(..) {
                // The error is reported where the results are waited for.
                let _ = event.settle();
            }
            previous.id = previous.id.wrapping_add(1).max(1);
            let id = previous.id;
            let room = if self.client.is_cpu || count == 0 {
                events.as_mut_ptr()
            } else {
                null_mut()
            };
            // SAFETY: one list per device of checked arguments and of space for the results.
            unsafe { self.call(&argument_lists, &output_lists, kept, id, room) }?;
            // SAFETY: the events, if any, are ours.
            let take = |&raw: &_| unsafe { Event::take(api, raw) };
            let events = events.iter().filter_map(take);
            if count > 0 {
                previous.events.extend(events);
            } else if !self.client.is_cpu {
                // Without results, only these events tell when the launch has ended.
                return Ok(events.collect());
            } else {
                // Here both the next launch and `UnderWay` would need them, and an event has only
                // one owner.
                for event in events {
                    let _ = event.settle();
                }
            }
        }
        drop(uses);
        // SAFETY: the call filled `results` with new buffers, device-major.
        Ok(unsafe { self.adopt(&results, outputs, true) })
    }
}

/// Prevents another thread from donating the arguments of a launch between the check and the
/// launch.
struct Uses<'a> {
    inner: &'a Inner,
    args: &'a [&'a Buffer],
    kept: &'a NonDonatable,
    begun: usize,
}

impl<'a> Uses<'a> {
    fn begin(inner: &'a Inner, args: &'a [&'a Buffer], kept: &'a NonDonatable) -> Result<Uses<'a>> {
        let mut uses = Uses {
            inner,
            args,
            kept,
            begun: 0,
        };
        for (position, arg) in args.iter().enumerate() {
            if !uses.claimed(position) && !arg.begin_use() {
                return Err(inner.wrong_argument(args, position));
            }
            uses.begun += 1;
        }
        Ok(uses)
    }

    fn claimed(&self, position: usize) -> bool {
        let i = position % self.inner.signature.inputs.len();
        self.inner.signature.donated[i] && !self.kept.contains(i)
    }
}

impl Drop for Uses<'_> {
    fn drop(&mut self) {
        for position in 0..self.begun {
            if !self.claimed(position) {
                self.args[position].end_use();
            }
        }
    }
}
