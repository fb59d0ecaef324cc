//! Errors as values: a failure code, and the arrays that failure messages need.

use super::failure;
use super::failure::Failure;
use crate::base::stack::with_room;
use crate::program::checks::Errors;
use crate::program::jaxpr::Jaxpr;
use crate::program::tree::{Key, Visitor};
use crate::transform::checkify::primitive::Check;
use crate::{Array, Aval, DType, Tree};
use std::fmt;
use std::sync::Arc;

/// The layout of an error's arrays: for each distinct list of types that some failure's message
/// needs, arrays of these types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Layout(Arc<Vec<Vec<Aval>>>);

impl Layout {
    /// Returns the layout for the checks in a program.
    pub fn of(jaxpr: &Jaxpr, errors: Errors) -> Layout {
        let mut signatures = Vec::new();
        collect(jaxpr, errors, &mut signatures);
        Layout(Arc::new(signatures))
    }

    pub fn new(signatures: Vec<Vec<Aval>>) -> Layout {
        Layout(Arc::new(signatures))
    }

    pub fn signatures(&self) -> &[Vec<Aval>] {
        &self.0
    }

    /// Returns the types of an error's arrays.
    pub fn avals(&self) -> Vec<Aval> {
        let payloads = self.0.iter().flatten().copied();
        std::iter::once(Aval::scalar(DType::I32))
            .chain(payloads)
            .collect()
    }

    /// Returns the arrays of an error that reports no failure.
    pub fn no_error(&self) -> Vec<Array> {
        let zeros = |a: Aval| match a.ndim() {
            0 => Array::scalar(0, a.dtype()),
            _ => Array::zeros(a.shape(), a.dtype()),
        };
        self.avals().into_iter().map(zeros).collect()
    }

    /// Returns the range of an error's arrays that has this list of types.
    pub fn range(&self, signature: &[Aval]) -> Option<std::ops::Range<usize>> {
        let mut at = 1;
        for known in self.0.iter() {
            if known == signature {
                return Some(at..at + known.len());
            }
            at += known.len();
        }
        None
    }
}

/// Adds the lists of types that the checks of a program need.
fn collect(jaxpr: &Jaxpr, errors: Errors, found: &mut Vec<Vec<Aval>>) {
    let mut add = |signature: &Vec<Aval>| {
        if !found.contains(signature) {
            found.push(signature.clone());
        }
    };
    for eqn in &jaxpr.eqns {
        let primitive = &*eqn.primitive;
        if let Some(check) = primitive.as_any().downcast_ref::<Check>() {
            if errors.contains(Errors::USER) {
                check.signatures.iter().for_each(&mut add);
            }
        } else if errors.contains(Errors::INDEX) && primitive.checks().contains(Errors::INDEX) {
            add(&failure::index_signature());
        }
    }
    for inner in jaxpr.eqns.iter().flat_map(|eqn| eqn.primitive.jaxprs()) {
        with_room(|| collect(inner, errors, found));
    }
}

/// The outcome of checks, as a value that programs return (`checkify.Error`).
///
/// It is a tree of arrays. Under `vmap` it has a batch axis, and reports which examples failed.
#[derive(Clone)]
pub struct Error {
    layout: Layout,
    /// The failure's code, 0 for none, followed by the arrays that messages need.
    arrays: Vec<Array>,
}

impl Error {
    pub(super) fn new(layout: Layout, arrays: Vec<Array>) -> Error {
        Error { layout, arrays }
    }

    /// Creates an error from its arrays.
    pub(crate) fn from_arrays(signatures: Vec<Vec<Aval>>, arrays: Vec<Array>) -> Error {
        Error::new(Layout::new(signatures), arrays)
    }

    pub(super) fn signatures(&self) -> &[Vec<Aval>] {
        self.layout.signatures()
    }

    /// Returns the message of the first failed check and its location; `None` if no check failed.
    /// A batched error returns a line for each failed example.
    ///
    /// # Panics
    /// Panics if the values are traced, or if their computation failed.
    #[track_caller]
    pub fn get(&self) -> Option<String> {
        let codes = &self.arrays[0];
        let numbers = codes.to_vec::<i32>();
        let failed = numbers.iter().enumerate().filter(|(_, code)| **code != 0);
        let lines: Vec<String> = failed
            .map(|(i, code)| {
                let message = self.message(i, *code);
                if codes.ndim() == 0 {
                    return message;
                }
                format!("at mapped index {}: {message}", index_in(i, codes.shape()))
            })
            .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Returns the message of one example.
    fn message(&self, example: usize, code: i32) -> String {
        let Some(failure) = Failure::of(code) else {
            return format!("failure code {code} does not belong to this process");
        };
        let range = self.layout.range(&failure.signature).unwrap_or(0..0);
        let arrays: Vec<Array> = self.arrays[range]
            .iter()
            .zip(&failure.signature)
            .filter_map(|(array, aval)| {
                let bytes = array.try_to_bytes().ok()?;
                let len = aval.size_bytes();
                let own = bytes.get(example * len..(example + 1) * len)?;
                Array::try_from_bytes(own, aval.shape(), aval.dtype()).ok()
            })
            .collect();
        failure.message(&arrays)
    }

    /// Panics if there is an error (`Error.throw`).
    ///
    /// # Panics
    /// Panics with the message of [`get`](Error::get).
    #[track_caller]
    pub fn throw(&self) {
        if let Some(message) = self.get() {
            panic!("{message}");
        }
    }

    /// Returns `Ok` if there is no error.
    ///
    /// # Errors
    /// Returns [`Error::Check`](crate::Error::Check) with the message of [`get`](Error::get).
    ///
    /// # Panics
    /// Panics if the values are traced, or if their computation failed.
    #[track_caller]
    pub fn into_result(self) -> crate::Result<()> {
        match self.get() {
            None => Ok(()),
            Some(message) => Err(crate::Error::Check(message)),
        }
    }
}

/// Formats the indices of the element with this row-major number, such as `1, 0`.
fn index_in(mut number: usize, shape: &[usize]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for size in shape.iter().rev() {
        parts.push((number % size).to_string());
        number /= size;
    }
    parts.reverse();
    parts.join(", ")
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.arrays.iter().any(Array::is_tracer) {
            return f.write_str("Error(traced)");
        }
        match self.get() {
            None => f.write_str("Error(None)"),
            Some(message) => write!(f, "Error({message})"),
        }
    }
}

impl Tree for Error {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.fixed(&self.layout);
        for (i, array) in self.arrays.iter().enumerate() {
            visitor.enter(Key::Index(i));
            visitor.leaf(array);
            visitor.exit();
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        self.arrays.iter_mut().for_each(visit);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        Error {
            layout: self.layout.clone(),
            arrays: self.arrays.iter().map(leaf).collect(),
        }
    }
}
