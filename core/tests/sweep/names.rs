//! The names of the public operations, read from the sources: a new operation
//! without a row in the table fails the test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Public functions and methods of arrays that the sweep does not call, each
/// with the reason.
const EXCLUDED: &[(&str, &str)] = &[
    (
        "the operation is for arrays on several devices; the tests of sharding call it",
        "full_with iota_with broadcast_with broadcast_in_dim_with broadcast_to_with reshard \
         with_sharding_constraint with_logical_constraint device_put device_put_donating \
         device_get auto_axes explicit_axes shape_dtype_struct_with random::sharded",
    ),
    (
        "the operation needs the name of a mapped axis; core/tests/transformations/collectives.rs calls it",
        "axis_size axis_index psum pmean pmax pmin all_gather all_gather_with \
         all_gather_invariant psum_scatter all_to_all ragged_all_to_all pswapaxes ppermute \
         pshuffle pbroadcast pcast pvary",
    ),
    (
        "the operation runs functions; core/tests/transformations calls it",
        "cond switch while_loop fori_loop fori_loop_with scan scan_with",
    ),
    (
        "it reports or moves an array and computes nothing",
        "aval same shape dtype ndim size nbytes is_tracer devices shape_dtype_struct try_to_bytes \
         try_to_vec to_vec item try_to_ndarray to_ndarray einsum_path random::default_impl \
         random::set_default_impl random::key_impl random::key_dtype random::clone \
         random::key_data random::draw block_until_ready type_of result_type s dims itemsize \
         is_ready free is_deleted device",
    ),
    (
        "it is a setting for a scope; core/tests/numerics.rs calls it",
        "numpy_dtype_promotion numpy_rank_promotion",
    ),
    (
        "the operands of the sweep are made by it",
        "try_from_slice from_slice try_from_vec from_vec try_from_bytes try_from_aligned array",
    ),
];

/// Folders and files of operations, and the module that their functions are in.
const SOURCES: &[(&str, &str)] = &[
    ("program/array", ""),
    ("functions/ops", ""),
    ("prim", ""),
    ("functions/fft.rs", "fft::"),
    ("functions/image.rs", "image::"),
    ("functions/linalg", "linalg::"),
    ("functions/random", "random::"),
    ("functions/stats", "stats::"),
];

/// Fails unless the table and the exclusions together are the public operations.
///
/// # Panics
/// With the operations that are missing or do not exist.
pub fn check(table: &BTreeSet<&str>) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let reexports = [
        "lib",
        "numpy",
        "lax",
        "sharding",
        "dtypes",
        "execution/config",
    ];
    let crate_root: String = reexports
        .map(|file| read(&root.join(file).with_extension("rs")))
        .concat();
    let mut found = BTreeSet::new();
    for (place, module) in SOURCES {
        for file in files(&root.join(place)) {
            let mut text = read(&file);
            if *place == "functions/stats" {
                // The macro of its tables is defined in the parent.
                text = read(&root.join("functions/stats/mod.rs")) + &text;
            }
            if *place == "functions/ops" {
                // The macro of the tables of reductions is defined in one of them.
                text = read(&root.join("functions/ops/reduce.rs")) + &text;
            }
            found.extend(methods(&text));
            let module = match *module {
                "stats::" => {
                    let stem = file.file_stem().expect("a name").display().to_string();
                    let is_public = text.contains(&format!("pub mod {stem};"));
                    format!(
                        "stats::{}",
                        if is_public {
                            stem + "::"
                        } else {
                            String::new()
                        }
                    )
                }
                other => other.to_string(),
            };
            let public = |f: &String| match *place {
                "functions/linalg" | "functions/random" if !file.ends_with("mod.rs") => {
                    names(&exports(&root, place), f)
                }
                "functions/fft.rs" | "functions/image.rs" | "functions/linalg"
                | "functions/random" | "functions/stats" => true,
                _ => names(&crate_root, f),
            };
            let functions = functions(&text).into_iter().filter(public);
            found.extend(functions.map(|f| format!("{module}{f}")));
        }
    }
    let excluded: BTreeSet<&str> = EXCLUDED
        .iter()
        .flat_map(|(_, names)| names.split_whitespace())
        .collect();
    let missing: Vec<_> = found
        .iter()
        .filter(|n| !table.contains(n.as_str()) && !excluded.contains(n.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "core/tests/sweep lacks {missing:?}: add a row of operations/, or a reason to EXCLUDED"
    );
    let gone: Vec<_> = excluded
        .iter()
        .filter(|n| !found.contains(**n) || table.contains(*n))
        .collect();
    assert!(
        gone.is_empty(),
        "EXCLUDED names {gone:?}, which do not exist or are in the table"
    );
    let unknown: Vec<_> = table
        .iter()
        .filter(|n| {
            n.starts_with(char::is_lowercase)
                && !n.starts_with("operator")
                && !n.contains("Key::")
                && !found.contains(**n)
        })
        .collect();
    assert!(
        unknown.is_empty(),
        "the table names {unknown:?}, which are not public operations"
    );
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What the root of a module exports, as text.
fn exports(root: &Path, place: &str) -> String {
    read(&root.join(place).join("mod.rs"))
}

/// Whether a text names `function` in one of its `pub use` declarations.
fn names(text: &str, function: &str) -> bool {
    text.split("pub use ").skip(1).any(|rest| {
        let list = rest.split(';').next().unwrap_or_default();
        list.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == function)
    })
}

