//! Events: completion of transfers and executions.

use crate::callback::note_reported;
use crate::error::{Error, Result};
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
    /// Takes ownership of an event; null means already done.
    ///
    /// # Safety
    /// `raw` is null or a live event of this plugin that nobody else destroys.
    pub unsafe fn take(api: Api, raw: *mut RawEvent) -> Option<Event> {
        NonNull::new(raw).map(|raw| Event { raw, api })
    }

    /// Whether it is done, with or without error.
    pub fn is_ready(&self) -> Result<bool> {
        let mut args = sys::zeroed::<sys::EventIsReady>();
        args.event = self.raw.as_ptr();
        // SAFETY: the event is live.
        unsafe { self.api.call(&mut args) }?;
        Ok(args.is_ready)
    }

    /// Blocks until it is done and returns its error, if any, for the caller's caller.
    pub fn wait(&self) -> Result<()> {
        self.settle()
            .map_err(Error::without_layers)
            .inspect_err(note_reported)
    }

    /// Blocks until it is done. An error is returned for a look at it: it is reported
    /// where the results are waited for.
    pub fn settle(&self) -> Result<()> {
        let mut args = sys::zeroed::<sys::EventAwait>();
        args.event = self.raw.as_ptr();
        // SAFETY: the event is live.
        unsafe { self.api.call(&mut args) }
    }

    /// Has the plugin call `callback(error, user)` once, when the event is done;
    /// possibly at once, on this thread.
    ///
    /// # Safety
    /// `callback` may be called with `user` from any thread at any later time.
    pub unsafe fn on_ready(&self, callback: OnReady, user: *mut c_void) -> Result<()> {
        let mut args = sys::zeroed::<sys::EventOnReady>();
        args.event = self.raw.as_ptr();
        args.callback = Some(callback);
        args.user = user;
        // SAFETY: the event is live; the caller vouches for the callback.
        unsafe { self.api.call(&mut args) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let mut args = sys::zeroed::<sys::EventDestroy>();
        args.event = self.raw.as_ptr();
        // SAFETY: the event is live and ours. An error here has no remedy.
        let _ = unsafe { self.api.call(&mut args) };
    }
}
