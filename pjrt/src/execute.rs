//! Execution of an executable.
//!
//! The plugin checks neither element types nor devices, and a wrong argument in a launch on
//! several devices makes the next launch hang. Therefore everything is checked here, in a single
//! pass over the arguments that only compares pointers.

use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::executable::{Executable, Inner};
use crate::host_calls::note_reported;
use crate::sys::{self, RawBuffer, RawEvent};
use crate::under_way::{Events, Ticket};
use smallvec::SmallVec;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::Ordering;

/// Maximum number of arguments and of results of a single-device launch that need no allocation.
const INLINE: usize = 64;

pub(crate) type Handles = SmallVec<[*mut RawBuffer; INLINE]>;

impl Executable {
    /// Runs the program without waiting for it.
    ///
    /// `args` is device-major: input `i` of device `d` is `args[d * inputs + i]`. The results are
    /// appended to `outputs` in the same order. Results may be used immediately; an error of the
    /// computation itself is reported where they are waited for or read.
    ///
    /// Inputs that the signature donates are deleted, except those whose indices are in
    /// `non_donatable`, which the program copies instead.
    ///
    /// # Errors
    /// Returns [`Error::ArgumentCount`] or [`Error::ExecuteArgument`] if arguments do not match
    /// the signature, were deleted, or are donated while another argument is the same buffer;
    /// otherwise the plugin's error. After an error, `outputs` is unchanged, and no argument has
    /// been donated, unless the plugin had already taken it.
    pub fn execute(
        &self,
        args: &[&Buffer],
        non_donatable: &[usize],
        outputs: &mut Vec<Buffer>,
    ) -> Result<()> {
        let inner = &*self.0;
        let inputs = inner.signature.inputs.len();
        if args.len() != inputs * inner.devices.len() {
            return Err(inner.wrong_count(args.len()));
        }
        let kept = NonDonatable::new(non_donatable);
        if inner.must_copy(&kept) {
            return inner.run_with_copies(args, &kept, outputs);
        }
        inner.run(args, &kept, outputs)
    }
}

impl Inner {
    /// Runs the program with arguments whose number was checked.
    #[inline]
    fn run(&self, args: &[&Buffer], kept: &NonDonatable, outputs: &mut Vec<Buffer>) -> Result<()> {
        if let Some(needs) = self.host_memory {
            self.check_memory(needs)?;
        }
        let claims = Claims::take(self, args, kept)?;
        let mut handles = Handles::new();
        // The linked backend runs each program inside the launch.
        let at_once = self.client.is_linked;
        let result = match &*self.devices {
            [_] => self
                .collect(args, kept, &mut handles)
                .and_then(|()| self.launch_one(&handles, kept, outputs, !at_once)),
            _ => self.launch_many(args, kept, &mut handles, outputs),
        };
        let launched = result.map(|events| {
            if at_once {
                return 0;
            }
            let ticket = self.client.under_way.begin(events);
            self.last_run.fetch_max(ticket, Ordering::Relaxed);
            ticket
        });
        claims.settle(*launched.as_ref().unwrap_or(&0));
        launched.map(|_| ()).inspect_err(note_reported)
    }

    /// Returns `true` if the plugin would donate fewer inputs than requested: it stops donating
    /// at the first non-donatable index and copies all inputs after it.
    fn must_copy(&self, kept: &NonDonatable) -> bool {
        !kept.positions.is_empty()
            && self
                .donated
                .iter()
                .skip_while(|&&i| !kept.contains(i))
                .any(|&i| !kept.contains(i))
    }

    /// Runs the program with copies of the arguments that must be kept.
    fn run_with_copies(
        &self,
        args: &[&Buffer],
        kept: &NonDonatable,
        outputs: &mut Vec<Buffer>,
    ) -> Result<()> {
        let inputs = self.signature.inputs.len();
        let is_kept = |position| {
            let i = position % inputs;
            self.signature.donated[i] && kept.contains(i)
        };
        let mut copies = Vec::new();
        for position in (0..args.len()).filter(|&p| is_kept(p)) {
            if args[position].is_deleted() {
                return Err(self.wrong_argument(args, position));
            }
            match args[position].copy_to_device(args[position].device()) {
                Ok(copy) => copies.push(copy),
                // Donating fewer inputs is slower but correct.
                Err(_) => return self.run(args, kept, outputs),
            }
        }
        let mut substituted = args.to_vec();
        for (position, copy) in (0..args.len()).filter(|&p| is_kept(p)).zip(&copies) {
            substituted[position] = copy;
        }
        self.run(&substituted, &NonDonatable::new(&[]), outputs)
    }
}

/// The indices that a call does not donate, as a list for the plugin and as a set.
pub(crate) struct NonDonatable {
    positions: SmallVec<[i64; 16]>,
    bits: SmallVec<[u64; 4]>,
}

