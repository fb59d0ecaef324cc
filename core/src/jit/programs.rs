//! The programs made of a function, found by signature.

use super::signature::Signature;
use crate::hash::FastMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Programs by signature, with the last one at hand.
pub(super) struct Programs<E> {
    last: Option<(Signature, Arc<E>)>,
    by_signature: FastMap<Signature, (Arc<E>, u64)>,
    clock: u64,
    made: usize,
    reason: Option<String>,
}

/// The programs of a function, which its stages add to as well.
pub(super) type Shared<E> = Arc<Mutex<Programs<E>>>;

/// Programs of some type that can be forgotten.
pub(super) trait Forget: Send + Sync {
    fn forget(&self);
}

impl<E: Send + Sync> Forget for Mutex<Programs<E>> {
    fn forget(&self) {
        // Programs are destroyed without the lock held.
        let forgotten = std::mem::take(&mut *lock(self));
        drop(forgotten);
    }
}

/// The programs of all functions.
static ALL: Mutex<Vec<Weak<dyn Forget>>> = Mutex::new(Vec::new());

/// No programs yet, which [`forget_all`] knows of.
pub(super) fn shared<E: Send + Sync + 'static>() -> Shared<E> {
    let programs = Shared::<E>::default();
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

impl<E> Default for Programs<E> {
    fn default() -> Self {
        Programs {
            last: None,
            by_signature: FastMap::default(),
            clock: 0,
            made: 0,
            reason: None,
        }
    }
}

impl<E> Programs<E> {
    /// The program for a signature.
    pub fn get(&mut self, key: Signature) -> Option<Arc<E>> {
        if let Some((last, entry)) = &self.last
            && *last == key
        {
            return Some(entry.clone());
        }
        self.clock += 1;
        let (entry, used) = self.by_signature.get_mut(&key)?;
        *used = self.clock;
        let entry = entry.clone();
        self.last = Some((key, entry.clone()));
        Some(entry)
    }

    /// Keeps a program, and lets the least recently used go where there are more
    /// than `limit`.
    pub fn insert(&mut self, key: Signature, entry: Arc<E>, limit: usize) {
        self.clock += 1;
        self.by_signature.insert(key, (entry.clone(), self.clock));
        self.last = Some((key, entry));
        while self.by_signature.len() > limit.max(1) {
            let oldest = self
                .by_signature
                .iter()
                .min_by_key(|(_, (_, used))| *used)
                .map(|(key, _)| *key);
            if let Some(oldest) = oldest {
                self.by_signature.remove(&oldest);
            }
        }
    }

    /// [`insert`](Programs::insert) of a program that a call needed, and why it
    /// did although there were others.
    pub fn insert_for_call(
        &mut self,
        key: Signature,
        entry: Arc<E>,
        limit: usize,
        reason: Option<String>,
    ) {
        self.made += 1;
        self.reason = reason;
        self.insert(key, entry, limit);
    }

    /// All programs, in no order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<E>> {
        self.by_signature.values().map(|(entry, _)| entry)
    }

    /// How many programs calls needed.
    pub fn made(&self) -> usize {
        self.made
    }

    /// Why the last of these was needed beside earlier ones.
    pub fn reason(&self) -> Option<String> {
        self.reason.clone()
    }
}

/// The programs, also where a thread panicked that had them.
pub(super) fn lock<T>(programs: &Mutex<T>) -> MutexGuard<'_, T> {
    programs.lock().unwrap_or_else(|e| e.into_inner())
}
