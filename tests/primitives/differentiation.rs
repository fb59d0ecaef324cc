//! Which operations have derivatives: those that have one in JAX, and where
//! JAX's is zero, it is zero here. No operation gives a zero that JAX refuses.

use super::coverage::applied;
use ramie_core::prim::{CatalogueEntry, Differentiation};
use ramie_core::{Array, DType};
use ramie_testing::case::Case;
use ramie_testing::check::Failures;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Operations that JAX has under other names or not as primitives, and those of
/// which JAX says something else, with the reason.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "convert_element_type",
        "zero where the result is no float; JAX's rule gives a tangent without elements",
    ),
    (
        "custom_vjp_call",
        "JAX's traces know it, not its tables of rules",
    ),
    ("random_gamma_grad", "a function in JAX"),
    (
        "stop_gradient",
        "a rule of a function in JAX, which gives zero",
    ),
    (
        "zeta",
        "differentiated in its second argument; JAX refuses both",
    ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Zero,
    Undefined,
    Defined,
}

fn recorded() -> BTreeMap<String, Kind> {
    let document: Value = ramie_testing::golden::json("differentiation.json");
    let kinds = [
        ("zero", Kind::Zero),
        ("undefined", Kind::Undefined),
        ("defined", Kind::Defined),
    ];
    let names = |key| document[key].as_array().expect("a list of names").iter();
    kinds
        .into_iter()
        .flat_map(|(key, kind)| names(key).map(move |n| (n.as_str().expect("a name").into(), kind)))
        .collect()
}

/// Notes operations that are applied to floats and differentiated otherwise than
/// in JAX.
pub fn check(catalogue: &[CatalogueEntry], cases: &[Case], failures: &mut Failures) {
    let recorded = recorded();
    let mut found: BTreeMap<&str, BTreeSet<Kind>> = BTreeMap::new();
    let float = |x: &Array| x.dtype() == DType::F64 || x.dtype() == DType::F32;
    for case in cases.iter().filter(|c| c.inputs.iter().any(float)) {
        for (primitive, operands) in applied(case) {
            // Without floats among the operands no tangent comes this far.
            if !operands.iter().any(|a| a.dtype().is_float()) {
                continue;
            }
            let kind = match primitive.differentiation() {
                Differentiation::Zero => Kind::Zero,
                Differentiation::Undefined { .. } => Kind::Undefined,
                _ => Kind::Defined,
            };
            found.entry(primitive.name()).or_default().insert(kind);
        }
    }
    for (name, kinds) in &found {
        let excused = DIFFERENT.iter().any(|(n, _)| n == name);
        let entry = catalogue.iter().any(|e| e.name == *name);
        match recorded.get(*name) {
            _ if !entry => failures.note(name, "is not in the catalogue"),
            Some(kind) if *kinds != BTreeSet::from([*kind]) && !excused => {
                failures.note(
                    name,
                    format!("is differentiated as {kinds:?}, in JAX as {kind:?}"),
                );
            }
            None if !excused && *kinds != BTreeSet::from([Kind::Defined]) => {
                failures.note(
                    name,
                    format!("is {kinds:?}, and no primitive of JAX; say why"),
                );
            }
            Some(kind) if *kinds == BTreeSet::from([*kind]) && excused => {
                failures.note(name, "is as in JAX: take it out of DIFFERENT");
            }
            _ => {}
        }
    }
    assert!(
        found.len() > 60,
        "only {} operations were looked at",
        found.len()
    );
}
