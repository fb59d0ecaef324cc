//! Logical axes: names that a model gives to the dimensions of its arrays, and rules that map
//! them to the axes of a mesh.

use super::context::{Context, MeshGuard};
use super::{PartitionSpec, SpecEntry};
use crate::base::intern::{Table, by_address};
use crate::base::location;
use crate::sharding::AxisName;
use std::fmt;

#[derive(PartialEq, Eq, Hash)]
struct Rules(Vec<(AxisName, SpecEntry)>);

static RULES: Table<Rules> = Table::new();

/// Rules that map names of dimensions to mesh axes, in decreasing priority (the rules of Flax's
/// `logical_axis_rules`).
///
/// A model names its dimensions, `P!["batch", "length", "embed"]`. The mapping to devices is
/// written in one place, separate from the model, and another mesh only needs other rules.
///
/// ```
/// use ramie_core::sharding::LogicalAxisRules;
/// use ramie_core::P;
/// let rules = LogicalAxisRules::new()
///     .rule("batch", "x")
///     .rule("features", "x")
///     .rule("heads", "y")
///     .rule("batch", "z");
/// let spec = rules.to_mesh(&P!["batch", "length", "heads", "features"]);
/// // A mesh axis shards one dimension only; the first matching rule uses `x`.
/// assert_eq!(spec, P!["x", None, "y", None]);
/// ```
#[derive(Clone, Copy)]
pub struct LogicalAxisRules(&'static Rules);
by_address!(LogicalAxisRules);

impl Default for LogicalAxisRules {
    fn default() -> Self {
        LogicalAxisRules::new()
    }
}

impl LogicalAxisRules {
    /// Creates an empty set of rules, which shards nothing.
    pub fn new() -> LogicalAxisRules {
        LogicalAxisRules(RULES.keep(Rules(Vec::new())))
    }

    /// Appends a rule of lower priority than the others: dimensions of this name are sharded over
    /// these mesh axes, or with `SpecEntry::None` never sharded, regardless of later rules.
    #[must_use]
    pub fn rule(self, logical: &str, mesh: impl Into<SpecEntry>) -> LogicalAxisRules {
        let mut rules = self.0.0.clone();
        rules.push((logical.into(), mesh.into()));
        LogicalAxisRules(RULES.keep(Rules(rules)))
    }

    /// Returns whether there is a rule for this name.
    pub fn covers(&self, logical: &str) -> bool {
        let logical = AxisName::from(logical);
        self.0.0.iter().any(|(name, _)| *name == logical)
    }

    /// Converts a spec of dimension names to a spec of mesh axes (`logical_to_mesh_axes` in
    /// Flax). Rules apply in their order; a rule is skipped if its dimension already has axes, or
    /// if another dimension uses one of its axes. Dimensions without a rule are not sharded.
    ///
    /// # Panics
    /// Panics if a name occurs twice, or if an entry has several names.
    #[track_caller]
    pub fn to_mesh(&self, logical: &PartitionSpec) -> PartitionSpec {
        let entries = logical.entries();
        let mut names = Vec::with_capacity(entries.len());
        for entry in entries {
            let name = match entry.axes() {
                [] => None,
                [one] => Some(*one),
                _ => location::fail(&format!(
                    "logical_to_mesh: the entry {entry} of {logical} has several names\n  help: \
                     use one name for each dimension; its rule may contain several axes of the \
                     mesh"
                )),
            };
            if name.is_some() && names.contains(&name) {
                location::fail(&format!(
                    "logical_to_mesh: {entry} occurs more than once in {logical}\n  help: use a \
                     different name for every dimension"
                ));
            }
            names.push(name);
        }
        let unassigned = |(entry, name): (&SpecEntry, &Option<AxisName>)| match name {
            Some(_) => None,
            None => Some(entry.clone()),
        };
        let mut out: Vec<Option<SpecEntry>> = entries.iter().zip(&names).map(unassigned).collect();
        for (logical, mesh) in &self.0.0 {
            let taken = |axis: &AxisName| out.iter().flatten().any(|e| e.axes().contains(axis));
            let free = !mesh.axes().iter().any(taken);
            if let Some(at) = names.iter().position(|n| n.as_ref() == Some(logical))
                && free
                && out[at].is_none()
            {
                out[at] = Some(mesh.clone());
            }
        }
        PartitionSpec::new(out.into_iter().map(Option::unwrap_or_default))
    }
}

impl fmt::Debug for LogicalAxisRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0.0).finish()
    }
}

/// Makes these rules current on this thread as long as the result lives
/// (`flax.linen.logical_axis_rules`).
pub fn set_logical_axis_rules(rules: LogicalAxisRules) -> MeshGuard {
    Context {
        rules: Some(rules),
        ..Context::current()
    }
    .enter()
}

/// Runs `f` with these rules current
/// (`with flax.linen.logical_axis_rules(rules):`).
pub fn with_logical_axis_rules<R>(rules: LogicalAxisRules, f: impl FnOnce() -> R) -> R {
    let _current = set_logical_axis_rules(rules);
    f()
}

/// Returns the current rules of this thread (`flax.linen.get_logical_axis_rules`).
pub fn get_logical_axis_rules() -> Option<LogicalAxisRules> {
    Context::current().rules
}

/// Converts a spec of dimension names to a spec of mesh axes by the current rules; without rules
/// nothing is sharded (`flax.linen.logical_to_mesh`).
///
/// # Panics
/// Panics in the same cases as [`LogicalAxisRules::to_mesh`].
#[doc(alias = "logical_to_mesh_axes")]
#[track_caller]
pub fn logical_to_mesh(logical: &PartitionSpec) -> PartitionSpec {
    let rules = Context::current().rules.unwrap_or_default();
    rules.to_mesh(logical)
}
