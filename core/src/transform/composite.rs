//! Functions as named composite operations.

use super::Function;
use super::custom::{Call, apply};
use crate::prim::composite::{Composite, CompositeAttribute};
use std::panic::Location;
use std::sync::Arc;

/// Name of a [`composite`] operation: a name with its dialect, `my.gelu`, a version, which
/// defaults to 0, and attributes.
#[derive(Clone, Debug)]
pub struct CompositeName {
    name: Arc<str>,
    version: i32,
    attributes: Vec<(String, CompositeAttribute)>,
}

impl From<&str> for CompositeName {
    fn from(name: &str) -> Self {
        CompositeName {
            name: name.into(),
            version: 0,
            attributes: Vec::new(),
        }
    }
}

impl CompositeName {
    /// Creates a name, which includes the dialect.
    pub fn new(name: &str) -> CompositeName {
        name.into()
    }

    #[track_caller]
    fn check(&self) {
        let name = &*self.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
        let named = name.find('.').is_some_and(|at| at + 1 < name.len());
        assert!(
            begins && named && name.chars().all(plain),
            "composite: {name:?} is not a valid operation name\n  help: use a dialect and a name, \
             such as \"my.gelu\""
        );
    }

    /// Sets the version of the operation. Defaults to 0.
    #[must_use]
    pub fn version(self, version: i32) -> CompositeName {
        CompositeName { version, ..self }
    }

    /// Adds a named attribute.
    ///
    /// # Panics
    /// Panics if the name contains characters other than letters, digits and `_`, starts with a
    /// digit, is empty, or was already added.
    #[track_caller]
    #[must_use]
    pub fn attribute(mut self, name: &str, value: impl Into<CompositeAttribute>) -> CompositeName {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        assert!(
            begins && name.chars().all(plain) && self.attributes.iter().all(|(k, _)| k != name),
            "composite: {name:?} is not a valid new attribute name\n  help: use letters, digits \
             and _, and each name once"
        );
        self.attributes.push((name.into(), value.into()));
        self.attributes.sort();
        self
    }
}

/// Returns the function as one named operation that a compiler may recognize
/// (`jax.lax.composite`, `stablehlo.composite`). A compiler that does not know it runs the
/// function.
///
/// ```
/// use ramie_core::lax::composite;
/// use ramie_core::typing::CompositeName;
/// use ramie_core::{jit, Array};
/// let name = CompositeName::new("my.scaled_sine").version(1).attribute("scale", 2.0f32);
/// let f = composite(|x: Array| x.sin() * 2.0, name);
/// let f = jit(move |x: Array| f(x));
/// let x = Array::from([0.0f32, 1.0]);
/// let text = f.lower((x.clone(),))?.as_text();
/// assert!(text.contains("my.scaled_sine"), "{text}");
/// assert_eq!(f(x).to_vec::<f32>(), [0.0, 2.0 * 1.0f32.sin()]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// A composite has no derivative: wrap it in [`custom_jvp`](crate::custom_jvp) or
/// [`custom_vjp`](crate::custom_vjp) to define one. `vmap` batches the operations of the function
/// and drops the name; [`custom_vmap`](crate::custom_vmap) around it can define another rule.
///
/// # Panics
/// Panics if the name is not of the form `dialect.name`, starts with something other than a
/// letter, or contains characters other than letters, digits, `_`, `.` and `-`.
#[track_caller]
pub fn composite<'f, F, M>(f: F, name: impl Into<CompositeName>) -> Box<F::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
{
    let (at, name) = (Location::caller(), name.into());
    name.check();
    F::untupled(move |args| {
        apply(&f, args, at, |call| {
            let Call { jaxpr, .. } = call;
            Composite {
                name: name.name.clone(),
                version: name.version,
                attributes: name.attributes.clone(),
                jaxpr,
            }
        })
    })
}
