//! `scan`, `while_loop`, `fori_loop`, `cond` and `switch`: functions of closures and trees, which
//! bind the primitives in `prim/control/`.
//!
//! Bodies are closures. They are traced once with the types of their arguments. Arrays that they
//! capture become constants of the loop.

pub(crate) mod carry;
mod cond;
mod fori_loop;
pub(crate) mod scan;
mod while_loop;
mod with_values;

pub use cond::{cond, switch};
pub use fori_loop::{ForiLoopOptions, fori_loop, fori_loop_with};
pub use scan::{ScanOptions, scan, scan_with};
pub(crate) use while_loop::while_as;
pub use while_loop::while_loop;

use crate::program::array::Repr;
use crate::program::tree;
use crate::{Array, Aval, Tree};

/// Returns the tree with abstract arrays, which have types but no elements.
pub(crate) fn types_of<T: Tree>(tree: &T, mut aval: impl FnMut(&Array) -> Aval) -> T {
    tree::map(tree, |a| Array(Repr::Abstract(aval(a), None)))
}

/// Returns the name of an array of a tree in messages: its path, or the tree if it is the tree
/// itself. The tree is at the path `inside`.
fn leaf_name(inside: &str, path: &str) -> String {
    let path = path.strip_prefix(inside).unwrap_or(path);
    let path = match inside {
        "" => path,
        _ => path.trim_start_matches('.'),
    };
    if path.is_empty() {
        "the array itself".into()
    } else {
        format!("`{path}`")
    }
}

/// The leaves of a tree with their paths, and the hash of its structure.
struct LeafPaths {
    paths: Vec<String>,
    leaves: Vec<Array>,
    structure: (u64, u64),
}

impl LeafPaths {
    fn of<T: Tree>(tree: &T) -> LeafPaths {
        LeafPaths {
            paths: tree::paths(tree),
            leaves: tree::leaves(tree),
            structure: tree::fingerprint(tree),
        }
    }
}

/// Returns the `help:` text for the first pair of values in two trees that vary over different
/// mesh axes and have the same types otherwise.
pub(crate) fn varying_help<T: Tree, U: Tree>(a: &T, b: &U, of: [&str; 2]) -> Option<String> {
    help_to_vary(&LeafPaths::of(a), &LeafPaths::of(b), of)
}

fn help_to_vary(a: &LeafPaths, b: &LeafPaths, of: [&str; 2]) -> Option<String> {
    let mut pairs = a.leaves.iter().zip(&b.leaves).zip(&a.paths);
    let ((x, y), path) = pairs.find(|((x, y), _)| {
        let (x, y) = (x.aval(), y.aval());
        x.varying() != y.varying() && x.unplaced().strong() == y.unplaced().strong()
    })?;
    let (x, y) = (x.aval().varying_set(), y.aval().varying_set());
    let missing = y.without(x.as_slice());
    let (whose, axes) = if missing.is_empty() {
        (of[1], x.without(y.as_slice()))
    } else {
        (of[0], missing)
    };
    let place = if path.is_empty() {
        String::new()
    } else {
        format!(" at `{path}`")
    };
    Some(format!(
        "apply `pvary(.., {:?})` to {whose}{place}: one varies over these mesh axes, the other \
         does not; or pass check_vma: false to shard_map",
        axes.as_slice()
    ))
}

/// Describes the differences between the corresponding arrays of two trees. Returns `None` if the
/// trees have the same structure, static values and types.
pub(crate) fn differences<T: Tree, U: Tree>(
    names: [&str; 2],
    inside: &str,
    trees: (&T, &U),
) -> Option<Vec<String>> {
    lines_of_differences(
        names,
        inside,
        &LeafPaths::of(trees.0),
        &LeafPaths::of(trees.1),
    )
}

fn lines_of_differences(
    names: [&str; 2],
    inside: &str,
    a: &LeafPaths,
    b: &LeafPaths,
) -> Option<Vec<String>> {
    let [one, other] = names;
    let mut lines = Vec::new();
    for (path, leaf) in a.paths.iter().zip(&a.leaves) {
        match b.paths.iter().position(|p| p == path) {
            None => lines.push(format!(
                "{}: {one} has {}, {other} has none",
                leaf_name(inside, path),
                leaf.aval()
            )),
            Some(i) if b.leaves[i].aval().strong() != leaf.aval().strong() => lines.push(format!(
                "{}: {one} has {}, {other} has {}",
                leaf_name(inside, path),
                leaf.aval(),
                b.leaves[i].aval()
            )),
            Some(_) => {}
        }
    }
    for (path, leaf) in b.paths.iter().zip(&b.leaves) {
        if !a.paths.contains(path) {
            lines.push(format!(
                "{}: {other} has {}, {one} has none",
                leaf_name(inside, path),
                leaf.aval()
            ));
        }
    }
    if lines.is_empty() && a.structure != b.structure {
        lines.push(format!(
            "a value that is not an array (a number, a variant, a length) differs between {one} and \
             {other}"
        ));
    }
    (!lines.is_empty()).then_some(lines)
}
