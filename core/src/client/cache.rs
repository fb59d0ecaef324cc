//! The persistent compilation cache: compiled programs in files, shared by processes.
//!
//! Each entry is one file, named by the digest of its key: everything on which the program
//! depends, which is its text without source lines, the compile options, the device kind and the
//! [`fingerprint`](super::fingerprint) of plugin, processor and environment. A file starts with
//! that digest and a digest of all its contents, so that damaged and swapped files are detected,
//! removed and replaced. Files are written under a temporary name and renamed, so that readers
//! only see complete ones. If the directory exceeds its size limit, the least recently used files
//! are removed.
//!
//! Entries are native code: a directory or a file that another user can change is not used; see
//! [`trust`].

use super::Runtime;
use crate::Result;
use crate::program::lower::strip_locations;
use ramie_pjrt::Device;
use ramie_plugins::settings::{self, CompilationCache};
use ramie_plugins::trust;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

const MAGIC: &[u8; 8] = b"ramie-x2";
/// Size of the header: the magic number, the key's digest, and the digest of the key's digest and
/// the program.
const HEADER: usize = 8 + 32 + 32;
/// Default size limit of the directory, in MiB; `RAMIE_COMPILATION_CACHE_MB` overrides it.
const DEFAULT_LIMIT: u64 = 4 << 10;

/// A directory of compiled programs.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// Size limit in bytes.
    limit: u64,
}

/// The file of one program, which need not exist.
pub(crate) struct Entry {
    path: PathBuf,
    key: [u8; 32],
    cache: Cache,
}

/// Prefix of files that are being written.
const DRAFT: &str = ".ramie-";

