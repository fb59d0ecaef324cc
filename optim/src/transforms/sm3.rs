//! Second moments whose memory grows with the lengths of an array's axes, not with its size.

use crate::base::moments::update_moment;
use crate::base::options::options;
use crate::{GradientTransformation, Hyperparam};
use ramie_core::{Array, State, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_sm3`].
#[doc(alias = "ScaleBySM3State")]
#[derive(Tree)]
pub struct ScaleBySm3State {
    /// For each axis of each array, at the path `path.axis`, the maximum of the sums of squares
    /// over the other axes.
    pub mu: State,
    /// Decaying mean of the updates that were returned.
    pub nu: State,
}

options! {
    /// Divides by the root of sums of squares, of which only the maxima along each axis are
    /// stored.
    ///
    /// Anil et al., *Memory-Efficient Adaptive Optimization*, 2019.
    scale_by_sm3() -> ScaleBySm3 {
        /// Sets the decay rate of the mean of updates.
        b1: num = 0.9,
        /// Sets the decay rate of the sums of squares. 1 means no decay.
        b2: num = 1.0,
        /// Sets the constant added inside the square root.
        eps: num = 1e-8,
    }
    |o| GradientTransformation::new(
        |params| ScaleBySm3State {
            mu: per_axis(params, |p, axis| Array::zeros(&[p.shape()[axis]], p.dtype())),
            nu: params.zeros_like(),
        },
        move |updates, state: ScaleBySm3State, _| {
            let added = match o.b2.as_number() {
                Some(1.0) => Hyperparam::from(1.0),
                _ => o.b2.rest(),
            };
            let sums = updates.map_with_path(|path, g| {
                let kept = (0..g.ndim()).map(|axis| {
                    let mut shape = vec![1; g.ndim()];
                    shape[axis] = g.shape()[axis];
                    of_axis(&state.mu, path, axis).reshape(&shape)
                });
                let least = kept.reduce(|a, b| a.minimum(b));
                g.square() * &added + least.expect("an axis") * &o.b2
            });
            let scaled = updates.zip(&sums, |g, t| {
                g * where_(t.gt(0.0), (t + &o.eps).rsqrt(), 0.0)
            });
            let nu = update_moment(&scaled, &state.nu, &o.b1, 1);
            let mu = per_axis(&sums, |sum, axis| match sum.ndim() {
                1 => sum.clone(),
                n => {
                    let others: Vec<isize> = (0..n).filter(|a| *a != axis).map(|a| a as isize).collect();
                    sum.max_over(&others)
                }
            });
            (nu.clone(), ScaleBySm3State { mu, nu })
        },
    )
}

/// Computes one array for each axis of each array of a state.
#[track_caller]
fn per_axis(x: &State, f: impl Fn(&Array, usize) -> Array) -> State {
    let mut out = State::new();
    for (path, array) in x.iter() {
        assert!(
            array.ndim() > 0 && array.dtype().is_float(),
            "scale_by_sm3: `{path}` is {}, expected floats with at least one axis\n  help: use \
             another optimizer for it with `partition`",
            array.aval()
        );
        for axis in 0..array.ndim() {
            out.insert(&place(path, axis), f(array, axis));
        }
    }
    out
}

fn place(path: &str, axis: usize) -> String {
    if path.is_empty() {
        axis.to_string()
    } else {
        format!("{path}.{axis}")
    }
}

#[track_caller]
fn of_axis(mu: &State, path: &str, axis: usize) -> Array {
    match mu.get(&place(path, axis)) {
        Some(array) => array.clone(),
        None => panic!(
            "scale_by_sm3: the state has no entry for `{path}`\n  help: pass updates with the \
             paths of the parameters passed to `init`"
        ),
    }
}
