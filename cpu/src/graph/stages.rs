//! One node for the operations of a cluster.

use super::clusters::Clusters;
use super::rows::Fused;
use super::{Graph, Node, Operation, Part, Use};
use crate::kernels::rows::{Combine, Extent, Fold, Origin, Place, Rows, Stage, Total};
use crate::kernels::{Bytes, Group, Kernel, TILE};
use crate::{ElementType, TensorType};
use foldhash::{HashMap, HashMapExt, HashSet};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::sync::Arc;

/// Elementwise operations of a stage.
struct Work<'a> {
    stage: usize,
    group: Cow<'a, Group>,
    arguments: SmallVec<[u32; 3]>,
    results: SmallVec<[Option<u32>; 1]>,
}

/// The operations of a cluster as they become stages. Stages with even numbers are on narrow arrays, those
/// with odd numbers on wide arrays.
///
/// Values have the numbers of their slots. Values that are no slots have numbers from the number of slots on.
struct Builder<'a> {
    graph: &'a Graph,
    clusters: &'a Clusters<'a>,
    rows: usize,
    columns: usize,
    works: Vec<Work<'a>>,
    /// The first stage in which each value that the cluster computes is known.
    stages: HashMap<u32, usize>,
    /// The values of views that are part of the cluster.
    views: HashMap<u32, u32>,
    /// The element types of values that are no slots.
    extra: Vec<ElementType>,
    /// The reductions with their stages.
    folds: Vec<(usize, Combine)>,
    totals: Vec<Total>,
    operands: SmallVec<[Use; 4]>,
    /// The places of values that are results, or that other stages or reductions use.
    place_of: HashMap<u32, usize>,
}

/// Constants of a group.
#[derive(Default)]
struct Constants(Vec<(ElementType, Bytes)>);

impl Constants {
    /// Returns the number of a constant, which is added if it is new.
    fn number(&mut self, element: ElementType, bytes: &[u8]) -> u32 {
        let mut known = self.0.iter();
        let known = known.position(|(e, b)| *e == element && b[..] == *bytes);
        known.unwrap_or_else(|| {
            self.0.push((element, Bytes::from_slice(bytes)));
            self.0.len() - 1
        }) as u32
    }
}

/// Returns whether a stage is on wide arrays.
fn on_wide(stage: usize) -> bool {
    stage % 2 == 1
}

/// Appends the node of a cluster, after the views that it uses and before the views of its results.
pub fn fuse(
    graph: &Graph,
    clusters: &Clusters<'_>,
    members: &[usize],
    (rows, columns): (usize, usize),
    nodes: &mut Vec<Node>,
) {
    let mut builder = Builder {
        graph,
        clusters,
        rows,
        columns,
        works: Vec::new(),
        stages: HashMap::new(),
        views: HashMap::new(),
        extra: Vec::new(),
        folds: Vec::new(),
        totals: Vec::new(),
        operands: SmallVec::new(),
        place_of: HashMap::new(),
    };
    let (results, after) = builder.results(members);
    // The places of results are the first.
    for slot in &results {
        builder.place_of.insert(*slot, builder.place_of.len());
    }
    for i in members {
        let node = &graph.nodes[*i];
        match clusters.parts[*i] {
            Some(Part::Same | Part::Repeat(_)) => {
                let operand = builder.value(node.operands[0].slot);
                match (builder.stages.contains_key(&operand), node.results[0]) {
                    (true, Some(result)) => drop(builder.views.insert(result, operand)),
                    _ => nodes.push(node.clone()),
                }
            }
            Some(Part::Each(group)) => builder.each(node, group),
            Some(Part::Fold(fold)) => builder.fold(node, fold),
            None => unreachable!("{:?} is in a cluster", node.operation),
        }
    }
    nodes.push(builder.finish(members, results));
    nodes.extend(after.iter().rev().map(|i| graph.nodes[*i].clone()));
}

