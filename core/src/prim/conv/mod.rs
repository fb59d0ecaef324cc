//! `conv_general_dilated`: convolutions of batches of images with kernels.

mod batch;
mod dimension_numbers;
mod padding;
mod transpose;

pub use dimension_numbers::{ConvDimensionNumbers, ConvLayout, ImageAxes, KernelAxes};
pub use padding::Padding;
pub(crate) use padding::{dilated, lhs_cotangent_padding, transposed_padding, window_positions};
pub(crate) use transpose::turned;

use crate::extend::ShardingRule;
use crate::lax::Precision;
use crate::passes::add_tangents;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, one};
use crate::program::checks::Errors;
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value, dims_array, padding_attribute};
use crate::program::trace::bind1;
use crate::sharding::OutSharding;
use crate::types::sharding::{PartitionSpec, SpecEntry};
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};

/// Numbers of elements added before and after each spatial axis; negative numbers remove
/// elements.
pub type Pads = smallvec::SmallVec<[(isize, isize); 4]>;

/// A convolution of a batch of images (the left operand) with kernels (the right operand), over
/// any number of spatial axes.
///
/// `dimension_numbers` specifies the order of axes. Kernels are not reversed, as is usual in
/// neural networks (mathematically this is a cross-correlation).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConvGeneralDilated {
    /// Stride for each spatial axis.
    pub window_strides: Dims,
    /// Padding for each spatial axis of the left operand.
    pub padding: Pads,
    /// Dilation of the left operand: `d - 1` zeros are inserted between elements.
    pub lhs_dilation: Dims,
    /// Dilation of the kernel.
    pub rhs_dilation: Dims,
    /// Roles of the axes of operands and result.
    pub dimension_numbers: ConvDimensionNumbers,
    /// Number of groups into which features are divided, each with its own kernels.
    pub feature_group_count: usize,
    /// Number of groups into which the batch is divided, each with its own kernels.
    pub batch_group_count: usize,
    /// Precision of products; `None` lets the platform choose.
    pub precision: Option<Precision>,
    /// Dtype of the result, in which products are accumulated; `None` is the operands' dtype.
    pub preferred_element_type: Option<DType>,
    /// Sharding of the result. Defaults to that of the left operand, if it is unambiguous.
    pub out_sharding: Option<OutSharding>,
}

/// Returns the sizes of the axes `dims`.
fn sizes(shape: &[usize], dims: &[usize]) -> Dims {
    dims.iter().map(|&d| shape[d]).collect()
}

impl ConvGeneralDilated {
    /// Returns the number of groups, of features or of the batch; at most one of them is divided.
    fn groups(&self) -> usize {
        self.feature_group_count * self.batch_group_count
    }

    /// Returns the dtype of the result.
    fn result_type(&self, operand: DType) -> DType {
        self.preferred_element_type.unwrap_or(operand)
    }

    /// Returns an error if the number of groups does not divide the sizes.
    fn check_groups(&self, lhs: Aval, rhs: Aval) -> Result<(), ShapeError> {
        let n = &self.dimension_numbers;
        let (batch, features) = (lhs.shape()[n.lhs.batch], lhs.shape()[n.lhs.feature]);
        let (inputs, outputs) = (rhs.shape()[n.rhs.input], rhs.shape()[n.rhs.output]);
        let (by_feature, by_batch) = (self.feature_group_count, self.batch_group_count);
        crate::ensure_shape!(
            by_feature > 0 && by_batch > 0 && (by_feature == 1 || by_batch == 1),
            "features have {by_feature} groups and the batch {by_batch}, but both must be at least \
             1, and one of them must be 1"
        );
        if !features.is_multiple_of(by_feature) || features / by_feature != inputs {
            return Err(ShapeError::new(format!(
                "lhs has {features} features in {by_feature} group(s), but the kernel takes \
                 {inputs}"
            ))
            .help(
                "the kernel's input features must be those of lhs divided by feature_group_count; \
                 check the dimension numbers",
            ));
        }
        for (what, size, groups) in [
            ("batch of lhs", batch, by_batch),
            ("kernel's output features", outputs, by_feature * by_batch),
        ] {
            crate::ensure_shape!(
                size.is_multiple_of(groups),
                "the {what}, {size}, cannot be divided into {groups} equal groups"
            );
        }
        Ok(())
    }

