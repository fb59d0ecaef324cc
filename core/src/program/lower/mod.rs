//! Lowering of jaxprs to StableHLO text.

mod composite;
mod module;
pub(crate) mod order;
mod partition;
mod region;
mod traced;

use crate::base::hash::FastMap;
use crate::base::stack::with_room;
use crate::program::jaxpr::{Atom, Jaxpr, Scope};
use crate::types::sharding::AbstractMesh;
use crate::{Aval, DType, Literal, Platform, Scalar};
use smallvec::SmallVec;
use std::fmt::{self, Write};
use std::panic::Location;
use std::sync::Arc;

pub(crate) use module::strip_locations;
pub use module::{ArgumentAttribute, Module, ModuleText};
use order::Order;
pub use partition::Partition;
pub(crate) use partition::collective_attributes;
pub use region::Region;

/// A line of the user's program, and the named scopes around it.
type Source = (&'static Location<'static>, Scope);

/// A value of a StableHLO function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    id: u32,
    /// Index among several results; `u16::MAX` if the operation has one result.
    index: u16,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.id)?;
        if self.index != u16::MAX {
            write!(f, "#{}", self.index)?;
        }
        Ok(())
    }
}

/// A type in StableHLO syntax: `tensor<2x3xf32>`.
pub struct TensorType(pub Aval);

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        for d in self.0.shape() {
            write!(f, "{d}x")?;
        }
        write!(f, "{}>", self.0.dtype().mlir())
    }
}

/// A writer of one function's body. Lowering rules emit operations through it.
pub struct Lowering<'m> {
    module: &'m mut Module,
    body: String,
    next: u32,
    indent: usize,
    constants: FastMap<(Literal, Aval), Value>,
    location: Option<Source>,
    /// The mesh and its axis types at this point, inside a manual computation.
    axes: Option<AbstractMesh>,
    /// State of ordered effects for each open block, innermost last.
    order: Vec<Order>,
}

/// Writes items with a comma between them.
fn list<T: fmt::Display>(out: &mut String, items: impl IntoIterator<Item = T>) {
    for (i, item) in items.into_iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        let _ = write!(out, "{comma}{item}");
    }
}

/// Formats integers as `array<i64: 1, 2>`, the form of StableHLO's dense integer attributes.
pub fn i64_array(values: impl IntoIterator<Item = i64>) -> String {
    let mut text = String::from("array<i64");
    for (i, v) in values.into_iter().enumerate() {
        let _ = write!(text, "{} {v}", if i == 0 { ":" } else { "," });
    }
    text.push('>');
    text
}

/// Formats sizes like [`i64_array`].
pub fn dims_array(values: &[usize]) -> String {
    i64_array(values.iter().map(|&d| d as i64))
}

/// Formats the padding of a window, before and after each axis, as a StableHLO attribute.
pub(crate) fn padding_attribute(pads: &[(isize, isize)]) -> String {
    let pairs: Vec<String> = pads
        .iter()
        .map(|(low, high)| format!("[{low}, {high}]"))
        .collect();
    let rows = match pairs.as_slice() {
        [] => String::new(),
        pairs => format!("[{}]", pairs.join(", ")),
    };
    format!("padding = dense<{rows}> : tensor<{}x2xi64>", pads.len())
}

