//! Metrics of a step.

use crate::commit::ItemReader;
use crate::file::read_if_there;
use crate::{Error, Result};
use ramie_core::files::Message;
use serde_json::{Map, Value};
use std::fmt::Write;
use std::io;
use std::path::Path;

/// Orbax's name of the metrics item and of the file in it.
pub(crate) const METRICS: &str = "metrics";

/// Metrics of a step: numbers by name, possibly in nested groups.
///
/// The file of a checkpoint stores them as the JSON that Python writes: a NaN is written as `NaN`
/// and read back.
///
/// ```
/// use ramie_checkpoint::manager::Metrics;
/// let metrics = Metrics::from([("loss", 0.25), ("accuracy", 0.9)]);
/// assert_eq!(metrics.get("loss"), Some(0.25));
/// assert_eq!(metrics.to_json(), r#"{"loss": 0.25, "accuracy": 0.9}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics(Map<String, Value>);

/// First character of a `Value` string that represents a number that JSON cannot express. Ordinary
/// strings never begin with it.
const SPECIAL: char = '\0';

impl Metrics {
    /// Creates an empty set of metrics.
    pub fn new() -> Metrics {
        Metrics::default()
    }

    /// Sets a metric.
    pub fn set(&mut self, name: impl Into<String>, value: f64) {
        self.0.insert(name.into(), number(value));
    }

    /// Returns a metric, or `None` if there is none of this name. Metrics in groups are named by
    /// their path, with dots between parts.
    pub fn get(&self, name: &str) -> Option<f64> {
        find(&self.0, name)
    }

    /// Returns the names of the metrics, in insertion order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Converts the metrics into a map. A number that JSON cannot express becomes a string such as
    /// `"NaN"`.
    pub fn into_map(self) -> Map<String, Value> {
        let plain = |value| match value {
            Value::String(text) => Value::String(text.trim_start_matches(SPECIAL).to_owned()),
            Value::Object(group) => Value::Object(Metrics(group).into_map()),
            other => other,
        };
        self.0
            .into_iter()
            .map(|(name, value)| (name, plain(value)))
            .collect()
    }

    /// Reads the metrics of the step in this directory; `None` if it has none.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or does not contain metrics.
    pub fn of(folder: impl AsRef<Path>) -> Result<Option<Metrics>> {
        let file = folder.as_ref().join(METRICS).join(METRICS);
        let bytes = read_if_there(&file)?;
        bytes.map(|bytes| Metrics::parse(&file, &bytes)).transpose()
    }

    /// Reads the metrics of an item, or returns `None` if it is of another kind.
    pub(crate) fn of_item(item: &ItemReader) -> Result<Option<Metrics>> {
        if !item.contains(METRICS) {
            return Ok(None);
        }
        Metrics::parse(&item.path(METRICS)?, &item.read(METRICS)?).map(Some)
    }

    /// Parses the bytes of a metrics file.
    fn parse(file: &Path, bytes: &[u8]) -> Result<Metrics> {
        let text = io::read_to_string(bytes).map_err(|e| Error::io(file, "be read", e))?;
        Metrics::from_json(&text).map_err(|e| {
            Error::format(
                file,
                Message::new(format!("does not contain metrics: {e}"))
                    .help("the file is damaged; `delete` the step, or restore a step by number"),
            )
        })
    }

    /// Parses metrics from JSON.
    ///
    /// # Errors
    /// Returns a message if the text is not a JSON object.
    pub fn from_json(text: &str) -> std::result::Result<Metrics, String> {
        match serde_json::from_str(&quoted(text)) {
            Ok(Value::Object(map)) => Ok(Metrics(map)),
            Ok(other) => Err(format!("expected a JSON object of metrics, got {other}")),
            Err(e) => Err(e.to_string()),
        }
    }

    /// Returns the JSON text of the file, as Python writes it.
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        write_value(&Value::Object(self.0.clone()), &mut text);
        text
    }
}

impl<K: Into<String>, const N: usize> From<[(K, f64); N]> for Metrics {
    fn from(metrics: [(K, f64); N]) -> Metrics {
        metrics.into_iter().collect()
    }
}

