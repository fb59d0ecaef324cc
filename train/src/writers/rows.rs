//! `Rows`: collects the numbers of a step until the next step begins.

/// The numbers of a step.
pub(super) struct Row {
    pub step: u64,
    pub values: Vec<(String, f64)>,
}

/// Collects the numbers of a step.
#[derive(Default)]
pub(super) struct Rows(Option<Row>);

impl Rows {
    /// Adds a number. Returns the previous row if that is complete: it belongs to another step,
    /// or already has a number of this name.
    pub fn add(&mut self, step: u64, tag: &str, value: f64) -> Option<Row> {
        let fits = |row: &Row| row.step == step && row.values.iter().all(|(t, _)| t != tag);
        let done = match &self.0 {
            Some(row) if !fits(row) => self.0.take(),
            _ => None,
        };
        let row = self.0.get_or_insert_with(|| Row {
            step,
            values: Vec::new(),
        });
        row.values.push((tag.to_owned(), value));
        done
    }

    /// Takes the unfinished row.
    pub fn take(&mut self) -> Option<Row> {
        self.0.take()
    }
}