impl<'m> Lowering<'m> {
    fn new(module: &'m mut Module, axes: Option<AbstractMesh>) -> Lowering<'m> {
        Lowering {
            module,
            body: String::new(),
            next: 0,
            indent: 4,
            constants: FastMap::default(),
            location: None,
            axes,
            order: vec![Order::default()],
        }
    }

    fn fresh(&mut self) -> Value {
        let id = self.next;
        self.next += 1;
        Value {
            id,
            index: u16::MAX,
        }
    }

    fn begin(&mut self, results: usize) -> SmallVec<[Value; 1]> {
        let value = self.fresh();
        for _ in 0..self.indent {
            self.body.push(' ');
        }
        match results {
            0 => return SmallVec::new(),
            1 => {
                let _ = write!(self.body, "{value} = ");
                return SmallVec::from_buf([value]);
            }
            n => {
                let _ = write!(self.body, "{value}:{n} = ");
            }
        }
        (0..results as u16)
            .map(|index| Value {
                id: value.id,
                index,
            })
            .collect()
    }

    fn end(&mut self) {
        if let Some(location) = self.location {
            let id = self.module.location(location);
            let _ = write!(self.body, " loc(#loc{id})");
        }
        self.body.push('\n');
    }

    /// Emits an operation in MLIR's generic form:
    /// `%2 = "stablehlo.name"(%0, %1) <{attributes}> (regions) : (…) -> …`. A name with a dot
    /// includes its dialect.
    pub fn op(
        &mut self,
        name: &str,
        args: &[Value],
        ins: &[Aval],
        outs: &[Aval],
        attributes: &str,
        regions: &[Region],
    ) -> Vec<Value> {
        debug_assert_eq!(args.len(), ins.len(), "{name}: one type per operand");
        if regions.iter().any(Region::is_ordered) {
            return self.ordered_op(name, args, ins, outs, attributes, regions);
        }
        let texts: Vec<String> = regions.iter().map(|r| r.text(self.indent, None)).collect();
        self.generic(name, args, ins, outs, attributes, &texts)
    }

    /// Emits an operation with the text of its regions.
    fn generic(
        &mut self,
        name: &str,
        args: &[Value],
        ins: &[Aval],
        outs: &[Aval],
        attributes: &str,
        regions: &[String],
    ) -> Vec<Value> {
        let results = self.begin(outs.len());
        let body = &mut self.body;
        let dialect = if name.contains('.') { "" } else { "stablehlo." };
        let _ = write!(body, "\"{dialect}{name}\"(");
        list(body, args);
        body.push(')');
        if !attributes.is_empty() {
            let _ = write!(body, " <{{{attributes}}}>");
        }
        if !regions.is_empty() {
            body.push_str(" (");
            list(body, regions);
            body.push(')');
        }
        body.push_str(" : (");
        list(body, ins.iter().map(|a| TensorType(*a)));
        body.push_str(") -> ");
        match outs {
            [out] => {
                let _ = write!(body, "{}", TensorType(*out));
            }
            outs => {
                body.push('(');
                list(body, outs.iter().map(|a| TensorType(*a)));
                body.push(')');
            }
        }
        self.end();
        results.into_vec()
    }

    /// Emits an operation like [`op`](Self::op), with one result and no regions.
    pub fn op1(
        &mut self,
        name: &str,
        args: &[Value],
        ins: &[Aval],
        out: Aval,
        attributes: &str,
    ) -> Value {
        self.op(name, args, ins, &[out], attributes, &[])[0]
    }

    /// Emits an operation of the CHLO dialect with operands of one type. Narrow floats, which the
    /// dialect does not support, are computed in `f32`.
    pub fn chlo(&mut self, name: &str, args: &[Value], operand: Aval, result: Aval) -> Value {
        if operand.dtype().is_narrow() && operand.dtype().is_float() {
            let wide = operand.with_dtype(DType::F32);
            let args: Vec<Value> = (args.iter())
                .map(|&x| self.convert(x, operand, DType::F32))
                .collect();
            return match result.dtype() == operand.dtype() {
                true => {
                    let y = self.chlo(name, &args, wide, result.with_dtype(DType::F32));
                    self.convert(y, result.with_dtype(DType::F32), result.dtype())
                }
                false => self.chlo(name, &args, wide, result),
            };
        }
        let out = self.begin(1)[0];
        let _ = write!(self.body, "chlo.{name} ");
        list(&mut self.body, args);
        let (from, to) = (TensorType(operand), TensorType(result));
        let froms: Vec<String> = args.iter().map(|_| from.to_string()).collect();
        let _ = write!(self.body, " : {} -> {to}", froms.join(", "));
        self.end();
        out
    }

    /// Emits an operation whose operands and result have one type:
    /// `%2 = stablehlo.add %0, %1 : tensor<3xf32>`.
    pub fn same(&mut self, name: &str, args: &[Value], aval: Aval) -> Value {
        let out = self.begin(1)[0];
        let _ = write!(self.body, "stablehlo.{name} ");
        list(&mut self.body, args);
        let _ = write!(self.body, " : {}", TensorType(aval));
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
            return *v;
        }
        let out = self.begin(1)[0];
        let _ = write!(
            self.body,
            "stablehlo.constant dense<{}> : {}",
            literal.mlir(),
            TensorType(aval)
        );
        self.end();
        if cacheable {
            self.constants.insert(key, out);
        }
        out
    }

