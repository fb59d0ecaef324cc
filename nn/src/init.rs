//! Initializers: functions that draw the initial values of parameters. For the same key they
//! return the numbers of `jax.nn.initializers`.

mod data;

use crate::Metadata;
use crate::sharding::on_current_mesh;
use crate::shared_fn::SharedFn;
use ramie_core::dtypes::{Literal, Scalar};
use ramie_core::lax::optimization_barrier;
use ramie_core::numpy::complex;
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, PartitionSpec};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

/// Draws the initial value of a parameter from a key, a shape and a dtype.
///
/// In a pytree it is a static value. Two initializers of the same kind with the same parameters
/// compare equal; one made from a function equals only its clones.
///
/// ```no_run
/// use ramie_core::{DType, random};
/// use ramie_nn::init;
/// let kernel = init::lecun_normal().draw(&random::key(0), &[64, 128], DType::F32);
/// assert_eq!(kernel.shape(), [64, 128]);
/// ```
///
/// In a configuration file, an initializer is its name in `jax.nn.initializers`, with its numbers:
/// `"he_normal"`, `{"normal": {"stddev": 0.02}}` or `{"constant": 0.5}`. JAX's defaults apply to
/// missing numbers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Initializer {
    kind: Kind,
    metadata: Option<Arc<Metadata>>,
}

impl From<Kind> for Initializer {
    fn from(kind: Kind) -> Initializer {
        Initializer {
            kind,
            metadata: None,
        }
    }
}

ramie_core::fixed_tree!(Initializer);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Constant(Literal),
    Uniform {
        scale: Number,
    },
    Normal {
        stddev: Number,
    },
    TruncatedNormal {
        stddev: Number,
        lower: Number,
        upper: Number,
    },
    /// Shared, because each layer contains its options and is cloned with them.
    VarianceScaling(Arc<VarianceScaling>),
    Orthogonal {
        scale: Number,
        column_axis: isize,
        delta: bool,
    },
    Function(SharedFn<Draw>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct VarianceScaling {
    scale: Number,
    mode: FanMode,
    distribution: Distribution,
    in_axes: Vec<isize>,
    out_axes: Vec<isize>,
    batch_axes: Vec<isize>,
}

/// A float that is compared and hashed by its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Number(u64);

impl Number {
    fn new(value: f64) -> Number {
        Number(value.to_bits())
    }
    fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

type Draw = dyn Fn(&Key, &[usize], DType) -> Array + Send + Sync;

impl fmt::Debug for Initializer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

/// The number of connections that the variance is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FanMode {
    /// The number of inputs.
    FanIn,
    /// The number of outputs.
    FanOut,
    /// The mean of the numbers of inputs and outputs.
    FanAvg,
    /// The geometric mean of the numbers of inputs and outputs.
    FanGeoAvg,
}

/// The distribution of a [`variance_scaling`] initializer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Normal, truncated at two standard deviations before it is scaled. Complex numbers are
    /// truncated by their magnitude.
    TruncatedNormal,
    /// Normal, without truncation.
    Normal,
    /// Uniform around zero. Complex numbers are uniform on a disk.
    Uniform,
}

/// Standard deviation of the standard normal distribution truncated at ±2.
const TRUNCATED_STDDEV: f64 = 0.879_625_661_034_239_8;

/// Standard deviation of the standard normal distribution of complex numbers truncated at
/// magnitude 2.
const TRUNCATED_COMPLEX_STDDEV: f64 = 0.953_111_643_804_912_1;

/// Returns `value` rounded to `dtype`.
fn round(value: f64, dtype: DType) -> f64 {
    Scalar::Float(value).cast(dtype).to_f64()
}

impl Initializer {
    /// Creates an initializer from a function of a key, a shape and a dtype.
    ///
    /// ```no_run
    /// use ramie_core::random;
    /// use ramie_nn::init::Initializer;
    /// let heavy = Initializer::new(|key, shape, dtype| random::laplace(key, shape, dtype) * 0.1);
    /// ```
    pub fn new(f: impl Fn(&Key, &[usize], DType) -> Array + Send + Sync + 'static) -> Initializer {
        Kind::Function(SharedFn::new(Arc::new(f))).into()
    }

