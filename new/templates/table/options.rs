//! The options: from the command line, from a TOML file, or their defaults.

use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser};
use ramie::train::Resume;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use toml::Table;

/// Train a model that predicts a column of a table, or predict with it.
#[derive(Parser, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// TOML file of options, such as the `options.toml` of an earlier run. Those of the command line
    /// replace its values.
    #[arg(long)]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// Number of epochs.
    #[arg(long, default_value_t = 60)]
    pub epochs: usize,
    /// Rows per step; a multiple of the number of devices.
    #[arg(long, default_value_t = 32)]
    pub batch_size: usize,
    /// Learning rate of Adam.
    #[arg(long, default_value_t = 1e-3)]
    pub learning_rate: f64,
    /// CSV file of training data; defaults to a built-in table of houses.
    #[arg(long)]
    pub data: Option<PathBuf>,
    /// Seed of the initial parameters, of the split and of the data order.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// CSV file of rows to predict with the model in the folder of `--out`, instead of training.
    #[arg(long)]
    #[serde(skip)]
    pub predict: Option<PathBuf>,
    /// Folder for checkpoints, metrics and the trained model.
    #[arg(long, default_value = "out")]
    pub out: PathBuf,
    /// Run in that folder to continue: `unfinished`, `always` (a finished one too) or `never`, which
    /// moves it to another folder.
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true)]
    #[arg(default_value_t, default_missing_value = "always")]
    #[serde(skip)]
    pub resume: Resume,
}

impl Options {
    /// Reads the command line, and the file of `--config`.
    pub fn read() -> Result<Options, Box<dyn Error>> {
        let matches = Options::command().get_matches();
        let given = Options::from_arg_matches(&matches)?;
        let Some(file) = &given.config else {
            return Ok(given);
        };
        let mut merged = table(file)?;
        for (name, value) in Table::try_from(&given)? {
            let is_given = matches.value_source(&name) == Some(ValueSource::CommandLine);
            if is_given || !merged.contains_key(&name) {
                merged.insert(name, value);
            }
        }
        let merged: Options = merged
            .try_into()
            .map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(Options {
            resume: given.resume,
            predict: given.predict,
            ..merged
        })
    }
}

fn table(file: &Path) -> Result<Table, String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string());
    text.and_then(|text| text.parse().map_err(|e: toml::de::Error| e.to_string()))
        .map_err(|e| format!("{}: {e}", file.display()))
}
