//! Operations that write their results in the order in which others read them.

use super::absorb::Combined;
use super::{Graph, Node, Part};

impl Graph {
    /// Makes transpositions parts of the operations whose results they alone use, where those take them: nothing is
    /// copied then. The operations without the transpositions stay in the graph without uses.
    pub fn arrange(&mut self) {
        self.combine(Graph::arranged);
    }

    /// Returns a transposition and the operation whose result it alone uses as one operation.
    fn arranged(&self, i: usize, producers: &[Option<usize>], uses: &[usize]) -> Option<Combined> {
        let order = self.nodes[i].operation.transposition()?;
        let mut slot = self.nodes[i].operands[0].slot;
        let shape = &self.types[slot as usize].shape;
        loop {
            let producer = producers[slot as usize].filter(|_| uses[slot as usize] == 1)?;
            let node: &Node = &self.nodes[producer];
            if node.operation.allocates() {
                let operation = node.operation.arranged(shape, order)?;
                return Some((operation, node.operands.clone()));
            }
            // The same elements in another shape.
            slot = match node.operation.part() {
                Some(Part::Same) => node.operands[0].slot,
                _ => return None,
            };
        }
    }
}