impl<'a> Builder<'a> {
    /// Returns the results of a cluster that other nodes use, and the views of them, the last one first.
    fn results(&self, members: &[usize]) -> (SmallVec<[u32; 4]>, Vec<usize>) {
        let (mut results, mut views) = (SmallVec::new(), Vec::new());
        let mut viewed: SmallVec<[u32; 4]> = SmallVec::new();
        let mut computed: SmallVec<[u32; 8]> = SmallVec::new();
        for i in members {
            let node = &self.graph.nodes[*i];
            let is_view = matches!(self.clusters.parts[*i], Some(Part::Same | Part::Repeat(_)));
            if !is_view || computed.contains(&node.operands[0].slot) {
                computed.extend(node.results.iter().flatten().copied());
            }
        }
        for i in members.iter().rev() {
            let node = &self.graph.nodes[*i];
            for slot in node
                .results
                .iter()
                .flatten()
                .filter(|s| computed.contains(s))
            {
                let users = &self.clusters.users[*slot as usize];
                let is_used = users.iter().any(|u| !members.contains(u))
                    || viewed.contains(slot)
                    || self.clusters.returned[*slot as usize];
                match self.clusters.parts[*i] {
                    _ if !is_used => {}
                    Some(Part::Same | Part::Repeat(_)) => {
                        views.push(*i);
                        viewed.push(node.operands[0].slot);
                    }
                    _ => results.insert(0, *slot),
                }
            }
        }
        (results, views)
    }

    /// Returns the value of a slot, through views of what the cluster computes and of single elements.
    fn value(&self, mut slot: u32) -> u32 {
        if let Some(value) = self.views.get(&slot) {
            return *value;
        }
        let first = slot;
        while let Some(producer) = self.clusters.producers[slot as usize] {
            let node = &self.graph.nodes[producer];
            if self.stages.contains_key(&slot)
                || !matches!(node.operation.part(), Some(Part::Same | Part::Repeat(_)))
            {
                break;
            }
            slot = node.operands[0].slot;
        }
        let is_single = self.graph.size(slot) == 1 && !self.stages.contains_key(&slot);
        if is_single { slot } else { first }
    }

    fn element(&self, value: u32) -> ElementType {
        match self.graph.types.get(value as usize) {
            Some(ty) => ty.element,
            None => self.extra[value as usize - self.graph.types.len()],
        }
    }

    /// Returns whether arrays of a size are wide. If rows have one element, all arrays are.
    fn is_wide(&self, size: usize) -> bool {
        size == self.rows * self.columns
    }

    /// Returns the first stage in which values are known to operations on wide or on narrow arrays.
    fn stage(&self, values: &[u32], wide: bool) -> usize {
        let stages = values.iter().filter_map(|value| self.stages.get(value));
        let known = stages.map(|stage| stage + usize::from(on_wide(*stage) != wide));
        known.max().unwrap_or(0).max(usize::from(wide))
    }

    /// Returns a new value, which is known from a stage on.
    fn new_value(&mut self, element: ElementType, stage: usize) -> u32 {
        let value = (self.graph.types.len() + self.extra.len()) as u32;
        self.extra.push(element);
        self.stages.insert(value, stage);
        value
    }

    fn each(&mut self, node: &Node, group: &'a Group) {
        let arguments: SmallVec<[u32; 3]> =
            node.operands.iter().map(|u| self.value(u.slot)).collect();
        let size = node
            .results
            .iter()
            .flatten()
            .next()
            .map_or(0, |s| self.graph.size(*s));
        let stage = self.stage(&arguments, self.is_wide(size));
        for slot in node.results.iter().flatten() {
            self.stages.insert(*slot, stage);
        }
        self.works.push(Work {
            stage,
            group: Cow::Borrowed(group),
            arguments,
            results: node.results.clone(),
        });
    }

