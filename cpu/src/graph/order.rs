//! The order of nodes.

use super::{Graph, Use};
use crate::TensorType;

/// Levels of operands of operands whose memory is compared.
const LEVELS: usize = 16;
/// A node moves if the memory that its operands then take is at most this part of its result's.
const PART: usize = 4;

/// A graph whose nodes are placed from the last to the first.
struct Order<'a> {
    graph: &'a Graph,
    /// The nodes that compute values which only one node uses, and whose other results nothing uses.
    producers: Vec<Option<usize>>,
    /// Whether a value is used by a placed node, or as long as the graph runs.
    alive: Vec<bool>,
    placed: Vec<bool>,
    /// The placed nodes, the last one first.
    order: Vec<usize>,
}

impl Graph {
    /// Moves nodes whose results one node uses to just before that node, where this needs less memory: an
    /// optimizer's updates of all parameters, for example, are computed one by one. `kept` are the parameters
    /// whose memory a run does not free.
    pub fn order(&mut self, kept: impl Fn(usize) -> bool) {
        let mut order = Order::new(self, kept);
        for last in (0..self.nodes.len()).rev() {
            order.place(last);
        }
        let order = order.order;
        let mut nodes: Vec<_> = std::mem::take(&mut self.nodes)
            .into_iter()
            .map(Some)
            .collect();
        self.nodes = order
            .iter()
            .rev()
            .filter_map(|i| nodes[*i].take())
            .collect();
    }
}

impl<'a> Order<'a> {
    fn new(graph: &'a Graph, kept: impl Fn(usize) -> bool) -> Order<'a> {
        let mut alive = vec![false; graph.types.len()];
        (0..graph.parameters).for_each(|p| alive[p] = kept(p));
        graph
            .results
            .iter()
            .for_each(|u| alive[u.slot as usize] = true);
        // The nodes that use each value: none, one or several.
        let mut users: Vec<Option<usize>> = vec![None; graph.types.len()];
        let mut several = alive.clone();
        for (i, node) in graph.nodes.iter().enumerate() {
            for operand in &node.operands {
                let before = users[operand.slot as usize].replace(i);
                several[operand.slot as usize] |= before.is_some_and(|user| user != i);
            }
        }
        let mut producers = vec![None; graph.types.len()];
        for (i, node) in graph.nodes.iter().enumerate() {
            if let ([Some(result)], false) = (&node.results[..], node.operation.has_effects()) {
                producers[*result as usize] = Some(i).filter(|_| !several[*result as usize]);
            }
        }
        Order {
            graph,
            producers,
            alive,
            placed: vec![false; graph.nodes.len()],
            order: Vec::with_capacity(graph.nodes.len()),
        }
    }

    /// Places a node before those that are placed, and before it the producers of its operands that move.
    fn place(&mut self, node: usize) {
        let mut next = vec![node];
        while let Some(node) = next.pop() {
            if std::mem::replace(&mut self.placed[node], true) {
                continue;
            }
            self.order.push(node);
            let operands = &self.graph.nodes[node].operands;
            let first = next.len();
            for operand in operands {
                let bytes = bytes(&self.graph.types[operand.slot as usize]);
                let producer = self.producers[operand.slot as usize];
                let moves = |p: &usize| PART * self.extended(*p, LEVELS) <= bytes;
                next.extend(producer.filter(moves));
            }
            operands
                .iter()
                .for_each(|u| self.alive[u.slot as usize] = true);
            next[first..].sort_unstable();
        }
    }

    /// Returns the bytes that live longer if a node moves to the node that is placed next.
    fn extended(&self, node: usize, levels: usize) -> usize {
        let operand = |u: &Use| {
            let slot = u.slot as usize;
            if self.alive[slot] {
                return 0;
            }
            let own = bytes(&self.graph.types[slot]);
            match self.producers[slot] {
                Some(producer) if levels > 0 => own.min(self.extended(producer, levels - 1)),
                _ => own,
            }
        };
        let operands = self.graph.nodes[node].operands.iter().map(operand);
        operands.fold(0, usize::saturating_add)
    }
}

/// Returns the number of bytes of an array.
fn bytes(ty: &TensorType) -> usize {
    ty.byte_size().unwrap_or(usize::MAX / PART)
}
