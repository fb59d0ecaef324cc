//! Text output of the table of a model.

use super::{Summary, SummaryRow};
use crate::quantity::Quantity;
use crate::table::Table;
use ramie_core::Aval;
use std::fmt;

/// Formats types, one to a line.
fn types(avals: &[Aval]) -> String {
    let lines: Vec<String> = avals.iter().map(ToString::to_string).collect();
    lines.join("\n")
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

    fn cells(&self, row: &SummaryRow) -> Vec<String> {
        let mut cells = vec![
            row.path.clone(),
            row.class.clone(),
            types(&row.inputs),
            types(&row.outputs),
        ];
        let counts = [row.flops, row.vjp_flops];
        cells.extend(counts.into_iter().flatten().map(|n| n.to_string()));
        for collection in &self.collections {
            let own = row.variables.iter().filter(|(name, _)| name == collection);
            let own = own.flat_map(|(_, variables)| variables);
            let mut lines: Vec<String> =
                own.map(|(name, aval)| format!("{name}: {aval}")).collect();
            let size = row.size(collection);
            if size.elements > 0 {
                lines.push(size.to_string());
            }
            cells.push(lines.join("\n"));
        }
        cells
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headings = self.headings();
        let mut totals = vec![String::new(); headings.len() - self.collections.len()];
        totals[0] = "total".into();
        totals.extend(self.collections.iter().map(|c| self.total(c).to_string()));
        let mut table = Table::new(headings);
        for row in &self.rows {
            table.row(self.cells(row));
        }
        table.row(totals);
        let all: Quantity = self.collections.iter().map(|c| self.total(c)).sum();
        let text = table.render(&format!("{} summary", self.class));
        write!(f, "{text}Total: {all}")
    }
}
