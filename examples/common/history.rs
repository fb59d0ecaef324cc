//! Metrics of a run so far, read from its JSON lines file.

use super::Result;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Removes what a run wrote after a step, which will be repeated.
pub fn cut_after(path: &Path, step: u64) -> Result {
    let Ok(text) = fs::read_to_string(path) else {
        return Ok(());
    };
    // A line that was truncated when the run was stopped has no step.
    let is_kept = |line: &&str| step_of(line).is_some_and(|s| s <= step);
    let kept = text.lines().filter(is_kept);
    let kept: String = kept.flat_map(|line| [line, "\n"]).collect();
    fs::write(path, kept).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(())
}

fn step_of(line: &str) -> Option<u64> {
    serde_json::from_str::<Value>(line).ok()?["step"].as_u64()
}

/// Returns whether the file contains a value of a metric for a step.
pub fn has(path: &Path, step: u64, metric: &str) -> Result<bool> {
    let values = match path.exists() {
        true => of(path, metric)?,
        false => Vec::new(),
    };
    Ok(values.iter().any(|(s, _)| *s == step as f64))
}

/// Returns the steps and values of a metric.
pub fn of(path: &Path, metric: &str) -> Result<Vec<(f64, f64)>> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut values = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line)?;
        if let (Some(step), Some(value)) = (line["step"].as_f64(), line[metric].as_f64()) {
            values.push((step, value));
        }
    }
    Ok(values)
}
