//! The compiled programs of a function, by signature.

use super::signature::{Inputs, Signature};
use crate::Result;
use crate::base::lock::lock;
use crate::base::program_cache::{ProgramCache, Slot};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

/// A program with its signature.
pub(super) type ProgramSlot<E> = Arc<Slot<Signature, E>>;

/// Programs by signature, with fast access to the last one.
pub(super) struct FunctionCache<E> {
    last: Mutex<Option<ProgramSlot<E>>>,
    all: ProgramCache<Signature, E>,
    calls: Mutex<Calls>,
}

/// Statistics of compilations caused by calls.
#[derive(Default)]
struct Calls {
    compilations: usize,
    reason: Option<String>,
    /// Number of compilations by the part of the arguments that changed.
    causes: BTreeMap<String, usize>,
}

/// The programs of a function, shared with its stages, which also add programs.
pub(super) type SharedCache<E> = Arc<FunctionCache<E>>;

/// A cache of programs that can be cleared.
pub(super) trait Forget: Send + Sync {
    fn forget(&self);
}

impl<E: Send + Sync> Forget for FunctionCache<E> {
    fn forget(&self) {
        // Programs are destroyed without holding a lock.
        let last = lock(&self.last).take();
        drop(last);
        self.all.clear();
        *lock(&self.calls) = Calls::default();
    }
}

/// The programs of all functions.
static ALL: Mutex<Vec<Weak<dyn Forget>>> = Mutex::new(Vec::new());

/// Creates an empty cache of at most `limit` programs, registered with [`forget_all`].
pub(super) fn shared<E: Send + Sync + 'static>(limit: usize) -> SharedCache<E> {
    let programs = Arc::new(FunctionCache {
        last: Mutex::new(None),
        all: ProgramCache::with_limit(limit),
        calls: Mutex::default(),
    });
    let weak: Weak<dyn Forget> = Arc::downgrade(&(programs.clone() as Arc<dyn Forget>));
    let mut all = lock(&ALL);
    // Removes the caches of dropped functions before the list grows.
    if all.len() == all.capacity() {
        all.retain(|programs| programs.strong_count() > 0);
    }
    all.push(weak);
    programs
}

/// Removes the programs of all functions.
pub(crate) fn forget_all() {
    // Collected first, so that the list is not locked while programs are destroyed.
    let all: Vec<Arc<dyn Forget>> = lock(&ALL).iter().filter_map(Weak::upgrade).collect();
    for programs in all {
        programs.forget();
    }
}

impl<E> FunctionCache<E> {
    /// Returns the program for a call. Creates it at the first use, on one thread.
    pub fn get_or_make(
        &self,
        inputs: Inputs<'_>,
        make: &dyn Fn() -> Result<E>,
    ) -> Result<ProgramSlot<E>> {
        // Most calls have the signature of the previous call, and comparing it allocates nothing.
        if let Some(last) = self.last()
            && last.key.matches(inputs)
        {
            // The shortcut bypasses the table, which evicts the programs used least recently.
            self.all.touch(&last);
            return Ok(last);
        }
        let key = Signature::of(inputs);
        let with_key = || -> Result<_> { Ok((key.clone(), make()?)) };
        let made = self
            .all
            .get_or_make(key.fingerprint(), |k| *k == key, with_key)?;
        *lock(&self.last) = Some(made.clone());
        Ok(made)
    }

    /// Returns the program for a signature.
    pub fn find(&self, key: &Signature) -> Option<ProgramSlot<E>> {
        self.all.find(key.fingerprint(), |k| k == key)
    }

    /// Adds a program, unless the signature already has one.
    pub fn insert(&self, key: Signature, program: E) -> ProgramSlot<E> {
        let found = self.find(&key);
        found.unwrap_or_else(|| self.all.insert(key.fingerprint(), key, program))
    }

    /// Returns the program of the last call.
    pub fn last(&self) -> Option<ProgramSlot<E>> {
        lock(&self.last).clone()
    }

    /// Returns all programs, in no particular order.
    pub fn all(&self) -> Vec<ProgramSlot<E>> {
        self.all.all()
    }

    /// Records that a call needed a compilation, and why no existing program matched.
    pub fn note_compilation(&self, reason: Option<String>) {
        let mut calls = lock(&self.calls);
        calls.compilations += 1;
        calls.reason = reason;
    }

    /// Records which part of the arguments caused a compilation. Returns the number of
    /// compilations that it has caused.
    pub fn note_cause(&self, path: &str) -> usize {
        let mut calls = lock(&self.calls);
        let count = calls.causes.entry(path.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// Returns how many compilations calls needed.
    pub fn compilations(&self) -> usize {
        lock(&self.calls).compilations
    }

    /// Returns why the last compilation was needed although there were programs.
    pub fn reason(&self) -> Option<String> {
        lock(&self.calls).reason.clone()
    }
}
