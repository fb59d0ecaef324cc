//! `Module`: what a layer or a model is.

use ramie_core::Tree;

/// A tree with a forward computation: a layer or a model.
///
/// The trait marks the type and asks for nothing; `#[derive(Module)]`
/// implements it together with [`Tree`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a module",
    note = "add `#[derive(Module)]` to the type"
)]
pub trait Module: Tree {}
