//! Damaged databases: each byte changed, files cut at each length, and damage by
//! chance. Readers neither panic, nor take memory that files claim without having the
//! bytes, nor return other values for keys than were written, where there are checksums.
//!
//! `RAMIE_FUZZ_INPUTS=1000000 cargo test -p ramie-checkpoint --test ocdbt_damage` runs
//! more inputs by chance than the few hundred of a usual run.

use ramie_checkpoint::ocdbt::{Compression, Database, Options, Writer};
use ramie_testing::chance::{Generator, read_many};
use ramie_testing::check::on_all_cores;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

type Content = BTreeMap<Vec<u8>, Vec<u8>>;

fn golden(case: &str) -> PathBuf {
    ramie_testing::golden::path("ocdbt").join(case)
}

/// A folder's files by path.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                let bytes = fs::read(&path).unwrap();
                all.insert(path.strip_prefix(folder).unwrap().into(), bytes);
            }
        }
    }
    all
}

/// Puts a file in the place of another. One that is cut and written again is waited for
/// by some systems.
fn put(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).unwrap();
}

fn put_files(folder: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) {
    for (path, bytes) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        put(&path, bytes);
    }
}

/// Reads all that there is, but no more keys than a sound database of the tests has.
fn read(folder: &Path) -> ramie_checkpoint::Result<Content> {
    let database = Database::open(folder)?;
    let mut content = Content::new();
    for key in database.keys("").take(1000) {
        let key = key?;
        let value = database.get(&key)?;
        // A damaged inner node can lead past what it lists.
        content.insert(key, value.unwrap_or_default());
    }
    database.get("layer_3/kernel/9.0")?;
    Ok(content)
}

/// What the versions before are, or why they cannot be read.
fn read_versions(folder: &Path) -> ramie_checkpoint::Result<usize> {
    let versions = Database::open(folder)?.versions()?;
    for version in versions.iter().take(20) {
        let keys = Database::open_version(folder, version.generation)?;
        keys.keys("").take(10).try_for_each(|key| key.map(drop))?;
    }
    Ok(versions.len())
}

#[test]
fn damage_is_an_error_or_without_effect() {
    let cases = [
        "inline", "tall", "tall_raw", "numbered", "binary", "versions",
    ];
    let counts = on_all_cores(&cases, |case| damage(case));
    let sum = |i: usize| counts.iter().map(|count| count[i]).sum::<usize>();
    println!("{} refused, {} without effect", sum(0), sum(1));
    assert!(sum(0) > 10_000);
}

/// Damages each file of a database in each place. Returns the number of cases that were refused, and
/// of those without effect.
fn damage(case: &str) -> [usize; 2] {
    let mut counts = [0, 0];
    let sound = files(&golden(case));
    let folder = tempfile::tempdir().unwrap();
    put_files(folder.path(), &sound);
    let all = || Ok((read(folder.path())?, read_versions(folder.path())?));
    let expected = all().unwrap();
    let mut check = |what: &str| match all() {
        Ok(content) => {
            assert!(content == expected, "{case}: {what}: another content");
            counts[1] += 1;
        }
        Err(error) => {
            let error: ramie_checkpoint::Error = error;
            let text = error.to_string();
            let named = text.contains(folder.path().to_str().unwrap());
            assert!(named, "{case}: {what}: names no file: {text}");
            assert!(text.contains("\n  help: "), "{case}: {what}: {text}");
            counts[0] += 1;
        }
    };
    for (path, bytes) in &sound {
        let file = folder.path().join(path);
        let name = path.display();
        for i in 0..bytes.len() {
            for mask in [0x01, 0x80] {
                let mut damaged = bytes.clone();
                damaged[i] ^= mask;
                put(&file, &damaged);
                check(&format!("{name} byte {i}"));
            }
            put(&file, &bytes[..i]);
            check(&format!("{name} cut to {i} bytes"));
        }
        put(&file, &[bytes, &b"x"[..]].concat());
        check(&format!("{name} with a byte more"));
        // Without the newest of the numbered manifests there is the one before.
        if case != "numbered" {
            fs::remove_file(&file).unwrap();
            check(&format!("{name} gone"));
        }
        put(&file, bytes);
    }
    counts
}

#[test]
fn messages_name_file_and_byte() {
    let folder = tempfile::tempdir().unwrap();
    let sound = files(&golden("tall_raw"));
    let (data, bytes) = sound
        .iter()
        .find(|(path, _)| path.starts_with("d"))
        .unwrap();
    let error = |bytes: &[u8]| {
        put_files(folder.path(), &sound);
        put(&folder.path().join(data), bytes);
        read(folder.path()).unwrap_err().to_string()
    };
    let place = |rest: &str| {
        let help = "help: the checkpoint is damaged; restore another step";
        format!("{}: {rest}\n  {help}", folder.path().join(data).display())
    };
    // The root is the last node that was written.
    let root = starts(bytes).last().unwrap().0;
    let mut damaged = bytes.clone();
    damaged[root + 20] ^= 1;
    let expected = format!("the node at byte {root} is damaged: its checksum differs");
    assert_eq!(error(&damaged), place(&expected));
    damaged[root] = b'x';
    let expected =
        format!("the node at byte {root} begins with [78, db, 20, de], not [0c, db, 20, de]");
    assert_eq!(error(&damaged), place(&expected));
    let length = bytes.len() - root;
    let expected = format!(
        "has {} bytes, but should have {length} at byte {root}: it was truncated",
        bytes.len() - 1
    );
    assert_eq!(error(&bytes[..bytes.len() - 1]), place(&expected));
    // A height that the manifest does not say; with a right checksum.
    let mut damaged = bytes.clone();
    damaged[root + 14] += 1;
    seal(&mut damaged[root..]);
    let height = damaged[root + 14];
    let expected = format!(
        "the node at byte {root} has height {height}, not {}",
        height - 1
    );
    assert_eq!(error(&damaged), place(&expected));
}

