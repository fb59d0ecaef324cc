//! Predictions of a trained model.

use crate::model::Regressor;
use crate::table::{Encoding, FILE};
use ramie::Array;
use ramie::checkpoint::safetensors::load_into;
use ramie::data::readers::csv::{self, Table};
use ramie::ndarray::{Array1, Ix1};
use ramie::nn::Rngs;
use std::error::Error;
use std::fs;
use std::path::Path;

/// A trained model with the encoding of its inputs.
pub struct Predictor {
    model: Regressor,
    encoding: Encoding,
}

impl Predictor {
    /// Loads both from the folder of a run.
    pub fn load(folder: &Path) -> Result<Predictor, Box<dyn Error>> {
        let file = folder.join(FILE);
        let failed = |e: &dyn Error| format!("{}: {e}", file.display());
        let text = fs::read_to_string(&file).map_err(|e| {
            let help = "train first, or pass the folder of a run with `--out`";
            format!("{}\n  help: {help}", failed(&e))
        })?;
        let encoding: Encoding = toml::from_str(&text).map_err(|e| failed(&e))?;
        let mut model = Regressor::new(encoding.categories(), &mut Rngs::new(0));
        load_into(folder.join("model.safetensors"), &mut model)?;
        Ok(Predictor { model, encoding })
    }

    /// Predicts the target of each row, in its unit.
    pub fn predict(&self, table: &Table) -> Result<Array1<f32>, Box<dyn Error>> {
        let (numbers, categories) = self.encoding.inputs(table)?;
        let outputs = self
            .model
            .forward(&Array::from(&numbers), &Array::from(&categories));
        let outputs = outputs.to_ndarray().into_dimensionality::<Ix1>()?;
        Ok(self.encoding.predictions(&outputs))
    }

    /// Draws the predictions against the true values, with the feature `plots`.
    #[cfg(feature = "plots")]
    pub fn plot(&self, table: &Table, folder: &Path) -> Result<(), Box<dyn Error>> {
        use crate::table::TARGET;
        let (truth, predictions) = (table.column::<f32>(TARGET)?, self.predict(table)?);
        let ends = [truth.iter(), predictions.iter()].map(|values| {
            let ends = (f32::INFINITY, f32::NEG_INFINITY);
            values.fold(ends, |(low, high), x| (low.min(*x), high.max(*x)))
        });
        let ends = [ends[0].0.min(ends[1].0), ends[0].1.max(ends[1].1)];
        ramie::plot::Plot::new()
            .x_label(format!("{TARGET} in the table"))
            .y_label(format!("predicted {TARGET}"))
            .line("equal", ends.map(|x| (x, x)))
            .dots("validation", truth.into_iter().zip(predictions))
            .save(folder.join("parity.png"))?;
        Ok(())
    }

    #[cfg(not(feature = "plots"))]
    pub fn plot(&self, _table: &Table, _folder: &Path) -> Result<(), Box<dyn Error>> {
        Ok(())
    }
}

/// Prints the predictions for the rows of a file, one per line.
pub fn file(file: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let table = csv::load(file, &csv::Options::default())?;
    for prediction in Predictor::load(folder)?.predict(&table)? {
        println!("{prediction}");
    }
    Ok(())
}
