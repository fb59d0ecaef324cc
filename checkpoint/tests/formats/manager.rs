//! What the manager of a run does besides choosing steps and writing them: damage, names,
//! metadata, deletion, waiting.

use ramie_checkpoint::commit::{CheckpointerOptions, CommitState, ItemReader, commit_state};
use ramie_checkpoint::items::{
    Composite, IteratorRestore, IteratorSave, JaxRandomKeyRestore, JaxRandomKeySave, JsonRestore,
    JsonSave, RestoreArgs,
};
use ramie_checkpoint::manager::{
    CheckpointManager, CheckpointManagerOptions, Metrics, StepNames, StepOptions, WaitOptions,
    checkpoints_iterator, wait_for_new_checkpoint,
};
use ramie_checkpoint::pytree::ArraySave;
use ramie_checkpoint::{Error, preemption};
use ramie_core::Array;
use ramie_core::random::{self, KeyImpl, KeyLayout};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn open(root: &Path) -> CheckpointManager {
    CheckpointManager::new(root, CheckpointManagerOptions::new()).unwrap()
}

#[test]
fn steps_that_are_none_do_not_count() {
    let folder = folder();
    let root = folder.path();
    let manager = open(root);
    manager.save(3, &JsonSave::new("x")).unwrap();
    manager.wait_until_finished().unwrap();
    std::fs::create_dir(root.join("7")).unwrap();
    std::fs::create_dir(root.join("007")).unwrap();
    std::fs::create_dir(root.join("8.orbax-checkpoint-tmp")).unwrap();
    std::fs::write(root.join("9"), b"a file").unwrap();
    std::fs::create_dir(root.join("10")).unwrap();
    std::fs::write(root.join("10/notes"), b"by hand").unwrap();
    // As Orbax wrote steps before it had a marker, and trees before it had steps.
    std::fs::create_dir_all(root.join("11/default")).unwrap();
    std::fs::write(root.join("11/default/_METADATA"), b"{}").unwrap();
    std::fs::create_dir(root.join("12")).unwrap();
    let began = r#"{"init_timestamp_nsecs": 5, "commit_timestamp_nsecs": null}"#;
    std::fs::write(root.join("12/_CHECKPOINT_METADATA"), began).unwrap();
    std::fs::create_dir(root.join("13")).unwrap();
    let done = r#"{"init_timestamp_nsecs": 5, "commit_timestamp_nsecs": 6}"#;
    std::fs::write(root.join("13/_CHECKPOINT_METADATA"), done).unwrap();
    assert_eq!(manager.all_steps(), [3]);
    manager.reload().unwrap();
    assert_eq!(manager.all_steps(), [3, 11, 13]);
    let error = manager
        .restore(7, JsonRestore::<String>::new())
        .unwrap_err();
    assert!(matches!(error, Error::NoStep { step: 7, .. }), "{error:?}");
    let expected = "step 7 does not exist: the steps are 13, 11, 3\n";
    assert!(error.to_string().contains(expected), "{error}");
    // An empty folder is no obstacle; one that holds something is.
    let forced = || StepOptions::new().force(true);
    assert!(manager.save_with(7, &JsonSave::new("y"), forced()).unwrap());
    manager.wait_until_finished().unwrap();
    let error = manager.save_with(10, &JsonSave::new("y"), forced());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("is not a checkpoint"), "{error}");
    assert_eq!(std::fs::read(root.join("10/notes")).unwrap(), b"by hand");
    assert!(
        manager
            .save_with(12, &JsonSave::new("y"), forced())
            .unwrap()
    );
    manager.wait_until_finished().unwrap();
    let options = CheckpointManagerOptions::new().cleanup_tmp_directories(true);
    let manager = CheckpointManager::new(root, options).unwrap();
    assert_eq!(manager.all_steps(), [3, 7, 11, 12, 13]);
    assert!(!root.join("8.orbax-checkpoint-tmp").exists());
}

