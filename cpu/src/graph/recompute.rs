//! Cheap values that are computed again where they are used, instead of stored.
//!
//! A derivative uses many values of the forward pass. A factor that follows by one multiplication from another value
//! that the derivative reads anyway takes less time to compute than to write and to read, and no memory.

use super::clusters::Clusters;
use super::{Graph, Node, Part};
use crate::kernels::TILE;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use smallvec::SmallVec;

/// Elements of the smallest arrays that are not stored.
const ELEMENTS: usize = 16 * TILE;
/// Operations one after another that are computed again at most.
const DEPTH: usize = 4;
/// Operations of a cluster up to which it may get more of them.
const OPERATIONS: usize = 60;

/// A node of the graph, or one of the copies.
#[derive(Clone, Copy)]
enum User {
    Node(usize),
    Copy(usize),
}

/// A copy of a node for a cluster.
struct Copied {
    node: Node,
    /// The value whose copy the result is.
    value: u32,
    /// The node of the graph before which it is computed.
    before: usize,
}

struct Recompute<'a> {
    graph: &'a Graph,
    clusters: Clusters<'a>,
    /// The cluster of each node.
    units: Vec<usize>,
    /// The users of each value with their clusters.
    users: Vec<SmallVec<[(usize, User); 2]>>,
    /// The values that each cluster uses or computes.
    known: HashSet<(usize, u32)>,
    /// Number of copies for each cluster.
    added: HashMap<usize, usize>,
    copies: Vec<Copied>,
    /// The values that take the place of operands of nodes.
    changes: HashMap<(usize, u32), u32>,
}

impl Graph {
    /// Lets clusters compute cheap values of other clusters again, if then none of them reads the stored ones.
    pub fn recompute(&mut self) {
        if (0..self.types.len() as u32).all(|slot| self.size(slot) < ELEMENTS) {
            return;
        }
        let mut all = Recompute::of(self);
        // Users come before their operands, so that the copies of a value count as users of its operands.
        for i in (0..self.nodes.len()).rev() {
            all.replace(i);
        }
        let Recompute {
            copies, changes, ..
        } = all;
        let mut copied: HashMap<usize, Vec<Node>> = HashMap::new();
        for copy in &copies {
            self.types.push(self.types[copy.value as usize].clone());
        }
        for copy in copies.into_iter().rev() {
            copied.entry(copy.before).or_default().push(copy.node);
        }
        let nodes = std::mem::take(&mut self.nodes);
        for (i, mut node) in nodes.into_iter().enumerate() {
            self.nodes.extend(copied.remove(&i).unwrap_or_default());
            for operand in &mut node.operands {
                let changed = changes.get(&(i, operand.slot));
                operand.slot = changed.copied().unwrap_or(operand.slot);
            }
            self.nodes.push(node);
        }
    }
}

