//! Tensors whose elements are known while a function is traced: shapes, axes and numbers
//! derived from them.

use crate::file::{Store, Tensor};
use half::{bf16, f16};
use ndarray::{ArrayD, IxDyn};
use ramie_core::dtypes::Scalar;
use ramie_core::files::Problem;
use ramie_core::numpy::broadcast_shapes;
use ramie_core::{Array, DType};
use std::cmp::Ordering;

/// Elements on the host.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Numbers {
    /// Integers, and booleans as 0 and 1. Unsigned integers of 64 bits wrap.
    Ints(ArrayD<i64>),
    Floats(ArrayD<f64>),
}

/// A tensor on the host.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HostTensor {
    pub dtype: DType,
    pub numbers: Numbers,
}

/// Applies the same expression to elements of both kinds.
macro_rules! each {
    ($known:expr, |$x:ident| $body:expr) => {{
        let known = &$known;
        let numbers = match &known.numbers {
            $crate::known::Numbers::Ints($x) => $crate::known::Numbers::Ints($body),
            $crate::known::Numbers::Floats($x) => $crate::known::Numbers::Floats($body),
        };
        $crate::known::HostTensor {
            dtype: known.dtype,
            numbers,
        }
    }};
}
pub(crate) use each;

impl HostTensor {
    /// Returns whether elements of a dtype can be known.
    pub fn supports(dtype: DType) -> bool {
        DType::COMMON.contains(&dtype)
    }

    /// Creates a 1-d tensor of `i64`.
    pub fn list(numbers: impl IntoIterator<Item = i64>) -> HostTensor {
        let numbers: Vec<i64> = numbers.into_iter().collect();
        HostTensor::ints(DType::I64, &[numbers.len()], numbers)
    }

    /// Creates a 0-d tensor of `i64`.
    pub fn number(number: i64) -> HostTensor {
        HostTensor::ints(DType::I64, &[], vec![number])
    }

    pub fn ints(dtype: DType, shape: &[usize], numbers: Vec<i64>) -> HostTensor {
        let numbers = ArrayD::from_shape_vec(IxDyn(shape), numbers).expect("as many as the shape");
        HostTensor {
            dtype,
            numbers: Numbers::Ints(numbers),
        }
    }

    pub fn floats(dtype: DType, shape: &[usize], numbers: Vec<f64>) -> HostTensor {
        let numbers = ArrayD::from_shape_vec(IxDyn(shape), numbers).expect("as many as the shape");
        HostTensor {
            dtype,
            numbers: Numbers::Floats(numbers),
        }
    }

    /// Reads a tensor of a file. Its dtype must be one that [`supports`](HostTensor::supports) accepts.
    pub fn read(tensor: &Tensor, store: &Store) -> Result<HostTensor, Problem> {
        let (bytes, dtype) = (tensor.read(store)?, tensor.dtype()?);
        Ok(HostTensor::of_bytes(&bytes, &tensor.shape, dtype))
    }

    /// Copies an array to the host, unless it is traced, has no elements or has a dtype that is not
    /// supported.
    pub fn of_array(array: &Array) -> Option<HostTensor> {
        if array.is_tracer() || !HostTensor::supports(array.dtype()) {
            return None;
        }
        let bytes = array.try_to_bytes().ok()?;
        Some(HostTensor::of_bytes(&bytes, array.shape(), array.dtype()))
    }

    fn of_bytes(bytes: &[u8], shape: &[usize], dtype: DType) -> HostTensor {
        macro_rules! numbers {
            ($t:ty, $to:ident, |$x:ident| $e:expr) => {{
                let each = bytes.chunks_exact(size_of::<$t>());
                let each = each.map(|b| {
                    let $x = <$t>::from_le_bytes(b.try_into().expect("the size of an element"));
                    $e
                });
                HostTensor::$to(dtype, shape, each.collect())
            }};
        }
        match dtype {
            DType::F16 => numbers!(f16, floats, |x| x.to_f64()),
            DType::BF16 => numbers!(bf16, floats, |x| x.to_f64()),
            DType::F32 => numbers!(f32, floats, |x| f64::from(x)),
            DType::F64 => numbers!(f64, floats, |x| x),
            DType::I8 => numbers!(i8, ints, |x| i64::from(x)),
            DType::I16 => numbers!(i16, ints, |x| i64::from(x)),
            DType::I32 => numbers!(i32, ints, |x| i64::from(x)),
            DType::I64 => numbers!(i64, ints, |x| x),
            DType::U16 => numbers!(u16, ints, |x| i64::from(x)),
            DType::U32 => numbers!(u32, ints, |x| i64::from(x)),
            DType::U64 => numbers!(u64, ints, |x| x.cast_signed()),
            _ => numbers!(u8, ints, |x| i64::from(x)),
        }
    }

