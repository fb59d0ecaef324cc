//! Modules passed to the constructors of other modules, and their names.

use super::Scope;

/// A module that another module was constructed with, such as the cell of an
/// [`RNN`](super::RNN).
///
/// Flax names such a module by where it was constructed. In a compact function it is a
/// submodule of the enclosing module: `nn.RNN(nn.LSTMCell(4))` has the parameters of
/// `LSTMCell_0`, next to those of the `RNN`. Elsewhere it is a submodule of the module that it
/// was passed to: a model that is only the `RNN`, or creates it in `setup`, has the parameters
/// of `cell`. [`Scope::child`], [`Scope::named`] and [`Scope::share`] follow the first rule,
/// [`Scope::setup`] and `init` the second.
#[derive(Clone, Debug)]
pub struct Adopted {
    field: &'static str,
    class: String,
    parts: Vec<Adopted>,
}

impl Adopted {
    /// Creates an entry for the module in a field, by the name of its class.
    pub fn new(field: &'static str, class: impl Into<String>) -> Adopted {
        Adopted {
            field,
            class: class.into(),
            parts: Vec::new(),
        }
    }

    /// Sets the modules that this module was itself constructed with.
    #[must_use]
    pub fn with_parts(mut self, parts: Vec<Adopted>) -> Adopted {
        self.parts = parts;
        self
    }
}

impl Scope {
    /// Gives automatic names in this module to the modules that a submodule was constructed
    /// with.
    #[track_caller]
    pub(super) fn adopt(&mut self, parts: Vec<Adopted>) -> Vec<(&'static str, Vec<String>)> {
        let mut named = Vec::new();
        for part in parts {
            let below = self.adopt(part.parts);
            let name = self.root_mut().automatic_name(self.names(), &part.class);
            let path = self.enter(&name).names().to_vec();
            self.root_mut().adopted.insert(path.clone(), below);
            named.push((part.field, path));
        }
        named
    }

    /// Replaces a parameter, regardless of which collections are mutable.
    pub(crate) fn replace_param(&mut self, path: &str, value: ramie_core::Array) {
        let path = self.path_of(path);
        self.root_mut().variables.put("params", &path, value);
    }
}
