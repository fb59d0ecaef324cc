//! Resolution of the paths by which generated code refers to Ramie.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Ident, Path};

/// The paths of `ramie_core` and `ramie_nn` in the crate being compiled.
pub struct Roots {
    /// Path of the crate with `tree::Tree` and `Array`.
    pub core: TokenStream,
    /// Path of the crate with `Module`.
    pub module: TokenStream,
}

impl Roots {
    /// Returns the user's path, or else searches the dependencies of the package: first for
    /// `ramie`, which re-exports everything, then for the member crates.
    pub fn find(explicit: Option<&Path>) -> Result<Roots, String> {
        if let Some(path) = explicit {
            return Ok(Roots {
                core: quote!(#path),
                module: quote!(#path),
            });
        }
        if let Some(ramie) = dependency("ramie") {
            return Ok(Roots {
                core: quote!(#ramie::__private::ramie_core),
                module: quote!(#ramie::__private::ramie_nn),
            });
        }
        let nn = dependency("ramie-nn");
        match (dependency("ramie-core"), nn) {
            (Some(core), nn) => Ok(Roots {
                module: nn.unwrap_or_else(|| core.clone()),
                core,
            }),
            (None, Some(nn)) => Ok(Roots {
                core: quote!(#nn::__private::ramie_core),
                module: nn,
            }),
            (None, None) => Err(
                "this package depends on neither `ramie` nor `ramie-core`; add one of them, or \
                 specify the path: #[tree(crate = \"path::to::ramie_core\")]"
                    .into(),
            ),
        }
    }
}

/// Returns the path of a package under the name that this crate imports it by.
fn dependency(package: &str) -> Option<TokenStream> {
    let name = match crate_name(package).ok()? {
        // The library of the package names itself (`extern crate self as …`), so one path works
        // in the library, its examples and its tests.
        FoundCrate::Itself => package.replace('-', "_"),
        FoundCrate::Name(name) => name,
    };
    let name = Ident::new(&name, Span::call_site());
    Some(quote!(::#name))
}
