//! Graphs, their nodes and how they run.

use super::{Devices, KnownOperand, Part, Simpler};
use crate::kernels::Group;
use crate::memory::{Context, Tensor, Tensors};
use crate::{Result, TensorType};
use smallvec::{Array, SmallVec};
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

    /// Returns whether to compute an element of the result takes about as long as to read and write one.
    fn is_cheap(&self) -> bool {
        false
    }

    /// Returns the order of axes in which this operation had better find an operand in memory, if that is not the
    /// order of the operand's shape.
    fn preferred_order(&self, operand: usize) -> Option<SmallVec<[usize; 6]>> {
        let _ = operand;
        None
    }

    /// Returns the order of the operand's axes in the result, if the operation is a transposition.
    fn transposition(&self) -> Option<&[usize]> {
        None
    }

    /// Returns this operation followed by a transposition, if it can write its result in that order: `shape` is the
    /// shape of the result, of which axes may be divided into several, and `order` are the transposed axes.
    fn arranged(&self, shape: &[usize], order: &[usize]) -> Option<Arc<dyn Operation>> {
        let _ = (shape, order);
        None
    }

    /// Returns the graphs that a run runs.
    fn graphs(&self) -> Vec<&Graph> {
        Vec::new()
    }

    /// Returns whether a run has effects beside its results.
    fn has_effects(&self) -> bool {
        self.graphs().iter().any(|graph| graph.has_effects)
    }

    /// Returns whether the results have memory of their own.
    fn allocates(&self) -> bool {
        true
    }

    /// Returns how this operation takes part in fusion.
    fn part(&self) -> Option<Part<'_>> {
        None
    }

    /// Returns the operations on single elements, if this operation computes only those.
    fn group(&self) -> Option<&Group> {
        match self.part() {
            Some(Part::Each(group)) => Some(group),
            _ => None,
        }
    }

    /// Returns an operation like this one, which has a group, for another group and shape.
    fn with_group(&self, group: Group, shape: &[usize]) -> Arc<dyn Operation> {
        unreachable!("no group, but {group:?} for {shape:?}")
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

    /// Returns a simpler way to compute the only result in the same bits.
    fn simpler(&self, operands: &[KnownOperand<'_>]) -> Option<Simpler> {
        let _ = operands;
        None
    }

    /// Computes the results of several devices, each with its operands.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Operation::run), and [`crate::Error::Failed`] if devices that exchange
    /// values do not all take part.
    fn run_on(&self, context: &Context, _: &Devices, all: Vec<Operands>) -> Result<Vec<Tensors>> {
        all.into_iter().map(|o| self.run(context, o)).collect()
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
    /// Whether an operation has effects beside its results.
    pub has_effects: bool,
}

impl Graph {
    /// Returns the number of elements of a value.
    pub fn size(&self, slot: u32) -> usize {
        self.types[slot as usize].shape.iter().product()
    }

    /// Returns the types of the results.
    pub fn result_types(&self) -> Vec<TensorType> {
        let ty = |u: &Use| self.types[u.slot as usize].clone();
        self.results.iter().map(ty).collect()
    }

    /// Removes nodes without results that are used and without effects, marks the last use of each value, and
    /// numbers the values that are left.
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
            let has_effects = node.operation.has_effects();
            if !has_effects && node.results.iter().all(Option::is_none) {
                continue;
            }
            self.has_effects |= has_effects;
            for operand in node.operands.iter_mut().rev() {
                let seen = std::mem::replace(&mut used[operand.slot as usize], true);
                operand.last = !seen;
            }
            kept.push(node);
        }
        kept.reverse();
        self.nodes = kept;
        self.renumber();
    }

    fn renumber(&mut self) {
        let mut numbers: Vec<u32> = (0..self.types.len() as u32).collect();
        let mut types = self.types[..self.parameters].to_vec();
        for node in &mut self.nodes {
            let operands = node.operands.iter_mut();
            operands.for_each(|u| u.slot = numbers[u.slot as usize]);
            for result in node.results.iter_mut().flatten() {
                numbers[*result as usize] = types.len() as u32;
                types.push(self.types[*result as usize].clone());
                *result = numbers[*result as usize];
            }
        }
        let results = self.results.iter_mut();
        results.for_each(|u| u.slot = numbers[u.slot as usize]);
        self.types = types;
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
        let mut values = Values::new(self, arguments);
        for node in &self.nodes {
            let operands = values.take(&node.operands);
            let results = node.operation.run(context, operands)?;
            values.store(self, node, results);
        }
        Ok(values.take(&self.results))
    }

    /// Runs the graph on several devices in step: each node on all of them before the next. So operations
    /// exchange values without threads that wait for each other.
    ///
    /// # Errors
    /// Returns the errors of [`Operation::run_on`].
    pub fn run_on<A: IntoIterator<Item = Tensor>>(
        &self,
        context: &Context,
        devices: &Devices,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Vec<Tensors>> {
        let start = arguments.into_iter().map(|a| Values::new(self, a));
        let mut all: Vec<Values> = start.collect();
        for node in &self.nodes {
            let operands = all.iter_mut().map(|v| v.take(&node.operands)).collect();
            let results = node.operation.run_on(context, devices, operands)?;
            for (values, results) in all.iter_mut().zip(results) {
                values.store(self, node, results);
            }
        }
        Ok(all.iter_mut().map(|v| v.take(&self.results)).collect())
    }
}

/// The values of a graph that runs, by slot.
struct Values(SmallVec<[Option<Tensor>; 16]>);

impl Values {
    fn new(graph: &Graph, arguments: impl IntoIterator<Item = Tensor>) -> Values {
        let mut values = SmallVec::with_capacity(graph.types.len());
        let arguments = arguments.into_iter();
        arguments.for_each(|tensor| values.push(Some(tensor)));
        debug_assert_eq!(values.len(), graph.parameters);
        values.resize_with(graph.types.len(), || None);
        Values(values)
    }

    /// Returns values, and gives up those without later uses.
    fn take<const N: usize>(&mut self, uses: &[Use]) -> SmallVec<[Tensor; N]>
    where
        [Tensor; N]: Array<Item = Tensor>,
    {
        // Collecting an iterator takes twice as long.
        let mut tensors = SmallVec::with_capacity(uses.len());
        let values = &mut self.0[..];
        for operand in uses {
            let value = &mut values[operand.slot as usize];
            let tensor = if operand.last {
                value.take()
            } else {
                value.clone()
            };
            tensors.push(tensor.expect("an operand is computed before its use"));
        }
        tensors
    }

    fn store(&mut self, graph: &Graph, node: &Node, mut results: Tensors) {
        debug_assert_eq!(results.len(), node.results.len());
        if let [Some(slot)] = node.results[..] {
            // Most nodes have one result, which takes no iterator.
            debug_assert_eq!(results[0].ty, graph.types[slot as usize]);
            self.0[slot as usize] = results.pop();
            return;
        }
        for (slot, tensor) in node.results.iter().zip(results) {
            let Some(slot) = slot else { continue };
            let ty = &graph.types[*slot as usize];
            debug_assert_eq!(tensor.ty, *ty, "{:?}", node.operation);
            self.0[*slot as usize] = Some(tensor);
        }
    }
}
