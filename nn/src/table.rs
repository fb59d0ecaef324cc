//! Text tables with borders.

use std::fmt::Write;

/// Rows of cells, separated by lines. A cell has one or more lines of text.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(header: Vec<String>) -> Table {
        Table { rows: vec![header] }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Formats the table, with its title above.
    pub fn render(&self, title: &str) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            let cells = self.rows.iter().filter_map(|r| r.get(c));
            let lines = cells.flat_map(|cell| cell.lines());
            lines.map(|l| l.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let rule = |left: char, mid: char, right: char, line: char| {
            let parts: Vec<String> = widths
                .iter()
                .map(|w| line.to_string().repeat(w + 2))
                .collect();
            format!("{left}{}{right}\n", parts.join(&mid.to_string()))
        };
        let total: usize = widths.iter().map(|w| w + 3).sum::<usize>() + 1;
        let mut text = format!(
            "{:>width$}\n",
            title,
            width = (total + title.chars().count()) / 2
        );
        text.push_str(&rule('┏', '┳', '┓', '━'));
        for (i, row) in self.rows.iter().enumerate() {
            let height = row.iter().map(|c| c.lines().count()).max().unwrap_or(0);
            let bar = if i == 0 { '┃' } else { '│' };
            for line in 0..height.max(1) {
                text.push(bar);
                for (c, width) in widths.iter().enumerate() {
                    let cell = row.get(c).and_then(|cell| cell.lines().nth(line));
                    let cell = cell.unwrap_or("");
                    let _ = write!(text, " {cell:<width$} {bar}");
                }
                text.push('\n');
            }
            text.push_str(&match (i, i + 1 == self.rows.len()) {
                (_, true) => rule('└', '┴', '┘', '─'),
                (0, _) => rule('┡', '╇', '┩', '━'),
                _ => rule('├', '┼', '┤', '─'),
            });
        }
        text
    }
}
