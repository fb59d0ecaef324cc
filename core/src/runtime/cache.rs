//! The persistent compilation cache: compiled programs as files, shared by
//! processes.
//!
//! An entry is one file named by the digest of everything the program depends
//! on: its text without source lines, the compile options, the plugin and its
//! version, the device kind and the processor's features. A file begins with
//! the digest of its own payload, so that a damaged one is found out, removed,
//! and replaced. Files are written beside and renamed, so that readers see
//! whole ones only. When the folder outgrows its limit the least recently used
//! files go.

use super::Runtime;
use crate::lower::strip_locations;
use crate::{Error, Result};
use ramie_pjrt::Device;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

const MAGIC: &[u8; 8] = b"ramie-x1";
const HEADER: usize = 8 + 32;
/// What the folder may hold unless `RAMIE_COMPILATION_CACHE_MB` says otherwise.
const DEFAULT_LIMIT: u64 = 4 << 30;

/// A folder of compiled programs.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// The place of one program.
pub(crate) struct Entry {
    path: PathBuf,
    cache: Cache,
}

impl Cache {
    /// The user's cache; `RAMIE_COMPILATION_CACHE` names another folder, or
    /// switches it `off`.
    ///
    /// # Errors
    /// If `RAMIE_COMPILATION_CACHE_MB` is not a number.
    pub fn from_environment() -> Result<Option<Cache>> {
        let folder = match std::env::var("RAMIE_COMPILATION_CACHE") {
            Ok(v) => match v.to_ascii_lowercase().as_str() {
                "off" | "0" | "false" | "no" => return Ok(None),
                "" | "on" | "1" | "true" | "yes" => Cache::user_folder(),
                _ => PathBuf::from(v),
            },
            Err(_) => Cache::user_folder(),
        };
        let limit = match std::env::var("RAMIE_COMPILATION_CACHE_MB") {
            Ok(text) => limit(&text)?,
            Err(_) => DEFAULT_LIMIT,
        };
        Ok(Some(Cache { folder, limit }))
    }

    fn user_folder() -> PathBuf {
        ramie_pjrt::discover::cache_dir().join("compiled")
    }

    #[cfg(test)]
    fn at(folder: &Path, limit: u64) -> Cache {
        Cache {
            folder: folder.to_path_buf(),
            limit,
        }
    }

    /// The place of a program for a device.
    pub fn entry(&self, runtime: &Runtime, text: &str, options: &[u8], device: Device) -> Entry {
        self.place(&[
            runtime.fingerprint().as_bytes(),
            device.kind().as_bytes(),
            options,
            strip_locations(text).as_bytes(),
        ])
    }

    fn place(&self, parts: &[&[u8]]) -> Entry {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let name: String = digest
            .finalize()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        Entry {
            path: self.folder.join(name),
            cache: self.clone(),
        }
    }

    /// Removes the least recently used files until the folder fits its limit.
    fn evict(&self) {
        let Ok(listing) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = listing
            .flatten()
            .filter_map(|e| {
                let meta = e.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((meta.modified().ok()?, meta.len(), e.path()))
            })
            .collect();
        let mut total: u64 = files.iter().map(|f| f.1).sum();
        if total <= self.limit {
            return;
        }
        files.sort();
        // Room for a while, so that not every new entry has to look.
        let target = self.limit / 10 * 9;
        for (_, size, path) in files {
            if total <= target {
                break;
            }
            if fs::remove_file(&path).is_ok() {
                total -= size;
            }
        }
    }
}

impl Entry {
    /// The program, if there is a whole one.
    pub fn read(&self) -> Option<Vec<u8>> {
        let mut file = File::open(&self.path).ok()?;
        let mut bytes = Vec::new();
        if let Err(e) = file.read_to_end(&mut bytes) {
            self.discard(&e.to_string());
            return None;
        }
        let whole = bytes.len() >= HEADER
            && bytes[..8] == MAGIC[..]
            && bytes[8..HEADER] == Sha256::digest(&bytes[HEADER..])[..];
        if !whole {
            self.discard("its contents do not match their digest");
            return None;
        }
        // The time of last use, by which entries are evicted.
        let _ = file.set_modified(SystemTime::now());
        bytes.drain(..HEADER);
        Some(bytes)
    }

