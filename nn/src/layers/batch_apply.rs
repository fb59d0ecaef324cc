//! `batch_apply`: merges several batch axes into one.

use ramie_core::{Tree, tree};

/// Calls a function with the first `num_dims` axes of its arguments merged into one, and splits
/// the first axis of its results again (`nn.BatchApply`).
///
/// Arguments and results are pytrees. Arrays with fewer than `num_dims` axes are passed
/// unchanged. The first array with at least `num_dims` axes determines how the results are
/// split.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Linear, Rngs, batch_apply};
/// let layer = Linear::new(4, 2, &mut Rngs::new(0));
/// let x = Array::ones(&[5, 3, 4], DType::F32);
/// let y = batch_apply(2, |x: Array| {
///     assert_eq!(x.shape(), [15, 4]);
///     layer.forward(&x)
/// }, x);
/// assert_eq!(y.shape(), [5, 3, 2]);
/// ```
///
/// # Panics
/// Panics if no argument has `num_dims` axes, or if the first axis of a result is not the
/// merged axis.
#[doc(alias = "BatchApply")]
#[track_caller]
pub fn batch_apply<A: Tree, R: Tree>(num_dims: usize, f: impl FnOnce(A) -> R, args: A) -> R {
    let leaves = tree::leaves(&args);
    let example = leaves.iter().find(|x| x.ndim() >= num_dims);
    let Some(lead) = example.map(|x| x.shape()[..num_dims].to_vec()) else {
        let shown: Vec<String> = leaves.iter().map(|x| x.aval().to_string()).collect();
        panic!(
            "batch_apply: none of the arguments has {num_dims} axes: {}\n  help: set num_dims to \
             the number of batch axes of the arguments",
            shown.join(", ")
        )
    };
    let merged = tree::map(&args, |x| {
        if x.ndim() >= num_dims {
            let (lead, rest) = x.shape().split_at(num_dims);
            x.reshape(&[&[lead.iter().product()], rest].concat())
        } else {
            x.clone()
        }
    });
    let examples: usize = lead.iter().product();
    tree::map(&f(merged), |y| {
        assert!(
            y.shape().first() == Some(&examples),
            "batch_apply: a result is {}, expected a first axis of {examples}, which is split \
             into {lead:?}\n  help: return arrays whose first axis is the batch axis",
            y.aval()
        );
        y.reshape(&[&lead, &y.shape()[1..]].concat())
    })
}
