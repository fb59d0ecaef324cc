//! Reading a database.

use super::block::{self, Kind};
use super::files::Files;
use super::keys::Keys;
use super::location::Location;
use super::manifest::{self, Config, Manifest};
use super::node::{Entries, Node, Value};
use super::versions::{self, Root, Versions};
use crate::commit::ItemReader;
use crate::{Error, Result};
use ramie_core::files::Message;
use ramie_core::lock::lock;
use std::collections::{HashMap, VecDeque};
use std::ops::{Bound, RangeBounds};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// Maximum size of a node, whatever the manifest allows.
const LARGEST_NODE: usize = 512 << 20;
/// Minimum for the limit of node sizes: the longest key with the largest value.
const SMALLEST_LIMIT: usize = 4 << 20;
/// Maximum number of bytes of cached nodes.
const NODE_CACHE_BYTES: u64 = 256 << 20;

/// One version of a database, open for reading.
///
/// Nodes of the tree are read on demand and cached. Several threads can read from the same
/// database.
///
/// ```
/// use ramie_checkpoint::ocdbt::{Database, Options, Writer};
/// # fn main() -> Result<(), ramie_checkpoint::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// let writer = Writer::create(folder.path(), &Options::default())?;
/// writer.put("weights/.zarray", b"{}")?;
/// writer.put("weights/0.0", &[7; 5000])?;
/// writer.finish()?;
///
/// let database = Database::open(folder.path())?;
/// assert_eq!(database.get("weights/.zarray")?.as_deref(), Some(&b"{}"[..]));
/// assert_eq!(database.get_range("weights/0.0", 4998..)?, Some(vec![7, 7]));
/// assert_eq!(database.get("bias/0")?, None);
/// let keys: Vec<Vec<u8>> = database.keys("weights/").collect::<Result<_, _>>()?;
/// assert_eq!(keys, [&b"weights/.zarray"[..], b"weights/0.0"]);
/// # Ok(())
/// # }
/// ```
pub struct Database {
    config: Config,
    root: Option<Root>,
    manifest: Manifest,
    files: Files,
    kept: Mutex<NodeCache>,
}

/// Cache of nodes, which evicts the oldest first.
#[derive(Default)]
struct NodeCache {
    nodes: HashMap<Location, Arc<Node>>,
    order: VecDeque<Location>,
    bytes: u64,
}

/// Version of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Version {
    /// Number of the version, starting at 1.
    pub generation: u64,
    /// Time at which the version was written.
    pub commit_time: SystemTime,
    /// Number of keys.
    pub keys: u64,
}

impl Version {
    fn new(root: &Root) -> Version {
        Version {
            generation: root.generation,
            commit_time: SystemTime::UNIX_EPOCH + Duration::from_nanos(root.commit_time),
            keys: root.statistics.keys,
        }
    }
}

/// Position at which a value was found.
pub(super) struct ValuePosition {
    node: Arc<Node>,
    index: usize,
}

impl ValuePosition {
    pub fn value(&self) -> Option<&Value> {
        match &self.node.entries {
            Entries::Values(values) => values.get(self.index),
            Entries::Children(_) => None,
        }
    }
}

impl Database {
    /// Opens the newest version of the database in `folder`.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory does not contain a database or its manifest is damaged.
    /// Damage elsewhere is reported by the calls that read it.
    pub fn open(folder: impl AsRef<Path>) -> Result<Database> {
        Database::with(Files::new(folder.as_ref().into()))
    }

    fn with(files: Files) -> Result<Database> {
        let manifest = Manifest::open(files.folder())?;
        Ok(Database {
            config: manifest.config.clone(),
            root: manifest.roots.last().cloned(),
            manifest,
            files,
            kept: Mutex::default(),
        })
    }