#[test]
fn damage_is_named_when_a_step_is_restored() {
    let folder = folder();
    let manager = open(folder.path());
    let items = Composite::new()
        .item("a", JsonSave::new("first"))
        .item("b", JsonSave::new("second"));
    manager.save(5, &items).unwrap();
    manager.wait_until_finished().unwrap();
    let path = folder.path().join("5/b/metadata");
    std::fs::write(&path, b"\"Second\"").unwrap();
    let a = || Composite::new().item("a", JsonRestore::<String>::new());
    let both = a().item("b", JsonRestore::<String>::new());
    let error = manager.restore(5, both).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    assert!(
        error.to_string().starts_with(path.to_str().unwrap()),
        "{error}"
    );
    // What is whole can be had, and the whole step be checked.
    assert_eq!(manager.restore(5, a()).unwrap().0, "first");
    assert!(manager.verify(5).is_err());
    // A damaged step can be deleted.
    std::fs::remove_file(folder.path().join("5/_RAMIE_MANIFEST")).unwrap();
    assert!(manager.restore(5, a()).is_err());
    manager.delete(5).unwrap();
    assert!(manager.all_steps().is_empty());
}

#[test]
fn items_that_are_not_there_are_named_with_those_that_are() {
    let folder = folder();
    let manager = open(folder.path());
    let items = Composite::new()
        .item("state", JsonSave::new(&1))
        .item("data", IteratorSave::new(&2));
    manager.save(0, &items).unwrap();
    manager.save(1, &JsonSave::new(&3)).unwrap();
    let one = JsonRestore::<u32>::new;
    let error = manager.restore(0, one()).unwrap_err().to_string();
    assert!(
        error.contains("has no item `default`: it has `data`, `state`"),
        "{error}"
    );
    assert!(error.contains("`Composite`"), "{error}");
    let error = manager.restore(1, Composite::new().item("state", one()));
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("has no item `state`: it has `default`")
    );
    let data = Composite::new().item("data", IteratorRestore::<u32>::new());
    assert_eq!(manager.restore(0, data).unwrap(), (2,));
    assert!(folder.path().join("0/data/process_0-of-1.json").is_file());
    assert_eq!(manager.restore_latest(one()).unwrap(), 3);
    let elsewhere = self::folder();
    let error = manager
        .restore_from(elsewhere.path(), 0, one())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("step 0 does not exist: there are no steps")
    );
    assert!(open(elsewhere.path()).restore_latest(one()).is_err());
}

