//! `scan` for modules: applies a layer repeatedly.

use super::axes::{Axes, AxisCount, Lifted, VariableAxis, map_arrays};
use super::pack::Pack;
use crate::linen::{CollectionFilter, Module, Scope, Streams, Variables};
use crate::setters::setters;
use ramie_core::lax::scan_with;
use ramie_core::lock::lock;
use ramie_core::options::ScanOptions;
use ramie_core::sharding::AxisName;
use ramie_core::{Array, Tree, make_jaxpr, tree};
use std::borrow::Cow;
use std::sync::Mutex;

/// A module that is called in a loop. [`scan`] creates it.
#[derive(Clone, Debug)]
pub struct Scan<M> {
    module: M,
    lifted: Lifted,
    variable_broadcast: CollectionFilter,
    variable_carry: CollectionFilter,
    in_axes: Axes,
    out_axes: Axes,
    length: Option<usize>,
    reverse: bool,
    unroll: usize,
}

/// Calls a module in a loop (`flax.linen.scan`). The module maps `(carry, x)` to `(carry, y)`.
/// The resulting module takes the initial carry and all `x`, and returns the last carry and all
/// `y`.
///
/// Each variable is of one of three kinds: separate for each step
/// ([`variable_axes`](Scan::variable_axes)), shared by all steps
/// ([`variable_broadcast`](Scan::variable_broadcast)), or carried from step to step
/// ([`variable_carry`](Scan::variable_carry)).
///
/// ```no_run
/// use ramie_core::{Array, DType, random};
/// use ramie_nn::linen::{self, Dense, Module, Scope};
///
/// #[derive(Clone)]
/// struct Block;
///
/// impl Module<(Array, ()), (Array, ())> for Block {
///     fn call(&self, scope: &mut Scope, (x, ()): (Array, ())) -> (Array, ()) {
///         (scope.child(&Dense::new(8), x).tanh(), ())
///     }
/// }
///
/// // Four layers, compiled as one.
/// let deep = linen::scan(Block).variable_axes("params", 0).split_rngs("params", true).length(4);
/// let x = Array::ones(&[2, 8], DType::F32);
/// let variables = deep.init(random::key(0), (x, ()));
/// assert_eq!(variables["params"]["Dense_0.kernel"].shape(), [4, 8, 8]);
/// ```
pub fn scan<M>(module: M) -> Scan<M> {
    Scan {
        module,
        lifted: Lifted::default(),
        variable_broadcast: CollectionFilter::None,
        variable_carry: CollectionFilter::None,
        in_axes: 0.into(),
        out_axes: 0.into(),
        length: None,
        reverse: false,
        unroll: 1,
    }
}

const NAME: &str = "scan";

impl<M> Scan<M> {
    /// Adds collections of which each step has its own variables, stacked along an axis.
    ///
    /// # Panics
    /// Panics if the axis is `None`; use [`variable_broadcast`](Scan::variable_broadcast) for
    /// variables that all steps share.
    #[must_use]
    #[track_caller]
    pub fn variable_axes(
        mut self,
        collections: impl Into<CollectionFilter>,
        axis: impl Into<VariableAxis>,
    ) -> Self {
        let axis = axis.into();
        assert!(
            axis.input != Some(None) && axis.output != Some(None),
            "linen::scan: variable_axes needs an axis, got None\n  help: use \
             .variable_broadcast(..) for collections that all steps share"
        );
        self.lifted.axes.push((collections.into(), axis));
        self
    }

    /// Adds RNG streams. If `split` is true, each step has its own keys.
    #[must_use]
    pub fn split_rngs(mut self, streams: impl Into<CollectionFilter>, split: bool) -> Self {
        self.lifted.rngs.push((streams.into(), split));
        self
    }