    fn fold(&mut self, node: &Node, fold: &'a Fold) {
        let slot = node.operands[0].slot;
        let wide = self.is_wide(self.graph.size(slot));
        let mut value = self.views.get(&slot).copied().unwrap_or(slot);
        let stage = self.stage(&[value], wide);
        // A narrow array that is repeated has no memory of its own.
        let is_repeated = self.stages.get(&value).is_some_and(|s| on_wide(*s) != wide);
        if is_repeated || !fold.prepare.steps.is_empty() {
            value = self.prepared(value, fold, stage);
        }
        let origin = if self.stages.contains_key(&value) {
            Origin::Place(self.place(value))
        } else {
            Origin::Input(self.input(value))
        };
        let initial = self.value(node.operands[1].slot);
        let folder = fold.folder;
        let Some(result) = node.results[0] else {
            return;
        };
        let place = if fold.across {
            let place = self.place(result);
            let initial = self.input(initial);
            let finish = fold.finish.clone();
            self.totals.push(Total {
                place,
                folder,
                finish,
                initial,
                size: fold.columns,
            });
            place
        } else {
            let combined = self.new_value(fold.finish.inputs[0], stage + 1);
            self.stages.insert(result, stage + 1);
            self.works.push(Work {
                stage: stage + 1,
                group: Cow::Borrowed(&fold.finish),
                arguments: smallvec![combined, initial],
                results: smallvec![Some(result)],
            });
            self.place(combined)
        };
        self.folds.push((
            stage,
            Combine {
                folder,
                origin,
                place,
            },
        ));
    }

    /// Returns the value whose elements a reduction combines.
    fn prepared(&mut self, value: u32, fold: &Fold, stage: usize) -> u32 {
        let mut group = fold.prepare.clone();
        if group.steps.is_empty() {
            let element = group.inputs[0];
            group.outputs = vec![group.push(Kernel::identity(), &[0], element)];
        }
        let prepared = self.new_value(group.element(group.outputs[0]), stage);
        self.works.push(Work {
            stage,
            group: Cow::Owned(group),
            arguments: smallvec![value],
            results: smallvec![Some(prepared)],
        });
        prepared
    }

    /// Returns the place of a value.
    fn place(&mut self, value: u32) -> usize {
        let next = self.place_of.len();
        *self.place_of.entry(value).or_insert(next)
    }

    /// Returns the number of an operand of the node.
    fn input(&mut self, slot: u32) -> usize {
        let known = self.operands.iter().position(|u| u.slot == slot);
        known.unwrap_or_else(|| {
            self.operands.push(Use::of(slot));
            self.operands.len() - 1
        })
    }

