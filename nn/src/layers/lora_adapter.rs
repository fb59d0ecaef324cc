//! `apply_lora`: low-rank adapters in the layers of a finished model.

use super::promote::promote;
use crate::model::for_each_mut;
use crate::{Linear, LinearGeneral, LoraParam, Module, Param, Rngs, init};
use ramie_core::text::listed;
use ramie_core::{Array, DType, Tree};

/// A low-rank adapter in a [`Linear`] or [`LinearGeneral`] layer, which adds the product of the
/// input with two thin matrices to the output. [`apply_lora`] creates it.
#[derive(Clone, Debug, Module)]
pub struct LoraAdapter {
    /// The first matrix, `[inputs, rank]`.
    pub lora_a: LoraParam,
    /// The second matrix, `[rank, outputs]`.
    pub lora_b: LoraParam,
    /// The factor of the product.
    pub scale: f64,
}

/// Options of [`apply_lora_with`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoraOptions {
    /// The number of columns of the first matrix. Defaults to 8.
    pub rank: usize,
    /// The product is multiplied by `alpha / rank`. Defaults to the rank, that is by 1.
    pub alpha: Option<f64>,
    /// The dtype of the matrices. Defaults to `f32`.
    pub param_dtype: DType,
}

impl Default for LoraOptions {
    fn default() -> LoraOptions {
        LoraOptions {
            rank: 8,
            alpha: None,
            param_dtype: DType::F32,
        }
    }
}

impl LoraAdapter {
    fn new(inputs: usize, outputs: usize, options: &LoraOptions, rngs: &mut Rngs) -> LoraAdapter {
        let (rank, dtype) = (options.rank, options.param_dtype);
        let a = init::he_uniform().draw(&rngs.params(), &[inputs, rank], dtype);
        LoraAdapter {
            lora_a: LoraParam::new(a),
            lora_b: LoraParam::new(Array::zeros(&[rank, outputs], dtype)),
            scale: options.alpha.map_or(1.0, |alpha| alpha / rank as f64),
        }
    }

    /// Adds the product of both matrices to a kernel, which keeps its dtype.
    #[track_caller]
    fn merge_into(&self, kernel: &mut Param) {
        let product = self.lora_a.matmul(&*self.lora_b) * self.scale;
        let sum = &**kernel + product.reshape(kernel.shape());
        kernel.set(sum.astype(kernel.dtype()));
    }
}

/// Adds the output of an adapter, if any, to that of its layer, which maps `axes` of the input to
/// its last axes.
#[track_caller]
pub(super) fn adapted(
    adapter: Option<&LoraAdapter>,
    y: Array,
    x: &Array,
    axes: &[usize],
    dtype: Option<DType>,
) -> Array {
    let Some(adapter) = adapter else {
        return y;
    };
    let others: Vec<usize> = (0..x.ndim()).filter(|a| !axes.contains(a)).collect();
    let mut flat: Vec<usize> = others.iter().map(|&a| x.shape()[a]).collect();
    flat.push(adapter.lora_a.shape()[0]);
    let order: Vec<isize> = others.iter().chain(axes).map(|&a| a as isize).collect();
    let x = if order.is_sorted() {
        x.reshape(&flat)
    } else {
        x.transpose(&order).reshape(&flat)
    };
    let [x, a, b] = promote(dtype, [&x, &adapter.lora_a, &adapter.lora_b]);
    let low = x.matmul(&a).matmul(&b) * adapter.scale;
    let low = low.reshape(y.shape()).astype(y.dtype());
    y + low
}