#[test]
fn a_run_without_steps_names_an_unfinished_save() {
    let folder = folder();
    let said = |root: &Path, manager: CheckpointManager| {
        let message = manager
            .restore_latest(JsonRestore::<u64>::new())
            .unwrap_err()
            .to_string();
        let rest = message.strip_prefix(&format!("{}: ", root.display()));
        rest.expect("the directory").to_owned()
    };
    let help = "\n  help: check the path; if `latest_step()` is `None`, start a new run";
    assert_eq!(
        said(folder.path(), open(folder.path())),
        format!("there is no step to restore{help}")
    );
    for name in ["0.deleted.orbax-checkpoint-tmp", "1.orbax-checkpoint-tmp"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    assert_eq!(
        said(folder.path(), open(folder.path())),
        format!(
            "there is no step to restore, only the unfinished save `1.orbax-checkpoint-tmp`{help}"
        )
    );
    let missing = folder.path().join("none");
    let options = CheckpointManagerOptions::new().read_only(true);
    assert_eq!(
        said(&missing, CheckpointManager::new(&missing, options).unwrap()),
        "the directory does not exist\n  help: check the path; a run has a directory per step, and a \
         step has one per item"
    );
}

#[test]
fn iterations_of_other_processes_are_taken_where_they_agree() {
    let folder = folder();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let restore = || {
        let reader = ItemReader::open(folder.path()).unwrap();
        IteratorRestore::<Vec<u32>>::new().restore(&reader)
    };
    let text = restore().unwrap_err().to_string();
    assert!(text.contains("`process_0-of-1.json` is missing"), "{text}");
    write("process_0-of-2.json", "[1, 2]");
    write("process_1-of-2.json", "[1,2]");
    assert_eq!(restore().unwrap(), [1, 2]);
    write("process_1-of-2.json", "[1, 3]");
    let text = restore().unwrap_err().to_string();
    assert!(
        text.contains("help: restore with the number of processes"),
        "{text}"
    );
    write("process_0-of-1.json", "[9]");
    assert_eq!(restore().unwrap(), [9]);
}

#[test]
fn deleted_steps_go_where_they_are_wanted() {
    let folder = folder();
    let other = self::folder();
    let all = [
        CheckpointManagerOptions::new(),
        CheckpointManagerOptions::new().enable_background_delete(true),
        CheckpointManagerOptions::new().todelete_subdir("old"),
        CheckpointManagerOptions::new().todelete_full_path(other.path().join("trash")),
    ];
    for (i, options) in all.into_iter().enumerate() {
        let root = folder.path().join(i.to_string());
        let options = options.max_to_keep(2);
        let manager = CheckpointManager::new(&root, options).unwrap();
        for step in 0..4 {
            manager.save(step, &JsonSave::new(&step)).unwrap();
        }
        manager.wait_until_finished().unwrap();
        manager.delete(2).unwrap();
        assert_eq!(manager.all_steps(), [3]);
        manager.close().unwrap();
        let list = |path: &Path| {
            let mut names: Vec<String> = std::fs::read_dir(path)
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        match i {
            2 => {
                assert_eq!(list(&root), ["3", "old"]);
                assert_eq!(list(&root.join("old")), ["0", "1", "2"]);
                // They are whole, and can be had again.
                let old = open(&root.join("old"));
                assert_eq!(old.restore(1, JsonRestore::<u64>::new()).unwrap(), 1);
            }
            3 => {
                assert_eq!(list(&root), ["3"]);
                let moved = list(&other.path().join("trash"));
                let steps: Vec<&str> = moved.iter().map(|n| n.split('-').next().unwrap()).collect();
                assert_eq!(steps, ["0", "1", "2"]);
            }
            _ => assert_eq!(list(&root), ["3"]),
        }
    }
}

#[test]
fn what_is_only_read_stays_as_it_is() {
    let folder = folder();
    let manager = open(folder.path());
    manager.save(1, &JsonSave::new("x")).unwrap();
    manager.close().unwrap();
    std::fs::create_dir(folder.path().join("2.orbax-checkpoint-tmp")).unwrap();
    let options = CheckpointManagerOptions::new()
        .read_only(true)
        .max_to_keep(1)
        .cleanup_tmp_directories(true);
    let metadata = json!({"a": 1}).as_object().unwrap().clone();
    let manager = CheckpointManager::with_metadata(folder.path(), options, metadata).unwrap();
    assert!(!manager.should_save(5).unwrap());
    assert!(!manager.save(5, &JsonSave::new("y")).unwrap());
    let forced = StepOptions::new().force(true);
    assert!(!manager.save_with(5, &JsonSave::new("y"), forced).unwrap());
    manager.delete(1).unwrap();
    assert_eq!(manager.all_steps(), [1]);
    assert_eq!(manager.root_metadata()["a"], 1);
    assert_eq!(
        manager.restore(1, JsonRestore::<String>::new()).unwrap(),
        "x"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    let missing = folder.path().join("none");
    let options = CheckpointManagerOptions::new().read_only(true);
    assert!(
        CheckpointManager::new(&missing, options)
            .unwrap()
            .all_steps()
            .is_empty()
    );
    assert!(!missing.exists());
    let options = CheckpointManagerOptions::new().create(false);
    let error = CheckpointManager::new(&missing, options)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("none: the directory does not exist"),
        "{error}"
    );
}

#[test]
fn metadata_are_kept() {
    let folder = folder();
    let object = |value: serde_json::Value| value.as_object().unwrap().clone();
    let options = CheckpointManagerOptions::new;
    let with = |metadata| CheckpointManager::with_metadata(folder.path(), options(), metadata);
    let manager = with(object(json!({"version": 1}))).unwrap();
    let step = StepOptions::new().custom_metadata(object(json!({"rate": 0.5})));
    manager.save_with(0, &JsonSave::new("x"), step).unwrap();
    let metadata = manager.metadata(0).unwrap();
    assert_eq!(metadata.custom_metadata["rate"], 0.5);
    assert!(metadata.committed() <= Some(std::time::SystemTime::now()));
    assert!(manager.metrics(0).unwrap().is_none());
    // What is there stays.
    let manager = with(object(json!({"version": 2}))).unwrap();
    assert_eq!(manager.root_metadata()["version"], 1);
    let text = std::fs::read_to_string(folder.path().join("metadata/_ROOT_METADATA")).unwrap();
    let expected = json!({"internal_metadata": {}, "custom_metadata": {"version": 1}});
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&text).unwrap(),
        expected
    );
    assert!(manager.metadata(1).is_err());
}

