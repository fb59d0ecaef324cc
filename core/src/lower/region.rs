//! Regions: the blocks that operations such as loops and reductions hold.

use super::{Lowering, Order, TensorType, Value, list, order};
use crate::{Aval, DType};
use std::fmt::Write;

/// A region of an operation, written and ready to attach. What it takes and
/// returns is kept apart, since an operation that orders effects adds to it.
pub struct Region {
    args: Vec<(Value, Aval)>,
    body: String,
    results: Vec<(Value, Aval)>,
    /// Ordered effects inside: the state that it is entered with, where that
    /// comes as an argument, and the state that it leaves.
    entry: Option<Value>,
    after: Option<Value>,
    /// A name for a state that comes as an argument and that nothing uses.
    spare: Value,
    pub(super) terminator: &'static str,
}

/// What an operation with ordered effects in some region adds to each.
#[derive(Clone, Copy)]
pub(super) struct Ordered {
    /// The state before the operation.
    pub before: Value,
    /// Whether the region returns the state that it leaves.
    pub returns: bool,
}

impl Region {
    /// Whether there are ordered effects inside.
    pub(super) fn is_ordered(&self) -> bool {
        self.after.is_some()
    }

    /// The text.
    pub(super) fn text(&self, indent: usize, ordered: Option<Ordered>) -> String {
        let mut args = self.args.clone();
        let mut results = self.results.clone();
        if let Some(Ordered { before, returns }) = ordered {
            let mut state = before;
            if !self.args.is_empty() {
                state = self.entry.unwrap_or(self.spare);
                args.push((state, order::aval()));
            }
            if returns {
                results.push((self.after.unwrap_or(state), order::aval()));
            }
        }
        let margin = " ".repeat(indent);
        let mut text = String::from("{\n");
        text.push_str(&margin);
        if !args.is_empty() {
            text.push_str("^bb0(");
            let typed = |(v, a): &(Value, Aval)| format!("{v}: {}", TensorType(*a));
            list(&mut text, args.iter().map(typed));
            text.push_str("):");
        }
        let _ = write!(text, "\n{}{margin}  {} ", self.body, self.terminator);
        list(&mut text, results.iter().map(|r| r.0));
        if !results.is_empty() {
            text.push_str(" : ");
            list(&mut text, results.iter().map(|r| TensorType(r.1)));
        }
        let _ = write!(text, "\n{margin}}}");
        text
    }
}

impl<'m> Lowering<'m> {
    /// A region with one block: `body` receives its arguments and gives what
    /// the block returns.
    pub fn region(
        &mut self,
        args: &[Aval],
        body: impl FnOnce(&mut Lowering<'m>, &[Value]) -> Vec<(Value, Aval)>,
    ) -> Region {
        let outer = std::mem::take(&mut self.body);
        let values: Vec<Value> = args.iter().map(|_| self.fresh()).collect();
        let spare = self.fresh();
        self.order.push(if args.is_empty() {
            Order::sees_outside()
        } else {
            Order::default()
        });
        self.indent += 2;
        let results = body(self, &values);
        self.indent -= 2;
        let order = self.order.pop().unwrap_or_default();
        Region {
            args: values.into_iter().zip(args.iter().copied()).collect(),
            body: std::mem::replace(&mut self.body, outer),
            results,
            entry: order.entry,
            after: order.after(),
            spare,
            terminator: "stablehlo.return",
        }
    }

    /// A region that combines two scalars of `dtype` by one operation of one
    /// type, as reductions have.
    pub fn reducer(&mut self, op: &str, dtype: DType) -> Region {
        let scalar = Aval::scalar(dtype);
        self.region(&[scalar, scalar], |ctx, args| {
            vec![(ctx.binary(op, args, scalar), scalar)]
        })
    }
}
