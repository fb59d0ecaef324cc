//! Writing trees.

use super::array_metadata::{self, ArrayMetadata, RANDOM_KEY_IMPL};
use super::dtype::to_stored;
use super::layout::{Compression, Layout, Zarr};
use super::metadata::{self, Entry, ValueKind};
use super::region::{self, chunk_shape, copy, overlap, whole};
use super::walk::{self, Part};
use super::{dict, sharding, strings};
use crate::commit::{ItemWriter, Process, SaveArgs, Snapshot, TREE};
use crate::nodes::Leaf;
use crate::ocdbt;
use crate::serialization::StateDict;
use crate::{Error, Result, zstandard};
use ramie_core::dtypes::Scalar;
use ramie_core::random::KeyImpl;
use ramie_core::sharding::{HostShard, Sharding};
use ramie_core::tree::HostValue;
use ramie_core::{Array, DType, State, Tree};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Options of saving a single array: `orbax.checkpoint.SaveArgs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeafSave {
    /// Dtype to convert the array to.
    pub dtype: Option<DType>,
    /// Maximum number of bytes of a chunk before compression. Chunks are written and read in
    /// parallel. By default, each device shard is one chunk.
    pub chunk_byte_size: Option<u64>,
}

/// Arguments of saving a tree of arrays: `orbax.checkpoint.args.PyTreeSave`.
///
/// The arrays are named by their paths, as in Orbax: for a Flax `TrainState`,
/// `params.dense.kernel` and `opt_state.0.mu.dense.kernel`. Numbers, booleans and strings of the
/// tree are stored like Python's, except for those of modules and of fields marked with
/// `#[tree(fixed)]`. The defaults are the fastest options. Orbax reads the results of all options.
///
/// ```
/// use ramie_checkpoint::commit::{restore_item, save_item};
/// use ramie_checkpoint::pytree::{Compression, PyTreeRestore, PyTreeSave};
/// use ramie_core::{Array, DType, State};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("weights");
/// let params = State::from_iter([("dense.kernel", Array::ones(&[2, 3], DType::F32))]);
/// save_item(&path, &PyTreeSave::new(&params).compression(Compression::Zstd { level: 1 }))?;
/// let restored = restore_item(&path, PyTreeRestore::new(&params))?;
/// assert_eq!(restored["dense.kernel"].shape(), [2, 3]);
/// # Ok(())
/// # }
/// ```
pub struct PyTreeSave<'a, T> {
    content: Content<'a, T>,
    zarr: Zarr,
    compression: Compression,
    use_ocdbt: Option<bool>,
    target_data_file_size: Option<u64>,
    chunk_byte_size: Option<u64>,
    leaves: Option<Box<dyn Fn(&str, &Array) -> LeafSave + 'a>>,
    strings: Vec<(String, String)>,
    custom_metadata: Value,
    pub(super) handler: &'static str,
}

