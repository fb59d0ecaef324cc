//! Pretty-printing: documents of text and possible line breaks, in which each group of breaks
//! stays on one line if it fits.

use crate::base::stack::with_room;

/// Maximum number of columns of a group on one line.
const WIDTH: usize = 80;

/// A document; see [`Doc::render`].
pub(super) enum Doc {
    Text(String),
    /// This text, or a newline followed by the indentation.
    Break(&'static str),
    Concat(Vec<Doc>),
    /// Indents the newlines inside by this many additional columns.
    Nest(usize, Box<Doc>),
    /// A group: all breaks directly inside are text, or all are newlines. The number is its width
    /// on one line.
    Group(usize, Box<Doc>),
}

pub(super) fn text(s: impl Into<String>) -> Doc {
    Doc::Text(s.into())
}

pub(super) fn nest(n: usize, docs: Vec<Doc>) -> Doc {
    Doc::Nest(n, Box::new(Doc::Concat(docs)))
}

pub(super) fn group(docs: Vec<Doc>) -> Doc {
    let inner = Doc::Concat(docs);
    Doc::Group(inner.width(), Box::new(inner))
}

/// Concatenates documents with separators between them.
pub(super) fn join(separator: impl Fn() -> Doc, docs: Vec<Doc>) -> Doc {
    let mut out = Vec::with_capacity(docs.len() * 2);
    for (i, doc) in docs.into_iter().enumerate() {
        if i > 0 {
            out.push(separator());
        }
        out.push(doc);
    }
    Doc::Concat(out)
}

/// Drops nested groups, with sufficient stack.
impl Drop for Doc {
    fn drop(&mut self) {
        if let Doc::Group(_, inner) = self {
            let inner = std::mem::replace(&mut **inner, Doc::Break(""));
            with_room(|| drop(inner));
        }
    }
}

impl Doc {
    /// Returns the number of columns on one line.
    fn width(&self) -> usize {
        match self {
            Doc::Text(s) => s.chars().count(),
            Doc::Break(s) => s.len(),
            Doc::Concat(docs) => docs.iter().map(Doc::width).sum(),
            Doc::Nest(_, doc) => doc.width(),
            Doc::Group(width, _) => *width,
        }
    }

    /// Renders the document. Breaks outside groups are newlines. The breaks of a group that fits
    /// into the rest of the line are written as text; otherwise they are newlines, and the groups
    /// inside decide separately.
    pub(super) fn render(&self) -> String {
        let mut out = String::new();
        let mut column = 0;
        let mut todo = vec![(0, false, self)];
        while let Some((indent, flat, doc)) = todo.pop() {
            match doc {
                Doc::Text(s) => {
                    out.push_str(s);
                    column += s.chars().count();
                }
                Doc::Break(s) if flat => {
                    out.push_str(s);
                    column += s.len();
                }
                Doc::Break(_) => {
                    out.push('\n');
                    out.extend(std::iter::repeat_n(' ', indent));
                    column = indent;
                }
                Doc::Concat(docs) => todo.extend(docs.iter().rev().map(|d| (indent, flat, d))),
                Doc::Nest(n, doc) => todo.push((indent + n, flat, doc)),
                Doc::Group(width, doc) => {
                    todo.push((indent, width + column <= WIDTH, doc));
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(n: usize, item: &str) -> Doc {
        let items = (0..n).map(|_| text(item)).collect();
        group(vec![
            text("("),
            nest(2, vec![join(|| Doc::Break(" "), items)]),
            text(")"),
        ])
    }

    #[test]
    fn a_group_is_broken_when_it_does_not_fit() {
        assert_eq!(list(2, "ab").render(), "(ab ab)");
        let exact = list(26, "ab").render();
        assert_eq!((exact.len(), exact.lines().count()), (79, 1));
        let over = list(27, "ab").render();
        assert_eq!(over.lines().count(), 27);
        assert_eq!(over.lines().nth(1), Some("  ab"));
    }

    #[test]
    fn inner_groups_decide_again() {
        let outer = group(vec![list(26, "ab"), Doc::Break(" "), list(2, "c")]);
        let text = outer.render();
        assert_eq!(text.lines().count(), 2);
        assert!(text.ends_with("\n(c c)"));
    }

    #[test]
    fn breaks_outside_of_groups_are_newlines() {
        let doc = Doc::Concat(vec![text("a"), nest(3, vec![Doc::Break(" "), text("b")])]);
        assert_eq!(doc.render(), "a\n   b");
    }
}
