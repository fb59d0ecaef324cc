//! The first line of a public function's documentation says what the function
//! does: it begins with a verb in the third person.

use crate::{expect_none, files};

/// Nouns and other words that end in s, as verbs in the third person do.
const NOT_VERBS: &str = "This As Its Always Axes Keys Values Indices Gradients Weights Bytes \
    Arrays Parameters Options Settings Means Numbers Bits Shapes Types Elements Rows Columns \
    Layers Steps Series Others Results Functions Bessels Cross Loss Less Ones Zeros \
    Perhaps Various Class Plus Minus Derivatives Statistics Devices Entries Losses";

/// Whether a summary begins with a verb, or refers to another function.
fn begins_well(summary: &str) -> bool {
    let (word, rest) = summary.split_once(' ').unwrap_or((summary, ""));
    let word = word.trim_end_matches(['.', ',', ':']);
    let mut letters = word.chars();
    let refers = summary.starts_with("Same as [") || summary.starts_with("Like [");
    let verb = letters.next().is_some_and(|c| c.is_ascii_uppercase())
        && letters.all(|c| c.is_ascii_lowercase() || c == '-')
        && word.ends_with('s')
        && !rest.starts_with("of ")
        && !NOT_VERBS.split_whitespace().any(|other| other == word);
    refers || verb
}

/// The name of the public function that a line declares.
fn declared(line: &str) -> Option<&str> {
    let (before, after) = line.strip_prefix("pub ")?.split_once("fn ")?;
    let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    // Neither a field whose type is a function nor a name that a macro fills in.
    (end > 0 && !before.contains([':', '('])).then_some(&after[..end])
}

/// The documented public functions of a source file: names and summaries.
fn summaries(source: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut summary = None;
    let mut in_attribute = false;
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            summary = summary.or(Some(text.trim()));
        } else if in_attribute || line.starts_with("#[") {
            in_attribute = !line.ends_with(']');
        } else {
            if let (Some(name), Some(summary)) = (declared(line), summary) {
                found.push((name, summary));
            }
            summary = None;
        }
    }
    found
}

#[test]
fn summaries_of_functions_begin_with_a_verb() {
    let mut offences = Vec::new();
    let mut functions = 0;
    for (path, source) in files(".rs") {
        if path.contains("tests/") || path.contains("benches/") {
            continue;
        }
        for (name, summary) in summaries(&source) {
            functions += 1;
            if !begins_well(summary) {
                offences.push(format!("{path}: {name}: {summary}"));
            }
        }
    }
    assert!(functions > 2000, "only {functions} functions");
    expect_none("begin these summaries with a verb: Returns …", offences);
}

#[test]
fn verbs_differ_from_nouns() {
    for summary in [
        "Returns the sum.",
        "Re-reads a file.",
        "Sums `x`.",
        "Like [`f`].",
    ] {
        assert!(begins_well(summary), "{summary}");
    }
    for summary in [
        "Values for `x`.",
        "Sums of `x`.",
        "The sum.",
        "[`f`], twice.",
    ] {
        assert!(!begins_well(summary), "{summary}");
    }
    let source =
        "/// Adds.\n#[doc(\n    hidden\n)]\npub const fn a() {}\n\n/// Nothing.\nfn b() {}\n";
    assert_eq!(summaries(source), [("a", "Adds.")]);
}
