//! Donation: which inputs of a program donate their buffers to its results.

use super::signature::Inputs;
use super::trace::Trace;
use crate::program::lower::ArgumentAttribute;
use crate::program::tree::{self, Key, Visitor, Walk};
use crate::{Array, Aval};

/// A visitor that collects the leaf indices of the arguments in `argnums`.
struct Leaves<'a> {
    argnums: &'a [usize],
    depth: usize,
    /// Number of arguments entered so far.
    arguments: usize,
    leaves: usize,
    chosen: Vec<usize>,
}

impl Visitor for Leaves<'_> {
    fn leaf(&mut self, _: &Array) {
        // `enter` has already counted the argument of this leaf.
        if self.argnums.contains(&(self.arguments - 1)) {
            self.chosen.push(self.leaves);
        }
        self.leaves += 1;
    }
    fn enter(&mut self, _: Key<'_>) {
        self.arguments += usize::from(self.depth == 0);
        self.depth += 1;
    }
    fn exit(&mut self) {
        self.depth -= 1;
    }
}

/// Returns the leaf indices of the arguments in `argnums`.
///
/// # Panics
/// Panics if an argument does not exist.
fn leaves_of(name: &str, args: &Walk<'_>, argnums: &[usize]) -> Vec<usize> {
    let mut leaves = Leaves {
        argnums,
        depth: 0,
        arguments: 0,
        leaves: 0,
        chosen: Vec::new(),
    };
    args(&mut leaves);
    let arguments = leaves.arguments;
    if let Some(argnum) = argnums.iter().find(|&&n| n >= arguments) {
        panic!(
            "{name}: donate_argnums contains {argnum}, but the function has {arguments} arguments \
             besides the state\n  help: arguments are counted from 0; the state is always donated"
        );
    }
    leaves.chosen
}

impl Trace {
    /// Returns which inputs donate their buffers to which results: first the state to its own new
    /// value, then the rest of the state and the arguments in `argnums` to results of the same
    /// type.
    pub fn donations(
        &self,
        name: &str,
        inputs: Inputs<'_>,
        argnums: &[usize],
    ) -> Vec<ArgumentAttribute> {
        let jaxpr = &self.program.jaxpr;
        let (ins, outs): (Vec<Aval>, Vec<Aval>) = (jaxpr.in_avals(), jaxpr.out_avals());
        // A weak type makes no difference to a buffer.
        let same = |i: usize, o: usize| ins[i].strong() == outs[o].strong();
        let consts = jaxpr.constvars.len();
        let mut attributes = vec![ArgumentAttribute::None; consts + ins.len()];
        let mut taken = vec![false; outs.len()];
        if self.in_place {
            for i in (0..self.state_ins.min(self.state_outs)).filter(|&i| same(i, i)) {
                attributes[consts + i] = ArgumentAttribute::AliasedTo(i);
                taken[i] = true;
            }
        }
        let chosen = leaves_of(name, inputs.args, argnums);
        let donors = (0..self.state_ins).chain(chosen.into_iter().map(|i| self.state_ins + i));
        for i in donors {
            if attributes[consts + i] != ArgumentAttribute::None {
                continue;
            }
            match (0..outs.len()).find(|&o| !taken[o] && same(i, o)) {
                Some(o) => {
                    attributes[consts + i] = ArgumentAttribute::AliasedTo(o);
                    taken[o] = true;
                }
                None if super::logs_compiles() => eprintln!(
                    "ramie: `{name}` cannot donate `{}`, {}: no remaining result has this type",
                    path(i, inputs),
                    ins[i]
                ),
                None => {}
            }
        }
        attributes
    }
}

/// Returns the name of an input.
pub(super) fn path(input: usize, inputs: Inputs<'_>) -> String {
    paths(inputs).nth(input).expect("a path for each input")
}

/// Returns the names of the inputs in order.
pub(super) fn paths(inputs: Inputs<'_>) -> impl Iterator<Item = String> {
    let paths = |root, walk| tree::paths_of(walk).into_iter().map(move |p| (root, p));
    let paths = paths("state", inputs.state).chain(paths("args", inputs.args));
    paths.map(|(root, path)| match &*path {
        "" => root.to_owned(),
        path => format!("{root}.{path}"),
    })
}

/// Excludes the arrays of the state that the function leaves unchanged from the donations.
pub(super) fn skip(kept: &[bool], consts: usize, attributes: &mut [ArgumentAttribute]) {
    for (i, attribute) in attributes.iter_mut().enumerate() {
        if i >= consts && kept.get(i - consts) == Some(&true) {
            *attribute = ArgumentAttribute::None;
        } else if let ArgumentAttribute::AliasedTo(out) = attribute {
            // Unchanged arrays are no results of the program, so later results have lower indices.
            *out -= kept.iter().take(*out).filter(|kept| **kept).count();
        }
    }
}
