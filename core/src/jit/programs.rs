//! The programs made of a function, found by signature.

use super::signature::Signature;
use crate::Tree;
use crate::lock::lock;
use crate::program_cache::{ProgramCache, Slot};
use std::sync::{Arc, Mutex, Weak};

/// A program with its signature.
pub(super) type Made<E> = Arc<Slot<Signature, E>>;

/// Programs by signature, with the last one at hand.
pub(super) struct Programs<E> {
    last: Mutex<Option<Made<E>>>,
    all: ProgramCache<Signature, E>,
    calls: Mutex<Calls>,
}

/// Compilations that calls needed.
#[derive(Default)]
struct Calls {
    compilations: usize,
    reason: Option<String>,
}

/// The programs of a function, which its stages add to as well.
pub(super) type Shared<E> = Arc<Programs<E>>;

/// Programs of some type that can be forgotten.
pub(super) trait Forget: Send + Sync {
    fn forget(&self);
}

impl<E: Send + Sync> Forget for Programs<E> {
    fn forget(&self) {
        // Programs are destroyed without a lock held.
        let last = lock(&self.last).take();
        drop(last);
        self.all.clear();
        *lock(&self.calls) = Calls::default();
    }
}

/// The programs of all functions.
static ALL: Mutex<Vec<Weak<dyn Forget>>> = Mutex::new(Vec::new());

/// No programs yet, at most `limit` later, which [`forget_all`] knows of.
pub(super) fn shared<E: Send + Sync + 'static>(limit: usize) -> Shared<E> {
    let programs = Arc::new(Programs {
        last: Mutex::new(None),
        all: ProgramCache::with_limit(limit),
        calls: Mutex::default(),
    });
    let weak: Weak<dyn Forget> = Arc::downgrade(&(programs.clone() as Arc<dyn Forget>));
    let mut all = lock(&ALL);
    // Those of functions that are gone make room before the list grows.
    if all.len() == all.capacity() {
        all.retain(|programs| programs.strong_count() > 0);
    }
    all.push(weak);
    programs
}

/// Forgets the programs of all functions.
pub(crate) fn forget_all() {
    let all: Vec<Arc<dyn Forget>> = lock(&ALL).iter().filter_map(Weak::upgrade).collect();
    for programs in all {
        programs.forget();
    }
}

impl<E> Programs<E> {
    /// The program for a call, made at first use, by one thread.
    #[inline]
    pub fn get_or_make<S: Tree, A: Tree, X>(
        &self,
        state: &S,
        args: &A,
        make: impl FnOnce() -> Result<E, X>,
    ) -> Result<Made<E>, X> {
        let last = lock(&self.last).clone();
        if let Some(last) = last
            && last.key.matches(state, args)
        {
            self.all.touch(&last);
            return Ok(last);
        }
        let key = Signature::of(state, args);
        let with_key = || Ok((key.clone(), make()?));
        let made = self
            .all
            .get_or_make(key.fingerprint(), |k| *k == key, with_key)?;
        *lock(&self.last) = Some(made.clone());
        Ok(made)
    }

    /// The program for a signature.
    pub fn find(&self, key: &Signature) -> Option<Made<E>> {
        self.all.find(key.fingerprint(), |k| k == key)
    }

    /// Keeps a program, unless there is one for the signature.
    pub fn insert(&self, key: Signature, program: E) -> Made<E> {
        let found = self.find(&key);
        found.unwrap_or_else(|| self.all.insert(key.fingerprint(), key, program))
    }

    /// All programs, in no order.
    pub fn all(&self) -> Vec<Made<E>> {
        self.all.all()
    }

    /// Notes that a call needed a compilation, and why although there were programs.
    pub fn note_compilation(&self, reason: Option<String>) {
        let mut calls = lock(&self.calls);
        calls.compilations += 1;
        calls.reason = reason;
    }

    /// How many compilations calls needed.
    pub fn compilations(&self) -> usize {
        lock(&self.calls).compilations
    }

    /// Why the last of these was needed although there were programs.
    pub fn reason(&self) -> Option<String> {
        lock(&self.calls).reason.clone()
    }
}
