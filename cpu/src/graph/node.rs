//! Graphs, their nodes and how they run.

use crate::memory::{Context, Tensor, Tensors};
use crate::{Result, TensorType};
use smallvec::SmallVec;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// The operands of an operation. An operand without other uses owns its memory.
pub type Operands = SmallVec<[Tensor; 4]>;

/// An operation with its attributes, for operands of known types.
pub trait Operation: Any + Debug + Send + Sync {
    /// Computes the results: the operands of the text, then the values that regions capture.
    ///
    /// # Errors
    /// Returns [`crate::Error::Memory`] if a result does not fit into memory.
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors>;

    /// Returns whether the results have memory of their own.
    fn allocates(&self) -> bool {
        true
    }

    /// Returns an operation that computes this one and the operation of an operand, whose operands take the
    /// place of that operand. The operations of all operands are given where they are known, without those
    /// that only rearrange elements.
    fn absorb(
        &self,
        producers: &[Option<&dyn Operation>],
        index: usize,
    ) -> Option<Arc<dyn Operation>> {
        let _ = (producers, index);
        None
    }
}

/// A use of a value, with its slot.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// Number of the value in its graph.
    pub slot: u32,
    /// Whether the value is free afterwards.
    pub last: bool,
}

impl Use {
    /// Returns a use whose lifetime is not known yet.
    pub fn of(slot: u32) -> Use {
        Use { slot, last: false }
    }
}

/// An operation applied to values of a graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// The operation.
    pub operation: Arc<dyn Operation>,
    /// The operands.
    pub operands: SmallVec<[Use; 4]>,
    /// The slots of the results. `None` for results that nothing uses.
    pub results: SmallVec<[Option<u32>; 1]>,
    /// Line of the text, counted from 1.
    pub line: usize,
}

/// A list of nodes in the order of execution.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Number of parameters, which have the first slots.
    pub parameters: usize,
    /// The types of all values by slot.
    pub types: Vec<TensorType>,
    /// The nodes. Each uses parameters and results of earlier nodes.
    pub nodes: Vec<Node>,
    /// The results.
    pub results: Vec<Use>,
    /// Largest depth of graphs within this one, which bounds the stack of a run.
    pub height: usize,
}

impl Graph {
    /// Removes nodes without effect on the results and marks the last use of each value.
    pub fn finish(&mut self) {
        let mut used = vec![false; self.types.len()];
        for result in self.results.iter_mut().rev() {
            let seen = std::mem::replace(&mut used[result.slot as usize], true);
            result.last = !seen;
        }
        let mut kept = Vec::with_capacity(self.nodes.len());
        for mut node in std::mem::take(&mut self.nodes).into_iter().rev() {
            for result in &mut node.results {
                *result = result.filter(|r| used[*r as usize]);
            }
            if node.results.iter().all(Option::is_none) {
                continue;
            }
            for operand in node.operands.iter_mut().rev() {
                let seen = std::mem::replace(&mut used[operand.slot as usize], true);
                operand.last = !seen;
            }
            kept.push(node);
        }
        kept.reverse();
        self.nodes = kept;
    }

    /// Runs the graph.
    ///
    /// # Errors
    /// Returns [`crate::Error::Memory`] if a value does not fit into memory.
    pub fn run(
        &self,
        context: &Context,
        arguments: impl IntoIterator<Item = Tensor>,
    ) -> Result<Tensors> {
        let mut values: Vec<Option<Tensor>> = Vec::with_capacity(self.types.len());
        values.extend(arguments.into_iter().map(Some));
        debug_assert_eq!(values.len(), self.parameters);
        values.resize_with(self.types.len(), || None);
        let take = |values: &mut Vec<Option<Tensor>>, operand: &Use| {
            let value = &mut values[operand.slot as usize];
            let tensor = if operand.last {
                value.take()
            } else {
                value.clone()
            };
            tensor.expect("an operand is computed before its use")
        };
        for node in &self.nodes {
            let operands: Operands = node.operands.iter().map(|u| take(&mut values, u)).collect();
            let results = node.operation.run(context, operands)?;
            debug_assert_eq!(results.len(), node.results.len());
            for (slot, tensor) in node.results.iter().zip(results) {
                let Some(slot) = slot else { continue };
                debug_assert_eq!(
                    tensor.ty, self.types[*slot as usize],
                    "{:?}",
                    node.operation
                );
                values[*slot as usize] = Some(tensor);
            }
        }
        Ok(self.results.iter().map(|u| take(&mut values, u)).collect())
    }
}
