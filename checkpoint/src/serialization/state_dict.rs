//! `StateDict`: what Flax makes of a tree before it writes it.

use super::array::Stored;
use super::encode;
use crate::{Error, Result};
use ramie_core::{Array, Scalar, State};
use std::collections::HashSet;

/// A tree without its types, as Flax keeps it: dictionaries of dictionaries,
/// down to arrays.
///
/// Lists, tuples and structs are dictionaries as well, lists and tuples with the
/// names `"0"`, `"1"`, ….
#[derive(Clone, Debug)]
pub enum StateDict<A = Array> {
    /// Parts by name, in order, each name once.
    Dict(Vec<(String, StateDict<A>)>),
    /// Parts in order. A state dict of Flax has none; its msgpack format keeps
    /// them all the same.
    List(Vec<StateDict<A>>),
    /// An array.
    Array(A),
    /// A scalar of NumPy: an array of shape `[]` that the format keeps apart
    /// from others.
    NumpyScalar(A),
    /// A number or truth value of Python, without an element type.
    Number(Scalar),
    /// A text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Python's `None`.
    None,
}

impl<A> StateDict<A> {
    /// The part at a dotted path: `"params.Dense_0.kernel"`. A name that has
    /// dots itself is found, too.
    pub fn get(&self, path: &str) -> Option<&StateDict<A>> {
        if path.is_empty() {
            return Some(self);
        }
        let ends = path.match_indices('.').map(|(at, _)| at);
        ends.chain([path.len()]).find_map(|end| {
            let rest = path.get(end + 1..).unwrap_or("");
            self.child(&path[..end])?.get(rest)
        })
    }

    fn child(&self, name: &str) -> Option<&StateDict<A>> {
        match self {
            StateDict::Dict(parts) => parts.iter().find(|(n, _)| n == name).map(|(_, p)| p),
            StateDict::List(parts) => parts.get(name.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// The same dictionaries with other arrays.
    pub(super) fn map<B>(self, f: &mut impl FnMut(A) -> B) -> StateDict<B> {
        match self {
            StateDict::Dict(parts) => {
                let parts = parts.into_iter().map(|(name, part)| (name, part.map(f)));
                StateDict::Dict(parts.collect())
            }
            StateDict::List(parts) => {
                StateDict::List(parts.into_iter().map(|part| part.map(f)).collect())
            }
            StateDict::Array(a) => StateDict::Array(f(a)),
            StateDict::NumpyScalar(a) => StateDict::NumpyScalar(f(a)),
            StateDict::Number(n) => StateDict::Number(n),
            StateDict::Str(s) => StateDict::Str(s),
            StateDict::Bytes(b) => StateDict::Bytes(b),
            StateDict::None => StateDict::None,
        }
    }

    /// What the part is, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            StateDict::Dict(_) => "a dictionary",
            StateDict::List(_) => "a list",
            StateDict::Array(_) => "an array",
            StateDict::NumpyScalar(_) => "a scalar of NumPy",
            StateDict::Number(Scalar::Bool(_)) => "a truth value",
            StateDict::Number(_) => "a number",
            StateDict::Str(_) => "a text",
            StateDict::Bytes(_) => "bytes",
            StateDict::None => "None",
        }
    }

    /// The leaves with their dotted paths, in order. Empty parts and `None`
    /// have no leaf.
    ///
    /// # Errors
    /// If two leaves have one path.
    pub fn leaves(&self) -> Result<Vec<(String, &StateDict<A>)>> {
        let mut leaves = self.parts();
        leaves.retain(|(_, part)| !part.is_empty());
        let mut seen = HashSet::new();
        match leaves.iter().find(|(path, _)| !seen.insert(path.as_str())) {
            Some((path, _)) => Err(Error::state_dict(
                path,
                "is there twice, once through a name with dots\n  help: take the part by \
                 `StateDict::get`",
            )),
            None => Ok(leaves),
        }
    }

    /// Whether it has neither parts nor a value.
    fn is_empty(&self) -> bool {
        match self {
            StateDict::Dict(parts) => parts.is_empty(),
            StateDict::List(parts) => parts.is_empty(),
            StateDict::None => true,
            _ => false,
        }
    }

    /// The leaves and the empty parts with their dotted paths, in order.
    fn parts(&self) -> Vec<(String, &StateDict<A>)> {
        let mut parts = Vec::new();
        self.collect(&mut String::new(), &mut parts);
        parts
    }

    fn collect<'a>(&'a self, path: &mut String, leaves: &mut Vec<(String, &'a StateDict<A>)>) {
        let length = path.len();
        let mut below = |name: &str, part: &'a StateDict<A>| {
            if length > 0 {
                path.push('.');
            }
            path.push_str(name);
            part.collect(path, leaves);
            path.truncate(length);
        };
        match self {
            _ if self.is_empty() => leaves.push((path.clone(), self)),
            StateDict::Dict(parts) => parts.iter().for_each(|(name, part)| below(name, part)),
            StateDict::List(parts) => {
                let numbered = parts.iter().enumerate();
                numbered.for_each(|(i, part)| below(&i.to_string(), part));
            }
            _ => leaves.push((path.clone(), self)),
        }
    }
}

