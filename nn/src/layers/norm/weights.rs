//! Calls of layers with temporarily replaced parameters.

use crate::Param;
use crate::linen::{Module, Scope};
use ramie_core::options::Reduction;
use ramie_core::{Array, State, Tree, tree};

/// Divides the array by its Euclidean norm along the axes.
pub(super) fn l2_normalized(x: &Array, over: &Reduction, epsilon: f64) -> Array {
    let squares = (x * x).sum_over(over.clone().keepdims());
    x * (squares + epsilon).rsqrt()
}

/// Returns the path with slashes instead of dots, as in names of variables that belong to a
/// parameter.
pub(super) fn slashed(path: &str) -> String {
    path.replace('.', "/")
}

/// Returns the paths in the order of Flax's trees: compared component by component.
pub(super) fn in_order(params: &State) -> Vec<String> {
    let mut paths: Vec<String> = params.paths().map(str::to_owned).collect();
    paths.sort_by(|a, b| a.split('.').cmp(b.split('.')));
    paths
}

/// Calls a layer that owns its parameters with replaced parameters, then restores them. `other`
/// returns the replacement from path and value.
pub(super) fn with_parameters<L: Tree, R>(
    layer: &mut L,
    mut other: impl FnMut(&str, &Array) -> Array,
    call: impl FnOnce(&mut L) -> R,
) -> R {
    let params = State::of(layer).of_kind(Param::KIND);
    let mut others = params.clone();
    for path in in_order(&params) {
        others.insert(&path, other(&path, &params[&path]));
    }
    others.update(layer).expect("the layer's own paths");
    let out = call(layer);
    params.update(layer).expect("the layer's own paths");
    out
}

/// Calls a module as the submodule `layer_instance` with replaced parameters (`map_variables`).
/// `other` returns the replacement from name, path and value. As in Flax, a module that is
/// being initialized keeps the replaced parameters.
#[track_caller]
pub(super) fn run_with_parameters<M, A: Tree, O: Tree>(
    scope: &mut Scope,
    module: &M,
    args: A,
    mut other: impl FnMut(&mut Scope, &str, &Array) -> Array,
) -> O
where
    M: Module<A, O>,
{
    let mut inner = scope.enter("layer_instance");
    let name = inner.names().last().cloned().unwrap_or_default();
    if scope.is_initializing() {
        let _: O = inner.run(module, tree::copy(&args));
    }
    let params = inner.variables("params");
    for path in in_order(&params) {
        let value = other(scope, &format!("{name}/{}", slashed(&path)), &params[&path]);
        inner.replace_param(&path, value);
    }
    let out = inner.run(module, args);
    if !scope.is_initializing() {
        for (path, value) in params.iter() {
            inner.replace_param(path, value.clone());
        }
    }
    out
}
