//! The saved position of a loader.

use crate::{Error, Result};
use ramie_core::files::Message;
use serde::{Deserialize, Serialize};

/// The position of an iteration over a [`DataLoader`](crate::DataLoader): after the last batch
/// that was returned. It consists of a few numbers, to be saved with every checkpoint.
///
/// The position counts elements of the whole dataset. It does not depend on the number of
/// workers, nor on the number of processes that share the batches, so a run can resume with
/// different numbers of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LoaderState {
    version: u32,
    epoch: u64,
    position: u64,
    len: u64,
    fingerprint: u64,
}

const VERSION: u32 = 1;

impl LoaderState {
    pub(super) fn new(epoch: usize, position: usize, len: usize, fingerprint: u64) -> LoaderState {
        LoaderState {
            version: VERSION,
            epoch: epoch as u64,
            position: position as u64,
            len: len as u64,
            fingerprint,
        }
    }

    /// Returns the epoch of the last batch.
    pub fn epoch(&self) -> usize {
        self.epoch as usize
    }

    /// Returns the number of elements of the epoch's order that have been consumed; with a batch
    /// sampler, the number of batches.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the position, if the order of its epoch is unchanged.
    pub(super) fn check(&self, len: usize, fingerprint: u64) -> Result<usize> {
        if self.version != VERSION {
            return Err(Error::position(
                Message::new(format!(
                    "it has version {}, but this program reads version {VERSION}",
                    self.version
                ))
                .help("use the version of Ramie that saved it"),
            ));
        }
        if self.len != len as u64 {
            return Err(Error::position(
                Message::new(format!(
                    "the epoch had {} elements, but now has {len}",
                    self.len
                ))
                .help("use the dataset of the run that saved it"),
            ));
        }
        if self.fingerprint != fingerprint {
            return Err(Error::position(
                Message::new(format!("epoch {} has a different order", self.epoch))
                    .help("use the sampler and the seed of the run that saved it"),
            ));
        }
        match usize::try_from(self.position) {
            Ok(position) if position <= len => Ok(position),
            _ => Err(Error::position(format!(
                "its index {} exceeds the length {len}",
                self.position
            ))),
        }
    }
}