/// Rust files at or below a path.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    let entries = std::fs::read_dir(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let paths = entries.map(|entry| entry.expect("an entry of a folder").path());
    paths
        .flat_map(|path| files(&path))
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}

/// The word that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Public methods of `Array` in a source, those of rows of tables included.
fn methods(text: &str) -> Vec<String> {
    let mut names = rows(text, true);
    let mut inside = false;
    for line in text.lines() {
        match line {
            "impl Array {" => inside = true,
            "}" => inside = false,
            _ if inside => names.extend(
                line.strip_prefix("    pub fn ")
                    .map(|l| word(l).to_string()),
            ),
            _ => {}
        }
    }
    names
}

/// Public functions of a source, those of rows of tables included.
fn functions(text: &str) -> Vec<String> {
    let plain = text.lines().filter_map(|line| line.strip_prefix("pub fn "));
    let mut names: Vec<String> = plain.map(|line| word(line).to_string()).collect();
    names.extend(rows(text, false));
    names
}

/// The functions of tables: of a macro that defines `pub fn $f` for each row, the
/// words of its rows that stand for `$f`.
fn rows(text: &str, methods: bool) -> Vec<String> {
    let mut found = Vec::new();
    for definition in text.split("\nmacro_rules! ").skip(1) {
        let name = word(definition);
        let body = definition.split("\n}\n").next().unwrap_or_default();
        let defined: BTreeSet<&str> = body.split("pub fn $").skip(1).map(word).collect();
        if defined.is_empty() || methods != body.contains("impl Array {") {
            continue;
        }
        let pattern = body
            .split("=>")
            .next()
            .unwrap_or_default()
            .replace("$doc:", "");
        let variables = pattern
            .split('$')
            .skip(1)
            .filter(|v| v.starts_with(char::is_lowercase));
        let places: Vec<usize> = (variables.map(word).enumerate())
            .filter(|(_, v)| defined.contains(v))
            .map(|(i, _)| i)
            .collect();
        for table in text.split(&format!("\n{name}! {{\n")).skip(1) {
            let table = table.split("\n}").next().unwrap_or_default();
            for row in table.lines().filter_map(|line| line.strip_prefix("    ")) {
                if row.starts_with(char::is_alphabetic) {
                    let head = row
                        .split([',', ';', '=', '(', '|', '{', '['])
                        .next()
                        .unwrap_or_default();
                    let words: Vec<&str> = head.split_whitespace().collect();
                    found.extend(
                        places
                            .iter()
                            .filter_map(|&i| words.get(i))
                            .map(|w| w.to_string()),
                    );
                }
            }
        }
    }
    found
}

#[test]
fn operations_of_a_source_are_found() {
    let text = "\nmacro_rules! table {\n    ($($(#[$doc:meta])* $ty:ident $f:ident $name:literal;)*) => {\n        \
                impl Array { $( pub fn $f(&self) {} )* }\n    };\n}\ntable! {\n    /// Doc.\n    First first \"1\";\n    \
                Second second \"2\" [x];\n}\nimpl Array {\n    pub fn third(&self) {}\n}\npub fn fourth() {}\n";
    assert_eq!(methods(text), ["first", "second", "third"]);
    assert_eq!(functions(text), ["fourth"]);
}