impl NonDonatable {
    fn new(positions: &[usize]) -> NonDonatable {
        let mut bits = SmallVec::new();
        for &position in positions {
            if bits.len() <= position / 64 {
                bits.resize(position / 64 + 1, 0u64);
            }
            bits[position / 64] |= 1 << (position % 64);
        }
        NonDonatable {
            positions: positions.iter().map(|&p| p as i64).collect(),
            bits,
        }
    }

    pub(crate) fn contains(&self, position: usize) -> bool {
        self.bits
            .get(position / 64)
            .is_some_and(|word| word >> (position % 64) & 1 == 1)
    }
}

/// Marks on the donated arguments, so that no other call uses them.
struct Claims<'a> {
    inner: &'a Inner,
    args: &'a [&'a Buffer],
    kept: &'a NonDonatable,
}

impl<'a> Claims<'a> {
    fn take(
        inner: &'a Inner,
        args: &'a [&'a Buffer],
        kept: &'a NonDonatable,
    ) -> Result<Claims<'a>> {
        let claims = Claims { inner, args, kept };
        for (taken, (position, buffer)) in claims.donated().enumerate() {
            if !buffer.claim() {
                for (_, buffer) in claims.donated().take(taken) {
                    buffer.unclaim();
                }
                return Err(inner.refuse_donation(args, position));
            }
        }
        Ok(claims)
    }

    /// Returns the index in `args` and the buffer of every argument that this call donates.
    fn donated(&self) -> impl Iterator<Item = (usize, &'a Buffer)> {
        let inputs = self.inner.signature.inputs.len();
        let (args, kept) = (self.args, self.kept);
        let positions = self
            .inner
            .donated
            .iter()
            .copied()
            .filter(|&i| !kept.contains(i));
        (0..self.inner.devices.len())
            .flat_map(move |d| positions.clone().map(move |i| d * inputs + i))
            .map(move |position| (position, args[position]))
    }

    /// Ends the call. Arguments that the plugin did not take become usable again: donated inputs
    /// whose memory fits no output, and all inputs after an error.
    #[inline]
    fn settle(self, ticket: Ticket) {
        if self.inner.donated.is_empty() {
            return;
        }
        for (_, buffer) in self.donated() {
            if buffer.is_deleted_by_plugin() {
                buffer.donate(ticket);
            } else {
                buffer.unclaim();
            }
        }
    }
}

impl Inner {
    /// Checks every argument and collects the handles.
    #[inline]
    pub(crate) fn collect(
        &self,
        args: &[&Buffer],
        kept: &NonDonatable,
        handles: &mut Handles,
    ) -> Result<()> {
        let inputs = &*self.signature.inputs;
        if inputs.is_empty() {
            return Ok(());
        }
        handles.reserve(args.len());
        for (device, args_of_device) in self.devices.iter().zip(args.chunks_exact(inputs.len())) {
            for (i, (arg, ty)) in args_of_device.iter().zip(inputs).enumerate() {
                let claimed = self.signature.donated[i] && !kept.contains(i);
                if arg.buffer_type() != *ty
                    || arg.device() != *device
                    || (arg.is_deleted() && !claimed)
                {
                    return Err(self.wrong_argument(args, handles.len()));
                }
                handles.push(arg.raw());
            }
        }
        Ok(())
    }

    /// Launches on the only device. If the launch is tracked, the returned events are done when
    /// the execution has ended.
    #[inline]
    fn launch_one(
        &self,
        handles: &Handles,
        kept: &NonDonatable,
        outputs: &mut Vec<Buffer>,
        watched: bool,
    ) -> Result<Events> {
        let count = self.signature.outputs.len();
        let mut results = Handles::from_elem(null_mut(), count);
        let mut event = null_mut();
        // An event of the launch itself costs five times as much as one of a result.
        let room = if count == 0 {
            &raw mut event
        } else {
            null_mut()
        };
        // SAFETY: one list each of checked arguments and of space for the results.
        unsafe { self.call(&[handles.as_ptr()], &[results.as_mut_ptr()], kept, 0, room) }?;
        // SAFETY: the event, if any, is ours.
        let event = unsafe { Event::take(self.client.api, event) };
        // SAFETY: the call filled `results` with new buffers of the first device.
        let mut events = unsafe { self.adopt(&results, outputs, watched) };
        events.extend(event);
        Ok(events)
    }

