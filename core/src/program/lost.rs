//! Warnings about state that a traced function writes to a copy and then drops.
//!
//! A traced function that clones a model and calls the clone leaves the model unchanged: each
//! call of the program draws the same random numbers, and statistics keep their initial values.
//! Variables have a [`History`], so that such writes can be found at the end of a trace. Compiled
//! programs do not use it.

use crate::base::lock::lock;
use crate::base::scoped;
use crate::program::array::Repr;
use crate::program::trace;
use crate::{Array, Aval};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::Mutex;

/// A record of a variable's copies and writes in traced functions.
///
/// The variables of `ramie_nn` store one beside their array. They call
/// [`copied`](History::copied) when they are cloned, [`write`](History::write) when they change,
/// and [`close`](History::close) when they are dropped.
#[derive(Debug)]
pub struct History {
    /// Trace in which the variable was created; 0 for none.
    made_in: u64,
    /// Last write in a traced function.
    written: Option<&'static Location<'static>>,
    /// Value of the original, if this is a copy created in a traced function.
    original: Option<Box<Array>>,
}

thread_local! {
    static COPYING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function in which rebuilt variables count as copies, as if they were cloned.
pub fn copying<R>(f: impl FnOnce() -> R) -> R {
    scoped::with(&COPYING, true, f)
}

impl Default for History {
    fn default() -> History {
        History::new()
    }
}

impl History {
    /// Returns the history of a new variable.
    pub fn new() -> History {
        History {
            made_in: trace::innermost(),
            written: None,
            original: None,
        }
    }

    /// Returns the history of a clone of a variable with this value.
    pub fn copied(&self, value: &Array) -> History {
        History {
            made_in: self.made_in,
            written: None,
            original: trace::is_tracing().then(|| Box::new(value.clone())),
        }
    }

    /// Returns the history of the same variable with this value in a rebuilt tree, such as the
    /// model that a transformation returns; inside [`copying`], the history of a copy.
    pub fn rebuilt(&self, value: &Array) -> History {
        if COPYING.get() {
            self.copied(value)
        } else {
            self.writes()
        }
    }

    /// Returns the record of writes only.
    pub fn writes(&self) -> History {
        History {
            original: None,
            ..*self
        }
    }

    /// Adds the writes of another history.
    pub fn join(&mut self, other: &History) {
        self.written = other.written.or(self.written);
    }

    /// Records that the variable gets another value at the caller's line.
    #[track_caller]
    pub fn write(&mut self) {
        if trace::is_tracing() {
            self.written = Some(Location::caller());
        }
    }

    /// Transfers the status as a copy to the variable that replaces this one after a
    /// transformation: `later` keeps its own writes and takes the original.
    pub fn pass_on(&mut self, later: &mut History) {
        later.original = self.original.take();
    }

    /// Records a lost write if the variable is a copy that was written and is dropped with this
    /// value. The report waits until the trace ends, since the value may be one of its results.
    pub fn close(&mut self, kind: &'static str, value: &Array) {
        let (Some(original), Some(at)) = (self.original.take(), self.written) else {
            return;
        };
        // Nothing is lost if the copy has the original's value again. While a panic unwinds, no
        // trace returns results with which the value could be compared.
        if original.same(value) || std::thread::panicking() {
            return;
        }
        let write = Write {
            kind,
            at,
            original: *original,
            value: value.clone(),
            made_in: self.made_in,
            is_lost: false,
        };
        if let Repr::Tracer(t) = &value.0 {
            trace::add_dropped(t.trace, write);
        }
    }
}

/// A write to a copy that was dropped.
#[derive(Debug)]
pub(crate) struct Write {
    kind: &'static str,
    at: &'static Location<'static>,
    original: Array,
    value: Array,
    made_in: u64,
    /// Whether a trace has ended without the value among its results.
    is_lost: bool,
}

impl Write {
    /// Reports the write at the end of a trace, or passes it to the trace of the original.
    ///
    /// `is_input` returns whether an array is an argument of the trace, `output` its index among
    /// the results, and `name` the path of a result.
    pub fn settle(
        mut self,
        trace: u64,
        is_input: impl Fn(&Array) -> bool,
        output: impl Fn(&Array) -> Option<usize>,
        name: impl Fn(usize) -> Option<String>,
    ) {
        // A result that is still the original's old value; its path names the variable in the
        // warning.
        let index = output(&self.original);
        let own = matches!(&self.original.0, Repr::Tracer(t) if t.trace == trace);
        if !self.is_lost {
            let kept = is_input(&self.value) || output(&self.value).is_some();
            // If the original belongs to this trace and is not a result, it ends like the copy.
            let ends = if own {
                index.is_none()
            } else {
                // A variable that was created in this trace ends with it in any case.
                self.made_in == trace
            };
            if kept || ends {
                return;
            }
            self.is_lost = true;
        }
        // Only the original's own trace knows the path of the variable among its results.
        match &self.original.0 {
            Repr::Tracer(t) if !own && trace::is_open(t.trace) => {
                let outer = t.trace;
                trace::add_dropped(outer, self);
            }
            _ => self.warn(index.and_then(name)),
        }
    }

    /// Prints the warning, once for each line and variable.
    fn warn(&self, path: Option<String>) {
        static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let message = message(self.kind, self.value.aval(), self.at, path.as_deref());
        let mut seen = lock(&SEEN);
        if seen.insert(message.clone()) {
            eprintln!("ramie: {message}");
            tracing::warn!("{message}");
        }
    }
}

fn message(kind: &str, aval: Aval, at: &Location<'_>, path: Option<&str>) -> String {
    let variable = match path {
        Some(path) => format!("`{path}`, a {kind} {aval},"),
        None => format!("a {kind} {aval}"),
    };
    let effect = match kind {
        "rng_count" => "every step and every call draws the same random numbers",
        _ => "every step and every call starts from the same value",
    };
    format!(
        "warning: a new value of {variable} is lost: a traced function wrote it to a copy of the \
         model and dropped the copy\n  written at {at}\n  therefore {effect}\n  help: change the \
         model itself, `&mut model`: `nn::accumulate` iterates over microbatches, `nn::nnx::scan` \
         and the other functions of `nn::nnx` carry the model's state; for evaluation call \
         `eval()` on the copy before its first use"
    )
}
