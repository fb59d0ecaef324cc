//! Metrics that are written are read back, by a reader of their own.

use ramie_core::Array;
use ramie_nn::metrics::{Average, Metric, MetricArgs, MultiMetric};
use ramie_train::writers::{
    CsvWriter, JsonLinesWriter, MetricWriter, MultiWriter, TensorBoardWriter,
};
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ramie-writers-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// A checksum bit by bit, as the standard defines it.
fn masked_crc(data: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in data {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0x82f6_3b78
            } else {
                crc >> 1
            };
        }
    }
    let crc = !crc;
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// The data of all records of a file, their checksums looked at.
fn records(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = bytes;
    let mut records = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_at(8);
        let n = u64::from_le_bytes(length.try_into().expect("eight bytes")) as usize;
        let sum = |b: &[u8]| u32::from_le_bytes(b[..4].try_into().expect("four bytes"));
        assert_eq!(sum(after), masked_crc(length));
        let data = &after[4..4 + n];
        assert_eq!(sum(&after[4 + n..]), masked_crc(data));
        records.push(data.to_vec());
        rest = &after[8 + n..];
    }
    records
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Int(u64),
    Double(f64),
    Float(f32),
    Bytes(Vec<u8>),
}

/// The fields of a message.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Value)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (byte, rest) = bytes.split_first().expect("a byte");
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return value;
            }
        }
    }
    fn take<'a>(bytes: &mut &'a [u8], n: usize) -> &'a [u8] {
        let (taken, rest) = bytes.split_at(n);
        *bytes = rest;
        taken
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => Value::Int(varint(&mut bytes)),
            1 => Value::Double(f64::from_le_bytes(
                take(&mut bytes, 8).try_into().expect("eight"),
            )),
            2 => {
                let n = varint(&mut bytes) as usize;
                Value::Bytes(take(&mut bytes, n).to_vec())
            }
            5 => Value::Float(f32::from_le_bytes(
                take(&mut bytes, 4).try_into().expect("four"),
            )),
            other => panic!("wire type {other}"),
        };
        found.push((key >> 3, value));
    }
    found
}

/// The message in a field.
fn message(of: &[(u64, Value)], field: u64) -> Vec<(u64, Value)> {
    match of.iter().find(|(f, _)| *f == field) {
        Some((_, Value::Bytes(bytes))) => fields(bytes),
        other => panic!("field {field}: {other:?}"),
    }
}

fn get(of: &[(u64, Value)], field: u64) -> &Value {
    &of.iter().find(|(f, _)| *f == field).expect("the field").1
}

fn text(value: &str) -> Value {
    Value::Bytes(value.as_bytes().to_vec())
}

