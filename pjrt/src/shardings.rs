//! The shardings of a partitioned program's inputs and outputs.

use crate::buffer_type::BufferType;
use crate::error::{Error, ErrorCode, Result};
use crate::executable::Executable;
use ramie_formats::tile_sharding::{Layouts, TileSharding, of_module};

impl Executable {
    /// Returns the shardings of the outputs, including those chosen by the compiler (see
    /// `CompileOptions::propagate_to_outputs`).
    ///
    /// # Errors
    /// Returns the plugin's error, or `Unimplemented` if the program's format is unknown.
    pub fn output_shardings(&self) -> Result<Vec<TileSharding>> {
        let ranks: Vec<usize> = ranks(&self.signature().outputs);
        self.complete(self.layouts()?.outputs, &ranks, "outputs")
    }

    /// Returns the shardings of the inputs.
    ///
    /// # Errors
    /// Returns the same errors as [`output_shardings`](Executable::output_shardings).
    pub fn input_shardings(&self) -> Result<Vec<TileSharding>> {
        let ranks: Vec<usize> = ranks(&self.signature().inputs);
        self.complete(self.layouts()?.inputs, &ranks, "inputs")
    }

    pub(crate) fn layouts(&self) -> Result<Layouts> {
        of_module(&self.unloaded().module()?).map_err(malformed)
    }

    /// Checks the shardings against the executable's inputs or outputs. A program with a single
    /// partition has no shardings: all arrays are replicated.
    fn complete(
        &self,
        found: Vec<TileSharding>,
        ranks: &[usize],
        of: &str,
    ) -> Result<Vec<TileSharding>> {
        if found.is_empty() {
            return Ok(vec![TileSharding::Replicated; ranks.len()]);
        }
        let fits = |(sharding, &rank): (&TileSharding, &usize)| match sharding {
            TileSharding::Tiled { tiles, .. } => tiles.len() == rank,
            _ => true,
        };
        if found.len() == ranks.len() && found.iter().zip(ranks).all(fits) {
            return Ok(found);
        }
        Err(malformed(format!(
            "{} has {} {of} of ranks {ranks:?}, but the compiled module contains {found:?}",
            self.name(),
            ranks.len()
        )))
    }
}

fn ranks(types: &[BufferType]) -> Vec<usize> {
    types.iter().map(|ty| ty.dims().len()).collect()
}

fn malformed(message: String) -> Error {
    Error::Plugin {
        code: ErrorCode::Internal,
        message,
        context: "reading the layouts of a compiled program".into(),
    }
}
