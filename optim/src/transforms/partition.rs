//! `partition`: different transformations for different parameters.

use crate::base::mistake::refuse;
use crate::transforms::masked::quietly_masked;
use crate::{ExtraArgs, GradientTransformation, MaskedState, OptState, set_to_zero};
use ramie_core::{Array, State};
use ramie_derive::Tree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of [`partition`].
#[doc(alias = "MultiTransformState")]
#[derive(Tree)]
pub struct PartitionState {
    /// The state of each transformation by its label, a [`MaskedState`].
    pub inner_states: BTreeMap<String, OptState>,
}

/// Applies a transformation to each parameter, chosen by the label that `param_label` returns for
/// its path and array (`optax.partition`).
///
/// ```
/// use ramie_optim::{GradientTransformation, adam, partition, sgd};
/// let groups: [(&str, GradientTransformation); 2] =
///     [("slow", sgd(1e-4).into()), ("fast", adam(1e-3).into())];
/// let tx = partition(groups, |path, _| {
///     if path.starts_with("backbone") { "slow" } else { "fast" }.to_owned()
/// });
/// ```
///
/// `init` and `update` panic if a label has no transformation.
///
/// The gradients in the extra arguments are restricted to the parameters of each label, as with
/// `mask_compatible_extra_args=True` in Optax.
#[doc(alias = "multi_transform")]
pub fn partition<L: Into<String>, T: Into<GradientTransformation>>(
    transforms: impl IntoIterator<Item = (L, T)>,
    param_label: impl Fn(&str, &Array) -> String + Send + Sync + 'static,
) -> GradientTransformation {
    let label = Arc::new(param_label);
    let masks: BTreeMap<String, GradientTransformation> = transforms
        .into_iter()
        .map(|(own, tx)| {
            let (own, label) = (own.into(), label.clone());
            let mine = own.clone();
            (
                own,
                quietly_masked(tx, move |path, array| label(path, array) == mine),
            )
        })
        .collect();
    let (first, first_label) = (masks.clone(), label.clone());
    GradientTransformation::passing_on(
        move |params| {
            check(&first, params, &*first_label);
            let init =
                |(own, tx): (&String, &GradientTransformation)| (own.clone(), tx.init(params));
            PartitionState {
                inner_states: first.iter().map(init).collect(),
            }
        },
        move |mut updates, state: PartitionState, params, extra: &ExtraArgs<'_>| {
            let known = params.filter(|p| p.paths().eq(updates.paths()));
            check(&masks, known.unwrap_or(&updates), &*label);
            let mut inner_states = BTreeMap::new();
            let mut states = state.inner_states;
            for (own, tx) in &masks {
                let Some(state) = states.remove(own) else {
                    refuse(&format!(
                        "partition: the state has no entry for the label `{own}`\n  help: pass \
                         the state that this transformation's `init` or last `update` returned"
                    ))
                };
                let (u, s) = tx.update_with(updates, state, params, extra);
                updates = u;
                inner_states.insert(own.clone(), s);
            }
            (updates, PartitionState { inner_states })
        },
    )
}

#[track_caller]
fn check(
    known: &BTreeMap<String, GradientTransformation>,
    params: &State,
    label: &dyn Fn(&str, &Array) -> String,
) {
    for (path, array) in params.iter() {
        let found = label(path, array);
        if !known.contains_key(&found) {
            refuse(&format!(
                "partition: `{path}` has the label `{found}`, which has no transformation\n  help: \
                 use one of these labels: {}",
                known.keys().cloned().collect::<Vec<_>>().join(", ")
            ));
        }
    }
}

/// Applies `optimizer` to the parameters that `frozen` rejects. The parameters that `frozen`
/// accepts by path and array get zero updates and take no memory in the state.
///
/// ```
/// use ramie_optim::{adam, selective_transform};
/// let tx = selective_transform(adam(1e-3), |path, _| path.starts_with("backbone"));
/// ```
pub fn selective_transform(
    optimizer: impl Into<GradientTransformation>,
    frozen: impl Fn(&str, &Array) -> bool + Send + Sync + 'static,
) -> GradientTransformation {
    let groups = [("train", optimizer.into()), ("freeze", set_to_zero())];
    partition(groups, move |path, array| {
        if frozen(path, array) {
            "freeze"
        } else {
            "train"
        }
        .to_owned()
    })
}

impl PartitionState {
    /// Returns the state of the transformation with a label, or `None` if there is none.
    pub fn of(&self, label: &str) -> Option<&OptState> {
        let masked = self.inner_states.get(label)?.get::<MaskedState>()?;
        Some(&masked.inner_state)
    }
}
