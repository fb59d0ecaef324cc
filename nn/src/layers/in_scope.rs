//! Layers in the scopes of Linen modules.

use crate::linen::Scope;
use crate::{Vars, collection_of, for_each_variable};
use ramie_core::{Array, Tree};

/// [`Scope::layer`], expanded in place so that panics report the line of the caller.
macro_rules! in_scope {
    ($scope:expr, |$vars:ident| $make:expr, |$layer:ident| $call:expr $(,)?) => {{
        let $layer = &mut {
            let $vars = &mut $crate::VarSource::vars($scope);
            $make
        };
        let before = ramie_core::tree::leaves(&*$layer);
        let out = $call;
        $scope.keep_changes(before, &*$layer);
        out
    }};
}
pub(crate) use in_scope;

impl Scope {
    /// Builds a layer with the variables of this scope, calls it, and stores the variables that
    /// the call changed. This is how the layers of this crate work as Linen modules.
    ///
    /// During initialization nothing is stored afterwards: variables keep their initial values.
    ///
    /// # Panics
    /// Panics if a variable of an immutable collection changed.
    #[track_caller]
    pub fn layer<L: Tree, R>(
        &mut self,
        make: impl FnOnce(&mut Vars<'_>) -> L,
        call: impl FnOnce(&mut L) -> R,
    ) -> R {
        in_scope!(self, |vars| make(vars), |layer| call(layer))
    }

    /// Stores the variables of a layer that a call has changed.
    #[track_caller]
    pub(crate) fn keep_changes<L: Tree>(&mut self, before: Vec<Array>, layer: &L) {
        if self.is_initializing() {
            return;
        }
        let mut before = before.into_iter();
        let mut changed = Vec::new();
        for_each_variable(layer, |path, kind, _, array| {
            let same = before.next().is_some_and(|old| old.same(array));
            if let Some(kind) = kind.filter(|_| !same) {
                changed.push((
                    collection_of(kind).into_owned(),
                    path.to_owned(),
                    array.clone(),
                ));
            }
        });
        for (collection, path, value) in changed {
            self.put_variable(&collection, &path, value);
        }
    }
}
