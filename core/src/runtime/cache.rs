//! The persistent compilation cache: compiled programs as files, shared by
//! processes.
//!
//! An entry is one file, named by the digest of its key: everything the program
//! depends on, which is its text without source lines, the compile options, the
//! device kind and the [`fingerprint`](super::fingerprint) of plugin, processor and
//! environment. A file begins with that digest and a digest of all its contents, so
//! that damaged and exchanged files are found, removed and replaced. A file is written
//! under another name and renamed, so that readers see whole ones only. When the
//! folder outgrows its limit the least recently used files are removed.
//!
//! Entries are native code: a folder or a file that another user can change is not
//! used; see [`trust`].

use super::Runtime;
use crate::Result;
use crate::lower::strip_locations;
use ramie_pjrt::settings::{self, CompilationCache};
use ramie_pjrt::{Device, trust};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

const MAGIC: &[u8; 8] = b"ramie-x2";
/// The magic number, the key's digest and the digest of all that follows the header,
/// the key's digest included.
const HEADER: usize = 8 + 32 + 32;
/// The limit of the folder's size, in megabytes, without `RAMIE_COMPILATION_CACHE_MB`.
const DEFAULT_LIMIT: u64 = 4 << 10;

/// A folder of compiled programs.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// In bytes.
    limit: u64,
}

/// The place of one program.
pub(crate) struct Entry {
    path: PathBuf,
    key: [u8; 32],
    cache: Cache,
}

impl Cache {
    /// The cache that `RAMIE_COMPILATION_CACHE` and `RAMIE_COMPILATION_CACHE_MB`
    /// describe; none if it is off, or if another user can change the folder, which
    /// is reported on standard error.
    ///
    /// # Errors
    /// If a variable has a value that its setting does not accept.
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
            eprintln!("ramie: the cache of compiled programs is not used: {untrusted}");
            return Ok(None);
        }
        Ok(Some(cache))
    }

    /// Checks that nobody else can change the folder, if it exists.
    fn check(&self) -> Result<(), trust::Untrusted> {
        match fs::metadata(&self.folder) {
            Ok(meta) => trust::check(&self.folder, &meta),
            Err(_) => Ok(()),
        }
    }

    fn user_folder() -> PathBuf {
        ramie_pjrt::discover::cache_dir().join("compiled")
    }

    #[cfg(test)]
    fn at(folder: &std::path::Path, limit: u64) -> Cache {
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
        let key: [u8; 32] = digest.finalize().into();
        let name: String = key.iter().map(|b| format!("{b:02x}")).collect();
        Entry {
            path: self.folder.join(name),
            key,
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
    /// The program, if there is a whole one that was written for this key.
    pub fn read(&self) -> Option<Vec<u8>> {
        let mut file = File::open(&self.path).ok()?;
        match self.read_from(&mut file) {
            Ok(program) => {
                // The time of last use, by which entries are evicted.
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
            return Err("it is not a whole entry of this version".into());
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

    /// The digest of key and program together.
    fn seal(&self, program: &[u8]) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(self.key);
        digest.update(program);
        digest.finalize().into()
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

    fn try_write(&self, program: &[u8]) -> io::Result<()> {
        trust::create_folder(&self.cache.folder)?;
        self.cache.check().map_err(io::Error::other)?;
        // Created for this user alone.
        let mut file = tempfile::NamedTempFile::new_in(&self.cache.folder)?;
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
    use std::path::Path;

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
    fn entries_of_other_keys_are_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = Cache::at(folder.path(), 1 << 20);
        let [one, two] = [b"one", b"two"].map(|key| cache.place(&[key]));
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
        // Nor does the code of one pass under the header of the other.
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
        let folder = tempfile::tempdir().expect("a temporary folder");
        let inner = folder.path().join("a/compiled");
        let cache = Cache::at(&inner, 1 << 20);
        let entry = cache.place(&[b"program"]);
        entry.write(b"compiled");
        let mode = |path: &Path| {
            let meta = fs::metadata(path).expect("its rights");
            meta.permissions().mode() & 0o777
        };
        assert_eq!((mode(&inner), mode(&entry.path)), (0o700, 0o600));
        // An entry that others could have written is not loaded.
        let open = fs::Permissions::from_mode(0o620);
        fs::set_permissions(&entry.path, open).expect("set the rights");
        assert!(entry.read().is_none());
        assert!(!entry.path.exists());
        // Nor is anything written where others can exchange it.
        let open = fs::Permissions::from_mode(0o770);
        fs::set_permissions(&inner, open).expect("set the rights");
        assert!(entry.try_write(b"compiled").is_err());
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
