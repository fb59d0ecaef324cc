//! `chain`: composition of transformations.

use crate::base::mistake::refuse;
use crate::{ExtraArgs, GradientTransformation, OptState};
use std::collections::BTreeMap;

/// A sequence of transformations: an array or vector of one type, or a tuple of up to eight
/// types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sequence of gradient transformations",
    note = "pass a tuple of up to eight, or an array or vector: chain((clip_by_global_norm(1.0), adam(1e-3)))"
)]
pub trait Transformations {
    /// Returns the transformations in order.
    fn into_list(self) -> Vec<GradientTransformation>;
}

impl<T: Into<GradientTransformation>, const N: usize> Transformations for [T; N] {
    fn into_list(self) -> Vec<GradientTransformation> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<T: Into<GradientTransformation>> Transformations for Vec<T> {
    fn into_list(self) -> Vec<GradientTransformation> {
        self.into_iter().map(Into::into).collect()
    }
}

macro_rules! tuple {
    ($($t:ident $i:tt),+) => {
        impl<$($t: Into<GradientTransformation>),+> Transformations for ($($t,)+) {
            fn into_list(self) -> Vec<GradientTransformation> {
                vec![$(self.$i.into()),+]
            }
        }
    };
}
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

/// Chains transformations: each one receives the updates that the previous one returned
/// (`optax.chain`).
///
/// ```
/// use ramie_optim::{adam, chain, clip_by_global_norm};
/// let tx = chain((clip_by_global_norm(1.0), adam(1e-3)));
/// ```
pub fn chain(transformations: impl Transformations) -> GradientTransformation {
    let list = transformations.into_list();
    let first = list.clone();
    GradientTransformation::passing_on(
        move |params| first.iter().map(|t| t.init(params)).collect::<Vec<_>>(),
        move |mut updates, states: Vec<OptState>, params, extra: &ExtraArgs<'_>| {
            if states.len() != list.len() {
                refuse(&format!(
                    "chain: the state has {} parts, but the chain has {} transformations\n  help: \
                     pass the state that this transformation's `init` or last `update` returned",
                    states.len(),
                    list.len()
                ));
            }
            let mut next = Vec::with_capacity(states.len());
            for (t, state) in list.iter().zip(states) {
                let (u, s) = t.update_with(updates, state, params, extra);
                updates = u;
                next.push(s);
            }
            (updates, next)
        },
    )
}

/// Chains transformations like [`chain`], but names each one. The paths of the state contain the
/// names instead of indices (`optax.named_chain`).
///
/// ```
/// use ramie_optim::{GradientTransformation, adam, clip, named_chain};
/// let parts: [(&str, GradientTransformation); 2] = [("clip", clip(1.0)), ("adam", adam(1e-3).into())];
/// let tx = named_chain(parts);
/// ```
///
/// # Panics
/// Panics if two transformations have the same name.
#[track_caller]
pub fn named_chain<N: Into<String>, T: Into<GradientTransformation>>(
    transformations: impl IntoIterator<Item = (N, T)>,
) -> GradientTransformation {
    let list: Vec<(String, GradientTransformation)> = transformations
        .into_iter()
        .map(|(name, t)| (name.into(), t.into()))
        .collect();
    let names: Vec<&str> = list.iter().map(|(name, _)| name.as_str()).collect();
    for (i, name) in names.iter().enumerate() {
        assert!(
            !names[..i].contains(name),
            "named_chain: two transformations are named `{name}`\n  help: use a different name \
             for each; the names are {}",
            names.join(", ")
        );
    }
    let first = list.clone();
    GradientTransformation::passing_on(
        move |params| {
            let init =
                |(name, t): &(String, GradientTransformation)| (name.clone(), t.init(params));
            first
                .iter()
                .map(init)
                .collect::<BTreeMap<String, OptState>>()
        },
        move |mut updates,
              mut states: BTreeMap<String, OptState>,
              params,
              extra: &ExtraArgs<'_>| {
            for (name, t) in &list {
                let Some(state) = states.remove(name) else {
                    refuse(&format!(
                        "named_chain: the state has no entry `{name}`\n  help: pass the state \
                         that this transformation's `init` or last `update` returned"
                    ))
                };
                let (u, s) = t.update_with(updates, state, params, extra);
                updates = u;
                states.insert(name.clone(), s);
            }
            (updates, states)
        },
    )
}
