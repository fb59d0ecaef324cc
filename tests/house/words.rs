//! Phrases that make a sentence hard to read, and what to write instead.
//!
//! Sentences are joined over line breaks and code spans count as one word, so a
//! phrase is found wherever its line ends. Code blocks and tests are left out.

use regex_lite::Regex;

use crate::{expect_none, files};

/// Where a sentence was found.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Markdown,
    Comment,
    Text,
}

struct Sentence<'a> {
    kind: Kind,
    path: &'a str,
    line: usize,
    text: String,
}

/// A noun that "is no" must not precede: "a path is no directory".
const NOUN: &str = "(array|matrix|matrice|integer|number|scalar|text|string|name|path|file|folder\
    |list|order|key|axis|axes|part|tree|class|directory|checkpoint|archive|metadata|tensor|type\
    |index|indice|variable|boolean|float|byte|place|item|letter|limit|problem|error)[a-z]*";

/// The banned expressions, each with what to write instead. The first column
/// is empty, or names the only kind of sentence that the expression is for.
const BANNED: [(Option<Kind>, &str, &str); 12] = [
    (
        None,
        r"\b(is|are|was|were|be|not|already) there([.,;:)]|$| already| yet| twice)|\b(what|all|everything|those|one|nothing|that) (that )?(is|are|was|were) there\b",
        "exists, is missing, is available",
    ),
    (
        None,
        r"\b(it|that|which|what|who|\}|`x`|[a-z]+s|index|mask|loss|update|result|operand|argument|array|matrix|type|path|name|file|value|shape|leaf) (is|are|was) no (a|an )?NOUN\b|^is no \w+",
        "is not a(n) …",
    ),
    (
        None,
        r"\b(com(e|es|ing)|came) apart\b",
        "divides evenly, splits",
    ),
    (
        None,
        r"\b(truth values?|anew|belongs? into|be it|whoever|whomever)\b",
        "boolean, again, belongs to",
    ),
    (
        None,
        r"\b(is|are|was|were|nothing|something|else is) (told|said)\b|\btold by\b|\bif not (said|told)\b|[Nn]ot told\b|\btells? (what|how|where|whether)\b",
        "given, reported, defaults to",
    ),
    (
        None,
        r"[;,] [^.;:]{1,45}, if (not set|nothing|none|not given|not said)\b",
        "Defaults to …",
    ),
    (
        None,
        r"\bspeaks? of\b|\bstood\b|\bwhere (it|they|the [a-z]+) stands?\b|\b(lies?|stands?) (along|behind|beside|side by side)\b",
        "mentions, position, along",
    ),
    (None, r"\b(is|are|was|were) to be\b", "must, should, will"),
    (
        None,
        r"\bthe (step|save|call|one|axes|batch|run|element|value|key|line) before([.,;:)]| this| one|$)|\bbefore this one\b",
        "the previous …",
    ),
    (
        None,
        r"\bin the (way|manner) of\b|\bin that of\b|\bin (the|its|their) place of\b",
        "like …, instead of",
    ),
    (
        None,
        r"\ba wish\b|\bone's own\b|\bfor nothing\b|\bwithout (an end|end|a word)\b|\bwords it\b|\bequally many\b|\bas there are (cores|batches|steps|examples|rows)\b|\bgo(es)? on (behind|from where|exactly|in the background)\b",
        "custom, infinite, ignored, as many …, continues",
    ),
    (
        Some(Kind::Comment),
        r"[,;] else (the|by|in|on|as|with|its|a|an|one|zeros|what|from|where|it|`x`|\[)\b",
        "otherwise",
    ),
];

/// The sentences of a paragraph, given as numbered lines.
fn sentences<'a>(kind: Kind, path: &'a str, paragraph: &[(usize, &str)]) -> Vec<Sentence<'a>> {
    let mut found: Vec<Sentence<'a>> = Vec::new();
    let mut ended = true;
    for &(line, text) in paragraph {
        for word in text.split_whitespace() {
            if ended && (found.is_empty() || word.starts_with(begins_sentence)) {
                let text = String::new();
                found.push(Sentence {
                    kind,
                    path,
                    line,
                    text,
                });
            }
            let sentence = &mut found.last_mut().expect("the first word begins one").text;
            if !sentence.is_empty() {
                sentence.push(' ');
            }
            sentence.push_str(word);
            ended = word.ends_with(['.', '!', '?']);
        }
    }
    found
}

fn begins_sentence(c: char) -> bool {
    c.is_ascii_uppercase() || "`[\"(*".contains(c)
}

/// What follows the mark of a list's item, if the line has one.
fn item(line: &str) -> Option<&str> {
    let mark = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if mark.len() == line.len() {
        line.strip_prefix(['-', '*'])?
    } else {
        mark.strip_prefix('.')?
    };
    rest.starts_with(' ').then(|| rest.trim_start())
}

