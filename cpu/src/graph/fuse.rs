//! Operations that run together, so that values between them stay in the caches.

use super::clusters::Clusters;
use super::{Graph, stages};
use smallvec::SmallVec;

impl Graph {
    /// Returns whether all values are scalars.
    pub fn is_scalar(&self) -> bool {
        self.types.iter().all(|ty| ty.shape.is_empty())
    }

    /// Makes operations on arrays of the same rows one operation, if they are connected or small, and constants
    /// parts of those that use them.
    pub fn fuse(&mut self) {
        let mut clusters = Clusters::of(self);
        clusters.merge_small();
        let units: Vec<usize> = (0..self.nodes.len()).map(|i| clusters.find(i)).collect();
        let mut members: Vec<SmallVec<[usize; 4]>> = vec![SmallVec::new(); units.len()];
        for (node, unit) in units.iter().enumerate() {
            members[*unit].push(node);
        }
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for unit in self.order_of(&units, &members) {
            let members = &members[unit];
            let is_fused = match clusters.operations(unit) {
                0 => false,
                1 => members.iter().any(|i| clusters.takes_constants(*i)),
                _ => true,
            };
            if is_fused {
                let rows = clusters.rows(unit);
                stages::fuse(self, &clusters, members, rows, &mut nodes);
            } else {
                nodes.extend(members.iter().map(|i| self.nodes[*i].clone()));
            }
        }
        self.nodes = nodes;
    }

    /// Returns the clusters in an order in which each comes after those whose results it uses.
    fn order_of(&self, units: &[usize], members: &[SmallVec<[usize; 4]>]) -> Vec<usize> {
        let mut producers: Vec<Option<usize>> = vec![None; self.types.len()];
        // Nodes with effects keep their order.
        let (mut before, mut effect) = (vec![None; units.len()], None);
        for (i, node) in self.nodes.iter().enumerate() {
            for slot in node.results.iter().flatten() {
                producers[*slot as usize] = Some(units[i]);
            }
            if node.operation.has_effects() {
                before[i] = effect.replace(units[i]);
            }
        }
        let (mut order, mut opened) = (Vec::new(), vec![false; units.len()]);
        let mut done = vec![false; units.len()];
        for (node, unit) in units.iter().enumerate() {
            if members[*unit].last() != Some(&node) {
                continue;
            }
            let mut stack = vec![*unit];
            while let Some(&top) = stack.last() {
                if std::mem::replace(&mut opened[top], true) {
                    stack.pop();
                    if !std::mem::replace(&mut done[top], true) {
                        order.push(top);
                    }
                    continue;
                }
                for member in &members[top] {
                    let operands = &self.nodes[*member].operands;
                    let needed = operands.iter().filter_map(|u| producers[u.slot as usize]);
                    stack.extend(needed.chain(before[*member]).filter(|unit| !opened[*unit]));
                }
            }
        }
        order
    }
}
