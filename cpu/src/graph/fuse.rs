//! Elementwise operations that run together, so that values between them stay in the first-level cache.

use super::{Graph, Node, Use};
use crate::kernels::{Bytes, Group, TILE};
use crate::memory::Tensor;
use crate::{Dims, ElementType};
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
    /// Returns whether all values are scalars.
    pub fn is_scalar(&self) -> bool {
        self.types.iter().all(|ty| ty.shape.is_empty())
    }

    /// Makes elementwise operations on arrays of one shape one operation, if they are connected or small, and
    /// constants parts of those that use them.
    pub fn fuse(&mut self) {
        let mut clusters = Clusters::of(self);
        clusters.merge_small(self);
        let constants = self.constants();
        let units: Vec<usize> = (0..self.nodes.len()).map(|i| clusters.find(i)).collect();
        let mut members: Vec<SmallVec<[usize; 4]>> = vec![SmallVec::new(); units.len()];
        for (node, unit) in units.iter().enumerate() {
            members[*unit].push(node);
        }
        let nodes = self.order_of(&units, &members).into_iter().map(|unit| {
            let members = &members[unit];
            if let [single] = members[..]
                && !self.takes_constants(&self.nodes[single], &constants)
            {
                return self.nodes[single].clone();
            }
            self.fused(members, &clusters.users, &constants)
        });
        self.nodes = nodes.collect();
    }

    /// Returns the shape of a node's results.
    fn shape(&self, node: &Node) -> Option<&Dims> {
        let slot = node.results.iter().flatten().next();
        slot.map(|s| &self.types[*s as usize].shape)
    }

    /// Returns whether constants can become parts of an operation.
    fn takes_constants(&self, node: &Node, constants: &[Option<Tensor>]) -> bool {
        let mut operands = node.operands.iter();
        node.operation.group().is_some()
            && operands.any(|u| element(&constants[u.slot as usize]).is_some())
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
    fn fused(
        &self,
        members: &[usize],
        users: &[SmallVec<[usize; 2]>],
        constants: &[Option<Tensor>],
    ) -> Node {
        let nodes = || members.iter().map(|i| &self.nodes[*i]);
        let inside: SmallVec<[u32; 8]> = nodes()
            .flat_map(|node| node.results.iter().flatten().copied())
            .collect();
        let mut inputs = Inputs::default();
        for node in nodes() {
            for used in node.operands.iter().filter(|u| !inside.contains(&u.slot)) {
                let ty = self.types[used.slot as usize].element;
                inputs.add(used.slot, ty, &constants[used.slot as usize]);
            }
            for (ty, bytes) in node
                .operation
                .group()
                .iter()
                .flat_map(|own| own.constants())
            {
                inputs.constant(ty, bytes);
            }
        }
        let mut group = Group::with_constants(&inputs.elements, &inputs.constants);
        let mut registers = inputs.registers();
        for node in nodes() {
            let Some(own) = node.operation.group() else {
                continue;
            };
            let operands = node.operands.iter().map(|u| registers[&u.slot]);
            let own_constants = own.constants();
            let first = inputs.operands.len();
            let constants =
                own_constants.map(|(ty, bytes)| (first + inputs.constant(ty, bytes)) as u32);
            let arguments: Vec<u32> = operands.chain(constants).collect();
            let results = group.inline(own, &arguments);
            for (slot, register) in node.results.iter().zip(results) {
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
            operands: inputs.operands,
            results: results.into_iter().map(Some).collect(),
            line: last.line,
        }
    }
}

/// Returns the element of a constant whose elements are all the same.
fn element(constant: &Option<Tensor>) -> Option<Bytes> {
    constant.as_ref()?.repeated().map(Bytes::from_slice)
}

/// The inputs of a fused operation: operands, then constants.
#[derive(Default)]
struct Inputs {
    operands: SmallVec<[Use; 4]>,
    elements: Vec<ElementType>,
    constants: Vec<(ElementType, Bytes)>,
    /// The number of each value among operands, or among constants.
    numbers: HashMap<u32, Result<usize, usize>>,
}

impl Inputs {
    /// Adds a value, if it is new.
    fn add(&mut self, slot: u32, ty: ElementType, constant: &Option<Tensor>) {
        if self.numbers.contains_key(&slot) {
            return;
        }
        let number = if let Some(bytes) = element(constant) {
            Err(self.constant(ty, &bytes))
        } else {
            self.operands.push(Use::of(slot));
            self.elements.push(ty);
            Ok(self.operands.len() - 1)
        };
        self.numbers.insert(slot, number);
    }

    /// Returns the number of a constant, which is added if it is new.
    fn constant(&mut self, ty: ElementType, bytes: &Bytes) -> usize {
        let known = self
            .constants
            .iter()
            .position(|(t, b)| *t == ty && b == bytes);
        known.unwrap_or_else(|| {
            self.constants.push((ty, bytes.clone()));
            self.constants.len() - 1
        })
    }

    /// Returns the number of each value in the group.
    fn registers(&self) -> HashMap<u32, u32> {
        let number =
            |n: &Result<usize, usize>| n.unwrap_or_else(|c| self.operands.len() + c) as u32;
        self.numbers
            .iter()
            .map(|(slot, n)| (*slot, number(n)))
            .collect()
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
            is_elementwise
                && user.operation.group().is_some()
                && graph.shape(node) == graph.shape(user)
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

    /// Joins clusters on small arrays of one shape and height, which have no paths between them: what a node
    /// costs beside its arithmetic is then most of its time.
    fn merge_small(&mut self, graph: &Graph) {
        let mut open: HashMap<(usize, &Dims), usize> = HashMap::new();
        for (i, node) in graph.nodes.iter().enumerate() {
            let small = |shape: &&Dims| shape.iter().product::<usize>() <= TILE;
            let Some(shape) = graph.shape(node).filter(small) else {
                continue;
            };
            if node.operation.group().is_none() || self.find(i) != i {
                continue;
            }
            let other = open.entry((self.heights[i], shape)).or_insert(i);
            if *other == i || self.sizes[*other] + self.sizes[i] > OPERATIONS {
                *other = i;
                continue;
            }
            self.sizes[*other] += self.sizes[i];
            self.parents[i] = *other;
        }
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
