//! Reading of trace files.

use crate::{Error, Result};
use ramie_formats::proto::{self, Field};
use std::collections::HashMap;
use std::path::Path;

/// The contents of an `.xplane.pb` file, Ramie's or another profiler's
/// (`jax.profiler.ProfileData`).
///
/// ```
/// use ramie_core::{Array, jit, profiler};
/// # let folder = tempfile::tempdir()?;
/// let square = jit(|x: Array| &x * &x);
/// let x = Array::from([1.0f32, 2.0]);
/// let (_, files) = profiler::trace(&folder, || {
///     let _named = profiler::TraceAnnotation::new("two squares");
///     square(square(x)).block_until_ready().clone()
/// })?;
/// let data = profiler::ProfileData::from_file(&files.xplane)?;
/// for event in data.events().filter(|e| e.name == "two squares") {
///     println!("{} took {:.0} ns", event.name, event.duration_ns);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileData {
    /// The host's threads, and each device.
    pub planes: Vec<ProfilePlane>,
}

/// The recording of a host or of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfilePlane {
    /// `/host:CPU` for this process; a device's name, such as `/device:GPU:0`.
    pub name: String,
    /// Threads of the host, or streams of a device.
    pub lines: Vec<ProfileLine>,
}

/// The events of a thread or a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileLine {
    /// Name of the thread or stream.
    pub name: String,
    /// Events by start time. Events may contain others.
    pub events: Vec<ProfileEvent>,
}

/// A program, an operation, or an annotation.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileEvent {
    /// Name of the program, operation or annotation.
    pub name: String,
    /// Start time in nanoseconds, on the clock of the recording.
    pub start_ns: f64,
    /// Duration in nanoseconds.
    pub duration_ns: f64,
    /// Additional values by name, as text.
    pub stats: Vec<(String, String)>,
}

impl ProfileData {
    /// Reads a file that [`trace`](super::trace) or another profiler wrote.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is malformed.
    pub fn from_file(path: impl AsRef<Path>) -> Result<ProfileData> {
        let path = path.as_ref();
        let failed = |message: String| Error::File {
            path: path.to_path_buf(),
            message,
        };
        let bytes =
            std::fs::read(path).map_err(|e| failed(format!("could not read the trace: {e}")))?;
        let malformed = "not an XSpace message\n  help: pass the file `xplane` of TraceFiles";
        ProfileData::parse(&bytes).ok_or_else(|| failed(malformed.into()))
    }

    /// Decodes a serialized `XSpace` message. Returns `None` if it is malformed.
    fn parse(bytes: &[u8]) -> Option<ProfileData> {
        let fields = proto::fields(bytes)?;
        let planes = messages(&fields, 1).map(plane);
        Some(ProfileData {
            planes: planes.collect::<Option<_>>()?,
        })
    }

    /// Returns the plane of this name (`find_plane_with_name`).
    #[doc(alias = "find_plane_with_name")]
    pub fn plane(&self, name: &str) -> Option<&ProfilePlane> {
        self.planes.iter().find(|plane| plane.name == name)
    }

    /// Returns the events of all planes and lines.
    pub fn events(&self) -> impl Iterator<Item = &ProfileEvent> {
        let lines = self.planes.iter().flat_map(|plane| &plane.lines);
        lines.flat_map(|line| &line.events)
    }
}

type Fields<'a> = [(u32, Field<'a>)];

/// Returns the messages in fields of this number.
fn messages<'a>(fields: &Fields<'a>, number: u32) -> impl Iterator<Item = &'a [u8]> {
    let matching = fields.iter().filter(move |(n, _)| *n == number);
    matching.map(|(_, field)| field.bytes())
}

/// Returns the last field of this number, as protocol buffers define.
fn last<'a>(fields: &Fields<'a>, number: u32) -> Option<Field<'a>> {
    let field = fields.iter().rev().find(|(n, _)| *n == number);
    field.map(|(_, field)| *field)
}

fn number(fields: &Fields<'_>, field: u32) -> i64 {
    last(fields, field).map_or(0, Field::int)
}

fn text(fields: &Fields<'_>, field: u32) -> String {
    last(fields, field).map_or_else(String::new, Field::text)
}