impl StateDict {
    /// The arrays by their dotted paths; numbers become arrays of shape `[]`. Dictionaries
    /// and lists without parts and `None` become [empty parts](State::insert_empty).
    ///
    /// # Errors
    /// If there are texts or bytes, which a state does not hold, or two leaves
    /// have one path because a name has dots.
    ///
    /// ```
    /// use ramie_checkpoint::serialization::{StateDict, to_state_dict};
    /// use ramie_core::Array;
    /// let dict = to_state_dict(&vec![Array::from(1.0f32), Array::from(2.0f32)]);
    /// assert_eq!(dict.to_state().unwrap().get("1").unwrap().item::<f32>(), 2.0);
    /// ```
    pub fn to_state(&self) -> Result<State> {
        state(self)
    }

    /// The arrays by their dotted paths; numbers become arrays of shape `[]`. Everything
    /// else is left out.
    ///
    /// ```
    /// use ramie_checkpoint::serialization::StateDict;
    /// use ramie_core::Array;
    /// let dict = StateDict::Dict(vec![
    ///     ("w".into(), StateDict::Array(Array::from(1.0f32))),
    ///     ("note".into(), StateDict::Str("a text".into())),
    /// ]);
    /// assert_eq!(dict.arrays().paths().collect::<Vec<_>>(), ["w"]);
    /// ```
    pub fn arrays(&self) -> State {
        let array = |(path, part): (String, &StateDict)| match part {
            StateDict::Array(a) | StateDict::NumpyScalar(a) => Some((path, a.clone())),
            StateDict::Number(n) => Some((path, Array::scalar(*n, n.weak_dtype()))),
            _ => None,
        };
        self.parts().into_iter().filter_map(array).collect()
    }

    /// The bytes of the state dict, entries in its order: what Flax's `to_bytes`
    /// makes of a dictionary.
    ///
    /// # Errors
    /// As [`to_bytes`](super::to_bytes); and if something is too large for the
    /// format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        encode::write(self, encode::Order::AsIs, &mut bytes)?;
        Ok(bytes)
    }
}

/// The arrays by their dotted paths.
pub(super) fn state<A: Stored>(dict: &StateDict<A>) -> Result<State> {
    dict.leaves()?; // Each path once.
    let mut state = State::new();
    for (path, leaf) in dict.parts() {
        if leaf.is_empty() {
            // The root is no part.
            if !path.is_empty() {
                state.insert_empty(&path);
            }
            continue;
        }
        let array = match leaf {
            StateDict::Array(a) | StateDict::NumpyScalar(a) => a
                .load()
                .map_err(|message| Error::state_dict(&path, message))?,
            StateDict::Number(n) => Array::scalar(*n, n.weak_dtype()),
            other => {
                let message = format!(
                    "is {}, which a state does not hold\n  help: read the file with \
                     `serialization::load` and take its parts with `get`",
                    other.describe()
                );
                return Err(Error::state_dict(&path, message));
            }
        };
        state.insert(&path, array);
    }
    Ok(state)
}
