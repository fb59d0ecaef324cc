//! The command `ramie ckpt show`.

use std::error::Error;
use std::io::{self, Write};

use super::One;
use super::checkpoint::Checkpoint;
use super::parts::{What, sum};
use super::text;

pub(crate) fn run(one: &One, values: Option<&str>) -> Result<(), Box<dyn Error>> {
    let (checkpoint, step) = Checkpoint::find(one)?;
    let mut out = io::stdout().lock();
    if let Some(path) = values {
        writeln!(out, "{}", checkpoint.value(path)?)?;
        return Ok(());
    }
    let parts = checkpoint.parts()?;
    let step = step.map_or(String::new(), |step| format!(", step {step}"));
    let (path, format) = (checkpoint.path().display(), checkpoint.format());
    writeln!(out, "{path} ({format}{step})\n")?;
    let mut rows = Vec::new();
    for part in &parts {
        let bytes = if part.is_array() {
            text::bytes(part.what.bytes())
        } else {
            String::new()
        };
        let sharding = part.sharding.clone().unwrap_or_default();
        rows.push(vec![
            part.path.clone(),
            part.what.describe(),
            bytes,
            sharding,
        ]);
    }
    let head = ["PATH", "TYPE", "BYTES", "SHARDING"];
    let head = if parts.iter().all(|part| part.sharding.is_none()) {
        &head[..3]
    } else {
        &head
    };
    write!(out, "{}", text::table(head, &rows, &[2]))?;
    let arrays = parts.iter().filter(|part| part.is_array());
    writeln!(
        out,
        "\n{}, {} elements, {}",
        text::counted(arrays.count(), "array"),
        text::grouped(sum(&parts, What::count)),
        text::bytes(sum(&parts, What::bytes))
    )?;
    Ok(())
}
