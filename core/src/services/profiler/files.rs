//! Trace files: XProf's `XSpace` message and Chrome's JSON format.

use crate::base::events::Event;
use crate::{Error, Result};
use ramie_formats::proto::Writer;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Paths of the files of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFiles {
    /// File for XProf and TensorBoard: `plugins/profile/<time>/<host>.xplane.pb`; `<time>_2` for a
    /// second trace in the same second.
    pub xplane: PathBuf,
    /// File for Perfetto and Chrome, in the same directory: `<host>.trace.json`.
    pub json: PathBuf,
}

/// Writes both files. `space` contains the plugin's recording.
pub(super) fn write(
    folder: &Path,
    begin: SystemTime,
    events: &[Event],
    space: &[u8],
) -> Result<TraceFiles> {
    let begin = begin.duration_since(UNIX_EPOCH).unwrap_or_default();
    let date = date(begin.as_secs());
    let host = host();
    let files = |run: &Path| TraceFiles {
        xplane: run.join(format!("{host}.xplane.pb")),
        json: run.join(format!("{host}.trace.json")),
    };
    // Traces of the same second must not replace each other. Those of other hosts share the folder.
    let runs = folder.join("plugins/profile");
    let names = (1u64..).map(|n| match n {
        1 => runs.join(&date),
        n => runs.join(format!("{date}_{n}")),
    });
    let mut free = names.filter(|run| !files(run).json.exists());
    let run = free.next().expect("one of all numbers is free");
    let files = files(&run);
    let put = |path: &Path, bytes: &[u8]| {
        std::fs::write(path, bytes).map_err(|e| Error::File {
            path: path.to_path_buf(),
            message: format!("could not write the trace: {e}"),
        })
    };
    std::fs::create_dir_all(&run).map_err(|e| Error::File {
        path: run.clone(),
        message: format!("could not create the directory for the trace: {e}"),
    })?;
    // Concatenated protobuf messages are one message with the planes of both.
    let own = own_space(begin, events, &host);
    put(&files.xplane, &[space, &own].concat())?;
    put(&files.json, json(events).as_bytes())?;
    Ok(files)
}

/// Returns the host name.
fn host() -> String {
    let named = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("HOSTNAME").ok());
    let name: String = named
        .unwrap_or_default()
        .trim()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-._".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    if name.is_empty() {
        "localhost".into()
    } else {
        name
    }
}

/// Formats a time in UTC, such as `2026_11_21_13_05_09`.
fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86400, seconds % 86400);
    // Gregorian calendar, computed in eras of 400 years that start in March.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}_{month:02}_{of_month:02}_{:02}_{:02}_{:02}",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// Groups events by thread.
fn by_thread(events: &[Event]) -> BTreeMap<u64, Vec<&Event>> {
    let mut threads: BTreeMap<u64, Vec<&Event>> = BTreeMap::new();
    for event in events {
        threads.entry(event.thread).or_default().push(event);
    }
    for events in threads.values_mut() {
        events.sort_by_key(|e| (e.start, std::cmp::Reverse(e.duration)));
    }
    threads
}

fn picoseconds(time: Duration) -> u64 {
    (time.as_nanos() * 1000) as u64
}

/// Numbers for names, in order of their first use, starting at 1.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn number(&mut self, name: &str) -> u64 {
        if let Some(at) = self.0.iter().position(|n| n == name) {
            return at as u64 + 1;
        }
        self.0.push(name.to_string());
        self.0.len() as u64
    }

    /// Writes the names as a protobuf map from number to a message of number and name.
    fn write(&self, field: u32, plane: &mut Writer) {
        for (i, name) in self.0.iter().enumerate() {
            let number = i as u64 + 1;
            plane.message(field, |entry| {
                entry.uint(1, number);
                entry.message(2, |metadata| {
                    metadata.uint(1, number);
                    metadata.bytes(2, name.as_bytes());
                });
            });
        }
    }
}

/// Returns an `XSpace` with one plane: the threads of this process.
fn own_space(begin: Duration, events: &[Event], host: &str) -> Vec<u8> {
    let (mut names, mut details) = (Names::default(), Names::default());
    let mut plane = Writer::default();
    plane.uint(1, 1);
    plane.bytes(2, b"/host:CPU");
    for (thread, events) in by_thread(events) {
        plane.message(3, |line| {
            line.uint(1, thread);
            line.bytes(2, events[0].thread_name.as_bytes());
            line.uint(3, begin.as_nanos() as u64);
            for event in &events {
                line.message(4, |out| {
                    out.uint(1, names.number(&event.name));
                    out.uint(2, picoseconds(event.start));
                    out.uint(3, picoseconds(event.duration));
                    for (key, value) in &event.details {
                        out.message(4, |stat| {
                            stat.uint(1, details.number(key));
                            match value.parse::<u64>() {
                                Ok(number) => stat.uint(3, number),
                                Err(_) => stat.bytes(5, value.as_bytes()),
                            }
                        });
                    }
                });
            }
        });
    }
    names.write(4, &mut plane);
    details.write(5, &mut plane);
    let mut space = Writer::default();
    space.bytes(1, &plane.0);
    space.bytes(4, host.as_bytes());
    space.0
}

/// Formats events in Chrome's trace format, with times in microseconds.
fn json(events: &[Event]) -> String {
    let mut text = String::from("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    let process = crate::files::process_id();
    let mut lines = Vec::new();
    for (thread, events) in by_thread(events) {
        let name = quoted(&events[0].thread_name);
        lines.push(format!(
            "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{process},\"tid\":{thread},\"args\":{{\"name\":\
             {name}}}}}"
        ));
        for event in events {
            let micros = |t: Duration| t.as_nanos() as f64 / 1000.0;
            let mut line = format!(
                "{{\"ph\":\"X\",\"name\":{},\"pid\":{process},\"tid\":{thread},\"ts\":{},\"dur\":{}",
                quoted(&event.name),
                micros(event.start),
                micros(event.duration)
            );
            if !event.details.is_empty() {
                let details = event.details.iter();
                let details: Vec<String> = details
                    .map(|(key, value)| format!("{}:{}", quoted(key), quoted(value)))
                    .collect();
                let _ = write!(line, ",\"args\":{{{}}}", details.join(","));
            }
            line.push('}');
            lines.push(line);
        }
    }
    text.push_str(&lines.join(",\n"));
    text.push_str("\n]}\n");
    text
}

/// Quotes a JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970_01_01_00_00_00");
        assert_eq!(date(951_782_399), "2000_02_28_23_59_59");
        assert_eq!(date(951_782_400), "2000_02_29_00_00_00");
        assert_eq!(date(1_795_266_309), "2026_11_21_13_05_09");
    }

    #[test]
    fn text_is_quoted() {
        assert_eq!(quoted("a\"b\\\n"), "\"a\\\"b\\\\\\u000a\"");
    }
}
