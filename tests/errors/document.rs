//! Runs the cases and generates the document from their messages.

use ramie_testing::caught;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::Write;

/// A program that fails with a message.
pub struct Case {
    title: &'static str,
    run: Box<dyn Fn() -> Option<String>>,
}

/// Creates a case that panics.
pub fn case<R>(title: &'static str, f: impl Fn() -> R + 'static) -> Case {
    let run = Box::new(move || {
        f();
        None
    });
    Case { title, run }
}

/// Creates a case that returns an error.
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

/// Creates the sections from the modules with their cases.
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

Each entry is a program with a mistake and the exact message that it produces. To find a message, search this page for
its first line. `tests/errors.rs` runs all programs.

A mistake in a call panics, and the panic reports the line of the call. The message names the operation, its operands
and what it expected, and ends with `help:` and a remedy. Failures of the environment, such as a missing file, are
returned as errors; their messages start with `Error:` here.

Every program is the content of `src/main.rs` after `use ramie::*;` and imports from its modules, such as
`use ramie::{lax::*, options::*};`. Line numbers count from its first line.
`f32(&[2, 3])` is an array of that shape and dtype.

- Optimizers: the programs also `use ramie::optim::*;`. `params()` is a state with a `kernel` `[2, 3]` and a `bias`
  `[3]`.
- Checkpoints: the programs also `use ramie::checkpoint::{commit::*, items::*, manager::{*, policies::*}};`. `run()` is
  an empty directory.
- Data loading: the programs also `use ramie::data::*;`.
- Transformations: `grad(f)`, `jit(f)` and others return closures. A panic in such a closure reports a line of the
  crate; its message names the line of the program that called the transformation.
";

/// Returns the document, and the problems of its messages.
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
                    problems.push(format!("{}: the program succeeded", case.title));
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

/// Returns the rule that a message violates.
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
        return Some("the message is a bare assertion");
    }
    // A closure that a transformation returns does not know its caller; the
    // message names the call of the transformation.
    if !message.contains("src/main.rs:") {
        return Some("the message names no line of the program");
    }
    None
}

thread_local! {
    /// The location of the last panic of this thread.
    static LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Returns the message of a case, or `None` if the case succeeds.
fn message(case: &Case) -> Option<String> {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        LOCATION.set(info.location().map(ToString::to_string));
    }));
    let outcome = caught(|| (case.run)());
    std::panic::set_hook(before);
    assert!(!ramie::is_tracing(), "{}: a trace is open", case.title);
    match outcome {
        Ok(error) => error.map(|error| format!("Error: {error}")),
        Err(text) => {
            let place = LOCATION.take().expect("a panic has a location");
            Some(format!("thread 'main' panicked at {place}:\n{text}"))
        }
    }
}

/// The source text of a case.
struct Source {
    /// The closure's body.
    code: String,
    file: &'static str,
    /// The line of the file on which the body begins, from 1, and its indentation.
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
            // An expression keeps its column.
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

    /// Returns a message with locations in this file replaced by locations in the code.
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

/// Removes the line numbers of files in a folder: they change with every edit there
/// and are of no use to the reader.
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

/// Returns the number at the start of a text.
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

/// Returns the length of the rest of a call's arguments, up to the closing bracket.
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
    panic!("an unclosed call")
}

/// Returns zeros of a shape.
pub fn f32(shape: &[usize]) -> ramie::Array {
    ramie::Array::zeros(shape, ramie::DType::F32)
}
