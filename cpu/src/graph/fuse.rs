//! Elementwise operations that run together, so that values between them stay in the first-level cache.

use super::{Graph, Node, Use};
use crate::kernels::Group;
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;

/// Operations of a cluster at most, so that the tiles of its operands and results stay in the caches.
const OPERATIONS: usize = 100;

/// The nodes of a graph in clusters. A cluster of several nodes becomes one node.
///
/// Each node has a height: edges to a node outside the cluster lead to a smaller height, so that no path
/// returns to a cluster, and edges inside keep it. Heights are the least possible, so that operations
/// join those that use their results, and are not computed long before them.
struct Clusters {
    /// The nodes that use each value.
    users: Vec<SmallVec<[usize; 2]>>,
    heights: Vec<usize>,
    /// Another node of the same cluster, or the node itself, which then represents the cluster.
    parents: Vec<usize>,
    /// Number of nodes of each cluster, by the node that represents it.
    sizes: Vec<usize>,
}

impl Graph {
    /// Makes connected elementwise operations on arrays of one shape one operation. Those on scalars only are
    /// left to the operations whose regions they are.
    pub fn fuse(&mut self) {
        if self.types.iter().all(|ty| ty.shape.is_empty()) {
            return;
        }
        let mut clusters = Clusters::of(self);
        let units: Vec<usize> = (0..self.nodes.len()).map(|i| clusters.find(i)).collect();
        let mut members: Vec<SmallVec<[usize; 4]>> = vec![SmallVec::new(); units.len()];
        for (node, unit) in units.iter().enumerate() {
            members[*unit].push(node);
        }
        let nodes = self.order_of(&units, &members).into_iter().map(|unit| {
            let members = &members[unit];
            match members[..] {
                [single] => self.nodes[single].clone(),
                _ => self.fused(members, &clusters.users),
            }
        });
        self.nodes = nodes.collect();
    }

    /// Returns whether two values have one shape.
    fn same_shape(&self, a: &Node, b: &Node) -> bool {
        let shape = |node: &Node| {
            let slot = node.results.iter().flatten().next();
            slot.map(|s| &self.types[*s as usize].shape)
        };
        shape(a) == shape(b)
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

    /// Returns one node for several.
    fn fused(&self, members: &[usize], users: &[SmallVec<[usize; 2]>]) -> Node {
        let mut registers: HashMap<u32, u32> = HashMap::new();
        let (mut operands, mut inputs) = (SmallVec::new(), Vec::new());
        let inside: SmallVec<[u32; 8]> = members
            .iter()
            .flat_map(|i| self.nodes[*i].results.iter().flatten().copied())
            .collect();
        for used in members.iter().flat_map(|i| &self.nodes[*i].operands) {
            if !inside.contains(&used.slot) && !registers.contains_key(&used.slot) {
                registers.insert(used.slot, inputs.len() as u32);
                inputs.push(self.types[used.slot as usize].element);
                operands.push(Use::of(used.slot));
            }
        }
        let mut group = Group::new(&inputs);
        for node in members.iter().map(|i| &self.nodes[*i]) {
            let arguments: Vec<u32> = node.operands.iter().map(|u| registers[&u.slot]).collect();
            let own = node
                .operation
                .group()
                .map(|own| group.inline(own, &arguments));
            for (slot, register) in node.results.iter().zip(own.unwrap_or_default()) {
                registers.extend(slot.map(|slot| (slot, register)));
            }
        }
        let is_used = |slot: &&u32| {
            users[**slot as usize].iter().any(|u| !members.contains(u))
                || self.results.iter().any(|u| u.slot == **slot)
        };
        let results: SmallVec<[u32; 4]> = inside.iter().filter(is_used).copied().collect();
        let outputs: Vec<u32> = results.iter().map(|slot| registers[slot]).collect();
        group.finish(&outputs);
        let last = &self.nodes[members[members.len() - 1]];
        let shape = &self.types[results[0] as usize].shape;
        Node {
            operation: last.operation.with_group(group, shape),
            operands,
            results: results.into_iter().map(Some).collect(),
            line: last.line,
        }
    }
}

impl Clusters {
    fn of(graph: &Graph) -> Clusters {
        let mut clusters = Clusters {
            users: vec![SmallVec::new(); graph.types.len()],
            heights: vec![0; graph.nodes.len()],
            parents: (0..graph.nodes.len()).collect(),
            sizes: vec![1; graph.nodes.len()],
        };
        let mut effects = 0;
        for (i, node) in graph.nodes.iter().enumerate().rev() {
            clusters.place(graph, i, node, &mut effects);
            for operand in &node.operands {
                let users = &mut clusters.users[operand.slot as usize];
                if users.last() != Some(&i) {
                    users.push(i);
                }
            }
        }
        clusters
    }

    /// Chooses the height of a node, whose users have theirs, and joins their clusters.
    fn place(&mut self, graph: &Graph, i: usize, node: &Node, effects: &mut usize) {
        let is_elementwise = node.operation.group().is_some();
        let users = node.results.iter().flatten();
        let users: SmallVec<[usize; 4]> = users
            .flat_map(|slot| self.users[*slot as usize].iter().copied())
            .collect();
        let joins = |user: &usize| {
            let user = &graph.nodes[*user];
            is_elementwise && user.operation.group().is_some() && graph.same_shape(node, user)
        };
        let height = |user: &usize| self.heights[*user] + usize::from(!joins(user));
        let mut height = users.iter().map(height).max().unwrap_or(0);
        if node.operation.has_effects() {
            height = height.max(*effects);
            *effects = height;
        }
        let mut joined: SmallVec<[usize; 4]> = smallvec![];
        for user in users.iter().filter(|u| joins(u)) {
            if self.heights[*user] < height {
                continue;
            }
            let cluster = self.find(*user);
            if !joined.contains(&cluster) {
                joined.push(cluster);
            }
        }
        let size = 1 + joined.iter().map(|c| self.sizes[*c]).sum::<usize>();
        self.heights[i] = height;
        if size > OPERATIONS {
            self.heights[i] += 1;
            return;
        }
        self.sizes[i] = size;
        joined.into_iter().for_each(|c| self.parents[c] = i);
    }

    /// Returns the node that represents the cluster of a node.
    fn find(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }
}
