//! The mapped axes of arguments, results and variables in a lifted transformation.

use crate::linen::{CollectionFilter, Streams, Variables};
use crate::sharding::{with_axis, without_axis};
use ramie_core::random::Key;
use ramie_core::sharding::{AxisName, SpecEntry};
use ramie_core::{Array, PartitionSpec, State, Tree, tree};

/// The mapped axis of the arrays of arguments or results in a lifted transformation; `None` for
/// arrays that all steps or batch elements share.
///
/// A single number applies to all arrays. A list has an entry for each component of a tuple.
///
/// ```
/// use ramie_nn::linen::Axes;
/// let axes: Axes = [Some(0), None].into();
/// ```
#[derive(Clone, Debug)]
pub struct Axes(Spec);

#[derive(Clone, Debug)]
enum Spec {
    All(Option<isize>),
    Each(Vec<Option<isize>>),
}

impl From<isize> for Axes {
    fn from(axis: isize) -> Axes {
        Axes(Spec::All(Some(axis)))
    }
}
impl From<Option<isize>> for Axes {
    fn from(axis: Option<isize>) -> Axes {
        Axes(Spec::All(axis))
    }
}
impl<const N: usize> From<[Option<isize>; N]> for Axes {
    fn from(axes: [Option<isize>; N]) -> Axes {
        Axes(Spec::Each(axes.to_vec()))
    }
}

impl Axes {
    /// Returns the axis of each array of a tree.
    #[track_caller]
    pub(super) fn of<T: Tree>(&self, operation: &str, what: &str, value: &T) -> Vec<Option<isize>> {
        let paths = tree::paths(value);
        let axes = match &self.0 {
            Spec::All(axis) => return vec![*axis; paths.len()],
            Spec::Each(axes) => axes,
        };
        let component = |path: &str| {
            // The path of an array of a tuple begins with the index of its component: `1.kernel`.
            let first = path.split('.').next().unwrap_or("");
            first.parse().ok().and_then(|i: usize| axes.get(i).copied())
        };
        let found: Option<Vec<Option<isize>>> = paths.iter().map(|p| component(p)).collect();
        found.unwrap_or_else(|| {
            panic!(
                "linen::{operation}: {what} has {} axes for the components of a tuple, but the \
                 arrays are at: {}\n  help: pass one axis for each component, or one axis for all",
                axes.len(),
                paths.join(", ")
            )
        })
    }
}

/// The number of steps or batch elements, inferred from the arrays that have an axis for them.
pub(super) struct AxisCount {
    /// The transformation.
    pub operation: &'static str,
    pub counts: &'static str,
    /// The purpose of the axis, for messages.
    pub purpose: &'static str,
    /// The help text for arrays without the axis.
    pub help: &'static str,
    /// The number, and the array or option that determines it.
    pub known: Option<(usize, String)>,
}

impl AxisCount {
    /// Checks or sets the number from an axis of an array.
    #[track_caller]
    pub fn see(&mut self, what: String, array: &Array, axis: isize) {
        let AxisCount {
            operation,
            counts,
            purpose,
            help,
            ..
        } = self;
        let at = from_start(axis, array.ndim());
        assert!(
            at < array.ndim(),
            "linen::{operation}: {what} is {}, which has no axis {axis} to {purpose}\n  help: \
             {help}",
            array.aval()
        );
        let n = array.shape()[at];
        match &self.known {
            Some((other, who)) if *other != n => panic!(
                "linen::{operation}: {counts} differ: {who} has {other}, {what} has {n}\n  help: \
                 {help}"
            ),
            Some(_) => {}
            None => self.known = Some((n, what)),
        }
    }
}

/// Returns an axis counted from the start; out-of-range axes stay out of range.
fn from_start(axis: isize, rank: usize) -> usize {
    usize::try_from(axis).unwrap_or_else(|_| rank.saturating_add_signed(axis))
}

/// The mapped axis of the variables of a collection in a lifted transformation. A single axis
/// applies to inputs and outputs; `None` is for variables that all batch elements share.
/// [`only_in`](VariableAxis::only_in) and [`only_out`](VariableAxis::only_out) set only one of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableAxis {
    pub(super) input: Option<Option<isize>>,
    pub(super) output: Option<Option<isize>>,
}

impl VariableAxis {
    /// Creates the axis of variables that are inputs, but not outputs (`nn.In`).
    pub fn only_in(axis: impl Into<Option<isize>>) -> VariableAxis {
        VariableAxis {
            input: Some(axis.into()),
            output: None,
        }
    }

    /// Creates the axis of variables that are outputs, but not inputs (`nn.Out`).
    pub fn only_out(axis: impl Into<Option<isize>>) -> VariableAxis {
        VariableAxis {
            input: None,
            output: Some(axis.into()),
        }
    }
}

impl From<isize> for VariableAxis {
    fn from(axis: isize) -> VariableAxis {
        Some(axis).into()
    }
}
impl From<Option<isize>> for VariableAxis {
    fn from(axis: Option<isize>) -> VariableAxis {
        VariableAxis {
            input: Some(axis),
            output: Some(axis),
        }
    }
}

