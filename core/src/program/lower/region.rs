//! Regions: the blocks inside operations such as loops and reductions.

use super::value::{list, types};
use super::{Lowering, Order, TensorType, Value, order};
use crate::{Aval, DType};
use std::fmt::Write;

/// A region of an operation, ready to attach. Its arguments and results are stored separately,
/// since an operation with ordered effects adds to them.
pub struct Region {
    args: Vec<Value>,
    body: String,
    results: Vec<Value>,
    /// State of ordered effects at the start of the region, if it is an argument. The field below
    /// is the state at its end.
    entry: Option<Value>,
    after: Option<Value>,
    /// A name for an unused state argument.
    spare: Value,
    pub(super) terminator: &'static str,
}

/// The state that an operation with ordered effects in some region adds to each region.
#[derive(Clone, Copy)]
pub(super) struct Ordered {
    /// State before the operation.
    pub before: Value,
    /// Whether the region returns its final state.
    pub returns: bool,
}

impl Region {
    /// Returns whether the region has ordered effects.
    pub(super) fn is_ordered(&self) -> bool {
        self.after.is_some()
    }

    /// Returns the region's text.
    pub(super) fn text(&self, indent: usize, ordered: Option<Ordered>) -> String {
        let mut args = self.args.clone();
        let mut results = self.results.clone();
        if let Some(Ordered { before, returns }) = ordered {
            let mut state = before;
            if !self.args.is_empty() {
                state = self.entry.unwrap_or(self.spare);
                args.push(state);
            }
            if returns {
                results.push(self.after.unwrap_or(state));
            }
        }
        let margin = " ".repeat(indent);
        let mut text = String::from("{\n");
        text.push_str(&margin);
        if !args.is_empty() {
            text.push_str("^bb0(");
            let typed = |v: &Value| format!("{v}: {}", TensorType(v.aval));
            list(&mut text, args.iter().map(typed));
            text.push_str("):");
        }
        let _ = write!(text, "\n{}{margin}  {} ", self.body, self.terminator);
        list(&mut text, &results);
        if !results.is_empty() {
            text.push_str(" : ");
            types(&mut text, results.iter().map(Value::aval));
        }
        let _ = write!(text, "\n{margin}}}");
        text
    }
}

impl<'m> Lowering<'m> {
    /// Writes a region with one block: `body` receives the block's arguments and returns its
    /// results.
    pub fn region(
        &mut self,
        args: &[Aval],
        body: impl FnOnce(&mut Lowering<'m>, &[Value]) -> Vec<Value>,
    ) -> Region {
        let outer = std::mem::take(&mut self.body);
        let args: Vec<Value> = args.iter().map(|a| self.fresh(*a)).collect();
        let spare = self.fresh(order::aval());
        self.order.push(if args.is_empty() {
            Order::sees_outside()
        } else {
            Order::default()
        });
        self.indent += 2;
        let results = body(self, &args);
        self.indent -= 2;
        let order = self.order.pop().unwrap_or_default();
        Region {
            args,
            body: std::mem::replace(&mut self.body, outer),
            results,
            entry: order.entry,
            after: order.after(),
            spare,
            terminator: "stablehlo.return",
        }
    }

    /// Writes a region that combines two scalars of `dtype` with one operation, as reductions
    /// need.
    pub fn reducer(&mut self, op: &str, dtype: DType) -> Region {
        let scalar = Aval::scalar(dtype);
        self.region(&[scalar, scalar], |ctx, args| vec![ctx.binary(op, args)])
    }
}
