//! The notebook: its cells are those of a program, which runs, and run in evcxr if it is installed.

use serde_json::Value;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/notebook")
}

/// The code of each cell of the notebook.
fn cells() -> Vec<String> {
    let text = fs::read_to_string(folder().join("ramie.ipynb")).unwrap();
    let notebook: Value = serde_json::from_str(&text).unwrap();
    let cells = notebook["cells"].as_array().unwrap().iter();
    let code = cells.filter(|cell| cell["cell_type"] == "code");
    let lines = |cell: &Value| -> String {
        let lines = cell["source"].as_array().unwrap().iter();
        lines.map(|line| line.as_str().unwrap()).collect()
    };
    code.map(lines).collect()
}

/// The code between the marks of the program, without the indentation of `main`.
fn parts() -> Vec<String> {
    let text = fs::read_to_string(folder().join("ramie.rs")).unwrap();
    let mut parts = Vec::new();
    for line in text.lines() {
        let line = line.strip_prefix("    ").unwrap_or(line);
        if line.starts_with("// %%") {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            *part += line;
            part.push('\n');
        }
    }
    parts.pop();
    parts
        .iter()
        .map(|part| part.trim_end().to_owned())
        .collect()
}

/// Returns the output of the notebook's program.
fn printed() -> String {
    let output = Command::new(ramie_testing::examples::example("notebook"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    text
}

#[test]
fn the_notebook_is_the_program() {
    let cells = cells();
    assert!(
        cells[0]
            .lines()
            .all(|line| line.starts_with(":dep ") || line == "use shared as _;"),
        "{}",
        cells[0]
    );
    assert_eq!(cells[1..], parts());
}

#[test]
fn the_program_runs() {
    let text = printed();
    let loss = text
        .lines()
        .find_map(|line| line.strip_prefix("validation loss: "));
    assert!(loss.unwrap().parse::<f64>().unwrap() < 0.4, "{text}");
    assert!(text.contains("<svg"), "{text}");
}

/// Runs each cell as Jupyter does and compares the output with the program's. Cells print arrays
/// and losses that earlier cells computed.
#[test]
fn the_cells_run_in_evcxr() {
    let mut evcxr = Command::new("evcxr");
    evcxr
        .args(["--disable-readline", "--ide-mode"])
        .current_dir(folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut process = match evcxr.spawn() {
        Ok(process) => process,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("skipped: evcxr is not installed");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let mut input = process.stdin.take().unwrap();
    for cell in cells() {
        // A line is a cell; this separator stands for its line breaks.
        writeln!(input, "{}", cell.replace('\n', "\u{2028}")).unwrap();
    }
    drop(input);
    let output = process.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    // The marks of cells that succeeded and failed.
    assert_eq!(text.matches('\u{91}').count(), cells().len(), "{text}");
    assert_eq!(text.matches('\u{92}').count(), 0, "{text}");
    let prompt = "\u{1b}[33m>> \u{1b}[0m";
    let without_marks = text.replace(prompt, "").replace(['\u{91}', '\n'], "");
    // evcxr passes the picture to Jupyter and does not print it.
    let expected = printed();
    let (expected, _) = expected.split_once("EVCXR_BEGIN_CONTENT").unwrap();
    assert!(
        without_marks.contains(&expected.replace('\n', "")),
        "evcxr:\n{text}\nthe program:\n{expected}"
    );
}
