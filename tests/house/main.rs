//! The rules of CONTRIBUTING.md that a machine can check.

mod floors;
mod functions;
mod names;
mod options;
mod originals;
mod source;
mod summaries;
mod words;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A file with more lines than this contains more than one concept.
const LONGEST_FILE: usize = 650;
/// Nobody reads a first example that is longer.
const LONGEST_EXAMPLE: usize = 35;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Paths (from the root) and contents of the project's files with this ending.
fn files(ending: &str) -> Vec<(String, String)> {
    fn walk(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                // Build folders, what examples write, and folders of tools.
                let skipped = name.starts_with('.') || ["target", "out", "venv"].contains(&&*name);
                if !skipped {
                    walk(&path, ending, found);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(root(), ending, &mut found);
    found.sort();
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    let name = |path: &Path| path.strip_prefix(root()).unwrap().display().to_string();
    let all: Vec<_> = found.iter().map(|path| (name(path), text(path))).collect();
    assert!(!all.is_empty(), "no file ends with {ending}");
    all
}

/// Whether `line` contains `word` as a whole word.
fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
}

/// Fails with all offences at once.
fn expect_none(rule: &str, offences: Vec<String>) {
    assert!(offences.is_empty(), "{rule}:\n  {}", offences.join("\n  "));
}

/// The lines of Rust files that `offends`, as `file:line: text`.
fn offending_lines(offends: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut offences = Vec::new();
    for (path, text) in files(".rs") {
        for (number, line) in text.lines().enumerate() {
            if offends(&path, line) {
                offences.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    offences
}

/// Scripts that record golden data may leave their own path in it.
#[test]
fn recordings_do_not_contain_the_path_of_their_recorder() {
    let mut folders = vec![root().join("tests/golden/data")];
    let mut recordings = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                recordings.push(path)
            }
        }
    }
    let made_in = b"/tests/golden";
    let offences = recordings
        .into_iter()
        .filter(|path| {
            fs::read(path)
                .unwrap()
                .windows(made_in.len())
                .any(|w| w == made_in)
        })
        .map(|path| path.display().to_string())
        .collect();
    expect_none("record again without folders", offences);
}

#[test]
fn files_are_short() {
    let long = files(".rs")
        .into_iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > LONGEST_FILE)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    expect_none(
        &format!("files have at most {LONGEST_FILE} lines: split by concept"),
        long,
    );
}

/// The folders that contain all such code.
const UNCHECKED: [&str; 2] = ["pjrt/", "cpu/src/kernels/"];

#[test]
fn only_pjrt_and_kernels_have_unsafe_code() {
    // Written apart, so that this file does not offend.
    let keyword = concat!("un", "safe");
    let offences = offending_lines(|path, line| {
        let code = line.split("//").next().unwrap_or_default();
        // The attribute that allows or denies it.
        let is_attribute = code.trim_start().starts_with("#![");
        !UNCHECKED.iter().any(|folder| path.starts_with(folder))
            && !is_attribute
            && has_word(code, keyword)
    });
    expect_none(
        &format!("{keyword} code belongs in {UNCHECKED:?}"),
        offences,
    );
}

#[test]
fn other_crates_forbid_unsafe_code() {
    let is_root = |path: &str| {
        !path.starts_with("pjrt/")
            && (path.ends_with("src/lib.rs")
                || path.starts_with("src/bin/") && path.ends_with("main.rs")
                || path.starts_with("examples/") && path.ends_with("main.rs"))
    };
    let attribute = concat!("#![forbid(un", "safe_code)]");
    // One folder of this crate allows it again.
    let denied = concat!("#![deny(un", "safe_code)]");
    let expected = |path: &str| match path {
        "cpu/src/lib.rs" => denied,
        _ => attribute,
    };
    let offences = files(".rs")
        .into_iter()
        .filter(|(path, text)| is_root(path) && !text.lines().any(|line| line == expected(path)))
        .map(|(path, _)| path)
        .collect();
    expect_none(&format!("crates have {attribute}"), offences);
}