    /// Emits a 0-d constant.
    pub fn scalar(&mut self, value: impl Into<Scalar>, dtype: DType) -> Value {
        self.splat(value, Aval::scalar(dtype))
    }

    /// Emits a 1-d constant of integers.
    pub fn integers(&mut self, values: &[i64], dtype: DType) -> Value {
        let aval = Aval::new(&[values.len()], dtype);
        let out = self.begin(1)[0];
        let _ = write!(self.body, "stablehlo.constant dense<");
        if !values.is_empty() {
            self.body.push('[');
            list(&mut self.body, values);
            self.body.push(']');
        }
        let _ = write!(self.body, "> : {}", TensorType(aval));
        self.end();
        out
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
            let numbers = aval.with_dtype(whole);
            let value = self.elements(bytes, numbers);
            if aval.dtype() != DType::F4E2M1Fn {
                return self.convert(value, numbers, aval.dtype());
            }
            let bits = self.convert(value, numbers, DType::U4);
            let types = [aval.with_dtype(DType::U4)];
            return self.op1("bitcast_convert", &[bits], &types, aval, "");
        }
        let out = self.begin(1)[0];
        self.body.push_str("stablehlo.constant dense<");
        if !bytes.is_empty() {
            self.body.push_str("\"0x");
            for byte in bytes {
                let _ = write!(self.body, "{byte:02X}");
            }
            self.body.push('"');
        }
        let _ = write!(self.body, "> : {}", TensorType(aval));
        self.end();
        out
    }

    /// Broadcasts `value` of type `from` to the shape of `to`: its dimension `i` becomes
    /// dimension `dims[i]`.
    pub fn broadcast_in_dim(
        &mut self,
        value: Value,
        from: Aval,
        to: Aval,
        dims: &[usize],
    ) -> Value {
        let to = from.with_shape(to.shape());
        if from == to {
            return value;
        }
        let attributes = format!("broadcast_dimensions = {}", dims_array(dims));
        self.op1("broadcast_in_dim", &[value], &[from], to, &attributes)
    }

    /// Broadcasts `value` to the shape of `to` by NumPy's rules.
    pub fn broadcast_to(&mut self, value: Value, from: Aval, to: Aval) -> Value {
        let lead = to.ndim() - from.ndim();
        let dims: Vec<usize> = (lead..to.ndim()).collect();
        self.broadcast_in_dim(value, from, to, &dims)
    }

    /// Converts `value` to the dtype `to`, with the same shape.
    pub fn convert(&mut self, value: Value, from: Aval, to: DType) -> Value {
        if from.dtype() == to {
            return value;
        }
        self.op1("convert", &[value], &[from], from.with_dtype(to), "")
    }

    /// Emits `stablehlo.compare` of two values of one type; `direction` is `EQ`, `LT`, …
    pub fn compare(&mut self, direction: &str, args: [Value; 2], aval: Aval) -> Value {
        let kind = match aval.dtype() {
            d if d.is_inexact() => "FLOAT",
            d if d.is_unsigned() || d == DType::Bool => "UNSIGNED",
            _ => "SIGNED",
        };
        let out = self.begin(1)[0];
        let (ty, to) = (TensorType(aval), TensorType(aval.with_dtype(DType::Bool)));
        let _ = write!(
            self.body,
            "stablehlo.compare {direction}, {}, {}, {kind} : ({ty}, {ty}) -> {to}",
            args[0], args[1]
        );
        self.end();
        out
    }

    /// Returns whether the program is for CPUs.
    pub(crate) fn is_for_cpu(&self) -> bool {
        self.module.platform == Some(Platform::Cpu)
    }

    /// Returns whether the program is for one CPU, on which XLA runs some other operations
    /// faster. (In programs for several devices, the compiler partitions the usual operations
    /// best.)
    pub(crate) fn is_for_one_cpu(&self) -> bool {
        self.module.partition.count() == 1 && self.is_for_cpu()
    }

    /// Marks the program as calling functions of this process.
    pub(crate) fn set_calls_back(&mut self) {
        self.module.set_calls_back();
    }

    /// Emits a call of a program as a separate function; all calls of equal programs share one
    /// function.
    pub fn call(&mut self, name: &str, jaxpr: &Arc<Jaxpr>, args: &[Value]) -> Vec<Value> {
        let callee = self.module.function(name, jaxpr, self.axes);
        let mut args: SmallVec<[Value; 8]> = args.into();
        let mut ins = jaxpr.in_avals();
        let mut outs = jaxpr.out_avals();
        if callee.ordered {
            args.push(self.order());
            ins.push(order::aval());
            outs.push(order::aval());
        }
        let mut results = self.begin(outs.len());
        let body = &mut self.body;
        let _ = write!(body, "func.call @{}(", callee.name);
        list(body, args);
        body.push_str(") : (");
        list(body, ins.into_iter().map(TensorType));
        body.push_str(") -> ");
        if outs.len() == 1 {
            let _ = write!(body, "{}", TensorType(outs[0]));
        } else {
            body.push('(');
            list(body, outs.into_iter().map(TensorType));
            body.push(')');
        }
        self.end();
        if callee.ordered
            && let Some(after) = results.pop()
        {
            self.set_order(after);
        }
        results.into_vec()
    }

    /// Emits the equations of a program inline. Captured values come first in `args`.
    pub fn inline(&mut self, jaxpr: &Jaxpr, args: &[Value]) -> Vec<Value> {
        let mut env: Vec<Option<Value>> = vec![None; jaxpr.num_vars()];
        for (v, a) in jaxpr.constvars.iter().chain(&jaxpr.invars).zip(args) {
            env[v.index()] = Some(*a);
        }
        let outer = self.location;
        let mut ins: SmallVec<[Value; 4]> = SmallVec::new();
        let mut in_avals: SmallVec<[Aval; 4]> = SmallVec::new();
        for eqn in &jaxpr.eqns {
            self.location = Some((eqn.location, eqn.scope));
            ins.clear();
            in_avals.clear();
            for input in &eqn.inputs {
                ins.push(self.atom(&env, input));
                in_avals.push(jaxpr.aval(input));
            }
            let out_avals: SmallVec<[Aval; 2]> =
                eqn.outputs.iter().map(|v| jaxpr.var_aval(*v)).collect();
            let lower = || eqn.primitive.lower(self, &ins, &in_avals, &out_avals);
            let mut outs = with_room(lower);
            if !eqn.primitive.places_results()
                && in_avals
                    .iter()
                    .chain(&out_avals)
                    .any(|a| a.sharding().is_some())
            {
                self.constrain_typed(&mut outs, &in_avals, &out_avals);
            }
            debug_assert_eq!(outs.len(), eqn.outputs.len());
            for (v, value) in eqn.outputs.iter().zip(outs) {
                env[v.index()] = Some(value);
            }
        }
        self.location = outer;
        jaxpr.outvars.iter().map(|a| self.atom(&env, a)).collect()
    }

    fn atom(&mut self, env: &[Option<Value>], atom: &Atom) -> Value {
        match atom {
            Atom::Var(v) => env[v.index()].expect("a variable is bound before it is read"),
            Atom::Literal(l) => self.splat(l.value(), l.aval()),
        }
    }
}
