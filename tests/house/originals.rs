//! Users search for the names that they know. Each public name of JAX, Flax, Optax, Orbax, PyTorch's
//! data loader and Grain in `originals.txt` is the name or an alias of an item, or a page of `docs/`
//! has it in backticks. `originals.py` compares the list with the installed packages.

use std::collections::BTreeSet;

/// The crates whose items users reach.
const CRATES: [&str; 12] = [
    "checkpoint",
    "core",
    "data",
    "linalg",
    "models",
    "nn",
    "onnx",
    "optim",
    "pjrt",
    "plot",
    "src",
    "train",
];

/// The section of names that printed programs contain. A primitive has them as a string.
const PRIMITIVES: &str = "primitives of jaxprs";

/// What surrounds a line of a source.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Nothing,
    Enum,
    Macro,
    Trait,
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// The text between quotes or backticks of a line.
fn quoted(line: &str, quote: char) -> impl Iterator<Item = &str> {
    line.split(quote).skip(1).step_by(2)
}

/// The name that a line behind `pub` defines: of an item, or of a field.
fn defined(line: &str) -> Option<&str> {
    const ITEMS: [&str; 9] = [
        "const", "enum", "fn", "macro", "mod", "static", "struct", "trait", "type",
    ];
    let mut words = words(line).skip_while(|word| *word == "async");
    let first = words.next()?;
    if line.starts_with(&format!("{first}:")) {
        return Some(first);
    }
    let second = words.next()?;
    match second {
        "fn" if first == "const" => words.next(),
        _ if first == "use" => words.skip_while(|word| *word != "as").nth(1),
        _ => ITEMS.contains(&first).then_some(second),
    }
}

/// Adds the names and aliases of a source's public items.
fn collect<'a>(text: &'a str, names: &mut BTreeSet<&'a str>) {
    let mut inside = Inside::Nothing;
    let (mut in_alias, mut exported) = (false, false);
    for line in text.lines() {
        let code = line.trim_start();
        if code.starts_with("//") {
            continue;
        }
        if in_alias || code.starts_with("#[doc(alias") {
            names.extend(quoted(code, '"'));
            in_alias = !code.ends_with(")]");
            continue;
        }
        if let Some(rest) = code.strip_prefix("pub ") {
            names.extend(defined(rest));
        }
        if let Some(name) = code.strip_prefix("macro_rules! ").filter(|_| exported) {
            names.extend(words(name).next());
        }
        exported = code.starts_with("#[macro_export]") || exported && code.starts_with("#[");
        match inside {
            Inside::Macro => {
                let head = code.split(['"', '(', '|', '{', '[']).next();
                names.extend(words(head.unwrap_or_default()));
            }
            Inside::Enum if line.starts_with("    ") && !line.starts_with("     ") => {
                names.extend(words(code).next());
            }
            Inside::Trait if code.starts_with("fn ") => names.extend(words(code).nth(1)),
            _ => {}
        }
        inside = match line {
            "}" => Inside::Nothing,
            _ if line.starts_with("pub trait ") => Inside::Trait,
            _ if line.starts_with("pub enum ") && line.ends_with('{') => Inside::Enum,
            _ if line.ends_with("! {") && !line.starts_with(' ') => Inside::Macro,
            _ => inside,
        };
    }
}

/// Adds the words in backticks of a page.
fn collect_page<'a>(text: &'a str, names: &mut BTreeSet<&'a str>) {
    let mut in_program = false;
    for line in text.lines() {
        in_program ^= line.starts_with("```");
        if !in_program {
            names.extend(quoted(line, '`').flat_map(words));
        }
    }
}

#[test]
fn names_of_the_originals_are_found() {
    let sources = crate::files(".rs");
    let of_crates = sources.iter().filter(|(path, _)| {
        let mut folders = path.split('/');
        let known = folders.next().is_some_and(|first| CRATES.contains(&first));
        known && path.contains("src/") && !path.ends_with("_tests.rs")
    });
    let pages = crate::files(".md");
    let of_docs = |path: &str| path.starts_with("docs/") && path != "docs/decisions.md";
    let mut known = BTreeSet::new();
    let mut primitives = BTreeSet::new();
    for (path, text) in of_crates {
        collect(text, &mut known);
        if path.starts_with("core/") {
            primitives.extend(text.lines().flat_map(|line| quoted(line, '"')));
        }
    }
    for (_, text) in pages.iter().filter(|(path, _)| of_docs(path)) {
        collect_page(text, &mut known);
    }
    let mut section = "";
    let mut missing = Vec::new();
    for line in include_str!("originals.txt").lines() {
        if let Some(title) = line.strip_prefix('[') {
            section = title.trim_end_matches(']');
        } else if !line.starts_with('#') {
            let absent = line.split_whitespace().filter(|name| {
                let printed = section == PRIMITIVES && primitives.contains(name);
                !known.contains(name) && !printed
            });
            missing.extend(absent.map(|name| format!("{section}: {name}")));
        }
    }
    crate::expect_none(
        "add `#[doc(alias = \"name\")]` to the counterpart, or a row to docs/from-jax.md",
        missing,
    );
}

#[test]
fn names_of_a_source_are_collected() {
    let source = "/// Says `hidden`.\n#[doc(alias = \"first\")]\npub fn map() {\n    let inner = 1;\n}\n\
        #[doc(alias(\n    \"second\",\n    \"third\"\n))]\npub const fn size() {}\npub(crate) fn own() {}\n\
        pub use a::{b as Renamed};\npub enum Kind {\n    Variant(u8),\n}\npub trait Walk {\n    fn walk();\n}\n\
        unary! {\n    Sin sin \"text\";\n}\npub struct S {\n    pub field: u8,\n    other: u8,\n}\n\
        #[macro_export]\nmacro_rules! P {\n}\nmacro_rules! private {\n}\n";
    let mut names = BTreeSet::new();
    collect(source, &mut names);
    let expected = [
        "Kind", "P", "Renamed", "S", "Sin", "Variant", "Walk", "field", "first", "map", "second",
        "sin", "size", "third", "walk",
    ];
    assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
}