/// Decodes a map from numbers to messages with a name.
fn names(fields: &Fields<'_>, field: u32) -> Option<HashMap<i64, String>> {
    let entries = messages(fields, field).map(|entry| {
        let entry = proto::fields(entry)?;
        let metadata = proto::fields(last(&entry, 2)?.bytes())?;
        Some((number(&entry, 1), text(&metadata, 2)))
    });
    entries.collect()
}

fn plane(bytes: &[u8]) -> Option<ProfilePlane> {
    let fields = proto::fields(bytes)?;
    let (events, stats) = (names(&fields, 4)?, names(&fields, 5)?);
    let lines = messages(&fields, 3).map(|line| {
        let line = proto::fields(line)?;
        let begin = number(&line, 3) as f64;
        let events = messages(&line, 4).map(|e| event(e, begin, &events, &stats));
        Some(ProfileLine {
            name: text(&line, 2),
            events: events.collect::<Option<_>>()?,
        })
    });
    Some(ProfilePlane {
        name: text(&fields, 2),
        lines: lines.collect::<Option<_>>()?,
    })
}

fn event(
    bytes: &[u8],
    begin: f64,
    names: &HashMap<i64, String>,
    stats: &HashMap<i64, String>,
) -> Option<ProfileEvent> {
    const PICOSECONDS: f64 = 1000.0;
    let fields = proto::fields(bytes)?;
    let stat = |bytes| {
        let fields = proto::fields(bytes)?;
        let name = stats.get(&number(&fields, 1)).cloned().unwrap_or_default();
        let (kind, value) = fields.iter().rev().find(|(n, _)| *n != 1)?;
        let value = match (kind, value) {
            (2, Field::Fixed64(bits)) => f64::from_bits(*bits).to_string(),
            (3, Field::Int(value)) => value.to_string(),
            // A name that several events share.
            (7, value) => stats.get(&value.int()).cloned().unwrap_or_default(),
            (5 | 6, value) => value.text(),
            (_, value) => value.int().to_string(),
        };
        Some((name, value))
    };
    Some(ProfileEvent {
        name: names.get(&number(&fields, 1)).cloned().unwrap_or_default(),
        start_ns: begin + number(&fields, 2) as f64 / PICOSECONDS,
        duration_ns: number(&fields, 3) as f64 / PICOSECONDS,
        stats: messages(&fields, 4).map(stat).collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramie_formats::proto::Writer;

    /// A device's plane with all kinds of values.
    fn space() -> Vec<u8> {
        let mut space = Writer::default();
        space.message(1, |plane| {
            plane.bytes(2, b"/device:GPU:0");
            for (field, names) in [(4, ["dot", "add"]), (5, ["flops", "dot"])] {
                for (i, name) in (1..).zip(names) {
                    plane.message(field, |entry| {
                        entry.uint(1, i);
                        entry.message(2, |metadata| metadata.bytes(2, name.as_bytes()));
                    });
                }
            }
            plane.message(3, |line| {
                line.bytes(2, b"stream 0");
                line.uint(3, 7000);
                line.message(4, |event| {
                    event.uint(1, 1);
                    event.uint(2, 2500);
                    event.uint(3, 1_500_000);
                    event.message(4, |stat| {
                        stat.uint(1, 1);
                        stat.double(2, 0.5);
                    });
                    event.message(4, |stat| {
                        stat.uint(1, 1);
                        stat.uint(7, 2);
                    });
                });
            });
        });
        space.0
    }

    #[test]
    fn events_have_names_times_and_values() {
        let data = ProfileData::parse(&space()).unwrap();
        let plane = data.plane("/device:GPU:0").unwrap();
        assert_eq!(plane.lines[0].name, "stream 0");
        let event = data.events().next().unwrap();
        assert_eq!(event.name, "dot");
        assert_eq!((event.start_ns, event.duration_ns), (7002.5, 1500.0));
        let stats = [("flops", "0.5"), ("flops", "dot")];
        assert_eq!(event.stats, stats.map(|(k, v)| (k.into(), v.into())));
    }

    #[test]
    fn damaged_files_are_refused_or_read_without_a_panic() {
        let bytes = space();
        let whole = ProfileData::parse(&bytes).unwrap();
        for cut in 1..bytes.len() {
            assert!(ProfileData::parse(&bytes[..cut]).is_none(), "{cut} bytes");
        }
        let mut changed = 0;
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let read = ProfileData::parse(&damaged);
                changed += usize::from(read.is_none_or(|read| read != whole));
            }
        }
        assert!(changed > 100);
    }
}
