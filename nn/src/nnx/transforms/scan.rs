//! `scan` for functions that change a model.

use super::axes::{Axis, StateAxes, checked_axis, rename_axes};
use super::{copy, replace};
use crate::model;
use crate::setters::setters;
use ramie_core::lax::scan_with;
use ramie_core::sharding::AxisName;
use ramie_core::{Array, Tree, tree};
use std::cell::RefCell;

/// Options of [`scan`]: the axes of the model, and options of the loop.
///
/// The axes of the model, [`StateAxes`] or one axis for all, convert to it; all other options
/// have defaults.
///
/// ```
/// use ramie_nn::nnx::{Carry, Everything, RngState, ScanOptions, StateAxes, of_type};
/// let axes = StateAxes::new().with(of_type::<RngState>(), Carry).with(Everything, 0);
/// let options = ScanOptions::from(axes).reverse(true);
/// ```
#[derive(Clone, Debug)]
pub struct ScanOptions {
    state: StateAxes,
    loop_options: ramie_core::options::ScanOptions,
    partition_name: Option<AxisName>,
}

impl<A: Into<StateAxes>> From<A> for ScanOptions {
    fn from(state: A) -> ScanOptions {
        ScanOptions {
            state: state.into(),
            loop_options: ramie_core::options::ScanOptions::default(),
            partition_name: None,
        }
    }
}

impl ScanOptions {
    /// Sets the number of steps. Required if there is no array to scan over.
    #[must_use]
    pub fn length(mut self, length: usize) -> ScanOptions {
        self.loop_options.length = Some(length);
        self
    }

    /// Sets whether to scan from the last slice to the first. Defaults to `false`.
    #[must_use]
    pub fn reverse(mut self, reverse: bool) -> ScanOptions {
        self.loop_options.reverse = reverse;
        self
    }

    /// Sets the number of steps unrolled in each iteration of the loop. Defaults to 1.
    #[must_use]
    pub fn unroll(mut self, unroll: usize) -> ScanOptions {
        self.loop_options.unroll = unroll;
        self
    }

    setters! {
        /// Sets the name of the scanned axis in the metadata of variables whose dimensions have
        /// names (`nnx.PARTITION_NAME`). Defaults to none.
        partition_name: [Option<AxisName> as into],
    }
}

/// The leaves of a model, grouped by their treatment.
struct Leaves {
    axes: Vec<Axis>,
    carried: Vec<Array>,
    scanned: Vec<Array>,
    shared: Vec<Array>,
}

impl Leaves {
    /// Groups the leaves of a model. The scanned axis of each scanned leaf becomes its first.
    #[track_caller]
    fn of<M: Tree>(model: &M, axes: Vec<Axis>) -> Leaves {
        let paths = tree::paths(model);
        let mut leaves = Leaves {
            axes: Vec::new(),
            carried: Vec::new(),
            scanned: Vec::new(),
            shared: Vec::new(),
        };
        for ((array, axis), path) in tree::leaves(model).iter().zip(&axes).zip(&paths) {
            match axis {
                Axis::Carry => leaves.carried.push(array.clone()),
                Axis::Broadcast => leaves.shared.push(array.clone()),
                Axis::At(axis) => {
                    let from = checked_axis("nnx::scan", path, array, *axis);
                    leaves.scanned.push(array.move_axis(from as isize, 0));
                }
            }
        }
        leaves.axes = axes;
        leaves
    }

    /// Creates a model like `like` with these leaves.
    fn put<M: Tree>(&self, like: &M, carried: Vec<Array>, scanned: Vec<Array>) -> M {
        let (mut carried, mut scanned) = (carried.into_iter(), scanned.into_iter());
        let mut shared = self.shared.iter().cloned();
        let mut axes = self.axes.iter();
        tree::map(like, |_| {
            let from: &mut dyn Iterator<Item = Array> = match axes.next() {
                Some(Axis::Carry) => &mut carried,
                Some(Axis::At(_)) => &mut scanned,
                _ => &mut shared,
            };
            from.next().expect("a leaf for each axis")
        })
    }