    pub fn shape(&self) -> &[usize] {
        match &self.numbers {
            Numbers::Ints(x) => x.shape(),
            Numbers::Floats(x) => x.shape(),
        }
    }

    pub fn size(&self) -> usize {
        self.shape().iter().product()
    }

    /// Returns the elements as integers, in row-major order. Floats are truncated.
    pub fn to_ints(&self) -> Vec<i64> {
        match &self.numbers {
            Numbers::Ints(x) => x.iter().copied().collect(),
            Numbers::Floats(x) => x.iter().map(|x| *x as i64).collect(),
        }
    }

    /// Returns the elements as floats, in row-major order.
    pub fn to_floats(&self) -> Vec<f64> {
        match &self.numbers {
            // An `i64` stores the bits of a `u64`.
            Numbers::Ints(x) if self.dtype == DType::U64 => {
                x.iter().map(|x| x.cast_unsigned() as f64).collect()
            }
            Numbers::Ints(x) => x.iter().map(|x| *x as f64).collect(),
            Numbers::Floats(x) => x.iter().copied().collect(),
        }
    }

    /// Returns the elements as scalars, in row-major order.
    fn scalars(&self) -> Vec<Scalar> {
        match &self.numbers {
            Numbers::Ints(x) if self.dtype == DType::U64 => {
                x.iter().map(|x| Scalar::Uint(x.cast_unsigned())).collect()
            }
            Numbers::Ints(x) => x.iter().map(|x| Scalar::Int(*x)).collect(),
            Numbers::Floats(x) => x.iter().map(|x| Scalar::Float(*x)).collect(),
        }
    }

    /// Returns the tensor as an array: a literal or a constant on the device.
    pub fn to_array(&self) -> Array {
        let (shape, scalars) = (self.shape(), self.scalars());
        // Equal elements, such as zeros, become one number in the program instead of a literal.
        let first = scalars.first().copied().unwrap_or(Scalar::Int(0));
        // Zeros of both signs are equal, but they are different elements.
        let is_first = |x: &Scalar| match (x, first) {
            (Scalar::Float(x), Scalar::Float(first)) => x.to_bits() == first.to_bits(),
            _ => *x == first,
        };
        if scalars.iter().all(is_first) {
            let scalar = Array::scalar(first.cast(self.dtype), self.dtype);
            return if shape.is_empty() {
                scalar
            } else {
                scalar.broadcast_in_dim(shape, &[])
            };
        }
        macro_rules! typed {
            (as $t:ty) => {
                Array::from_vec(self.to_ints().into_iter().map(|x| x as $t).collect(), shape)
            };
            (with $from:expr) => {
                Array::from_vec(self.to_floats().into_iter().map($from).collect(), shape)
            };
        }
        match self.dtype {
            DType::I8 => typed!(as i8),
            DType::I16 => typed!(as i16),
            DType::I32 => typed!(as i32),
            DType::I64 => typed!(as i64),
            DType::U8 => typed!(as u8),
            DType::U16 => typed!(as u16),
            DType::U32 => typed!(as u32),
            DType::U64 => typed!(as u64),
            DType::F16 => typed!(with f16::from_f64),
            DType::BF16 => typed!(with bf16::from_f64),
            DType::F32 => typed!(with | x | x as f32),
            DType::F64 => typed!(with | x | x),
            _ => {
                let flags: Vec<bool> = self.to_ints().into_iter().map(|x| x != 0).collect();
                Array::from_slice(&flags, shape)
            }
        }
    }

    /// Converts the elements to another dtype. Floats are truncated to integers.
    pub fn cast(&self, dtype: DType) -> Option<HostTensor> {
        if !HostTensor::supports(dtype) {
            return None;
        }
        let shape = self.shape();
        if dtype.is_float() {
            // Elements have the values of their dtype although they are stored as `f64`.
            let narrow = |x: f64| Scalar::Float(x).cast(dtype).to_f64();
            let floats = self.to_floats().into_iter().map(narrow).collect();
            return Some(HostTensor::floats(dtype, shape, floats));
        }
        let ints = match dtype {
            // By way of floats, since 0.5 is true and would truncate to 0.
            DType::Bool => self
                .to_floats()
                .into_iter()
                .map(|x| i64::from(x != 0.0))
                .collect(),
            _ => self
                .to_ints()
                .into_iter()
                .map(|x| wrapped(x, dtype))
                .collect(),
        };
        Some(HostTensor::ints(dtype, shape, ints))
    }

