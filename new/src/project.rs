//! The files of a project.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::dependency::Dependency;
use super::template::{Contents, Template};

/// Paths below the folder of the project, with their contents.
type Files = Vec<(String, String)>;

const IGNORED: &str = "/target/\n/out*/\n/base.safetensors\n";

/// Returns the files of a project in a folder, which need not exist.
pub(super) fn files(name: &str, template: Template, ramie: &Dependency, folder: &Path) -> Files {
    let contents = template.contents();
    let mut files = vec![
        (
            "Cargo.toml".to_owned(),
            manifest(name, ramie, contents.features, is_below_workspace(folder)),
        ),
        (".gitignore".to_owned(), IGNORED.to_owned()),
        ("README.md".to_owned(), readme(name, &contents)),
    ];
    let sources = contents.sources.iter();
    files.extend(sources.map(|(file, text, _)| (format!("src/{file}"), (*text).to_owned())));
    files
}

fn manifest(name: &str, ramie: &Dependency, features: &str, is_below: bool) -> String {
    let (comment, line) = (ramie.comment(), ramie.line());
    let workspace = if is_below {
        "\n# Makes this crate independent of the workspace in a folder above.\n[workspace]\n"
    } else {
        ""
    };
    format!(
        r#"[package]
name = "{name}"
version = "0.1.0"
edition = "2024"
publish = false

[dependencies]
{comment}{line}
clap = {{ version = "4.6", default-features = false, features = ["std", "help", "usage", "error-context", "derive"] }}
serde = {{ version = "1", features = ["derive"] }}
toml = "1.1"
{features}
# The kernels of the CPU backend. Without optimization, programs run 20 to 50 times as long.
[profile.dev.package.ramie-cpu]
opt-level = 3
codegen-units = 1
debug-assertions = false

# Line numbers in backtraces, for this crate. More debug information takes longer to build.
[profile.dev]
debug = "line-tables-only"

[profile.dev.package."*"]
debug = false
{workspace}"#
    )
}

fn readme(name: &str, contents: &Contents) -> String {
    let row = |file: &str, about: &str| format!("| `{file}` | {about} |\n");
    let written = contents.written.iter();
    let written: String = written.map(|(file, about)| row(file, about)).collect();
    let others = contents
        .sources
        .iter()
        .filter(|(.., about)| !about.is_empty());
    let others: String = others
        .map(|(file, _, about)| row(&format!("src/{file}"), about))
        .collect();
    [
        ("{{name}}", name),
        ("{{about}}", contents.about),
        ("{{interval}}", contents.interval),
        ("{{length}}", contents.length),
        ("{{files}}\n", &format!("{written}\n")),
        ("{{sources}}\n", &format!("{others}\n")),
        ("{{notes}}\n", contents.notes),
    ]
    .into_iter()
    .fold(
        include_str!("../templates/README.md").to_owned(),
        |text, (mark, with)| text.replace(mark, with),
    )
}

/// The folders above a path, without symbolic links, from the nearest that exists.
fn above(folder: &Path) -> Vec<PathBuf> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let existing = folder
        .ancestors()
        .skip(1)
        .find_map(|p| p.canonicalize().ok());
    let all = existing.iter().flat_map(|p| p.ancestors());
    all.map(Path::to_owned).collect()
}

/// Whether Cargo would look for the crate in the workspace of a folder above.
fn is_below_workspace(folder: &Path) -> bool {
    above(folder).iter().any(|folder| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml"));
        manifest.is_ok_and(|text| {
            text.lines()
                .any(|l| l.trim_start().starts_with("[workspace"))
        })
    })
}

/// Writes the files into a new folder, or into an existing empty one.
///
/// # Errors
/// Returns an error if the folder has contents, or if it cannot be created or written. Files that
/// were written before the error are removed.
pub(super) fn write(folder: &Path, files: &Files) -> Result<(), String> {
    let shown = folder.display();
    let is_new = match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(true) => {
            return Err(format!(
                "`{shown}` already exists and is not empty\nhelp: choose another name, or remove the folder"
            ));
        }
        Ok(false) => false,
        Err(e) if e.kind() == ErrorKind::NotFound => true,
        Err(_) if folder.is_file() => {
            return Err(format!(
                "`{shown}` already exists and is not a folder\nhelp: choose another name"
            ));
        }
        Err(e) => return Err(cannot("create", folder, &e)),
    };
    write_all(folder, files).inspect_err(|_| {
        let _ = if is_new {
            fs::remove_dir_all(folder)
        } else {
            fs::remove_dir_all(folder.join("src"))
        };
    })
}

fn write_all(folder: &Path, files: &Files) -> Result<(), String> {
    let source = folder.join("src");
    fs::create_dir_all(&source).map_err(|e| cannot("create", &source, &e))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|e| cannot("write", &path, &e))?;
    }
    Ok(())
}

fn cannot(action: &str, path: &Path, error: &std::io::Error) -> String {
    format!(
        "failed to {action} `{}`: {error}\nhelp: run the command in a folder that you can write to",
        path.display()
    )
}

/// Makes the folder a git repository, as `cargo new` does, unless it is in one. A project without
/// repository is complete, so a missing or failing git is no error.
pub(super) fn git_init(folder: &Path) {
    if above(folder)
        .iter()
        .any(|folder| folder.join(".git").exists())
    {
        return;
    }
    let mut git = Command::new("git");
    git.args(["init", "--quiet"]).arg(folder);
    let _ = git.stdout(Stdio::null()).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::super::dependency::choose;
    use super::{Files, Template, files, write};
    use clap::ValueEnum;
    use std::fs;
    use std::path::Path;

    fn of(template: Template, folder: &Path) -> Files {
        files("demo", template, &choose(Some("0.1")).unwrap(), folder)
    }

    #[test]
    fn every_mark_of_the_readme_is_replaced() {
        for template in Template::value_variants() {
            for (path, text) in of(*template, Path::new("/demo")) {
                assert!(
                    !text.contains("{{name}}") && !text.contains("{{ab"),
                    "{path}"
                );
                assert!(
                    text.ends_with('\n') && !text.ends_with("\n\n"),
                    "{path}: {text}"
                );
            }
            let readme = &of(*template, Path::new("/demo"))[2].1;
            assert!(readme.starts_with("# demo\n\nThis program "), "{readme}");
            assert!(
                !readme.contains("{{") && !readme.contains("\n\n\n"),
                "{readme}"
            );
        }
    }

    #[test]
    fn a_crate_below_a_workspace_is_independent_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = || {
            of(Template::Mlp, &folder.path().join("a/demo"))[0]
                .1
                .clone()
        };
        assert!(!manifest().contains("[workspace]"));
        fs::write(folder.path().join("Cargo.toml"), "[workspace]\n").unwrap();
        assert!(manifest().ends_with("\n[workspace]\n"));
    }

    #[test]
    fn nothing_is_left_of_a_project_that_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let demo = folder.path().join("demo");
        let files = vec![
            ("Cargo.toml".to_owned(), String::new()),
            ("no/such/folder".to_owned(), String::new()),
        ];
        let error = write(&demo, &files).unwrap_err();
        assert!(error.starts_with("failed to write"), "{error}");
        assert!(!demo.exists());
    }
}
