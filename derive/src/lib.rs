//! Derive macros of Ramie: [`Tree`](derive@Tree) and [`Module`](derive@Module).
//!
//! Most users take them through `ramie`, which re-exports them.
#![forbid(unsafe_code)]

mod input;
mod paths;
mod tree;

use proc_macro::TokenStream;

/// Implements `Tree` for a struct or an enum, part by part.
///
/// Each field is walked by its own implementation of `Tree`: arrays are
/// leaves, numbers and strings are fixed, structs that derive `Tree` are
/// walked in turn. Paths are made of field names, and of places where fields
/// have no names; a struct with one unnamed field adds nothing to the path.
/// Which variant an enum holds is fixed.
///
/// # Attributes
/// - `#[tree(fixed)]` on a field: the field is a hyperparameter, part of what
///   a compiled function is compiled for. Its type needs `Hash`, `Debug`,
///   `Clone`, `Send` and `Sync`, and no `Tree`.
/// - `#[tree(crate = "path")]` on the type: where the traits are found, for
///   crates that reach Ramie under another name. By default the macro looks at
///   the package's dependencies for `ramie`, then for `ramie-core`.
///
/// ```
/// use ramie_core::{Array, DType, tree};
/// use ramie_derive::Tree;
///
/// #[derive(Clone, Debug, Hash)]
/// enum Padding { Same, Valid }
///
/// #[derive(Tree)]
/// struct Conv {
///     kernel: Array,
///     features: usize,
///     #[tree(fixed)]
///     padding: Padding,
/// }
///
/// let kernel = Array::scalar(1.0, DType::F32);
/// let conv = Conv { kernel, features: 1, padding: Padding::Same };
/// assert_eq!(tree::paths(&conv), ["kernel"]);
/// ```
///
/// A field that is neither a tree nor marked as fixed does not compile:
/// ```compile_fail,E0277
/// # use ramie_derive::Tree;
/// enum Padding { Same, Valid }
/// #[derive(Tree)]
/// struct Conv { padding: Padding }
/// ```
///
/// # Generics
/// A type parameter gets the bound `Tree`; one that only fixed fields name
/// gets the bounds of a fixed value.
#[proc_macro_derive(Tree, attributes(tree))]
pub fn derive_tree(tokens: TokenStream) -> TokenStream {
    expand(tokens, tree::expand)
}

/// Implements `Tree`, as [`derive(Tree)`](derive@Tree) does, and `Module`.
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
