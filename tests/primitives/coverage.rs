//! The cases against the catalogue: which primitives they apply, on which
//! element types and shapes.

use ramie_core::prim::{CatalogueEntry, Primitive};
use ramie_core::{Array, Aval, DType, make_jaxpr};
use ramie_testing::case::Case;
use ramie_testing::caught;
use ramie_testing::check::Failures;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Primitives that have no 0-d case, because one of their operands has an axis
/// or more.
const NEED_AN_AXIS: &[&str] = &[
    "argmax",
    "argmin",
    "cholesky",
    "concatenate",
    "conv_general_dilated",
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "eigh",
    "gather",
    "geqrf",
    "householder_product",
    "iota",
    "linear_solve",
    "lu",
    "lu_pivots_to_permutation",
    "qr",
    "ragged_dot_general",
    "random_bits",
    "random_fold_in",
    "random_split",
    "reduce",
    "scatter",
    "scatter-add",
    "scatter-max",
    "scatter-min",
    "scatter-mul",
    "scatter-sub",
    "sort",
    "split",
    "svd",
    "top_k",
    "triangular_solve",
    "tridiagonal_solve",
];

/// What cases cover of one primitive.
#[derive(Default)]
struct Covered {
    cases: usize,
    dtypes: BTreeSet<&'static str>,
    empty: bool,
    scalar: bool,
    example: Option<(Arc<dyn Primitive>, Vec<Aval>)>,
}

/// Notes primitives of the catalogue that no case applies, or none on one of
/// their element types, without elements, or without axes; and primitives that
/// take a type which they are not listed with. Returns how many are applied.
pub fn check(catalogue: &[CatalogueEntry], cases: &[Case], failures: &mut Failures) -> usize {
    let mut covered: Vec<Covered> = catalogue.iter().map(|_| Covered::default()).collect();
    for case in cases {
        match caught(|| applied(case)) {
            Ok(eqns) => record(case, &eqns, catalogue, &mut covered),
            Err(_) => failures.note(&case.label, "cannot be traced"),
        }
    }
    for (entry, covered) in catalogue.iter().zip(&covered) {
        if let Err(message) = complete(entry, covered) {
            failures.note(entry.name, message);
        }
    }
    covered.iter().filter(|c| c.cases > 0).count()
}

pub type Applied = (Arc<dyn Primitive>, Vec<Aval>);

/// The primitives that a case applies, with the types of their operands.
pub fn applied(case: &Case) -> Vec<Applied> {
    let program = make_jaxpr(|xs: Vec<Array>| (case.apply)(&xs))(case.inputs.clone());
    let jaxpr = program.jaxpr;
    let operands = |eqn: &ramie_core::extend::Eqn| -> Vec<Aval> {
        eqn.inputs.iter().map(|a| jaxpr.aval(a)).collect()
    };
    let eqns = jaxpr.eqns.iter();
    eqns.map(|e| (e.primitive.clone(), operands(e))).collect()
}

fn record(case: &Case, eqns: &[Applied], catalogue: &[CatalogueEntry], covered: &mut [Covered]) {
    for (entry, covered) in catalogue.iter().zip(covered) {
        // What an operation is made of is not what its cases are about.
        let about = eqns.len() == 1 || case.op == entry.name;
        let Some(eqn) = eqns.iter().find(|(p, _)| p.name() == entry.name) else {
            continue;
        };
        if !about {
            continue;
        }
        covered.cases += 1;
        let mut arrays = case.inputs.iter().chain(case.outputs.iter().flatten());
        covered
            .dtypes
            .extend(case.dtypes().iter().map(|d| d.name()));
        covered.empty |= arrays.any(|a| a.size() == 0);
        covered.scalar |= match case.inputs.as_slice() {
            [] => case.outputs.iter().flatten().all(|a| a.ndim() == 0),
            inputs => inputs.iter().all(|a| a.ndim() == 0),
        };
        covered.example.get_or_insert_with(|| eqn.clone());
    }
}

fn complete(entry: &CatalogueEntry, covered: &Covered) -> Result<(), String> {
    if entry.exempt.is_some() {
        return Ok(());
    }
    let Some((primitive, operands)) = &covered.example else {
        return Err("no case applies it: record rows, write cases, or say why not".into());
    };
    for dtype in DType::COMMON {
        if entry.class.contains(dtype) {
            if !covered.dtypes.contains(dtype.name()) {
                return Err(format!("no case applies it to {dtype}"));
            }
        } else if !operands.is_empty() {
            let first = operands[0].dtype();
            let changed: Vec<Aval> = operands
                .iter()
                .map(|a| {
                    if a.dtype() == first {
                        a.with_dtype(dtype)
                    } else {
                        *a
                    }
                })
                .collect();
            if primitive.infer(&changed).is_ok() {
                return Err(format!("takes {dtype}, which the catalogue denies"));
            }
        }
    }
    if !covered.empty {
        return Err("no case applies it to no elements".into());
    }
    if covered.scalar == NEED_AN_AXIS.contains(&entry.name) {
        return Err("a 0-d case is missing, or NEED_AN_AXIS names it for nothing".into());
    }
    Ok(())
}
