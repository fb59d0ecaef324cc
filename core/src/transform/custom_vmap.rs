//! `custom_vmap`: functions with custom batching rules.

use super::custom::{Call, Packed, apply};
use super::{ArgTuple, Function};
use crate::base::location;
use crate::base::names::short_name;
use crate::prim::custom::{CustomVmapCall, Identity, VmapRule};
use crate::prim::move_batch_axis;
use crate::program::tree;
use crate::transform;
use crate::{Array, Tree};
use std::panic::Location;
use std::sync::Arc;

/// Describes a batch to a batching rule: the number of examples, and which arrays of the
/// arguments have a batch axis, which is their first axis.
#[derive(Clone, Debug)]
pub struct Mapped {
    size: usize,
    batched: Vec<bool>,
    paths: Vec<String>,
}

impl Mapped {
    /// Returns the number of examples (`axis_size`).
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns whether each array of the arguments is batched, in order.
    pub fn leaves(&self) -> &[bool] {
        &self.batched
    }

    /// Returns whether the array at a dotted path, such as `1.kernel`, is batched. The first part
    /// is the index of the argument; with a single argument it is omitted, and the path of a
    /// single array is empty.
    ///
    /// # Panics
    /// Panics if the arguments have no array at this path.
    #[track_caller]
    pub fn is_batched(&self, path: &str) -> bool {
        match self.paths.iter().position(|p| p == path) {
            Some(at) => self.batched[at],
            None => panic!(
                "Mapped::is_batched: no array at `{path}`\n  help: the paths are {:?}",
                self.paths
            ),
        }
    }

    /// Returns the arguments with every array batched: broadcasts arrays without a batch axis
    /// over the examples.
    ///
    /// # Panics
    /// Panics if the tree and the arguments have different numbers of arrays.
    #[track_caller]
    pub fn broadcast<T: Tree>(&self, args: &T) -> T {
        let count = tree::count(args);
        assert_eq!(
            count,
            self.batched.len(),
            "Mapped::broadcast: a tree of {count} arrays for arguments of {}\n  help: pass all \
             arguments, as the rule receives them",
            self.batched.len()
        );
        let mut batched = self.batched.iter();
        tree::map(args, |x| {
            let at = batched.next().expect("as many").then_some(0);
            move_batch_axis(x, at, 0, self.size)
        })
    }
}

/// Which arrays of a rule's result have a batch axis as their first axis: all or none (`true`,
/// `false`), or one boolean for each array in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchedResults(Which);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Which {
    All(bool),
    Each(Vec<bool>),
}

impl From<bool> for BatchedResults {
    fn from(all: bool) -> Self {
        BatchedResults(Which::All(all))
    }
}

impl<const N: usize> From<[bool; N]> for BatchedResults {
    fn from(each: [bool; N]) -> Self {
        BatchedResults(Which::Each(each.to_vec()))
    }
}

impl From<Vec<bool>> for BatchedResults {
    fn from(each: Vec<bool>) -> Self {
        BatchedResults(Which::Each(each))
    }
}

/// Defines a custom batching rule of a function (`jax.custom_batching.custom_vmap`):
/// [`vmap`](crate::vmap) calls `rule` instead of batching the function's operations.
///
/// The rule receives a [`Mapped`], which reports what is batched, and the arguments as one value:
/// a single argument itself, several as a tuple. It returns the result for all examples, and
/// which arrays of it are batched.
///
/// ```
/// use ramie_core::typing::Mapped;
/// use ramie_core::{custom_vmap, vmap_with, Array};
/// // One product of matrices instead of many of a matrix and a vector.
/// let apply = custom_vmap(
///     |w: Array, x: Array| w.matmul(&x),
///     |mapped: Mapped, (w, x): (Array, Array)| match mapped.is_batched("0") {
///         false => (x.matmul(&w.t()), true),
///         true => {
///             let (w, x) = mapped.broadcast(&(w, x));
///             ((w * x.expand_dims(&[1])).sum_over(2), true)
///         }
///     },
/// );
/// let w = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let xs = Array::from([[1.0f32, 0.0], [0.0, 1.0], [1.0, 1.0]]);
/// let out = vmap_with(move |w: Array, x: Array| apply(w, x), [None, Some(0)])(w, xs);
/// assert_eq!(out.to_vec::<f32>(), [1.0, 3.0, 2.0, 4.0, 3.0, 7.0]);
/// ```
///
/// Forward mode differentiates the rule where it was used. Reverse mode inside a map
/// (`vmap(grad(f))`), which JAX does not support, differentiates the function itself and batches
/// its operations; a [`custom_vjp`](crate::custom_vjp) around the function can define another
/// behavior.
///
/// The rule must not capture tracers of an enclosing trace, since it is called after the trace
/// has ended.
///
/// # Panics
/// The batched function panics if the rule returns other types than batches of the function's
/// results, or if a captured value is batched.
#[track_caller]
pub fn custom_vmap<'f, F, M, R, B>(f: F, rule: R) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
    R: Fn(Mapped, Packed<F, M>) -> (F::Output, B) + Send + Sync + 'static,
    B: Into<BatchedResults>,
{
    let at = Location::caller();
    let rule = Arc::new(rule);
    F::untupled(move |args| {
        let identity = |structure| Identity::new(&rule, structure);
        let rule = rule.clone();
        let run = move |mapped: Mapped, args: Packed<F, M>| {
            let (out, batched) = rule(mapped, args);
            (out, batched.into())
        };
        stage(&f, args, short_name::<R>(), identity, run, at)
    })
}

