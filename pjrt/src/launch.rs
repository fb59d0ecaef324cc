//! Launches on several devices.

use crate::buffer::Buffer;
use crate::error::Result;
use crate::event::Event;
use crate::executable::Inner;
use crate::execute::{Handles, NonDonatable};
use crate::sys::RawEvent;
use crate::under_way::Events;
use smallvec::SmallVec;
use std::ptr::null_mut;

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
            let mut launch = self.client.launches.begin();
            let room = if self.client.is_cpu || count == 0 {
                events.as_mut_ptr()
            } else {
                null_mut()
            };
            // SAFETY: one list per device of checked arguments and of space for the results.
            unsafe { self.call(&argument_lists, &output_lists, kept, launch.id, room) }?;
            // SAFETY: the events, if any, are ours.
            let take = |&raw: &_| unsafe { Event::take(api, raw) };
            let events = events.iter().filter_map(take);
            if count > 0 {
                launch.events.extend(events);
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