    /// Combines the elements of two tensors, which are broadcast together.
    pub fn zip(
        &self,
        other: &HostTensor,
        ints: impl Fn(i64, i64) -> i64,
        floats: impl Fn(f64, f64) -> f64,
    ) -> Option<HostTensor> {
        // Each is broadcast with the shape of the other, so both get the common shape.
        let (a, b) = (self.expand(other.shape())?, other.expand(self.shape())?);
        let dtype = self.dtype;
        let numbers = match (&a.numbers, &b.numbers) {
            (Numbers::Ints(a), Numbers::Ints(b)) => {
                let mut out = a.clone();
                // Overflow wraps as it does on a device.
                out.zip_mut_with(b, |a, b| *a = wrapped(ints(*a, *b), dtype));
                Numbers::Ints(out)
            }
            (Numbers::Floats(a), Numbers::Floats(b)) => {
                let mut out = a.clone();
                let narrow = |x: f64| Scalar::Float(x).cast(dtype).to_f64();
                out.zip_mut_with(b, |a, b| *a = narrow(floats(*a, *b)));
                Numbers::Floats(out)
            }
            _ => return None,
        };
        Some(HostTensor { dtype, numbers })
    }

    /// Compares the elements of two tensors, which are broadcast together. NaN has no order.
    pub fn compare(
        &self,
        other: &HostTensor,
        holds: impl Fn(Ordering) -> bool,
    ) -> Option<HostTensor> {
        let (a, b) = (self.expand(other.shape())?, other.expand(self.shape())?);
        let flag = |order: Option<Ordering>| i64::from(order.is_some_and(&holds));
        let flags = match (&a.numbers, &b.numbers) {
            // The stored bits of large numbers are negative, so compare them without a sign.
            (Numbers::Ints(x), Numbers::Ints(y)) if a.dtype == DType::U64 => {
                let unsigned = |x: &i64, y: &i64| x.cast_unsigned().cmp(&y.cast_unsigned());
                let pairs = x.iter().zip(y);
                pairs.map(|(x, y)| flag(Some(unsigned(x, y)))).collect()
            }
            (Numbers::Ints(x), Numbers::Ints(y)) => {
                let pairs = x.iter().zip(y);
                pairs.map(|(x, y)| flag(Some(x.cmp(y)))).collect()
            }
            (Numbers::Floats(x), Numbers::Floats(y)) => {
                let pairs = x.iter().zip(y);
                pairs.map(|(x, y)| flag(x.partial_cmp(y))).collect()
            }
            _ => return None,
        };
        Some(HostTensor::ints(DType::Bool, a.shape(), flags))
    }

    /// Selects elements of `a` where a condition holds, and of `b` otherwise.
    pub fn select(condition: &HostTensor, a: &HostTensor, b: &HostTensor) -> Option<HostTensor> {
        fn pick<T: Copy>(flags: &[i64], a: &ArrayD<T>, b: &ArrayD<T>) -> Vec<T> {
            let pairs = flags.iter().zip(a.iter().zip(b.iter()));
            pairs
                .map(|(flag, (a, b))| if *flag != 0 { *a } else { *b })
                .collect()
        }
        let shape = broadcast_shapes(&[condition.shape(), a.shape(), b.shape()])?;
        let flags = condition.expand(&shape)?.to_ints();
        let (a, b) = (a.expand(&shape)?, b.expand(&shape)?);
        match (&a.numbers, &b.numbers) {
            (Numbers::Ints(x), Numbers::Ints(y)) => {
                Some(HostTensor::ints(a.dtype, &shape, pick(&flags, x, y)))
            }
            (Numbers::Floats(x), Numbers::Floats(y)) => {
                Some(HostTensor::floats(a.dtype, &shape, pick(&flags, x, y)))
            }
            _ => None,
        }
    }

    /// Broadcasts the tensor together with a shape.
    pub fn expand(&self, shape: &[usize]) -> Option<HostTensor> {
        let shape = broadcast_shapes(&[self.shape(), shape])?;
        Some(each!(self, |x| x.broadcast(IxDyn(&shape))?.to_owned()))
    }

    pub fn reshape(&self, shape: &[usize]) -> Option<HostTensor> {
        let shape = IxDyn(shape);
        Some(each!(self, |x| x.to_shape(shape).ok()?.to_owned()))
    }
}

/// Returns the integer of a dtype to which another integer wraps.
fn wrapped(number: i64, dtype: DType) -> i64 {
    match Scalar::Int(number).cast(dtype) {
        Scalar::Int(v) => v,
        Scalar::Uint(v) => v.cast_signed(),
        other => other.to_f64() as i64,
    }
}
