//! `vmap` of functions that change a model.

use super::axes::{Axis, StateAxes, checked_axis, rename_axes};
use super::{copy, pure, replace};
use ramie_core::lock::lock;
use ramie_core::{AxisName, AxisNames, Tree, tree, vmap_with};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// How [`vmap`] goes through the model, the arguments and the results.
///
/// It is made of the axes of the model, [`StateAxes`] or one axis for all; the
/// rest has defaults.
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
    /// The axes of the arguments' arrays, the first by default.
    #[must_use]
    pub fn in_axes(mut self, axes: impl Into<StateAxes>) -> VmapOptions {
        self.in_axes = axes.into();
        self
    }

    /// The axes of the results' arrays, the first by default.
    #[must_use]
    pub fn out_axes(mut self, axes: impl Into<StateAxes>) -> VmapOptions {
        self.out_axes = axes.into();
        self
    }

    /// The name of the mapped axis, for collectives.
    #[must_use]
    pub fn axis_name(mut self, name: impl Into<AxisName>) -> VmapOptions {
        self.axis_name = Some(name.into());
        self
    }

    /// The axes of a mesh along which the examples are sharded.
    #[must_use]
    pub fn spmd_axis_name(mut self, names: impl Into<AxisNames>) -> VmapOptions {
        self.spmd_axis_name = Some(names.into());
        self
    }

    /// The number of examples, where nothing is mapped over.
    #[must_use]
    pub fn axis_size(mut self, size: usize) -> VmapOptions {
        self.axis_size = Some(size);
        self
    }

    /// What the mapped axis is called in the metadata of variables that have
    /// names for their dimensions (`nnx.PARTITION_NAME`). The function sees them
    /// without it.
    #[must_use]
    pub fn partition_name(mut self, name: impl Into<AxisName>) -> VmapOptions {
        self.partition_name = Some(name.into());
        self
    }
}

/// The axes of leaves for the core's `vmap`, which has no carries.
#[track_caller]
fn map_axes(axes: &[Axis]) -> Vec<Option<isize>> {
    let axes = axes.iter().map(|axis| match axis {
        Axis::At(axis) => Some(*axis),
        Axis::Broadcast => None,
        Axis::Carry => panic!(
            "nnx::vmap: Carry is an axis of nnx::scan; examples of a batch have no order\n  help: \
             give None to what all examples share"
        ),
    });
    axes.collect()
}

/// A function of a model and arguments, applied to all examples at once
/// (`nnx.vmap`). The axes say which leaves of the model have a slice for each
/// example and which are shared; the model has its new state afterwards.
///
/// Layers are stacked by mapping their constructor over split streams:
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
/// If a leaf has no axis in the options, or lacks it, sizes differ, or a leaf
/// that is shared changes in a way that differs among the examples.
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
    for ((axis, array), path) in state
        .iter()
        .zip(tree::leaves(model))
        .zip(tree::paths(model))
    {
        if let Axis::At(axis) = axis {
            checked_axis(OPERATION, &path, &array, *axis);
        }
    }
    let inputs = options.in_axes.of(OPERATION, &args);
    let in_axes = by_place(
        &(copy(model), copy(&args)),
        &[map_axes(&state), map_axes(&inputs)].concat(),
    );
    // The axes of results are known when the function has been traced.
    let found = Arc::new(Mutex::new(HashMap::new()));
    let traced = {
        let found = found.clone();
        let (options, state) = (&options, &state);
        let f = pure(f);
        move |mut model: M, args: A| {
            if let Some(name) = options.partition_name {
                rename_axes(OPERATION, &mut model, state, name, false);
            }
            let (out, model) = f(model, args);
            let results = options.out_axes.of(OPERATION, &out);
            let after = options.state.of(OPERATION, &model);
            let paths = tree::paths(&(copy(&out), copy(&model)));
            *lock(&found) = paths
                .into_iter()
                .zip(map_axes(&[results, after].concat()))
                .collect();
            (out, model)
        }
    };
    let out_axes = ramie_core::MapAxes::by_path(move |path| {
        let found = lock(&found);
        found.get(path).copied().flatten()
    });
    let core = ramie_core::VmapOptions {
        in_axes,
        out_axes,
        axis_name: options.axis_name,
        spmd_axis_name: options.spmd_axis_name.clone(),
        axis_size: options.axis_size,
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

/// The axes of the arrays of arguments, by the paths that the core gives them.
fn by_place<T: Tree>(args: &T, axes: &[Option<isize>]) -> ramie_core::MapAxes {
    let table: HashMap<String, Option<isize>> = tree::paths(args)
        .into_iter()
        .zip(axes.iter().copied())
        .collect();
    ramie_core::MapAxes::by_path(move |path| table.get(path).copied().flatten())
}
