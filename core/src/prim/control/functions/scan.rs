//! `scan`.

use super::{carry, leaf_name, types_of, with_values};
use crate::prim::control::{Parts, Scan};
use crate::program::jaxpr::{Atom, ClosedJaxpr, Var};
use crate::program::traced::trace_tree;
use crate::program::tree;
use crate::{Array, Tree};

/// Options of [`scan_with`].
#[derive(Clone, Copy, Debug)]
pub struct ScanOptions {
    /// Number of steps. Required if `xs` has no arrays; otherwise defaults to their size.
    pub length: Option<usize>,
    /// Whether to scan from the last element to the first. Results are stored at the indices of
    /// their elements. Defaults to `false`.
    pub reverse: bool,
    /// Number of steps per loop iteration in the compiled program; 0 unrolls all steps. Larger
    /// values run faster if steps are small, but take longer to compile. Defaults to 1.
    pub unroll: usize,
}

impl Default for ScanOptions {
    fn default() -> Self {
        ScanOptions {
            length: None,
            reverse: false,
            unroll: 1,
        }
    }
}

/// Applies a function in order to each element along the first axis of the arrays in `xs`, and
/// passes a carry from one step to the next (`jax.lax.scan`).
///
/// `f` takes the carry and an element, and returns the next carry and a result. `scan` returns
/// the last carry and the results stacked along a new first axis. Carry, elements and results are
/// trees. The carry keeps its structure and types. Pass an initial number as a weak array,
/// `0.into_array()`, which takes the type that `f` returns; a plain number is static.
///
/// The size of the program does not depend on the number of steps. Gradients store the residuals
/// of each step, and one copy of the values shared by all steps.
///
/// ```no_run
/// use ramie_core::lax::scan;
/// use ramie_core::Array;
/// let prices = Array::from([3.0f32, 5.0, 4.0]);
/// let (total, so_far) = scan(
///     |sum: Array, price: Array| {
///         let sum = sum + price;
///         (sum.clone(), sum)
///     },
///     Array::from(0.0f32),
///     prices,
/// );
/// assert_eq!(total.item::<f32>(), 12.0);
/// assert_eq!(so_far.to_vec::<f32>(), [3.0, 8.0, 12.0]);
/// ```
///
/// # Panics
/// Panics if there are no arrays in `xs`, if they are 0-d or differ in size, or if `f` returns a
/// carry of another structure or type.
#[track_caller]
pub fn scan<C: Tree, X: Tree, Y: Tree>(f: impl Fn(C, X) -> (C, Y), init: C, xs: X) -> (C, Y) {
    scan_with(f, init, xs, ScanOptions::default())
}

/// Runs [`scan`] with options for its length, direction and unrolling.
///
/// ```no_run
/// use ramie_core::lax::scan_with;
/// use ramie_core::options::ScanOptions;
/// use ramie_core::Array;
/// let options = ScanOptions { length: Some(5), ..ScanOptions::default() };
/// let double = |x: Array, ()| (x * 2.0, ());
/// let (x, ()) = scan_with(double, Array::from(1.0f32), (), options);
/// assert_eq!(x.item::<f32>(), 32.0);
/// ```
///
/// # Panics
/// Panics in the same cases as [`scan`], or if `length` differs from the size of the arrays.
#[track_caller]
pub fn scan_with<C: Tree, X: Tree, Y: Tree>(
    f: impl Fn(C, X) -> (C, Y),
    init: C,
    xs: X,
    options: ScanOptions,
) -> (C, Y) {
    scan_as("scan", "", f, init, xs, options)
}

/// Runs [`scan_with`] on behalf of `operation`, whose own carry is at the path `inside`.
#[track_caller]
pub(crate) fn scan_as<C: Tree, X: Tree, Y: Tree>(
    operation: &str,
    inside: &str,
    f: impl Fn(C, X) -> (C, Y),
    init: C,
    xs: X,
    options: ScanOptions,
) -> (C, Y) {
    let length = length_of(operation, &xs, options.length);
    let init = match with_values::scan(&f, init, &xs, length, &options) {
        Ok(result) => return result,
        Err(init) => init,
    };
    let elements = types_of(&xs, |x| x.aval().without_dimension(0));
    let body = |init: &C| {
        let types = (types_of(init, Array::aval), tree::copy(&elements));
        trace_tree(&types, |(carry, x)| f(carry, x))
    };
    let mut init = init;
    let mut traced = body(&init);
    if let Some(converted) = carry::promoted(&init, &traced.result.0) {
        init = converted;
        traced = body(&init);
    }
    carry::check(operation, inside, &init, &traced.result.0);
    let scan = Scan {
        jaxpr: traced.program.jaxpr.clone(),
        length,
        num_carry: 0,
        num_consts: 0,
        reverse: options.reverse,
        unroll: options.unroll,
    };
    let outs = bind(
        &scan,
        traced.program,
        tree::leaves(&init),
        tree::leaves(&xs),
    );
    tree::with_leaves(&traced.result, outs)
}

