//! The command `ramie ckpt convert`.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use ramie::checkpoint::Format;
use ramie::checkpoint::serialization::StateDict;

use super::One;
use super::checkpoint::Checkpoint;
use super::parts::What;
use super::text;

pub(crate) fn run(one: &One, to: &Path, format: Option<Format>) -> Result<(), Box<dyn Error>> {
    let format = format.or(Format::of_name(to)).unwrap_or(Format::Orbax);
    if fs::exists(to)? {
        return Err(format!(
            "{}: already exists\n  help: remove it, or use another name",
            to.display()
        )
        .into());
    }
    let (checkpoint, _) = Checkpoint::find(one)?;
    let parts = checkpoint.parts()?;
    for part in parts.iter().filter(|part| !keeps(format, &part.what)) {
        let (path, what) = (&part.path, part.what.describe());
        eprintln!("ramie: `{path}` is omitted: {format} does not support {what}");
    }
    let arrays = match format {
        // Safetensors files are flat, so names need not form a tree.
        Format::Safetensors | Format::Gguf | Format::PyTorch => {
            let state = checkpoint.state()?;
            format.save(to, &state)?;
            state.len()
        }
        Format::Msgpack | Format::Orbax => {
            let mut dict = checkpoint.dict()?;
            if (checkpoint.format(), format) == (Format::Orbax, Format::Msgpack) {
                as_flax(&mut dict);
            }
            format.save_dict(to, &dict)?;
            dict.arrays().len()
        }
    };
    let (shown, number) = (to.display(), text::counted(arrays, "array"));
    writeln!(io::stdout(), "{shown}: {number}")?;
    Ok(())
}

/// Returns whether a format supports such a value.
fn keeps(format: Format, what: &What) -> bool {
    match what {
        What::Array(..) | What::Tensor(_) | What::Number(_) => true,
        What::Text(_) | What::Empty(_) => format != Format::Safetensors,
        What::Bytes(_) => format == Format::Msgpack,
        What::Json(_) | What::Metadata(_) | What::Other(_) => false,
    }
}

/// Replaces empty nodes with empty dictionaries, as in Flax. Orbax stores the states of stateless
/// optimizers as `None`, which Flax rejects in their place.
fn as_flax(dict: &mut StateDict) {
    match dict {
        StateDict::Dict(parts) => parts.iter_mut().for_each(|(_, part)| as_flax(part)),
        StateDict::None | StateDict::List(_) => *dict = StateDict::Dict(Vec::new()),
        _ => {}
    }
}
