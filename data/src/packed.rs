//! Rows of concatenated sequences.

use crate::{Result, Sample};
use ndarray::Array2;

/// A row of concatenated sequences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// The tokens, followed by zeros: `[length]`.
    pub tokens: Vec<i32>,
    /// The number of each token's sequence, counted from 1, and 0 for padding: `[length]`.
    /// Attention must stay within a segment.
    pub segment_ids: Vec<i32>,
    /// The position of each token in its sequence: `[length]`.
    pub positions: Vec<i32>,
}

impl Packed {
    /// Appends a sequence.
    pub(crate) fn push(&mut self, sequence: Vec<i32>) {
        // Segment 0 is padding, so sequences count from 1.
        let segment = self.segment_ids.last().map_or(1, |last| last + 1);
        self.segment_ids.extend(sequence.iter().map(|_| segment));
        self.positions.extend(0..sequence.len() as i32);
        self.tokens.extend(sequence);
    }

    /// Pads the row with zeros.
    pub(crate) fn fill(&mut self, length: usize) {
        for list in [&mut self.tokens, &mut self.segment_ids, &mut self.positions] {
            list.resize(length, 0);
        }
    }
}

/// Stacks rows: tokens, segments and positions, `[n, length]` each.
impl Sample for Packed {
    type Batch = (Array2<i32>, Array2<i32>, Array2<i32>);
    fn collate(items: Vec<Packed>) -> Result<Self::Batch> {
        let parts = |p: Packed| (p.tokens, p.segment_ids, p.positions);
        Sample::collate(items.into_iter().map(parts).collect())
    }
}
