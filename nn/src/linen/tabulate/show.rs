//! Text output of the table of a model.

use super::{Summary, SummaryRow, SummarySize};
use crate::quantity::Quantity;
use ramie_core::Aval;
use std::fmt;

impl fmt::Display for SummarySize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quantity = Quantity {
            count: self.elements,
            bytes: self.bytes,
        };
        quantity.fmt(f)
    }
}

/// The lines of a cell.
type Cell = Vec<String>;

fn types(avals: &[Aval]) -> Cell {
    avals.iter().map(ToString::to_string).collect()
}

impl Summary {
    fn headings(&self) -> Vec<String> {
        let mut headings: Vec<String> = ["path", "module", "inputs", "outputs"]
            .map(str::to_owned)
            .to_vec();
        if self.rows.iter().any(|r| r.flops.is_some()) {
            headings.push("flops".into());
        }
        if self.rows.iter().any(|r| r.vjp_flops.is_some()) {
            headings.push("vjp_flops".into());
        }
        headings.extend(self.collections.iter().cloned());
        headings
    }

    fn cells(&self, row: &SummaryRow) -> Vec<Cell> {
        let mut cells = vec![
            vec![row.path.clone()],
            vec![row.class.clone()],
            types(&row.inputs),
            types(&row.outputs),
        ];
        let counts = [row.flops, row.vjp_flops];
        cells.extend(counts.into_iter().flatten().map(|n| vec![n.to_string()]));
        for collection in &self.collections {
            let own = row.variables.iter().filter(|(name, _)| name == collection);
            let own = own.flat_map(|(_, variables)| variables);
            let mut cell: Cell = own.map(|(name, aval)| format!("{name}: {aval}")).collect();
            let size = row.size(collection);
            if size.elements > 0 {
                cell.push(size.to_string());
            }
            cells.push(cell);
        }
        cells
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headings = self.headings();
        let mut table: Vec<Vec<Cell>> = vec![headings.iter().map(|h| vec![h.clone()]).collect()];
        table.extend(self.rows.iter().map(|row| self.cells(row)));
        let mut totals = vec![Cell::new(); headings.len() - self.collections.len()];
        totals[0] = vec!["total".into()];
        let sizes = self
            .collections
            .iter()
            .map(|c| vec![self.total(c).to_string()]);
        totals.extend(sizes);
        table.push(totals);

        let width = |column: usize| {
            let cells = table.iter().flat_map(|row| &row[column]);
            cells.map(|line| line.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..headings.len()).map(width).collect();
        let rule = |f: &mut fmt::Formatter<'_>| {
            let dashes: Vec<String> = widths.iter().map(|w| "-".repeat(w + 2)).collect();
            writeln!(f, "+{}+", dashes.join("+"))
        };
        writeln!(f, "{} summary", self.class)?;
        rule(f)?;
        for row in &table {
            let height = row.iter().map(Vec::len).max().unwrap_or(0);
            for line in 0..height {
                for (cell, width) in row.iter().zip(&widths) {
                    let text = cell.get(line).map_or("", String::as_str);
                    write!(f, "| {text:width$} ")?;
                }
                writeln!(f, "|")?;
            }
            rule(f)?;
        }
        let mut all = SummarySize::default();
        for collection in &self.collections {
            all.add(self.total(collection));
        }
        write!(f, "Total: {all}")
    }
}
