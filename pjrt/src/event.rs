//! Events, which signal the completion of transfers and executions.

use crate::error::{Error, Result};
use crate::host_calls::note_reported;
use crate::sys::{self, Api, OnReady, RawEvent};
use std::ffi::c_void;
use std::ptr::NonNull;

/// An owned event of the plugin.
#[derive(Debug)]
pub(crate) struct Event {
    raw: NonNull<RawEvent>,
    api: Api,
}

// SAFETY: PJRT events may be used and destroyed on any thread.
unsafe impl Send for Event {}
// SAFETY: as above; waiting and polling are thread-safe.
unsafe impl Sync for Event {}

impl Event {
    /// Takes ownership of an event. A null event is already done.
    ///
    /// # Safety
    /// `raw` must be null or a live event of this plugin that nothing else destroys.
    pub unsafe fn take(api: Api, raw: *mut RawEvent) -> Option<Event> {
        NonNull::new(raw).map(|raw| Event { raw, api })
    }

    /// Returns `true` if the event is done, successfully or not.
    pub fn is_ready(&self) -> Result<bool> {
        let mut args = sys::zeroed::<sys::EventIsReady>();
        args.event = self.raw.as_ptr();
        // SAFETY: the event is live.
        unsafe { self.api.call(&mut args) }?;
        Ok(args.is_ready)
    }

    /// Blocks until the event is done and returns its error, which is then marked as reported to
    /// the user.
    pub fn wait(&self) -> Result<()> {
        self.settle()
            .map_err(Error::without_layers)
            .inspect_err(note_reported)
    }

    /// Blocks until the event is done. Its error is returned for inspection only; it is reported
    /// where the results are waited for.
    pub fn settle(&self) -> Result<()> {
        let mut args = sys::zeroed::<sys::EventAwait>();
        args.event = self.raw.as_ptr();
        // SAFETY: the event is live.
        unsafe { self.api.call(&mut args) }
    }

    /// Registers `callback(error, user)` to be called once, when the event is done. The call may
    /// happen immediately, on this thread.
    ///
    /// # Safety
    /// It must be sound to call `callback` with `user` from any thread at any later time.
    pub unsafe fn on_ready(&self, callback: OnReady, user: *mut c_void) -> Result<()> {
        let mut args = sys::zeroed::<sys::EventOnReady>();
        args.event = self.raw.as_ptr();
        args.callback = Some(callback);
        args.user = user;
        // SAFETY: the event is live; the caller guarantees the validity of the callback.
        unsafe { self.api.call(&mut args) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let mut args = sys::zeroed::<sys::EventDestroy>();
        args.event = self.raw.as_ptr();
        // SAFETY: the event is live and ours. An error here cannot be handled.
        let _ = unsafe { self.api.call(&mut args) };
    }
}