    /// Draws a value. If a mesh is current, the value is placed on it: the metadata names the
    /// axis of each dimension, either a mesh axis or a logical axis that the current rules
    /// translate.
    ///
    /// # Panics
    /// Panics if the initializer draws random numbers and `dtype` is not a floating-point
    /// dtype; the normal, orthogonal and variance-scaling initializers also draw complex
    /// numbers. Also panics if the shape lacks the axes of a variance-scaling initializer, or
    /// if a dimension does not divide evenly over the mesh.
    #[track_caller]
    pub fn draw(&self, key: &Key, shape: &[usize], dtype: DType) -> Array {
        let value = self.drawn(key, shape, dtype);
        match self.metadata.as_ref().and_then(|m| m.sharding.as_ref()) {
            Some(names) => on_current_mesh(value, names),
            None => value,
        }
    }

    #[track_caller]
    fn drawn(&self, key: &Key, shape: &[usize], dtype: DType) -> Array {
        match &self.kind {
            Kind::Constant(value) => Array::full(shape, value.value(), dtype),
            Kind::Uniform { scale } => {
                let draw = Sample::Uniform { lower: 0.0 };
                draw.scaled(key, shape, dtype, scale.get())
            }
            Kind::Normal { stddev } => Sample::Normal.scaled(key, shape, dtype, stddev.get()),
            Kind::TruncatedNormal {
                stddev,
                lower,
                upper,
            } => {
                let (lower, upper) = (lower.get(), upper.get());
                Sample::Truncated { lower, upper }.scaled(key, shape, dtype, stddev.get())
            }
            Kind::VarianceScaling(scaling) => scaling.draw(key, shape, dtype),
            Kind::Orthogonal {
                scale,
                column_axis,
                delta,
            } => match delta {
                false => draw_orthogonal(key, shape, dtype, scale.get(), *column_axis),
                true => draw_delta_orthogonal(key, shape, dtype, scale.get(), *column_axis),
            },
            Kind::Function(f) => f(key, shape, dtype),
        }
    }

    /// Returns an initializer that draws an array of the shape `drawn` and reshapes it to the
    /// requested shape, which has the same number of elements.
    pub(crate) fn drawn_as(&self, drawn: Vec<usize>) -> Initializer {
        // The metadata names the dimensions of the parameter, not those of the drawn shape.
        let inner = Initializer::from(self.kind.clone());
        let metadata = self.metadata.clone();
        let whole = Initializer::new(move |key, shape, dtype| {
            inner.draw(key, &drawn, dtype).reshape(shape)
        });
        Initializer { metadata, ..whole }
    }

    /// Sets the metadata of the parameters created with this initializer (`nnx.with_metadata`).
    #[must_use]
    pub fn with_metadata(mut self, metadata: Metadata) -> Initializer {
        self.metadata = (!metadata.is_empty()).then(|| Arc::new(metadata));
        self
    }

    /// Names the dimensions of the parameters created with this initializer: mesh axes, or
    /// logical axes that rules translate (`nnx.with_partitioning`, `nn.with_partitioning`,
    /// `nn.with_logical_partitioning`).
    ///
    /// ```
    /// use ramie_core::P;
    /// use ramie_nn::{Linear, init};
    /// let init = init::lecun_normal().with_partitioning(P![None, "model"]);
    /// let config = Linear::features(8).kernel_init(init);
    /// ```
    #[doc(alias = "with_logical_partitioning")]
    #[must_use]
    pub fn with_partitioning(self, names: PartitionSpec) -> Initializer {
        let mut metadata = self.metadata().cloned().unwrap_or_default();
        metadata.sharding = Some(names);
        self.with_metadata(metadata)
    }

    /// Returns the metadata of the parameters created with this initializer.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_deref()
    }

    /// Sets the input axes of a variance-scaling initializer. Defaults to the second to last
    /// axis.
    ///
    /// # Panics
    /// Panics if the initializer is not a variance-scaling initializer.
    #[track_caller]
    pub fn in_axes(self, axes: &[isize]) -> Initializer {
        self.scaling("in_axes", |s| s.in_axes = axes.to_vec())
    }

    /// Sets the output axes of a variance-scaling initializer. Defaults to the last axis.
    ///
    /// # Panics
    /// Panics if the initializer is not a variance-scaling initializer.
    #[track_caller]
    pub fn out_axes(self, axes: &[isize]) -> Initializer {
        self.scaling("out_axes", |s| s.out_axes = axes.to_vec())
    }

    /// Sets the batch axes of a variance-scaling initializer, which do not count as
    /// connections. Defaults to none. Axes that are neither input, output nor batch axes are
    /// the window of a convolution.
    ///
    /// # Panics
    /// Panics if the initializer is not a variance-scaling initializer.
    #[track_caller]
    pub fn batch_axes(self, axes: &[isize]) -> Initializer {
        self.scaling("batch_axes", |s| s.batch_axes = axes.to_vec())
    }

    #[track_caller]
    fn scaling(mut self, method: &str, change: impl FnOnce(&mut VarianceScaling)) -> Initializer {
        match &mut self.kind {
            Kind::VarianceScaling(scaling) => change(Arc::make_mut(scaling)),
            other => panic!(
                "{method}: {other:?} is not a variance-scaling initializer\n  help: set axes on \
                 `variance_scaling`, or on a lecun, glorot or he initializer"
            ),
        }
        self
    }
}

