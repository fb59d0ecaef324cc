//! Runs the cases and writes down their messages.

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
            source: include_str!(concat!(stringify!($module), ".rs")),
            cases: $module::cases(),
        }),*]
    };
}
pub(crate) use sections;

/// Returns the messages by title, the page with the programs too, and the problems of the messages.
pub fn render(sections: &[Section]) -> (String, String, Vec<String>) {
    let (mut record, mut page) = (String::new(), String::new());
    let mut problems = Vec::new();
    let mut titles = HashSet::new();
    for section in sections {
        let _ = write!(record, "## {}\n\n", section.title);
        let _ = write!(page, "## {}\n\n", section.title);
        for case in &section.cases {
            let title = case.title;
            assert!(titles.insert(title), "two cases: {title}");
            let source = Source::find(section, title);
            let message = match message(case) {
                Some(message) => source.relocate(&message),
                None => {
                    problems.push(format!("{title}: the program succeeded"));
                    continue;
                }
            };
            if let Some(problem) = judge(&message) {
                problems.push(format!("{title}: {problem}:\n{message}"));
            }
            let _ = write!(record, "### {title}\n{message}\n\n");
            let code = source.code;
            let _ = write!(
                page,
                "### {title}\n\n```rust\n{code}\n```\n```text\n{message}\n```\n\n"
            );
        }
    }
    (record, page, problems)
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