    /// Opens the newest version of the database in the directory of a checkpoint's item, and
    /// records what is read for [`verify`](Database::verify).
    ///
    /// # Errors
    ///
    /// Same as [`open`](Database::open). Also returns an error if the database's manifest differs
    /// from the saved one.
    pub fn open_in(item: &ItemReader) -> Result<Database> {
        item.verify(manifest::NAME)?;
        Database::with(Files::of_item(item))
    }

    /// Verifies the data files that were read from against the checkpoint's manifest, if the
    /// database was [opened in a checkpoint](Database::open_in) that has one. Reads only the parts
    /// of these files that were not read before.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Damaged`] for a file that differs from what was written.
    pub fn verify(&self) -> Result<()> {
        self.files.verify()
    }

    /// Opens the version `generation` of the database in `folder`.
    ///
    /// # Errors
    ///
    /// Same as [`open`](Database::open). Also returns an error if the version does not exist.
    pub fn open_version(folder: impl AsRef<Path>, generation: u64) -> Result<Database> {
        let mut database = Database::open(folder)?;
        let roots = database.roots()?;
        let root = roots.into_iter().find(|root| root.generation == generation);
        let Some(root) = root else {
            return Err(Error::format(
                database.folder(),
                Message::new(format!("the database has no version {generation}"))
                    .help("list the versions with `Database::versions`"),
            ));
        };
        database.root = Some(root);
        Ok(database)
    }

    /// Returns the database's directory.
    pub fn folder(&self) -> &Path {
        self.files.folder()
    }

    /// Returns the open version, or `None` if nothing was ever written.
    pub fn version(&self) -> Option<Version> {
        self.root.as_ref().map(Version::new)
    }

    /// Returns all versions of the database, oldest first.
    ///
    /// # Errors
    ///
    /// Returns an error if a node that lists older versions is unreadable or damaged.
    pub fn versions(&self) -> Result<Vec<Version>> {
        Ok(self.roots()?.iter().map(Version::new).collect())
    }

    fn roots(&self) -> Result<Vec<Root>> {
        let mut roots = Vec::new();
        for older in &self.manifest.older {
            self.roots_below(older, &mut roots)?;
        }
        self.append(&mut roots, self.manifest.roots.clone())?;
        Ok(roots)
    }

    /// Appends versions, which must be newer than all previous ones, so that a node that is listed
    /// twice cannot cause an endless loop.
    fn append(&self, roots: &mut Vec<Root>, newer: Vec<Root>) -> Result<()> {
        // Generations start at 1.
        let last = roots.last().map_or(0, |root| root.generation);
        if newer.first().is_some_and(|root| root.generation <= last) {
            let message = "the database's versions are not in order";
            return Err(Error::format(self.folder(), message));
        }
        roots.extend(newer);
        Ok(())
    }

    fn roots_below(&self, subtree: &Versions, roots: &mut Vec<Root>) -> Result<()> {
        let arity = self.config.version_tree_arity_log2;
        let base = &subtree.location.file.base;
        let limit = self.limit();
        let node = self.block(Kind::VersionNode, &subtree.location, |cursor| {
            versions::read_node(cursor, base, arity, subtree, limit)
        })?;
        match node {
            versions::Node::Leaf(leaf) => self.append(roots, leaf),
            versions::Node::Inner(below) => below
                .iter()
                .try_for_each(|subtree| self.roots_below(subtree, roots)),
        }
    }

    /// Returns the number of keys.
    pub fn len(&self) -> u64 {
        self.root.as_ref().map_or(0, |root| root.statistics.keys)
    }

    /// Returns whether the database has no keys.
    pub fn is_empty(&self) -> bool {
        self.root.as_ref().is_none_or(|r| r.location.is_none())
    }

