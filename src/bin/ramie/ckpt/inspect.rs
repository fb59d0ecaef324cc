//! The command `ramie inspect`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{self, Write};

use ramie::checkpoint::commit::StepMetadata;
use ramie::checkpoint::gguf::Value;
use ramie::checkpoint::safetensors;

use super::One;
use super::checkpoint::Checkpoint;
use super::parts::{Part, What, sum};
use super::text;

pub(crate) fn run(one: &One, largest: usize) -> Result<(), Box<dyn Error>> {
    let (checkpoint, step) = Checkpoint::find(one)?;
    let parts = checkpoint.parts()?;
    let mut arrays: Vec<&Part> = parts.iter().filter(|part| part.is_array()).collect();
    let count = |parts: &[&Part]| sum(parts.iter().copied(), What::count);
    let bytes = |parts: &[&Part]| sum(parts.iter().copied(), What::bytes);
    let mut out = io::stdout().lock();
    for (name, value) in facts(&checkpoint, step)? {
        writeln!(out, "{name:<11} {value}")?;
    }
    let elements = text::grouped(count(&arrays));
    let number = text::counted(arrays.len(), "array");
    writeln!(out, "{:<11} {elements} in {number}", "parameters")?;
    writeln!(out, "{:<11} {}", "memory", text::bytes(bytes(&arrays)))?;

    write!(out, "{}", metadata(&checkpoint))?;

    let mut types: BTreeMap<&str, Vec<&Part>> = BTreeMap::new();
    for part in &arrays {
        if let Some(name) = part.what.type_name() {
            types.entry(name).or_default().push(part);
        }
    }
    let mut types: Vec<(&str, Vec<&Part>)> = types.into_iter().collect();
    types.sort_by_key(|(_, parts)| Reverse(bytes(parts)));
    let row = |(dtype, parts): (&str, Vec<&Part>)| {
        let number = parts.len().to_string();
        let elements = text::grouped(count(&parts));
        vec![dtype.into(), number, elements, text::bytes(bytes(&parts))]
    };
    let rows: Vec<Vec<String>> = types.into_iter().map(row).collect();
    let head = ["TYPE", "ARRAYS", "ELEMENTS", "MEMORY"];
    write!(out, "\n{}", text::table(&head, &rows, &[1, 2, 3]))?;

    arrays.sort_by_key(|part| Reverse(part.what.bytes()));
    let row = |part: &&Part| {
        let memory = text::bytes(part.what.bytes());
        vec![part.path.clone(), part.what.describe(), memory]
    };
    let rows: Vec<Vec<String>> = arrays.iter().take(largest).map(row).collect();
    let head = ["LARGEST", "TYPE", "MEMORY"];
    write!(out, "\n{}", text::table(&head, &rows, &[2]))?;
    Ok(())
}

/// Returns information about the checkpoint as a whole.
fn facts(
    checkpoint: &Checkpoint,
    step: Option<u64>,
) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let path = checkpoint.path();
    let mut facts = vec![
        fact("checkpoint", path.display().to_string()),
        fact("format", checkpoint.format().to_string()),
    ];
    facts.extend(step.map(|step| fact("step", step.to_string())));
    match checkpoint {
        Checkpoint::Orbax(folder) => {
            let saved = StepMetadata::of(path)?.and_then(|metadata| metadata.committed());
            facts.extend(saved.map(|time| fact("saved", format!("{} UTC", text::time(time)))));
            let names: Vec<&str> = folder.items().iter().filter_map(|i| i.name()).collect();
            if !names.is_empty() {
                facts.push(fact("items", names.join(", ")));
            }
            let checked = if folder.reader().is_checked() {
                "of every file"
            } else {
                "only those of the format"
            };
            facts.push(fact("checksums", checked.into()));
        }
        _ => {
            let time = fs::metadata(path).and_then(|file| file.modified());
            let time = time.map(|time| fact("changed", format!("{} UTC", text::time(time))));
            facts.extend(time.ok());
        }
    }
    if let Checkpoint::Safetensors(path) = checkpoint {
        let notes = safetensors::load_metadata(path)?;
        facts.extend(notes.into_iter().map(|(name, note)| {
            let note = text::shortened(&note);
            (format!("note {name}"), note)
        }));
    }
    if let Checkpoint::Gguf(file) = checkpoint {
        facts.push(fact("version", file.version().to_string()));
    }
    Ok(facts)
}

/// Returns the table of the metadata of a GGUF file, below an empty line.
fn metadata(checkpoint: &Checkpoint) -> String {
    let Checkpoint::Gguf(file) = checkpoint else {
        return String::new();
    };
    let row = |(key, value): &(String, Value)| {
        let shown = What::Metadata(value.clone()).describe();
        vec![key.clone(), value.type_name(), shown]
    };
    let rows: Vec<Vec<String>> = file.metadata().iter().map(row).collect();
    format!(
        "\n{}",
        text::table(&["METADATA", "TYPE", "VALUE"], &rows, &[])
    )
}
