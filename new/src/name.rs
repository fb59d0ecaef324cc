//! Names of crates.

use std::path::Path;

/// Keywords of Rust, which cannot name a crate.
const KEYWORDS: &[&str] = &[
    "Self",
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    concat!("un", "safe"),
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

/// Crates of Rust's distribution, crates that a project depends on, and folders that Cargo writes
/// beside the program.
const TAKEN: &[&str] = &[
    "alloc",
    "build",
    "clap",
    "core",
    "deps",
    "examples",
    "incremental",
    "ndarray",
    "proc_macro",
    "ramie",
    "std",
    "test",
];

/// The longest name that crates.io accepts.
const LONGEST: usize = 64;

/// Returns the name of the crate in a folder: the last part of its path.
///
/// # Errors
/// Returns an error if that is not a valid name of a crate.
pub(super) fn of(path: &Path) -> Result<String, String> {
    let Some(name) = path.file_name() else {
        return Err(format!(
            "`{}` does not end with the name of a crate\nhelp: pass a new folder, such as `ramie new digits`",
            path.display()
        ));
    };
    let name = name.to_string_lossy().into_owned();
    match problem(&name) {
        None => Ok(name),
        Some(problem) => Err(format!(
            "`{name}` is not a valid name of a crate: {problem}\nhelp: use letters, digits, `-` and `_`, such as \
             `ramie new my-model`"
        )),
    }
}

fn problem(name: &str) -> Option<String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if let Some(c) = name.chars().find(|c| !is_allowed(*c)) {
        return Some(format!("it contains `{c}`"));
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Some("it does not start with a letter".to_owned());
    }
    if name.len() > LONGEST {
        return Some(format!("it is longer than {LONGEST} characters"));
    }
    let identifier = name.replace('-', "_");
    if KEYWORDS.contains(&&*identifier) {
        return Some("it is a keyword of Rust".to_owned());
    }
    if TAKEN.contains(&&*identifier) || identifier.starts_with("ramie_") {
        return Some("Rust, Cargo or Ramie already use this name".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{KEYWORDS, TAKEN, of};
    use std::path::Path;

    #[test]
    fn the_last_part_of_the_path_is_the_name() {
        assert_eq!(of(Path::new("a/b/my-model_2")).unwrap(), "my-model_2");
        assert_eq!(of(Path::new("r2d2/")).unwrap(), "r2d2");
        let error = of(Path::new("a/..")).unwrap_err();
        assert!(error.starts_with("`a/..` does not end with"), "{error}");
    }

    #[test]
    fn invalid_names_are_rejected() {
        for (name, problem) in [
            ("my model", "it contains ` `"),
            ("modèle", "it contains `è`"),
            ("2d", "it does not start with a letter"),
            ("-x", "it does not start with a letter"),
            ("match", "it is a keyword of Rust"),
            ("std", "already use this name"),
            ("proc-macro", "already use this name"),
            ("ramie-core", "already use this name"),
            (&"x".repeat(65), "it is longer than 64 characters"),
        ] {
            let error = of(Path::new(name)).unwrap_err();
            assert!(error.contains(problem), "{name}: {error}");
        }
    }

    #[test]
    fn lists_are_sorted() {
        assert!(KEYWORDS.is_sorted() && TAKEN.is_sorted());
    }
}
