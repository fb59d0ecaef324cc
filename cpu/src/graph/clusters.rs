//! Clusters of operations that run together.

use super::{Graph, Node, Part};
use crate::kernels::TILE;
use crate::kernels::rows::PIECE;
use crate::memory::Tensor;
use foldhash::{HashMap, HashMapExt};
use smallvec::{SmallVec, smallvec};

/// Operations of a cluster at most, so that the tiles of its operands and results stay in the caches.
const OPERATIONS: usize = 100;

/// The numbers of elements of a cluster's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Space {
    /// All arrays have this number.
    Equal(usize),
    /// Arrays have all elements of some rows, or an element for each row.
    Rows { rows: usize, columns: usize },
}

impl Space {
    /// Returns the space of two clusters that become one.
    fn join(self, other: Space) -> Option<Space> {
        match (self, other) {
            _ if self == other => Some(self),
            (Space::Equal(size), Space::Rows { rows, columns })
            | (Space::Rows { rows, columns }, Space::Equal(size)) => {
                (size == rows || size == rows * columns).then_some(Space::Rows { rows, columns })
            }
            _ => None,
        }
    }
}

/// The nodes of a graph in clusters. A cluster of several nodes becomes one node.
///
/// Each node has a height: edges to a node outside the cluster lead to a smaller height, so that no path
/// returns to a cluster, and edges inside keep it. Heights are the least possible, so that operations
/// join those that use their results, and are not computed long before them. Only reductions are computed as
/// early as their operands, which are larger than their results.
pub struct Clusters<'a> {
    graph: &'a Graph,
    /// The part of each node in fusion.
    pub parts: Vec<Option<Part<'a>>>,
    /// The nodes that use each value.
    pub users: Vec<SmallVec<[usize; 2]>>,
    /// The node that computes each value.
    pub producers: Vec<Option<usize>>,
    /// Whether each value is a result of the graph.
    pub returned: Vec<bool>,
    heights: Vec<usize>,
    /// Another node of the same cluster, or the node itself, which then represents the cluster.
    parents: Vec<usize>,
    /// Number of operations of each cluster, by the node that represents it. Views are not counted.
    sizes: Vec<usize>,
    spaces: Vec<Space>,
    constants: Vec<Option<Tensor>>,
}