impl<K: Into<String>> FromIterator<(K, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (K, f64)>>(metrics: I) -> Metrics {
        let mut all = Metrics::new();
        for (name, value) in metrics {
            all.set(name, value);
        }
        all
    }
}

/// Converts metrics of any structure; only numbers can be read with `get`.
impl From<Map<String, Value>> for Metrics {
    fn from(metrics: Map<String, Value>) -> Metrics {
        Metrics(metrics)
    }
}

fn find(metrics: &Map<String, Value>, name: &str) -> Option<f64> {
    let found = metrics.get(name).and_then(to_number);
    found.or_else(|| {
        let (group, name) = name.split_once('.')?;
        find(metrics.get(group)?.as_object()?, name)
    })
}

fn number(value: f64) -> Value {
    let special = match value {
        v if v.is_nan() => "NaN",
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        v => return Value::from(v),
    };
    Value::from(format!("{SPECIAL}{special}"))
}

fn to_number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => match text.strip_prefix(SPECIAL)? {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        other => other.as_f64(),
    }
}

/// Returns the text with Python's non-JSON numbers as strings.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut in_string) = (text, false);
    while let Some(c) = rest.chars().next() {
        let special = ["NaN", "Infinity", "-Infinity"]
            .into_iter()
            .find(|s| !in_string && rest.starts_with(s));
        if let Some(special) = special {
            let _ = write!(out, "\"\\u0000{special}\"");
            rest = &rest[special.len()..];
            continue;
        }
        let mut taken = c.len_utf8();
        match c {
            '"' => in_string = !in_string,
            '\\' if in_string => taken += rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => {}
        }
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out
}

fn write_value(value: &Value, text: &mut String) {
    let list = |text: &mut String, ends: [char; 2], items: Vec<(Option<&String>, &Value)>| {
        text.push(ends[0]);
        for (i, (key, item)) in items.into_iter().enumerate() {
            text.push_str(if i > 0 { ", " } else { "" });
            if let Some(key) = key {
                let _ = write!(text, "{}: ", Value::from(key.as_str()));
            }
            write_value(item, text);
        }
        text.push(ends[1]);
    };
    match value {
        Value::Object(map) => {
            let items = map.iter().map(|(key, item)| (Some(key), item)).collect();
            list(text, ['{', '}'], items);
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| (None, item)).collect();
            list(text, ['[', ']'], items);
        }
        Value::String(special) if special.starts_with(SPECIAL) => {
            text.push_str(&special[SPECIAL.len_utf8()..]);
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_are_written_as_python_writes_them() {
        let mut metrics = Metrics::from([("a", f64::NAN), ("b", f64::INFINITY)]);
        metrics.set("c", f64::NEG_INFINITY);
        metrics.set("d", 1.0);
        let text = metrics.to_json();
        assert_eq!(
            text,
            r#"{"a": NaN, "b": Infinity, "c": -Infinity, "d": 1.0}"#
        );
        let read = Metrics::from_json(&text).unwrap();
        assert!(read.get("a").unwrap().is_nan());
        assert_eq!(read.get("b"), Some(f64::INFINITY));
        assert_eq!(read.get("c"), Some(f64::NEG_INFINITY));
        assert_eq!(read.get("d"), Some(1.0));
    }

    #[test]
    fn texts_stay_as_they_are() {
        let text =
            r#"{"NaN": 1, "t": "a \"NaN\" and -Infinity\\", "g": {"x": NaN, "l": [1, NaN]}}"#;
        let read = Metrics::from_json(text).unwrap();
        assert_eq!(read.get("NaN"), Some(1.0));
        assert_eq!(read.get("t"), None);
        assert!(read.get("g.x").unwrap().is_nan());
        assert_eq!(read.get("g.y"), None);
        let again = Metrics::from_json(&read.to_json()).unwrap();
        assert_eq!(again, read);
        assert!(Metrics::from_json("[1]").is_err());
        assert!(Metrics::from_json("{\"a\": NaNa}").is_err());
        assert!(Metrics::from_json("\"\\").is_err());
    }
}