impl VarianceScaling {
    /// Returns the number of elements along `axes` of a shape.
    #[track_caller]
    fn size(shape: &[usize], axes: &[isize], what: &str) -> f64 {
        let rank = shape.len() as isize;
        let size = axes.iter().map(|&axis| {
            let normal = if axis < 0 { axis + rank } else { axis };
            assert!(
                (0..rank).contains(&normal),
                "variance_scaling: the shape {shape:?} has no axis {axis} for the {what}\n  \
                 help: set the axes: `init::lecun_normal().in_axes(&[0])`"
            );
            shape[normal as usize] as f64
        });
        size.product()
    }

    #[track_caller]
    fn draw(&self, key: &Key, shape: &[usize], dtype: DType) -> Array {
        let inputs = VarianceScaling::size(shape, &self.in_axes, "inputs");
        let outputs = VarianceScaling::size(shape, &self.out_axes, "outputs");
        let batch = VarianceScaling::size(shape, &self.batch_axes, "batch");
        let all: f64 = shape.iter().map(|&d| d as f64).product();
        let window = all / inputs / outputs / batch;
        let (fan_in, fan_out) = (inputs * window, outputs * window);
        let connections = match self.mode {
            FanMode::FanIn => fan_in,
            FanMode::FanOut => fan_out,
            FanMode::FanAvg => (fan_in + fan_out) / 2.0,
            FanMode::FanGeoAvg => (fan_in * fan_out).sqrt(),
        };
        // JAX rounds each intermediate result to the dtype of the parameter.
        let variance = round(self.scale.get() / connections, dtype);
        match self.distribution {
            Distribution::TruncatedNormal if dtype.is_complex() => {
                let stddev = round(variance.sqrt(), dtype) / round(TRUNCATED_COMPLEX_STDDEV, dtype);
                Sample::TruncatedDisk.scaled(key, shape, dtype, stddev)
            }
            Distribution::Uniform if dtype.is_complex() => {
                Sample::Disk.scaled(key, shape, dtype, variance.sqrt())
            }
            Distribution::TruncatedNormal => {
                let stddev = round(variance.sqrt(), dtype) / round(TRUNCATED_STDDEV, dtype);
                let (lower, upper) = (-2.0, 2.0);
                Sample::Truncated { lower, upper }.scaled(key, shape, dtype, stddev)
            }
            Distribution::Normal => Sample::Normal.scaled(key, shape, dtype, variance.sqrt()),
            Distribution::Uniform => {
                let width = round(3.0 * variance, dtype).sqrt();
                Sample::Uniform { lower: -1.0 }.scaled(key, shape, dtype, width)
            }
        }
    }
}

/// The distribution of a draw before it is scaled.
enum Sample {
    /// Uniform in `[lower, 1)`.
    Uniform {
        lower: f64,
    },
    Normal,
    Truncated {
        lower: f64,
        upper: f64,
    },
    /// Complex, uniform on the disk of radius √2.
    Disk,
    /// Complex normal, truncated at magnitude 2.
    TruncatedDisk,
}

/// Draws complex numbers with uniform phases, whose magnitudes are `size` of uniform floats.
fn directed(key: &Key, shape: &[usize], dtype: DType, size: fn(Array) -> Array) -> Array {
    let [sizes, directions] = key.split_into();
    let real = dtype.real();
    let size = size(random::uniform(&sizes, shape, real));
    let angle = random::uniform(&directions, shape, real) * (2.0 * std::f64::consts::PI);
    complex(&size * angle.cos(), size * angle.sin())
}