#[test]
fn metrics_are_an_item() {
    let folder = folder();
    let options = CheckpointManagerOptions::new().best_fn(|m| m.get("loss").unwrap());
    let manager = CheckpointManager::new(folder.path(), options.clone()).unwrap();
    let with = |metrics: Metrics| StepOptions::new().metrics(metrics);
    let save = |step, metrics| manager.save_with(step, &JsonSave::new("x"), with(metrics));
    save(0, Metrics::from([("loss", 2.0)])).unwrap();
    save(1, Metrics::from([("loss", f64::NAN)])).unwrap();
    save(2, Metrics::from([("loss", f64::NEG_INFINITY)])).unwrap();
    manager.save(3, &JsonSave::new("x")).unwrap();
    manager.wait_until_finished().unwrap();
    assert_eq!(manager.best_step().unwrap(), Some(0));
    let text = std::fs::read_to_string(folder.path().join("1/metrics/metrics")).unwrap();
    assert_eq!(text, "{\"loss\": NaN}");
    assert_eq!(manager.item_names(1).unwrap(), ["default", "metrics"]);
    assert_eq!(manager.item_names(3).unwrap(), ["default"]);
    let again = CheckpointManager::new(folder.path(), options.clone()).unwrap();
    assert_eq!(again.best_step().unwrap(), Some(0));
    assert!(
        again
            .metrics(1)
            .unwrap()
            .unwrap()
            .get("loss")
            .unwrap()
            .is_nan()
    );
    // Damaged ones are named where they are asked for, and stop nothing else.
    std::fs::write(folder.path().join("0/metrics/metrics"), b"{\"loss\": 9.0}").unwrap();
    assert!(matches!(again.metrics(0), Err(Error::Damaged { .. })));
    std::fs::write(folder.path().join("0/metrics/metrics"), b"{").unwrap();
    let again = CheckpointManager::new(folder.path(), options).unwrap();
    assert_eq!(again.all_steps(), [0, 1, 2, 3]);
    // Step 0 may be the best: no other one is taken for it.
    let error = again.best_step().unwrap_err().to_string();
    for part in [
        "0/metrics/metrics: does not contain metrics",
        "`delete` the step",
    ] {
        assert!(error.contains(part), "{error}");
    }
    again.delete(0).unwrap();
    assert_eq!(again.best_step().unwrap(), Some(2));
}