impl<'a> Clusters<'a> {
    pub fn of(graph: &'a Graph) -> Clusters<'a> {
        let count = graph.nodes.len();
        let mut clusters = Clusters {
            graph,
            parts: Vec::with_capacity(count),
            users: vec![SmallVec::new(); graph.types.len()],
            producers: vec![None; graph.types.len()],
            returned: vec![false; graph.types.len()],
            heights: vec![0; count],
            parents: (0..count).collect(),
            sizes: vec![0; count],
            spaces: vec![Space::Equal(0); count],
            constants: graph.constants(),
        };
        for (i, node) in graph.nodes.iter().enumerate() {
            let part = clusters.part(node);
            clusters.parts.push(part);
            for slot in node.results.iter().flatten() {
                clusters.producers[*slot as usize] = Some(i);
            }
        }
        for result in &graph.results {
            clusters.returned[result.slot as usize] = true;
        }
        let mut effects = 0;
        for (i, node) in graph.nodes.iter().enumerate().rev() {
            clusters.place(i, node, &mut effects);
            for operand in &node.operands {
                let users = &mut clusters.users[operand.slot as usize];
                if users.last() != Some(&i) {
                    users.push(i);
                }
            }
        }
        clusters
    }

    /// Returns how a node takes part, whose operands' producers are known.
    fn part(&self, node: &'a Node) -> Option<Part<'a>> {
        let part = node.operation.part()?;
        let mut results = node.results.iter().flatten();
        if results.any(|slot| self.graph.size(*slot) == 0) {
            return None;
        }
        let operand = node.operands.first().map_or(0, |u| u.slot);
        match part {
            Part::Each(_) => Some(part),
            Part::Fold(fold) => {
                (fold.rows > 0 && (1..=PIECE).contains(&fold.columns)).then_some(part)
            }
            // Views of what no cluster computes are operands. A scalar is repeated for arrays of many sizes.
            Part::Same | Part::Repeat(_) => {
                let producer = self.producers[operand as usize]?;
                let is_row = !self.graph.types[operand as usize].shape.is_empty();
                let fits = match part {
                    Part::Repeat(columns) => columns <= PIECE && is_row,
                    _ => true,
                };
                let computed = self.parts[producer].is_some_and(|part| !is_total(&part));
                (computed && fits).then_some(part)
            }
        }
    }

    /// Returns what a node alone requires of its cluster.
    fn needed(&self, i: usize) -> Space {
        let node = &self.graph.nodes[i];
        let operand = node.operands.first().map_or(0, |u| self.graph.size(u.slot));
        match self.parts[i] {
            Some(Part::Fold(fold)) if fold.columns == 1 => Space::Equal(operand),
            Some(Part::Fold(fold)) => Space::Rows {
                rows: fold.rows,
                columns: fold.columns,
            },
            Some(Part::Repeat(columns)) => Space::Rows {
                rows: operand,
                columns,
            },
            _ => Space::Equal(
                node.results
                    .iter()
                    .flatten()
                    .next()
                    .map_or(0, |s| self.graph.size(*s)),
            ),
        }
    }

    /// Returns whether a node may join the cluster of a node that uses its result.
    fn joins(&mut self, i: usize, user: usize) -> bool {
        let (Some(part), Some(use_as)) = (self.parts[i], self.parts[user]) else {
            return false;
        };
        let graph = self.graph;
        let results = &graph.nodes[i].results;
        let operands = &graph.nodes[user].operands;
        let is_used = |slot: u32| results.contains(&Some(slot));
        let size =
            |results: &[Option<u32>]| results.iter().flatten().next().map(|s| self.graph.size(*s));
        !is_total(&part)
            && match use_as {
                // Scalar operands of operations on arrays are repeated.
                Part::Each(_) => size(results) == size(&graph.nodes[user].results),
                Part::Fold(_) => !is_used(operands[1].slot),
                // Nothing is computed for a view alone.
                Part::Same | Part::Repeat(_) => {
                    let cluster = self.find(user);
                    self.sizes[cluster] > 0
                }
            }
    }

    /// Chooses the height of a node, whose users have theirs, and joins their clusters.
    fn place(&mut self, i: usize, node: &Node, effects: &mut usize) {
        let users = node.results.iter().flatten();
        let users: SmallVec<[usize; 4]> = users
            .flat_map(|slot| self.users[*slot as usize].iter().copied())
            .collect();
        let joining: SmallVec<[bool; 4]> = users.iter().map(|u| self.joins(i, *u)).collect();
        let above = users.iter().zip(&joining);
        let above = above.map(|(u, joins)| self.heights[*u] + usize::from(!joins));
        let mut height = above.max().unwrap_or(0);
        if node.operation.has_effects() {
            height = height.max(*effects);
            *effects = height;
        }
        let is_operation = matches!(self.parts[i], Some(Part::Each(_) | Part::Fold(_)));
        let mut size = usize::from(is_operation);
        let mut space = Some(self.needed(i));
        let mut joined: SmallVec<[usize; 4]> = smallvec![];
        for (user, _) in users.iter().zip(joining).filter(|(_, joins)| *joins) {
            if self.heights[*user] < height && !self.lift(*user, height) {
                continue;
            }
            let cluster = self.find(*user);
            if !joined.contains(&cluster) {
                joined.push(cluster);
                size += self.sizes[cluster];
                space = space.and_then(|space| space.join(self.spaces[cluster]));
            }
        }
        self.heights[i] = height;
        match space {
            Some(space) if size <= OPERATIONS => {
                (self.sizes[i], self.spaces[i]) = (size, space);
                joined.into_iter().for_each(|c| self.parents[c] = i);
            }
            _ => {
                self.heights[i] += usize::from(!joined.is_empty());
                (self.sizes[i], self.spaces[i]) = (usize::from(is_operation), self.needed(i));
            }
        }
    }

    /// Raises a reduction to a height, if nothing has joined it and what it needs is known before all nodes.
    fn lift(&mut self, fold: usize, height: usize) -> bool {
        let Some(Part::Fold(_)) = self.parts[fold] else {
            return false;
        };
        let initial = self.graph.nodes[fold].operands[1].slot;
        let producer = self.producers[initial as usize];
        let is_known = producer.is_none_or(|p| self.graph.nodes[p].operands.is_empty());
        if !is_known || self.find(fold) != fold || self.sizes[fold] > 1 {
            return false;
        }
        self.heights[fold] = height;
        if let Some(producer) = producer {
            self.heights[producer] = self.heights[producer].max(height + 1);
        }
        true
    }

    /// Joins clusters on small arrays of the same rows and height, which have no paths between them: what a
    /// node costs beside its arithmetic is then most of its time.
    pub fn merge_small(&mut self) {
        let mut open: HashMap<(usize, Space), usize> = HashMap::new();
        for i in 0..self.parents.len() {
            let (rows, columns) = self.rows(i);
            if self.find(i) != i || self.sizes[i] == 0 || rows * columns > TILE {
                continue;
            }
            let other = open.entry((self.heights[i], self.spaces[i])).or_insert(i);
            if *other == i || self.sizes[*other] + self.sizes[i] > OPERATIONS {
                *other = i;
                continue;
            }
            self.sizes[*other] += self.sizes[i];
            self.parents[i] = *other;
        }
    }

    /// Returns the node that represents the cluster of a node.
    pub fn find(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }

    /// Returns the number of operations of the cluster that a node represents.
    pub fn operations(&self, cluster: usize) -> usize {
        self.sizes[cluster]
    }

    /// Returns the element of a constant whose elements are all the same.
    pub fn constant(&self, slot: u32) -> Option<&[u8]> {
        self.constants.get(slot as usize)?.as_ref()?.repeated()
    }

    /// Returns whether constants can become parts of an operation.
    pub fn takes_constants(&self, i: usize) -> bool {
        let mut operands = self.graph.nodes[i].operands.iter();
        matches!(self.parts[i], Some(Part::Each(_)))
            && operands.any(|u| self.constant(u.slot).is_some())
    }

    /// Returns the number of rows and of columns of the arrays of the cluster that a node represents.
    pub fn rows(&self, cluster: usize) -> (usize, usize) {
        match self.spaces[cluster] {
            Space::Equal(size) => (size, 1),
            Space::Rows { rows, columns } => (rows, columns),
        }
    }
}

/// Returns whether no row has the result before all rows are computed.
pub fn is_total(part: &Part<'_>) -> bool {
    matches!(part, Part::Fold(fold) if fold.across)
}