impl Sample {
    /// Draws from the distribution and multiplies by `factor`, as one program.
    #[track_caller]
    fn scaled(&self, key: &Key, shape: &[usize], dtype: DType, factor: f64) -> Array {
        let number = |&x: &f64| Array::scalar(x, dtype);
        let scaled = |name, bounds: &[f64], draw: &dyn Fn(&Key, &[Array]) -> Array| {
            let bounds: Vec<Array> = bounds.iter().map(number).collect();
            let factor = number(&factor);
            let args: Vec<&Array> = std::iter::once(&factor).chain(&bounds).collect();
            random::draw(name, key, (shape, dtype), &args, |key, args| {
                // The barrier rounds the draw before it is scaled, as two separate programs
                // would.
                optimization_barrier(draw(key, &args[1..])) * &args[0]
            })
        };
        match *self {
            Sample::Uniform { lower } => scaled("scaled_uniform", &[lower, 1.0], &|key, to| {
                random::uniform_range(key, shape, dtype, &to[0], &to[1])
            }),
            Sample::Disk => scaled("scaled_disk", &[], &|key, _| {
                directed(key, shape, dtype, |u| (u * 2.0).sqrt())
            }),
            Sample::TruncatedDisk => scaled("scaled_truncated_disk", &[], &|key, _| {
                directed(key, shape, dtype, |u| {
                    (-(-(u * (1.0 - (-4.0f64).exp()))).log1p()).sqrt()
                })
            }),
            Sample::Normal => scaled("scaled_normal", &[], &|key, _| {
                random::normal(key, shape, dtype)
            }),
            Sample::Truncated { lower, upper } => {
                scaled("scaled_truncated_normal", &[lower, upper], &|key, to| {
                    random::truncated_normal(key, &to[0], &to[1], shape, dtype)
                })
            }
        }
    }
}

/// Returns an initializer that sets every element to `value`.
pub fn constant(value: impl Into<Scalar>) -> Initializer {
    let value = value.into();
    Kind::Constant(Literal::weak(value, value.weak_dtype())).into()
}

/// Returns an initializer that sets every element to 0.
#[doc(alias = "zeros_init")]
pub fn zeros() -> Initializer {
    constant(0)
}

/// Returns an initializer that sets every element to 1.
#[doc(alias = "ones_init")]
pub fn ones() -> Initializer {
    constant(1)
}

/// Returns an initializer that draws uniformly from `[0, scale)`. JAX's default scale is 0.01.
pub fn uniform(scale: f64) -> Initializer {
    let scale = Number::new(scale);
    Kind::Uniform { scale }.into()
}

/// Returns an initializer that draws from a normal distribution with mean 0. JAX's default
/// standard deviation is 0.01.
pub fn normal(stddev: f64) -> Initializer {
    let stddev = Number::new(stddev);
    Kind::Normal { stddev }.into()
}

/// Returns an initializer that draws from a standard normal distribution truncated to
/// `[lower, upper]` and multiplies by `stddev`. JAX's defaults are a `stddev` of 0.01 and the
/// bounds -2 and 2.
pub fn truncated_normal(stddev: f64, lower: f64, upper: f64) -> Initializer {
    Kind::TruncatedNormal {
        stddev: Number::new(stddev),
        lower: Number::new(lower),
        upper: Number::new(upper),
    }
    .into()
}

/// Returns an initializer of variance `scale / n`, where `n` is the number of connections that
/// `mode` selects. It keeps the magnitude of signals constant from layer to layer.
///
/// ```no_run
/// use ramie_nn::init::{self, Distribution, FanMode};
/// let he = init::variance_scaling(2.0, FanMode::FanIn, Distribution::TruncatedNormal);
/// assert_eq!(he, init::he_normal());
/// let heads = init::lecun_normal().in_axes(&[0]).out_axes(&[1, 2]);
/// ```
pub fn variance_scaling(scale: f64, mode: FanMode, distribution: Distribution) -> Initializer {
    Kind::VarianceScaling(Arc::new(VarianceScaling {
        scale: Number::new(scale),
        mode,
        distribution,
        in_axes: vec![-2],
        out_axes: vec![-1],
        batch_axes: Vec::new(),
    }))
    .into()
}

