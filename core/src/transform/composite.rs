//! Functions under the name of an operation.

use super::custom::{Call, apply};
use super::{ArgTuple, Function};
use crate::prim::composite::{Composite, CompositeAttribute};
use std::panic::Location;
use std::sync::Arc;

/// What a [`composite`] is called: a name with that of its dialect, `my.gelu`, a
/// version, 0 by default, and attributes.
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
    /// A name with that of its dialect.
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
            "composite: {name:?} is no name of an operation\n  help: give a dialect and a name, \
             such as \"my.gelu\""
        );
    }

    /// With a version of what the name means.
    #[must_use]
    pub fn version(self, version: i32) -> CompositeName {
        CompositeName { version, ..self }
    }

    /// With a value that is part of the operation, by name.
    ///
    /// # Panics
    /// If the name is not of letters, digits and `_`, or there already.
    #[track_caller]
    #[must_use]
    pub fn attribute(mut self, name: &str, value: impl Into<CompositeAttribute>) -> CompositeName {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        assert!(
            begins && name.chars().all(plain) && self.attributes.iter().all(|(k, _)| k != name),
            "composite: {name:?} is no name of a new attribute\n  help: use letters, digits and _, \
             each name once"
        );
        self.attributes.push((name.into(), value.into()));
        self.attributes.sort();
        self
    }
}

/// The function as one operation of a name that a compiler may know
/// (`jax.lax.composite`, `stablehlo.composite`): one that does not know it runs
/// the function.
///
/// ```
/// use ramie_core::{Array, CompositeName, composite, jit};
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
/// It has no derivative: [`custom_jvp`](crate::custom_jvp) or
/// [`custom_vjp`](crate::custom_vjp) around it gives one. `vmap` batches the
/// operations of the function, and the name is gone;
/// [`custom_vmap`](crate::custom_vmap) around it can do otherwise.
///
/// # Panics
/// If the name is not of the form `dialect.name`, of letters, digits, `_`, `.` and
/// `-`.
#[track_caller]
pub fn composite<'f, F, M>(
    f: F,
    name: impl Into<CompositeName>,
) -> Box<<F::Args as ArgTuple>::Fn<'f, F::Output>>
where
    F: Function<M> + 'f,
    M: 'f,
{
    let (at, name) = (Location::caller(), name.into());
    name.check();
    F::Args::spread(move |args| {
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
