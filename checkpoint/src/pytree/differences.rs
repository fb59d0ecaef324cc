//! Differences between a checkpoint and the tree that it is restored into.

use super::layout::{Layout, bytes_of};
use super::metadata::ValueKind;
use super::read::Request;
use crate::nodes::number_of;
use crate::optimizer::OptimizerDifference;
use crate::{Error, Result};
use ramie_core::{Aval, DType};
use std::fmt::Write;

/// Differences between a checkpoint and a tree.
#[derive(Default)]
pub(super) struct Differences<'a> {
    optimizer: Option<OptimizerDifference<'a>>,
    /// Whether arrays are missing on one side because the optimizers differ.
    optimizers: bool,
    lines: Vec<String>,
    missing: bool,
    /// Whether a number or a string is missing.
    values: bool,
    shapes: bool,
    /// Whether the numbers of axes differ.
    ranks: bool,
    lossy: bool,
}

/// What the tree has at a path.
#[derive(Clone, Copy)]
pub(super) enum LeafKind {
    Array(Aval),
    Number(DType),
    Text,
}

impl std::fmt::Display for LeafKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LeafKind::Array(aval) => write!(f, "{}", aval.strong()),
            LeafKind::Number(dtype) => f.write_str(&number_of(*dtype)),
            LeafKind::Text => f.write_str("a string"),
        }
    }
}

impl<'a> Differences<'a> {
    /// Creates an empty list, given the difference between the optimizers.
    pub fn new(optimizer: Option<OptimizerDifference<'a>>) -> Differences<'a> {
        Differences {
            optimizer,
            ..Differences::default()
        }
    }

    /// Returns whether the optimizers explain why an array is missing on one side.
    fn is_explained(&mut self, name: &str) -> bool {
        let explained = self.optimizer.as_ref().is_some_and(|o| o.explains(name));
        self.optimizers |= explained;
        explained
    }

    /// Adds a leaf of the tree for which the checkpoint has nothing, or a part of another kind.
    pub fn missing(
        &mut self,
        name: &str,
        original: &str,
        tree: LeafKind,
        saved: Option<&ValueKind>,
    ) {
        if self.is_explained(name) {
            return;
        }
        let named = if name == original {
            String::new()
        } else {
            format!(" at `{original}`")
        };
        let saved = match saved {
            Some(ValueKind::Scalar) => "a number",
            Some(ValueKind::String) => "a string",
            Some(kind) if !kind.is_empty() => "an array",
            _ => "nothing",
        };
        let line = format!("`{name}`: the tree has {tree}, the checkpoint has {saved}{named}");
        self.lines.push(line);
        match tree {
            LeafKind::Array(_) => self.missing = true,
            LeafKind::Number(_) | LeafKind::Text => self.values = true,
        }
    }

    pub fn unexpected(&mut self, name: &str, layout: &Layout) {
        if self.is_explained(name) {
            return;
        }
        let saved = described(layout);
        let line = format!("`{name}`: the tree has nothing, the checkpoint has {saved}");
        self.lines.push(line);
        self.missing = true;
    }

    pub fn shape(&mut self, name: &str, request: &Request, tree: LeafKind) {
        let saved = described(&request.layout);
        let line = format!("`{name}`: the tree has {tree}, the checkpoint has {saved}");
        self.lines.push(line);
        if request.has_saved_rank() {
            self.shapes = true
        } else {
            self.ranks = true
        }
    }

    pub fn lossy(&mut self, name: &str, request: &Request, tree: LeafKind) {
        let saved = described(&request.layout);
        let line = format!(
            "`{name}`: the tree has {tree}, the checkpoint has {saved}, which cannot be converted \
             without loss"
        );
        self.lines.push(line);
        self.lossy = true;
    }

    pub fn checked(self, folder: &std::path::Path) -> Result<()> {
        if self.lines.is_empty() && !self.optimizers {
            return Ok(());
        }
        let mut message = String::from("the checkpoint does not match the tree");
        if let Some(optimizer) = self.optimizer.filter(|_| self.optimizers) {
            message.push_str(&optimizer.lines());
        }
        for line in &self.lines {
            let _ = write!(message, "\n  {line}");
        }
        let helps = [
            (
                self.optimizers,
                "to continue with another optimizer, keep the tree's optimizer state: \
                 `PyTreeRestore::new(&target).placeholder(\"opt_state\")`",
            ),
            (
                self.missing,
                "use `partial_restore(true)` to ignore arrays that the tree does not have, or \
                 `transform` to read arrays from other names or keep the tree's",
            ),
            (
                self.values,
                "mark a field that checkpoints do not contain with `#[tree(fixed)]`, or use \
                 `placeholder` to keep the tree's value",
            ),
            (
                self.lossy,
                "use `allow_lossy_casts(true)` or `cast` to convert dtypes with loss",
            ),
            (
                self.shapes,
                "use `strict(false)` to truncate arrays or pad them with zeros",
            ),
            (
                self.ranks,
                "use `PyTreeRestore::transform` with `Transform::original(name).map(|x| \
                 x.reshape(shape))` to change the number of axes",
            ),
        ];
        let helps: Vec<&str> = helps.iter().filter(|h| h.0).map(|h| h.1).collect();
        let _ = write!(message, "\n  help: {}", helps.join("; "));
        Err(Error::tree(Some(folder), message))
    }
}

/// Formats the type of a stored array, as in `f32[2,3]`.
fn described(layout: &Layout) -> String {
    match bytes_of(&layout.shape, layout.dtype) {
        Some(_) => Aval::new(&layout.shape, layout.dtype).to_string(),
        None => format!("{}{:?}", layout.dtype, layout.shape),
    }
}
