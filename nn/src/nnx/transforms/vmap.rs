//! `vmap` for functions that change a model.

use super::axes::{Axis, StateAxes, checked_axis, rename_axes};
use super::{copy, pure, replace};
use crate::setters::setters;
use ramie_core::lock::lock;
use ramie_core::sharding::AxisName;
use ramie_core::typing::{AxisNames, MapAxes};
use ramie_core::{Tree, tree, vmap_with};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Options of [`vmap`]: the mapped axes of the model, the arguments and the results.
///
/// The axes of the model, [`StateAxes`] or one axis for all, convert to it; all other options
/// have defaults.
///
/// ```
/// use ramie_nn::nnx::{StateAxes, VmapOptions};
/// let options = VmapOptions::from(StateAxes::all(0)).in_axes(None).axis_name("batch");
/// ```
#[derive(Clone, Debug)]
pub struct VmapOptions {
    state: StateAxes,
    in_axes: StateAxes,
    out_axes: StateAxes,
    axis_name: Option<AxisName>,
    spmd_axis_name: Option<AxisNames>,
    axis_size: Option<usize>,
    partition_name: Option<AxisName>,
}

impl<A: Into<StateAxes>> From<A> for VmapOptions {
    fn from(state: A) -> VmapOptions {
        VmapOptions {
            state: state.into(),
            in_axes: StateAxes::all(0),
            out_axes: StateAxes::all(0),
            axis_name: None,
            spmd_axis_name: None,
            axis_size: None,
            partition_name: None,
        }
    }
}

impl VmapOptions {
    setters! {
        /// Sets the mapped axes of the arguments. Defaults to the first.
        in_axes: [StateAxes as into],
        /// Sets the mapped axes of the results. Defaults to the first.
        out_axes: [StateAxes as into],
        /// Sets the name of the mapped axis, for collectives. Defaults to none.
        axis_name: [Option<AxisName> as into],
        /// Sets the mesh axes over which the batch elements are sharded. Defaults to none.
        spmd_axis_name: [Option<AxisNames> as into],
        /// Sets the number of batch elements. Required if nothing is mapped over.
        axis_size: [Option<usize>],
        /// Sets the name of the mapped axis in the metadata of variables whose dimensions have
        /// names (`nnx.PARTITION_NAME`). Within the function their metadata lacks this axis.
        /// Defaults to none.
        partition_name: [Option<AxisName> as into],
    }
}

/// Returns the mapped axes of a tree's leaves by their paths.
#[track_caller]
fn by_path<T: Tree>(tree: &T, axes: &[Axis]) -> HashMap<String, Option<isize>> {
    let axes = axes.iter().map(|axis| match axis {
        Axis::At(axis) => Some(*axis),
        Axis::Broadcast => None,
        Axis::Carry => panic!(
            "nnx::vmap: Carry is only for nnx::scan, because batch elements have no order\n  \
             help: use None for leaves that all batch elements share"
        ),
    });
    tree::paths(tree).into_iter().zip(axes).collect()
}

/// Applies a function of a model and arguments to all batch elements at once (`nnx.vmap`). The
/// axes specify which leaves of the model are sliced per batch element and which are shared;
/// afterwards the model has its new state.
///
/// To stack layers, map their constructor over split RNG streams:
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::nnx;
/// use ramie_nn::{Linear, Rngs};
/// let mut rngs = Rngs::new(0).split(5);
/// let mut layers = nnx::vmap(&mut rngs, (), 0, |rngs, ()| Linear::new(4, 4, rngs));
/// assert_eq!(layers.kernel.shape(), [5, 4, 4]);
/// let x = Array::ones(&[5, 2, 4], DType::F32);
/// let y = nnx::vmap(&mut layers, x, 0, |layer, x| layer.forward(&x));
/// assert_eq!(y.shape(), [5, 2, 4]);
/// ```
///
/// # Panics
/// Panics if no rule of the options matches a leaf, if a leaf lacks its axis, or if sizes
/// differ. Also panics if a shared leaf changes in a way that differs between batch elements.
#[track_caller]
pub fn vmap<M: Tree, A: Tree, R: Tree>(
    model: &mut M,
    args: A,
    options: impl Into<VmapOptions>,
    f: impl Fn(&mut M, A) -> R + Send + Sync,
) -> R {
    const OPERATION: &str = "nnx::vmap";
    let options = options.into();
    let state = options.state.of(OPERATION, model);
    let leaves = tree::leaves(model).into_iter().zip(tree::paths(model));
    for (axis, (array, path)) in state.iter().zip(leaves) {
        if let Axis::At(axis) = axis {
            checked_axis(OPERATION, &path, &array, *axis);
        }
    }
    let inputs = options.in_axes.of(OPERATION, &args);
    // The core asks for axes by the paths of `(model, args)`, so the table is built from that
    // tuple.
    let table = by_path(&(copy(model), copy(&args)), &[&state[..], &inputs].concat());
    let in_axes = MapAxes::by_path(move |path| table.get(path).copied().flatten());
    // The axes of the results are known once the function has been traced.
    let found = Arc::new(Mutex::new(HashMap::new()));
    let traced = {
        let found = found.clone();
        let (options, state) = (&options, &state);
        let f = pure(f);
        move |mut model: M, args: A| {
            if let Some(name) = options.partition_name {
                // Inside, leaves are slices, whose metadata must not name the mapped axis.
                rename_axes(OPERATION, &mut model, state, name, false);
            }
            let (out, model) = f(model, args);
            let results = options.out_axes.of(OPERATION, &out);
            let after = options.state.of(OPERATION, &model);
            // The function may create leaves, such as the layers of a stack, so axes are read after
            // the call. The core asks for them afterwards, by the paths of `(out, model)`.
            let both = (copy(&out), copy(&model));
            *lock(&found) = by_path(&both, &[results, after].concat());
            (out, model)
        }
    };
    let out_axes = MapAxes::by_path(move |path| lock(&found).get(path).copied().flatten());
    let core = ramie_core::options::VmapOptions {
        in_axes,
        out_axes,
        axis_name: options.axis_name,
        spmd_axis_name: options.spmd_axis_name.clone(),
        axis_size: options.axis_size,
        sum_match: false,
    };
    let (mut out, mut after) = vmap_with(traced, core)(copy(model), args);
    if let Some(name) = options.partition_name {
        let results = options.out_axes.of(OPERATION, &out);
        rename_axes(OPERATION, &mut out, &results, name, true);
        let state = options.state.of(OPERATION, &after);
        rename_axes(OPERATION, &mut after, &state, name, true);
    }
    replace(model, after);
    out
}