/// Adds a low-rank adapter of this rank to each [`Linear`] and [`LinearGeneral`] layer whose path
/// `accepts` selects, and returns the paths (Hu et al., *LoRA: Low-Rank Adaptation of Large
/// Language Models*, 2021).
///
/// The second matrices are zero, so the model computes as before. To train the adapters alone,
/// pass `of_type::<LoraParam>()` to [`Optimizer::wrt`](crate::Optimizer::wrt) and
/// [`value_and_grad_wrt`](crate::value_and_grad_wrt): then no gradients of the kernels are
/// computed. [`merge_lora`] adds the products to the kernels and removes the adapters.
///
/// ```no_run
/// use ramie_nn::nnx::of_type;
/// use ramie_nn::{Linear, LoraParam, Module, MultiHeadAttention, Optimizer, Rngs, apply_lora};
/// use ramie_optim::adamw;
/// #[derive(Module)]
/// struct Block { attn: MultiHeadAttention, mlp: Linear }
/// let mut rngs = Rngs::new(0);
/// let mut model = Block {
///     attn: MultiHeadAttention::new(2, 8, &mut rngs),
///     mlp: Linear::new(8, 8, &mut rngs),
/// };
/// let adapted = apply_lora(&mut model, 8, |path| path.contains("attn"), &mut Rngs::new(1));
/// assert_eq!(adapted[0], "attn.query");
/// let optimizer = Optimizer::wrt(&model, adamw(1e-4), of_type::<LoraParam>());
/// ```
///
/// # Panics
/// Panics if `accepts` selects no layer, if the rank is 0, or if a selected layer has an adapter
/// already, or batch axes.
#[track_caller]
pub fn apply_lora<M: Tree>(
    model: &mut M,
    rank: usize,
    accepts: impl FnMut(&str) -> bool,
    rngs: &mut Rngs,
) -> Vec<String> {
    let options = LoraOptions {
        rank,
        ..LoraOptions::default()
    };
    apply_lora_with(model, &options, accepts, rngs)
}

/// Like [`apply_lora`], with options.
///
/// # Panics
/// Panics as [`apply_lora`] does.
#[track_caller]
pub fn apply_lora_with<M: Tree>(
    model: &mut M,
    options: &LoraOptions,
    mut accepts: impl FnMut(&str) -> bool,
    rngs: &mut Rngs,
) -> Vec<String> {
    assert!(
        options.rank > 0,
        "apply_lora: the rank is 0\n  help: use a small positive rank, such as 8"
    );
    let (mut found, mut others, mut wrong) = (Vec::new(), Vec::new(), None);
    let mut adapt =
        |path: &str, kernel: &Param, axes: [usize; 2], there: &mut Option<LoraAdapter>| {
            let [batch, inputs] = axes;
            if !accepts(path) {
                others.push(path.to_owned());
            } else if there.is_some() {
                wrong.get_or_insert_with(|| format!("`{path}` has an adapter already"));
            } else if batch > 0 {
                wrong
                    .get_or_insert_with(|| format!("`{path}` has a kernel for each batch element"));
            } else {
                let size = |axes: &[usize]| axes.iter().product();
                let (before, after) = kernel.shape().split_at(inputs);
                *there = Some(LoraAdapter::new(size(before), size(after), options, rngs));
                found.push(path.to_owned());
            }
        };
    for_each_mut(model, |path, layer: &mut Linear| {
        adapt(path, &layer.kernel, [0, 1], &mut layer.lora);
    });
    for_each_mut(model, |path, layer: &mut LinearGeneral| {
        let axes = [layer.config.batch_dims, layer.config.axis.len()];
        adapt(path, &layer.kernel, axes, &mut layer.lora);
    });
    if let Some(problem) = wrong {
        panic!(
            "apply_lora: {problem}\n  help: select other layers; for new adapters, first merge \
             those that exist: merge_lora(&mut model)"
        );
    }
    assert!(
        !found.is_empty(),
        "apply_lora: the function selects no `Linear` or `LinearGeneral` layer of the model\n  \
         layers: {}\n  help: select some of these paths: |path| path.ends_with(\"query\")",
        listed(&others)
    );
    found
}

/// Adds the products of all adapters to the kernels of their layers and removes the adapters.
/// Returns their number.
///
/// The sums are rounded to the dtype of the kernels.
///
/// ```no_run
/// use ramie_nn::{Linear, Rngs, apply_lora, merge_lora};
/// let rngs = &mut Rngs::new(0);
/// let mut model = vec![Linear::new(4, 4, rngs), Linear::new(4, 2, rngs)];
/// apply_lora(&mut model, 2, |_| true, rngs);
/// assert_eq!(merge_lora(&mut model), 2);
/// ```
#[track_caller]
pub fn merge_lora<M: Tree>(model: &mut M) -> usize {
    let mut count = 0;
    let mut merge = |kernel: &mut Param, adapter: &mut Option<LoraAdapter>| {
        if let Some(adapter) = adapter.take() {
            adapter.merge_into(kernel);
            count += 1;
        }
    };
    for_each_mut(model, |_, layer: &mut Linear| {
        merge(&mut layer.kernel, &mut layer.lora);
    });
    for_each_mut(model, |_, layer: &mut LinearGeneral| {
        merge(&mut layer.kernel, &mut layer.lora);
    });
    count
}
