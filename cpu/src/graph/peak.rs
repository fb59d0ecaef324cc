//! The memory that a run of a graph needs.

use super::{Graph, Node};
use crate::TensorType;

/// Returns the number of bytes of an array.
fn bytes(ty: &TensorType) -> usize {
    ty.byte_size().unwrap_or(0)
}

impl Graph {
    /// Returns an upper bound of the bytes that are in use at a time, without the parameters. Devices that
    /// run a graph in step have parts of arrays, so that they together need as much as one.
    pub fn peak(&self) -> usize {
        let (mut alive, mut most) = (0, 0);
        let mut owned = vec![0; self.types.len()];
        for node in &self.nodes {
            let inside = node.operation.graphs().iter().map(|g| g.peak()).max();
            for slot in node.results.iter().flatten() {
                if node.operation.allocates() {
                    owned[*slot as usize] = bytes(&self.types[*slot as usize]);
                    alive += owned[*slot as usize];
                }
            }
            most = most.max(alive + inside.unwrap_or(0));
            alive -= self.freed(node, &mut owned);
        }
        most
    }

    /// Returns the bytes that are free after a node. A view takes over the memory of its operand.
    fn freed(&self, node: &Node, owned: &mut [usize]) -> usize {
        let mut freed = 0;
        for operand in node.operands.iter().filter(|u| u.last) {
            let bytes = std::mem::take(&mut owned[operand.slot as usize]);
            match node.results[..] {
                [Some(view)] if !node.operation.allocates() => owned[view as usize] += bytes,
                _ => freed += bytes,
            }
        }
        freed
    }
}