/// A step whose commit marker is damaged is not taken for one that never was.
#[test]
fn a_damaged_marker_is_named() {
    let folder = folder();
    let root = folder.path();
    let manager = CheckpointManager::new(root, CheckpointManagerOptions::new()).unwrap();
    for step in [1, 2] {
        manager.save(step, &JsonSave::new(&step)).unwrap();
    }
    manager.close().unwrap();
    let marker = root.join("2/commit_success.txt");
    let whole = std::fs::read(&marker).unwrap();
    for (bytes, why) in [
        (
            Some(&whole[..whole.len() - 1]),
            "commit_success.txt is incomplete",
        ),
        (Some(&[]), "commit_success.txt is incomplete"),
        (None, "commit_success.txt is missing"),
    ] {
        match bytes {
            Some(bytes) => std::fs::write(&marker, bytes).unwrap(),
            None => std::fs::remove_file(&marker).unwrap(),
        }
        assert_eq!(
            commit_state(root.join("2")).unwrap(),
            CommitState::Damaged(why.into())
        );
        let manager = CheckpointManager::new(root, CheckpointManagerOptions::new()).unwrap();
        assert_eq!(manager.latest_step(), Some(1));
        let error = manager.restore(2, JsonRestore::<u64>::new()).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn other_programs_wait_for_steps() {
    let folder = folder();
    let root = folder.path().join("run");
    let names = || StepNames::new().prefix("s");
    let wait = || {
        WaitOptions::new()
            .step_name_format(names())
            .poll_interval(Duration::from_millis(2))
    };
    // A folder that is not there yet has no steps.
    let short = wait().timeout(Duration::from_millis(20));
    assert_eq!(wait_for_new_checkpoint(&root, None, short).unwrap(), None);
    let written = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let (root, written) = (root.clone(), written.clone());
        move || {
            let options = CheckpointManagerOptions::new().step_name_format(names());
            let manager = CheckpointManager::new(root, options).unwrap();
            for step in 0..5 {
                std::thread::sleep(Duration::from_millis(20));
                manager.save(step, &JsonSave::new(&step)).unwrap();
            }
            manager.close().unwrap();
            written.store(true, Ordering::SeqCst);
        }
    });
    assert!(wait_for_new_checkpoint(&root, Some(2), wait()).unwrap() >= Some(2));
    let mut asked = 0;
    let steps = checkpoints_iterator(
        &root,
        wait()
            .timeout(Duration::from_millis(300))
            .timeout_fn(move || {
                asked += 1;
                asked >= 2 && written.load(Ordering::SeqCst)
            }),
    );
    let seen: Vec<u64> = steps.map(|step| step.unwrap()).collect();
    assert_eq!(seen.last(), Some(&4));
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{seen:?}");
    writer.join().unwrap();
}

#[test]
fn a_program_that_is_to_end_saves_at_once() {
    let folder = folder();
    let options = CheckpointManagerOptions::new().save_interval_steps(1000);
    let manager = CheckpointManager::new(folder.path(), options).unwrap();
    assert!(manager.save(0, &JsonSave::new("x")).unwrap());
    assert!(!manager.save(1, &JsonSave::new("x")).unwrap());
    preemption::request();
    // A program that ended here would lose the step.
    assert!(!manager.reached_preemption(1));
    assert!(manager.reached_preemption(2));
    assert!(manager.save(2, &JsonSave::new("x")).unwrap());
    preemption::withdraw();
    assert!(!manager.save(3, &JsonSave::new("x")).unwrap());
}

#[cfg(unix)]
#[test]
fn folders_get_their_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let options = CheckpointManagerOptions::new()
        .checkpointer(CheckpointerOptions::new().path_permission_mode(0o710));
    let manager = CheckpointManager::new(folder.path(), options).unwrap();
    manager.save(0, &JsonSave::new("x")).unwrap();
    manager.wait_until_finished().unwrap();
    let mode = folder
        .path()
        .join("0")
        .metadata()
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o710);
}

#[test]
fn keys_come_back_with_their_generators() {
    let folder = folder();
    let manager = open(folder.path());
    let original = random::key(7).with_layout(KeyLayout::Original);
    let rbg = random::key_with(7, KeyImpl::Rbg);
    let many = random::key(7).split_array(&[3]);
    let items = Composite::new()
        .item("original", JaxRandomKeySave::new(&original))
        .item("rbg", JaxRandomKeySave::new(&rbg))
        .item("many", JaxRandomKeySave::new(&many))
        .item("no key", ArraySave::new(&Array::from([1.0f32, 2.0])));
    manager.save(0, &items).unwrap();
    let key = |name| {
        let item = Composite::new().item(name, JaxRandomKeyRestore::new());
        manager.restore(0, item).map(|(key,)| key)
    };
    for (name, saved) in [("original", &original), ("rbg", &rbg), ("many", &many)] {
        let restored = key(name).unwrap();
        assert_eq!(random::key_impl(&restored), random::key_impl(saved));
        assert_eq!(restored.layout(), saved.layout());
        let words = |key| random::key_data(key).to_vec::<u32>();
        assert_eq!(words(&restored), words(saved));
        assert_eq!(
            random::key_data(&restored).shape(),
            random::key_data(saved).shape()
        );
    }
    assert!(key("no key").is_err());
    let metadata = folder
        .path()
        .join("0/many/jax_random_key_metadata/metadata");
    assert_eq!(
        std::fs::read_to_string(metadata).unwrap(),
        r#"{"typed":true}"#
    );
}