    /// Removes an entry that cannot be used; the program is compiled anew.
    pub fn discard(&self, why: &str) {
        tracing::warn!(path = %self.path.display(), "removing a compiled program: {why}");
        let _ = fs::remove_file(&self.path);
    }

    /// Keeps a program. A failure is no failure of the caller's: the program
    /// runs, it is only not kept.
    pub fn write(&self, program: &[u8]) {
        if let Err(e) = self.try_write(program) {
            tracing::warn!(path = %self.path.display(), "cannot keep a compiled program: {e}");
            return;
        }
        static WRITTEN: AtomicUsize = AtomicUsize::new(0);
        if WRITTEN.fetch_add(1, Ordering::Relaxed).is_multiple_of(64) {
            self.cache.evict();
        }
    }

    fn try_write(&self, program: &[u8]) -> std::io::Result<()> {
        fs::create_dir_all(&self.cache.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.cache.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(program))?;
        file.write_all(program)?;
        file.persist(&self.path).map_err(|e| e.error)?;
        Ok(())
    }
}

/// Bytes from a number of megabytes.
fn limit(megabytes: &str) -> Result<u64> {
    let number: Option<u64> = megabytes.trim().parse().ok();
    number.and_then(|mb| mb.checked_mul(1 << 20)).ok_or_else(|| {
        Error::Configuration(format!(
            "RAMIE_COMPILATION_CACHE_MB is {megabytes:?}; expected how many megabytes the folder of \
             compiled programs may hold, a whole number such as 4096"
        ))
    })
}

/// What compiled code depends on beside the program: the plugin's file and
/// version, and the processor.
pub(crate) fn fingerprint(plugin: &Path, version: &str) -> String {
    let file = fs::metadata(plugin).ok();
    let size = file.as_ref().map_or(0, fs::Metadata::len);
    let modified = file
        .and_then(|m| m.modified().ok())
        .and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok())
        .map_or(0, |d| d.as_nanos());
    format!("{version}|{size}|{modified}|{}", processor())
}

/// The processor's model and features, where the system tells.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    first
        .lines()
        .filter(|l| {
            [
                "model name",
                "flags",
                "Features",
                "CPU implementer",
                "CPU part",
            ]
            .iter()
            .any(|k| l.starts_with(k))
        })
        .collect::<Vec<_>>()
        .join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_kept_and_damage_is_found() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = Cache::at(folder.path(), 1 << 20);
        let entry = cache.place(&[b"program", b"options"]);
        assert!(entry.read().is_none());
        entry.write(b"compiled");
        assert_eq!(entry.read().as_deref(), Some(&b"compiled"[..]));
        // Part boundaries matter.
        assert!(cache.place(&[b"programo", b"ptions"]).read().is_none());

        let mut bytes = fs::read(&entry.path).expect("the entry");
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&entry.path, &bytes).expect("write");
        assert!(entry.read().is_none(), "a flipped bit is found");
        assert!(!entry.path.exists(), "the damaged file is gone");
        entry.write(b"compiled");
        fs::write(&entry.path, b"ra").expect("write");
        assert!(entry.read().is_none(), "a truncated file is found");
    }

    #[test]
    fn a_limit_is_a_number_of_megabytes() {
        assert_eq!(limit("12").expect("a number"), 12 << 20);
        for wrong in ["", "4 GB", "-1", "1.5", "99999999999999999"] {
            let error = limit(wrong).expect_err("no number").to_string();
            assert!(error.contains("RAMIE_COMPILATION_CACHE_MB"), "{error}");
        }
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = Cache::at(folder.path(), 3000);
        let entries: Vec<Entry> = (0..5u8).map(|i| cache.place(&[&[i]])).collect();
        for (i, e) in entries.iter().enumerate() {
            e.try_write(&[0; 900]).expect("write");
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(i as u64 + 1);
            let file = File::options().write(true).open(&e.path).expect("open");
            file.set_modified(time).expect("set the time");
        }
        assert!(entries[0].read().is_some(), "reading is using");
        cache.evict();
        let left: Vec<bool> = entries.iter().map(|e| e.path.exists()).collect();
        assert_eq!(left, [true, false, false, false, true]);
    }
}
