//! Caches of compiled programs: those of jitted functions and those of operations outside `jit`.

use crate::base::hash::FastMap;
use crate::base::lock::unpoisoned;
use crate::base::single_flight::Flights;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

/// The number of programs that are kept, as in JAX.
const LIMIT: usize = 4096;

/// A table with a limited number of values, from which the least recently used is removed. Each
/// value is created once, even if several threads request it at the same time. Keys are compared
/// in full, not only by their hashes.
pub(crate) struct ProgramCache<K, V> {
    table: RwLock<Option<Table<K, V>>>,
    flights: Flights<u64>,
    /// Incremented by each insertion; values last used at the same count are equally old.
    clock: AtomicU64,
    /// Maximum number of values.
    limit: usize,
}

struct Table<K, V> {
    by_hash: FastMap<u64, SmallVec<[Arc<Slot<K, V>>; 1]>>,
    len: usize,
}

/// A value with its key and time of last use.
pub(crate) struct Slot<K, V> {
    pub key: K,
    pub value: V,
    used: AtomicU64,
}

impl<K, V> ProgramCache<K, V> {
    /// Creates a table of at most 4096 values.
    pub const fn new() -> Self {
        ProgramCache {
            table: RwLock::new(None),
            flights: Flights::new(),
            clock: AtomicU64::new(0),
            limit: LIMIT,
        }
    }

    /// Creates a table of at most `limit` values, but at least one.
    pub fn with_limit(limit: usize) -> Self {
        ProgramCache {
            limit: limit.max(1),
            ..ProgramCache::new()
        }
    }

    /// Returns the value whose key has this hash and satisfies `is_key`; creates it at the first
    /// use.
    pub fn get_or_make<E>(
        &self,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        make: impl FnOnce() -> Result<(K, V), E>,
    ) -> Result<Arc<Slot<K, V>>, E> {
        match self.find(hash, &is_key) {
            Some(slot) => Ok(slot),
            None => self.make(hash, is_key, make),
        }
    }

    /// Returns the value whose key has this hash and satisfies `is_key`.
    #[inline]
    pub fn find(&self, hash: u64, is_key: impl Fn(&K) -> bool) -> Option<Arc<Slot<K, V>>> {
        let table = unpoisoned(self.table.read());
        let slots = table.as_ref()?.by_hash.get(&hash)?;
        let slot = slots.iter().find(|slot| is_key(&slot.key))?;
        self.touch(slot);
        Some(slot.clone())
    }

    /// Records that a value was used.
    #[inline]
    pub fn touch(&self, slot: &Slot<K, V>) {
        // Written only after an insertion, so that threads that find the same program do not
        // invalidate each other's cache lines.
        let now = self.clock.load(Ordering::Relaxed);
        if slot.used.load(Ordering::Relaxed) != now {
            slot.used.store(now, Ordering::Relaxed);
        }
    }

    #[cold]
    fn make<E>(
        &self,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        make: impl FnOnce() -> Result<(K, V), E>,
    ) -> Result<Arc<Slot<K, V>>, E> {
        loop {
            let flight = self.flights.enter(hash);
            // Another thread may have created it meanwhile.
            if let Some(slot) = self.find(hash, &is_key) {
                return Ok(slot);
            }
            if flight.is_some() {
                let (key, value) = make()?;
                return Ok(self.insert(hash, key, value));
            }
        }
    }

    /// Inserts a value under a new key.
    pub fn insert(&self, hash: u64, key: K, value: V) -> Arc<Slot<K, V>> {
        let now = self.clock.fetch_add(1, Ordering::Relaxed) + 1;
        let slot = Arc::new(Slot {
            key,
            value,
            used: AtomicU64::new(now),
        });
        let mut table = unpoisoned(self.table.write());
        let table = table.get_or_insert_with(|| Table {
            by_hash: FastMap::default(),
            len: 0,
        });
        table.by_hash.entry(hash).or_default().push(slot.clone());
        table.len += 1;
        let dropped: Vec<_> = (self.limit..table.len)
            .filter_map(|_| table.evict())
            .collect();
        // Programs are destroyed without holding the lock.
        drop(dropped);
        slot
    }

    /// Returns all values, in no particular order.
    pub fn all(&self) -> Vec<Arc<Slot<K, V>>> {
        let table = unpoisoned(self.table.read());
        let slots = table.iter().flat_map(|table| table.by_hash.values());
        slots.flatten().cloned().collect()
    }

    /// Removes all values.
    pub fn clear(&self) {
        let mut table = unpoisoned(self.table.write());
        let forgotten = table.take();
        drop(table);
        drop(forgotten);
    }
}

impl<K, V> Table<K, V> {
    /// Removes the least recently used value.
    fn evict(&mut self) -> Option<Arc<Slot<K, V>>> {
        let age = |slot: &Arc<Slot<K, V>>| slot.used.load(Ordering::Relaxed);
        let (&hash, at) = self
            .by_hash
            .iter()
            .flat_map(|(hash, slots)| slots.iter().enumerate().map(move |(i, s)| (hash, i, s)))
            .min_by_key(|(_, _, slot)| age(slot))
            .map(|(hash, at, _)| (hash, at))?;
        let slots = self.by_hash.get_mut(&hash)?;
        let slot = slots.remove(at);
        if slots.is_empty() {
            self.by_hash.remove(&hash);
        }
        self.len -= 1;
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn get(cache: &ProgramCache<u32, u32>, hash: u64, key: u32) -> (u32, bool) {
        let mut made = false;
        let slot = cache.get_or_make(
            hash,
            |k| *k == key,
            || {
                made = true;
                Ok::<_, Infallible>((key, key * 10))
            },
        );
        let Ok(slot) = slot;
        (slot.value, made)
    }

    #[test]
    fn keys_with_one_hash_are_told_apart() {
        let cache = ProgramCache::new();
        for (key, made) in [(1, true), (2, true), (1, false), (2, false)] {
            assert_eq!(get(&cache, 7, key), (key * 10, made));
        }
        cache.clear();
        assert_eq!(get(&cache, 7, 1), (10, true));
    }

    #[test]
    fn the_value_used_longest_ago_goes() {
        let mut cache = ProgramCache::with_limit(3);
        for key in [1, 2, 3] {
            cache.insert(u64::from(key % 2), key, key);
        }
        assert!(!get(&cache, 1, 1).1, "used again");
        cache.insert(9, 4, 4);
        let kept = |hash, key| cache.find(hash, |k: &u32| *k == key).is_some();
        assert_eq!(
            [kept(1, 1), kept(0, 2), kept(1, 3), kept(9, 4)],
            [true, false, true, true]
        );
        assert_eq!(cache.all().len(), 3);
        // A smaller limit takes effect at the next insertion.
        cache.limit = 1;
        cache.insert(10, 5, 5);
        assert!(cache.find(10, |k: &u32| *k == 5).is_some());
        let table = cache.table.read().expect("the table");
        let table = table.as_ref().expect("it has one value");
        assert_eq!((table.len, table.by_hash.len()), (1, 1));
    }

    #[test]
    fn a_failure_is_nobody_elses() {
        let cache = ProgramCache::<u32, u32>::new();
        let failed = cache.get_or_make(1, |_| true, || Err("no"));
        assert_eq!(failed.err(), Some("no"));
        assert_eq!(get(&cache, 1, 1), (10, true));
    }
}