macro_rules! scaling {
    ($( $(#[$doc:meta])* $f:ident $scale:literal $mode:ident $distribution:ident; )*) => { $(
        $(#[$doc])*
        pub fn $f() -> Initializer {
            variance_scaling($scale, FanMode::$mode, Distribution::$distribution)
        } )*
    };
}

scaling! {
    /// Draws from a truncated normal distribution of variance `1 / fan_in`, truncated at two
    /// standard deviations (LeCun et al., 1998).
    lecun_normal 1.0 FanIn TruncatedNormal;
    /// Draws from a uniform distribution of variance `1 / fan_in`.
    lecun_uniform 1.0 FanIn Uniform;
    /// Draws from a truncated normal distribution of variance `2 / (fan_in + fan_out)`,
    /// truncated at two standard deviations (Glorot and Bengio, 2010).
    glorot_normal 1.0 FanAvg TruncatedNormal;
    /// Draws from a uniform distribution of variance `2 / (fan_in + fan_out)`.
    glorot_uniform 1.0 FanAvg Uniform;
    /// Draws from a truncated normal distribution of variance `2 / fan_in`, truncated at two
    /// standard deviations (He et al., 2015).
    he_normal 2.0 FanIn TruncatedNormal;
    /// Draws from a uniform distribution of variance `2 / fan_in`.
    he_uniform 2.0 FanIn Uniform;
}

/// Returns an initializer that draws a matrix with orthonormal rows or columns, whichever are
/// fewer, and multiplies it by `scale`. The axis `column_axis`, usually -1, gives the columns;
/// all other axes together give the rows (Saxe, McClelland and Ganguli, 2014).
///
/// ```no_run
/// use ramie_core::{DType, random};
/// use ramie_nn::init;
/// let kernel = init::orthogonal(1.0, -1).draw(&random::key(0), &[8, 4], DType::F32);
/// assert_eq!(kernel.shape(), [8, 4]);
/// ```
pub fn orthogonal(scale: f64, column_axis: isize) -> Initializer {
    Kind::Orthogonal {
        scale: Number::new(scale),
        column_axis,
        delta: false,
    }
    .into()
}

/// Returns an initializer for convolution kernels `[window.., inputs, outputs]` that are zero
/// except at the center of the window, where they are [`orthogonal`] (Xiao et al., 2018).
/// Drawing panics unless the kernel has one to three window axes and at least as many outputs
/// as inputs.
pub fn delta_orthogonal(scale: f64, column_axis: isize) -> Initializer {
    Kind::Orthogonal {
        scale: Number::new(scale),
        column_axis,
        delta: true,
    }
    .into()
}

#[track_caller]
fn draw_orthogonal(
    key: &Key,
    shape: &[usize],
    dtype: DType,
    scale: f64,
    column_axis: isize,
) -> Array {
    let rank = shape.len() as isize;
    assert!(
        rank >= 2 && (-rank..rank).contains(&column_axis),
        "orthogonal: the shape {shape:?} does not have two axes or more, one of which is the \
         column axis {column_axis}\n  help: use a shape of rows and columns: orthogonal(1.0, -1) \
         with the shape [rows, columns]"
    );
    if shape.contains(&0) {
        return Array::zeros(shape, dtype);
    }
    let at = column_axis.rem_euclid(rank) as usize;
    let mut last = shape.to_vec();
    let columns = last.remove(at);
    let rows = last.iter().product();
    last.push(columns);
    let q = random::orthogonal(key, rows, columns, &[], dtype);
    q.reshape(&last).move_axis(-1, at as isize) * scale
}

#[track_caller]
fn draw_delta_orthogonal(
    key: &Key,
    shape: &[usize],
    dtype: DType,
    scale: f64,
    column_axis: isize,
) -> Array {
    let fits = (3..=5).contains(&shape.len()) && shape[shape.len() - 2] <= shape[shape.len() - 1];
    assert!(
        fits,
        "delta_orthogonal: the shape {shape:?} is not [window.., inputs, outputs] with at least \
         as many outputs as inputs\n  help: use one to three window axes, followed by inputs and \
         outputs"
    );
    if shape.contains(&0) {
        return Array::zeros(shape, dtype);
    }
    let (window, matrix) = shape.split_at(shape.len() - 2);
    let q = draw_orthogonal(key, matrix, dtype, scale, column_axis);
    // Pad the single window position with zeros.
    let mut widths: Vec<(usize, usize)> = window.iter().map(|&k| ((k - 1) / 2, k / 2)).collect();
    widths.extend([(0, 0); 2]);
    let ones = vec![1; window.len()];
    q.reshape(&[&ones, matrix].concat()).pad(&widths, 0)
}

pub use glorot_normal as xavier_normal;
pub use glorot_uniform as xavier_uniform;
pub use he_normal as kaiming_normal;
pub use he_uniform as kaiming_uniform;
