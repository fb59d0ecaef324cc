//! `masked`: a transformation of some of the parameters.

use crate::base::mistake::refuse;
use crate::{ExtraArgs, GradientTransformation, OptState, set_to_zero};
use ramie_core::lock::lock;
use ramie_core::{Array, State};
use ramie_derive::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// The state of [`masked`].
#[derive(Tree)]
pub struct MaskedState {
    /// The state of the inner transformation, for the parameters that the mask accepts.
    pub inner_state: OptState,
}

/// The parameters that a transformation applies to, as a map from paths to booleans (a mask tree
/// in Optax).
///
/// An entry applies to the parameter at its path and to all parameters below it. Every parameter
/// must have an entry, and every entry must apply to a parameter.
///
/// ```
/// use ramie_optim::{Mask, add_decayed_weights, masked_by};
/// let mask = Mask::from_iter([("encoder", true), ("head.kernel", true), ("head.bias", false)]);
/// let tx = masked_by(add_decayed_weights(1e-4), mask);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask(BTreeMap<String, bool>);

impl<P: Into<String>> FromIterator<(P, bool)> for Mask {
    fn from_iter<I: IntoIterator<Item = (P, bool)>>(entries: I) -> Mask {
        Mask(entries.into_iter().map(|(p, m)| (p.into(), m)).collect())
    }
}

impl Mask {
    /// Returns the entry for a path: its own, or that of its nearest ancestor.
    fn entry(&self, path: &str) -> Option<(&str, bool)> {
        let mut at = path;
        loop {
            if let Some((path, accepts)) = self.0.get_key_value(at) {
                return Some((path, *accepts));
            }
            at = at.rsplit_once('.')?.0;
        }
    }

    #[track_caller]
    fn check(&self, tree: &State) {
        let without: Vec<&str> = tree.paths().filter(|p| self.entry(p).is_none()).collect();
        let used: Vec<&str> = tree
            .paths()
            .filter_map(|p| Some(self.entry(p)?.0))
            .collect();
        let unused = self
            .0
            .keys()
            .map(String::as_str)
            .filter(|e| !used.contains(e));
        let unused: Vec<&str> = unused.collect();
        if !without.is_empty() || !unused.is_empty() {
            let listed = |names: &[&str]| match names {
                [] => "none".to_owned(),
                names => names.join(", "),
            };
            refuse(&format!(
                "masked_by: the mask does not match the parameters\n  parameters without an \
                 entry: {}\n  entries without a parameter: {}\n  help: add an entry for each \
                 parameter or for a node above it, or use `masked` with a function of the path",
                listed(&without),
                listed(&unused)
            ));
        }
    }
}

/// Applies a transformation to the updates that the predicate accepts by path and array. The
/// others do not change, and the inner state contains no arrays for them.
///
/// `init` prints a warning with the names of the parameters if the predicate accepts none of them, or
/// all of several.
///
/// The predicate must not depend on values, since it receives the parameters in `init` and the
/// updates in `update`.
///
/// ```
/// use ramie_optim::{add_decayed_weights, masked};
/// let decay_kernels = masked(add_decayed_weights(1e-4), |path, _| path.ends_with("kernel"));
/// ```
pub fn masked(
    inner: impl Into<GradientTransformation>,
    mask: impl Fn(&str, &Array) -> bool + Send + Sync + 'static,
) -> GradientTransformation {
    let mask = Arc::new(mask);
    let shared = mask.clone();
    masked_where(inner.into(), mask, move |tree, is_init| {
        if is_init {
            warn_if_useless(tree, |path, array| shared(path, array));
        }
    })
}

/// Applies a transformation like [`masked`], without a warning about a mask that selects all or none.
pub(crate) fn quietly_masked(
    inner: impl Into<GradientTransformation>,
    mask: impl Fn(&str, &Array) -> bool + Send + Sync + 'static,
) -> GradientTransformation {
    masked_where(inner.into(), Arc::new(mask), |_, _| {})
}

/// Prints a warning, once for each list of names, if a mask accepts no parameter, or all of several.
fn warn_if_useless(params: &State, mask: impl Fn(&str, &Array) -> bool) {
    let accepted = params.iter().filter(|(path, a)| mask(path, a)).count();
    let what = match (accepted, params.len()) {
        (_, 0) => return,
        (0, _) => "no parameter, so the transformation has no effect",
        (n, all) if n == all && all > 1 => "all parameters, so it has no effect",
        _ => return,
    };
    let names: Vec<&str> = params.paths().take(8).collect();
    let more = if params.len() > names.len() {
        ", …"
    } else {
        ""
    };
    let message = format!(
        "ramie: the mask of a transformation accepts {what}\n  parameters: {}{more}\n  help: compare \
         the names in the mask with those above",
        names.join(", ")
    );
    static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if lock(&SEEN).insert(message.clone()) {
        eprintln!("{message}");
    }
}

/// Applies a transformation like [`masked`], with a mask that lists the parameters.
///
/// `init` and `update` panic if the structure of the mask differs from that of the parameters.
pub fn masked_by(inner: impl Into<GradientTransformation>, mask: Mask) -> GradientTransformation {
    let shared = Arc::new(mask);
    let accepts = shared.clone();
    masked_where(
        inner.into(),
        Arc::new(move |path, _| accepts.entry(path).is_some_and(|(_, m)| m)),
        move |tree, _| shared.check(tree),
    )
}

type Accepts = dyn Fn(&str, &Array) -> bool + Send + Sync;

fn masked_where(
    inner: GradientTransformation,
    mask: Arc<Accepts>,
    check: impl Fn(&State, bool) + Send + Sync + 'static,
) -> GradientTransformation {
    let check = Arc::new(check);
    let (first, first_mask, first_check) = (inner.clone(), mask.clone(), check.clone());
    GradientTransformation::passing_on(
        move |params| {
            first_check(params, true);
            MaskedState {
                inner_state: first.init(&accepted(&*first_mask, params)),
            }
        },
        move |updates, state: MaskedState, params, extra: &ExtraArgs<'_>| {
            check(&updates, false);
            // The updates of a chain may have other dtypes than the parameters that `init` saw.
            let seen = |path: &str, u: &Array| {
                let param = params.and_then(|params| params.get(path));
                mask(path, param.unwrap_or(u))
            };
            let chosen = updates.masked(seen);
            let among = |all: &State| all.masked(|path, _| chosen.get(path).is_some());
            let params = params.map(among);
            let extra = extra.map_grad(among);
            let (new, inner_state) =
                inner.update_with(chosen.clone(), state.inner_state, params.as_ref(), &extra);
            let merged = updates.map_with_path(|path, u| new.get(path).unwrap_or(u).clone());
            (merged, MaskedState { inner_state })
        },
    )
}

fn accepted(mask: &Accepts, state: &State) -> State {
    state.masked(|path, array| mask(path, array))
}

/// Sets the updates that the predicate accepts by path and array to zero.
///
/// ```
/// use ramie_optim::{adam, chain, freeze};
/// let tx = chain((adam(1e-3), freeze(|path, _| path.starts_with("backbone"))));
/// ```
pub fn freeze(
    mask: impl Fn(&str, &Array) -> bool + Send + Sync + 'static,
) -> GradientTransformation {
    masked(set_to_zero(), mask)
}
