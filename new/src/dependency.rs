//! The line of `Cargo.toml` that adds Ramie to a project.

use std::fs;
use std::path::{Path, PathBuf};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A source of Ramie.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Dependency {
    /// Sources on this machine, and whether the command line named them.
    Path {
        folder: PathBuf,
        is_default: bool,
    },
    Git(String),
    Version(String),
}

/// Returns the dependency that the option `--ramie` names, or the default.
///
/// # Errors
/// Returns an error if the option is a path without Ramie's sources.
pub(super) fn choose(option: Option<&str>) -> Result<Dependency, String> {
    let Some(text) = option else {
        // The folder exists only on the machine that built the tool, and contains no other crates if
        // the tool was built from a package.
        let folder = checkout();
        return Ok(if is_checkout(folder) {
            Dependency::Path {
                folder: folder.to_owned(),
                is_default: true,
            }
        } else {
            Dependency::Version(VERSION.to_owned())
        });
    };
    if text.contains("://") || text.starts_with("git@") {
        return Ok(Dependency::Git(text.to_owned()));
    }
    let path = Path::new(text);
    if !path.exists() && is_version(text) {
        return Ok(Dependency::Version(text.to_owned()));
    }
    let folder = path
        .canonicalize()
        .map_err(|e| wrong(text, &e.to_string()))?;
    if !is_checkout(&folder) {
        return Err(wrong(text, "the folder does not contain Ramie's sources"));
    }
    Ok(Dependency::Path {
        folder,
        is_default: false,
    })
}

/// The folder of this crate's workspace on the machine that built it.
fn checkout() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

fn wrong(text: &str, problem: &str) -> String {
    format!(
        "--ramie `{text}`: {problem}\nhelp: pass the folder of Ramie's sources, the URL of a git repository, or a \
         version such as {VERSION}"
    )
}

/// Whether a folder contains this crate with the other crates of its workspace.
fn is_checkout(folder: &Path) -> bool {
    let has_name = |path: PathBuf, name: &str| {
        let line = format!("name = \"{name}\"");
        fs::read_to_string(path).is_ok_and(|text| text.lines().any(|l| l == line))
    };
    has_name(folder.join("Cargo.toml"), "ramie")
        && has_name(folder.join("core/Cargo.toml"), "ramie-core")
}

/// Whether a text is a version requirement, such as `0.1`, `=0.1.0` or `>=0.1, <0.3`.
fn is_version(text: &str) -> bool {
    let number = text.trim_start_matches(['^', '~', '=', '<', '>', ' ']);
    let rest = |c: char| c.is_ascii_alphanumeric() || ".-+, <>=*".contains(c);
    number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(rest)
}

impl Dependency {
    /// The line of `Cargo.toml`.
    pub(super) fn line(&self) -> String {
        match self {
            Dependency::Path { folder, .. } => {
                format!("ramie = {{ path = {} }}", quoted(&folder.to_string_lossy()))
            }
            Dependency::Git(url) => format!("ramie = {{ git = {} }}", quoted(url)),
            Dependency::Version(version) => format!("ramie = {}", quoted(version)),
        }
    }

    /// Comments above the line.
    pub(super) fn comment(&self) -> String {
        let source = match self {
            Dependency::Path {
                is_default: true, ..
            } => "The sources that `ramie new` was built from, on this machine only.",
            Dependency::Path { .. } => "Sources on this machine only.",
            Dependency::Git(_) => "The newest commit; `Cargo.lock` pins it until `cargo update`.",
            Dependency::Version(_) => "A published version.",
        };
        let mut lines = vec![source.to_owned()];
        let alternatives = [
            (
                matches!(self, Dependency::Path { .. }),
                "sources on this machine:    ramie = { path = \"FOLDER\" }".to_owned(),
            ),
            (
                matches!(self, Dependency::Git(_)),
                "a git repository:           ramie = { git = \"URL\", rev = \"COMMIT\" }"
                    .to_owned(),
            ),
            (
                matches!(self, Dependency::Version(_)),
                format!("a version, once published:  ramie = \"{VERSION}\""),
            ),
        ];
        lines.push("Other ways to depend on Ramie:".to_owned());
        let others = alternatives.into_iter().filter(|(used, _)| !used);
        lines.extend(others.map(|(_, text)| format!("  {text}")));
        lines.iter().map(|line| format!("# {line}\n")).collect()
    }
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted += &format!("\\u{:04X}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::{Dependency, VERSION, checkout, choose, quoted};

    #[test]
    fn an_option_is_a_url_a_version_or_a_folder() {
        let line = |text| choose(Some(text)).unwrap().line();
        let url = "https://example.org/ramie.git";
        assert_eq!(line(url), format!("ramie = {{ git = \"{url}\" }}"));
        assert_eq!(line("0.1"), "ramie = \"0.1\"");
        assert_eq!(line(">=0.1, <0.3"), "ramie = \">=0.1, <0.3\"");
        let here = checkout().to_str().unwrap();
        assert_eq!(line(here), format!("ramie = {{ path = \"{here}\" }}"));
        for text in ["no/such/folder", "latest", "/", "src"] {
            let error = choose(Some(text)).unwrap_err();
            assert!(error.starts_with(&format!("--ramie `{text}`: ")), "{error}");
            assert!(error.contains("help: pass the folder"), "{error}");
        }
    }

    #[test]
    fn the_default_is_this_checkout() {
        let here = checkout().to_owned();
        let Dependency::Path { folder, is_default } = choose(None).unwrap() else {
            panic!("the default is not a path");
        };
        assert_eq!((folder, is_default), (here, true));
        let comment = choose(None).unwrap().comment();
        assert!(
            comment.contains(&format!("ramie = \"{VERSION}\"")),
            "{comment}"
        );
        assert!(
            comment.lines().all(|line| line.starts_with("# ")),
            "{comment}"
        );
    }

    #[test]
    fn special_characters_are_escaped() {
        assert_eq!(quoted("a\\b \"c\"\n"), r#""a\\b \"c\"\u000A""#);
    }
}
