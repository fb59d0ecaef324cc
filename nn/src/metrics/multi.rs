//! `MultiMetric`: several metrics, updated in one call.

use super::{Metric, MetricArgs};
use ramie_core::tree::{Key, Tree, Visitor, part};
use ramie_core::typing::AxisNames;
use ramie_core::{Array, State};
use std::any::Any;
use std::collections::BTreeMap;

/// A type-erased metric.
trait AnyMetric: Any + Send + Sync {
    fn walk(&self, visitor: &mut dyn Visitor);
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array));
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Box<dyn AnyMetric>;
    fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Any));
    fn update(&mut self, args: &MetricArgs);
    fn compute(&self, name: &str, values: &mut State);
    fn reset(&mut self);
    fn reduce(&mut self, axes: &AxisNames);
}

impl<M: Metric> AnyMetric for M {
    fn walk(&self, visitor: &mut dyn Visitor) {
        Tree::walk(self, visitor);
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        Tree::walk_mut(self, visit);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Box<dyn AnyMetric> {
        Box::new(Tree::rebuild(self, leaf))
    }
    fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        part(self, visit);
    }
    #[track_caller]
    fn update(&mut self, args: &MetricArgs) {
        Metric::update(self, args);
    }
    fn compute(&self, name: &str, values: &mut State) {
        for (path, array) in State::of(&Metric::compute(self)).iter() {
            let path = match path {
                "" => name.to_owned(),
                path => format!("{name}.{path}"),
            };
            values.insert(&path, array.clone());
        }
    }
    fn reset(&mut self) {
        Metric::reset(self);
    }
    fn reduce(&mut self, axes: &AxisNames) {
        Metric::reduce(self, axes);
    }
}

/// Several metrics by name, updated in one call (`nnx.MultiMetric`).
///
/// All metrics receive the same arguments, and each uses its own. The value is a [`State`] with
/// the names of the metrics; see the [module](super) for an example.
#[derive(Default)]
pub struct MultiMetric {
    metrics: BTreeMap<String, Box<dyn AnyMetric>>,
}

impl MultiMetric {
    /// Creates a `MultiMetric` without metrics.
    pub fn new() -> MultiMetric {
        MultiMetric::default()
    }

    /// Adds or replaces a metric.
    #[must_use]
    pub fn with(mut self, name: &str, metric: impl Metric) -> MultiMetric {
        self.metrics.insert(name.to_owned(), Box::new(metric));
        self
    }

    /// Returns a metric by name, if it exists and has this type.
    pub fn get<M: Metric>(&self, name: &str) -> Option<&M> {
        let metric: &dyn Any = &**self.metrics.get(name)?;
        metric.downcast_ref()
    }

    /// Returns an iterator over the names of the metrics.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.metrics.keys().map(String::as_str)
    }
}

impl Metric for MultiMetric {
    type Value = State;

    fn update(&mut self, args: &MetricArgs) {
        for metric in self.metrics.values_mut() {
            metric.update(args);
        }
    }

    fn compute(&self) -> State {
        let mut values = State::new();
        for (name, metric) in &self.metrics {
            metric.compute(name, &mut values);
        }
        values
    }

    fn reset(&mut self) {
        for metric in self.metrics.values_mut() {
            metric.reset();
        }
    }

    fn reduce(&mut self, axes: &AxisNames) {
        for metric in self.metrics.values_mut() {
            metric.reduce(axes);
        }
    }
}

impl Tree for MultiMetric {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.node("MultiMetric", self);
        visitor.fixed(&self.metrics.len());
        for (name, metric) in &self.metrics {
            visitor.fixed(name);
            visitor.enter(Key::Name(name));
            metric.walk(visitor);
            visitor.exit();
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        for metric in self.metrics.values_mut() {
            metric.walk_mut(visit);
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        let metrics = self.metrics.iter();
        MultiMetric {
            metrics: metrics.map(|(n, m)| (n.clone(), m.rebuild(leaf))).collect(),
        }
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        for metric in self.metrics.values_mut() {
            metric.visit(visit);
        }
    }
}
