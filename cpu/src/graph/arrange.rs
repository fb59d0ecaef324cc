//! Operations that write their results in the order in which others read them.

use super::{Graph, Node, Operation, Part};
use std::sync::Arc;

impl Graph {
    /// Makes transpositions parts of the operations whose results they alone use, where those take them: nothing is
    /// copied then. The operations without the transpositions stay in the graph without uses.
    pub fn arrange(&mut self) {
        let mut uses = vec![0usize; self.types.len()];
        let operands = self.nodes.iter().flat_map(|node| &node.operands);
        for used in operands.chain(&self.results) {
            uses[used.slot as usize] += 1;
        }
        let mut producers: Vec<Option<usize>> = vec![None; self.types.len()];
        for i in 0..self.nodes.len() {
            if let Some((producer, operation)) = self.arranged(i, &producers, &uses) {
                let operands = self.nodes[producer].operands.clone();
                let node = &mut self.nodes[i];
                (node.operation, node.operands) = (operation, operands);
            }
            for slot in self.nodes[i].results.iter().flatten() {
                producers[*slot as usize] = Some(i);
            }
        }
    }

    /// Returns the node whose result a transposition alone uses, and both as one operation.
    fn arranged(
        &self,
        i: usize,
        producers: &[Option<usize>],
        uses: &[usize],
    ) -> Option<(usize, Arc<dyn Operation>)> {
        let order = self.nodes[i].operation.transposition()?;
        let mut slot = self.nodes[i].operands[0].slot;
        let shape = &self.types[slot as usize].shape;
        loop {
            let producer = producers[slot as usize].filter(|_| uses[slot as usize] == 1)?;
            let node: &Node = &self.nodes[producer];
            if node.operation.allocates() {
                return Some((producer, node.operation.arranged(shape, order)?));
            }
            // The same elements in another shape.
            slot = match node.operation.part() {
                Some(Part::Same) => node.operands[0].slot,
                _ => return None,
            };
        }
    }
}