#[test]
fn event_files_have_tensorboards_format() {
    let folder = folder("events");
    let mut writer = TensorBoardWriter::create(&folder)
        .expect("a folder")
        .buckets(4);
    writer.scalar(300, "train/loss", 0.25).expect("written");
    writer
        .histogram(
            301,
            "weights",
            &Array::from([0.0f32, 1.0, 3.5, 4.0, f32::NAN]),
        )
        .expect("written");
    writer.text(0, "note", "lr 0.1").expect("written");
    writer.flush().expect("written");
    let name = writer
        .path()
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    assert!(name.starts_with("events.out.tfevents."), "{name}");
    let events: Vec<_> = records(&std::fs::read(writer.path()).expect("a file"))
        .iter()
        .map(|r| fields(r))
        .collect();
    assert_eq!(events.len(), 4);
    assert_eq!(*get(&events[0], 3), text("brain.Event:2"));
    for event in &events {
        let Value::Double(time) = get(event, 1) else {
            panic!("a time");
        };
        assert!(*time > 1.7e9);
    }
    let value = |i: usize| message(&message(&events[i], 5), 1);
    assert_eq!(*get(&events[1], 2), Value::Int(300));
    assert_eq!(*get(&value(1), 1), text("train/loss"));
    assert_eq!(*get(&value(1), 2), Value::Float(0.25));

    let histogram = message(&value(2), 5);
    let doubles = |field| match get(&histogram, field) {
        Value::Double(v) => vec![*v],
        Value::Bytes(b) => b
            .chunks(8)
            .map(|c| f64::from_le_bytes(c.try_into().expect("eight")))
            .collect(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [doubles(1), doubles(2), doubles(3)].concat(),
        [0.0, 4.0, 4.0]
    );
    assert_eq!([doubles(4), doubles(5)].concat(), [8.5, 29.25]);
    assert_eq!(doubles(6), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(doubles(7), [1.0, 1.0, 0.0, 2.0]);

    let note = value(3);
    let tensor = message(&note, 8);
    assert_eq!(
        (get(&tensor, 1), get(&tensor, 8)),
        (&Value::Int(7), &text("lr 0.1"))
    );
    assert_eq!(*get(&message(&message(&tensor, 2), 2), 1), Value::Int(1));
    assert_eq!(*get(&message(&message(&note, 9), 1), 1), text("text"));
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn lines_and_rows_have_a_step_each() {
    let folder = folder("rows");
    let mut metrics = MultiMetric::new()
        .with("loss", Average::of("loss"))
        .with("score", Average::of("score"));
    let (json, csv) = (folder.join("a/log.jsonl"), folder.join("a/log.csv"));
    let mut writer = MultiWriter::new()
        .with(JsonLinesWriter::create(&json).expect("a file"))
        .with(
            CsvWriter::create(&csv, &["loss", "score", "learning rate, \"final\""])
                .expect("a file"),
        );
    for step in 0..2 {
        let args = MetricArgs::new().with("loss", &Array::from(1.5f32 + step as f32));
        metrics.update(&args.with("score", &Array::from(f32::NAN)));
        writer.state(step, &metrics.compute()).expect("written");
        metrics.reset();
    }
    writer
        .text(1, "note", "a \"word\"\n\u{1}")
        .expect("written");
    writer.flush().expect("written");
    drop(writer);
    let text = std::fs::read_to_string(&json).expect("a file");
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).expect("valid JSON"))
        .collect();
    let find = |name: &str, step: u64| {
        lines
            .iter()
            .find(|l| l["step"] == step && l.get(name).is_some())
            .unwrap_or_else(|| panic!("no {name} in {text}"))[name]
            .clone()
    };
    assert_eq!(find("loss", 0), 1.5);
    assert_eq!(find("loss", 1), 2.5);
    assert_eq!(find("score", 0), "NaN");
    assert_eq!(find("note", 1), "a \"word\"\n\u{1}");
    assert_eq!(
        std::fs::read_to_string(&csv).expect("a file"),
        "step,loss,score,\"learning rate, \"\"final\"\"\"\n0,1.5,NaN,\n1,2.5,NaN,\n"
    );
    // Continued, not begun again.
    let mut more = JsonLinesWriter::append(&json).expect("a file");
    more.scalar(9, "loss", 0.0).expect("written");
    drop(more);
    let lines = std::fs::read_to_string(&json)
        .expect("a file")
        .lines()
        .count();
    assert_eq!(lines, 4);
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn errors_name_the_file() {
    let folder = folder("errors");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("file");
    std::fs::write(&file, "").expect("a file");
    // A file where a folder must be.
    for error in [
        TensorBoardWriter::create(&file).err(),
        JsonLinesWriter::create(file.join("log.jsonl")).err(),
        CsvWriter::create(file.join("log.csv"), &["loss"]).err(),
    ] {
        let error = error.expect("it fails");
        assert!(error.path().starts_with(&file));
        assert!(
            error.to_string().contains(&file.display().to_string()),
            "{error}"
        );
        assert!(std::error::Error::source(&error).is_some());
    }
    let path = folder.join("log.csv");
    let mut writer = CsvWriter::create(&path, &["loss"]).expect("a file");
    let error = writer
        .scalar(0, "accuracy", 1.0)
        .expect_err("no such column");
    for part in ["log.csv", "`accuracy`", "existing columns: loss", "help:"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn metrics_of_an_earlier_run_are_not_replaced() {
    let folder = folder("earlier");
    let [lines, table] = ["log.jsonl", "log.csv"].map(|name| folder.join(name));
    for path in [&lines, &table] {
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(path, "").expect("an empty file");
    }
    let create = |value: f64| {
        let mut writers = MultiWriter::new()
            .with(JsonLinesWriter::create(&lines)?)
            .with(CsvWriter::create(&table, &["loss"])?);
        writers.scalar(1, "loss", value)?;
        writers.flush()
    };
    create(0.5).expect("empty files");
    let read = || [&lines, &table].map(|path| std::fs::read_to_string(path).expect("a file"));
    let before = read();
    let errors = [
        JsonLinesWriter::create(&lines).err(),
        CsvWriter::create(&table, &["loss"]).err(),
    ];
    let errors = errors.map(|error| error.expect("metrics").to_string());
    let help = "the file contains the metrics of an earlier run\n  help: ";
    assert_eq!(
        errors,
        [
            format!(
                "{}: {help}continue it with `JsonLinesWriter::append`, rename it, or use another path",
                lines.display()
            ),
            format!("{}: {help}rename it, or use another path", table.display()),
        ]
    );
    assert_eq!(read(), before);
    let mut more = JsonLinesWriter::append(&lines).expect("a file");
    more.scalar(2, "loss", 0.25).expect("written");
    drop(more);
    assert_eq!(read()[0].lines().count(), 2);
    std::fs::remove_dir_all(folder).expect("removed");
}
