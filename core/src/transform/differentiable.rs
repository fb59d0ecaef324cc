//! Checks which arguments and results can be differentiated.

use crate::base::location::Caller;
use crate::prim::random::key_impl::KeyImpl;
use crate::program::tree;
use crate::{Array, DType, Tree};
use std::any::Any;

/// The numbers of which, or with respect to which, a derivative is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Floating-point numbers.
    Real,
    /// Complex numbers.
    Complex,
    /// Floating-point and complex numbers.
    Any,
}

impl Numbers {
    fn contain(self, dtype: DType) -> bool {
        match self {
            Numbers::Real => dtype.is_float(),
            Numbers::Complex => dtype.is_complex(),
            Numbers::Any => dtype.is_inexact(),
        }
    }

    /// Describes why an array of this dtype does not qualify.
    fn missing(self, dtype: DType) -> &'static str {
        match self {
            Numbers::Complex => "which is not complex",
            _ if dtype.is_complex() => "which is complex",
            _ => "which is not floating-point",
        }
    }
}

/// A visitor that finds the leaves which contain the words of PRNG keys.
#[derive(Default)]
struct KeyLeaves {
    next_is_key: bool,
    are_keys: Vec<bool>,
}

impl tree::Visitor for KeyLeaves {
    fn leaf(&mut self, _: &Array) {
        self.are_keys.push(std::mem::take(&mut self.next_is_key));
    }
    fn metadata(&mut self, metadata: &dyn Any) {
        self.next_is_key = metadata.is::<KeyImpl>();
    }
}

impl Caller {
    /// Panics if an argument contains anything but such numbers; `instead` is the help for
    /// complex arguments.
    #[track_caller]
    pub(super) fn check_argument<T: Tree>(self, tree: &T, numbers: Numbers, instead: &str) {
        let mut keys = KeyLeaves::default();
        tree.walk(&mut keys);
        let leaves = tree::leaves(tree);
        for ((path, leaf), is_key) in tree::paths(tree).iter().zip(&leaves).zip(keys.are_keys) {
            let help = match leaf.dtype() {
                d if numbers.contain(d) => continue,
                _ if is_key => {
                    "keys have no derivative; pass the key as a later argument or capture it, \
                     since these are not differentiated"
                }
                d if d.is_complex() => instead,
                _ if numbers == Numbers::Complex => "convert it with astype(DType::C64)",
                _ => {
                    "convert it with astype(DType::F32), or pass it as a later argument or capture \
                     it, since these are not differentiated"
                }
            };
            let is = if is_key {
                "a PRNG key".into()
            } else {
                format!("{}, {}", leaf.aval(), numbers.missing(leaf.dtype()))
            };
            panic!(
                "{}: the differentiated argument{} is {is}\n  {self}\n  help: {help}",
                self.operation,
                at_path(path)
            );
        }
    }

    /// Panics if a result contains anything but such numbers; `instead` is the help for complex
    /// results.
    #[track_caller]
    pub(super) fn check_result<T: Tree>(self, tree: &T, numbers: Numbers, instead: &str) {
        for (path, leaf) in tree::paths(tree).iter().zip(tree::leaves(tree)) {
            let help = match leaf.dtype() {
                d if numbers.contain(d) => continue,
                d if d.is_complex() => instead,
                _ if numbers == Numbers::Complex => {
                    "only results that depend holomorphically on the argument have such a \
                     derivative; remove the others"
                }
                _ => "convert it with astype(DType::F32), or remove it",
            };
            panic!(
                "{}: the result{} is {}, {}\n  {self}\n  help: {help}",
                self.operation,
                at_path(path),
                leaf.aval(),
                numbers.missing(leaf.dtype())
            );
        }
    }
}

/// Describes the path of a leaf, for a message.
pub(super) fn at_path(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!(" at `{path}`")
    }
}
