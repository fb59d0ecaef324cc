//! Folders that appear whole or not at all, and damage that is found and named.

use ramie_checkpoint::commit::{
    Checkpointer, CheckpointerOptions, ItemWriter, Process, SaveOptions,
};
use ramie_checkpoint::commit::{ItemReader, StepMetadata, restore_item, save_item};
use ramie_checkpoint::items::{JsonRestore, JsonSave, SaveArgs, Snapshot};
use ramie_checkpoint::manager::{CheckpointManager, CheckpointManagerOptions, StepOptions};
use ramie_checkpoint::pytree::*;
use ramie_checkpoint::{Error, Result, checkpoints, pytree, save_checkpoint};
use ramie_checkpoint::{safetensors, serialization};
use ramie_core::{Array, State};
use std::path::{Path, PathBuf};

/// Some files of different kinds.
struct Files;

impl SaveArgs for Files {
    fn handler(&self) -> &str {
        "tests.Files"
    }

    fn snapshot(&self, _: Process) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(Files))
    }
}

impl Snapshot for Files {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        writer.write("small", b"text")?;
        writer.write("empty", b"")?;
        writer.write("deep/er/down", b"below")?;
        writer.write("large", &vec![7; 3 << 20])?;
        writer.write("dropped", b"not for long")?;
        writer.remove("dropped")?;
        let names = (0..20).map(|i| format!("d/{i}")).collect();
        writer.for_each(names, |name: String| writer.write(&name, name.as_bytes()))?;
        // Past the writer, as a library would that writes its files itself.
        std::fs::write(writer.folder().join("foreign"), b"by others").unwrap();
        Ok(())
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_in(&path))
        } else {
            files.push(path)
        }
    }
    files
}

#[test]
fn what_was_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("files");
    save_item(&path, &Files).unwrap();
    let reader = ItemReader::open(&path).unwrap();
    assert!(reader.is_checked());
    reader.verify_all().unwrap();
    assert_eq!(reader.read("small").unwrap(), b"text");
    assert_eq!(reader.read("empty").unwrap(), b"");
    assert_eq!(reader.read("foreign").unwrap(), b"by others");
    let mut large = vec![0; 3 << 20];
    reader.read_into("large", &mut large).unwrap();
    assert!(large.iter().all(|b| *b == 7));
    let deep = reader.subfolder("deep").unwrap();
    assert_eq!(deep.names().unwrap(), ["er/down"]);
    assert_eq!(deep.read("er/down").unwrap(), b"below");
    assert!(reader.contains("large") && !reader.contains("dropped"));
    let metadata = StepMetadata::of(&path).unwrap().unwrap();
    assert!(metadata.commit_timestamp_nsecs >= metadata.init_timestamp_nsecs);
    // Nothing but the checkpoint is left.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_change_of_any_file_is_found_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("files");
    save_item(&path, &Files).unwrap();
    let check = || ItemReader::open(&path).and_then(|reader| reader.verify_all());
    check().unwrap();
    let files = files_in(&path);
    assert_eq!(files.len(), 5 + 20 + 3);
    for file in files {
        let whole = std::fs::read(&file).unwrap();
        let expect = |what: &str| {
            let error = check().expect_err(what);
            assert!(matches!(error, Error::Damaged { .. }), "{what}: {error}");
            let text = error.to_string();
            // The marker holds the manifest's checksum, so either may be named.
            let pair = ["_RAMIE_MANIFEST", "commit_success.txt"];
            let name = file.file_name().unwrap().to_str().unwrap();
            let named = text.starts_with(&format!("{}: ", file.display()));
            let marker = pair.contains(&name) && pair.iter().any(|p| text.contains(p));
            assert!(named || marker, "{what} {name}: {text}");
            assert!(text.contains("help: "), "{text}");
        };
        if !whole.is_empty() {
            for at in [0, whole.len() / 2, whole.len() - 1] {
                let mut other = whole.clone();
                other[at] ^= 0x10;
                std::fs::write(&file, other).unwrap();
                expect("a changed byte");
            }
            std::fs::write(&file, &whole[..whole.len() - 1]).unwrap();
            expect("a cut file");
        }
        std::fs::write(&file, [&whole[..], b"x"].concat()).unwrap();
        expect("a longer file");
        std::fs::remove_file(&file).unwrap();
        expect("a missing file");
        std::fs::write(&file, &whole).unwrap();
        check().unwrap();
    }
}

