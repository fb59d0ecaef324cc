//! The form of PyTorch 1.6 and later: an archive with a pickle and a file per storage.

use super::input::{Input, damaged, unsupported};
use super::machine;
use super::object::Pickle;
use ramie_core::files::Problem;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use zip::ZipArchive;
use zip::result::ZipError;

/// The first bytes of every archive.
pub(super) const MAGIC: [u8; 4] = *b"PK\x03\x04";

/// A pickle and its storages.
pub(super) struct Contents {
    pub pickle: Pickle,
    /// Offset of each referenced storage in the file.
    pub starts: Vec<u64>,
    /// Number of bytes of the pickle.
    pub bytes: u64,
}

/// The entries of an archive. PyTorch stores all of them uncompressed.
struct Archive<'a> {
    zip: ZipArchive<BufReader<&'a File>>,
    /// Folder of all entries.
    folder: String,
    /// Size of the file.
    length: u64,
}

/// Reads an archive of `length` bytes.
pub(super) fn read(mut file: &File, length: u64) -> Result<Contents, Problem> {
    let mut archive = Archive::open(file, length)?;
    if archive.find("constants.pkl")?.is_some() {
        return Err(unsupported("is a TorchScript program"));
    }
    if let Some((start, bytes)) = archive.find("byteorder")? {
        let mut order = vec![0; bytes.min(6) as usize];
        ramie_core::files::read_exact_at(file, &mut order, start).map_err(Problem::Io)?;
        if order == b"big" {
            return Err(unsupported("is in big-endian byte order"));
        }
    }
    let (start, bytes) = archive.expect("data.pkl")?;
    file.seek(SeekFrom::Start(start)).map_err(Problem::Io)?;
    let pickle = machine::load(&mut Input::new(file, bytes))?;
    let mut known: HashMap<&str, (u64, u64)> = HashMap::new();
    let mut starts = Vec::with_capacity(pickle.storages.len());
    for storage in &pickle.storages {
        let key = pickle.key(storage);
        let (start, bytes) = match known.get(key) {
            Some(&found) => found,
            None => archive.expect(&format!("data/{key}"))?,
        };
        known.insert(key, (start, bytes));
        if bytes != storage.bytes {
            return Err(damaged(format_args!(
                "is damaged: the storage `{key}` has {bytes} bytes, expected {}",
                storage.bytes
            )));
        }
        starts.push(start);
    }
    Ok(Contents {
        pickle,
        starts,
        bytes,
    })
}

impl<'a> Archive<'a> {
    fn open(file: &'a File, length: u64) -> Result<Archive<'a>, Problem> {
        let zip = ZipArchive::new(BufReader::new(file)).map_err(bad)?;
        let names = zip.file_names_raw();
        let folder = names.filter_map(|name| str::from_utf8(name).ok()?.strip_suffix("data.pkl"));
        // TorchScript programs can contain others.
        let folder = folder.min_by_key(|folder| folder.len()).ok_or_else(|| {
            damaged("is an archive without the entry `data.pkl`, which PyTorch files have")
        })?;
        let folder = folder.to_owned();
        Ok(Archive {
            zip,
            folder,
            length,
        })
    }

    /// Returns the offset and the size of an entry.
    fn find(&mut self, name: &str) -> Result<Option<(u64, u64)>, Problem> {
        let path = format!("{}{name}", self.folder);
        let Some(index) = self.zip.index_for_name_raw(path.as_bytes()) else {
            return Ok(None);
        };
        let entry = self.zip.by_index_raw(index).map_err(bad)?;
        let bytes = entry.size();
        if entry.compression() != zip::CompressionMethod::Stored
            || entry.encrypted()
            || entry.compressed_size() != bytes
        {
            return Err(unsupported(format_args!(
                "has the compressed entry `{path}`; PyTorch does not compress entries"
            )));
        }
        let start = entry.data_start().unwrap_or(u64::MAX);
        match start.checked_add(bytes) {
            Some(end) if end <= self.length => Ok(Some((start, bytes))),
            _ => Err(damaged(format_args!(
                "is damaged or truncated: the entry `{path}` has {bytes} bytes at byte {start} of {}",
                self.length
            ))),
        }
    }

    fn expect(&mut self, name: &str) -> Result<(u64, u64), Problem> {
        let found = self.find(name)?;
        found.ok_or_else(|| {
            damaged(format_args!(
                "is damaged: it has no entry `{}{name}`",
                self.folder
            ))
        })
    }
}

fn bad(error: ZipError) -> Problem {
    damaged(format_args!("is a damaged or truncated archive: {error}"))
}
