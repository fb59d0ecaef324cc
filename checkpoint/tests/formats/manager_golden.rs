//! Which steps are saved and kept, against Orbax's manager; and runs that Orbax wrote.

use crate::commit::copy;
use ramie_checkpoint::commit::CheckpointerOptions;
use ramie_checkpoint::items::{Composite, JaxRandomKeyRestore, JsonRestore, JsonSave};
use ramie_checkpoint::manager::policies::{
    AnyPreservationPolicy, AnySavePolicy, BestMode, BestN, CheckpointInfo,
    ContinuousCheckpointingPolicy, CustomSteps, DecisionContext, EveryNSeconds, EveryNSteps,
    EveryNStepsClosest, FixedIntervalPolicy, InitialSavePolicy, LatestDuration, LatestN,
    PreemptionCheckpointingPolicy, PreservationPolicy, PreserveAll, SaveDecisionPolicy,
    SpecificStepsPolicy,
};
use ramie_checkpoint::manager::{
    CheckpointManager, CheckpointManagerOptions, Metrics, StepNames, StepOptions,
};
use ramie_core::random;
use ramie_testing::golden::path;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

fn golden() -> Value {
    ramie_testing::golden::json("orbax_manager.json")
}

/// A folder in memory, where there is one: thousands of files are put on the disk here.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

fn metric(metrics: &Metrics) -> f64 {
    metrics.get("m").unwrap()
}

fn numbers(list: &Value) -> Vec<u64> {
    let list = list.as_array().unwrap();
    list.iter().map(|n| n.as_u64().unwrap()).collect()
}

fn preservation(spec: &Value) -> Arc<dyn PreservationPolicy> {
    let args = &spec[1];
    let n = |name: &str| args[name].as_u64();
    let count = |name: &str| n(name).map(|n| n as usize);
    let seconds = |name: &str| Duration::from_secs_f64(args[name].as_f64().unwrap());
    match spec[0].as_str().unwrap() {
        "PreserveAll" => Arc::new(PreserveAll),
        "LatestN" => Arc::new(LatestN(count("n"))),
        "EveryNSeconds" => Arc::new(EveryNSeconds(seconds("interval_secs"))),
        "EveryNSteps" => {
            let mut policy = EveryNSteps::new(n("interval_steps").unwrap());
            if args["exact_interval"] == false {
                policy = policy.exact_interval(false);
            }
            if let Some(n) = count("max_to_keep") {
                policy = policy.max_to_keep(n);
            }
            Arc::new(policy)
        }
        "EveryNStepsClosest" => {
            let mut policy = EveryNStepsClosest::new(n("interval_steps").unwrap());
            if let Some(n) = count("max_to_keep") {
                policy = policy.max_to_keep(n);
            }
            Arc::new(policy)
        }
        "CustomSteps" => Arc::new(CustomSteps::new(numbers(&args["steps"]))),
        "BestN" => {
            let mut policy = BestN::new(metric);
            if let Some(n) = count("n") {
                policy = policy.n(n);
            }
            if args["reverse"] == true {
                policy = policy.mode(BestMode::Min);
            }
            if args["keep_checkpoints_without_metrics"] == false {
                policy = policy.keep_checkpoints_without_metrics(false);
            }
            Arc::new(policy)
        }
        "LatestDuration" => Arc::new(LatestDuration(seconds("seconds"))),
        "AnyPreservationPolicy" => {
            let policies = args["policies"].as_array().unwrap();
            Arc::new(AnyPreservationPolicy::new(
                policies.iter().map(preservation).collect(),
            ))
        }
        other => panic!("{other} is no policy"),
    }
}

fn decision(spec: &Value) -> Arc<dyn SaveDecisionPolicy> {
    let args = &spec[1];
    match spec[0].as_str().unwrap() {
        "FixedIntervalPolicy" => {
            let interval = args["interval"].as_u64().unwrap();
            Arc::new(FixedIntervalPolicy::new(interval))
        }
        "SpecificStepsPolicy" => Arc::new(SpecificStepsPolicy::new(numbers(&args["steps"]))),
        "ContinuousCheckpointingPolicy" => Arc::new(ContinuousCheckpointingPolicy {
            minimum_interval: args["minimum_interval_secs"]
                .as_u64()
                .map(Duration::from_secs),
        }),
        "PreemptionCheckpointingPolicy" => Arc::new(PreemptionCheckpointingPolicy),
        "InitialSavePolicy" => Arc::new(InitialSavePolicy),
        "AnySavePolicy" => {
            let policies = args["policies"].as_array().unwrap();
            Arc::new(AnySavePolicy::new(policies.iter().map(decision).collect()))
        }
        other => panic!("{other} is no policy"),
    }
}

