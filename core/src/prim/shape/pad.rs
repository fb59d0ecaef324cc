//! `pad`: adds elements around and between existing ones, or removes elements.

use crate::extend::ShardingRule;
use crate::prim::operands;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, move_batch_axis,
    one,
};
use crate::program::checks::Errors;
use crate::program::lower::{Lowering, Value, dims_array, i64_array};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, IntoArray, ShapeError};
use smallvec::SmallVec;

/// For each axis, the numbers of elements to add before, after, and between neighbors. Negative
/// numbers before and after remove elements.
pub type PaddingConfig = SmallVec<[(isize, isize, usize); 4]>;

/// Pads the first operand with the second, which is 0-d.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pad {
    /// Padding of each axis.
    pub padding_config: PaddingConfig,
}

impl Primitive for Pad {
    fn name(&self) -> &'static str {
        "pad"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            checks: Errors::NAN,
            ..Facts::default()
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let axes = self.padding_config.iter();
        let axes = axes.map(|(low, high, interior)| format!("({low}, {high}, {interior})"));
        vec![("padding_config", Param::tuple(axes))]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(
            args.len() == 2,
            "expects an array and a padding value, got {} operands",
            args.len()
        );
        let (operand, value) = (args[0], args[1]);
        if value.ndim() != 0 || value.dtype() != operand.dtype() {
            return Err(ShapeError::new(format!(
                "the padding value is {value}, expected {}[]",
                operand.dtype()
            ))
            .help("pad with a scalar of the array's dtype"));
        }
        if self.padding_config.len() != operand.ndim() {
            return Err(ShapeError::new(format!(
                "{operand} has {} axes, got padding for {}",
                operand.ndim(),
                self.padding_config.len()
            ))
            .help("pass one entry for each axis, (0, 0) where nothing is added"));
        }
        let mut shape = Dims::new();
        for (d, (&n, &(low, high, interior))) in
            operand.shape().iter().zip(&self.padding_config).enumerate()
        {
            // Products of two sizes do not overflow 128 bits.
            let dilated = n as i128 + n.saturating_sub(1) as i128 * interior as i128;
            let size = dilated + low as i128 + high as i128;
            if size < 0 {
                return Err(ShapeError::new(format!(
                    "padding ({low}, {high}, {interior}) leaves axis {d} of size {n} with {size} \
                     elements"
                ))
                .help("do not remove more elements than exist"));
            }
            shape.push(usize::try_from(size).unwrap_or(usize::MAX));
        }
        one(operand.with_shape(&shape))
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Linear(Box::new(|cts, operands| {
            let Some(ct) = &cts[0] else {
                return vec![None, None];
            };
            let aval = operands[0].aval();
            let undo: Vec<(isize, isize, usize)> = self
                .padding_config
                .iter()
                .map(|&(low, high, _)| (-low, -high, 0))
                .collect();
            let strides: Dims = self.padding_config.iter().map(|c| c.2 + 1).collect();
            let inner = ct.lax_pad(&undo, Array::scalar(0, ct.dtype()));
            let inner = inner.slice_with(&Dims::from_elem(0, aval.ndim()), inner.shape(), &strides);
            let value = operands[1].is_linear().then(|| {
                let axes: Vec<isize> = (0..aval.ndim() as isize).collect();
                ct.reduce_sum(&axes) - inner.reduce_sum(&axes)
            });
            vec![operands[0].is_linear().then_some(inner), value]
        }))
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let size = axis.size;
        let Some(axis) = axes[1] else {
            let axis = axes[0].expect("a batched operand");
            let mut pad = self.clone();
            pad.padding_config.insert(axis, (0, 0, 0));
            return batched(bind1(pad, &[&args[0], &args[1]]), Some(axis));
        };
        // The examples have different padding values: pads a mask, and selects by it.
        let x = move_batch_axis(&args[0], axes[0], 0, size);
        let values = args[1].move_axis(axis as isize, 0);
        let mut pad = self.clone();
        pad.padding_config.insert(0, (0, 0, 0));
        let zero = Array::scalar(0, x.dtype());
        let padded = bind1(pad.clone(), &[&x, &zero]);
        let here = Array::full(x.shape(), true, crate::DType::Bool);
        let mask = bind1(pad, &[&here, &Array::scalar(false, crate::DType::Bool)]);
        let values = values.broadcast_in_dim(padded.shape(), &[0]);
        batched(mask.select(&padded, &values), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let config = &self.padding_config;
        let interior: Dims = config.iter().map(|c| c.2).collect();
        let attributes = format!(
            "edge_padding_low = {}, edge_padding_high = {}, interior_padding = {}",
            i64_array(config.iter().map(|c| c.0 as i64)),
            i64_array(config.iter().map(|c| c.1 as i64)),
            dims_array(&interior)
        );
        vec![ctx.op1("pad", args, outs[0], &attributes)]
    }
}

impl Array {
    /// Pads each axis with `value`: before, after, and between neighboring elements. Negative
    /// numbers before and after remove elements (`jax.lax.pad`).
    ///
    /// # Panics
    /// Panics unless there is one entry per axis, `value` is 0-d and its dtype can be converted
    /// to the array's, and no more elements are removed than exist.
    #[track_caller]
    pub fn lax_pad(
        &self,
        padding_config: &[(isize, isize, usize)],
        value: impl IntoArray,
    ) -> Array {
        let value = operands::as_dtype_of("pad", self, &value.into_array());
        if padding_config.len() == self.ndim() && padding_config.iter().all(|&c| c == (0, 0, 0)) {
            return self.clone();
        }
        let padding_config = padding_config.into();
        bind1(Pad { padding_config }, &[self, &value])
    }

    /// Pads each axis with `value`, `(before, after)` elements.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::from([1, 2]).pad(&[(1, 2)], 0).to_vec::<i32>(), [0, 1, 2, 0, 0]);
    /// ```
    ///
    /// # Panics
    /// Panics unless there is one entry per axis, and `value` is 0-d and its dtype can be
    /// converted to the array's.
    #[track_caller]
    pub fn pad(&self, widths: &[(usize, usize)], value: impl IntoArray) -> Array {
        let signed = |n: usize| isize::try_from(n).unwrap_or(isize::MAX);
        let config: PaddingConfig = widths
            .iter()
            .map(|&(before, after)| (signed(before), signed(after), 0))
            .collect();
        self.lax_pad(&config, value)
    }
}