    /// Returns the carried and scanned leaves of the model after a step. Panics if the step
    /// changed the structure or a shared leaf.
    #[track_caller]
    fn after_step<M: Tree>(&self, before: &M, after: &M) -> (Vec<Array>, Vec<Array>) {
        if let Some(lines) = tree::structure_mismatch(["before", "after"], before, after) {
            panic!(
                "nnx::scan: a step changed the structure of the model\n  {lines}\n  help: change \
                 only the model's arrays in steps; change hyperparameters and modes before"
            );
        }
        let (mut carried, mut scanned) = (Vec::new(), Vec::new());
        let mut shared = self.shared.iter();
        let paths = tree::paths(after);
        for ((array, axis), path) in tree::leaves(after).into_iter().zip(&self.axes).zip(paths) {
            match axis {
                Axis::Carry => carried.push(array),
                Axis::At(_) => scanned.push(array),
                Axis::Broadcast => assert!(
                    shared.next().is_some_and(|s| s.same(&array)),
                    "nnx::scan: a step changed `{path}`, which all steps share\n  help: use the \
                     axis `Carry` to pass it from step to step, or an axis along which it is \
                     stacked"
                ),
            }
        }
        (carried, scanned)
    }
}

/// Runs a function of a model, a carry and an element once per step (`nnx.scan`). With stacked
/// layers as the model, it passes the input through all of them, and the function is compiled
/// once.
///
/// The axes specify which leaves of the model are sliced per step, which are carried from step
/// to step ([`Carry`](super::Carry)), and which are shared by all steps. Returns the last carry
/// and the stacked results of the steps; afterwards the model has its new state.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::nnx;
/// use ramie_nn::{Linear, Rngs};
/// let mut rngs = Rngs::new(0).split(5);
/// let mut layers = nnx::vmap(&mut rngs, (), 0, |rngs, ()| Linear::new(4, 4, rngs));
/// let x = Array::ones(&[2, 4], DType::F32);
/// let (y, ()) = nnx::scan(&mut layers, x, (), 0, |layer, x, ()| (layer.forward(&x).tanh(), ()));
/// assert_eq!(y.shape(), [2, 4]);
/// ```
///
/// # Panics
/// Panics if no rule of the options matches a leaf, if a leaf lacks its axis, or if sizes
/// differ. Also panics if a step changes a shared leaf, or the structure or types of the model
/// or the carry.
#[track_caller]
pub fn scan<M: Tree, C: Tree, X: Tree, Y: Tree>(
    model: &mut M,
    init: C,
    xs: X,
    options: impl Into<ScanOptions>,
    f: impl Fn(&mut M, C, X) -> (C, Y),
) -> (C, Y) {
    const OPERATION: &str = "nnx::scan";
    let options = options.into();
    let axes = options.state.of(OPERATION, model);
    let leaves = Leaves::of(model, axes);
    let mut like = copy(model);
    if let Some(name) = options.partition_name {
        // Drop the scanned axis from the metadata, to match the dimensions of a slice.
        let slices = leaves.put(
            &like,
            leaves.carried.clone(),
            leaves.scanned.iter().map(slice_type).collect(),
        );
        like = slices;
        rename_axes(OPERATION, &mut like, &leaves.axes, name, false);
    }
    let writes = RefCell::default();
    let step = |(carry, carried): (C, Vec<Array>), (x, scanned): (X, Vec<Array>)| {
        let before = leaves.put(&like, carried, scanned);
        // `before` remains for the comparison: the step must not change shared leaves or the
        // structure.
        let mut inside = copy(&before);
        let (carry, y) = f(&mut inside, carry, x);
        // The histories of writes leave the loop on the side, since a loop returns arrays only.
        writes.replace(model::writes(&mut inside));
        let (carried, scanned) = leaves.after_step(&before, &inside);
        ((carry, carried), (y, scanned))
    };
    let ((carry, carried), (ys, scanned)) = scan_with(
        step,
        (init, leaves.carried.clone()),
        (xs, leaves.scanned.clone()),
        options.loop_options,
    );
    let mut scanned = scanned.into_iter();
    let back = leaves.axes.iter().filter_map(|axis| match axis {
        Axis::At(axis) => scanned.next().map(|array| array.move_axis(0, *axis)),
        _ => None,
    });
    let mut after = leaves.put(model, carried, back.collect());
    model::add_writes(&mut after, &writes.into_inner());
    replace(model, after);
    (carry, ys)
}

/// Returns the type of one slice along the first axis.
fn slice_type(array: &Array) -> Array {
    Array::shape_dtype_struct(&array.shape()[1..], array.dtype())
}