/// The axes of collections and the RNG streams that a transformation passes to its module.
#[derive(Clone, Debug, Default)]
pub(super) struct Lifted {
    pub axes: Vec<(CollectionFilter, VariableAxis)>,
    pub rngs: Vec<(CollectionFilter, bool)>,
    /// The name of the new axis in the shardings of variables.
    pub partition_name: Option<AxisName>,
}

impl Lifted {
    /// Returns the input axis of a collection, or `None` if it is not an input.
    pub fn input(&self, collection: &str) -> Option<Option<isize>> {
        let mut groups = self.axes.iter();
        groups.find_map(|(f, axis)| axis.input.filter(|_| f.accepts(collection)))
    }

    /// Returns the output axis of a collection, or `None` if it is not an output.
    pub fn output(&self, collection: &str) -> Option<Option<isize>> {
        let mut groups = self.axes.iter();
        groups.find_map(|(f, axis)| axis.output.filter(|_| f.accepts(collection)))
    }

    fn any(&self, direction: impl Fn(&VariableAxis) -> bool) -> CollectionFilter {
        let groups = self.axes.iter().filter(|(_, axis)| direction(axis));
        groups.fold(CollectionFilter::None, |all, (f, _)| all.or(f))
    }

    /// Returns the collections that are inputs.
    pub fn inputs(&self) -> CollectionFilter {
        self.any(|axis| axis.input.is_some())
    }

    /// Returns the collections that are outputs.
    pub fn outputs(&self) -> CollectionFilter {
        self.any(|axis| axis.output.is_some())
    }

    /// Returns the RNG streams that are inputs.
    pub fn streams(&self) -> CollectionFilter {
        let groups = self.rngs.iter();
        groups.fold(CollectionFilter::None, |all, (f, _)| all.or(f))
    }

    /// Returns `true` if each step or batch element has its own keys of a stream.
    pub fn splits(&self, stream: &str) -> bool {
        let group = self.rngs.iter().find(|(f, _)| f.accepts(stream));
        group.is_some_and(|(_, split)| *split)
    }

    /// Splits the streams that are split into one key per step or batch element.
    pub fn split_streams(&self, streams: &Streams, size: usize) -> Streams {
        streams.map(|name, key: &Key| {
            if self.splits(name) {
                key.split_array(&[size])
            } else {
                key.clone()
            }
        })
    }

    /// Removes the mapped axis from the shardings of variables.
    #[track_caller]
    pub fn without_axis(&self, operation: &str, variables: Variables) -> Variables {
        let axis = |collection: &str| self.input(collection).flatten();
        renamed(variables, axis, |path, spec, at| {
            let name = self.name(operation, path);
            // Inside, a variable is a slice without the axis, so its sharding must lose the name as
            // well.
            let (entries, found) = without_axis(spec, at);
            assert!(
                found.as_ref().is_some_and(|e| e.axes() == [name]),
                "linen::{operation}: the sharding {spec} of `{path}` does not have `{name}` at \
                 the mapped axis {at}\n  help: pass the partition name that the variables were \
                 created with"
            );
            entries
        })
    }

    /// Adds the name of the new axis to the shardings of variables.
    #[track_caller]
    pub fn with_axis(&self, operation: &str, variables: Variables) -> Variables {
        let axis = |collection: &str| self.output(collection).flatten();
        renamed(variables, axis, |path, spec, at| {
            let name = self.name(operation, path);
            with_axis(spec, at, name)
        })
    }

    #[track_caller]
    fn name(&self, operation: &str, path: &str) -> AxisName {
        self.partition_name.unwrap_or_else(|| {
            panic!(
                "linen::{operation}: the variable `{path}` has a sharding, but the axis that the \
                 transformation adds has no name\n  help: set one: .partition_name(\"layers\")"
            )
        })
    }
}

/// Changes the shardings of variables in collections that have an axis.
fn renamed(
    mut variables: Variables,
    axis: impl Fn(&str) -> Option<isize>,
    change: impl Fn(&str, &PartitionSpec, usize) -> Vec<SpecEntry>,
) -> Variables {
    // Collected first: the loop borrows the variables.
    let mut changes = Vec::new();
    for (name, state) in variables.iter() {
        let Some(axis) = axis(name) else { continue };
        for (path, array) in state.iter() {
            let metadata = variables.metadata(name, path);
            let Some(spec) = metadata.and_then(|m| m.sharding.as_ref()) else {
                continue;
            };
            let mut changed = metadata.cloned().unwrap_or_default();
            let entries = change(path, spec, from_start(axis, array.ndim()));
            changed.sharding = Some(PartitionSpec::new(entries));
            changes.push((name.to_owned(), path.to_owned(), changed));
        }
    }
    for (name, path, metadata) in changes {
        variables.set_metadata(&name, &path, metadata);
    }
    variables
}

/// Applies `f` to the collection, path and value of each array.
pub(super) fn map_arrays(
    variables: &Variables,
    mut f: impl FnMut(&str, &str, &Array) -> Array,
) -> Variables {
    let mut out = variables.clone();
    for (name, state) in variables.iter() {
        let changed: State = state.map_with_path(|path, array| f(name, path, array));
        out.set(name, changed);
    }
    out
}
