//! Derive macros of Ramie: [`Tree`](derive@Tree) and [`Module`](derive@Module).
//!
//! Most users use them through `ramie`, which re-exports them.
#![forbid(unsafe_code)]

mod input;
mod paths;
mod tree;

use proc_macro::TokenStream;

/// Implements `Tree` for a struct or an enum, field by field.
///
/// Each field is visited through its own implementation of `Tree`: arrays are leaves, numbers and
/// strings are static values that checkpoints store, and structs that derive `Tree` are visited
/// recursively. Paths consist of field names, or of indices for unnamed fields. A struct with a
/// single unnamed field adds nothing to the path. The active variant of an enum is a fixed value.
///
/// # Attributes
/// - `#[tree(fixed)]` on a field: the field is a hyperparameter, one of the values that a
///   compiled function is specialized for. Checkpoints do not store it. Its type needs `Hash`,
///   `Debug`, `Clone`, `Send` and `Sync`, but not `Tree`. Floats and optional floats are allowed,
///   too.
/// - `#[tree(crate = "path")]` on the type: the path of the crate with the traits, for crates
///   that import Ramie under another name. By default, the macro searches the dependencies of the
///   package for `ramie`, then for `ramie-core` and `ramie-nn`.
///
/// # Generics
/// A type parameter gets the bound `Tree`, unless it occurs only in fixed fields. A parameter
/// that occurs in a fixed field gets the bounds of a fixed value.
#[proc_macro_derive(Tree, attributes(tree))]
pub fn derive_tree(tokens: TokenStream) -> TokenStream {
    expand(tokens, tree::expand)
}

/// Implements `Tree` as [`derive(Tree)`](derive@Tree) does, and `Module`. All numbers and strings
/// of a module are hyperparameters, as in Flax's NNX: checkpoints store only its arrays.
#[proc_macro_derive(Module, attributes(tree))]
pub fn derive_module(tokens: TokenStream) -> TokenStream {
    expand(tokens, tree::expand_module)
}

fn expand(
    tokens: TokenStream,
    with: fn(&input::Input) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    syn::parse(tokens)
        .and_then(input::Input::parse)
        .and_then(|input| with(&input))
        .unwrap_or_else(|errors| errors.into_compile_error())
        .into()
}
