//! Describes the optimizers of two trees that differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Name of the part of a train state that contains the optimizer's arrays.
const STATE: &str = "opt_state";

/// Fields of each transformation of an optimizer, by its dotted path.
type Fields<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Fields by which a transformation is recognized, except `count`.
const KNOWN: [(&[&str], &str); 9] = [
    (&["mu", "nu"], "Adam"),
    (&["mu", "nu", "nu_max"], "AMSGrad"),
    (&["mu"], "Lion"),
    (&["trace"], "momentum"),
    (&["nu"], "RMSProp"),
    (&["sum_of_squares"], "Adagrad"),
    (&["e_g", "e_x"], "Adadelta"),
    (&["v", "v_col", "v_row"], "Adafactor"),
    (&["g", "m", "n", "v"], "Adan"),
];

/// Difference between the optimizers of a checkpoint and of a tree.
pub(crate) struct OptimizerDifference<'a> {
    saved: Fields<'a>,
    tree: Fields<'a>,
}

impl<'a> OptimizerDifference<'a> {
    /// Compares the dotted paths of all arrays. Returns `None` if the transformations have the
    /// same fields, or if neither has an optimizer.
    pub fn of(
        saved: impl IntoIterator<Item = &'a str>,
        tree: impl IntoIterator<Item = &'a str>,
    ) -> Option<OptimizerDifference<'a>> {
        let (mut saved, mut tree) = (fields(saved), fields(tree));
        if saved.is_empty() && tree.is_empty() {
            return None;
        }
        let differ: Vec<&str> = saved
            .keys()
            .chain(tree.keys())
            .filter(|at| saved.get(*at) != tree.get(*at))
            .copied()
            .collect();
        saved.retain(|at, _| differ.contains(at));
        tree.retain(|at, _| differ.contains(at));
        (!differ.is_empty()).then_some(OptimizerDifference { saved, tree })
    }

    /// Returns whether the optimizers explain the difference at a path.
    pub fn explains(&self, path: &str) -> bool {
        part(path).is_some_and(|(at, field)| {
            let has = |fields: &Fields<'_>| fields.get(at).is_some_and(|f| f.contains(field));
            has(&self.saved) != has(&self.tree)
        })
    }

    /// Returns the lines of the message.
    pub fn lines(&self) -> String {
        let mut text = String::from("\n  the optimizer differs from the saved one:");
        let places: BTreeSet<&str> = self.saved.keys().chain(self.tree.keys()).copied().collect();
        for at in places {
            let (saved, tree) = (described(self.saved.get(at)), described(self.tree.get(at)));
            let _ = write!(
                text,
                "\n    `{at}`: the checkpoint has {saved}, the tree has {tree}"
            );
        }
        text
    }
}

fn fields<'a>(paths: impl IntoIterator<Item = &'a str>) -> Fields<'a> {
    let mut fields = Fields::new();
    for (at, field) in paths.into_iter().filter_map(part) {
        fields.entry(at).or_default().insert(field);
    }
    fields
}

/// Returns the transformation that a path belongs to, such as `opt_state.0`, and the field of its
/// state.
fn part(path: &str) -> Option<(&str, &str)> {
    let mut end = None;
    let mut start = 0;
    for name in path.split('.') {
        let numbered = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
        match end {
            None if name == STATE => end = Some(start + name.len()),
            Some(_) if numbered => end = Some(start + name.len()),
            Some(end) => return Some((&path[..end], name)),
            None => {}
        }
        start += name.len() + 1;
    }
    None
}

fn described(fields: Option<&BTreeSet<&str>>) -> String {
    let Some(fields) = fields else {
        return "nothing".to_owned();
    };
    let quoted: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
    let own: Vec<&str> = fields.iter().filter(|f| **f != "count").copied().collect();
    let known = KNOWN.iter().find(|(known, _)| *known == own.as_slice());
    match known {
        Some((_, name)) => format!("{} ({name})", quoted.join(", ")),
        None => quoted.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADAM: [&str; 4] = [
        "params.w",
        "opt_state.0.count",
        "opt_state.0.mu.w",
        "opt_state.0.nu.w",
    ];

    #[test]
    fn optimizers_are_named() {
        let sgd = ["params.w", "opt_state.0.trace.w"];
        let difference = OptimizerDifference::of(ADAM, sgd).unwrap();
        assert_eq!(
            difference.lines(),
            "\n  the optimizer differs from the saved one:\n    `opt_state.0`: the checkpoint has \
             `count`, `mu`, `nu` (Adam), the tree has `trace` (momentum)"
        );
        assert!(difference.explains("opt_state.0.trace.w"));
        assert!(!difference.explains("params.w"));
        let nothing = OptimizerDifference::of(ADAM, ["params.w"]).unwrap();
        assert!(nothing.lines().ends_with("the tree has nothing"));
    }

    #[test]
    fn other_parameters_are_no_other_optimizer() {
        let more = ADAM
            .into_iter()
            .chain(["opt_state.0.mu.b", "opt_state.0.nu.b"]);
        assert!(OptimizerDifference::of(ADAM, more).is_none());
        assert!(OptimizerDifference::of(["w"], ["v"]).is_none());
    }
}
