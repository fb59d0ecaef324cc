//! Ordering of effects.
//!
//! XLA runs independent operations in any order. Operations with ordered effects therefore form a
//! chain: each takes the state returned by the previous one and returns a new one. The state is a
//! boolean that nothing reads. A block with such an operation takes the state and returns it:
//! functions as an additional argument and result, loops as an additional carried value, branches
//! as an additional result. A whole program takes the state that the previous program returned;
//! see `client/ordered.rs`.

use super::region::Ordered;
use super::{Lowering, Region, Value};
use crate::{Aval, DType};

/// The state of ordered effects in one block.
#[derive(Default)]
pub(super) struct Order {
    /// State after the block's last effect so far.
    current: Option<Value>,
    /// State at the start of the block, if it is a block argument.
    pub entry: Option<Value>,
    /// Whether the block can use values from outside.
    sees_outside: bool,
}

impl Order {
    /// Creates the order of a block without arguments.
    pub fn sees_outside() -> Order {
        Order {
            sees_outside: true,
            ..Order::default()
        }
    }

    /// Returns the state at the end of the block, if it has ordered effects.
    pub fn after(&self) -> Option<Value> {
        self.current
    }
}

/// Returns the type of the state.
pub(crate) fn aval() -> Aval {
    Aval::scalar(DType::Bool)
}

impl Lowering<'_> {
    /// Returns the state that an operation with an ordered effect takes, a 0-d boolean.
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
            let entry = self.fresh(aval());
            self.order[level].entry = Some(entry);
            entry
        };
        self.order[level].current = Some(value);
        value
    }

    /// Returns whether the innermost block has had an ordered effect.
    pub(super) fn has_ordered_effects(&self) -> bool {
        self.order
            .last()
            .is_some_and(|order| order.current.is_some())
    }

    /// Sets the state that an operation with an ordered effect returns.
    pub fn set_order(&mut self, after: Value) {
        if let Some(order) = self.order.last_mut() {
            order.current = Some(after);
        }
    }

    /// Emits an operation with at least one region that has ordered effects.
    pub(super) fn ordered_op(
        &mut self,
        name: &str,
        args: &[Value],
        outs: &[Aval],
        attributes: &str,
        regions: &[Region],
    ) -> Vec<Value> {
        let before = self.order();
        let is_loop = name == "while";
        let (mut args, mut outs) = (args.to_vec(), outs.to_vec());
        if is_loop {
            args.push(before);
        }
        outs.push(aval());
        let texts: Vec<String> = regions
            .iter()
            .enumerate()
            .map(|(i, region)| {
                // The condition of a loop returns only its boolean; its effects precede those of
                // the body.
                let returns = !(is_loop && i == 0);
                region.text(self.indent, Some(Ordered { before, returns }))
            })
            .collect();
        let mut results = self.generic(name, &args, &outs, attributes, &texts);
        if let Some(after) = results.pop() {
            self.set_order(after);
        }
        results
    }
}
