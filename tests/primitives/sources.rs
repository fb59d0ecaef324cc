//! The catalogue against the sources: which structs implement `Primitive`.

use ramie_core::prim::CatalogueEntry;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The catalogue names exactly the structs of the core crate that implement
/// `Primitive`, and no name twice.
///
/// # Panics
/// With what is missing or too much.
pub fn check(catalogue: &[CatalogueEntry]) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("core/src");
    let mut found = BTreeSet::new();
    for file in sources(&root) {
        let text = std::fs::read_to_string(&file).expect("a readable source");
        found.extend(implementors(&text));
    }
    let listed: BTreeSet<String> = catalogue.iter().map(|e| e.ty.to_string()).collect();
    let missing: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "core/src/prim/catalogue.rs lacks {missing:?}, and lists {gone:?}, which implement nothing"
    );
    let names: BTreeSet<_> = catalogue.iter().map(|e| e.name).collect();
    assert_eq!(names.len(), catalogue.len(), "a name is listed twice");
    for entry in catalogue {
        let reason = entry.exempt.unwrap_or("a reason is needed to be exempt");
        assert!(reason.len() > 20, "{}: say why it is exempt", entry.name);
    }
}

/// Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the core crate's sources") {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}

/// Structs that implement `Primitive` in a source: by themselves, or as rows of
/// a macro that does it for each row, `TypeName method …`.
fn implementors(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut tables = Vec::new();
    let mut defining = "";
    let mut inside = false;
    for line in text.lines() {
        let code = line.trim_start();
        if let Some(rest) = line.strip_prefix("macro_rules! ") {
            defining = rest.trim_end_matches([' ', '{']);
        }
        if let Some(ty) = code.strip_prefix("impl Primitive for ") {
            let ty = ty.trim_end_matches([' ', '{', '}']);
            if ty.starts_with('$') {
                tables.push(format!("{defining}! {{"));
            } else {
                names.push(ty.to_string());
            }
        }
        if tables.iter().any(|t| line.starts_with(t.as_str())) {
            inside = true;
        } else if line.starts_with('}') {
            inside = false;
        } else if inside && code.starts_with(char::is_uppercase) {
            let mut words = code.split(' ');
            let (ty, method) = (words.next(), words.next());
            if method.is_some_and(|m| m.starts_with(char::is_lowercase)) {
                names.extend(ty.map(str::to_string));
            }
        }
    }
    names
}

#[test]
fn rows_of_tables_are_found() {
    let text = "macro_rules! table {\n    () => {\n        impl Primitive for $ty {\n        }\n    };\n}\n\
                table! {\n    /// Doc.\n    First first \"1\";\n    Second second \"2\"\n        Third [x];\n}\n\
                impl Primitive for Alone {\n}\nother! {\n    Fourth fourth;\n}\n";
    assert_eq!(implementors(text), ["First", "Second", "Alone"]);
}
