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
    for part in ["", "core", "nn", "optim", "data", "checkpoint", "derive"] {
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
