//! The floors of the core: a file uses only files of its own floor and of those below.
//!
//! The test counts *arrows*: pairs of files of which one names an item that the other defines.
//! Names are followed through re-exports to the file that defines them, and rows of macros count
//! for the module that they are looked up in. Methods are not seen.

use crate::names::Names;
use std::collections::{BTreeMap, BTreeSet};

/// The floors from the lowest, with the files and folders of `core/src` that belong to each. The
/// longest pattern that fits a file counts.
const FLOORS: [(&str, &str); 10] = [
    (
        "base",
        "base hash intern lock stack thread_stack error scoped text program_cache single_flight \
         profiler/events",
    ),
    (
        "types",
        "dtype dtype_info narrow scalar aval axis sharding",
    ),
    (
        "program",
        "program array tree state jaxpr trace lost lower sharding/rule \
         sharding/specs",
    ),
    ("passes", "passes"),
    ("primitives", "prim control"),
    ("transforms", "transform checkify control/map"),
    (
        "functions",
        "ops linalg random fft image stats control/linear_solve control/root control/step_function \
         control/train_steps",
    ),
    (
        "client",
        "runtime sharding/put sharding/host sharding/shards",
    ),
    (
        "execution",
        "numerics callback eager eager_log aot jit fill config prim/callback transform/pmap",
    ),
    ("services", "distributed profiler export files lib"),
];

/// Number of arrows from a floor to a higher one. Lower these numbers, never raise one.
const UPWARD: &[(&str, &str, usize)] = &[
];
/// Number of files in circles of arrows that cross a floor. It may only fall.
const FILES_IN_CIRCLES_ACROSS: usize = 0;
/// Number of files in the largest circle of arrows. It may only fall.
const LARGEST_CIRCLE: usize = 16;

/// The index of a file's floor.
fn floor(file: &str) -> usize {
    let name = file.trim_end_matches(".rs");
    let fits = |pattern: &str| {
        let rest = name.strip_prefix(pattern)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(pattern.len())
    };
    let longest = |patterns: &str| patterns.split_whitespace().filter_map(fits).max();
    let best = (0..FLOORS.len()).filter_map(|at| Some((longest(FLOORS[at].1)?, at)));
    let (_, at) = best.max().unwrap_or_else(|| {
        panic!("core/src/{file} has no floor: add it to FLOORS in tests/house/floors.rs")
    });
    at
}

type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

/// The circles of files: sets in which every file reaches every other.
fn circles(arrows: &Arrows) -> Vec<BTreeSet<&str>> {
    let mut uses: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        uses.entry(from).or_default().push(to);
    }
    let reachable = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut open = uses.get(from).cloned().unwrap_or_default();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                open.extend(uses.get(file).into_iter().flatten());
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|&file| (file, reachable(file))).collect();
    let mut found: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    for (file, others) in &reached {
        let back = |other: &&str| reached.get(other).is_some_and(|r| r.contains(file));
        let circle: BTreeSet<&str> = others.iter().copied().filter(back).collect();
        if !circle.is_empty() {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// Adds a failure if a number is not the one that the test holds.
fn compare(failures: &mut Vec<String>, what: &str, now: usize, held: usize, list: &[String]) {
    let advice = match now.cmp(&held) {
        std::cmp::Ordering::Equal => return,
        std::cmp::Ordering::Less => "write the lower number into tests/house/floors.rs",
        std::cmp::Ordering::Greater => {
            "move the item down to the floor that needs it, or its user up; see docs/core.md"
        }
    };
    let list = list.join("\n    ");
    failures.push(format!("{what}: {now} instead of {held}; {advice}\n    {list}"));
}

#[test]
fn files_use_only_lower_floors() {
    let names = Names::of_core();
    for macro_row in names.unresolved.borrow().iter() {
        println!("counted for the module that it is looked up in: {macro_row}");
    }
    let mut pairs: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (&(ref from, ref to), items) in &names.arrows {
        let (low, high) = (floor(from), floor(to));
        if high > low {
            let items: Vec<&str> = items.iter().map(|item| &**item).collect();
            let arrow = format!("{from} → {to}: {}", items.join(", "));
            pairs.entry((low, high)).or_default().push(arrow);
        }
    }
    let mut failures = Vec::new();
    let held = |low, high| {
        let row = UPWARD.iter().find(|row| (row.0, row.1) == (low, high));
        row.map_or(0, |row| row.2)
    };
    for low in 0..FLOORS.len() {
        for high in low + 1..FLOORS.len() {
            let (from, to) = (FLOORS[low].0, FLOORS[high].0);
            let list = pairs.remove(&(low, high)).unwrap_or_default();
            let what = format!("arrows from {from} up to {to}");
            compare(&mut failures, &what, list.len(), held(from, to), &list);
        }
    }
    let circles = circles(&names.arrows);
    let crosses = |circle: &&BTreeSet<&str>| {
        let floors: BTreeSet<usize> = circle.iter().map(|file| floor(file)).collect();
        floors.len() > 1
    };
    let text = |circle: &BTreeSet<&str>| {
        let files: Vec<&str> = circle.iter().copied().collect();
        files.join(" ")
    };
    let across: Vec<_> = circles.iter().filter(crosses).collect();
    let list: Vec<String> = across.iter().map(|circle| text(circle)).collect();
    let files = across.iter().map(|circle| circle.len()).sum();
    let what = "files in circles that cross a floor";
    compare(&mut failures, what, files, FILES_IN_CIRCLES_ACROSS, &list);
    let largest = circles.iter().max_by_key(|circle| circle.len());
    let size = largest.map_or(0, BTreeSet::len);
    let list: Vec<String> = largest.into_iter().map(text).collect();
    compare(&mut failures, "files in the largest circle", size, LARGEST_CIRCLE, &list);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