/// Tree or dictionary to save.
enum Content<'a, T> {
    Tree(&'a T),
    Dict(&'a StateDict),
}

impl<'a> PyTreeSave<'a, State> {
    /// Creates arguments that save a tree without types, such as the result of
    /// [`DictRestore`](super::DictRestore) or the contents of a Flax msgpack file. It may contain
    /// numbers and strings. Dictionaries whose keys count from 0 are saved as sequences.
    pub fn dict(dict: &'a StateDict) -> PyTreeSave<'a, State> {
        PyTreeSave::with(Content::Dict(dict))
    }
}

impl<'a, T: Tree> PyTreeSave<'a, T> {
    /// Creates arguments that save this tree.
    pub fn new(tree: &'a T) -> PyTreeSave<'a, T> {
        PyTreeSave::with(Content::Tree(tree))
    }

    fn with(content: Content<'a, T>) -> PyTreeSave<'a, T> {
        PyTreeSave {
            content,
            zarr: Zarr::default(),
            compression: Compression::default(),
            use_ocdbt: None,
            target_data_file_size: None,
            chunk_byte_size: None,
            leaves: None,
            strings: Vec::new(),
            custom_metadata: Value::Null,
            handler: "orbax.checkpoint._src.handlers.pytree_checkpoint_handler.PyTreeCheckpointHandler",
        }
    }

    /// Sets the version of the zarr format. Defaults to [`Zarr::V2`], as in Orbax.
    pub fn zarr(mut self, zarr: Zarr) -> Self {
        self.zarr = zarr;
        self
    }

    /// Sets the compression of chunks. Defaults to none.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets whether everything is stored in an OCDBT database, which has few files for any number
    /// of arrays. By default, trees of at least 16 arrays with less than 4 MiB each on average
    /// are, because creating a file takes longer than filling it. Larger arrays are restored
    /// faster from files of their own. Orbax defaults to `True`.
    pub fn use_ocdbt(mut self, use_ocdbt: bool) -> Self {
        self.use_ocdbt = Some(use_ocdbt);
        self
    }

    /// Sets the size in bytes at which an OCDBT data file is closed to further values. Chunks do
    /// not exceed it. 0 means no limit.
    pub fn ocdbt_target_data_file_size(mut self, bytes: u64) -> Self {
        self.target_data_file_size = Some(bytes);
        self
    }

    /// Sets the maximum number of bytes of a chunk, for all arrays for which
    /// [`leaves`](PyTreeSave::leaves) sets none.
    pub fn chunk_byte_size(mut self, bytes: u64) -> Self {
        self.chunk_byte_size = Some(bytes);
        self
    }

    /// Sets a function that returns the options of each array, given its dotted name.
    pub fn leaves(mut self, leaves: impl Fn(&str, &Array) -> LeafSave + 'a) -> Self {
        self.leaves = Some(Box::new(leaves));
        self
    }

    /// Adds a string at a dotted name. A restore into a tree ignores it.
    pub fn string(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.strings.push((name.into(), text.into()));
        self
    }

    /// Sets custom metadata of the tree; [`metadata`](super::metadata) returns it.
    pub fn custom_metadata(mut self, value: Value) -> Self {
        self.custom_metadata = value;
        self
    }

    /// Returns the options of the OCDBT database, if one is used for these parts.
    fn database(&self, parts: &[Part]) -> Option<ocdbt::Options> {
        let use_ocdbt = self.use_ocdbt.unwrap_or_else(|| are_many_and_small(parts));
        use_ocdbt.then(|| {
            let mut options = ocdbt::Options::default();
            if let Some(bytes) = self.target_data_file_size {
                options.ocdbt_target_data_file_size = bytes;
            }
            options
        })
    }

    /// Prepares one array for saving.
    fn stored(&self, name: &str, leaf: &Leaf, database: Option<&ocdbt::Options>) -> Result<Stored> {
        let wrong = |what: String| Error::tree(None, format!("`{name}`: {what}"));
        let mut how = self
            .leaves
            .as_ref()
            .map_or_else(LeafSave::default, |leaves| leaves(name, &leaf.array));
        how.chunk_byte_size = how.chunk_byte_size.or(self.chunk_byte_size);
        // A database never splits a value, so a chunk must fit into one data file.
        if let Some(limit) = database.and_then(ocdbt::Options::largest_value) {
            how.chunk_byte_size = Some(how.chunk_byte_size.map_or(limit, |size| size.min(limit)));
        }
        let array = match how.dtype {
            Some(dtype) if dtype != leaf.array.dtype() => leaf.array.astype(dtype),
            _ => leaf.array.clone(),
        };
        let shards = array.host_shards().map_err(|e| wrong(e.to_string()))?;
        let sharding = sharding::or_default(array.sharding())?;
        let shape = array.shape();
        // Chunks divide a device shard, so each chunk has one writer and processes need not
        // coordinate.
        let written = match sharding.named() {
            Some(named) => named.shard_shape(shape).to_vec(),
            None => shape.to_vec(),
        };
        let dtype = array.dtype();
        let chunk = chunk_shape(shape, &written, dtype.size(), how.chunk_byte_size);
        let layout = Layout::new(shape, &chunk, dtype, self.zarr);
        let metadata = layout.to_json(self.zarr, self.compression).ok_or_else(|| {
            wrong(format!(
                "the zarr format does not support {dtype}\n  help: use `leaves` to save the array \
                 with another dtype"
            ))
        })?;
        Ok(Stored {
            name: name.to_owned(),
            metadata,
            layout,
            written,
            sharding,
            key_impl: leaf.key_impl,
            shards,
        })
    }
}

impl<T: Tree> SaveArgs for PyTreeSave<'_, T> {
    fn handler(&self) -> &str {
        self.handler
    }

    fn snapshot(&self, process: Process) -> Result<Box<dyn Snapshot>> {
        let parts = match self.content {
            Content::Tree(tree) => walk::parts(tree).map_err(|(path, trouble)| {
                let help = "help: rename one of the two, or use `ArraySave` to save a single \
                            array";
                Error::tree(None, format!("`{path}` {trouble}\n  {help}"))
            })?,
            Content::Dict(dict) => dict::parts(dict)?,
        };
        let database = self.database(&parts);
        let mut strings: BTreeMap<String, String> = self.strings.iter().cloned().collect();
        // The loop below adds entries for the tree's own strings.
        let own: Vec<Entry> = strings.keys().map(|name| strings::entry(name)).collect();
        let mut entries = Vec::with_capacity(parts.len());
        let mut arrays = Vec::new();
        for Part { path, value } in parts {
            let (kind, write_shape) = match value {
                walk::Value::Empty(kind) => (kind, None),
                walk::Value::Host(leaf) => match leaf.value {
                    HostValue::Text(text) => {
                        strings.insert(path.to_string(), text.into_owned());
                        (ValueKind::String, None)
                    }
                    HostValue::Number(number, _) => {
                        let leaf = as_python(number);
                        arrays.push(self.stored(&path.to_string(), &leaf, database.as_ref())?);
                        (ValueKind::Scalar, None)
                    }
                },
                walk::Value::Array(leaf) => {
                    let stored = self.stored(&path.to_string(), &leaf, database.as_ref())?;
                    let shape = sizes(&stored.written);
                    arrays.push(stored);
                    (ValueKind::Array, Some(shape))
                }
            };
            entries.push(Entry {
                path,
                skip: kind.is_empty(),
                kind,
                write_shape,
            });
        }
        entries.extend(own);
        Ok(Box::new(TreeSnapshot {
            process,
            tree: metadata::Tree {
                entries,
                use_ocdbt: Some(database.is_some()),
                use_zarr3: self.zarr == Zarr::V3,
                writes_all_chunks: true,
                custom_metadata: self.custom_metadata.clone(),
            },
            zarr: self.zarr,
            compression: self.compression,
            options: database,
            arrays,
            strings,
        }))
    }
}

/// Least number of arrays of a tree that is stored in a database by default.
const MANY: usize = 16;
/// Average number of bytes of an array from which arrays are stored in files by default.
const LARGE: usize = 4 << 20;

/// Returns whether creating a file per array would take most of the time of a save. All processes
/// get the same answer, because the sizes are those of the whole arrays.
fn are_many_and_small(parts: &[Part]) -> bool {
    let arrays = parts.iter().filter_map(|part| match &part.value {
        walk::Value::Array(leaf) => Some(leaf.array.nbytes()),
        walk::Value::Host(leaf) => matches!(leaf.value, HostValue::Number(..)).then_some(8),
        walk::Value::Empty(_) => None,
    });
    let (count, bytes) = arrays.fold((0, 0), |(n, sum), bytes| (n + 1, sum + bytes));
    count >= MANY && bytes / count < LARGE
}

/// Returns the array that Orbax stores for a Python number, which has 64 bits.
fn as_python(number: Scalar) -> Leaf {
    let dtype = match number {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Uint(n) if i64::try_from(n).is_err() => DType::U64,
        Scalar::Int(_) | Scalar::Uint(_) => DType::I64,
        Scalar::Float(_) => DType::F64,
        Scalar::Complex(..) => DType::C128,
    };
    Leaf {
        at: 0,
        array: Array::scalar(number, dtype),
        key_impl: None,
    }
}

fn sizes(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|n| *n as u64).collect()
}

/// An array to write.
struct Stored {
    name: String,
    /// Contents of `.zarray` or `zarr.json`.
    metadata: Vec<u8>,
    layout: Layout,
    /// Shape of a device shard.
    written: Vec<usize>,
    sharding: Sharding,
    key_impl: Option<KeyImpl>,
    shards: Vec<HostShard>,
}

/// A tree to write; its arrays are not affected by later changes.
struct TreeSnapshot {
    process: Process,
    tree: metadata::Tree,
    zarr: Zarr,
    compression: Compression,
    options: Option<ocdbt::Options>,
    arrays: Vec<Stored>,
    strings: BTreeMap<String, String>,
}

/// Destination of the files of arrays.
enum Sink<'a> {
    Files(&'a ItemWriter),
    Database(ocdbt::Writer),
}

impl Sink<'_> {
    fn put(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        match self {
            Sink::Files(writer) => writer.write_parts(key, parts),
            Sink::Database(database) => database.put_parts(key, parts),
        }
    }
}

/// A file to write.
enum Task<'a> {
    Metadata(&'a Stored),
    Chunk(&'a Stored, &'a HostShard, Vec<usize>),
}

impl Task<'_> {
    fn bytes(&self) -> usize {
        match self {
            Task::Metadata(stored) => stored.metadata.len(),
            Task::Chunk(stored, ..) => stored.layout.chunk_bytes(),
        }
    }
}