    /// Returns the shape of the result, if the operands fit.
    fn shape(&self, image: Aval, rhs: &[usize]) -> Result<Dims, ShapeError> {
        let (n, lhs) = (&self.dimension_numbers, image.shape());
        let mut padded_shape: Dims = lhs.into();
        let image_is_dilated = self.lhs_dilation.iter().any(|&d| d > 1);
        let mut shape = Dims::from_elem(0, lhs.len());
        shape[n.out.batch] = lhs[n.lhs.batch] / self.batch_group_count;
        shape[n.out.feature] = rhs[n.rhs.output];
        for (i, &to) in n.out.spatial.iter().enumerate() {
            let base = dilated(lhs[n.lhs.spatial[i]], self.lhs_dilation[i]);
            let window = dilated(rhs[n.rhs.spatial[i]], self.rhs_dilation[i]);
            let (padding, stride) = (self.padding[i], self.window_strides[i]);
            let axis = n.lhs.spatial[i];
            [shape[to], padded_shape[axis]] =
                window_positions(axis, base, padding, window, stride)?;
            let around = [padding.0, padding.1].map(isize::unsigned_abs);
            let parts = [padded_shape[axis], window, around[0], around[1]];
            // XLA's CPU kernel for dilated images divides by zero if its `int` overflows.
            crate::ensure_shape!(
                !image_is_dilated || parts.iter().all(|&n| i32::try_from(n).is_ok()),
                "axis {axis} has {base} elements after dilation and padding {padding:?}, more than a \
                 convolution of a dilated image supports"
            );
        }
        image.with_shape(&padded_shape).check_size()?;
        Ok(shape)
    }
}

