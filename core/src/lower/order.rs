//! The order of effects.
//!
//! XLA runs what does not depend on each other in any order. Operations with
//! ordered effects therefore pass a state along: each takes that of the one
//! before and gives a new one. It is a truth value that nobody reads. A block
//! with such an operation takes the state and returns it: functions as one
//! argument and one result more, loops as one carried value more, branches as
//! one result more. A whole program takes the state that the program before it
//! returned; see `runtime/ordered.rs`.

use super::region::Ordered;
use super::{Lowering, Region, Value};
use crate::{Aval, DType};

/// Where ordered effects stand in one block.
#[derive(Default)]
pub(super) struct Order {
    /// The state after the last effect of this block.
    current: Option<Value>,
    /// The state that the block is entered with, as one of its arguments.
    pub entry: Option<Value>,
    /// Whether the block can name values from outside.
    sees_outside: bool,
}

impl Order {
    /// The order in a block without arguments.
    pub fn sees_outside() -> Order {
        Order {
            sees_outside: true,
            ..Order::default()
        }
    }

    /// The state that the block leaves, if it has ordered effects.
    pub fn after(&self) -> Option<Value> {
        self.current
    }
}

/// The type of the state.
pub(crate) fn aval() -> Aval {
    Aval::scalar(DType::Bool)
}

impl Lowering<'_> {
    /// The state that an operation with an ordered effect takes, a 0-d truth
    /// value.
    pub fn order(&mut self) -> Value {
        self.order_at(self.order.len() - 1)
    }

    fn order_at(&mut self, level: usize) -> Value {
        if let Some(value) = self.order[level].current {
            return value;
        }
        let value = if self.order[level].sees_outside {
            self.order_at(level - 1)
        } else {
            let entry = self.fresh();
            self.order[level].entry = Some(entry);
            entry
        };
        self.order[level].current = Some(value);
        value
    }

    /// Says which state an operation with an ordered effect leaves.
    pub fn set_order(&mut self, after: Value) {
        if let Some(order) = self.order.last_mut() {
            order.current = Some(after);
        }
    }

    /// An operation some region of which has ordered effects.
    pub(super) fn ordered_op(
        &mut self,
        name: &str,
        args: &[Value],
        ins: &[Aval],
        outs: &[Aval],
        attributes: &str,
        regions: &[Region],
    ) -> Vec<Value> {
        let before = self.order();
        let is_loop = name == "while";
        let (mut args, mut ins, mut outs) = (args.to_vec(), ins.to_vec(), outs.to_vec());
        if is_loop {
            args.push(before);
            ins.push(aval());
        }
        outs.push(aval());
        let texts: Vec<String> = regions
            .iter()
            .enumerate()
            .map(|(i, region)| {
                // The condition of a loop returns its verdict only; it runs
                // before the body by itself.
                let returns = !(is_loop && i == 0);
                region.text(self.indent, Some(Ordered { before, returns }))
            })
            .collect();
        let mut results = self.generic(name, &args, &ins, &outs, attributes, &texts);
        if let Some(after) = results.pop() {
            self.set_order(after);
        }
        results
    }
}
