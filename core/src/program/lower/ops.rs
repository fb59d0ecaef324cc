//! Single StableHLO operations.

use super::value::{TensorType, avals, list, types};
use super::{Lowering, Value, dims_array};
use crate::dtypes::{Literal, Scalar};
use crate::{Aval, DType};
use smallvec::SmallVec;
use std::fmt::Write;
use std::ops::Range;

/// The operations with an attribute for their accuracy.
const APPROXIMATED: [&str; 12] = [
    "cbrt",
    "cosine",
    "exponential",
    "exponential_minus_one",
    "log",
    "log_plus_one",
    "logistic",
    "rsqrt",
    "sine",
    "sqrt",
    "tan",
    "tanh",
];

impl Lowering<'_> {
    /// Emits an operation like [`op`](Self::op), with one result and no regions.
    pub fn op1(&mut self, name: &str, args: &[Value], out: Aval, attributes: &str) -> Value {
        self.op(name, args, &[out], attributes, &[])[0]
    }

    /// Emits an operation of the CHLO dialect whose operands and result have one type. Narrow
    /// floats, which the dialect does not support, are computed in `f32`.
    pub fn chlo(&mut self, name: &str, args: &[Value]) -> Value {
        let aval = args[0].aval;
        if aval.dtype().is_narrow() && aval.dtype().is_float() {
            let args: Vec<Value> = (args.iter())
                .map(|&x| self.convert(x, DType::F32))
                .collect();
            let y = self.chlo(name, &args);
            return self.convert(y, aval.dtype());
        }
        let out = self.begin1(aval);
        let _ = write!(self.body, "chlo.{name} ");
        list(&mut self.body, args);
        self.body.push_str(" : ");
        types(&mut self.body, args.iter().map(Value::aval));
        let _ = write!(self.body, " -> {}", TensorType(aval));
        self.end();
        out
    }

    /// Emits an operation whose operands and result have one type:
    /// `%2 = stablehlo.add %0, %1 : tensor<3xf32>`.
    pub fn same(&mut self, name: &str, args: &[Value]) -> Value {
        let out = self.begin1(args[0].aval);
        let _ = write!(self.body, "stablehlo.{name} ");
        list(&mut self.body, args);
        if let Some(accuracy) = self
            .accuracy
            .as_ref()
            .filter(|_| APPROXIMATED.contains(&name))
        {
            let _ = write!(self.body, " {{{accuracy}}}");
        }
        let _ = write!(self.body, " : {}", TensorType(out.aval));
        self.end();
        out
    }

    /// Emits a constant array with the same value in every element.
    pub fn splat(&mut self, value: impl Into<Scalar>, aval: Aval) -> Value {
        let literal = Literal::new(value, aval.dtype());
        let key = (literal, aval.strong());
        // A constant emitted inside a region is not visible after it.
        let cacheable = self.indent == 4;
        if cacheable && let Some(v) = self.constants.get(&key) {
            return v.of_type(aval);
        }
        let out = self.constant(aval, |text| text.push_str(&literal.mlir()));
        if cacheable {
            self.constants.insert(key, out);
        }
        out
    }

    /// Emits a constant with these elements in StableHLO syntax.
    fn constant(&mut self, aval: Aval, elements: impl FnOnce(&mut String)) -> Value {
        let out = self.begin1(aval);
        self.body.push_str("stablehlo.constant dense<");
        elements(&mut self.body);
        let _ = write!(self.body, "> : {}", TensorType(aval));
        self.end();
        out
    }

    /// Emits a 0-d constant.
    pub fn scalar(&mut self, value: impl Into<Scalar>, dtype: DType) -> Value {
        self.splat(value, Aval::scalar(dtype))
    }

    /// Emits a 1-d constant of integers.
    pub fn integers(&mut self, values: &[i64], dtype: DType) -> Value {
        self.constant(Aval::new(&[values.len()], dtype), |text| {
            if !values.is_empty() {
                let _ = write!(text, "{values:?}");
            }
        })
    }

    /// Emits a constant with these elements, row-major.
    pub fn elements(&mut self, bytes: &[u8], aval: Aval) -> Value {
        // The format packs elements of less than a byte, but `bytes` has one byte for each.
        let whole = match aval.dtype() {
            DType::Bool | DType::U4 | DType::U2 | DType::F4E2M1Fn => Some(DType::U8),
            DType::I4 | DType::I2 => Some(DType::I8),
            _ => None,
        };
        if let Some(whole) = whole {
            let value = self.elements(bytes, aval.with_dtype(whole));
            if aval.dtype() != DType::F4E2M1Fn {
                return self.convert(value, aval.dtype());
            }
            let bits = self.convert(value, DType::U4);
            return self.bitcast(bits, aval.dtype());
        }
        self.constant(aval, |text| {
            if !bytes.is_empty() {
                text.push_str("\"0x");
                for byte in bytes {
                    let _ = write!(text, "{byte:02X}");
                }
                text.push('"');
            }
        })
    }

    /// Broadcasts `value` to `shape`: its dimension `i` becomes dimension `dims[i]`.
    pub fn broadcast_in_dim(&mut self, value: Value, shape: &[usize], dims: &[usize]) -> Value {
        let to = value.aval.with_shape(shape);
        if value.aval == to {
            return value;
        }
        let attributes = format!("broadcast_dimensions = {}", dims_array(dims));
        self.op1("broadcast_in_dim", &[value], to, &attributes)
    }

    /// Broadcasts `value` to `shape` by NumPy's rules.
    pub fn broadcast_to(&mut self, value: Value, shape: &[usize]) -> Value {
        let dims: Vec<usize> = (shape.len() - value.ndim()..shape.len()).collect();
        self.broadcast_in_dim(value, shape, &dims)
    }

    /// Broadcasts operands to the shape and placement of a result.
    pub fn broadcast_operands(&mut self, args: &[Value], out: Aval) -> SmallVec<[Value; 4]> {
        let broadcast = |x: &Value| {
            let wide = self.broadcast_to(*x, out.shape());
            wide.of_type(out.with_dtype(x.dtype()))
        };
        args.iter().map(broadcast).collect()
    }

    /// Emits `value` in another shape with as many elements.
    pub fn reshape(&mut self, value: Value, shape: &[usize]) -> Value {
        self.op1("reshape", &[value], value.aval.with_shape(shape), "")
    }

    /// Emits the elements `starts` to `limits` of each dimension, `strides` apart.
    pub fn slice(
        &mut self,
        value: Value,
        starts: &[usize],
        limits: &[usize],
        strides: &[usize],
    ) -> Value {
        let ranges = starts.iter().zip(limits).zip(strides);
        let shape: Vec<usize> = ranges.map(|((a, b), s)| (b - a).div_ceil(*s)).collect();
        let attributes = format!(
            "start_indices = {}, limit_indices = {}, strides = {}",
            dims_array(starts),
            dims_array(limits),
            dims_array(strides)
        );
        let out = value.aval.with_shape(&shape);
        self.op1("slice", &[value], out, &attributes)
    }

    /// Emits the elements in a range along one axis.
    pub fn slice_in_dim(&mut self, value: Value, axis: usize, range: Range<usize>) -> Value {
        let (mut starts, mut limits) = (vec![0; value.ndim()], value.shape().to_vec());
        (starts[axis], limits[axis]) = (range.start, range.end);
        self.slice(value, &starts, &limits, &vec![1; value.ndim()])
    }

    /// Emits the elements along axis `axis` of each operand, one operand after the other.
    pub fn concatenate(&mut self, values: &[Value], axis: usize) -> Value {
        let mut shape = values[0].shape().to_vec();
        shape[axis] = values.iter().map(|v| v.shape()[axis]).sum();
        let attributes = format!("dimension = {axis} : i64");
        let out = values[0].aval.with_shape(&shape);
        self.op1("concatenate", values, out, &attributes)
    }

    /// Emits the index of each element along `axis` of an array of type `aval`.
    pub fn iota(&mut self, aval: Aval, axis: usize) -> Value {
        self.op1("iota", &[], aval, &format!("iota_dimension = {axis} : i64"))
    }

    /// Emits `value` with its axes in the order `permutation`.
    pub fn transpose(&mut self, value: Value, permutation: &[usize]) -> Value {
        let shape: Vec<usize> = permutation.iter().map(|&d| value.shape()[d]).collect();
        let attributes = format!("permutation = {}", dims_array(permutation));
        let out = value.aval.with_shape(&shape);
        self.op1("transpose", &[value], out, &attributes)
    }

    /// Emits `value` reduced by the operator `op` over `axes`, which are removed.
    pub fn reduce(&mut self, op: &str, value: Value, identity: Value, axes: &[usize]) -> Value {
        let region = self.reducer(op, value.dtype());
        let attributes = format!("dimensions = {}", dims_array(axes));
        let kept = (0..value.ndim()).filter(|d| !axes.contains(d));
        let shape: Vec<usize> = kept.map(|d| value.shape()[d]).collect();
        let out = value.aval.with_shape(&shape);
        self.op("reduce", &[value, identity], &[out], &attributes, &[region])[0]
    }

    /// Emits a barrier that the compiler does not optimize across.
    pub fn barrier(&mut self, args: &[Value]) -> Vec<Value> {
        self.op("optimization_barrier", args, &avals(args), "", &[])
    }

    /// Converts `value` to the dtype `to`.
    pub fn convert(&mut self, value: Value, to: DType) -> Value {
        if value.dtype() == to {
            return value;
        }
        self.op1("convert", &[value], value.aval.with_dtype(to), "")
    }

    /// Reinterprets the bits of `value` as elements of the dtype `to`, which has the same size.
    pub fn bitcast(&mut self, value: Value, to: DType) -> Value {
        self.op1("bitcast_convert", &[value], value.aval.with_dtype(to), "")
    }

    /// Emits the `real` or `imag` part of a complex value.
    pub fn part(&mut self, part: &str, value: Value) -> Value {
        let half = value.aval.with_dtype(value.dtype().real());
        self.op1(part, &[value], half, "")
    }

    /// Emits the real and the imaginary part of a complex value.
    pub fn parts(&mut self, value: Value) -> [Value; 2] {
        ["real", "imag"].map(|part| self.part(part, value))
    }

    /// Emits a complex value with these parts.
    pub fn complex(&mut self, parts: [Value; 2]) -> Value {
        let out = parts[0].aval.with_dtype(parts[0].dtype().complex());
        self.op1("complex", &parts, out, "")
    }

    /// Emits `stablehlo.compare` of two values of one type; `direction` is `EQ`, `LT`, …
    pub fn compare(&mut self, direction: &str, args: [Value; 2]) -> Value {
        let [a, b] = args;
        let kind = match a.dtype() {
            d if d.is_inexact() => "FLOAT",
            d if d.is_unsigned() || d == DType::Bool => "UNSIGNED",
            _ => "SIGNED",
        };
        let out = self.begin1(a.aval.with_dtype(DType::Bool));
        let (ty, to) = (TensorType(a.aval), TensorType(out.aval));
        let _ = write!(
            self.body,
            "stablehlo.compare {direction}, {a}, {b}, {kind} : ({ty}, {ty}) -> {to}"
        );
        self.end();
        out
    }

    /// Emits `on_true` where `condition` is true, and `on_false` elsewhere. The condition has
    /// their shape or is 0-d.
    pub fn select(&mut self, condition: Value, on_true: Value, on_false: Value) -> Value {
        let args = [condition, on_true, on_false];
        self.op1("select", &args, on_true.aval, "")
    }
}