/// Where blocks start in a sound file, and how long they are.
fn starts(bytes: &[u8]) -> Vec<(usize, usize)> {
    let magics = [0x0cdb_3a2au32, 0x0cdb_20de, 0x0cdb_1234].map(u32::to_be_bytes);
    let ends = |at: usize| {
        let length = bytes.get(at + 4..at + 12)?.try_into().unwrap();
        let length = u64::from_le_bytes(length) as usize;
        let begins = magics.iter().any(|magic| bytes[at..].starts_with(magic));
        (begins && length <= bytes.len() - at).then_some((at, length))
    };
    (0..bytes.len()).filter_map(ends).collect()
}

/// Gives a block the length and checksum that it should have.
fn seal(block: &mut [u8]) {
    let Some(body) = block.len().checked_sub(4).filter(|&body| body >= 12) else {
        return;
    };
    let length = (block.len() as u64).to_le_bytes();
    block[4..12].copy_from_slice(&length);
    let sum = crc32c::crc32c(&block[..body]).to_le_bytes();
    block[body..].copy_from_slice(&sum);
}

/// Bytes that numbers go wrong at.
const EDGES: [u8; 8] = [0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff];

/// A few things wrong in a file; mostly in one block, which has a right checksum then.
fn damaged(sound: &[u8], generator: &mut Generator) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    let blocks = starts(sound);
    let block = match generator.below(8) {
        0 => (0, bytes.len()),
        _ if blocks.is_empty() => (0, bytes.len()),
        _ => blocks[generator.below(blocks.len())],
    };
    let (start, length) = block;
    // What a block begins with is known; few inputs should fail on it.
    let head = if generator.below(10) == 0 { 0 } else { 12 };
    for _ in 0..=generator.below(4) {
        if length <= head + 5 {
            break;
        }
        let reach = length - head - 4;
        let at = start + head + generator.below(reach);
        let end = start + length;
        let some = |generator: &mut Generator, most| (at + 1 + generator.below(most)).min(end);
        match generator.below(6) {
            0 => bytes[at] ^= 1 << generator.below(8),
            1 => bytes[at] = EDGES[generator.below(EDGES.len())],
            2 => bytes[at] = generator.next_u64() as u8,
            3 => {
                let end = some(generator, 10);
                bytes[at..end].fill(EDGES[generator.below(EDGES.len())]);
            }
            // Bytes move up, others follow: the block keeps its length.
            4 => {
                let end = some(generator, length);
                let by = generator.below(end - at);
                bytes[at..end].rotate_left(by);
            }
            _ => {
                let from = start + head + generator.below(reach);
                let many = generator.below(12).min(end - at.max(from));
                bytes.copy_within(from..from + many, at);
            }
        }
    }
    match generator.below(10) {
        0 => {}
        // Another length altogether; at the end of a file, or it is one block.
        1 => {
            bytes.truncate(start + generator.below(length));
            seal(&mut bytes[start..]);
        }
        2 => {
            let more: Vec<u8> = (0..generator.below(20)).map(|i| i as u8).collect();
            let at = start + generator.below(length);
            bytes.splice(at..at, more);
            seal(&mut bytes[start..]);
        }
        _ => seal(&mut bytes[start..start + length]),
    }
    bytes
}

#[test]
fn damage_by_chance_is_survived() {
    let goldens = [
        "inline", "raw", "outside", "tall", "tall_raw", "versions", "numbered", "merged",
    ];
    let mut databases: Vec<_> = goldens.iter().map(|case| files(&golden(case))).collect();
    // A deep tree of our own, in which nothing is compressed.
    let own = tempfile::tempdir().unwrap();
    let options = Options {
        max_inline_value_bytes: 20,
        max_decoded_node_bytes: 150,
        compression: Compression::None,
        ..Options::default()
    };
    let writer = Writer::create(own.path(), &options).unwrap();
    for i in 0..40 {
        writer
            .put(format!("layer_{}/{i}", i / 8), &vec![i; i as usize])
            .unwrap();
    }
    writer.finish().unwrap();
    databases.push(files(own.path()));
    let folders: Vec<_> = databases
        .iter()
        .map(|files| {
            let folder = tempfile::tempdir().unwrap();
            put_files(folder.path(), files);
            read(folder.path()).unwrap();
            read_versions(folder.path()).unwrap();
            folder
        })
        .collect();
    let from = |i: usize, generator: &mut Generator| {
        let (files, folder) = (
            &databases[i % databases.len()],
            &folders[i % databases.len()],
        );
        let (path, sound) = files.iter().nth(generator.below(files.len())).unwrap();
        (folder.path(), path, sound, damaged(sound, generator))
    };
    let mut beyond_checksums = 0;
    let inputs = read_many(
        "databases",
        2000,
        600,
        from,
        |(folder, path, sound, bytes)| {
            let file = folder.join(path);
            put(&file, bytes);
            let readable = match (read(folder), read_versions(folder)) {
                (Ok(_), Ok(_)) => true,
                (Err(error), _) | (_, Err(error)) => {
                    let text = error.to_string();
                    let shallow = [
                        "checksum",
                        "begins with",
                        "bytes, but should have",
                        "bytes, expected",
                    ];
                    beyond_checksums +=
                        usize::from(!shallow.iter().any(|what| text.contains(what)));
                    false
                }
            };
            put(&file, sound);
            readable
        },
    );
    println!("{beyond_checksums} refused by their content");
    assert!(
        beyond_checksums > inputs / 10,
        "few inputs get past checksums"
    );
}
