//! `ramie ckpt convert`.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use ramie::State;
use ramie::checkpoint::commit::save_item;
use ramie::checkpoint::pytree::StandardSave;
use ramie::checkpoint::{safetensors, serialization};

use super::One;
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
    let kept = |what: &What| matches!(what, What::Array(..) | What::Number(_));
    for part in parts.iter().filter(|part| !kept(&part.what)) {
        let (path, what) = (&part.path, part.what.describe());
        eprintln!("ramie: `{path}` is left out: it is no array, but {what}");
    }
    let state = checkpoint.state()?;
    if format != Format::Safetensors {
        check_paths(&state)?;
    }
    match format {
        Format::Safetensors if name.ends_with(INDEX) => {
            safetensors::save_sharded(to, &state, SHARD)?;
        }
        Format::Safetensors => safetensors::save(to, &state)?,
        Format::Msgpack => serialization::save(to, &state)?,
        Format::Orbax => save_item(to, &StandardSave::new(&state))?,
    }
    let (shown, number) = (to.display(), text::counted(state.len(), "array"));
    writeln!(io::stdout(), "{shown}: {number}")?;
    Ok(())
}

/// Refuses arrays whose paths go on below other arrays: in a tree of dictionaries there is
/// one thing for each name.
fn check_paths(state: &State) -> Result<(), Box<dyn Error>> {
    for (path, _) in state.iter() {
        for (at, _) in path.match_indices('.') {
            let above = &path[..at];
            if state.get(above).is_some() {
                return Err(format!(
                    "`{path}` is below `{above}`, which is an array, so that there is no tree of \
                     them\n  help: convert to safetensors, where names are only names"
                )
                .into());
            }
        }
    }
    Ok(())
}
