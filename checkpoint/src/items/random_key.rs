//! Random keys.

use super::{Composite, JsonRestore, JsonSave};
use crate::commit::{ItemReader, Process, RestoreArgs, SaveArgs, Snapshot};
use crate::pytree::{ArrayRestore, ArraySave};
use crate::{Error, Result};
use ramie_core::DType;
use ramie_core::files::Message;
use ramie_core::random::{self, Key, KeyImpl, KeyLayout};
use serde::{Deserialize, Serialize};

/// Orbax's directory names of the key data and of its metadata.
const KEY: &str = "jax_random_key";
const METADATA: &str = "jax_random_key_metadata";

/// Returns whether the item is a random key.
pub(super) fn is_key(reader: &ItemReader) -> bool {
    let is_folder = |name| reader.path(name).is_ok_and(|path| path.is_dir());
    is_folder(KEY) && is_folder(METADATA)
}

/// Metadata of a key. Orbax only stores whether the key is typed; the other fields are written
/// only if they differ from Orbax's defaults.
#[derive(Serialize, Deserialize)]
struct Metadata {
    typed: bool,
    #[serde(default, rename = "impl", skip_serializing_if = "Option::is_none")]
    generator: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    original_layout: Option<bool>,
}

/// Arguments of saving a key or an array of keys: `orbax.checkpoint.args.JaxRandomKeySave`.
///
/// ```no_run
/// use ramie_checkpoint::commit::{restore_item, save_item};
/// use ramie_checkpoint::items::{JaxRandomKeyRestore, JaxRandomKeySave};
/// use ramie_core::random;
/// # fn main() -> ramie_checkpoint::Result<()> {
/// let key = random::key(42);
/// save_item("key", &JaxRandomKeySave::new(&key))?;
/// let same = restore_item("key", JaxRandomKeyRestore::new())?;
/// assert_eq!(random::key_data(&same).to_vec::<u32>(), [0, 42]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct JaxRandomKeySave<'a>(&'a Key);

impl<'a> JaxRandomKeySave<'a> {
    /// Creates arguments that save this key.
    pub fn new(key: &'a Key) -> JaxRandomKeySave<'a> {
        JaxRandomKeySave(key)
    }
}

impl SaveArgs for JaxRandomKeySave<'_> {
    fn handler(&self) -> &str {
        "orbax.checkpoint._src.handlers.random_key_checkpoint_handler.JaxRandomKeyCheckpointHandler"
    }

    fn snapshot(&self, process: Process) -> Result<Box<dyn Snapshot>> {
        let generator = random::key_impl(self.0);
        let original = self.0.layout() == KeyLayout::Original;
        let metadata = Metadata {
            typed: true,
            generator: (generator != KeyImpl::Threefry2x32).then(|| generator.name().to_owned()),
            original_layout: original.then_some(true),
        };
        Composite::new()
            .item(KEY, ArraySave::new(random::key_data(self.0)))
            .item(METADATA, JsonSave::new(&metadata))
            .snapshot(process)
    }
}

/// Arguments of restoring a key that [`JaxRandomKeySave`] or Orbax saved, with its PRNG
/// implementation. The data of an untyped key is restored as a key, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct JaxRandomKeyRestore;

impl JaxRandomKeyRestore {
    /// Creates arguments that restore a key.
    pub fn new() -> JaxRandomKeyRestore {
        JaxRandomKeyRestore
    }
}

impl RestoreArgs for JaxRandomKeyRestore {
    type Item = Key;

    fn restore(self, reader: &ItemReader) -> Result<Key> {
        let items = Composite::new()
            .item(KEY, ArrayRestore::new())
            .item(METADATA, JsonRestore::<Metadata>::new());
        let (data, metadata) = items.restore(reader)?;
        let fail = |message: String| {
            Err(Error::format(
                reader.folder(),
                Message::new(message).help("use `ArrayRestore` to restore the array itself"),
            ))
        };
        let words = data.shape().last().copied();
        let generator = match &metadata.generator {
            Some(name) => KeyImpl::ALL.into_iter().find(|g| g.name() == name),
            None => KeyImpl::ALL.into_iter().find(|g| Some(g.words()) == words),
        };
        let name = metadata
            .generator
            .as_deref()
            .unwrap_or("any PRNG implementation");
        let Some(generator) = generator else {
            return fail(format!(
                "contains {}, which is not a key of {name}",
                data.aval()
            ));
        };
        if data.dtype() != DType::U32 || words != Some(generator.words()) {
            return fail(format!(
                "contains {}, which is not a key of {generator}",
                data.aval()
            ));
        }
        let key = random::wrap_key_data_with(data, generator);
        Ok(match metadata.original_layout {
            Some(true) => key.with_layout(KeyLayout::Original),
            _ => key,
        })
    }

    fn reads_checked(&self) -> bool {
        true
    }
}