#[test]
fn without_a_manifest_files_are_taken_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("metadata"), b"[1, 2]").unwrap();
    std::fs::write(folder.path().join("commit_success.txt"), b"by Orbax").unwrap();
    let value = restore_item(folder.path(), JsonRestore::<Vec<u32>>::new()).unwrap();
    assert_eq!(value, [1, 2]);
    let reader = ItemReader::open(folder.path()).unwrap();
    assert!(!reader.is_checked());
    assert_eq!(reader.names().unwrap(), ["commit_success.txt", "metadata"]);
}

#[test]
fn a_name_that_is_taken_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("value");
    save_item(&path, &JsonSave::new(&1)).unwrap();
    let error = save_item(&path, &JsonSave::new(&2)).unwrap_err();
    assert!(error.to_string().contains("already exists"), "{error}");
    assert_eq!(restore_item(&path, JsonRestore::<u32>::new()).unwrap(), 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn json_that_is_none_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("value");
    save_item(&path, &JsonSave::new("text")).unwrap();
    let error = restore_item(&path, JsonRestore::<u32>::new()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("value/metadata: is not JSON of the requested type"),
        "{text}"
    );
    let missing = restore_item(&path, JsonRestore::<u32>::new().file("other"));
    assert!(missing.unwrap_err().to_string().contains("value/other"));
}

/// What is saved in the sweep below: one number.
fn number(value: f32) -> State {
    State::from_iter([("x", Array::from(value))])
}

/// A function that saves a number at a path, and one that reads it.
type Way = (
    &'static str,
    Box<dyn Fn(&Path, f32) -> Result<()>>,
    Box<dyn Fn(&Path) -> f32>,
);

fn way(
    name: &'static str,
    save: impl Fn(&Path, f32) -> Result<()> + 'static,
    load: impl Fn(&Path) -> f32 + 'static,
) -> Way {
    (name, Box::new(save), Box::new(load))
}

fn restored(path: &Path) -> f32 {
    restore_item(path, StandardRestore::state()).unwrap()["x"].item()
}

/// Every function that saves in a folder: it refuses a path that is taken.
fn folders() -> Vec<Way> {
    let blocking = CheckpointerOptions::new().asynchronous(false);
    let blocking = Checkpointer::with_options(blocking);
    let (background, waiting) = (Checkpointer::new(), Checkpointer::new());
    vec![
        way(
            "save_item",
            |p, x| save_item(p, &StandardSave::new(&number(x))),
            restored,
        ),
        way(
            "a blocking Checkpointer",
            move |p, x| blocking.save(p, &PyTreeSave::new(&number(x))),
            restored,
        ),
        way(
            "Checkpointer",
            // Not waiting: the error is returned at once.
            move |p, x| background.save(p, &StandardSave::new(&number(x))),
            |p| {
                let restored = Checkpointer::new().restore(p, StandardRestore::state());
                restored.unwrap()["x"].item()
            },
        ),
        way(
            "Checkpointer::wait_until_finished",
            move |p, x| {
                waiting.save(p, &StandardSave::new(&number(x)))?;
                waiting.wait_until_finished()
            },
            restored,
        ),
        way(
            "save_checkpoint",
            |p, x| save_checkpoint(p, &number(x), 1).map(drop),
            |p| {
                let mut tree = number(0.0);
                checkpoints::restore_checkpoint(p, &mut tree).unwrap();
                tree["x"].item()
            },
        ),
        way(
            "CheckpointManager",
            |p, x| {
                let manager = CheckpointManager::new(p, CheckpointManagerOptions::new())?;
                let options = StepOptions::new().force(true);
                manager.save_with(1, &StandardSave::new(&number(x)), options)?;
                manager.close()
            },
            |p| {
                let manager = CheckpointManager::new(p, CheckpointManagerOptions::new()).unwrap();
                manager.restore_latest(StandardRestore::state()).unwrap()["x"].item()
            },
        ),
    ]
}