impl Primitive for ConvGeneralDilated {
    fn name(&self) -> &'static str {
        "conv_general_dilated"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            checks: Errors::NAN,
            out_sharding: self.out_sharding,
            ..Facts::default()
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("batch_group_count", Param::new(self.batch_group_count)),
            ("dimension_numbers", Param::new(&self.dimension_numbers)),
            ("feature_group_count", Param::new(self.feature_group_count)),
            ("lhs_dilation", Param::tuple(&self.lhs_dilation)),
            ("out_sharding", Param::new("None")),
            ("padding", Param::padding(&self.padding)),
            (
                "precision",
                Param::optional(self.precision.map(Precision::of_both)),
            ),
            (
                "preferred_element_type",
                Param::optional(self.preferred_element_type.map(|d| d.numpy_name())),
            ),
            ("rhs_dilation", Param::tuple(&self.rhs_dilation)),
            ("window_strides", Param::tuple(&self.window_strides)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 2, "expects two operands, got {}", args.len());
        let (lhs, rhs) = (args[0], args[1]);
        Class::Number.check(lhs.dtype())?;
        if lhs.dtype() != rhs.dtype() {
            return Err(ShapeError::new(format!(
                "operands have different dtypes, {} and {}",
                lhs.dtype(),
                rhs.dtype()
            ))
            .help("convert one of them: x.astype(…)"));
        }
        if let Some(to) = self.preferred_element_type {
            crate::ensure_shape!(
                to.is_float() == lhs.dtype().is_float()
                    && to.is_complex() == lhs.dtype().is_complex()
                    && Class::Number.contains(to),
                "products of {} cannot be accumulated in {to}",
                lhs.dtype()
            );
        }
        self.dimension_numbers.check(lhs, rhs)?;
        let spatial = lhs.ndim() - 2;
        for (what, given) in [
            ("window_strides", self.window_strides.len()),
            ("padding", self.padding.len()),
            ("lhs_dilation", self.lhs_dilation.len()),
            ("rhs_dilation", self.rhs_dilation.len()),
        ] {
            crate::ensure_shape!(
                given == spatial,
                "{what} has {given} entries for {spatial} spatial axes"
            );
        }
        let counts = [&self.window_strides, &self.lhs_dilation, &self.rhs_dilation];
        if counts.iter().any(|list| list.contains(&0)) {
            return Err(ShapeError::new(format!(
                "strides {:?} and dilations {:?} and {:?} must be 1 or more",
                self.window_strides, self.lhs_dilation, self.rhs_dilation
            ))
            .help("use stride 1 for adjacent windows, and dilation 1 for none"));
        }
        let window = self.dimension_numbers.rhs.spatial.iter();
        let window: Dims = window.map(|&axis| rhs.shape()[axis]).collect();
        if window.contains(&0) {
            return Err(ShapeError::new(format!(
                "a window of {window:?} has no elements, but at least 1 is required along each \
                 spatial axis"
            ))
            .help("the window has the sizes of the kernel's spatial axes"));
        }
        self.check_groups(lhs, rhs)?;
        let shape = self.shape(lhs, rhs.shape())?;
        one(Aval::new(&shape, self.result_type(lhs.dtype())))
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        if let Some(out) = self.out_sharding {
            return Ok(ShardingRule::Specs(vec![out.spec().clone()]));
        }
        let (n, lhs) = (&self.dimension_numbers, args[0].spec());
        if args[1].sharding().is_some() || !lhs.entry(n.lhs.feature).axes().is_empty() {
            return Err(ShapeError::new(format!(
                "Please specify the output sharding via `out_sharding` parameter of \
                 `conv_general_dilated`; got {} and {}",
                args[0], args[1]
            ))
            .help("unshard kernels and features with `reshard`, or use `auto_axes`"));
        }
        let mut spec = vec![SpecEntry::None; outs[0].ndim()];
        spec[n.out.batch] = lhs.entry(n.lhs.batch).clone();
        for (&from, &to) in n.lhs.spatial.iter().zip(&n.out.spatial) {
            spec[to] = lhs.entry(from).clone();
        }
        Ok(ShardingRule::Specs(vec![PartitionSpec::new(spec)]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |p, t, _| {
                let lhs = t[0].as_ref().map(|t| bind1(self.clone(), &[t, &p[1]]));
                let rhs = t[1].as_ref().map(|t| bind1(self.clone(), &[&p[0], t]));
                vec![add_tangents(lhs, rhs)]
            },
            |cts, operands| {
                let Some(ct) = &cts[0] else {
                    return vec![None, None];
                };
                let (lhs, rhs) = (&operands[0], &operands[1]);
                vec![
                    rhs.known()
                        .map(|kernel| self.transpose_lhs(ct, lhs.aval(), kernel)),
                    lhs.known()
                        .and_then(|image| self.transpose_rhs(ct, image, rhs.aval())),
                ]
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        self.batched(&args[0], &args[1], axes, axis.size)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let reversal = match self.padding.len() {
            0 => "array<i1>".into(),
            n => format!("array<i1: {}>", vec!["false"; n].join(", ")),
        };
        let precision = self.precision.unwrap_or_default();
        let attributes = format!(
            "window_strides = {}, {}, lhs_dilation = {}, rhs_dilation = {}, window_reversal = {reversal}, \
             dimension_numbers = {}, feature_group_count = {} : i64, batch_group_count = {} : i64, \
             {}",
            dims_array(&self.window_strides),
            padding_attribute(&self.padding),
            dims_array(&self.lhs_dilation),
            dims_array(&self.rhs_dilation),
            self.dimension_numbers.attribute(),
            self.feature_group_count,
            self.batch_group_count,
            precision.attribute(),
        );
        if outs[0].dtype().is_complex() {
            return vec![of_complex(ctx, args, outs[0], &attributes)];
        }
        // The compiler does not support convolutions of integers of less than a byte.
        let whole = |dtype: DType| {
            if dtype.is_integer() {
                dtype.whole_bytes()
            } else {
                dtype
            }
        };
        let operands = [0, 1].map(|i| ctx.convert(args[i], whole(args[i].dtype())));
        let out = outs[0].with_dtype(whole(outs[0].dtype()));
        let result = ctx.op1("convolution", &operands, out, &attributes);
        vec![ctx.convert(result, outs[0].dtype())]
    }
}

/// Emits a convolution of complex numbers as three of real ones, because the compiler supports it
/// on few platforms. Like JAX, it uses Gauss's formula.
fn of_complex(ctx: &mut Lowering<'_>, args: &[Value], out: Aval, attributes: &str) -> Value {
    let [[re_x, im_x], [re_y, im_y]] = [0, 1].map(|i| ctx.parts(args[i]));
    let out = out.with_dtype(out.dtype().real());
    let (sum_x, sum_y) = (
        ctx.same("add", &[re_x, im_x]),
        ctx.same("add", &[re_y, im_y]),
    );
    let difference = ctx.same("subtract", &[im_y, re_y]);
    let [a, b, c] = [[sum_x, re_y], [re_x, difference], [im_x, sum_y]]
        .map(|operands| ctx.op1("convolution", &operands, out, attributes));
    let parts = [ctx.same("subtract", &[a, c]), ctx.same("add", &[a, b])];
    ctx.complex(parts)
}