    setters! {
        /// Sets the collections whose variables all steps share. Defaults to none.
        variable_broadcast: [CollectionFilter as into],
        /// Sets the collections whose variables are carried from step to step. Defaults to none.
        variable_carry: [CollectionFilter as into],
        /// Sets the scanned axes of the arguments after the carry; `None` for arguments that all
        /// steps share. Defaults to the first axis.
        in_axes: [Axes as into],
        /// Sets the axes along which the results of the steps are stacked; `None` for results that
        /// do not depend on the step. Defaults to the first axis.
        out_axes: [Axes as into],
        /// Sets the number of steps. Required only if no argument has a scanned axis.
        length: [Option<usize>],
        /// Scans from the last element to the first.
        reverse: [true],
        /// Sets the number of steps unrolled in each iteration of the loop. Defaults to 1.
        unroll: [usize],
    }

    /// Sets the name of the new axis in the shardings of variables (`metadata_params` of Flax).
    /// Defaults to none.
    #[must_use]
    pub fn partition_name(mut self, name: impl Into<AxisName>) -> Self {
        self.lifted.partition_name = Some(name.into());
        self
    }

    #[track_caller]
    fn steps<X: Tree>(&self, xs: &X, axes: &[Option<isize>]) -> usize {
        let mut steps = AxisCount {
            operation: "scan",
            counts: "lengths",
            purpose: "scan over",
            help: "set in_axes to None for arguments that all steps share",
            known: self.length.map(|n| (n, "length".to_owned())),
        };
        for ((path, x), axis) in tree::paths(xs).iter().zip(&tree::leaves(xs)).zip(axes) {
            if let Some(axis) = axis {
                steps.see(format!("the argument `{path}`"), x, *axis);
            }
        }
        match steps.known {
            Some((n, _)) => n,
            None => panic!(
                "linen::scan: the number of steps is unknown, because no argument has a scanned \
                 axis\n  help: set it: .length(n)"
            ),
        }
    }

    /// Returns the variables that each step has of its own, with the axis of the steps first.
    #[track_caller]
    fn stepped(&self, pack: &Pack) -> Variables {
        // A collection that several filters accept is shared, or else carried.
        let stepped = self.variable_broadcast.or(&self.variable_carry).not();
        let own = pack.variables(&stepped.and(&self.lifted.inputs()));
        let own = self.lifted.without_axis(NAME, own);
        let front = |name: &str, _: &str, a: &Array| match self.lifted.input(name).flatten() {
            Some(axis) => a.move_axis(axis, 0),
            None => a.clone(),
        };
        map_arrays(&own, front)
    }

    /// Returns the variables that the steps have of their own, with their axes as in the model.
    #[track_caller]
    fn stacked(&self, own: &Variables) -> Variables {
        let back = |name: &str, _: &str, a: &Array| match self.lifted.output(name).flatten() {
            Some(axis) => a.move_axis(0, axis),
            None => a.clone(),
        };
        self.lifted.with_axis(NAME, map_arrays(own, back))
    }

    /// Returns the streams that all steps share, and those that are split among the steps.
    fn streams(&self, pack: &Pack, length: usize) -> (Streams, Streams) {
        let streams = pack.streams(&self.lifted.streams());
        let splits = streams.names().filter(|name| self.lifted.splits(name));
        let splits = CollectionFilter::Only(splits.map(str::to_owned).collect());
        let split = self.lifted.split_streams(&streams.filter(&splits), length);
        (streams.filter(&splits.not()), split)
    }
}

/// Moves the scanned axis of each array that has one to the front, and drops the other arrays.
fn in_front(leaves: &[Array], axes: &[Option<isize>]) -> Vec<Array> {
    let pairs = leaves.iter().zip(axes);
    pairs
        .filter_map(|(x, axis)| axis.map(|axis| x.move_axis(axis, 0)))
        .collect()
}