    /// Calls the plugin.
    ///
    /// # Safety
    /// The lists must have one entry per device: pointers to the handles of all inputs, and to
    /// space for the handles of all outputs. `events` must be null or have space for one event
    /// per device; the caller then owns the events.
    #[inline]
    pub(crate) unsafe fn call(
        &self,
        argument_lists: &[*const *mut RawBuffer],
        output_lists: &[*mut *mut RawBuffer],
        kept: &NonDonatable,
        launch: i32,
        events: *mut *mut RawEvent,
    ) -> Result<()> {
        let mut options = sys::zeroed::<sys::ExecuteOptions>();
        options.launch_id = launch;
        options.non_donatable_input_indices = kept.positions.as_ptr();
        options.num_non_donatable_input_indices = kept.positions.len();
        let mut call = sys::zeroed::<sys::LoadedExecutableExecute>();
        call.executable = self.loaded.as_ptr();
        call.options = &mut options;
        call.argument_lists = argument_lists.as_ptr();
        call.num_devices = argument_lists.len();
        call.num_args = self.signature.inputs.len();
        call.output_lists = output_lists.as_ptr();
        call.device_complete_events = events;
        // SAFETY: the executable is live, the options outlive the call, and the caller guarantees
        // the validity of the lists.
        unsafe { self.client.api.call(&mut call) }
            .map_err(Error::without_layers)
            .map_err(|e| e.during(format_args!("executing `{}`", self.unloaded.name())))
    }

    /// Appends the results as buffers. Their types are known, so the plugin is not queried. If
    /// the launch is tracked, returns an event for each device that is done when the execution
    /// has ended there.
    ///
    /// # Safety
    /// `results` must contain new buffers of this executable, device-major.
    #[inline]
    pub(crate) unsafe fn adopt(
        &self,
        results: &[*mut RawBuffer],
        outputs: &mut Vec<Buffer>,
        watched: bool,
    ) -> Events {
        let types = &*self.signature.outputs;
        let mut events = Events::new();
        if types.is_empty() {
            return events;
        }
        outputs.reserve(results.len());
        for (&device, of_device) in self.devices.iter().zip(results.chunks_exact(types.len())) {
            for (&raw, &ty) in of_device.iter().zip(types) {
                let raw = NonNull::new(raw).expect("a result is not null");
                // SAFETY: guaranteed by the caller.
                outputs.push(unsafe { Buffer::new(raw, ty, device) });
            }
            if !watched {
                continue;
            }
            let last = outputs
                .last()
                .and_then(|result| result.ready_event("execute").ok());
            events.extend(last.flatten());
        }
        events
    }

    #[cold]
    fn wrong_count(&self, got: usize) -> Error {
        let (devices, per_device) = (self.devices.len(), self.signature.inputs.len());
        Error::ArgumentCount {
            executable: self.unloaded.name().into(),
            got,
            expected: devices * per_device,
            devices,
            per_device,
        }
    }

    /// Returns the error about the argument at this index.
    #[cold]
    pub(crate) fn wrong_argument(&self, args: &[&Buffer], position: usize) -> Error {
        let inputs = self.signature.inputs.len();
        let (arg, index) = (args[position], position % inputs);
        let (device, ty) = (
            self.devices[position / inputs],
            self.signature.inputs[index],
        );
        let error = |got: String, expected: String| Error::ExecuteArgument {
            index,
            device: device.id(),
            got,
            expected,
        };
        if arg.buffer_type() != ty {
            error(arg.buffer_type().to_string(), ty.to_string())
        } else if arg.device().client() != device.client() {
            error(
                format!("{ty} of another client"),
                format!("{ty} on device {device}"),
            )
        } else if arg.device() != device {
            error(
                format!("{ty} on device {}", arg.device()),
                format!("{ty} on device {device}"),
            )
        } else {
            let same = |&other: &usize| other != position && std::ptr::eq(args[other], arg);
            match (0..args.len()).find(same) {
                Some(other) => error(
                    format!("the buffer that is donated as argument {}", other % inputs),
                    "a buffer that this call does not donate; help: pass a copy, or list the donated position as non-donatable".into(),
                ),
                None if arg.is_freed() => error(
                    format!("a deleted buffer {ty}"),
                    "a buffer that still contains data".into(),
                ),
                None => error(
                    format!("a deleted buffer {ty}, donated to an earlier execution"),
                    "a buffer that still contains data".into(),
                ),
            }
        }
    }

    /// Returns the error that explains why the argument at this index cannot be donated.
    #[cold]
    fn refuse_donation(&self, args: &[&Buffer], position: usize) -> Error {
        let inputs = self.signature.inputs.len();
        let (arg, index) = (args[position], position % inputs);
        let got = match args[..position]
            .iter()
            .position(|other| std::ptr::eq(*other, arg))
        {
            Some(other) => format!(
                "the buffer that is also donated as argument {}",
                other % inputs
            ),
            None if arg.is_freed() => format!("a deleted buffer {}", arg.buffer_type()),
            None if arg.is_deleted() => format!(
                "a deleted buffer {}, donated to an earlier execution",
                arg.buffer_type()
            ),
            None => format!(
                "a buffer {} that another thread is using in a launch",
                arg.buffer_type()
            ),
        };
        Error::ExecuteArgument {
            index,
            device: self.devices[position / inputs].id(),
            got,
            expected: "a buffer to donate that nothing else uses".into(),
        }
    }
}
