//! The book in `docs/`: what its table of contents has, and its links.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn docs() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/docs"))
}

/// The pages of `docs/`, but for the table of contents.
fn pages() -> BTreeSet<String> {
    let names = fs::read_dir(docs()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect()
}

fn text(page: &str) -> String {
    fs::read_to_string(docs().join(page)).unwrap()
}

/// What is outside of blocks of code, line by line.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The targets of the links of a page.
fn links(text: &str) -> Vec<String> {
    prose(text)
        .flat_map(|line| line.split("](").skip(1))
        .map(|after| after.split(')').next().unwrap_or_default().to_owned())
        .collect()
}

/// The name that a heading has in addresses: letters and digits in lower case,
/// hyphens for spaces, nothing for other characters.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.collect::<String>().to_lowercase()
}

#[test]
fn every_page_is_in_the_table_of_contents_once() {
    let listed = links(&text("SUMMARY.md"));
    let unique: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(unique, pages(), "docs/SUMMARY.md and the pages of docs/");
    assert_eq!(
        listed.len(),
        unique.len(),
        "docs/SUMMARY.md names a page twice"
    );
}

#[test]
fn the_way_in_names_every_page() {
    let named: BTreeSet<String> = links(&text("README.md")).into_iter().collect();
    let missing: Vec<String> = pages()
        .into_iter()
        .filter(|page| page != "README.md" && !named.iter().any(|link| link == page))
        .collect();
    assert!(missing.is_empty(), "docs/README.md lacks {missing:?}");
}

#[test]
fn links_of_the_book_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for page in pages() {
        for link in links(&text(&page)) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let file = if file.is_empty() { &page } else { file };
            let path = docs().join(file);
            let found = path.exists()
                && (heading.is_empty()
                    || prose(&fs::read_to_string(&path).unwrap())
                        .filter(|line| line.starts_with('#'))
                        .any(|line| anchor(line.trim_start_matches('#')) == heading));
            if !found {
                broken.push(format!("docs/{page}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
}

/// The file and the anchor of each `{{#include FILE:ANCHOR}}` of a page.
fn includes(text: &str) -> Vec<(&str, &str)> {
    let after = text.split("{{#include ").skip(1);
    let inside = after.map(|after| after.split("}}").next().unwrap_or_default());
    inside
        .map(|inside| inside.split_once(':').unwrap_or((inside, "")))
        .collect()
}

/// The lines that a file has between the marks of an anchor, if both are there,
/// once each.
fn anchored<'a>(source: &'a str, anchor: &str) -> Option<Vec<&'a str>> {
    let lines: Vec<&str> = source.lines().collect();
    let at = |mark: &str| {
        let mark = format!("// {mark}: {anchor}");
        let mut places = (0..lines.len()).filter(|i| lines[*i].trim() == mark);
        places.next().filter(|_| places.next().is_none())
    };
    let (start, end) = (at("ANCHOR")?, at("ANCHOR_END")?);
    Some(lines.get(start + 1..end)?.to_vec())
}

#[test]
fn what_pages_include_is_there() {
    let mut included = BTreeSet::new();
    for page in pages() {
        for (file, anchor) in includes(&text(&page)) {
            if file.starts_with("../target/") {
                // A test writes it before the book is built.
                continue;
            }
            let source = fs::read_to_string(docs().join(file));
            let source = source.unwrap_or_else(|e| panic!("docs/{page}: {file}: {e}"));
            let lines = anchored(&source, anchor).unwrap_or_default();
            assert!(
                (4..=30).contains(&lines.len()),
                "docs/{page}: {file} has {} lines at the anchor `{anchor}`, expected some, and no more \
                 than are read at once",
                lines.len()
            );
            included.insert((file.to_owned(), anchor.to_owned()));
        }
    }
    assert!(included.len() >= 14, "{included:?}");
    // And nothing is marked for nobody.
    let examples = docs().join("../examples");
    for folder in fs::read_dir(&examples).unwrap() {
        let folder = folder.unwrap().path();
        for file in fs::read_dir(&folder).into_iter().flatten() {
            let file = file.unwrap().path();
            if file.is_dir() {
                // A package of its own, whose code no page includes.
                continue;
            }
            let source = fs::read_to_string(&file).unwrap();
            let marks = source
                .lines()
                .filter_map(|l| l.trim().strip_prefix("// ANCHOR: "));
            for anchor in marks {
                let path = file.strip_prefix(docs()).unwrap().display().to_string();
                let path = path.trim_start_matches('/').to_owned();
                assert!(
                    included.contains(&(path.clone(), anchor.to_owned())),
                    "no page includes {path}:{anchor}"
                );
            }
        }
    }
}

#[test]
fn every_example_is_in_the_chapter_and_in_the_list() {
    let chapter = text("examples.md");
    let list = fs::read_to_string(docs().join("../examples/README.md")).unwrap();
    for folder in fs::read_dir(docs().join("../examples")).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        if !folder.path().join("main.rs").exists() {
            continue;
        }
        let link = format!("[`{name}`](../examples/{name}/main.rs)");
        assert!(chapter.contains(&link), "docs/examples.md lacks {link}");
        let link = format!("[`{name}`]({name}/main.rs)");
        assert!(list.contains(&link), "examples/README.md lacks {link}");
    }
}

/// The words of the code of a folder's Rust files, without comments.
fn words_of_code(folder: &Path, words: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            words_of_code(&path, words);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
            words.extend(code.flat_map(names).map(str::to_owned));
        }
    }
}

/// The words that begin with a letter.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[test]
fn names_in_the_tables_of_other_libraries_are_here() {
    let mut known = BTreeSet::new();
    for part in [
        "",
        "core",
        "nn",
        "models",
        "optim",
        "data",
        "checkpoint",
        "derive",
        "train",
        "linalg",
        "plugins",
    ] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        words_of_code(&root.join(part).join("src"), &mut known);
    }
    let mut unknown = Vec::new();
    for page in ["from-jax.md", "from-pytorch.md"] {
        let text = text(page).replace("\\|", " ");
        let rows = prose(&text).filter(|line| line.starts_with("| "));
        for cell in rows.filter_map(|row| row.split('|').nth(2)) {
            let code = cell.split('`').skip(1).step_by(2);
            let missing = code.flat_map(names).filter(|name| !known.contains(*name));
            unknown.extend(missing.map(|name| format!("docs/{page}: {name}")));
        }
    }
    assert!(unknown.is_empty(), "nothing has these names: {unknown:#?}");
}