#[test]
fn nothing_is_left_for_later() {
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("todo", "!"),
        concat!("unimplemented", "!"),
        concat!("dbg", "!"),
    ];
    let offences = offending_lines(|_, line| words.iter().any(|word| has_word(line, word)));
    expect_none("sources are finished", offences);
}

/// The names that the `pub use` declarations of a source file bring in.
fn reexported(source: &str) -> Vec<String> {
    let declarations = source.split("pub use ").skip(1);
    let names = declarations.flat_map(|rest| {
        let path = rest.split(';').next().unwrap_or_default();
        // `a::b::{C, D}` or `a::b::C`.
        let last = path.rsplit("::").next().unwrap_or_default();
        last.trim_matches(['{', '}']).split(',')
    });
    names.map(|name| name.trim().to_string()).collect()
}

/// The most names that `core/src/lib.rs`, and so the facade, may have: items, and modules that are not rooms.
const MOST_NAMES: usize = 105;

#[test]
fn names_of_the_core_stand_in_one_room() {
    let source = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let library = source("core/src/lib.rs");
    let named = |text: &str| -> Vec<String> {
        let names = reexported(text).into_iter();
        names.filter(|name| !name.is_empty()).collect()
    };
    let at_root = named(&library);
    assert!(
        at_root.len() <= MOST_NAMES,
        "core has {} names at its root",
        at_root.len()
    );
    let rooms = library
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "));
    let mut seen: BTreeSet<String> = at_root.into_iter().collect();
    let mut twice = Vec::new();
    for room in rooms.filter(|room| *room != "prim;") {
        let names = named(&source(&format!(
            "core/src/{}.rs",
            room.trim_end_matches(';')
        )));
        assert!(!names.is_empty(), "{room} names nothing");
        twice.extend(names.into_iter().filter(|name| !seen.insert(name.clone())));
    }
    expect_none("a name of the core stands in one place", twice);
}

#[test]
fn ignored_tests_have_a_reason() {
    let bare = concat!("#[ig", "nore]");
    let offences = offending_lines(|_, line| line.trim_start().starts_with(bare));
    expect_none("write why: #[ignore = \"…\"]", offences);
}

#[test]
fn the_readme_example_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, after) = readme.split_once("```rust,no_run\n").expect("an example");
    let (example, _) = after.split_once("\n```").expect("its end");
    let lines = example.lines().count();
    assert!(lines <= LONGEST_EXAMPLE, "the example has {lines} lines");
    assert!(
        !example.lines().any(|line| line.starts_with("# ")),
        "the example hides lines that readers need"
    );
}

#[test]
fn the_checks_run_the_readme_test_command() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let checks = fs::read_to_string(root().join(".ci/run")).unwrap();
    let command = readme
        .lines()
        .find(|line| line.starts_with("cargo test"))
        .expect("a line of the README that runs the tests");
    assert!(checks.contains(command), ".ci/run lacks `{command}`");
}

