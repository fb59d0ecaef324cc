//! Generation of the implementations.

use crate::input::{Input, Part, Shape};
use crate::paths::Roots;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, Member, PathArguments, Type};

/// Generates `impl Tree`.
pub fn expand(input: &Input) -> syn::Result<TokenStream> {
    let roots = roots(input)?;
    Ok(tree_impl(input, &roots.core, false))
}

/// Generates `impl Tree` and `impl Module`.
pub fn expand_module(input: &Input) -> syn::Result<TokenStream> {
    let roots = roots(input)?;
    let tree = tree_impl(input, &roots.core, true);
    let name = &input.name;
    let generics = bounded(input, &roots.core);
    let (params, arguments, clause) = generics.split_for_impl();
    let module = &roots.module;
    Ok(quote! {
        #tree
        #[automatically_derived]
        impl #params #module::Module for #name #arguments #clause {}
    })
}

fn roots(input: &Input) -> syn::Result<Roots> {
    Roots::find(input.root.as_ref()).map_err(|m| syn::Error::new(Span::call_site(), m))
}

fn tree_impl(input: &Input, core: &TokenStream, is_module: bool) -> TokenStream {
    let name = &input.name;
    let generics = bounded(input, core);
    let (params, arguments, clause) = generics.split_for_impl();
    let Arms {
        walk,
        walk_mut,
        rebuild,
        visit,
    } = Arms::of_shape(core, name, &input.shape);
    // An enum without variants has no values. The compiler recognizes this in a match on the
    // place, but not in a match on the reference.
    let (shared, unique) = if walk.is_empty() {
        (quote!(*self), quote!(*self))
    } else {
        (quote!(self), quote!(self))
    };
    let label = syn::ext::IdentExt::unraw(name).to_string();
    let codomain = codomain_impl(input, core);
    let hyperparameters = is_module
        .then(|| quote!(#core::tree::Visitor::metadata(__visitor, &#core::tree::Hyperparameters);));
    quote! {
        #codomain
        #[automatically_derived]
        #[allow(unused_variables, clippy::all)]
        impl #params #core::tree::Tree for #name #arguments #clause {
            fn walk(&self, __visitor: &mut dyn #core::tree::Visitor) {
                #core::tree::Visitor::node(__visitor, #label, self);
                #hyperparameters
                match #shared { #(#walk)* }
            }
            fn walk_mut(&mut self, __visit: &mut dyn ::core::ops::FnMut(&mut #core::Array)) {
                match #unique { #(#walk_mut)* }
            }
            fn rebuild(
                &self,
                __leaf: &mut dyn ::core::ops::FnMut(&#core::Array) -> #core::Array,
            ) -> Self {
                match #shared { #(#rebuild)* }
            }
            fn visit_parts(
                &mut self,
                __visit: &mut dyn ::core::ops::FnMut(&mut dyn ::core::any::Any),
            ) {
                match #unique { #(#visit)* }
            }
        }
    }
}

/// Generates `impl Codomain`: the Jacobian of the type is a map by path.
fn codomain_impl(input: &Input, core: &TokenStream) -> TokenStream {
    let name = &input.name;
    let mut generics = bounded(input, core);
    let (_, arguments, _) = generics.split_for_impl();
    let arguments = quote!(#arguments);
    let argument: syn::TypeParam = syn::parse_quote!(__Argument: #core::tree::Tree);
    generics.params.push(syn::GenericParam::Type(argument));
    let (params, _, clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        #[doc(hidden)]
        impl #params #core::typing::Codomain<__Argument> for #name #arguments #clause {
            type Jacobian = ::std::collections::BTreeMap<::std::string::String, __Argument>;
            fn collect(
                &self,
                __of: &mut dyn ::core::ops::FnMut(&#core::Array) -> __Argument,
            ) -> Self::Jacobian {
                #core::tree::collect_by_path(self, __of)
            }
        }
    }
}

/// The `match` arms of each method, one for each struct or variant.
#[derive(Default)]
struct Arms {
    walk: Vec<TokenStream>,
    walk_mut: Vec<TokenStream>,
    rebuild: Vec<TokenStream>,
    visit: Vec<TokenStream>,
}

impl Arms {
    fn of_shape(core: &TokenStream, name: &Ident, shape: &Shape) -> Arms {
        let variants = match shape {
            Shape::Struct(parts) => return Arms::of(core, quote!(#name), None, parts),
            Shape::Enum(variants) => variants,
        };
        let mut all = Arms::default();
        for (i, variant) in variants.iter().enumerate() {
            let label = &variant.name;
            let index = u32::try_from(i).unwrap_or(u32::MAX);
            let tag = quote!(#core::tree::Variant::new(#index, stringify!(#label)));
            let path = quote!(#name::#label);
            all.extend(Arms::of(core, path, Some(tag), &variant.parts));
        }
        all
    }

    fn extend(&mut self, other: Arms) {
        self.walk.extend(other.walk);
        self.walk_mut.extend(other.walk_mut);
        self.rebuild.extend(other.rebuild);
        self.visit.extend(other.visit);
    }

    fn of(core: &TokenStream, path: TokenStream, tag: Option<TokenStream>, parts: &[Part]) -> Arms {
        let members: Vec<&Member> = parts.iter().map(|p| &p.member).collect();
        let bindings: Vec<Ident> = (0..).zip(parts).map(|(i, part)| binding(i, part)).collect();
        let pattern = quote!(#path { #(#members: #bindings),* });
        let transparent = Part::transparent(parts);
        let walks = parts.iter().zip(&bindings).map(|(part, binding)| {
            let span = part.ty.span();
            let walk = if part.fixed {
                let value = fixed_value(core, &part.ty, binding);
                quote_spanned!(span=> #core::tree::Visitor::value(__visitor, #value);)
            } else {
                quote_spanned!(span=> #core::tree::Tree::walk(#binding, __visitor);)
            };
            if transparent {
                return walk;
            }
            let key = match &part.member {
                Member::Named(name) => {
                    let name = syn::ext::IdentExt::unraw(name).to_string();
                    quote!(#core::tree::Key::Field(#name))
                }
                Member::Unnamed(place) => {
                    let place = place.index as usize;
                    quote!(#core::tree::Key::Index(#place))
                }
            };
            quote! {
                #core::tree::Visitor::enter(__visitor, #key);
                #walk
                #core::tree::Visitor::exit(__visitor);
            }
        });
        let tag = tag.map(|tag| quote!(#core::tree::Visitor::fixed(__visitor, &#tag);));
        let trees = parts.iter().zip(&bindings).filter(|(part, _)| !part.fixed);
        let walks_mut = trees.map(|(part, binding)| {
            quote_spanned!(part.ty.span()=> #core::tree::Tree::walk_mut(#binding, __visit);)
        });
        let rebuilds = parts.iter().zip(&bindings).map(|(part, binding)| {
            let (member, span) = (&part.member, part.ty.span());
            if part.fixed {
                quote_spanned!(span=> #member: ::core::clone::Clone::clone(#binding))
            } else {
                quote_spanned!(span=> #member: #core::tree::Tree::rebuild(#binding, __leaf))
            }
        });
        let visits = parts.iter().zip(&bindings).map(|(part, binding)| {
            let span = part.ty.span();
            if part.fixed {
                quote_spanned!(span=> __visit(#binding);)
            } else {
                quote_spanned!(span=> #core::tree::part(#binding, __visit);)
            }
        });
        Arms {
            visit: vec![quote!(#pattern => { #(#visits)* })],
            walk: vec![quote!(#pattern => { #tag #(#walks)* })],
            walk_mut: vec![quote!(#pattern => { #(#walks_mut)* })],
            rebuild: vec![quote!(#pattern => #path { #(#rebuilds),* },)],
        }
    }
}

/// Returns a reference to the hashable form of a fixed field. Floats are compared by their bits.
fn fixed_value(core: &TokenStream, ty: &Type, binding: &Ident) -> TokenStream {
    let float =
        |value: TokenStream| quote!(#core::tree::Float(::core::convert::From::from(#value)));
    if is_float(ty) {
        let value = float(quote!(*#binding));
        return quote!(&#value);
    }
    if argument_of_option(ty).is_some_and(is_float) {
        let value = float(quote!(value));
        quote!(&::core::option::Option::map(*#binding, |value| #value))
    } else {
        quote!(#binding)
    }
}

/// Returns a type without parentheses and without the invisible group around a type that a
/// `macro_rules!` macro passes.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        _ => ty,
    }
}

/// Returns whether a type is a floating-point number, by its name.
fn is_float(ty: &Type) -> bool {
    let Type::Path(path) = ungrouped(ty) else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|s| {
        ["f16", "bf16", "f32", "f64"]
            .iter()
            .any(|name| s.ident == name)
    })
}

/// Returns `T` for the type `Option<T>`.
fn argument_of_option(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ungrouped(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) if last.ident == "Option" => {
            match arguments.args.first()? {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the name of a part in a pattern. It has the span of the part's type, so that compiler
/// errors about the type point there.
fn binding(place: usize, part: &Part) -> Ident {
    let span = part.ty.span().resolved_at(Span::call_site());
    format_ident!("__part{place}", span = span)
}

/// Returns the type's generic parameters with the bounds that its parts need.
fn bounded(input: &Input, core: &TokenStream) -> syn::Generics {
    let parts: Vec<&Part> = match &input.shape {
        Shape::Struct(parts) => parts.iter().collect(),
        Shape::Enum(variants) => variants.iter().flat_map(|v| &v.parts).collect(),
    };
    let named = |name: &Ident, fixed: bool| {
        parts
            .iter()
            .any(|p| p.fixed == fixed && mentions(p.ty.to_token_stream(), name))
    };
    let mut generics = input.generics.clone();
    for param in generics.type_params_mut() {
        let (tree, fixed) = (named(&param.ident, false), named(&param.ident, true));
        if tree || !fixed {
            param.bounds.push(syn::parse_quote!(#core::tree::Tree));
        }
        if fixed {
            for bound in [
                quote!(::core::hash::Hash),
                quote!(::core::fmt::Debug),
                quote!(::core::clone::Clone),
                quote!(::core::marker::Send),
                quote!(::core::marker::Sync),
                quote!('static),
            ] {
                param.bounds.push(syn::parse_quote!(#bound));
            }
        }
        param.default = None;
    }
    generics
}

/// Returns whether a type mentions a parameter.
fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}
