//! Layers that compute with other parameters than those that they hold.

use crate::Param;
use crate::linen::{Module, Scope};
use ramie_core::{Array, Reduction, State, Tree, tree};

/// The array divided by its Euclidean length along the axes.
pub(super) fn l2_normalized(x: &Array, over: &Reduction, epsilon: f64) -> Array {
    let squares = (x * x).sum_with(&over.clone().keepdims());
    x * (squares + epsilon).rsqrt()
}

/// The name of a variable that belongs to a parameter of a layer.
pub(super) fn slashed(path: &str) -> String {
    path.replace('.', "/")
}

/// Paths in the order of Flax's trees: by the names in them.
pub(super) fn in_order(params: &State) -> Vec<String> {
    let mut paths: Vec<String> = params.paths().map(str::to_owned).collect();
    paths.sort_by(|a, b| a.split('.').cmp(b.split('.')));
    paths
}

/// Calls a layer that holds its parameters with others in their place, which
/// are a function of path and value.
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

/// Calls a module, the part `layer_instance`, with other parameters in the
/// place of its own, which are a function of name, path and value
/// (`map_variables`). As in Flax, a new module keeps the others.
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
        let _: O = inner.run(module, tree::map(&args, Array::clone));
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
