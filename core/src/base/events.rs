//! Recording of this process's activity, as events with a start and a duration.

use crate::base::lock::lock;
use ramie_base::clock::Instant;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

static RECORDING: AtomicBool = AtomicBool::new(false);
static WAITING: AtomicBool = AtomicBool::new(false);
static RECORD: Mutex<Option<Record>> = Mutex::new(None);
static NEXT_THREAD: AtomicU64 = AtomicU64::new(1);
thread_local! { static THREAD: Cell<u64> = const { Cell::new(0) }; }

struct Record {
    begin: Instant,
    begin_time: SystemTime,
    events: Vec<Event>,
}

/// Something that took time.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub name: String,
    /// Additional named values.
    pub details: Vec<(&'static str, String)>,
    pub thread: u64,
    pub thread_name: String,
    /// Time since the start of the trace.
    pub start: Duration,
    pub duration: Duration,
}

impl Event {
    pub fn named(name: impl Into<String>) -> Event {
        Event {
            name: name.into(),
            details: Vec::new(),
            thread: 0,
            thread_name: String::new(),
            start: Duration::ZERO,
            duration: Duration::ZERO,
        }
    }

    pub fn with(mut self, key: &'static str, value: impl ToString) -> Event {
        self.details.push((key, value.to_string()));
        self
    }
}

/// A running event, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Span {
    event: Event,
    begin: Instant,
}

fn record() -> MutexGuard<'static, Option<Record>> {
    lock(&RECORD)
}

/// Starts recording. With `waiting`, calls wait for their programs.
pub(crate) fn start(waiting: bool) {
    *record() = Some(Record {
        begin: Instant::now(),
        begin_time: SystemTime::now(),
        events: Vec::new(),
    });
    WAITING.store(waiting, Ordering::Relaxed);
    RECORDING.store(true, Ordering::Release);
}

/// Stops recording; returns the start time and the events.
pub(crate) fn stop() -> (SystemTime, Vec<Event>) {
    RECORDING.store(false, Ordering::Release);
    WAITING.store(false, Ordering::Relaxed);
    match record().take() {
        Some(record) => (record.begin_time, record.events),
        None => (SystemTime::now(), Vec::new()),
    }
}

/// Returns whether a trace is being recorded.
#[inline]
pub(crate) fn is_recording() -> bool {
    RECORDING.load(Ordering::Acquire)
}

/// Returns whether calls must wait for their programs, so that the events include the execution.
pub(crate) fn waits() -> bool {
    WAITING.load(Ordering::Relaxed)
}

/// Starts an event if a trace is being recorded.
pub(crate) fn span(event: impl FnOnce() -> Event) -> Option<Span> {
    is_recording().then(|| Span {
        event: event(),
        begin: Instant::now(),
    })
}

impl Drop for Span {
    fn drop(&mut self) {
        let end = Instant::now();
        let mut record = record();
        // Events that started before the trace are dropped.
        let Some(record) = record.as_mut().filter(|r| r.begin <= self.begin) else {
            return;
        };
        let mut event = std::mem::replace(&mut self.event, Event::named(""));
        event.thread = THREAD.get();
        if event.thread == 0 {
            event.thread = NEXT_THREAD.fetch_add(1, Ordering::Relaxed);
            THREAD.set(event.thread);
        }
        event.thread_name = std::thread::current()
            .name()
            .unwrap_or("thread")
            .to_string();
        event.start = self.begin - record.begin;
        event.duration = end - self.begin;
        record.events.push(event);
    }
}