/// Policies that are behind a pointer, as the options take one of a type.
struct Kept(Arc<dyn PreservationPolicy>);
impl PreservationPolicy for Kept {
    fn should_preserve(&self, checkpoints: &[CheckpointInfo]) -> Vec<bool> {
        self.0.should_preserve(checkpoints)
    }
}
struct Decided(Arc<dyn SaveDecisionPolicy>);
impl SaveDecisionPolicy for Decided {
    fn should_save(
        &self,
        step: &CheckpointInfo,
        previous: &[CheckpointInfo],
        context: &DecisionContext,
    ) -> bool {
        self.0.should_save(step, previous, context)
    }
}

fn infos(list: &Value, now: SystemTime) -> Vec<CheckpointInfo> {
    let info = |row: &Value| {
        let seconds = row[1].as_f64().unwrap();
        let shift = Duration::from_secs_f64(seconds.abs());
        let time = if seconds < 0.0 {
            now - shift
        } else {
            now + shift
        };
        CheckpointInfo {
            step: row[0].as_u64().unwrap(),
            time,
            metrics: row[2].as_f64().map(|m| Metrics::from([("m", m)])),
        }
    };
    list.as_array().unwrap().iter().map(info).collect()
}

#[test]
fn policies_keep_what_those_of_orbax_keep() {
    let golden = golden();
    let rows = golden["kept"].as_array().unwrap();
    for row in rows {
        let checkpoints = infos(&row["checkpoints"], SystemTime::now());
        let kept = preservation(&row["policy"]).should_preserve(&checkpoints);
        let expected: Vec<bool> = serde_json::from_value(row["kept"].clone()).unwrap();
        assert_eq!(kept, expected, "{row}");
    }
    assert!(rows.len() > 200);
}

#[test]
fn policies_decide_as_those_of_orbax() {
    let golden = golden();
    let rows = golden["decided"].as_array().unwrap();
    for row in rows {
        let now = SystemTime::now();
        let step = CheckpointInfo {
            step: row["step"].as_u64().unwrap(),
            time: now,
            metrics: None,
        };
        let context = DecisionContext::new(row["saving"] == true, row["preempted"] == true);
        let previous = infos(&row["previous"], now);
        let save = decision(&row["policy"]).should_save(&step, &previous, &context);
        assert_eq!(save, row["save"].as_bool().unwrap(), "{row}");
    }
    assert!(rows.len() > 400);
}

fn options(spec: &Value) -> CheckpointManagerOptions {
    let mut options = CheckpointManagerOptions::new();
    for (name, value) in spec.as_object().unwrap() {
        let n = value.as_u64();
        options = match name.as_str() {
            "save_interval_steps" => options.save_interval_steps(n.unwrap()),
            "max_to_keep" => options.max_to_keep(n.unwrap() as usize),
            "keep_period" => options.keep_period(n.unwrap()),
            "keep_time_interval" => options.keep_time_interval(Duration::from_secs(n.unwrap())),
            "best" => options.best_fn(metric),
            "best_mode" if value == "min" => options.best_mode(BestMode::Min),
            "best_mode" => options,
            "save_on_steps" => options.save_on_steps(numbers(value)),
            "doubles" => {
                options.should_save_fn(|step, last| last.is_none_or(|last: u64| step >= 2 * last))
            }
            "keep_checkpoints_without_metrics" => {
                options.keep_checkpoints_without_metrics(value == true)
            }
            "prevent_write_metrics" => options.prevent_write_metrics(value == true),
            "read_only" => options.read_only(value == true),
            "todelete_subdir" => options.todelete_subdir(value.as_str().unwrap()),
            "step_prefix" => options.step_prefix(value.as_str().unwrap()),
            "step_format_fixed_length" => options.step_format_fixed_length(n.unwrap() as usize),
            "preservation_policy" => options.preservation_policy(Kept(preservation(value))),
            "save_decision_policy" => options.save_decision_policy(Decided(decision(value))),
            other => panic!("{other} is no option"),
        };
    }
    options
}