/// Calls `f` with its rule, called `name` in messages.
fn stage<F, M, R>(
    f: &F,
    args: F::Args,
    name: &'static str,
    identity: impl FnOnce(Vec<(u64, u64)>) -> Identity,
    rule: R,
    at: &'static Location<'static>,
) -> F::Output
where
    F: Function<M>,
    R: Fn(Mapped, Packed<F, M>) -> (F::Output, BatchedResults) + Send + Sync + 'static,
{
    let function = short_name::<F>();
    apply(f, args, at, |call| {
        let Call {
            jaxpr,
            num_consts,
            args,
            out,
        } = call;
        // The rule below contains these structures, so the same rule for others is another
        // primitive.
        let identity = identity(vec![tree::fingerprint(&args), tree::fingerprint(&out)]);
        let run = move |size: usize, batched: &[bool], arrays: &[Array]| {
            let mapped = Mapped {
                size,
                batched: batched.to_vec(),
                paths: tree::paths(&args),
            };
            let given = tree::with_leaves(&args, arrays.iter().cloned());
            let (result, batched) = location::in_user_code(|| rule(mapped, given));
            check(function, size, &out, &result, batched)
        };
        CustomVmapCall {
            name: function.into(),
            call: jaxpr,
            num_consts,
            rule: VmapRule::new(name, identity, Arc::new(run)),
        }
    })
}

/// Returns the arrays of a rule's result, and which of them are batched.
///
/// # Panics
/// Panics if the arrays are not batches of those of `like`.
#[track_caller]
fn check<T: Tree>(
    function: &str,
    size: usize,
    like: &T,
    result: &T,
    batched: BatchedResults,
) -> (Vec<Array>, Vec<bool>) {
    let (wanted, outs) = (tree::leaves(like), tree::leaves(result));
    let batched = match batched.0 {
        Which::All(all) => vec![all; outs.len()],
        Which::Each(each) => each,
    };
    if outs.len() != wanted.len() || batched.len() != wanted.len() {
        location::fail(&format!(
            "custom_vmap: the rule of `{function}` returned {} arrays and {} flags for whether \
             they are batched, expected {}, as many as the function returns",
            outs.len(),
            batched.len(),
            wanted.len()
        ));
    }
    for (i, (wanted, out)) in wanted.iter().zip(&outs).enumerate() {
        let mut shape = wanted.shape().to_vec();
        if batched[i] {
            shape.insert(0, size);
        }
        let expected = wanted.aval().with_shape(&shape);
        if out.aval().matches(expected) {
            continue;
        }
        let place = match tree::paths(like)[i].as_str() {
            "" => String::new(),
            path => format!(" `{path}`"),
        };
        let what = if batched[i] {
            format!("a batch of {size} examples along the first axis")
        } else {
            "the same for all examples".into()
        };
        location::fail(&format!(
            "custom_vmap: the rule of `{function}` returned {} for the result{place}, expected \
             {expected}, {what}\n  help: the rule must return for each result whether it is \
             batched, with the batch axis first",
            out.aval()
        ));
    }
    (outs, batched)
}

/// Returns a function that `vmap` maps with a loop over the examples
/// (`jax.custom_batching.sequential_vmap`), for functions that cannot be batched, or whose
/// batches need too much memory.
///
/// ```
/// use ramie_core::{Array, sequential_vmap, vmap};
/// let f = sequential_vmap(|x: Array| x.sin().sum());
/// let out = vmap(move |x: Array| f(x))(Array::zeros(&[3, 1000], ramie_core::DType::F32));
/// assert_eq!(out.shape(), [3]);
/// ```
///
/// Derivatives behave as those of [`custom_vmap`].
///
/// # Panics
/// The batched function panics if a captured value is batched.
#[track_caller]
pub fn sequential_vmap<F, M>(f: F) -> Box<F::Fn<'static, F::Output>>
where
    F: Function<M> + 'static,
    M: 'static,
{
    let at = Location::caller();
    let shared = Arc::new(f);
    F::untupled(move |args| sequential(&shared, args, at))
}

/// Applies the function; its rule calls `sequential` again, so that nested batches become nested
/// loops.
fn sequential<F, M>(shared: &Arc<F>, args: F::Args, at: &'static Location<'static>) -> F::Output
where
    F: Function<M> + 'static,
    M: 'static,
{
    // The rule belongs to the primitive, which may outlive this call.
    let again = shared.clone();
    let rule = move |mapped: Mapped, args: Packed<F, M>| {
        // The loop runs over the batched arrays only; the others are the same in each iteration.
        let arrays = tree::leaves(&args);
        let all = arrays.iter().zip(mapped.leaves());
        let examples: Vec<Array> = all.filter(|(_, b)| **b).map(|(x, _)| x.clone()).collect();
        let one = |example: Vec<Array>| {
            let mut example = example.into_iter();
            let mut batched = mapped.leaves().iter();
            let args = args.rebuild(&mut |x| match batched.next() {
                Some(true) => example.next().expect("one for each that is batched"),
                _ => x.clone(),
            });
            sequential(&again, F::Args::unpack(args), at)
        };
        (transform::map(one, examples), true.into())
    };
    let identity = |structure| Identity::new(shared, structure);
    stage(&**shared, args, "sequential", identity, rule, at)
}
