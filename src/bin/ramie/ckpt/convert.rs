//! `ramie ckpt convert`.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use ramie::checkpoint::commit::save_item;
use ramie::checkpoint::pytree::PyTreeSave;
use ramie::checkpoint::serialization::StateDict;
use ramie::checkpoint::{safetensors, serialization};

use super::One;
use super::checkpoint::{Checkpoint, arrays};
use super::parts::What;
use super::source::Source;
use super::text;

/// A format that checkpoints can be saved in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Safetensors,
    Msgpack,
    Orbax,
}

impl FromStr for Format {
    type Err = String;
    fn from_str(name: &str) -> Result<Format, String> {
        match name {
            "safetensors" => Ok(Format::Safetensors),
            "msgpack" => Ok(Format::Msgpack),
            "orbax" => Ok(Format::Orbax),
            _ => Err("expected `safetensors`, `msgpack` or `orbax`".into()),
        }
    }
}

/// The end of the name of an index of several safetensors files.
const INDEX: &str = ".safetensors.index.json";

/// Bytes of the arrays in each of several safetensors files, as others have it.
const SHARD: usize = 5_000_000_000;

pub(crate) fn run(one: &One, to: &Path, format: Option<Format>) -> Result<(), Box<dyn Error>> {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let format = format.unwrap_or(match &*name {
        name if name.ends_with(".safetensors") || name.ends_with(INDEX) => Format::Safetensors,
        name if name.ends_with(".msgpack") => Format::Msgpack,
        _ => Format::Orbax,
    });
    if fs::exists(to)? {
        return Err(format!(
            "{}: is there already\n  help: remove it, or give another name",
            to.display()
        )
        .into());
    }
    let (checkpoint, _) = Source::one(one)?;
    let parts = checkpoint.parts()?;
    for part in parts.iter().filter(|part| !format.keeps(&part.what)) {
        let (path, what) = (&part.path, part.what.describe());
        eprintln!(
            "ramie: `{path}` is left out: {} has no {what}",
            format.name()
        );
    }
    let arrays = match format {
        // Names are only names there, and make no tree.
        Format::Safetensors => {
            let state = checkpoint.state()?;
            match name.ends_with(INDEX) {
                true => safetensors::save_sharded(to, &state, SHARD)?,
                false => safetensors::save(to, &state)?,
            }
            state.len()
        }
        Format::Msgpack => {
            let mut dict = checkpoint.dict()?;
            if let Checkpoint::Orbax { .. } = &checkpoint {
                as_flax(&mut dict);
            }
            serialization::save_dict(to, &dict)?;
            arrays(&dict).len()
        }
        Format::Orbax => {
            let mut dict = checkpoint.dict()?;
            without_bytes(&mut dict);
            save_item(to, &PyTreeSave::dict(&dict))?;
            arrays(&dict).len()
        }
    };
    let (shown, number) = (to.display(), text::counted(arrays, "array"));
    writeln!(io::stdout(), "{shown}: {number}")?;
    Ok(())
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Format::Safetensors => "safetensors",
            Format::Msgpack => "Flax's msgpack",
            Format::Orbax => "a tree of Orbax",
        }
    }

    /// Whether the format has such parts.
    fn keeps(self, what: &What) -> bool {
        match what {
            What::Array(..) | What::Number(_) => true,
            What::Text(_) | What::Empty(_) => self != Format::Safetensors,
            What::Bytes(_) => self == Format::Msgpack,
            What::Json(_) | What::Other(_) => false,
        }
    }
}

/// Makes nodes without parts empty dictionaries, as Flax has them: Orbax stores the states of
/// optimizers that keep nothing as `None`, which Flax refuses in their place.
fn as_flax(dict: &mut StateDict) {
    match dict {
        StateDict::Dict(parts) => parts.iter_mut().for_each(|(_, part)| as_flax(part)),
        StateDict::None | StateDict::List(_) => *dict = StateDict::Dict(Vec::new()),
        _ => {}
    }
}

fn without_bytes(dict: &mut StateDict) {
    match dict {
        StateDict::Dict(parts) => {
            parts.retain(|(_, part)| !matches!(part, StateDict::Bytes(_)));
            parts.iter_mut().for_each(|(_, part)| without_bytes(part));
        }
        StateDict::List(parts) => {
            parts.retain(|part| !matches!(part, StateDict::Bytes(_)));
            parts.iter_mut().for_each(without_bytes);
        }
        _ => {}
    }
}