/// Runs the script, in the background or not; the answers must be the same.
fn run(script: &Value, row: &Value, asynchronous: bool) {
    let folder = folder();
    let root = folder.path().join("run");
    let open = || {
        let checkpointer = CheckpointerOptions::new().asynchronous(asynchronous);
        let options = options(&row["options"]).checkpointer(checkpointer);
        CheckpointManager::new(&root, options.clone()).unwrap()
    };
    let mut manager = open();
    let rows = row["rows"].as_array().unwrap();
    for (operation, expected) in script.as_array().unwrap().iter().zip(rows) {
        let step = operation[1].as_u64();
        let result = match operation[0].as_str().unwrap() {
            "save" => {
                let mut options = StepOptions::new().force(operation[3] == true);
                if let Some(m) = operation[2].as_f64() {
                    options = options.metrics([("m", m)]);
                }
                let saved = manager.save_with(step.unwrap(), &JsonSave::new(&step), options);
                saved.map(Some)
            }
            "delete" => manager.delete(step.unwrap()).map(|()| None),
            _ => {
                manager.close().unwrap();
                manager = open();
                Ok(None)
            }
        };
        let case = format!("{} {operation}: {expected}", row["options"]);
        match &expected[0] {
            Value::String(_) => {
                let text = result.expect_err(&case).to_string();
                assert!(
                    ["already", "does not exist", "no step"]
                        .iter()
                        .any(|t| text.contains(t)),
                    "{text}"
                );
            }
            other => assert_eq!(result.expect(&case), other.as_bool(), "{case}"),
        }
        let mut steps = numbers(&expected[1]);
        steps.sort_unstable();
        assert_eq!(manager.all_steps(), steps, "{case}");
        assert_eq!(manager.latest_step(), expected[2].as_u64(), "{case}");
        assert_eq!(manager.best_step().unwrap(), expected[3].as_u64(), "{case}");
    }
    manager.wait_until_finished().unwrap();
    for step in manager.all_steps() {
        let value = manager.restore(step, JsonRestore::<u64>::new()).unwrap();
        assert_eq!(value, step);
    }
    manager.close().unwrap();
    let names = std::fs::read_dir(&root).unwrap();
    let mut names: Vec<String> = names
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected: Vec<String> = serde_json::from_value(row["names"].clone()).unwrap();
    assert_eq!(names, expected, "{}", row["options"]);
}

#[test]
fn managers_save_and_keep_as_that_of_orbax() {
    let golden = golden();
    let rows = golden["runs"].as_array().unwrap();
    for (i, row) in rows.iter().enumerate() {
        // What is saved as often as possible depends on how long that takes.
        let policy = &row["options"]["save_decision_policy"][0];
        let asynchronous = i % 2 == 0 && policy != "ContinuousCheckpointingPolicy";
        run(&golden["script"], row, asynchronous);
    }
    assert!(rows.len() > 100);
}

#[test]
fn a_run_that_orbax_wrote_is_read() {
    let options = CheckpointManagerOptions::new()
        .step_prefix("step")
        .best_fn(|metrics| metrics.get("loss").unwrap())
        .best_mode(BestMode::Min)
        .read_only(true);
    let manager = CheckpointManager::new(path("orbax_run"), options).unwrap();
    assert_eq!(manager.all_steps(), [0, 10, 20]);
    assert_eq!(manager.latest_step(), Some(20));
    // A loss that is no number is not the best.
    assert_eq!(manager.best_step().unwrap(), Some(20));
    assert_eq!(manager.root_metadata()["language"], "en");
    assert_eq!(manager.root_metadata()["version"], 2);
    let metrics = manager.metrics(10).unwrap().unwrap();
    assert!(metrics.get("loss").unwrap().is_nan());
    let metadata = manager.metadata(20).unwrap();
    assert_eq!(metadata.custom_metadata["rate"], 2.0);
    assert_eq!(metadata.metrics["loss"], 0.25);
    let committed = metadata.committed().unwrap();
    let since = committed.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(since.as_secs(), 1_700_000_001);
    assert_eq!(
        manager.item_names(0).unwrap(),
        ["loader", "metrics", "settings"]
    );
    let items = Composite::new()
        .item("loader", JsonRestore::<(u64, String)>::new())
        .item("settings", JsonRestore::<Value>::new());
    let (loader, settings) = manager.restore(10, items).unwrap();
    assert_eq!(loader, (10, "epoch".to_owned()));
    assert_eq!(settings["width"], 18);
    let key = Composite::new().item("key", JaxRandomKeyRestore::new());
    let (key,) = manager.restore(20, key).unwrap();
    assert_eq!(random::key_data(&key).to_vec::<u32>(), [0, 3]);
    // Nothing was written with it that it could be compared with.
    manager.verify(10).unwrap();
    assert!(!manager.reader(10).unwrap().is_checked());
}

#[test]
fn a_run_of_orbax_goes_on() {
    let folder = folder();
    let root = folder.path().join("run");
    copy(&path("orbax_run"), &root);
    let names = StepNames::new().prefix("step").fixed_length(6);
    let names = names.also_read(StepNames::new().prefix("step"));
    let options = CheckpointManagerOptions::new()
        .step_name_format(names)
        .max_to_keep(2);
    let manager = CheckpointManager::new(&root, options).unwrap();
    assert!(!manager.save(15, &JsonSave::new("an old one")).unwrap());
    assert!(manager.save(25, &JsonSave::new("of Ramie")).unwrap());
    manager.wait_until_finished().unwrap();
    assert_eq!(manager.all_steps(), [20, 25]);
    assert!(root.join("step_000025").is_dir() && !root.join("step_10").exists());
    assert_eq!(
        manager
            .restore_latest(JsonRestore::<String>::new())
            .unwrap(),
        "of Ramie"
    );
    let items = Composite::new().item("settings", JsonRestore::<Value>::new());
    assert_eq!(manager.restore(20, items).unwrap().0["width"], 28);
}
