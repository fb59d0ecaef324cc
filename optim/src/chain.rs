//! `chain`: one transformation after another.

use crate::{GradientTransformation, OptState};

/// Several transformations: an array or a vector of one type, or a tuple of
/// several.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sequence of gradient transformations",
    note = "pass a tuple of up to eight, or an array or vector: chain((clip_by_global_norm(1.0), adam(1e-3)))"
)]
pub trait Transformations {
    /// The transformations, in order.
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

/// Applies transformations one after another; each sees what the one before
/// made of the updates.
///
/// ```
/// use ramie_optim::{adam, chain, clip_by_global_norm};
/// let tx = chain((clip_by_global_norm(1.0), adam(1e-3)));
/// ```
pub fn chain(transformations: impl Transformations) -> GradientTransformation {
    let list = transformations.into_list();
    let first = list.clone();
    GradientTransformation::new(
        move |params| first.iter().map(|t| t.init(params)).collect::<Vec<_>>(),
        move |mut updates, states: Vec<OptState>, params| {
            let mut next = Vec::with_capacity(states.len());
            for (t, state) in list.iter().zip(states) {
                let (u, s) = t.update(updates, state, params);
                updates = u;
                next.push(s);
            }
            (updates, next)
        },
    )
}