/// Merges the arrays of a step with those that have no scanned axis.
fn merged(axes: &[Option<isize>], step: Vec<Array>, others: &[Array]) -> Vec<Array> {
    let mut step = step.into_iter();
    let pairs = axes.iter().zip(others);
    pairs
        .map(|(axis, other)| match axis {
            Some(_) => step.next().expect("an array for each axis"),
            None => other.clone(),
        })
        .collect()
}

/// Returns the type of an array's slice for one step.
fn element(array: &Array) -> Array {
    Array::shape_dtype_struct(&array.shape()[1..], array.dtype())
}

/// The values that do not depend on the step.
struct Constant<Y> {
    /// The shared variables, created before the loop.
    made: Variables,
    /// The structure of the results of a step.
    y: Y,
    /// The axes along which the results of the steps are stacked.
    out_axes: Vec<Option<isize>>,
    /// The results without an axis.
    results: Vec<Array>,
}

impl<Y: Tree> Constant<Y> {
    /// Returns the results, given those with an axis.
    fn with_stacked(&self, ys: Vec<Array>) -> Y {
        let (mut ys, mut constants) = (ys.into_iter(), self.results.iter());
        let result = |axis: &Option<isize>| match axis {
            Some(axis) => ys.next().expect("a stacked result").move_axis(0, *axis),
            None => constants.next().expect("a constant result").clone(),
        };
        tree::with_leaves(&self.y, self.out_axes.iter().map(result))
    }
}

/// The inputs of one step, besides the shared variables and the carry.
type Step = (Variables, Streams, Vec<Array>);

/// Traces `step`, which returns the shared variables and the results of one step, and returns
/// the values that do not depend on the step. The results have these axes.
#[track_caller]
fn constant<C: Tree, Y: Tree>(
    axes: &Axes,
    step: impl Fn(Variables, C, Step) -> (Variables, Y) + Send + Sync,
    carry: &Variables,
    init: &C,
    one: Step,
) -> Constant<Y> {
    // `make_jaxpr` returns a program, so the structure of the results leaves the trace on the side.
    let structure: Mutex<Option<(Variables, Y)>> = Mutex::default();
    let probe = |carry: Variables, c: C, one: Step| {
        let (shared, y) = step(carry, c, one);
        let of_y = axes.of(NAME, "out_axes", &y);
        let constant = tree::leaves(&y).into_iter().zip(of_y);
        let constant = constant.filter(|(_, axis)| axis.is_none()).map(|(y, _)| y);
        let out: Vec<Array> = tree::leaves(&shared).into_iter().chain(constant).collect();
        *lock(&structure) = Some((shared, y));
        out
    };
    let carry = tree::shape_dtype_structs(carry);
    // The types of one step suffice: a value that depends on no argument is the same at every step.
    let known = make_jaxpr(probe)(carry, tree::shape_dtype_structs(init), one).known();
    let (made, y) = lock(&structure).take().expect("one step was traced");
    let names = tree::paths(&made);
    let mut arrays = constants(known, &names);
    let results = arrays.split_off(names.len());
    Constant {
        made: tree::with_leaves(&made, arrays),
        out_axes: axes.of(NAME, "out_axes", &y),
        y,
        results,
    }
}