#[test]
fn the_tables_of_training_steps_have_every_workload() {
    let page = fs::read_to_string(root().join("docs/performance.md")).unwrap();
    let writer = fs::read_to_string(root().join("benches/compare/report.py")).unwrap();
    let mark = |name: &str| {
        let after = writer.split_once(&format!("\n{name} = \"")).expect(name).1;
        after.split('"').next().unwrap()
    };
    let (_, after) = page.split_once(mark("BEGIN")).expect("the first mark");
    let (tables, _) = after.split_once(mark("END")).expect("the end mark");
    let missing = ["scalar", "xor", "digits", "cnn", "gpt", "gpt2", "lstm"]
        .iter()
        .flat_map(|workload| {
            let row = format!("| `{workload}` | ");
            let step = format!("| trace and lower `{workload}` | ");
            [row, step].map(|row| (tables.contains(&row), row))
        })
        .filter(|(found, _)| !found)
        .map(|(_, row)| row)
        .collect();
    expect_none("run benches/compare/table.py", missing);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for (path, text) in files(".md") {
        let folder = root().join(&path).parent().unwrap().to_path_buf();
        for after in text.split("](").skip(1) {
            let target = after.split([')', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                broken.push(format!("{path}: {target}"));
            }
        }
    }
    expect_none("documents link to existing files", broken);
}

#[test]
fn tests_that_texts_name_exist() {
    let named = regex_lite::Regex::new(
        r"\b(core|nn|optim|checkpoint|data|pjrt|plugins)/tests/[a-z_/]+\.rs",
    )
    .unwrap();
    let mut missing = Vec::new();
    for (path, text) in [".rs", ".md", ".py"].into_iter().flat_map(files) {
        let names = named.find_iter(&text).map(|name| name.as_str());
        let absent = names.filter(|name| !root().join(name).exists());
        missing.extend(absent.map(|name| format!("{path}: {name}")));
    }
    expect_none("texts name existing tests", missing);
}

/// A path may omit its first folders, unless it begins with a folder of the core.
#[test]
fn paths_that_texts_name_exist() {
    let named = regex_lite::Regex::new(r"`((?:[a-z0-9_]+/)+(?:[a-z0-9_]+\.rs)?)`").unwrap();
    let sources = files(".rs");
    let exists = |path: &str| {
        let first = path.split('/').next().unwrap_or_default();
        let in_core = floors::FLOORS.contains(&first);
        let is_end = |file: &str| file == path || file.ends_with(&format!("/{path}"));
        if in_core || first == "core" {
            root().join(path).exists() || root().join("core/src").join(path).exists()
        } else {
            path.ends_with('/') || sources.iter().any(|(file, _)| is_end(file))
        }
    };
    let mut missing = Vec::new();
    for (file, text) in [".rs", ".md"].into_iter().flat_map(files) {
        // Paths in `src/` are those of a user's program.
        let paths = named
            .captures_iter(&text)
            .map(|found| found.get(1).unwrap().as_str());
        let absent = paths.filter(|path| !path.starts_with("src/") && !exists(path));
        missing.extend(absent.map(|path| format!("{file}: {path}")));
    }
    expect_none("texts name existing files", missing);
}

/// Cargo does not look for unit tests in these libraries, so they would never run.
#[test]
fn libraries_without_tests_have_none() {
    let mut offences = Vec::new();
    for (manifest, text) in files("Cargo.toml") {
        let source = manifest.replace("Cargo.toml", "src/");
        if !text.contains("[lib]") || !text.contains("\ntest = false\n") {
            continue;
        }
        let bin = format!("{source}bin/");
        for (path, text) in files(".rs") {
            let of_library = path.starts_with(&source) && !path.starts_with(&bin);
            // Tests that a macro declares are indented further.
            let test = |line: &str| line.contains("#[cfg(test)]") || line.starts_with("#[test]");
            if of_library && text.lines().any(test) {
                offences.push(format!(
                    "{path} has a test, but {manifest} sets `test = false`"
                ));
            }
        }
    }
    expect_none("tests that never run", offences);
}

/// `unwrap` and `main` print the `Debug` form of an error.
#[test]
fn errors_have_their_message_as_debug_form() {
    let mut offences = Vec::new();
    for (path, text) in files(".rs") {
        if !path.contains("src/") || path.starts_with("examples") || path.starts_with("testing") {
            continue;
        }
        let by_hand = text.lines().filter_map(|line| {
            let (_, rest) = line.strip_prefix("impl ")?.split_once("Error for ")?;
            rest.split(' ').next()
        });
        let derived = text.split("#[derive(").skip(1).filter_map(|item| {
            let (traits, rest) = item.split_once(")]")?;
            let error = traits.split(", ").any(|name| name.ends_with("Error"));
            let (_, name) = rest.split_once("\npub ")?;
            let name = name.split([' ', '(', '{', '<']).nth(1)?;
            error.then_some(name)
        });
        for name in by_hand.chain(derived) {
            if !text.contains(&format!("debug_is_message!({name});")) {
                offences.push(format!("{path}: {name}"));
            }
        }
    }
    expect_none("errors without `debug_is_message!(Name);`", offences);
}
