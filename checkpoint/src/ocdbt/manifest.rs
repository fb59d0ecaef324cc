//! The manifest: configuration of a database, and the roots of its versions.

use super::block::{self, Compression, Kind};
use super::cursor::{Cursor, Decoded, put_varint};
use super::data_files::{DataFile, Table, read_table};
use super::location::Location;
use super::versions::{Root, Versions, read_roots, read_top, write_roots};
use crate::file::unreadable;
use crate::{Error, Result};
use ramie_core::files;
use ramie_core::files::Message;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Name of the file.
pub(crate) const NAME: &str = "manifest.ocdbt";
/// Maximum size of a manifest; 65536 versions take less.
const LARGEST: usize = 64 << 20;
/// Maximum number of versions of a node, as the exponent of 2.
const ARITY_LOG2: u8 = 16;

/// Configuration of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    pub uuid: [u8; 16],
    /// Whether versions are in numbered files next to the manifest.
    pub numbered: bool,
    pub max_inline_value_bytes: u32,
    pub max_decoded_node_bytes: u32,
    pub version_tree_arity_log2: u8,
    pub compression: Compression,
}

impl Config {
    fn read(cursor: &mut Cursor<'_>) -> Decoded<Config> {
        let uuid = cursor.array()?;
        let numbered = cursor.varint_up_to(1, "the kind of manifest")? == 1;
        let most = u64::from(u32::MAX);
        let inline = cursor.varint_up_to(most, "the limit of values in nodes")?;
        let decoded = cursor.varint_up_to(most, "the limit of nodes")?;
        let arity = cursor.byte()?;
        if !(1..=ARITY_LOG2).contains(&arity) {
            return cursor.bad(format!("version nodes have an arity of 2^{arity}"));
        }
        let compression = match cursor.varint_up_to(1, "the compression")? {
            0 => Compression::None,
            _ => Compression::Zstd {
                level: i32::from_le_bytes(cursor.array()?),
            },
        };
        Ok(Config {
            uuid,
            numbered,
            max_inline_value_bytes: inline as u32,
            max_decoded_node_bytes: decoded as u32,
            version_tree_arity_log2: arity,
            compression,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.uuid);
        put_varint(out, u64::from(self.numbered));
        put_varint(out, u64::from(self.max_inline_value_bytes));
        put_varint(out, u64::from(self.max_decoded_node_bytes));
        out.push(self.version_tree_arity_log2);
        match self.compression {
            Compression::None => put_varint(out, 0),
            Compression::Zstd { level } => {
                put_varint(out, 1);
                out.extend(level.to_le_bytes());
            }
        }
    }
}

/// Parsed manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub config: Config,
    /// Last versions, the newest at the end. Empty for a numbered manifest that has no files yet.
    pub roots: Vec<Root>,
    /// Subtrees of the older versions.
    pub older: Vec<Versions>,
}

impl Manifest {
    fn read(cursor: &mut Cursor<'_>) -> Decoded<Manifest> {
        let config = Config::read(cursor)?;
        let (mut roots, mut older) = (Vec::new(), Vec::new());
        if !config.numbered {
            let files = read_table(cursor, &"".into(), LARGEST)?;
            roots = read_roots(cursor, &files, config.version_tree_arity_log2)?;
            older = read_top(cursor, &files)?;
        }
        Ok(Manifest {
            config,
            roots,
            older,
        })
    }

    /// Returns the block of a manifest with a single version.
    pub fn write_first(config: &Config, root: &Root) -> Vec<u8> {
        let mut out = Vec::new();
        config.write(&mut out);
        // The format has no optional locations: a missing one has this offset and length.
        let missing = Location {
            file: DataFile {
                base: "".into(),
                relative: "".into(),
            },
            offset: u64::MAX,
            length: u64::MAX,
        };
        let mut table = Table::default();
        table.add(&root.location.as_ref().unwrap_or(&missing).file);
        table.write(&mut out);
        write_roots(&mut out, &table, std::slice::from_ref(root), &missing);
        put_varint(&mut out, 0);
        block::encode(Kind::Manifest, &out, config.compression)
    }

    /// Reads the manifest of the database in `folder`.
    pub fn open(folder: &Path) -> Result<Manifest> {
        let path = folder.join(NAME);
        let manifest = open(&path)?;
        if !manifest.config.numbered {
            return Ok(manifest);
        }
        // A numbered manifest has the configuration only; the versions are in the newest file.
        let Some(path) = newest(folder)? else {
            return Ok(manifest);
        };
        let versions = open(&path)?;
        if versions.config.uuid != manifest.config.uuid {
            return Err(Error::format(&path, "belongs to another database"));
        }
        if versions.config.numbered {
            return Err(Error::format(&path, "contains no versions"));
        }
        Ok(versions)
    }
}

/// Reads one file.
fn open(path: &Path) -> Result<Manifest> {
    let failed = |e| Error::io(path, "be read", e);
    let file = files::open(path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Error::format(
            path,
            Message::new(
                "does not exist: the directory contains no OCDBT database, or its writing \
                never finished",
            )
            .help("check the path, or restore another step"),
        ),
        _ => unreadable(path, e),
    })?;
    let mut bytes = Vec::new();
    // One byte more than allowed shows that the file is too long without reading all of it.
    let most = LARGEST as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > LARGEST {
        return Err(Error::format(
            path,
            format!("has more than {LARGEST} bytes, too many for a manifest"),
        ));
    }
    let read = block::decode(Kind::Manifest, &bytes, 0, LARGEST, Manifest::read);
    read.map_err(|message| Error::format(path, message))
}

/// Returns the path of the numbered manifest with the highest number.
fn newest(folder: &Path) -> Result<Option<PathBuf>> {
    let failed = |e| Error::io(folder, "be listed", e);
    let mut best: Option<String> = None;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let Some(name) = name.to_str() else { continue };
        let number = name.strip_prefix("manifest.").unwrap_or("");
        let digit = |b| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        let numbered = number.len() == 16 && number.bytes().all(digit);
        // All numbers have 16 digits, so the order of the names is that of the numbers.
        if numbered && best.as_deref().is_none_or(|best| best < name) {
            best = Some(name.into());
        }
    }
    Ok(best.map(|name| folder.join(name)))
}
