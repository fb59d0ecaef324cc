//! The parsed input of a derive macro: fields and attributes of a type. All errors are reported
//! together, each at its location.

use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields, Generics, Ident, Member, Path, Type};

/// A struct or an enum.
pub struct Input {
    /// Name of the type.
    pub name: Ident,
    /// Generic parameters of the type.
    pub generics: Generics,
    /// Fields of the struct, or of each variant.
    pub shape: Shape,
    /// Path to the traits, if the user specifies it.
    pub root: Option<Path>,
}

/// The fields of a type.
pub enum Shape {
    /// The fields of a struct.
    Struct(Vec<Part>),
    /// The variants of an enum.
    Enum(Vec<Variant>),
}

/// A variant of an enum.
pub struct Variant {
    /// Name of the variant.
    pub name: Ident,
    /// Fields of the variant.
    pub parts: Vec<Part>,
}

/// A field.
pub struct Part {
    /// Name or index of the field.
    pub member: Member,
    /// Type of the field.
    pub ty: Type,
    /// Whether the field is a fixed value rather than a tree.
    pub fixed: bool,
}

impl Part {
    /// Returns whether the parts are a single unnamed field, which adds nothing to the path.
    pub fn transparent(parts: &[Part]) -> bool {
        matches!(
            parts,
            [Part {
                member: Member::Unnamed(_),
                ..
            }]
        )
    }
}

/// The errors found so far.
#[derive(Default)]
struct Errors(Option<syn::Error>);

impl Errors {
    fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            none => *none = Some(error),
        }
    }

    fn at(&mut self, spanned: &impl Spanned, message: &str) {
        self.push(syn::Error::new(spanned.span(), message));
    }
}

impl Input {
    /// Parses a type.
    pub fn parse(input: DeriveInput) -> syn::Result<Input> {
        let mut errors = Errors::default();
        let root = container_attributes(&input.attrs, &mut errors);
        for lifetime in input.generics.lifetimes() {
            errors.at(
                lifetime,
                "a tree owns its arrays: it cannot have a lifetime parameter",
            );
        }
        let shape = match input.data {
            Data::Struct(data) => Shape::Struct(parts(data.fields, &mut errors)),
            Data::Enum(data) => Shape::Enum(
                data.variants
                    .into_iter()
                    .map(|variant| {
                        refuse_attributes(&variant.attrs, "a variant", &mut errors);
                        Variant {
                            name: variant.ident,
                            parts: parts(variant.fields, &mut errors),
                        }
                    })
                    .collect(),
            ),
            Data::Union(data) => {
                errors.at(
                    &data.union_token,
                    "a union cannot be a tree, because its active field is unknown; use an enum",
                );
                Shape::Struct(Vec::new())
            }
        };
        match errors.0 {
            Some(errors) => Err(errors),
            None => Ok(Input {
                name: input.ident,
                generics: input.generics,
                shape,
                root,
            }),
        }
    }
}

/// Returns the `tree` attributes.
fn ours(attrs: &[syn::Attribute]) -> impl Iterator<Item = &syn::Attribute> {
    attrs.iter().filter(|a| a.path().is_ident("tree"))
}

fn container_attributes(attrs: &[syn::Attribute], errors: &mut Errors) -> Option<Path> {
    let mut root = None;
    for attr in ours(attrs) {
        let parsed = attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                let path: syn::LitStr = meta.value()?.parse()?;
                if root.is_some() {
                    return Err(meta.error("duplicate attribute `crate`"));
                }
                root = Some(path.parse_with(Path::parse_mod_style)?);
                return Ok(());
            }
            Err(meta.error(if meta.path.is_ident("fixed") {
                "`fixed` belongs on a field: #[tree(fixed)] features: usize"
            } else {
                "unknown attribute; a type takes #[tree(crate = \"path\")]"
            }))
        });
        if let Err(e) = parsed {
            errors.push(e);
        }
    }
    root
}

fn refuse_attributes(attrs: &[syn::Attribute], what: &str, errors: &mut Errors) {
    for attr in ours(attrs) {
        errors.at(
            attr,
            &format!("{what} takes no #[tree(…)] attribute; #[tree(fixed)] belongs on a field"),
        );
    }
}

fn parts(fields: Fields, errors: &mut Errors) -> Vec<Part> {
    fields
        .into_iter()
        .enumerate()
        .map(|(i, field)| Part {
            fixed: is_fixed(&field.attrs, errors),
            member: match field.ident {
                Some(name) => Member::Named(name),
                None => Member::Unnamed(i.into()),
            },
            ty: field.ty,
        })
        .collect()
}

fn is_fixed(attrs: &[syn::Attribute], errors: &mut Errors) -> bool {
    let mut fixed = false;
    for attr in ours(attrs) {
        let parsed = attr.parse_nested_meta(|meta| {
            if !meta.path.is_ident("fixed") {
                return Err(meta.error("unknown attribute; a field takes #[tree(fixed)]"));
            }
            if fixed {
                return Err(meta.error("duplicate attribute `fixed`"));
            }
            fixed = true;
            Ok(())
        });
        if let Err(e) = parsed {
            errors.push(e);
        }
    }
    fixed
}
