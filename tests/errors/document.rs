//! Running mistakes, and writing the document of their messages.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A mistake.
pub struct Case {
    title: &'static str,
    run: Box<dyn Fn() -> Option<String>>,
}

/// A mistake that panics.
pub fn case<R>(title: &'static str, f: impl Fn() -> R + 'static) -> Case {
    let run = Box::new(move || {
        f();
        None
    });
    Case { title, run }
}

/// A mistake that is reported as an error.
pub fn error<R, E: std::fmt::Display>(
    title: &'static str,
    f: impl Fn() -> Result<R, E> + 'static,
) -> Case {
    let run = Box::new(move || f().err().map(|e| e.to_string()));
    Case { title, run }
}

/// The cases of one source file.
pub struct Section {
    pub title: &'static str,
    pub file: &'static str,
    pub source: &'static str,
    pub cases: Vec<Case>,
}

/// Sections from the modules that hold their cases.
macro_rules! sections {
    ($($module:ident $title:literal;)*) => {
        vec![$($crate::document::Section {
            title: $title,
            file: concat!("tests/errors/", stringify!($module), ".rs"),
            source: include_str!(concat!("errors/", stringify!($module), ".rs")),
            cases: $module::cases(),
        }),*]
    };
}
pub(crate) use sections;

const INTRODUCTION: &str = "\
# Error messages

A caller's mistake panics at the caller's line. The message names the operation, what it got, what it
expected, and a remedy. Failures of the environment are returned as errors.

Each entry is a wrong program and its exact message; `tests/errors.rs` runs all of them.
Programs are shown as if each were the file `src/main.rs`, after `use ramie::*;`. `f32(&[2, 3])` is
an array of that shape and dtype. Programs about optimizers also have `use ramie::optim::*;`, and
`params()` is a state with a `kernel` `[2, 3]` and a `bias` `[3]`. Programs about checkpoints also have
`use ramie::checkpoint::{commit::*, items::*, manager::{*, policies::*}};`, and each saves into an empty folder
`run()`. A transformation returns a closure whose panics have lines in the crate; their messages name
the line of the program that called it.
";

/// The document, and what is wrong with messages.
pub fn render(sections: &[Section]) -> (String, Vec<String>) {
    let mut text = INTRODUCTION.to_owned();
    let mut problems = Vec::new();
    let mut titles = HashSet::new();
    for section in sections {
        let _ = write!(text, "\n## {}\n", section.title);
        for case in &section.cases {
            assert!(titles.insert(case.title), "two cases: {}", case.title);
            let source = Source::find(section, case.title);
            let message = match message(case) {
                Some(message) => source.relocate(&message),
                None => {
                    problems.push(format!("{}: it went well", case.title));
                    continue;
                }
            };
            if let Some(problem) = judge(&message) {
                problems.push(format!("{}: {problem}:\n{message}", case.title));
            }
            let _ = write!(
                text,
                "\n### {}\n\n```rust\n{}\n```\n```text\n{message}\n```\n",
                case.title, source.code
            );
        }
    }
    (text, problems)
}

/// What is wrong with a message, by the rules for messages.
fn judge(message: &str) -> Option<&'static str> {
    if !message.contains("\n  help: ") {
        return Some("the message has no remedy");
    }
    if message.contains("tests/errors") {
        return Some("the message names a line outside of the program");
    }
    if message.starts_with("Error: ") {
        return None;
    }
    let (_, body) = message.split_once(":\n").unwrap_or_default();
    let operation = body.split(": ").next().unwrap_or_default();
    if operation.len() == body.len() || operation.len() > 60 || operation.contains('\n') {
        return Some("the message does not begin with the operation");
    }
    if body.starts_with("assertion") {
        return Some("the message is that of a bare assertion");
    }
    // A function that a transformation returns cannot know who calls it; the
    // message says where it was made.
    if !message.contains("src/main.rs:") {
        return Some("the message names no line of the program");
    }
    None
}