impl<'a> Recompute<'a> {
    fn of(graph: &'a Graph) -> Recompute<'a> {
        let mut clusters = Clusters::of(graph);
        let units: Vec<usize> = (0..graph.nodes.len()).map(|i| clusters.find(i)).collect();
        let mut users = vec![SmallVec::new(); graph.types.len()];
        let mut known = HashSet::new();
        for (i, node) in graph.nodes.iter().enumerate() {
            let operands = node.operands.iter().map(|u| u.slot);
            for slot in operands.clone() {
                users[slot as usize].push((units[i], User::Node(i)));
            }
            let values = operands.chain(node.results.iter().flatten().copied());
            known.extend(values.map(|slot| (units[i], slot)));
        }
        Recompute {
            graph,
            clusters,
            units,
            users,
            known,
            added: HashMap::new(),
            copies: Vec::new(),
            changes: HashMap::new(),
        }
    }

    /// Returns the value of a node that is cheap to compute.
    fn cheap(&self, i: usize) -> Option<u32> {
        let node = &self.graph.nodes[i];
        let [Some(slot)] = node.results[..] else {
            return None;
        };
        let is_elementwise = matches!(self.clusters.parts[i], Some(Part::Each(_)));
        (is_elementwise && node.operation.is_cheap()).then_some(slot)
    }

    /// Returns whether a cluster has a value, or can compute it by a few cheap operations from values that it has.
    fn has(&self, unit: usize, slot: u32, depth: usize) -> bool {
        if self.known.contains(&(unit, slot)) || self.clusters.constant(slot).is_some() {
            return true;
        }
        let Some(producer) = self.clusters.producers[slot as usize] else {
            return false;
        };
        let operands = &self.graph.nodes[producer].operands;
        depth > 0
            && self.cheap(producer).is_some()
            && operands.iter().all(|u| self.has(unit, u.slot, depth - 1))
    }

    /// Returns whether a cluster can compute the value of a node instead of reading it.
    fn may_compute(&self, unit: usize, i: usize, slot: u32) -> bool {
        let is_elementwise = |user: &User| match user {
            User::Copy(_) => true,
            User::Node(user) => {
                let results = self.graph.nodes[*user].results.iter().flatten();
                let mut sizes = results.map(|s| self.graph.size(*s));
                matches!(self.clusters.parts[*user], Some(Part::Each(_)))
                    && sizes.all(|size| size == self.graph.size(slot))
            }
        };
        let added = self.added.get(&unit).copied().unwrap_or(0);
        let mut inside = self.users[slot as usize].iter().filter(|(u, _)| *u == unit);
        let mut operands = self.graph.nodes[i].operands.iter();
        self.clusters.operations(unit) + added < OPERATIONS
            && inside.all(|(_, user)| is_elementwise(user))
            && operands.all(|u| self.has(unit, u.slot, DEPTH))
    }

    /// Replaces the value of a node in all other clusters, if all of them can compute it.
    fn replace(&mut self, i: usize) {
        let Some(slot) = self.cheap(i) else { return };
        if self.graph.size(slot) < ELEMENTS {
            return;
        }
        let mut others: SmallVec<[usize; 2]> = SmallVec::new();
        for (unit, _) in &self.users[slot as usize] {
            if *unit != self.units[i] && !others.contains(unit) {
                others.push(*unit);
            }
        }
        let can = !self.clusters.returned[slot as usize]
            && others.iter().all(|unit| self.may_compute(*unit, i, slot));
        if can {
            others.into_iter().for_each(|unit| self.copy(unit, i, slot));
        }
    }

    /// Copies a node for a cluster.
    fn copy(&mut self, unit: usize, i: usize, slot: u32) {
        let value = (self.graph.types.len() + self.copies.len()) as u32;
        let mut before = self.graph.nodes.len();
        let users = std::mem::take(&mut self.users[slot as usize]);
        let (inside, outside) = users.into_iter().partition(|(u, _)| *u == unit);
        self.users[slot as usize] = outside;
        let inside: SmallVec<[(usize, User); 2]> = inside;
        for (_, user) in inside {
            match user {
                User::Node(user) => {
                    before = before.min(user);
                    self.changes.insert((user, slot), value);
                }
                User::Copy(user) => {
                    let user = &mut self.copies[user];
                    before = before.min(user.before);
                    let mut operands = user.node.operands.iter_mut();
                    operands
                        .by_ref()
                        .filter(|u| u.slot == slot)
                        .for_each(|u| u.slot = value);
                }
            }
        }
        let mut node = self.graph.nodes[i].clone();
        node.results[0] = Some(value);
        for operand in node.operands.iter().map(|u| u.slot) {
            self.users[operand as usize].push((unit, User::Copy(self.copies.len())));
            self.known.insert((unit, operand));
        }
        *self.added.entry(unit).or_default() += 1;
        self.copies.push(Copied {
            node,
            value: slot,
            before,
        });
    }
}