/// Returns `true` if a file of this name is an entry, or the draft of one.
fn is_ours(name: &str) -> bool {
    name.starts_with(DRAFT) || name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Returns a digest of these parts, also as the name of a file.
fn key(parts: &[&[u8]]) -> ([u8; 32], String) {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    let key: [u8; 32] = digest.finalize().into();
    (key, key.iter().map(|b| format!("{b:02x}")).collect())
}

impl Cache {
    /// Returns the cache configured by `RAMIE_COMPILATION_CACHE` and
    /// `RAMIE_COMPILATION_CACHE_MB`; `None` if it is disabled, or if another user can change the
    /// directory, which is reported on standard error.
    ///
    /// # Errors
    /// Returns an error if a variable has a value that its setting does not accept.
    pub fn from_environment() -> Result<Option<Cache>> {
        let setting = settings::COMPILATION_CACHE.get()?;
        let folder = match setting.unwrap_or(CompilationCache::On) {
            CompilationCache::Off => return Ok(None),
            CompilationCache::On => Cache::user_folder(),
            CompilationCache::Folder(folder) => folder,
        };
        let limit = settings::COMPILATION_CACHE_MB.get()?;
        let cache = Cache {
            folder,
            limit: limit.unwrap_or(DEFAULT_LIMIT) << 20,
        };
        if let Err(untrusted) = cache.check() {
            eprintln!("ramie: the compilation cache is disabled: {untrusted}");
            return Ok(None);
        }
        Ok(Some(cache))
    }

    /// Checks that no other user can change the directory, if it exists.
    fn check(&self) -> Result<(), trust::Untrusted> {
        match fs::metadata(&self.folder) {
            Ok(meta) => trust::check(&self.folder, &meta),
            Err(_) => Ok(()),
        }
    }

    fn user_folder() -> PathBuf {
        ramie_plugins::cache_dir().join("compiled")
    }

    #[cfg(test)]
    fn at(folder: &std::path::Path, limit: u64) -> Cache {
        Cache {
            folder: folder.to_path_buf(),
            limit,
        }
    }

    /// Returns the entry of a program for a device.
    pub fn entry(&self, runtime: &Runtime, text: &str, options: &[u8], device: Device) -> Entry {
        self.entry_of(&[
            runtime.fingerprint().as_bytes(),
            device.kind().as_bytes(),
            options,
            strip_locations(text).as_bytes(),
        ])
    }

    fn entry_of(&self, parts: &[&[u8]]) -> Entry {
        let (key, name) = key(parts);
        Entry {
            path: self.folder.join(name),
            key,
            cache: self.clone(),
        }
    }

    /// Removes the least recently used entries until they are within the limit. Other files remain,
    /// because the directory may be any directory of the user.
    fn evict(&self) {
        let Ok(listing) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = listing
            .flatten()
            .filter(|e| e.file_name().to_str().is_some_and(is_ours))
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
        // Frees more than necessary, so that not every new entry has to evict others.
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
    /// Returns the program, if the file is complete and was written for this key.
    pub fn read(&self) -> Option<Vec<u8>> {
        let mut file = File::open(&self.path).ok()?;
        match self.read_from(&mut file) {
            Ok(program) => {
                // The modification time serves as the time of last use, by which entries are
                // evicted.
                let _ = file.set_modified(SystemTime::now());
                Some(program)
            }
            Err(why) => {
                self.discard(&why);
                None
            }
        }
    }

    fn read_from(&self, file: &mut File) -> Result<Vec<u8>, String> {
        let meta = file.metadata().map_err(|e| e.to_string())?;
        trust::check(&self.path, &meta).map_err(|e| e.to_string())?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        if bytes.len() < HEADER || bytes[..8] != MAGIC[..] {
            return Err("it is not a complete entry of this version".into());
        }
        if bytes[8..40] != self.key {
            return Err("it was written for another program or other settings".into());
        }
        if bytes[40..HEADER] != self.seal(&bytes[HEADER..]) {
            return Err("its contents do not match their digest".into());
        }
        bytes.drain(..HEADER);
        Ok(bytes)
    }

    /// Returns the digest of key and program together.
    fn seal(&self, program: &[u8]) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(self.key);
        digest.update(program);
        digest.finalize().into()
    }

    /// Removes an entry that cannot be used; the program is compiled again.
    pub fn discard(&self, why: &str) {
        tracing::warn!(path = %self.path.display(), "removing a compiled program: {why}");
        let _ = fs::remove_file(&self.path);
    }

    /// Writes a program. Failures are logged and otherwise ignored: the program runs, it is only
    /// not cached.
    pub fn write(&self, program: &[u8]) {
        if let Err(e) = self.try_write(program) {
            tracing::warn!(path = %self.path.display(), "cannot cache a compiled program: {e}");
            return;
        }
        static WRITTEN: AtomicUsize = AtomicUsize::new(0);
        if WRITTEN.fetch_add(1, Ordering::Relaxed).is_multiple_of(64) {
            self.cache.evict();
        }
    }

    fn try_write(&self, program: &[u8]) -> io::Result<()> {
        trust::create_folder(&self.cache.folder)?;
        self.cache.check().map_err(io::Error::other)?;
        // Created with access for this user only.
        let mut file = tempfile::Builder::new()
            .prefix(DRAFT)
            .tempfile_in(&self.cache.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&self.key)?;
        file.write_all(&self.seal(program))?;
        file.write_all(program)?;
        file.persist(&self.path).map_err(|e| e.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_kept_and_damage_is_found() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = Cache::at(folder.path(), 1 << 20);
        let entry = cache.entry_of(&[b"program", b"options"]);
        assert!(entry.read().is_none());
        entry.write(b"compiled");
        assert_eq!(entry.read().as_deref(), Some(&b"compiled"[..]));
        // The boundaries between key parts matter.
        assert!(cache.entry_of(&[b"programo", b"ptions"]).read().is_none());

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
    fn entries_of_other_keys_are_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = Cache::at(folder.path(), 1 << 20);
        let [one, two] = [b"one", b"two"].map(|key| cache.entry_of(&[key]));
        one.write(b"code of one");
        two.write(b"code of two");
        let aside = folder.path().join("aside");
        fs::rename(&one.path, &aside).expect("rename");
        fs::rename(&two.path, &one.path).expect("rename");
        fs::rename(&aside, &two.path).expect("rename");
        for entry in [&one, &two] {
            assert!(entry.read().is_none(), "an exchanged file is found");
            assert!(!entry.path.exists(), "and removed");
        }
        // The code of one program with the header of the other is also rejected.
        one.write(b"code of one");
        two.write(b"code of two");
        let header = fs::read(&one.path).expect("the entry")[..HEADER].to_vec();
        let program = fs::read(&two.path).expect("the entry")[HEADER..].to_vec();
        fs::write(&one.path, [header, program].concat()).expect("write");
        assert!(one.read().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn files_and_folders_are_for_this_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        use std::path::Path;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let inner = folder.path().join("a/compiled");
        let cache = Cache::at(&inner, 1 << 20);
        let entry = cache.entry_of(&[b"program"]);
        entry.write(b"compiled");
        let mode = |path: &Path| {
            let meta = fs::metadata(path).expect("its rights");
            meta.permissions().mode() & 0o777
        };
        assert_eq!((mode(&inner), mode(&entry.path)), (0o700, 0o600));
        // An entry that other users can write is not loaded.
        let open = fs::Permissions::from_mode(0o620);
        fs::set_permissions(&entry.path, open).expect("set the rights");
        assert!(entry.read().is_none());
        assert!(!entry.path.exists());
        // Nothing is written into a directory that other users can change.
        let open = fs::Permissions::from_mode(0o770);
        fs::set_permissions(&inner, open).expect("set the rights");
        assert!(entry.try_write(b"compiled").is_err());
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = Cache::at(folder.path(), 3000);
        let entries: Vec<Entry> = (0..5u8).map(|i| cache.entry_of(&[&[i]])).collect();
        for (i, e) in entries.iter().enumerate() {
            e.try_write(&[0; 900]).expect("write");
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(i as u64 + 1);
            let file = File::options().write(true).open(&e.path).expect("open");
            file.set_modified(time).expect("set the time");
        }
        assert!(entries[0].read().is_some(), "reading is using");
        let foreign = folder.path().join("thesis.txt");
        fs::write(&foreign, [0; 2000]).expect("write");
        File::open(&foreign)
            .and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH))
            .expect("set the time");
        cache.evict();
        assert!(foreign.exists(), "it is no entry");
        let left: Vec<bool> = entries.iter().map(|e| e.path.exists()).collect();
        assert_eq!(left, [true, false, false, false, true]);
    }
}