/// Every function that saves in a file: it replaces one that is there.
fn files() -> Vec<Way> {
    fn file(load: impl Fn(&Path) -> Result<State> + 'static) -> impl Fn(&Path) -> f32 {
        move |p| load(p).unwrap()["x"].item()
    }
    vec![
        way(
            "model.safetensors",
            |p, x| safetensors::save(p, &number(x)),
            file(|p| safetensors::load_state(p)),
        ),
        way(
            "model.safetensors.index.json",
            |p, x| safetensors::save_sharded(p, &number(x), 100),
            file(|p| safetensors::load_state(p)),
        ),
        way(
            "model.msgpack",
            |p, x| serialization::save(p, &number(x)),
            file(|p| serialization::load_state(p)),
        ),
    ]
}

#[test]
fn a_path_that_is_taken_is_refused_at_once_or_replaced_as_a_whole() {
    for (name, save, load) in folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        save(&path, 1.0).unwrap();
        // Wait for a save in the background.
        while !path.exists() {
            std::thread::yield_now();
        }
        let error = save(&path, 2.0).unwrap_err().to_string();
        assert!(error.contains("already"), "{name}: {error}");
        assert_eq!(load(&path), 1.0, "{name}");
        let file = folder.path().join("file");
        std::fs::write(&file, "text").unwrap();
        assert!(save(&file, 1.0).is_err(), "{name}");
        assert_eq!(std::fs::read(&file).unwrap(), b"text", "{name}");
    }
    for (name, save, load) in files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        save(&path, 1.0).unwrap();
        save(&path, 2.0).unwrap();
        assert_eq!(load(&path), 2.0, "{name}");
        let other = folder.path().join(format!("folder-{name}"));
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("notes"), "text").unwrap();
        assert!(save(&other, 1.0).is_err(), "{name}");
        assert!(other.join("notes").exists(), "{name}");
    }
}

#[test]
fn force_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let checkpointer = Checkpointer::new();
    let (first, second) = (number(1.0), number(2.0));
    checkpointer
        .save(&path, &StandardSave::new(&first))
        .unwrap();
    checkpointer.wait_until_finished().unwrap();
    let force = SaveOptions::new().force(true);
    checkpointer
        .save_with(&path, &StandardSave::new(&second), force)
        .unwrap();
    let restored = checkpointer.restore(&path, StandardRestore::state());
    assert_eq!(restored.unwrap()["x"].item::<f32>(), 2.0);
}

/// What `f` returns, unless it takes too long.
fn in_time<T: Send + 'static>(what: &str, f: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(f()));
    let limit = std::time::Duration::from_secs(60);
    receive
        .recv_timeout(limit)
        .unwrap_or_else(|_| panic!("{what} hangs"))
}

