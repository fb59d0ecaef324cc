//! Values that belong into configuration files: they survive TOML and JSON, and errors name what is known.

use ramie::checkpoint::commit::{Atomicity, CheckpointerOptions};
use ramie::checkpoint::manager::CheckpointManagerOptions;
use ramie::checkpoint::manager::policies::BestMode;
use ramie::lax::{Padding, Precision};
use ramie::nn::init::{self, Distribution, FanMode, Initializer};
use ramie::optim::schedules::{
    ExponentialDecay, Interpolation, ScheduleConfig, WarmupCosineDecay,
    warmup_cosine_decay_schedule,
};
use ramie::optim::{Schedule, adamw};
use ramie::sharding::SpecEntry;
use ramie::train::History;
use ramie::{Array, DType, P, PartitionSpec};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::time::Duration;

/// A document with a value, because a TOML file is a table.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Document<T> {
    value: T,
}

/// Writes the value as JSON and TOML, compares the JSON, and returns what both files contain.
fn written<T: Serialize + DeserializeOwned>(value: T, json: &str) -> [T; 2] {
    let document = Document { value };
    assert_eq!(serde_json::to_string(&document.value).unwrap(), json);
    let toml = toml::to_string(&document).unwrap();
    let toml: Document<T> = toml::from_str(&toml).unwrap_or_else(|e| panic!("{toml}: {e}"));
    [serde_json::from_str(json).unwrap(), toml.value]
}

#[track_caller]
fn same<T: Serialize + DeserializeOwned + PartialEq + Debug + Clone>(value: T, json: &str) {
    for read in written(value.clone(), json) {
        assert_eq!(read, value);
    }
}

/// Returns the error of a JSON text.
#[track_caller]
fn error<T: DeserializeOwned>(json: &str) -> String {
    match serde_json::from_str::<T>(json) {
        Err(e) => e.to_string(),
        Ok(_) => panic!("{json} was read"),
    }
}

