//! `StateDict`: Flax's untyped form of a tree, from which it serializes.

use super::array::Stored;
use super::encode;
use crate::{Error, Result};
use ramie_core::dtypes::Scalar;
use ramie_core::files::Message;
use ramie_core::{Array, State};
use std::collections::HashSet;

/// A tree without its types, as in Flax: nested dictionaries down to arrays.
///
/// Lists, tuples and structs are also dictionaries; lists and tuples have the keys `"0"`, `"1"`,
/// ….
#[derive(Clone, Debug)]
pub enum StateDict<A = Array> {
    /// Parts by name, in order; names are unique.
    Dict(Vec<(String, StateDict<A>)>),
    /// List of parts. Flax's state dicts have none, but its msgpack format supports them.
    List(Vec<StateDict<A>>),
    /// Array.
    Array(A),
    /// NumPy scalar: an array of shape `[]` that the format distinguishes from others.
    NumpyScalar(A),
    /// Python number or boolean, without a dtype.
    Number(Scalar),
    /// String.
    Str(String),
    /// Byte string.
    Bytes(Vec<u8>),
    /// Python's `None`.
    None,
}

impl<A> StateDict<A> {
    /// Returns the part at a dotted path such as `"params.Dense_0.kernel"`. Names that contain
    /// dots are found, too.
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

    /// Maps the arrays, keeping the structure.
    pub(crate) fn map<B>(self, f: &mut impl FnMut(A) -> B) -> StateDict<B> {
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

    /// Describes the kind of the part for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            StateDict::Dict(_) => "a dictionary",
            StateDict::List(_) => "a list",
            StateDict::Array(_) => "an array",
            StateDict::NumpyScalar(_) => "a NumPy scalar",
            StateDict::Number(Scalar::Bool(_)) => "a boolean",
            StateDict::Number(_) => "a number",
            StateDict::Str(_) => "a string",
            StateDict::Bytes(_) => "bytes",
            StateDict::None => "None",
        }
    }

    /// Returns the leaves with their dotted paths, in order. Empty parts and `None` have no leaf.
    ///
    /// # Errors
    /// Returns an error if two leaves have the same path.
    pub fn leaves(&self) -> Result<Vec<(String, &StateDict<A>)>> {
        let mut leaves = self.parts();
        leaves.retain(|(_, part)| !part.is_empty());
        let mut seen = HashSet::new();
        match leaves.iter().find(|(path, _)| !seen.insert(path.as_str())) {
            Some((path, _)) => Err(Error::state_dict(
                path,
                "the path occurs twice, because a name contains a dot\n  help: use \
                 `StateDict::get` to access the part",
            )),
            None => Ok(leaves),
        }
    }

    /// Returns whether the part has neither children nor a value.
    fn is_empty(&self) -> bool {
        match self {
            StateDict::Dict(parts) => parts.is_empty(),
            StateDict::List(parts) => parts.is_empty(),
            StateDict::None => true,
            _ => false,
        }
    }

    /// Returns the leaves and the empty parts with their dotted paths, in order.
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
    /// Returns the arrays by their dotted paths; numbers become arrays of shape `[]`. Empty
    /// dictionaries, empty lists and `None` become [empty parts](State::insert_empty).
    ///
    /// # Errors
    /// Returns an error if there are strings or byte strings, which a state cannot contain, or if
    /// two leaves have the same path because a name contains dots.
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

    /// Returns the arrays by their dotted paths; numbers become arrays of shape `[]`. All other
    /// values are omitted.
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

    /// Returns the msgpack bytes of the state dict, with entries in order, as Flax's `to_bytes`
    /// writes a dictionary.
    ///
    /// # Errors
    /// Same as [`to_bytes`](super::to_bytes). Also returns an error if a part is too large for the
    /// format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        encode::write(self, encode::Order::AsIs, &mut bytes)?;
        Ok(bytes)
    }
}

/// Returns the arrays by their dotted paths.
pub(super) fn state<A: Stored>(dict: &StateDict<A>) -> Result<State> {
    dict.leaves()?; // checks that paths are unique
    let mut state = State::new();
    for (path, leaf) in dict.parts() {
        if leaf.is_empty() {
            // The root has no name.
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
                let message = Message::new(format!(
                    "is {}, which a `State` cannot contain",
                    other.describe()
                ))
                .help("use `serialization::load` to read the file and `get` to access its parts");
                return Err(Error::state_dict(&path, message));
            }
        };
        state.insert(&path, array);
    }
    Ok(state)
}