impl<C, X, Y, M> Module<(C, X), (C, Y)> for Scan<M>
where
    C: Tree,
    X: Tree,
    Y: Tree,
    M: Module<(C, X), (C, Y)> + Send + Sync,
{
    #[track_caller]
    fn call(&self, scope: &mut Scope, (init, xs): (C, X)) -> (C, Y) {
        let axes = self.in_axes.of(NAME, "in_axes", &xs);
        let length = self.steps(&xs, &axes);
        let leaves = tree::leaves(&xs);
        let pack = Pack::of(scope, NAME);
        let (broadcast, carrying) = (&self.variable_broadcast, &self.variable_carry);
        let carried = broadcast.not().and(carrying);
        let shared = pack.variables(broadcast);
        let carry = pack.variables(&carried);
        let own = self.stepped(&pack);
        let (common_streams, streams) = self.streams(&pack, length);
        let all = broadcast.or(carrying).or(&self.lifted.outputs());

        // One step: returns the changed shared, carried and separate variables and the results.
        let step = |shared: &Variables, carry: Variables, c: C, (own, streams, x): Step| {
            let x = merged(&axes, x, &leaves);
            let x = tree::with_leaves(&xs, x);
            let variables = shared.clone().joined_with(carry.clone()).joined_with(own);
            let streams = common_streams.clone().joined_with(streams);
            let body = |scope: &mut Scope| self.module.call(scope, (c, x));
            let ((c, y), changed) = pack.call(variables, streams, &all, body);
            let (shared, changed) = changed.split(broadcast);
            let (carried, own) = changed.split(&carried);
            check_carry(&carry, &carried);
            (shared, carry.joined_with(carried), c, own, y)
        };

        // A first trace creates the values that all steps share, which are final. The loop reads them.
        let front_xs = in_front(&leaves, &axes);
        let one: Step = (
            map_arrays(&own, |_, _, a| element(a)),
            tree::map(&streams, element),
            front_xs.iter().map(element).collect(),
        );
        let created = |carry: Variables, c: C, one: Step| {
            let (shared, _, _, _, y) = step(&shared, carry, c, one);
            (shared, y)
        };
        let fixed = constant(&self.out_axes, created, &carry, &init, one);
        let shared = shared.joined_with(fixed.made.clone());

        let body = |(carry, c): (Variables, C), one: Step| {
            let (_, carry, c, own, y) = step(&shared, carry, c, one);
            let ys = tree::leaves(&y).into_iter().zip(&fixed.out_axes);
            let ys: Vec<Array> = ys.filter(|(_, a)| a.is_some()).map(|(y, _)| y).collect();
            ((carry, c), (ys, own))
        };
        let options = ScanOptions {
            length: Some(length),
            reverse: self.reverse,
            unroll: self.unroll,
        };
        let ((carry, c), (ys, own)) =
            scan_with(body, (carry, init), (own, streams, front_xs), options);

        let y = fixed.with_stacked(ys);
        let own = self.stacked(&own);
        pack.publish(scope, &fixed.made.joined_with(carry).joined_with(own));
        (c, y)
    }

    fn class_name(&self) -> Cow<'static, str> {
        Cow::Owned(format!("Scan{}", self.module.class_name()))
    }
}

/// Returns the values of one step that must not depend on the step: those of the shared variables
/// `names`, then those of results without an axis.
#[track_caller]
fn constants(known: Vec<Option<Array>>, names: &[String]) -> Vec<Array> {
    let mut constants = Vec::with_capacity(known.len());
    for (i, value) in known.into_iter().enumerate() {
        constants.push(match (value, names.get(i)) {
            (Some(value), _) => value,
            (None, Some(path)) => panic!(
                "linen::scan: the shared variable `{path}` depends on the carry or on a scanned \
                 argument\n  help: variables of variable_broadcast are created once, before the \
                 loop; use .variable_carry(..) or .variable_axes(..) for those that change from \
                 step to step"
            ),
            (None, None) => panic!(
                "linen::scan: a result with out_axes None depends on the carry or on a scanned \
                 argument\n  help: set the axis along which the results of the steps are stacked"
            ),
        });
    }
    constants
}

/// Checks that a step created no carried variable.
#[track_caller]
fn check_carry(before: &Variables, after: &Variables) {
    for (name, state) in after.iter() {
        for path in state.paths() {
            assert!(
                before.at(name, path).is_some(),
                "linen::scan: the variable `{path}` of `{name}` was created in the loop, but \
                 variables of variable_carry must exist before it\n  help: create it before the \
                 loop, with scope.variable(..), or use .variable_axes(..) for a separate one in \
                 each step"
            );
        }
    }
}
