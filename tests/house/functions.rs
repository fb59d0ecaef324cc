//! Functions of sources have at most 60 lines, but for a list that only shrinks.

use std::collections::BTreeSet;

/// A function with more lines than this has more than one idea.
const LONGEST: usize = 60;

/// Longer functions, by file: tables with a line or a few for each case. The list only shrinks.
const OWED: &str = "\
    checkpoint/src/pytree/codec_tests.rs:unsupported_codecs_are_named \
    pjrt/src/sys/layout.rs:structs_have_the_layout_of_the_c_header";

/// Names of the functions of a source with more than [`LONGEST`] lines, from the head to the closing
/// brace of the same indentation.
fn long_functions(text: &str) -> Vec<&str> {
    let head =
        regex_lite::Regex::new(r#"^( *)(?:pub(?:\([^)]*\))? )?(?:[a-z]+ |extern "C" )*fn (\w+)"#)
            .unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut long = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(found) = head.captures(line) else {
            continue;
        };
        let (indent, name) = (
            found.get(1).unwrap().as_str(),
            found.get(2).unwrap().as_str(),
        );
        let ends = |line: &&str| {
            let inner = line.strip_prefix(indent);
            inner.is_some_and(|l| l.starts_with('}') || l.starts_with(')') && l.ends_with(';'))
        };
        let single = line.ends_with('}') || line.ends_with(';');
        let count = lines[at..].iter().position(ends).map_or(1, |end| end + 1);
        if !single && count > LONGEST {
            long.push(name);
        }
    }
    long
}

#[test]
fn functions_are_short() {
    let sources = crate::files(".rs").into_iter().filter(|(path, _)| {
        let is_source = path.starts_with("src/") || path.contains("/src/");
        let is_test = path.starts_with("testing/") || path.contains("/tests/");
        (is_source || path.starts_with("examples/")) && !is_test
    });
    let mut found = BTreeSet::new();
    for (path, text) in sources {
        let names = long_functions(&text).into_iter();
        found.extend(names.map(|name| format!("{path}:{name}")));
    }
    let owed: BTreeSet<String> = OWED.split_whitespace().map(String::from).collect();
    let new = found.difference(&owed).cloned().collect();
    crate::expect_none(&format!("functions have at most {LONGEST} lines"), new);
    let gone = owed
        .difference(&found)
        .map(|name| format!("{name}: delete it from OWED"));
    crate::expect_none("Functions that are short", gone.collect());
}