    /// Returns the values that operations use and do not compute, and the constants among them.
    fn inputs_of(&self, works: &[Work<'_>]) -> (Vec<u32>, Constants) {
        let (mut inputs, mut constants) = (Vec::new(), Constants::default());
        let computed = works.iter().flat_map(|work| &work.results);
        let mut known: HashSet<u32> = computed.flatten().copied().collect();
        for value in works.iter().flat_map(|work| &work.arguments) {
            if !known.insert(*value) {
                continue;
            }
            match self.clusters.constant(*value) {
                Some(bytes) => drop(constants.number(self.element(*value), bytes)),
                None => inputs.push(*value),
            }
        }
        for (element, bytes) in works.iter().flat_map(|work| work.group.constants()) {
            constants.number(element, bytes);
        }
        (inputs, constants)
    }

    /// Returns a stage, all of whose operations are known.
    fn build(&mut self, number: usize) -> Stage {
        let all = std::mem::take(&mut self.works).into_iter();
        let (works, others): (Vec<Work<'_>>, _) = all.partition(|work| work.stage == number);
        self.works = others;
        let (inputs, mut constants) = self.inputs_of(&works);
        let elements: Vec<ElementType> = inputs.iter().map(|v| self.element(*v)).collect();
        let mut group = Group::with_constants(&elements, &constants.0);
        let mut registers: HashMap<u32, u32> = inputs.iter().copied().zip(0..).collect();
        for work in &works {
            let first = inputs.len() as u32;
            let mut arguments: Vec<u32> = Vec::with_capacity(work.arguments.len());
            for value in &work.arguments {
                arguments.push(
                    match (registers.get(value), self.clusters.constant(*value)) {
                        (None, Some(bytes)) => {
                            first + constants.number(self.element(*value), bytes)
                        }
                        _ => registers[value],
                    },
                );
            }
            let own = work.group.constants();
            arguments.extend(own.map(|(element, bytes)| first + constants.number(element, bytes)));
            let own = group.inline(&work.group, &arguments);
            let results = work.results.iter().zip(own);
            registers.extend(results.filter_map(|(slot, register)| Some(((*slot)?, register))));
        }
        let kept = works.iter().flat_map(|work| work.results.iter().flatten());
        let mut kept: Vec<(usize, u32)> = kept
            .filter_map(|value| Some((*self.place_of.get(value)?, registers[value])))
            .collect();
        kept.sort_unstable();
        group.finish(
            &kept
                .iter()
                .map(|(_, register)| *register)
                .collect::<Vec<_>>(),
        );
        let wide = on_wide(number);
        let origins = inputs.iter().map(|value| match self.place_of.get(value) {
            Some(place) if wide && !on_wide(self.stages[value]) => Origin::Repeated(*place),
            Some(place) => Origin::Place(*place),
            None => Origin::Input(self.input(*value)),
        });
        let inputs = origins.collect();
        let folds = self.folds.iter().filter(|(stage, _)| *stage == number);
        Stage {
            wide,
            group,
            inputs,
            outputs: kept.iter().map(|(place, _)| *place).collect(),
            folds: folds.map(|(_, fold)| *fold).collect(),
        }
    }

    fn finish(mut self, members: &[usize], results: SmallVec<[u32; 4]>) -> Node {
        for work in std::mem::take(&mut self.works) {
            for value in &work.arguments {
                let stage = self.stages.get(value);
                if stage.is_some_and(|stage| *stage != work.stage) {
                    self.place(*value);
                }
            }
            self.works.push(work);
        }
        let last = self.works.iter().map(|work| work.stage);
        let last = last.chain(self.folds.iter().map(|(stage, _)| *stage)).max();
        let stages = (0..=last.unwrap_or(0)).map(|number| self.build(number));
        let stages = stages.filter(|stage| !stage.outputs.is_empty() || !stage.folds.is_empty());
        let stages: Vec<Stage> = stages.collect();
        let types: Vec<&TensorType> = results
            .iter()
            .map(|slot| &self.graph.types[*slot as usize])
            .collect();
        // Operands that are not dense are read in an order of axes, which all arrays then must have.
        let shape = |u: &Use| &self.graph.types[u.slot as usize].shape;
        let is_small = self.rows * self.columns <= TILE;
        let fits =
            |u: &Use| is_small || self.graph.size(u.slot) == 1 || *shape(u) == types[0].shape;
        let same =
            types.iter().all(|ty| ty.shape == types[0].shape) && self.operands.iter().all(fits);
        let nodes = members.iter().map(|i| &self.graph.nodes[*i]);
        let each = nodes
            .clone()
            .find(|node| matches!(node.operation.part(), Some(Part::Each(_))));
        let operation = match (&stages[..], each) {
            ([stage], Some(each)) if stage.folds.is_empty() && same => each
                .operation
                .with_group(stage.group.clone(), &types[0].shape),
            _ => self.rows(stages, &types),
        };
        Node {
            operation,
            operands: self.operands,
            results: results.into_iter().map(Some).collect(),
            line: nodes.map(|node| node.line).max().unwrap_or(0),
        }
    }

    fn rows(&self, stages: Vec<Stage>, types: &[&TensorType]) -> Arc<dyn Operation> {
        let mut totals = self.totals.clone();
        totals.sort_by_key(|total| total.place);
        let mut values: Vec<(usize, u32)> = self.place_of.iter().map(|(v, p)| (*p, *v)).collect();
        values.sort_unstable();
        let places = values.into_iter().map(|(place, value)| {
            let total = self.totals.iter().find(|total| total.place == place);
            match (total, self.stages.get(&value)) {
                (Some(total), _) => Place {
                    extent: Extent::Fixed(total.size),
                    width: total.folder.width,
                },
                (None, stage) => Place {
                    extent: match stage {
                        Some(stage) if !on_wide(*stage) => Extent::Narrow,
                        _ => Extent::Wide,
                    },
                    width: self.element(value).bytes(),
                },
            }
        });
        let rows = Rows {
            rows: self.rows,
            columns: self.columns,
            stages,
            places: places.collect(),
            results: types.len(),
            totals,
        };
        Arc::new(Fused::new(rows, self.operands.len(), types))
    }
}