/// Every function that reads a file or a folder that the caller names.
fn readers() -> Vec<(&'static str, fn(&Path) -> Result<()>)> {
    vec![
        ("safetensors::load_state", |p| {
            safetensors::load_state(p).map(drop)
        }),
        ("safetensors::load_abstract", |p| {
            safetensors::load_abstract(p).map(drop)
        }),
        ("safetensors::load_metadata", |p| {
            safetensors::load_metadata(p).map(drop)
        }),
        ("safetensors::load_into", |p| {
            safetensors::load_into(p, &mut number(0.0))
        }),
        ("serialization::load", |p| serialization::load(p).map(drop)),
        ("serialization::load_state", |p| {
            serialization::load_state(p).map(drop)
        }),
        ("serialization::load_abstract", |p| {
            serialization::load_abstract(p).map(drop)
        }),
        ("serialization::load_into", |p| {
            serialization::load_into(p, &mut number(0.0))
        }),
        ("restore_checkpoint", |p| {
            let options = checkpoints::RestoreOptions::new().step(1);
            checkpoints::restore_checkpoint_with(p, &mut number(0.0), &options).map(drop)
        }),
        ("restore_item", |p| {
            restore_item(p, StandardRestore::state()).map(drop)
        }),
        ("Checkpointer", |p| {
            Checkpointer::new()
                .restore(p, StandardRestore::new(&number(0.0)))
                .map(drop)
        }),
        ("pytree::metadata", |p| pytree::metadata(p).map(drop)),
        ("ItemReader", |p| ItemReader::open(p).map(drop)),
        ("CheckpointManager", |p| {
            let options = CheckpointManagerOptions::new().create(false);
            let manager = CheckpointManager::new(p, options)?;
            manager.restore_latest(StandardRestore::state()).map(drop)
        }),
    ]
}

#[cfg(unix)]
#[test]
fn pipes_devices_and_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("checkpoint_1");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let index = folder.path().join("pipe.json");
    std::os::unix::fs::symlink(&pipe, &index).unwrap();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let missing = folder.path().join("missing");
    let zero = PathBuf::from("/dev/zero");
    for (name, read) in readers() {
        for path in [
            &pipe,
            &index,
            &zero,
            &empty,
            &missing,
            &folder.path().to_owned(),
        ] {
            if name == "ItemReader" && path.is_dir() {
                continue; // It takes any folder, as others may have written it.
            }
            let what = format!("{name} of {}", path.display());
            let (path, shown) = (path.clone(), path.display().to_string());
            let error = in_time(&what, move || read(&path))
                .expect_err(&what)
                .to_string();
            assert!(error.starts_with(&shown), "{what}: {error}");
        }
    }
}

pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|e| (e.path(), e.file_name())).unwrap();
        if path.is_dir() {
            copy(&path, &to.join(name))
        } else {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// A pipe in the place of any file of a checkpoint, of Ramie and of Orbax, keeps nobody
/// waiting.
#[cfg(unix)]
#[test]
fn a_pipe_in_a_checkpoint_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let options = || CheckpointManagerOptions::new().best_fn(|m| m.get("loss").unwrap_or(0.0));
    let manager = CheckpointManager::new(&run, options()).unwrap();
    let step = StepOptions::new().metrics([("loss", 1.0)]);
    manager
        .save_with(1, &StandardSave::new(&number(1.0)), step)
        .unwrap();
    manager.close().unwrap();
    let orbax = ramie_testing::golden::path("orbax");
    for source in [
        run,
        orbax.join("train_state_ocdbt"),
        orbax.join("train_state_zarr3"),
    ] {
        let is_run = source.ends_with("run");
        for file in files_in(&source) {
            let file = file.strip_prefix(&source).unwrap().to_owned();
            let whole = tempfile::tempdir().unwrap();
            let copied = whole.path().join("copy");
            copy(&source, &copied);
            std::fs::remove_file(copied.join(&file)).unwrap();
            let made = std::process::Command::new("mkfifo")
                .arg(copied.join(&file))
                .status();
            assert!(made.unwrap().success());
            let what = format!("{} without {}", source.display(), file.display());
            let shown = what.clone();
            in_time(&what, move || {
                if is_run {
                    let manager = CheckpointManager::new(copied, options()).unwrap();
                    let _ = manager.best_step();
                    let _ = manager.metadata(1);
                    let restored = manager.restore_latest(StandardRestore::state());
                    // Some files are not needed for the arrays.
                    if let Ok(state) = restored {
                        assert_eq!(state["x"].item::<f32>(), 1.0, "{shown}");
                    }
                } else {
                    drop(restore_item(copied, StandardRestore::state()))
                }
            });
        }
    }
}
