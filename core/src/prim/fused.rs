//! Library functions that run as one program: a single execution when called eagerly, one nested
//! `jit` when traced, as in JAX.

use crate::base::hash::FastHasher;
use crate::base::location::at_location;
use crate::base::program_cache::ProgramCache;
use crate::prim::call::Call;
use crate::program::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::program::trace::trace_to_jaxpr;
use crate::{Array, Aval};
use smallvec::SmallVec;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;

/// The cache key of a program.
struct Key {
    name: &'static str,
    fixed: Words,
    avals: Vec<Aval>,
}

static PROGRAMS: ProgramCache<Key, (Arc<str>, Arc<Jaxpr>)> = ProgramCache::new();

/// The bytes that a value feeds to a hasher. Two values of the same type are equal if and only if
/// their bytes are equal.
#[derive(Default, PartialEq)]
struct Words(SmallVec<[u8; 64]>);

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    fn finish(&self) -> u64 {
        let mut hasher = FastHasher::default();
        hasher.write(&self.0);
        hasher.finish()
    }
}

/// Applies `f` to `args` as the program `name`, which is traced once for each value of `fixed`
/// and each combination of argument types.
///
/// `f` must depend only on `fixed` and its arguments.
#[track_caller]
pub(crate) fn fused(
    name: &'static str,
    fixed: impl Hash,
    args: &[Array],
    f: impl FnOnce(&[Array]) -> Vec<Array>,
) -> Vec<Array> {
    let location = Location::caller();
    let avals: Vec<Aval> = args.iter().map(Array::aval).collect();
    let mut words = Words::default();
    fixed.hash(&mut words);
    let mut hasher = FastHasher::default();
    (name, words.finish(), &avals).hash(&mut hasher);
    let is_key = |key: &Key| key.name == name && key.fixed == words && key.avals == avals;
    let made = PROGRAMS.get_or_make(hasher.finish(), is_key, || {
        let program = at_location(location, || trace_to_jaxpr(&avals, f));
        assert!(
            program.consts.is_empty(),
            "`{name}`: its function captured an array\n  help: pass the array as an argument"
        );
        let key = Key {
            name,
            fixed: Words(words.0.clone()),
            avals: avals.clone(),
        };
        Ok::<_, Infallible>((key, (Arc::from(name), program.jaxpr)))
    });
    let Ok(made) = made;
    let (name, jaxpr) = &made.value;
    let program = ClosedJaxpr::without_consts(jaxpr.clone());
    Call::apply(name, program, args)
}

/// Same as [`fused`], for a single result.
#[track_caller]
pub(crate) fn fused1(
    name: &'static str,
    fixed: impl Hash,
    args: &[Array],
    f: impl FnOnce(&[Array]) -> Array,
) -> Array {
    fused(name, fixed, args, |args| vec![f(args)])
        .pop()
        .expect("the program has one result")
}

/// Clears the cache of programs.
pub(crate) fn forget_fused() {
    PROGRAMS.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(value: impl Hash) -> Words {
        let mut words = Words::default();
        value.hash(&mut words);
        words
    }

    #[test]
    fn different_values_give_different_words() {
        assert!(words((1u8, "a")) == words((1u8, "a")));
        assert!(words((1u8, "a")) != words((1u8, "b")));
        assert!(words(("ab", "c")) != words(("a", "bc")));
        assert!(
            words((&[1usize, 2][..], &[3usize][..])) != words((&[1usize][..], &[2usize, 3][..]))
        );
        assert!(words(Some(0u64)) != words(None::<u64>));
    }
}
