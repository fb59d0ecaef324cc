//! Writing a database.

use super::block::Compression;
use super::database::Database;
use super::keys::Entry;
use super::location::Location;
use super::manifest::{self, Config, Manifest};
use super::node::{LARGEST_INLINE, LONGEST_KEY, Value};
use super::output::{Home, Output, unique};
use super::tree;
use super::versions::Root;
use crate::commit::{ItemWriter, now};
use crate::{Error, Result};
use ramie_core::files::Message;
use ramie_core::lock::{lock, unpoisoned};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// Options of a [`Writer`]. The defaults are those of Orbax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Maximum size of a value that is stored with its key; larger values are written to data
    /// files immediately. At most 1048576. Defaults to 1024.
    pub max_inline_value_bytes: u32,
    /// Maximum number of bytes of a tree node in memory; 0 means no limit. Defaults to 100000000,
    /// which is enough for most trees to fit into one node.
    pub max_decoded_node_bytes: u32,
    /// Compression of nodes and the manifest. Defaults to Zstandard.
    pub compression: Compression,
    /// Size in bytes at which a data file is closed to further values; 0 means no limit. Values
    /// are never split. Defaults to 2147483648.
    pub ocdbt_target_data_file_size: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            max_inline_value_bytes: 1024,
            max_decoded_node_bytes: 100_000_000,
            compression: Compression::Zstd { level: 0 },
            ocdbt_target_data_file_size: 1 << 31,
        }
    }
}

impl Options {
    /// Returns the maximum size of a value that fits into a data file of the target size.
    pub(crate) fn largest_value(&self) -> Option<u64> {
        Some(self.ocdbt_target_data_file_size).filter(|&target| target > 0)
    }
}

/// Writes a new database.
///
/// Several threads can [`put`](Writer::put) at the same time: each writes large values to a
/// separate file. Only [`finish`](Writer::finish) completes the database. A writer that is
/// dropped, or a program that is killed, leaves unreferenced data files.
///
/// ```
/// use ramie_checkpoint::ocdbt::{Database, Options, Writer};
/// # fn main() -> Result<(), ramie_checkpoint::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// let writer = Writer::create(folder.path(), &Options::default())?;
/// std::thread::scope(|scope| {
///     let put = |i: u8| writer.put([b'0' + i], &vec![i; 100_000]);
///     let threads: Vec<_> = (0..4).map(|i| scope.spawn(move || put(i))).collect();
///     threads.into_iter().try_for_each(|t| t.join().expect("no panic"))
/// })?;
/// writer.finish()?;
/// assert_eq!(Database::open(folder.path())?.len(), 4);
/// # Ok(())
/// # }
/// ```
pub struct Writer {
    home: Home,
    config: Config,
    target: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: BTreeMap<Vec<u8>, Value>,
    /// Files with room that no thread is writing to.
    idle: Vec<Output>,
    /// Whether a write failed, after which the contents of a file are unknown.
    failed: bool,
}

impl Writer {
    /// Creates a database in `folder`, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be created or already contains a database.
    ///
    /// # Panics
    ///
    /// Panics if the options allow values of more than 1048576 bytes in nodes.
    #[track_caller]
    pub fn create(folder: impl AsRef<Path>, options: &Options) -> Result<Writer> {
        Writer::begin(Home::folder(folder.as_ref())?, options)
    }

    /// Creates a database in the directory of a checkpoint's item. Its files are part of the item
    /// like any other, with checksums, and are flushed to disk with it.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory already contains a database.
    ///
    /// # Panics
    ///
    /// Panics if the options allow values of more than 1048576 bytes in nodes.
    #[track_caller]
    pub fn create_in(item: &ItemWriter, options: &Options) -> Result<Writer> {
        Writer::begin(Home::Item(item.clone()), options)
    }

