//! Initializers in configuration files.

use super::{Distribution, FanMode, Initializer, Kind, Number, VarianceScaling};
use ramie_core::dtypes::Scalar;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value of a constant initializer.
#[derive(Clone, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "invalid constant, expected a number or a boolean"
)]
enum Value {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
}

impl From<Value> for Scalar {
    fn from(value: Value) -> Scalar {
        match value {
            Value::Bool(value) => Scalar::Bool(value),
            Value::Int(value) => Scalar::Int(value),
            Value::Uint(value) => Scalar::Uint(value),
            Value::Float(value) => Scalar::Float(value),
        }
    }
}

/// The name of an initializer in `jax.nn.initializers`, with its numbers and JAX's defaults.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Data {
    Zeros,
    Ones,
    Constant(Value),
    Uniform {
        #[serde(default = "hundredth")]
        scale: f64,
    },
    Normal {
        #[serde(default = "hundredth")]
        stddev: f64,
    },
    TruncatedNormal {
        #[serde(default = "hundredth")]
        stddev: f64,
        #[serde(default = "minus_two")]
        lower: f64,
        #[serde(default = "two")]
        upper: f64,
    },
    LecunNormal,
    LecunUniform,
    GlorotNormal,
    GlorotUniform,
    HeNormal,
    HeUniform,
    VarianceScaling {
        scale: f64,
        mode: FanMode,
        distribution: Distribution,
        #[serde(default = "inputs")]
        in_axes: Vec<isize>,
        #[serde(default = "last")]
        out_axes: Vec<isize>,
        #[serde(default)]
        batch_axes: Vec<isize>,
    },
    Orthogonal {
        #[serde(default = "one")]
        scale: f64,
        #[serde(default = "last_axis")]
        column_axis: isize,
    },
    DeltaOrthogonal {
        #[serde(default = "one")]
        scale: f64,
        #[serde(default = "last_axis")]
        column_axis: isize,
    },
}

fn hundredth() -> f64 {
    0.01
}
fn minus_two() -> f64 {
    -2.0
}
fn two() -> f64 {
    2.0
}
fn one() -> f64 {
    1.0
}
fn last_axis() -> isize {
    -1
}
fn inputs() -> Vec<isize> {
    vec![-2]
}
fn last() -> Vec<isize> {
    vec![-1]
}

/// The initializers of variance scaling that have names.
const NAMED: [(fn() -> Initializer, Data); 6] = [
    (super::lecun_normal, Data::LecunNormal),
    (super::lecun_uniform, Data::LecunUniform),
    (super::glorot_normal, Data::GlorotNormal),
    (super::glorot_uniform, Data::GlorotUniform),
    (super::he_normal, Data::HeNormal),
    (super::he_uniform, Data::HeUniform),
];

impl From<Data> for Initializer {
    fn from(data: Data) -> Initializer {
        match data {
            Data::Zeros => super::zeros(),
            Data::Ones => super::ones(),
            Data::Constant(value) => super::constant(value),
            Data::Uniform { scale } => super::uniform(scale),
            Data::Normal { stddev } => super::normal(stddev),
            Data::TruncatedNormal {
                stddev,
                lower,
                upper,
            } => super::truncated_normal(stddev, lower, upper),
            Data::LecunNormal => super::lecun_normal(),
            Data::LecunUniform => super::lecun_uniform(),
            Data::GlorotNormal => super::glorot_normal(),
            Data::GlorotUniform => super::glorot_uniform(),
            Data::HeNormal => super::he_normal(),
            Data::HeUniform => super::he_uniform(),
            Data::VarianceScaling {
                scale,
                mode,
                distribution,
                in_axes,
                out_axes,
                batch_axes,
            } => super::variance_scaling(scale, mode, distribution)
                .in_axes(&in_axes)
                .out_axes(&out_axes)
                .batch_axes(&batch_axes),
            Data::Orthogonal { scale, column_axis } => super::orthogonal(scale, column_axis),
            Data::DeltaOrthogonal { scale, column_axis } => {
                super::delta_orthogonal(scale, column_axis)
            }
        }
    }
}

/// Returns the name of an initializer and its numbers.
///
/// # Errors
/// Returns the reason why it has none.
fn data(initializer: &Initializer) -> Result<Data, &'static str> {
    if initializer.metadata.is_some() {
        return Err("an initializer with metadata is not data");
    }
    if let Some((_, data)) = NAMED.iter().find(|(named, _)| named() == *initializer) {
        return Ok(data.clone());
    }
    Ok(match &initializer.kind {
        _ if *initializer == super::zeros() => Data::Zeros,
        _ if *initializer == super::ones() => Data::Ones,
        Kind::Constant(literal) => Data::Constant(match literal.value() {
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Int(value) => Value::Int(value),
            Scalar::Uint(value) => Value::Uint(value),
            Scalar::Float(value) => Value::Float(value),
            Scalar::Complex(..) => return Err("a complex constant is not data"),
        }),
        Kind::Uniform { scale } => Data::Uniform { scale: scale.get() },
        Kind::Normal { stddev } => Data::Normal {
            stddev: stddev.get(),
        },
        Kind::TruncatedNormal {
            stddev,
            lower,
            upper,
        } => Data::TruncatedNormal {
            stddev: stddev.get(),
            lower: lower.get(),
            upper: upper.get(),
        },
        Kind::VarianceScaling(scaling) => scaling.data(),
        Kind::Orthogonal {
            scale,
            column_axis,
            delta,
        } => orthogonal(*scale, *column_axis, *delta),
        Kind::Function(_) => return Err("an initializer made from a function is not data"),
    })
}

fn orthogonal(scale: Number, column_axis: isize, delta: bool) -> Data {
    let scale = scale.get();
    if delta {
        Data::DeltaOrthogonal { scale, column_axis }
    } else {
        Data::Orthogonal { scale, column_axis }
    }
}

impl VarianceScaling {
    fn data(&self) -> Data {
        Data::VarianceScaling {
            scale: self.scale.get(),
            mode: self.mode,
            distribution: self.distribution,
            in_axes: self.in_axes.clone(),
            out_axes: self.out_axes.clone(),
            batch_axes: self.batch_axes.clone(),
        }
    }
}

/// Writes the name that the initializer has in `jax.nn.initializers`, and its numbers.
///
/// # Errors
/// Returns an error for an initializer that was made from a function, that has metadata, or that is
/// a complex constant.
impl Serialize for Initializer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let data = data(self).map_err(|reason| {
            S::Error::custom(format!(
                "{reason}\n  help: save the name of one of the initializers of `init`"
            ))
        })?;
        data.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Initializer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Initializer, D::Error> {
        let data = Data::deserialize(from)?;
        if let Data::TruncatedNormal { lower, upper, .. } = data
            && lower >= upper
        {
            return Err(D::Error::custom(format!(
                "truncated_normal: lower is {lower}, expected less than upper, {upper}"
            )));
        }
        Ok(data.into())
    }
}
