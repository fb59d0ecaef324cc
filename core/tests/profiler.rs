//! Traces: their events, and the two files.
use ramie_core::*;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard};

/// A process takes one trace at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|e| e.into_inner())
}

fn events(files: &profiler::TraceFiles) -> Vec<Value> {
    let text = std::fs::read_to_string(&files.json).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    json["traceEvents"].as_array().unwrap().clone()
}

#[test]
fn traces_of_one_second_are_separate() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<_> = (0..3)
        .map(|_| profiler::trace(folder.path(), || ()).unwrap().1)
        .collect();
    let mut paths: Vec<_> = all.iter().map(|files| &files.json).collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), 3, "{all:?}");
}

#[test]
fn a_trace_shows_stages_and_annotations() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let step = jit(|x: Array, y: Array| x.matmul(&y).sin().sum());
    let x = Array::ones(&[64, 64], DType::F32);
    let (last, files) = profiler::trace(folder.path(), || {
        for i in 0..2 {
            let _step = profiler::StepTraceAnnotation::new("train \"step\"", i);
            step(x.clone(), x.clone()).block_until_ready();
        }
        let worker = std::thread::Builder::new().name("loader".into());
        let worker = worker
            .spawn(|| profiler::annotate_function("read", || ()))
            .unwrap();
        worker.join().unwrap();
        7
    })
    .unwrap();
    assert_eq!(last, 7);
    let events = events(&files);
    let named = |name: &str| -> Vec<&Value> {
        events
            .iter()
            .filter(|e| e["name"] == name && e["ph"] == "X")
            .collect()
    };
    let has = |begin: &str| {
        let names = events.iter().filter_map(|e| e["name"].as_str());
        names.filter(|n| n.starts_with(begin)).count()
    };
    assert_eq!((has("trace <lambda>"), has("lower <lambda>")), (1, 1));
    assert_eq!(has("compile <lambda>") + has("load <lambda>"), 1);
    assert!(has("execute ") >= 2);
    let steps = named("train \"step\"");
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[1]["args"]["step_num"], "1");
    let number = |e: &Value, key: &str| e[key].as_f64().unwrap();
    let inside = events.iter().filter(|e| {
        e["name"]
            .as_str()
            .is_some_and(|n| n.starts_with("execute "))
            && number(e, "ts") >= number(steps[1], "ts")
            && number(e, "ts") + number(e, "dur")
                <= number(steps[1], "ts") + number(steps[1], "dur")
    });
    assert_eq!(inside.count(), 1, "{events:?}");
    assert_ne!(named("read")[0]["tid"], steps[0]["tid"]);
    let threads = events.iter().filter(|e| e["ph"] == "M");
    assert!(threads.map(|e| &e["args"]["name"]).any(|n| n == "loader"));

    let place = files.xplane.strip_prefix(folder.path()).unwrap();
    let parts: Vec<_> = place.iter().map(|p| p.to_str().unwrap()).collect();
    assert_eq!((parts[0], parts[1], parts.len()), ("plugins", "profile", 4));
    assert!(parts[3].ends_with(".xplane.pb"));
    let space = std::fs::read(&files.xplane).unwrap();
    for text in [
        "/host:CPU",
        "train \"step\"",
        "step_num",
        "loader",
        "trace <lambda>",
    ] {
        let found = space.windows(text.len()).any(|w| w == text.as_bytes());
        assert!(found, "{text}");
    }
}

#[test]
fn one_trace_at_a_time() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    assert!(profiler::stop_trace().is_err(), "none is being taken");
    profiler::start_trace(folder.path()).unwrap();
    assert!(profiler::start_trace(folder.path()).is_err());
    let _ = Array::from([1.0f32]) + 1.0;
    let files = profiler::stop_trace().unwrap();
    assert!(files.xplane.exists() && files.json.exists());
    let panics = std::panic::catch_unwind(|| profiler::trace(folder.path(), || panic!("oops")));
    assert!(panics.is_err());
    assert!(
        profiler::stop_trace().is_err(),
        "a panic ends the trace too"
    );
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = profiler::trace(&file, || ()).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
}
