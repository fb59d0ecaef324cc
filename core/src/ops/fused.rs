//! Functions of the library that are one program: run eagerly they are one
//! execution, traced they are one nested `jit`, as JAX's own are.

use crate::hash::{FastMap, WideHasher};
use crate::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::prim::call::Call;
use crate::trace::{at_location, trace_to_jaxpr};
use crate::{Array, Aval};
use std::hash::Hash;
use std::panic::Location;
use std::sync::{Arc, RwLock};

type Programs = FastMap<(u64, u64), (Arc<str>, Arc<Jaxpr>)>;
static PROGRAMS: RwLock<Option<Programs>> = RwLock::new(None);

/// Applies `f` to `args` as the program `name`, which is traced once for each
/// value of `fixed` and each type of the arguments.
///
/// `f` must depend on nothing but `fixed` and its arguments.
#[track_caller]
pub(crate) fn fused(
    name: &'static str,
    fixed: impl Hash,
    args: &[Array],
    f: impl FnOnce(&[Array]) -> Vec<Array>,
) -> Vec<Array> {
    let avals: Vec<Aval> = args.iter().map(Array::aval).collect();
    let mut hasher = WideHasher::default();
    (name, &fixed, &avals).hash(&mut hasher);
    let key = hasher.finish_wide();
    let known = PROGRAMS
        .read()
        .unwrap_or_else(|e| e.into_inner())
        .as_ref()
        .and_then(|programs| programs.get(&key).cloned());
    let (name, jaxpr) = known.unwrap_or_else(|| {
        let program = at_location(Location::caller(), || trace_to_jaxpr(&avals, f));
        assert!(
            program.consts.is_empty(),
            "`{name}`: its function captured an array\n  help: give the array as an argument"
        );
        let entry = (Arc::from(name), program.jaxpr);
        PROGRAMS
            .write()
            .unwrap_or_else(|e| e.into_inner())
            .get_or_insert_default()
            .insert(key, entry.clone());
        entry
    });
    let program = ClosedJaxpr {
        jaxpr,
        consts: Vec::new(),
    };
    Call::apply(&name, program, args)
}

/// [`fused`] with one result.
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