    /// Returns the value of a key, or `None` if the key does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if a file is unreadable, damaged or truncated. Values outside of nodes
    /// have no checksum, so the caller must detect damage to them.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.get_range(key, ..)
    }

    /// Returns the bytes `range` of the value of a key, as far as the value has them.
    ///
    /// # Errors
    ///
    /// Same as [`get`](Database::get).
    pub fn get_range(
        &self,
        key: impl AsRef<[u8]>,
        range: impl RangeBounds<u64>,
    ) -> Result<Option<Vec<u8>>> {
        let found = self.find(key.as_ref())?;
        let Some(value) = found.as_ref().and_then(ValuePosition::value) else {
            return Ok(None);
        };
        self.read(value, range).map(Some)
    }

    /// Reads the value of a key from `offset` on into `bytes`. Returns the number of bytes read,
    /// or `None` if the key does not exist.
    ///
    /// # Errors
    ///
    /// Same as [`get`](Database::get).
    pub fn read_into(
        &self,
        key: impl AsRef<[u8]>,
        offset: u64,
        bytes: &mut [u8],
    ) -> Result<Option<usize>> {
        let found = self.find(key.as_ref())?;
        let Some(value) = found.as_ref().and_then(ValuePosition::value) else {
            return Ok(None);
        };
        let rest = value.length().saturating_sub(offset);
        let length = rest.min(bytes.len() as u64) as usize;
        fill(&self.files, value, offset, &mut bytes[..length])?;
        Ok(Some(length))
    }

    /// Returns the number of bytes of the value of a key, or `None` if the key does not exist.
    ///
    /// # Errors
    ///
    /// Same as [`get`](Database::get).
    pub fn size(&self, key: impl AsRef<[u8]>) -> Result<Option<u64>> {
        let found = self.find(key.as_ref())?;
        Ok(found
            .as_ref()
            .and_then(ValuePosition::value)
            .map(Value::length))
    }

    /// Returns an iterator over the keys that begin with `prefix`, in byte order. It ends after an
    /// error.
    ///
    /// # Errors
    ///
    /// Each item may be an error, for the same reasons as in [`get`](Database::get).
    pub fn keys(&self, prefix: impl AsRef<[u8]>) -> Keys<'_> {
        Keys::new(self, prefix.as_ref())
    }

    /// Reads the bytes `range` of a value.
    pub(super) fn read(&self, value: &Value, range: impl RangeBounds<u64>) -> Result<Vec<u8>> {
        let length = value.length();
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => length,
        };
        let end = end.min(length);
        let start = start.min(end);
        if let Value::OutOfLine(location) = value {
            // Check the length of the file before memory is allocated.
            self.files.covering(location)?;
        }
        let mut bytes = vec![0; (end - start) as usize];
        fill(&self.files, value, start, &mut bytes)?;
        Ok(bytes)
    }

    /// Returns the root node, if there is one.
    pub(super) fn root(&self) -> Result<Option<Arc<Node>>> {
        let Some(root) = &self.root else {
            return Ok(None);
        };
        let Some(location) = &root.location else {
            return Ok(None);
        };
        self.node(location, root.height, b"").map(Some)
    }

    /// Returns the node at a location. It must have height `height` and must not contain keys
    /// before `least`.
    pub(super) fn node(&self, location: &Location, height: u8, least: &[u8]) -> Result<Arc<Node>> {
        // Do not keep the lock while reading. Two threads may read the same node, a waste only.
        let kept = lock(&self.kept).nodes.get(location).cloned();
        let node = match kept {
            Some(node) => node,
            None => {
                let limit = self.limit();
                let read = self.block(Kind::Node, location, |cursor| {
                    Node::read(cursor, &location.file.base, limit)
                })?;
                let node = Arc::new(read);
                lock(&self.kept).keep(location, &node);
                node
            }
        };
        let wrong = |what| {
            let path = self.files.path(&location.file);
            let offset = location.offset;
            Err(Error::format(
                &path,
                format!("the node at byte {offset} {what}"),
            ))
        };
        // Heights fall by one per level, so a damaged tree cannot contain a cycle.
        if node.height != height {
            return wrong(format!("has height {}, not {height}", node.height));
        }
        if node.keys.compare(0, least).is_lt() {
            return wrong("begins before the key that leads to it".into());
        }
        Ok(node)
    }

    /// Finds a key.
    fn find(&self, key: &[u8]) -> Result<Option<ValuePosition>> {
        let Some(mut node) = self.root()? else {
            return Ok(None);
        };
        // The key without the prefixes that the nodes on the path have stripped.
        let mut rest = key;
        loop {
            let children = match &node.entries {
                Entries::Values(_) => {
                    let index = node.keys.before(rest);
                    let found = index < node.keys.len() && node.keys.compare(index, rest).is_eq();
                    return Ok(found.then_some(ValuePosition { node, index }));
                }
                Entries::Children(children) => children,
            };
            // A child contains the keys from its own key up to that of the next child.
            let Some(index) = node.keys.up_to(rest).checked_sub(1) else {
                return Ok(None);
            };
            let child = &children[index];
            let mut least = Vec::new();
            node.keys.append(index, &mut least);
            if !rest.starts_with(&least[..child.prefix]) {
                return Ok(None);
            }
            // Only nodes of height 1 or more have children, so this does not underflow.
            let below = self.node(&child.location, node.height - 1, &least[child.prefix..])?;
            rest = &rest[child.prefix..];
            node = below;
        }
    }

    /// Returns the maximum size of a node's contents.
    fn limit(&self) -> usize {
        match self.config.max_decoded_node_bytes as usize {
            0 => LARGEST_NODE,
            // Allow a margin: the size estimate by which nodes are split omits a little.
            limit => (limit + limit / 4).clamp(SMALLEST_LIMIT, LARGEST_NODE),
        }
    }

    fn block<T>(
        &self,
        kind: Kind,
        location: &Location,
        read: impl FnOnce(&mut super::cursor::Cursor<'_>) -> super::cursor::Decoded<T>,
    ) -> Result<T> {
        // Check the length of the file before memory is allocated.
        self.files.covering(location)?;
        let path = || self.files.path(&location.file);
        let limit = self.limit();
        // The margin is for the frame around the contents.
        if location.length > limit as u64 + 1024 {
            let (length, offset) = (location.length, location.offset);
            return Err(Error::format(
                &path(),
                format!(
                    "{kind} at byte {offset} has {length} bytes, but at most {limit} are \
                         allowed"
                ),
            ));
        }
        let mut bytes = vec![0; location.length as usize];
        self.files.read(location, 0, &mut bytes)?;
        let read = block::decode(kind, &bytes, location.offset, limit, read);
        read.map_err(|message| Error::format(&path(), message))
    }
}

/// Reads bytes of a value from `offset` on; the value must have all of them.
pub(super) fn fill(files: &Files, value: &Value, offset: u64, bytes: &mut [u8]) -> Result<()> {
    match value {
        Value::Inline(value) => {
            let start = (offset as usize).min(value.len());
            bytes.copy_from_slice(&value[start..start + bytes.len()]);
            Ok(())
        }
        Value::OutOfLine(location) => files.read(location, offset, bytes),
    }
}

impl NodeCache {
    fn keep(&mut self, location: &Location, node: &Arc<Node>) {
        // The stored length approximates the node's memory, and 256 bytes that of its entry here.
        let cost = |location: &Location| location.length.saturating_add(256);
        if self.nodes.insert(location.clone(), node.clone()).is_none() {
            self.order.push_back(location.clone());
            self.bytes = self.bytes.saturating_add(cost(location));
        }
        // The node that was just inserted stays, even if it exceeds the limit alone.
        while self.bytes > NODE_CACHE_BYTES && self.order.len() > 1 {
            if let Some(oldest) = self.order.pop_front() {
                self.nodes.remove(&oldest);
                self.bytes = self.bytes.saturating_sub(cost(&oldest));
            }
        }
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database")
            .field("folder", &self.folder())
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}