impl Snapshot for TreeSnapshot {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        // Taking the arrays releases their buffers at the end of this function, not of the commit.
        let arrays = std::mem::take(&mut self.arrays);
        let primary = self.process.is_primary();
        let sink = match &self.options {
            None => Sink::Files(writer),
            Some(options) => {
                // Each process writes a database of its own; `finalize` merges them.
                let folder = ocdbt::process_folder(self.process.index());
                let folder = writer.subfolder(&folder)?;
                Sink::Database(ocdbt::Writer::create_in(&folder, options)?)
            }
        };
        let mut tasks = Vec::new();
        for stored in &arrays {
            if primary {
                tasks.push(Task::Metadata(stored));
            }
            // Arrays on the devices of a single process exist in all processes, so only the
            // primary one writes them.
            let mut devices = stored.sharding.devices().iter();
            let is_local = devices.all(|d| d.is_addressable());
            let is_mine = |s: &&HostShard| s.is_first() && (primary || !is_local);
            for shard in stored.shards.iter().filter(is_mine) {
                let cells = stored.layout.cells(shard.index());
                tasks.extend(cells.map(|cell| Task::Chunk(stored, shard, cell)));
            }
        }
        // Start with the largest, so that no thread is left with a large one at the end.
        tasks.sort_by_key(|task| std::cmp::Reverse(task.bytes()));
        writer.for_each(tasks, |task| self.run(task, &sink))?;
        if let Sink::Database(database) = sink {
            database.finish()?;
        }
        let metadatas = arrays.iter().map(Stored::array_metadata).collect();
        let file = array_metadata::file(self.process.index());
        writer.write(&file, &array_metadata::to_json(metadatas)?)?;
        if !primary {
            return Ok(());
        }
        if !self.strings.is_empty() {
            let text = serde_json::to_vec(&self.strings).map_err(|e| Error::Write(e.into()))?;
            writer.write(strings::FILE, &text)?;
        }
        if !arrays.is_empty() {
            let shardings = arrays.iter().map(|s| (s.name.as_str(), s.sharding));
            writer.write(sharding::FILE, &sharding::to_json(shardings))?;
        }
        writer.write(TREE, &self.tree.to_json()?)
    }

    fn finalize(&mut self, writer: &ItemWriter) -> Result<()> {
        if let Some(options) = &self.options {
            ocdbt::merge_in(writer, options)?;
        }
        Ok(())
    }
}

