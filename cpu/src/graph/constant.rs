//! Constants, and operations on constants only.

use super::{Graph, Node, Operands, Operation};
use crate::Result;
use crate::memory::{Context, Layout, Strides, Tensor, Tensors};
use smallvec::{SmallVec, smallvec};
use std::any::Any;
use std::sync::Arc;

/// Elements up to which an array of different elements is computed at compile time.
const ELEMENTS: usize = 1024;

/// A constant.
#[derive(Clone, Debug)]
pub struct Constant(pub Tensor);

impl Operation for Constant {
    fn run(&self, _: &Context, _: Operands) -> Result<Tensors> {
        Ok(smallvec![self.0.clone()])
    }

    fn allocates(&self) -> bool {
        false
    }
}

impl Node {
    /// Returns the value of a constant.
    pub fn constant(&self) -> Option<&Tensor> {
        let operation: &dyn Any = &*self.operation;
        operation.downcast_ref::<Constant>().map(|c| &c.0)
    }
}

impl Graph {
    /// Returns the constants of a graph by slot.
    pub fn constants(&self) -> Vec<Option<Tensor>> {
        let mut constants = vec![None; self.types.len()];
        for node in &self.nodes {
            if let (Some(value), [Some(slot)]) = (node.constant(), &node.results[..]) {
                constants[*slot as usize] = Some(value.clone());
            }
        }
        constants
    }

    /// Computes operations whose operands are constants, if the results need little memory.
    pub fn fold(&mut self) {
        let mut constants = self.constants();
        for i in 0..self.nodes.len() {
            let Some((slot, value)) = self.folded(&self.nodes[i], &constants) else {
                continue;
            };
            constants[slot] = Some(value.clone());
            self.nodes[i].operation = Arc::new(Constant(value));
            self.nodes[i].operands.clear();
        }
    }

    /// Returns the value of a node without effects, if it can be computed now.
    fn folded(&self, node: &Node, constants: &[Option<Tensor>]) -> Option<(usize, Tensor)> {
        let [Some(slot)] = node.results[..] else {
            return None;
        };
        let operands = node
            .operands
            .iter()
            .map(|u| constants[u.slot as usize].clone());
        let operands: Operands = operands.collect::<Option<_>>()?;
        if operands.is_empty() || node.operation.has_effects() {
            return None;
        }
        let ty = &self.types[slot as usize];
        let (context, scalars) = (Context { threads: 1 }, scalars(&operands));
        if let (Some(group), Some(scalars)) = (node.operation.group(), &scalars) {
            let scalar = node.operation.with_group(group.clone(), &[]);
            let value = scalar.run(&context, scalars.clone()).ok()?.pop()?;
            let layout = Layout::new(ty.clone(), Strides::from_elem(0, ty.shape.len()));
            return Some((slot as usize, value.with_layout(layout, 0)));
        }
        let is_small = ty.size().is_some_and(|n| n <= ELEMENTS);
        let is_cheap = node.operation.group().is_some() || !node.operation.allocates();
        if !is_cheap || !(is_small || scalars.is_some()) {
            return None;
        }
        let mut values = node.operation.run(&context, operands).ok()?;
        Some((slot as usize, values.pop()?))
    }
}

/// Returns the only element of each tensor, if the elements of each are all the same.
fn scalars(tensors: &[Tensor]) -> Option<Operands> {
    let scalar = |t: &Tensor| {
        t.repeated()?;
        Some(t.view(SmallVec::new(), Strides::new(), t.offset))
    };
    tensors.iter().map(scalar).collect()
}
