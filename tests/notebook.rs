//! The notebook: its cells are those of a program, which runs, and run in evcxr if it is installed.

use serde_json::Value;
use std::fs;
use std::io::Write;
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

#[test]
fn the_notebook_is_the_program() {
    let cells = cells();
    assert!(
        cells[0].lines().all(|line| line.starts_with(":dep ")),
        "{}",
        cells[0]
    );
    assert_eq!(cells[1..], parts());
}

#[test]
fn the_program_runs() {
    let output = Command::new(ramie_testing::examples::example("notebook"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let loss = text
        .lines()
        .find_map(|line| line.strip_prefix("validation loss: "));
    assert!(loss.unwrap().parse::<f64>().unwrap() < 0.4, "{text}");
    assert!(text.contains("<svg"), "{text}");
}

#[test]
fn the_cells_run_in_evcxr() {
    let mut evcxr = Command::new("evcxr");
    evcxr
        .current_dir(folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let Ok(mut process) = evcxr.spawn() else {
        println!("skipped: evcxr is not installed");
        return;
    };
    let mut input = process.stdin.take().unwrap();
    input.write_all(cells().join("\n").as_bytes()).unwrap();
    drop(input);
    let output = process.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("validation loss: 0."), "{text}");
}
