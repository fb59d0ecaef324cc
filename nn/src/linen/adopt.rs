//! Modules that other modules are made of.

use super::Scope;

/// A module that another one was made with, such as the cell of an
/// [`RNN`](super::RNN).
///
/// Flax names it by where it was made. In a compact function that is the
/// module around both: `nn.RNN(nn.LSTMCell(4))` there has the parameters of
/// `LSTMCell_0`, beside it. Elsewhere it is a part of the other module: a model
/// that is only the `RNN`, or has it from its `setup`, has those of `cell`.
/// So do [`Scope::child`], [`Scope::named`] and [`Scope::share`] on one hand,
/// [`Scope::setup`] and `init` on the other.
#[derive(Clone, Debug)]
pub struct Adopted {
    field: &'static str,
    class: String,
    parts: Vec<Adopted>,
}

impl Adopted {
    /// The module of a field, by the name of its class.
    pub fn new(field: &'static str, class: impl Into<String>) -> Adopted {
        Adopted {
            field,
            class: class.into(),
            parts: Vec::new(),
        }
    }

    /// With the modules that it was made with.
    #[must_use]
    pub fn with_parts(mut self, parts: Vec<Adopted>) -> Adopted {
        self.parts = parts;
        self
    }
}

impl Scope {
    /// Names modules that a part was made with, as parts of this module.
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

    /// Another parameter in the place of one, whatever may change.
    pub(crate) fn replace_param(&mut self, path: &str, value: ramie_core::Array) {
        let path = self.path_of(path);
        self.root_mut().variables.put("params", &path, value);
    }
}
