//! The names in a Rust source: what it defines, imports and mentions.

use std::collections::BTreeSet;

/// An import: `use path as name`.
pub struct Use {
    pub path: Vec<String>,
    pub name: String,
    pub public: bool,
}

/// The names in a source, without its tests.
#[derive(Default)]
pub struct Source {
    pub file: String,
    /// Items at the top of the file.
    pub defined: BTreeSet<String>,
    /// Macros of the crate's root.
    pub exported: BTreeSet<String>,
    pub uses: Vec<Use>,
    /// The modules of `use path::*`.
    pub globs: Vec<Vec<String>>,
    /// Paths of at least two names outside imports.
    pub paths: BTreeSet<Vec<String>>,
    /// Words outside imports.
    pub words: BTreeSet<String>,
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// The words and signs of a source, without comments, strings and characters. `::` is one sign.
fn tokens(text: &str) -> Vec<&str> {
    let raw = r##"b?r#"(?s:.*?)"#|b?r"[^"]*""##;
    let quoted = r#""(?:\\(?s:.)|[^"\\])*"|'(?:\\[^']+|\\'|[^'\\])'"#;
    let token = format!(r"//[^\n]*|{raw}|{quoted}|\w+|::|\S");
    let found = regex_lite::Regex::new(&token).unwrap();
    let tokens = found.find_iter(text).map(|token| token.as_str());
    // A lifetime's quote is a sign of its own; characters are longer.
    tokens
        .filter(|token| {
            let is_quoted = token.len() > 1 && token.ends_with(['"', '\'', '#']);
            !token.starts_with("//") && !is_quoted
        })
        .collect()
}

/// The index behind an item that begins at `at`: behind its `;` or its closing brace.
fn behind_item(tokens: &[&str], at: usize) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 && (*token == "}" || *token == ";") {
            return index + 1;
        }
    }
    tokens.len()
}

impl Source {
    /// Reads a file by its path below `src`.
    pub fn read(file: &str, text: &str) -> Source {
        const ITEMS: [&str; 7] = ["fn", "struct", "enum", "trait", "type", "const", "static"];
        let tokens = tokens(text);
        let token = |at: usize| tokens.get(at).copied().unwrap_or_default();
        let mut source = Source {
            file: file.to_string(),
            ..Source::default()
        };
        let mut depth = 0;
        let mut at = 0;
        while at < tokens.len() {
            let before = if at == 0 { "" } else { tokens[at - 1] };
            let next = token(at + 1);
            match tokens[at] {
                "{" => depth += 1,
                "}" => depth -= 1,
                "#" if tokens[at..].starts_with(&["#", "[", "cfg", "(", "test", ")", "]"]) => {
                    at = behind_item(&tokens, at);
                    continue;
                }
                "use" if next != "<" => {
                    let end = at + tokens[at..].iter().position(|t| *t == ";").expect("an end");
                    let public = before == "pub" || before == ")";
                    source.import(&tokens[at + 1..end], &[], public);
                    at = end;
                }
                "mod" if token(at + 2) == ";" => at += 2,
                "macro_rules" if depth == 0 => {
                    source.defined.insert(token(at + 2).to_string());
                    if tokens[..at].ends_with(&["macro_export", "]"]) {
                        source.exported.insert(token(at + 2).to_string());
                    }
                }
                "mod" if depth == 0 => _ = source.defined.insert(next.to_string()),
                item if depth == 0 && ITEMS.contains(&item) => {
                    source.defined.insert(next.to_string());
                }
                word if is_word(word) => source.mention(&tokens, at),
                _ => {}
            }
            at += 1;
        }
        source
    }

    /// Adds a word outside imports, and the path that begins with it.
    fn mention(&mut self, tokens: &[&str], at: usize) {
        let word = tokens[at].to_string();
        let before = if at == 0 { "" } else { tokens[at - 1] };
        if before != "::" {
            let behind = tokens[at + 1..].chunks(2);
            let parts = behind.take_while(|pair| pair[0] == "::" && is_word(pair[1]));
            let mut path = vec![word.clone()];
            path.extend(parts.map(|pair| pair[1].to_string()));
            if path.len() > 1 {
                self.paths.insert(path);
            }
        }
        if ![".", "::"].contains(&before) {
            self.words.insert(word);
        }
    }

    /// Adds the imports of a tree such as `a::{b, c as d, e::*}`.
    fn import(&mut self, tree: &[&str], prefix: &[String], public: bool) {
        let mut path = prefix.to_vec();
        let mut at = 0;
        while at < tree.len() {
            match tree[at] {
                "::" | "self" => {}
                "*" => return self.globs.push(path),
                "as" => break,
                "{" => {
                    let inside = &tree[at + 1..tree.len() - 1];
                    let mut depth = 0;
                    let parts = inside.split(|token| {
                        depth += i32::from(*token == "{") - i32::from(*token == "}");
                        depth == 0 && *token == ","
                    });
                    parts
                        .filter(|part| !part.is_empty())
                        .for_each(|part| self.import(part, &path, public));
                    return;
                }
                name => path.push(name.to_string()),
            }
            at += 1;
        }
        let name = match tree.get(at) {
            Some(_) => tree[at + 1].to_string(),
            None => path.last().cloned().unwrap_or_default(),
        };
        self.uses.push(Use { path, name, public });
    }
}
