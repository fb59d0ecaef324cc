//! Operations that are not needed: those whose results other values equal in all bits.

use super::{Graph, Operation};
use crate::TensorType;
use crate::memory::Tensor;
use foldhash::{HashMap, HashMapExt};
use smallvec::SmallVec;
use std::sync::Arc;

/// Elements of the largest results that are computed once instead of twice. A program may compute larger arrays
/// twice to save memory.
const ELEMENTS: usize = 1 << 14;

/// An operand as it is known when a program is compiled.
#[derive(Clone, Copy, Debug)]
pub struct KnownOperand<'a> {
    /// The type.
    pub ty: &'a TensorType,
    /// The value, if it is a constant.
    pub constant: Option<&'a Tensor>,
    /// The operation that computes it.
    pub producer: Option<&'a dyn Operation>,
}

/// A simpler way to compute the only result of an operation.
#[derive(Debug)]
pub enum Simpler {
    /// The result is the operand with this number.
    Operand(usize),
    /// The result is the first operand of the first operand's producer.
    Inner,
    /// The result is another operation's, applied to the first operand of the first operand's producer.
    Applied(Arc<dyn Operation>),
}

impl Graph {
    /// Replaces values by those that they equal in all bits. The operations stay in the graph without uses.
    pub fn simplify(&mut self) {
        let constants = self.constants();
        let mut producers: Vec<Option<usize>> = vec![None; self.types.len()];
        self.replace(|graph, i, result| {
            producers[result as usize] = Some(i);
            loop {
                let (simpler, inner) = graph.simpler(i, &constants, &producers)?;
                match simpler {
                    Simpler::Operand(number) => return Some(graph.nodes[i].operands[number].slot),
                    Simpler::Inner => return Some(inner),
                    Simpler::Applied(operation) => {
                        graph.nodes[i].operation = operation;
                        graph.nodes[i].operands[0].slot = inner;
                    }
                }
            }
        });
    }

    /// Lets a function choose a value that takes the place of a node's only result, node by node.
    fn replace(&mut self, mut choose: impl FnMut(&mut Graph, usize, u32) -> Option<u32>) {
        let mut values: Vec<u32> = (0..self.types.len() as u32).collect();
        for i in 0..self.nodes.len() {
            for u in &mut self.nodes[i].operands {
                u.slot = values[u.slot as usize];
            }
            if let [Some(result)] = self.nodes[i].results[..]
                && let Some(value) = choose(self, i, result)
            {
                values[result as usize] = value;
            }
        }
        for u in &mut self.results {
            u.slot = values[u.slot as usize];
        }
    }

    /// Returns a simpler way to compute a node, and the first operand of its first operand's producer.
    fn simpler(
        &self,
        i: usize,
        constants: &[Option<Tensor>],
        producers: &[Option<usize>],
    ) -> Option<(Simpler, u32)> {
        let node = &self.nodes[i];
        let producer = |slot: u32| producers[slot as usize].map(|p| &self.nodes[p]);
        let known = node.operands.iter().map(|u| KnownOperand {
            ty: &self.types[u.slot as usize],
            constant: constants[u.slot as usize].as_ref(),
            producer: producer(u.slot).map(|node| &*node.operation),
        });
        let known: SmallVec<[KnownOperand<'_>; 4]> = known.collect();
        let inner = producer(node.operands.first()?.slot).and_then(|node| node.operands.first());
        let simpler = node.operation.simpler(&known)?;
        Some((simpler, inner.map_or(0, |u| u.slot)))
    }

    /// Computes the same elementwise operations of the same values once. The others stay in the graph without
    /// uses.
    pub fn merge(&mut self) {
        let mut known: HashMap<SmallVec<[u32; 4]>, SmallVec<[usize; 2]>> = HashMap::new();
        self.replace(|graph, i, _| {
            let operands = graph.nodes[i].operands.iter().map(|u| u.slot).collect();
            let earlier = known.entry(operands).or_default();
            let same = earlier.iter().find(|other| graph.equal(**other, i));
            let Some(same) = same else {
                earlier.push(i);
                return None;
            };
            graph.nodes[*same].results[0]
        });
    }

    /// Returns whether two nodes with the same operands have the same result.
    fn equal(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.nodes[a], &self.nodes[b]);
        let ty = |slot: &Option<u32>| slot.map(|slot| &self.types[slot as usize]);
        if a.results.len() != 1 || ty(&a.results[0]) != ty(&b.results[0]) {
            return false;
        }
        if let (Some(a), Some(b)) = (a.constant(), b.constant()) {
            return a.repeated().is_some() && a.repeated() == b.repeated();
        }
        let is_small = ty(&a.results[0])
            .and_then(TensorType::size)
            .is_some_and(|size| size <= ELEMENTS);
        match (a.operation.group(), b.operation.group()) {
            (Some(a), Some(b)) => is_small && a.is_same(b),
            _ => false,
        }
    }
}
