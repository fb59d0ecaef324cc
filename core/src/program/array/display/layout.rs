//! Nested brackets of words, wrapped and elided like NumPy's.

/// Arrays with more elements are elided.
const THRESHOLD: usize = 1000;
/// Number of elements shown at each end of an elided axis.
const EDGE: usize = 3;

/// Layout of the words of an array.
pub(super) struct Layout {
    /// Separator of words.
    pub separator: &'static str,
    /// Indentation of the words of a new line.
    pub indent: usize,
    /// Maximum width of a line.
    pub width: usize,
}

/// Returns the indices shown along an axis: all of them, or those at both ends of an elided axis.
fn visible(size: usize, elided: bool) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    if elided && size > 2 * EDGE {
        (0..EDGE, size - EDGE..size)
    } else {
        (0..size, size..size)
    }
}

/// Returns the row-major indices of the elements that are shown.
pub(super) fn shown(shape: &[usize]) -> Vec<usize> {
    let elided = shape.iter().product::<usize>() > THRESHOLD;
    shape.iter().fold(vec![0], |starts, &size| {
        let (head, tail) = visible(size, elided);
        let along: Vec<usize> = head.chain(tail).collect();
        starts
            .iter()
            .flat_map(|start| along.iter().map(move |i| start * size + i))
            .collect()
    })
}

impl Layout {
    /// Formats an array of `shape` whose shown elements are `words`.
    pub fn brackets(&self, shape: &[usize], words: &mut dyn Iterator<Item = String>) -> String {
        let elided = shape.iter().product::<usize>() > THRESHOLD;
        self.nest(shape, elided, self.indent, self.width, words)
    }

    fn nest(
        &self,
        shape: &[usize],
        elided: bool,
        indent: usize,
        width: usize,
        words: &mut dyn Iterator<Item = String>,
    ) -> String {
        let Some((&size, inner)) = shape.split_first() else {
            return words.next().unwrap_or_default();
        };
        let (head, tail) = visible(size, elided);
        let gap = !tail.is_empty();
        let ends = if gap { 2 * EDGE } else { head.len() };
        let mut parts = Vec::with_capacity(ends + 1);
        for i in 0..ends {
            if gap && i == EDGE {
                parts.push("...".to_string());
            }
            parts.push(self.nest(inner, elided, indent + 1, width - 1, words));
        }
        let text = if inner.is_empty() {
            self.fill(&parts, indent, width)
        } else {
            let newlines = "\n".repeat(inner.len());
            let margin = " ".repeat(indent);
            parts.join(&format!("{}{newlines}{margin}", self.separator.trim_end()))
        };
        format!("[{text}]")
    }

    /// Fills lines with words, each as full as possible.
    fn fill(&self, words: &[String], indent: usize, width: usize) -> String {
        let room = width - self.separator.trim_end().len().max(1);
        let margin = " ".repeat(indent);
        let (mut text, mut line) = (String::new(), margin.clone());
        for (i, word) in words.iter().enumerate() {
            if i > 0 {
                line.push_str(self.separator);
            }
            if line.len() > indent && line.len() + word.len() > room {
                text.push_str(line.trim_end());
                text.push('\n');
                line.clone_from(&margin);
            }
            line.push_str(word);
        }
        text.push_str(&line);
        text.split_off(indent)
    }
}
