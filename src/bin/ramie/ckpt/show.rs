//! `ramie ckpt show`.

use std::error::Error;
use std::io::{self, Write};

use super::One;
use super::parts::What;
use super::source::Source;
use super::text;

pub(crate) fn run(one: &One, values: Option<&str>) -> Result<(), Box<dyn Error>> {
    let (checkpoint, step) = Source::one(one)?;
    let mut out = io::stdout().lock();
    if let Some(path) = values {
        writeln!(out, "{}", checkpoint.array(path)?)?;
        return Ok(());
    }
    let parts = checkpoint.parts()?;
    let step = step.map_or(String::new(), |step| format!(", step {step}"));
    let (path, format) = (checkpoint.path().display(), checkpoint.format());
    writeln!(out, "{path} ({format}{step})\n")?;
    let head = ["PATH", "TYPE", "BYTES", "SHARDING"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for part in &parts {
        let bytes = match part.what {
            What::Array(..) => text::bytes(part.what.bytes()),
            _ => String::new(),
        };
        let sharding = part.sharding.clone().unwrap_or_default();
        rows.push(vec![
            part.path.clone(),
            part.what.describe(),
            bytes,
            sharding,
        ]);
    }
    if parts.iter().all(|part| part.sharding.is_none()) {
        rows.iter_mut().for_each(|row| row.truncate(3));
    }
    write!(out, "{}", text::table(&rows, &[2]))?;
    let arrays = parts
        .iter()
        .filter(|part| matches!(part.what, What::Array(..)));
    let sum = |of: fn(&What) -> u64| {
        let of = parts.iter().map(|part| of(&part.what));
        of.fold(0, u64::saturating_add)
    };
    writeln!(
        out,
        "\n{}, {} elements, {}",
        text::counted(arrays.count(), "array"),
        text::grouped(sum(What::count)),
        text::bytes(sum(What::bytes))
    )?;
    Ok(())
}