thread_local! {
    /// Where the last panic of this thread was.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What a case says; nothing if nothing is wrong.
fn message(case: &Case) -> Option<String> {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        PLACE.set(info.location().map(ToString::to_string));
    }));
    let outcome = catch_unwind(AssertUnwindSafe(|| (case.run)()));
    std::panic::set_hook(before);
    assert!(!ramie::is_tracing(), "{}: a trace is open", case.title);
    match outcome {
        Ok(error) => error.map(|error| format!("Error: {error}")),
        Err(payload) => {
            let text = match payload.downcast_ref::<String>() {
                Some(text) => text.as_str(),
                None => payload.downcast_ref::<&str>().expect("a message"),
            };
            let place = PLACE.take().expect("a panic has a place");
            Some(format!("thread 'main' panicked at {place}:\n{text}"))
        }
    }
}

/// The source text of a case.
struct Source {
    /// The closure's body.
    code: String,
    file: &'static str,
    /// The line of the file on which the body begins, from 1, and how far it is
    /// indented there.
    line: usize,
    indent: usize,
}

impl Source {
    fn find(section: &Section, title: &str) -> Source {
        let source = section.source;
        let quoted = format!("{title:?}");
        let at = source.find(&quoted).expect("the case is in the source");
        let after = at + quoted.len();
        let start = after + source[after..].find("|| ").expect("a closure") + 3;
        let body = source[start..start + length(&source[start..])].trim_end();
        let body = body.strip_suffix(',').unwrap_or(body);
        let line = 1 + source[..start].matches('\n').count();
        let inside = body.strip_prefix('{').and_then(|b| b.strip_suffix('}'));
        let Some(inside) = inside else {
            // An expression, which stands where it stands.
            let column = start - source[..start].rfind('\n').map_or(0, |n| n + 1);
            return Source {
                code: dedent(body, column),
                file: section.file,
                line,
                indent: column,
            };
        };
        let inside = inside.trim_start_matches('\n').trim_end();
        let indent = inside.len() - inside.trim_start().len();
        Source {
            code: dedent(inside, indent),
            file: section.file,
            line: line + 1,
            indent,
        }
    }

    /// A message with the places of this file as those of the code alone.
    fn relocate(&self, message: &str) -> String {
        let mut out = String::new();
        let mut rest = message;
        while let Some(at) = rest.find(self.file) {
            out.push_str(&rest[..at]);
            rest = &rest[at + self.file.len()..];
            let mut numbers = rest[1..].splitn(2, ':');
            let line: usize = leading(numbers.next().unwrap_or_default());
            let column: usize = leading(numbers.next().unwrap_or_default());
            let digits = format!(":{line}:{column}");
            let last = self.line + self.code.lines().count();
            if !(self.line..last).contains(&line) {
                out.push_str(self.file);
                continue;
            }
            rest = rest.strip_prefix(&digits).expect("a line and a column");
            let (line, column) = (line - self.line + 1, column - self.indent);
            let _ = write!(out, "src/main.rs:{line}:{column}");
        }
        out.push_str(rest);
        without_lines(&without_lines(&out, "core/src/"), "optim/src/")
    }
}

/// The text without the numbers of lines in files of a folder: they change with
/// every edit there, and say nothing to the reader.
fn without_lines(text: &str, folder: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let end = rest[at..].find(".rs:").expect("a source file") + at + 3;
        out.push_str(&rest[..end]);
        let number = |c: char| c.is_ascii_digit();
        rest = rest[end..].strip_prefix(':').unwrap_or_default();
        rest = rest.trim_start_matches(number).trim_start_matches(':');
        rest = rest.trim_start_matches(number);
    }
    out + rest
}

/// The number that a text begins with.
fn leading(text: &str) -> usize {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

fn dedent(text: &str, indent: usize) -> String {
    let shorter = |line: &str| {
        let spaces = line.len() - line.trim_start().len();
        line[spaces.min(indent)..].to_owned()
    };
    text.lines().map(shorter).collect::<Vec<_>>().join("\n")
}

/// How long the rest of a call's arguments is: up to the bracket that closes it.
fn length(source: &str) -> usize {
    let mut depth = 0;
    let mut quoted = false;
    let mut escaped = false;
    for (i, c) in source.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => quoted = true,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return i,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    panic!("a call that does not end")
}

/// Zeros of a shape.
pub fn f32(shape: &[usize]) -> ramie::Array {
    ramie::Array::zeros(shape, ramie::DType::F32)
}