/// Checks that an error contains all words.
#[track_caller]
fn names<T: DeserializeOwned>(json: &str, words: &[&str]) {
    let error = error::<T>(json);
    for word in words {
        assert!(error.contains(word), "{json}: {error}");
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    dtype: DType,
    schedule: WarmupCosineDecay,
}

/// The configuration of a user.
#[test]
fn a_config_is_read_and_written() {
    let text = "
        dtype = 'bf16'
        [schedule]
        init_value = 0.0
        peak_value = 1e-3
        warmup_steps = 10
        decay_steps = 100
    ";
    let config: Config = toml::from_str(text).unwrap();
    let expected = WarmupCosineDecay {
        peak_value: 1e-3,
        warmup_steps: 10,
        decay_steps: 100,
        ..WarmupCosineDecay::default()
    };
    assert_eq!((config.dtype, config.schedule), (DType::BF16, expected));
    let again: Config = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
    assert_eq!(again, config);
    let json = serde_json::to_string(&config).unwrap();
    assert!(
        json.starts_with(r#"{"dtype":"bfloat16","schedule":{"#),
        "{json}"
    );
    assert_eq!(serde_json::from_str::<Config>(&json).unwrap(), config);

    let schedule = Schedule::from(config.schedule);
    let _ = adamw(config.schedule);
    let direct = warmup_cosine_decay_schedule(expected);
    for step in [0, 5, 10, 60, 100] {
        let at = |schedule: &Schedule| schedule.at(&Array::from(step)).item::<f32>();
        assert_eq!(at(&schedule), at(&direct), "{step}");
    }
    let unknown = toml::from_str::<Config>("dtype = 'float32'\nschedule = { peak = 1.0 }");
    let unknown = unknown.unwrap_err().to_string();
    assert!(
        unknown.contains("unknown field `peak`, expected one of `init_value`"),
        "{unknown}"
    );
    let missing =
        error::<WarmupCosineDecay>(r#"{"init_value": 0, "peak_value": 1, "warmup_steps": 1}"#);
    assert!(missing.contains("missing field `decay_steps`"), "{missing}");
}

#[test]
fn dtypes_have_two_names() {
    for dtype in DType::ALL {
        same(dtype, &format!("\"{}\"", dtype.numpy_name()));
        assert_eq!(dtype.name().parse(), Ok(dtype));
        assert_eq!(dtype.to_string().parse(), Ok(dtype));
        assert_eq!(dtype.numpy_name().parse(), Ok(dtype));
    }
    assert_eq!(
        serde_json::from_str::<DType>("\"f32\"").unwrap(),
        DType::F32
    );
    names::<DType>(
        "\"float31\"",
        &[
            "unknown dtype `float31`",
            "bfloat16, float16, float32",
            "f32",
        ],
    );
    assert!(error::<DType>("32").contains("invalid type"));
}

#[test]
fn precisions_and_paddings() {
    same(Precision::DEFAULT, "\"default\"");
    same(Precision::HIGH, "\"high\"");
    let each = Precision::per_operand(Precision::DEFAULT, Precision::HIGHEST);
    same(each, r#"["default","highest"]"#);
    for name in ["float32", "highest"] {
        let read: Precision = serde_json::from_str(&format!("\"{name}\"")).unwrap();
        assert_eq!(
            (read, name.parse()),
            (Precision::HIGHEST, Ok(Precision::HIGHEST))
        );
    }
    names::<Precision>("\"best\"", &["default, high or highest"]);
    names::<Precision>(r#"["high"]"#, &["default, high or highest"]);
    let unknown = "best".parse::<Precision>().unwrap_err();
    assert!(
        unknown.contains("`best`, expected default, high or highest"),
        "{unknown}"
    );

    same(Padding::SameLower, "\"SAME_LOWER\"");
    same(Padding::from([(1, 2), (0, -1)]), "[[1,2],[0,-1]]");
    names::<Padding>("\"SAMEISH\"", &["VALID, SAME or SAME_LOWER"]);
}

#[test]
fn partition_specs() {
    same(P![], "[]");
    same(P!["x", None, ("y", "z")], r#"["x",[],["y","z"]]"#);
    same(
        P![SpecEntry::Unconstrained, "x"],
        r#"["UNCONSTRAINED","x"]"#,
    );
    // An axis of that name is written in a list.
    same(P![["UNCONSTRAINED"]], r#"[["UNCONSTRAINED"]]"#);
    let json = r#"{"entries":["x"],"unreduced":["y"],"reduced":[]}"#;
    same(P!["x"].with_unreduced("y"), json);
    let read: PartitionSpec = serde_json::from_str(r#"["x", null]"#).unwrap();
    assert_eq!(read, P!["x", None]);
    names::<PartitionSpec>("\"x\"", &["list of entries", "`unreduced`"]);
    names::<PartitionSpec>(r#"{"entry": ["x"]}"#, &["`entries`", "`reduced`"]);
    names::<PartitionSpec>("[1]", &["name of a mesh axis"]);
}

#[test]
fn initializers() {
    same(init::zeros(), "\"zeros\"");
    same(init::ones(), "\"ones\"");
    same(init::constant(0.5), r#"{"constant":0.5}"#);
    same(init::constant(3), r#"{"constant":3}"#);
    same(init::constant(true), r#"{"constant":true}"#);
    same(init::uniform(0.1), r#"{"uniform":{"scale":0.1}}"#);
    same(init::normal(0.02), r#"{"normal":{"stddev":0.02}}"#);
    same(
        init::truncated_normal(0.02, -1.0, 3.0),
        r#"{"truncated_normal":{"stddev":0.02,"lower":-1.0,"upper":3.0}}"#,
    );
    for (initializer, name) in [
        (init::lecun_normal(), "lecun_normal"),
        (init::lecun_uniform(), "lecun_uniform"),
        (init::glorot_normal(), "glorot_normal"),
        (init::glorot_uniform(), "glorot_uniform"),
        (init::he_normal(), "he_normal"),
        (init::he_uniform(), "he_uniform"),
    ] {
        same(initializer, &format!("\"{name}\""));
    }
    same(
        init::variance_scaling(2.0, FanMode::FanAvg, Distribution::Normal).in_axes(&[0, 1]),
        r#"{"variance_scaling":{"scale":2.0,"mode":"fan_avg","distribution":"normal","in_axes":[0,1],"out_axes":[-1],"batch_axes":[]}}"#,
    );
    same(
        init::orthogonal(1.0, -1),
        r#"{"orthogonal":{"scale":1.0,"column_axis":-1}}"#,
    );
    same(
        init::delta_orthogonal(2.0, 0),
        r#"{"delta_orthogonal":{"scale":2.0,"column_axis":0}}"#,
    );
    // JAX's defaults.
    let read = |json| serde_json::from_str::<Initializer>(json).unwrap();
    assert_eq!(read(r#"{"normal": {}}"#), init::normal(0.01));
    assert_eq!(
        read(r#"{"truncated_normal": {}}"#),
        init::truncated_normal(0.01, -2.0, 2.0)
    );
    assert_eq!(read(r#"{"orthogonal": {}}"#), init::orthogonal(1.0, -1));
    names::<Initializer>(
        "\"xavier\"",
        &[
            "unknown variant `xavier`",
            "`glorot_normal`",
            "`he_uniform`",
        ],
    );
    names::<Initializer>(
        r#"{"normal": {"std": 1}}"#,
        &["unknown field `std`", "`stddev`"],
    );
    names::<Initializer>(
        r#"{"truncated_normal": {"lower": 3}}"#,
        &["lower is 3, expected less than upper, 2"],
    );

    let function = Initializer::new(|_, shape, dtype| Array::zeros(shape, dtype));
    for (initializer, reason) in [
        (function, "made from a function"),
        (init::ones().with_partitioning(P!["x"]), "with metadata"),
        (
            init::constant(num_complex::Complex::new(0.0f32, 1.0)),
            "complex constant",
        ),
    ] {
        let error = serde_json::to_string(&initializer).unwrap_err().to_string();
        assert!(
            error.contains(reason) && error.contains("\n  help: "),
            "{error}"
        );
    }
}

/// Each schedule by its name has the values of its function.
#[test]
fn schedules() {
    use ramie::optim::schedules as s;
    same(ScheduleConfig::Constant(0.1), "0.1");
    assert_eq!(
        serde_json::from_str::<ScheduleConfig>("1").unwrap(),
        ScheduleConfig::Constant(1.0)
    );
    let exponential = ExponentialDecay {
        init_value: 1.0,
        transition_steps: 2,
        decay_rate: 0.5,
        transition_begin: 0,
        staircase: false,
        end_value: None,
    };
    let cycle = WarmupCosineDecay {
        warmup_steps: 2,
        decay_steps: 5,
        ..WarmupCosineDecay::default()
    };
    let exponential_json = r#"{"init_value": 1, "transition_steps": 2, "decay_rate": 0.5}"#;
    let cycle_json = r#"{"init_value": 0, "peak_value": 1, "warmup_steps": 2, "decay_steps": 5}"#;
    let cases = [
        ("0.5".to_owned(), s::constant_schedule(0.5)),
        (r#"{"linear": {"init_value": 1, "end_value": 0, "transition_steps": 4}}"#.into(), s::linear_schedule(1.0, 0.0, 4)),
        (
            r#"{"polynomial": {"init_value": 1, "end_value": 0, "power": 2, "transition_steps": 4, "transition_begin": 1}}"#.into(),
            s::polynomial_schedule(1.0, 0.0, 2.0, 4, 1),
        ),
        (r#"{"cosine_decay": {"init_value": 1, "decay_steps": 6}}"#.into(), s::cosine_decay_schedule(1.0, 6, 0.0, 1.0)),
        (format!(r#"{{"exponential_decay": {exponential_json}}}"#), s::exponential_decay(exponential)),
        (r#"{"inverse_sqrt": {"peak_value": 1, "warmup_steps": 3}}"#.into(), s::inverse_sqrt_schedule(1.0, 3)),
        (
            r#"{"warmup_constant": {"init_value": 0, "peak_value": 1, "warmup_steps": 3}}"#.into(),
            s::warmup_constant_schedule(0.0, 1.0, 3),
        ),
        (format!(r#"{{"warmup_cosine_decay": {cycle_json}}}"#), s::warmup_cosine_decay_schedule(cycle)),
        (
            format!(r#"{{"warmup_exponential_decay": {{"init_value": 0, "warmup_steps": 2, "decay": {exponential_json}}}}}"#),
            s::warmup_exponential_decay_schedule(0.0, 2, exponential),
        ),
        (
            r#"{"piecewise_constant": {"init_value": 1, "boundaries_and_scales": [[2, 0.5], [4, 0.1]]}}"#.into(),
            s::piecewise_constant_schedule(1.0, &[(2, 0.5), (4, 0.1)]),
        ),
        (
            r#"{"piecewise_interpolate": {"interpolation": "cosine", "init_value": 1, "boundaries_and_scales": [[4, 0.1]]}}"#.into(),
            s::piecewise_interpolate_schedule(Interpolation::Cosine, 1.0, &[(4, 0.1)]),
        ),
        (
            r#"{"linear_onecycle": {"transition_steps": 6, "peak_value": 1, "cycle": {"pct_start": 0.4}}}"#.into(),
            s::linear_onecycle_schedule(6, 1.0, s::LinearOnecycle { pct_start: 0.4, ..s::LinearOnecycle::default() }),
        ),
        (
            r#"{"cosine_onecycle": {"transition_steps": 6, "peak_value": 1}}"#.into(),
            s::cosine_onecycle_schedule(6, 1.0, s::CosineOnecycle::default()),
        ),
        (format!(r#"{{"sgdr": [{cycle_json}, {cycle_json}]}}"#), s::sgdr_schedule(&[cycle, cycle])),
        (
            r#"{"join": {"schedules": [0.5, {"linear": {"init_value": 1, "end_value": 0, "transition_steps": 4}}], "boundaries": [3]}}"#.into(),
            s::join_schedules(vec![s::constant_schedule(0.5), s::linear_schedule(1.0, 0.0, 4)], &[3]),
        ),
    ];
    for (json, expected) in cases {
        let config: ScheduleConfig =
            serde_json::from_str(&json).unwrap_or_else(|e| panic!("{json}: {e}"));
        let document = Document {
            value: config.clone(),
        };
        let again: Document<ScheduleConfig> =
            toml::from_str(&toml::to_string(&document).unwrap()).unwrap();
        assert_eq!(again, document, "{json}");
        let again: ScheduleConfig =
            serde_json::from_str(&serde_json::to_string(&config).unwrap()).unwrap();
        assert_eq!(again, config);
        let schedule = Schedule::from(config);
        for step in 0..8 {
            let at = |schedule: &Schedule| schedule.at(&Array::from(step)).item::<f32>();
            assert_eq!(at(&schedule), at(&expected), "{json} at {step}");
        }
    }
    names::<ScheduleConfig>(
        r#"{"cosine": {}}"#,
        &["unknown variant `cosine`", "`cosine_decay`", "`join`"],
    );
    names::<ScheduleConfig>(
        r#"{"inverse_sqrt": {"peak": 1}}"#,
        &["unknown field `peak`", "`peak_value`"],
    );
    names::<ScheduleConfig>("\"constant\"", &["a number, or the name of a schedule"]);
}

#[test]
fn checkpoint_options() {
    let reads = |options: CheckpointManagerOptions, json: &str| {
        let expected = format!("{options:?}");
        for read in written(options, json) {
            assert_eq!(format!("{read:?}"), expected);
        }
    };
    reads(CheckpointManagerOptions::new(), "{}");
    reads(
        CheckpointManagerOptions::new()
            .save_interval_steps(100)
            .save_on_steps([5, 1])
            .max_to_keep(3)
            .keep_period(1000)
            .keep_time_interval(Duration::from_secs(60))
            .best_mode(BestMode::Min)
            .step_prefix("ckpt")
            .step_format_fixed_length(8)
            .create(false)
            .todelete_subdir("old")
            .checkpointer(
                CheckpointerOptions::new()
                    .asynchronous(false)
                    .threads(33)
                    .timeout(Duration::from_millis(1500))
                    .atomicity(Atomicity::CommitFile),
            ),
        r#"{"save_interval_steps":100,"save_on_steps":[1,5],"max_to_keep":3,"keep_period":1000,"keep_time_interval":60,"best_mode":"min","step_prefix":"ckpt","step_format_fixed_length":8,"create":false,"todelete_subdir":"old","checkpointer":{"asynchronous":false,"threads":33,"timeout":1.5,"atomicity":"commit_file"}}"#,
    );
    type Options = CheckpointManagerOptions;
    names::<Options>(r#"{"keep": 3}"#, &["unknown field `keep`", "`max_to_keep`"]);
    names::<Options>(
        r#"{"max_to_keep": 0}"#,
        &["max_to_keep is 0, expected at least 1"],
    );
    names::<Options>(
        r#"{"step_prefix": "a/b"}"#,
        &["`a/b` contains a path separator"],
    );
    names::<Options>(
        r#"{"step_format_fixed_length": 21}"#,
        &["is 21, expected 1 to 20"],
    );
    names::<Options>(
        r#"{"todelete_subdir": "a", "todelete_full_path": "b"}"#,
        &["are both set"],
    );
    names::<Options>(
        r#"{"best_mode": "least"}"#,
        &["unknown variant `least`", "`max` or `min`"],
    );
    names::<Options>(r#"{"checkpointer": {"threads": 0}}"#, &["threads is 0"]);
    names::<Options>(
        r#"{"checkpointer": {"thread": 1}}"#,
        &["unknown field `thread`", "`threads`"],
    );
    let best = Options::new().best_fn(|metrics| metrics.get("loss").unwrap_or(f64::NAN));
    let error = serde_json::to_string(&best).unwrap_err().to_string();
    assert!(error.contains("`best_fn` is not data\n  help: "), "{error}");
    let callback = CheckpointerOptions::new().post_finalization_callback(|| ());
    let error = serde_json::to_string(&Options::new().checkpointer(callback)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`post_finalization_callback` is not data"),
        "{error}"
    );
}

#[test]
fn histories() {
    let mut history = History::default();
    history.record(1, "loss", 0.5);
    history.record(2, "loss", f64::INFINITY);
    history.record(2, "val_loss", 0.1);
    same(
        history,
        r#"{"loss":[[1,0.5],[2,"Infinity"]],"val_loss":[[2,0.1]]}"#,
    );
    names::<History>(r#"{"loss": [[1, "low"]]}"#, &["\"low\" is not a number"]);
}

/// The crates of host arrays are those whose types functions of Ramie take.
#[test]
fn crates_of_elements_are_exported() {
    let x = ramie::ndarray::array![[1.0f32, 2.0]];
    assert_eq!(Array::from(x).shape(), [1, 2]);
    assert_eq!(Array::from(ramie::half::f16::ONE).dtype(), DType::F16);
    let i = ramie::num_complex::Complex::new(0.0f32, 1.0);
    assert_eq!(Array::from([i]).dtype(), DType::C64);
}
