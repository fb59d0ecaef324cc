//! Operations that become parts of others.

use super::{Graph, Operation, Use};
use smallvec::SmallVec;
use std::sync::Arc;

/// An operation that computes two nodes, with its operands.
pub type Combined = (Arc<dyn Operation>, SmallVec<[Use; 4]>);

impl Graph {
    /// Makes operations parts of the only operations that use their results, where those take them. The
    /// absorbed operations stay in the graph without uses.
    pub fn absorb(&mut self) {
        self.combine(Graph::absorbed);
    }

    /// Gives nodes the operations that `find` returns for their numbers, from the nodes that compute each value so
    /// far and the number of uses of each value.
    pub fn combine(
        &mut self,
        find: fn(&Graph, usize, &[Option<usize>], &[usize]) -> Option<Combined>,
    ) {
        let mut uses = vec![0usize; self.types.len()];
        let operands = self.nodes.iter().flat_map(|node| &node.operands);
        for used in operands.chain(&self.results) {
            uses[used.slot as usize] += 1;
        }
        let mut producers: Vec<Option<usize>> = vec![None; self.types.len()];
        for i in 0..self.nodes.len() {
            let combined = find(self, i, &producers, &uses);
            let node = &mut self.nodes[i];
            if let Some(combined) = combined {
                (node.operation, node.operands) = combined;
            }
            for slot in node.results.iter().flatten() {
                producers[*slot as usize] = Some(i);
            }
        }
    }

    fn absorbed(&self, i: usize, producers: &[Option<usize>], uses: &[usize]) -> Option<Combined> {
        let node = &self.nodes[i];
        let producer = |u: &Use| producers[u.slot as usize].map(|p| &self.nodes[p]);
        let behind = |u: &Use| {
            let mut found = producer(u)?;
            while !found.operation.allocates() {
                found = producer(found.operands.first()?)?;
            }
            Some(&*found.operation)
        };
        let all: SmallVec<[Option<&dyn Operation>; 4]> = node.operands.iter().map(behind).collect();
        node.operands.iter().enumerate().find_map(|(index, u)| {
            let single = uses[u.slot as usize] == 1;
            let producer = producer(u).filter(|p| single && p.operation.allocates())?;
            let operation = node.operation.absorb(&all, index)?;
            let mut operands = node.operands.clone();
            operands.remove(index);
            operands.insert_many(index, producer.operands.iter().copied());
            Some((operation, operands))
        })
    }
}