/// Returns the number of elements, which must be the same for all arrays.
#[track_caller]
pub(crate) fn length_of<X: Tree>(operation: &str, xs: &X, given: Option<usize>) -> usize {
    let (paths, leaves) = (tree::paths(xs), tree::leaves(xs));
    let mut known = given.map(|n| (n, "the option length".to_string()));
    for (path, x) in paths.iter().zip(&leaves) {
        let what = format!("{} of xs", leaf_name("", path));
        let Some(&n) = x.shape().first() else {
            panic!(
                "{operation}: {what} is {}, which has no axis to scan over\n  help: capture \
                 values that are the same for all steps, or pass them in the carry",
                x.aval()
            );
        };
        if !x.aval().spec().entry(0).axes().is_empty() {
            panic!(
                "{operation}: 0th dimension of all xs should be replicated. Got {}, {what} is \
                 {}\n  help: replicate it with `reshard`",
                x.aval().spec(),
                x.aval()
            );
        }
        match &known {
            Some((other, first)) if *other != n => panic!(
                "{operation}: lengths differ: {other} for {first}, but {n} for {what}\n  help: the \
                 first axes of all arrays in xs must have the same size, which the option length \
                 must equal if it is set"
            ),
            Some(_) => {}
            None => known = Some((n, what)),
        }
    }
    match known {
        Some((n, _)) => n,
        None => panic!(
            "{operation}: the number of steps is unknown, because xs has no arrays\n  help: pass \
             it with scan_with(…, ScanOptions {{ length: Some(n), ..Default::default() }})"
        ),
    }
}

/// Binds a loop. A carry that the body returns unchanged becomes a constant, and a result that is
/// an unchanged element becomes the scanned array.
#[track_caller]
fn bind(scan: &Scan, program: ClosedJaxpr, init: Vec<Array>, xs: Vec<Array>) -> Vec<Array> {
    let (jaxpr, consts) = program.open();
    let (k, n) = (consts.len(), init.len());
    let forwarded = jaxpr.forwarded();
    let kept: Vec<bool> = (0..n).map(|i| forwarded[i] != Some(k + i)).collect();
    let from_xs = |i: usize| forwarded[i].filter(|f| *f >= k + n).map(|f| f - k - n);

    let (own, rest) = jaxpr.invars.split_at(k);
    let (carry, elements) = rest.split_at(n);
    let part = |keep: bool| -> Vec<Var> {
        let marked = carry.iter().zip(&kept).filter(|(_, on)| **on == keep);
        marked.map(|(v, _)| *v).collect()
    };
    let invars = [&part(false)[..], own, &part(true), elements].concat();
    let outvars = jaxpr.outvars.iter().enumerate();
    let outvars = outvars.filter(|(i, _)| {
        if *i < n {
            kept[*i]
        } else {
            from_xs(*i).is_none()
        }
    });
    let outvars: Vec<Atom> = outvars.map(|(_, atom)| *atom).collect();
    let program = ClosedJaxpr::without_consts(jaxpr.with_interface(invars, outvars));
    let marked = |keep: bool| -> Vec<Array> {
        let marked = init.iter().zip(&kept).filter(|(_, on)| **on == keep);
        marked.map(|(a, _)| a.clone()).collect()
    };
    let args = Parts {
        consts: [marked(false), consts].concat(),
        carry: marked(true),
        xs: xs.clone(),
    };
    let mut outs = scan.apply(program, args).into_iter();
    let mut next = || outs.next().expect("one for each result");
    (0..jaxpr.outvars.len())
        .map(|i| match i {
            i if i < n && !kept[i] => init[i].clone(),
            i if i < n => next(),
            i => match from_xs(i) {
                Some(x) => xs[x].clone(),
                None => next(),
            },
        })
        .collect()
}