    #[track_caller]
    fn begin(home: Home, options: &Options) -> Result<Writer> {
        let inline = options.max_inline_value_bytes;
        assert!(
            inline as usize <= LARGEST_INLINE,
            "ocdbt::Writer::create: max_inline_value_bytes is {inline}, but nodes store values of \
             at most {LARGEST_INLINE} bytes\n  help: use the default of 1024"
        );
        // Data files without a manifest are leftovers of a failed write, and are no database.
        let manifest = home.path().join(manifest::NAME);
        let there = manifest.try_exists();
        if there.map_err(|e| Error::io(&manifest, "be accessed", e))? {
            return Err(Error::format(
                &manifest,
                Message::new("already exists; databases cannot be overwritten")
                    .help("write to another directory"),
            ));
        }
        Ok(Writer {
            home,
            config: Config {
                uuid: unique(),
                numbered: false,
                max_inline_value_bytes: inline,
                max_decoded_node_bytes: options.max_decoded_node_bytes,
                version_tree_arity_log2: 4,
                compression: options.compression,
            },
            target: options.largest_value().unwrap_or(u64::MAX),
            state: Mutex::default(),
        })
    }

    /// Returns the database's directory.
    pub fn folder(&self) -> &Path {
        self.home.path()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Sets the value of a key, replacing an earlier one.
    ///
    /// # Errors
    ///
    /// Returns an error if a data file cannot be written; [`finish`](Writer::finish) will then
    /// fail, too.
    ///
    /// # Panics
    ///
    /// Panics if the key has more than 65535 bytes.
    #[track_caller]
    pub fn put(&self, key: impl AsRef<[u8]>, value: &[u8]) -> Result<()> {
        self.put_parts(key, &[value])
    }

    /// Sets the value of a key to the concatenation of all parts.
    ///
    /// # Errors
    ///
    /// Same as [`put`](Writer::put).
    ///
    /// # Panics
    ///
    /// Panics if the key has more than 65535 bytes.
    #[track_caller]
    pub fn put_parts(&self, key: impl AsRef<[u8]>, parts: &[&[u8]]) -> Result<()> {
        let key = key.as_ref();
        let length = key.len();
        assert!(
            length <= LONGEST_KEY,
            "ocdbt::Writer::put: the key has {length} bytes, but keys have at most \
             {LONGEST_KEY}\n  help: shorten the names in the tree"
        );
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let value = if length <= self.config.max_inline_value_bytes as usize {
            Value::Inline(parts.concat().into())
        } else {
            Value::OutOfLine(self.write(parts, length as u64)?)
        };
        // Lock after the value is in its file, so that threads write values in parallel.
        self.state().entries.insert(key.into(), value);
        Ok(())
    }

    /// Removes a key and returns whether it existed. The bytes of a large value stay in the data
    /// file.
    pub fn remove(&self, key: impl AsRef<[u8]>) -> bool {
        self.state().entries.remove(key.as_ref()).is_some()
    }

    /// Removes all keys that begin with `prefix`.
    pub fn remove_prefix(&self, prefix: impl AsRef<[u8]>) {
        let prefix = prefix.as_ref();
        self.state()
            .entries
            .retain(|key, _| !key.starts_with(prefix));
    }

    /// Adds all keys of the finished database in the subdirectory `name`, by reference: large
    /// values stay where they are, so the subdirectory must be kept with its data files.
    ///
    /// # Errors
    ///
    /// Returns an error if that database cannot be read, or has a different value for a key that
    /// this one has.
    ///
    /// # Panics
    ///
    /// Panics if `name` is not the name of a single directory.
    #[track_caller]
    pub fn include(&self, name: &str) -> Result<()> {
        let plain = !name.is_empty() && !name.contains(['/', '\\']) && name != "." && name != "..";
        assert!(
            plain,
            "ocdbt::Writer::include: `{name}` is not the name of a directory\n  help: pass the \
             name of a direct subdirectory of the database"
        );
        let database = Database::open(self.folder().join(name))?;
        for entry in Entry::new(&database, b"") {
            let (key, value) = entry?;
            let value = match value {
                Value::OutOfLine(mut location) => {
                    // The base path moves into the subdirectory; the values themselves do not move.
                    location.file.base = format!("{name}/{}", location.file.base).into();
                    Value::OutOfLine(location)
                }
                inline => inline,
            };
            // Clone the value instead of keeping the lock: the comparison may read two large files.
            let before = self.state().entries.get(&key).cloned();
            if before.is_some_and(|before| before != value && !self.equal(&before, &value)) {
                let key = key.escape_ascii();
                return Err(Error::format(
                    database.folder(),
                    Message::new(format!(
                        "has a different value for `{key}` than the database to which it is added"
                    ))
                    .help("write each key from one process, or the same value from all"),
                ));
            }
            self.state().entries.insert(key, value);
        }
        Ok(())
    }

    /// Returns whether two values have the same bytes.
    fn equal(&self, a: &Value, b: &Value) -> bool {
        let files = super::files::Files::new(self.folder().into());
        let chunk = |value: &Value, at: u64, bytes: &mut [u8]| -> Result<()> {
            super::database::fill(&files, value, at, bytes)
        };
        // Compare piece by piece, since values can be larger than memory.
        // A value that cannot be read counts as different, so the merge fails rather than guesses.
        let (mut x, mut y) = (vec![0; 1 << 16], vec![0; 1 << 16]);
        let length = a.length();
        length == b.length()
            && (0..length).step_by(x.len()).all(|at| {
                let n = (length - at).min(1 << 16) as usize;
                let (x, y) = (&mut x[..n], &mut y[..n]);
                chunk(a, at, x).is_ok() && chunk(b, at, y).is_ok() && x == y
            })
    }

    /// Writes bytes to a data file with room.
    fn write(&self, parts: &[&[u8]], length: u64) -> Result<Location> {
        // Take the file out of the list: no other thread can use it, so writing needs no lock.
        // After an error it is not put back, as its end is unknown.
        let output = {
            let mut state = self.state();
            let fits = |o: &Output| o.length().saturating_add(length) <= self.target;
            let roomy = state.idle.iter().rposition(fits);
            roomy.map(|i| state.idle.swap_remove(i))
        };
        let written = output
            .map_or_else(|| self.home.create(), Ok)
            .and_then(|mut output| {
                let location = output.write(parts, length)?;
                if output.length() < self.target {
                    self.state().idle.push(output)
                } else {
                    output.finish()?
                }
                Ok(location)
            });
        if written.is_err() {
            self.state().failed = true;
        }
        written
    }

    /// Completes the database: writes the tree, flushes everything to disk, and then writes the
    /// manifest.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written, now or in an earlier [`put`](Writer::put).
    /// The directory then does not contain a database.
    pub fn finish(self) -> Result<()> {
        let entries = std::mem::take(&mut self.state().entries);
        let entries = entries.into_iter().collect();
        // The entries come from a `BTreeMap`, so they are sorted as the tree needs them.
        let tree = tree::build(&self.config, entries, |block| {
            self.write(&[block], block.len() as u64)
        })?;
        let state = unpoisoned(self.state.into_inner());
        if state.failed {
            return Err(Error::format(
                self.home.path(),
                Message::new("the database is incomplete: a value could not be written")
                    .help("see the error of that value, and save again"),
            ));
        }
        for output in state.idle {
            output.finish()?;
        }
        let root = Root {
            // Generations start at 1; a new database has this one only.
            generation: 1,
            height: tree.as_ref().map_or(0, |tree| tree.height),
            statistics: tree.as_ref().map(|t| t.statistics).unwrap_or_default(),
            location: tree.map(|tree| tree.location),
            commit_time: now(),
        };
        let manifest = Manifest::write_first(&self.config, &root);
        self.home.finish(&manifest)
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("folder", &self.folder())
            .field("keys", &self.state().entries.len())
            .finish_non_exhaustive()
    }
}