impl Stored {
    fn array_metadata(&self) -> ArrayMetadata {
        ArrayMetadata {
            param_name: self.name.clone(),
            write_shape: sizes(&self.written),
            chunk_shape: sizes(&self.layout.chunk),
            ext_metadata: self
                .key_impl
                .map(|key| json!({RANDOM_KEY_IMPL: key.name()})),
        }
    }
}

impl TreeSnapshot {
    fn run(&self, task: Task<'_>, sink: &Sink<'_>) -> Result<()> {
        let (stored, shard, cell) = match task {
            Task::Metadata(stored) => {
                let key = format!("{}/{}", stored.name, self.zarr.file());
                return sink.put(&key, &[&stored.metadata]);
            }
            Task::Chunk(stored, shard, cell) => (stored, shard, cell),
        };
        let layout = &stored.layout;
        let key = format!("{}/{}", stored.name, layout.key(&cell));
        let chunk = overlap(&layout.region(&cell), &whole(&layout.shape)).unwrap_or_default();
        let written = shard.read(|bytes| {
            let size = layout.dtype.size();
            match region::in_one_piece(shard.index(), &chunk) {
                // The usual case, a whole shard or leading rows of it, needs no copy.
                Some(piece) => self.put(
                    sink,
                    &key,
                    layout,
                    &bytes[piece.start * size..piece.end * size],
                ),
                None => {
                    let mut gathered = vec![0; layout.chunk_bytes()];
                    copy(
                        &chunk,
                        (shard.index(), bytes),
                        (&chunk, &mut gathered),
                        size,
                    );
                    self.put(sink, &key, layout, &gathered)
                }
            }
        });
        written.map_err(|e| Error::tree(None, format!("`{}`: {e}", stored.name)))?
    }

    /// Writes the elements of a chunk.
    fn put(&self, sink: &Sink<'_>, key: &str, layout: &Layout, elements: &[u8]) -> Result<()> {
        // Signed narrow integers are sign-extended in memory; the file has zeros in these bits.
        let masked = (layout.dtype.bits() < 8).then(|| {
            let mut bytes = elements.to_vec();
            to_stored(layout.dtype, &mut bytes);
            bytes
        });
        let elements = masked.as_deref().unwrap_or(elements);
        let compressed = match self.compression {
            Compression::None => None,
            Compression::Zstd { level } => {
                Some(zstandard::compress(elements, level).map_err(Error::Write)?)
            }
        };
        let bytes = compressed.as_deref().unwrap_or(elements);
        match self.zarr {
            Zarr::V2 => sink.put(key, &[bytes]),
            // A file of version 3 is a zarr shard with one part; its index follows the part.
            Zarr::V3 => sink.put(key, &[bytes, &index_of_one(bytes.len())]),
        }
    }
}

/// Returns the index of a file with a single part of this many bytes: its offset, its length and
/// their checksum.
fn index_of_one(bytes: usize) -> Vec<u8> {
    let mut index = [0u64, bytes as u64].map(u64::to_le_bytes).concat();
    index.extend(crc32c::crc32c(&index).to_le_bytes());
    index
}
