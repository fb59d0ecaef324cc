//! Lowering of jaxprs to StableHLO text.

mod composite;
mod module;
mod ops;
pub(crate) mod order;
mod partition;
mod region;
mod traced;
mod value;

use crate::base::hash::FastMap;
use crate::base::stack::with_room;
use crate::dtypes::Literal;
use crate::program::jaxpr::{Atom, Jaxpr, Scope};
use crate::types::sharding::AbstractMesh;
use crate::{Aval, Platform};
use smallvec::SmallVec;
use std::fmt::Write;
use std::panic::Location;
use std::sync::Arc;

pub(crate) use module::strip_locations;
pub use module::{ArgumentAttribute, Module, ModuleText};
use order::Order;
pub use partition::Partition;
pub(crate) use partition::collective_attributes;
pub use region::Region;
pub(crate) use value::avals;
pub use value::{TensorType, Value};
use value::{list, result_types, types};

/// A line of the user's program, and the named scopes around it.
type Source = (&'static Location<'static>, Scope);

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
    /// The requested accuracy of the functions that are emitted, as an attribute.
    pub(crate) accuracy: Option<String>,
    /// State of ordered effects for each open block, innermost last.
    order: Vec<Order>,
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

/// Formats row-major layouts, the only ones that functions of this process support.
pub(crate) fn row_major(types: &[Aval]) -> String {
    let mut text = String::from("[");
    for (i, aval) in types.iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        // From the last dimension, which varies fastest, to the first: `[1, 0]` for a matrix.
        let order: Vec<String> = (0..aval.ndim()).rev().map(|d| d.to_string()).collect();
        let body = if order.is_empty() {
            String::new()
        } else {
            format!("[{}]", order.join(", "))
        };
        let _ = write!(text, "{comma}dense<{body}> : tensor<{}xindex>", order.len());
    }
    text.push(']');
    text
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
            accuracy: None,
            order: vec![Order::default()],
        }
    }

    fn fresh(&mut self, aval: Aval) -> Value {
        let id = self.next;
        self.next += 1;
        Value {
            id,
            index: u16::MAX,
            aval,
        }
    }

    /// Begins the line of an operation with results of these types.
    fn begin(&mut self, outs: &[Aval]) -> SmallVec<[Value; 1]> {
        if let [out] = outs {
            return SmallVec::from_buf([self.begin1(*out)]);
        }
        // Several results share a number: `%2:3 = …` defines `%2#0`, `%2#1` and `%2#2`.
        let id = self.next;
        self.next += 1;
        self.margin();
        if !outs.is_empty() {
            let _ = write!(self.body, "%{id}:{} = ", outs.len());
        }
        let value = |(index, aval): (u16, &Aval)| Value {
            id,
            index,
            aval: *aval,
        };
        (0..).zip(outs).map(value).collect()
    }

    /// Begins the line of an operation with one result.
    fn begin1(&mut self, out: Aval) -> Value {
        let value = self.fresh(out);
        self.margin();
        let _ = write!(self.body, "{value} = ");
        value
    }

    fn margin(&mut self) {
        for _ in 0..self.indent {
            self.body.push(' ');
        }
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
        outs: &[Aval],
        attributes: &str,
        regions: &[Region],
    ) -> Vec<Value> {
        if regions.iter().any(Region::is_ordered) {
            return self.ordered_op(name, args, outs, attributes, regions);
        }
        let texts: Vec<String> = regions.iter().map(|r| r.text(self.indent, None)).collect();
        self.generic(name, args, outs, attributes, &texts)
    }

    /// Emits an operation with the text of its regions.
    fn generic(
        &mut self,
        name: &str,
        args: &[Value],
        outs: &[Aval],
        attributes: &str,
        regions: &[String],
    ) -> Vec<Value> {
        let results = self.begin(outs);
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
        self.signature(args, outs);
        results.into_vec()
    }

    /// Ends the line of an operation with the types of its operands and results.
    fn signature(&mut self, args: &[Value], outs: &[Aval]) {
        self.body.push_str(" : (");
        types(&mut self.body, args.iter().map(Value::aval));
        self.body.push_str(") -> ");
        result_types(&mut self.body, outs);
        self.end();
    }

    /// Returns whether the program is for one CPU, on which some other operations are faster. (In
    /// programs for several devices, the compiler partitions the usual operations best.)
    pub(crate) fn is_for_one_cpu(&self) -> bool {
        self.module.partition.count() == 1 && self.module.platform == Some(Platform::Cpu)
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
        let mut outs = jaxpr.out_avals();
        // The state of ordered effects is the last argument and the last result of such a function.
        if callee.ordered {
            args.push(self.order());
            outs.push(order::aval());
        }
        let mut results = self.begin(&outs);
        let _ = write!(self.body, "func.call @{}(", callee.name);
        list(&mut self.body, &args);
        self.body.push(')');
        self.signature(&args, &outs);
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
            env[v.index()] = Some(a.of_type(jaxpr.var_aval(*v)));
        }
        // A rule that lowers a program inline may emit more operations afterwards, at its own line.
        let outer = self.location;
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        for eqn in &jaxpr.eqns {
            self.location = Some((eqn.location, eqn.scope));
            args.clear();
            args.extend(eqn.inputs.iter().map(|input| self.atom(&env, input)));
            let outs: SmallVec<[Aval; 2]> =
                eqn.outputs.iter().map(|v| jaxpr.var_aval(*v)).collect();
            let mut values = with_room(|| eqn.primitive.lower(self, &args, &outs));
            debug_assert_eq!(values.len(), outs.len());
            // The others constrain their results themselves, where they need it.
            if !eqn.primitive.facts().places_results {
                self.constrain_typed(&mut values, &args, &outs);
            }
            // Rules return plain types; that of the variable may be weak or sharded.
            for ((v, value), out) in eqn.outputs.iter().zip(values).zip(outs) {
                env[v.index()] = Some(value.of_type(out));
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