/// The sentences of numbered lines of Markdown.
fn prose<'a, 'b>(
    kind: Kind,
    path: &'a str,
    lines: impl Iterator<Item = (usize, &'b str)>,
) -> Vec<Sentence<'a>> {
    let mut found = Vec::new();
    let mut paragraph = Vec::new();
    let mut code = false;
    for (number, line) in lines {
        let line = line.trim();
        let fence = line.starts_with("```");
        let apart = line.is_empty() || line.starts_with(['|', '#', '<', '!']);
        if fence || apart || item(line).is_some() {
            found.extend(sentences(kind, path, &paragraph));
            paragraph.clear();
        }
        if fence {
            code = !code;
        } else if !code && line.starts_with(['|', '#']) {
            for cell in line.trim_matches(['|', '#']).split(" | ") {
                found.extend(sentences(kind, path, &[(number, cell)]));
            }
        } else if !code && !apart {
            paragraph.push((number, item(line).unwrap_or(line)));
        }
    }
    found.extend(sentences(kind, path, &paragraph));
    found
}

/// The sentences of a Rust file's comments, and its string literals.
fn rust<'a>(path: &'a str, source: &str) -> Vec<Sentence<'a>> {
    let mut found = Vec::new();
    for marker in ["//!", "///", "// "] {
        // A line of code ends the paragraph, as an empty line does.
        let lines = source.lines().enumerate().map(|(number, line)| {
            let comment = line.trim_start().strip_prefix(marker);
            (number + 1, comment.unwrap_or_default())
        });
        found.extend(prose(Kind::Comment, path, lines));
    }
    let code: Vec<_> = source
        .lines()
        .map(|line| {
            if line.trim_start().starts_with("//") {
                ""
            } else {
                line
            }
        })
        .collect();
    let code = code.join("\n");
    let literals = r#"'\\?"'|"((?:[^"\\]|\\(?s:.))*)""#;
    let continued = Regex::new(r"\\\n\s*").unwrap();
    for literal in Regex::new(literals).unwrap().captures_iter(&code) {
        let Some(literal) = literal.get(1) else {
            continue;
        };
        let text = continued.replace_all(literal.as_str(), "");
        // Not a name or a format.
        if text.split(' ').filter(|word| word.len() > 1).count() >= 4 {
            found.push(Sentence {
                kind: Kind::Text,
                path,
                line: 1 + code[..literal.start()].matches('\n').count(),
                text: text.replace("\\n", "\n"),
            });
        }
    }
    found
}

fn is_test(path: &str) -> bool {
    path.starts_with("tests/")
        || path.contains("/tests/")
        || path.ends_with("_tests.rs")
        || path.ends_with("/tests.rs")
}

/// The banned phrases in sentences, as `path:line: sentence`.
fn offences(found: &[Sentence<'_>]) -> Vec<String> {
    let span = Regex::new("`[^`]*`").unwrap();
    let banned = BANNED.map(|(only, expression, instead)| {
        let expression = Regex::new(&expression.replace("NOUN", NOUN)).unwrap();
        (only, expression, instead)
    });
    let mut offences = Vec::new();
    for Sentence {
        kind,
        path,
        line,
        text,
    } in found
    {
        let plain = span.replace_all(text, "`x`");
        for (only, expression, instead) in &banned {
            if only.is_none_or(|only| only == *kind)
                && let Some(phrase) = expression.find(&plain)
            {
                let phrase = phrase.as_str();
                offences.push(format!(
                    "{path}:{line}: {text}\n    instead of \"{phrase}\" write: {instead}"
                ));
            }
        }
    }
    offences
}

#[test]
fn sentences_have_no_banned_phrases() {
    let pages = files(".md");
    let sources = files(".rs");
    let mut found = Vec::new();
    for (path, text) in &pages {
        let lines = text.lines().enumerate();
        let lines = lines.map(|(number, line)| (number + 1, line));
        found.extend(prose(Kind::Markdown, path, lines));
    }
    for (path, text) in sources.iter().filter(|(path, _)| !is_test(path)) {
        found.extend(rust(path, text));
    }
    assert!(found.len() > 10_000, "only {} sentences", found.len());
    expect_none("reword these sentences", offences(&found));
}

#[test]
fn banned_phrases_are_found_wherever_they_are() {
    let page = "Text. The file\nis there.\n\n- An item.\n\n```text\nnothing is there.\n```\n";
    let lines = page.lines().enumerate().map(|(i, line)| (i + 1, line));
    let found = prose(Kind::Markdown, "page.md", lines);
    assert_eq!(found.len(), 3);
    let page = offences(&found);
    assert!(page.len() == 1 && page[0].starts_with("page.md:1: The file is there.\n"));
    let source = "//! Heads come\n//! apart.\n\n/// A `step`, else the last.\nfn f() {\n    \
                  // The shape is to be known.\n    panic!(\n        \"{x} is not \\\n         \
                  there.\"\n    );\n}\n";
    let lines: Vec<_> = offences(&rust("f.rs", source))
        .iter()
        .map(|offence| offence.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(lines, ["f.rs:1:", "f.rs:4:", "f.rs:6:", "f.rs:8:"]);
}
