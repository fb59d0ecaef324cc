//! The table: its columns, and their encoding as arrays.

use ramie::data::Standardizer;
use ramie::data::readers::csv::{self, Table};
use ramie::ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};

/// Columns of numbers.
const NUMBERS: [&str; 3] = ["area", "rooms", "age"];
/// A column of names.
pub const CATEGORY: &str = "region";
/// The column to predict.
pub const TARGET: &str = "price";
/// The file of the encoding, beside the model.
pub const FILE: &str = "encoding.toml";

/// Returns the built-in table.
pub fn houses() -> ramie::data::Result<Table> {
    let bytes = include_bytes!("houses.csv");
    csv::parse("houses.csv", bytes, &csv::Options::default())
}

/// The encoding of a table: means, deviations and known names of the training rows. It is saved with
/// the model, because the rows of later predictions need the same.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    categories: Vec<String>,
    numbers: Standardizer,
    target: Standardizer,
}

/// The numbers, the categories and the target of rows.
pub type Rows = (Array2<f32>, Array1<i32>, Array1<f32>);

impl Encoding {
    /// Determines the encoding of the training rows.
    pub fn fit(table: &Table) -> ramie::data::Result<Encoding> {
        let (_, categories) = table.classes(CATEGORY)?;
        Ok(Encoding {
            categories,
            numbers: Standardizer::fit(&table.matrix::<f32>(&NUMBERS)?)?,
            target: Standardizer::fit(&table.column::<f32>(TARGET)?)?,
        })
    }

    /// Returns the number of known names.
    pub fn categories(&self) -> usize {
        self.categories.len()
    }

    /// Returns the inputs of the model: standardized numbers `[n, 3]` and categories `[n]`. A name that
    /// is not known is an error, which names its row.
    pub fn inputs(&self, table: &Table) -> ramie::data::Result<(Array2<f32>, Array1<i32>)> {
        let numbers = self.numbers.apply(&table.matrix::<f32>(&NUMBERS)?);
        Ok((numbers, table.codes(CATEGORY, &self.categories)?))
    }

    /// Returns the inputs and the standardized target: the arrays that [`loss`](crate::loss) takes.
    pub fn rows(&self, table: &Table) -> ramie::data::Result<Rows> {
        let (numbers, categories) = self.inputs(table)?;
        let target = self.target.apply(&table.column::<f32>(TARGET)?);
        Ok((numbers, categories, target))
    }

    /// Converts an output of the model to the unit of the target.
    pub fn predictions(&self, outputs: &Array1<f32>) -> Array1<f32> {
        self.target.invert(outputs)
    }

    /// Converts a difference of outputs to the unit of the target.
    pub fn in_units(&self, difference: f64) -> f64 {
        difference * self.target.scale()[0]
    }
}
