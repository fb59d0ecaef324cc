//! Elementwise operations and reductions that run together on an array of rows, a few rows at a time.
//!
//! An array is wide if it has all elements of the rows, and narrow if it has one element for each row.
//! Stages on wide and on narrow arrays alternate. A stage computes wide arrays tile by tile in the first-level
//! cache. The values that later stages use stay in the second-level cache.

use super::fold::Folder;
use super::group::PARALLEL;
use super::{Group, Lanes, TILE, share};
use crate::memory::Line;
use bytemuck::Zeroable;
use smallvec::SmallVec;
use std::cell::Cell;

/// Elements of the rows that are computed at a time, unless a row has more. Rows have at most so many elements.
pub const PIECE: usize = 8 * TILE;

/// A reduction of rows or columns.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The kernels.
    pub folder: Folder,
    /// Converts an element to the type in which elements are combined.
    pub prepare: Group,
    /// Computes a result of the combined elements and the initial value.
    pub finish: Group,
    /// Number of rows of the operand.
    pub rows: usize,
    /// Number of elements of a row.
    pub columns: usize,
    /// Whether the rows are combined with each other, and not the elements of each row.
    pub across: bool,
}

/// The number of elements of an array in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All elements of the rows.
    Wide,
    /// An element for each row.
    Narrow,
    /// This number of elements.
    Fixed(usize),
}

/// Memory for an array: for a result, or for the rows that are computed at a time.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The number of elements.
    pub extent: Extent,
    /// Bytes of an element.
    pub width: usize,
}

/// The place of an operand's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An operand of all operations together.
    Input(usize),
    /// An array in memory.
    Place(usize),
    /// A narrow array in memory, whose elements are repeated for all elements of their rows.
    Repeated(usize),
}

/// Elementwise operations, and the reductions that follow them.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Whether the arrays are wide.
    pub wide: bool,
    /// The operations.
    pub group: Group,
    /// The operands of the operations.
    pub inputs: Vec<Origin>,
    /// The places of their results.
    pub outputs: Vec<usize>,
    /// The reductions.
    pub folds: Vec<Combine>,
}

/// A reduction of a stage.
#[derive(Clone, Copy, Debug)]
pub struct Combine {
    /// The kernels.
    pub folder: Folder,
    /// The operand, which is contiguous.
    pub origin: Origin,
    /// The place of the result: narrow if rows are reduced, of a fixed size if columns are.
    pub place: usize,
}

/// A result to which all rows contribute.
#[derive(Clone, Debug)]
pub struct Total {
    /// The place of the contributions, and number of the result.
    pub place: usize,
    /// The kernels.
    pub folder: Folder,
    /// Computes the result of the combined contributions and the initial value.
    pub finish: Group,
    /// Number of the input that is the initial value.
    pub initial: usize,
    /// Number of elements of the result.
    pub size: usize,
}

/// Operations on rows.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Number of rows.
    pub rows: usize,
    /// Number of elements of a row.
    pub columns: usize,
    /// The stages.
    pub stages: Vec<Stage>,
    /// The memory of the results, then of other values.
    pub places: Vec<Place>,
    /// Number of results.
    pub results: usize,
    /// The results that all rows contribute to, in their order.
    pub totals: Vec<Total>,
}

/// Operations on rows, and what their runs have in common.
#[derive(Debug)]
pub struct Prepared {
    rows: Rows,
    /// Number of rows that are computed at a time.
    piece: usize,
    /// Whether the work is worth several threads.
    is_large: bool,
    /// Bytes of each place for the rows of a piece.
    sizes: Vec<usize>,
}

/// Memory of sums, which need no allocation if they are few.
type Zeros = SmallVec<[u128; 16]>;

thread_local! {
    /// Memory of values that are not results.
    static SCRATCH: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

impl Rows {
    /// Returns the operations with the sizes of their pieces.
    pub fn prepare(self) -> Prepared {
        let piece = (PIECE / self.columns).clamp(1, self.rows);
        let sizes = self.places.iter().map(|place| self.bytes(place, piece));
        Prepared {
            piece,
            is_large: self.work() >= PARALLEL,
            sizes: sizes.collect(),
            rows: self,
        }
    }

    /// Returns the number of lanes of a number of rows.
    fn lanes(&self, rows: usize, wide: bool) -> usize {
        if wide { rows * self.columns } else { rows }
    }

    /// Returns the number of operations on elements, and of loads of them.
    fn work(&self) -> usize {
        let each = self.stages.iter().map(|stage| {
            let operations = stage.group.work() + stage.inputs.len() + stage.folds.len();
            self.lanes(self.rows, stage.wide) * operations
        });
        each.sum()
    }

    /// Returns the number of bytes that a place has for a number of rows.
    fn bytes(&self, place: &Place, rows: usize) -> usize {
        place.width
            * match place.extent {
                Extent::Wide => rows * self.columns,
                Extent::Narrow => rows,
                Extent::Fixed(size) => size,
            }
    }
}

impl Prepared {
    /// Returns the operations.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Computes the results. Those of an input that is [`Lanes::Output`] are in the memory of that result.
    pub fn run(&self, inputs: &[Lanes<'_>], outputs: &mut [&mut [u8]], threads: usize) {
        if self.piece == self.rows.rows {
            return self.run_whole(inputs, outputs);
        }
        let count = self.rows.rows.div_ceil(self.piece);
        let totals = &self.rows.totals;
        let mut parts: SmallVec<[Zeros; 2]> = SmallVec::new();
        for total in totals {
            let size = count * self.sizes[total.place];
            parts.push(Zeros::from_elem(0, size.div_ceil(16)));
        }
        let mut pieces: SmallVec<[SmallVec<[&mut [u8]; 8]>; 1]> = SmallVec::new();
        pieces.resize_with(count, SmallVec::new);
        let mut contributions = parts.iter_mut();
        let places = self.rows.places.iter().zip(&self.sizes);
        for ((place, size), output) in places.zip(&mut *outputs) {
            let memory = match place.extent {
                Extent::Fixed(_) => contributions.next().map(|p| bytemuck::cast_slice_mut(p)),
                _ => Some(&mut **output),
            };
            let chunks = memory.map(|m| m.chunks_mut(*size));
            let chunks = pieces.iter_mut().zip(chunks.into_iter().flatten());
            chunks.for_each(|(piece, chunk)| piece.push(chunk));
        }
        let threads = if self.is_large { threads } else { 1 };
        share(threads, &mut pieces, |i, piece| {
            self.run_piece(i, inputs, piece)
        });
        drop(pieces);
        for (total, parts) in totals.iter().zip(&parts) {
            let size = self.sizes[total.place];
            let parts = &bytemuck::cast_slice(parts)[..count * size];
            total.run(parts, size, inputs, outputs[total.place]);
        }
    }

    /// Computes the results of a single piece, whose contributions are the results.
    fn run_whole(&self, inputs: &[Lanes<'_>], outputs: &mut [&mut [u8]]) {
        let mut scratch = SCRATCH.try_with(Cell::take).unwrap_or_default();
        let padded = self.sizes.iter().map(|size| size.next_multiple_of(64));
        let size = padded.sum::<usize>() / 64;
        scratch.resize(size.max(scratch.len()), Line::zeroed());
        let mut rest: &mut [u8] = bytemuck::cast_slice_mut(&mut scratch);
        let mut memory: SmallVec<[&mut [u8]; 8]> = SmallVec::new();
        let mut totals: SmallVec<[&mut [u8]; 4]> = SmallVec::new();
        let mut outputs = outputs.iter_mut();
        for (place, size) in self.rows.places.iter().zip(&self.sizes) {
            match (outputs.next(), place.extent) {
                (Some(output), Extent::Wide | Extent::Narrow) => {
                    memory.push(output);
                    continue;
                }
                (Some(output), Extent::Fixed(_)) => totals.push(output),
                (None, _) => {}
            }
            let (taken, left) = rest.split_at_mut(size.next_multiple_of(64));
            memory.push(&mut taken[..*size]);
            rest = left;
        }
        for stage in &self.rows.stages {
            stage.run(&self.rows, 0, self.rows.rows, inputs, &mut memory);
        }
        for (total, output) in self.rows.totals.iter().zip(totals) {
            total.finish(&*memory[total.place], inputs, output);
        }
        drop(memory);
        let _ = SCRATCH.try_with(|kept| kept.set(scratch));
    }

    /// Computes some of the rows. `results` has their part of the memory of results.
    fn run_piece(&self, number: usize, inputs: &[Lanes<'_>], results: &mut [&mut [u8]]) {
        let all = &self.rows;
        let first = number * self.piece;
        let rows = self.piece.min(all.rows - first);
        let places = &all.places[all.results..];
        let padded = |size: usize| size.next_multiple_of(64);
        let sizes = self.sizes[all.results..].iter().map(|size| padded(*size));
        // As the tiles of a group: a thread's own memory may be gone.
        let mut scratch = SCRATCH.try_with(Cell::take).unwrap_or_default();
        let size = sizes.clone().sum::<usize>() / 64;
        scratch.resize(size.max(scratch.len()), Line::zeroed());
        let mut memory: SmallVec<[&mut [u8]; 8]> = SmallVec::new();
        memory.extend(results.iter_mut().map(|result| &mut **result));
        let mut rest: &mut [u8] = bytemuck::cast_slice_mut(&mut scratch);
        for (size, place) in sizes.zip(places) {
            let (taken, left) = rest.split_at_mut(size);
            memory.push(&mut taken[..all.bytes(place, rows)]);
            rest = left;
        }
        for stage in &all.stages {
            stage.run(all, first, rows, inputs, &mut memory);
        }
        drop(memory);
        let _ = SCRATCH.try_with(|kept| kept.set(scratch));
    }
}

impl Stage {
    /// Computes the rows from `first` on.
    fn run(
        &self,
        all: &Rows,
        first: usize,
        rows: usize,
        inputs: &[Lanes<'_>],
        memory: &mut [&mut [u8]],
    ) {
        let (start, count) = (all.lanes(first, self.wide), all.lanes(rows, self.wide));
        let input = |i: usize, width: usize| inputs[i].part(start..start + count, width);
        if !self.outputs.is_empty() {
            let mut outputs: SmallVec<[&mut [u8]; 4]> = SmallVec::new();
            for place in &self.outputs {
                outputs.push(std::mem::take(&mut memory[*place]));
            }
            let elements = self.inputs.iter().zip(&self.group.inputs);
            let mut lanes: SmallVec<[Lanes<'_>; 8]> = SmallVec::new();
            elements.for_each(|(origin, element)| {
                lanes.push(match *origin {
                    Origin::Input(i) => match input(i, element.bytes()) {
                        Lanes::Output(k) => match self.outputs.iter().position(|o| *o == k) {
                            Some(output) => Lanes::Output(output),
                            None => Lanes::Slice(&*memory[k]),
                        },
                        lanes => lanes,
                    },
                    Origin::Place(place) => Lanes::Slice(&*memory[place]),
                    Origin::Repeated(place) => Lanes::Repeated(&*memory[place], all.columns),
                })
            });
            self.group.run_piece(&lanes, &mut outputs, 0..count);
            drop(lanes);
            for (place, output) in self.outputs.iter().zip(outputs) {
                memory[*place] = output;
            }
        }
        for fold in &self.folds {
            let target = std::mem::take(&mut memory[fold.place]);
            let data = match fold.origin {
                Origin::Input(i) => match input(i, fold.folder.width) {
                    Lanes::Slice(data) => data,
                    Lanes::Output(k) => &*memory[k],
                    _ => unreachable!("the operand of a reduction is contiguous"),
                },
                Origin::Place(place) | Origin::Repeated(place) => &*memory[place],
            };
            let sums = target.len() / fold.folder.width;
            match all.places[fold.place].extent {
                Extent::Fixed(size) if size > 1 => fold.folder.rows(data, target),
                _ => fold.folder.lines(data, target, count / sums),
            }
            memory[fold.place] = target;
        }
    }
}

impl Total {
    /// Computes the result of contributions of a number of bytes.
    fn run(&self, parts: &[u8], size: usize, inputs: &[Lanes<'_>], output: &mut [u8]) {
        let mut sum = Zeros::from_elem(0, size.div_ceil(16));
        let sum = &mut bytemuck::cast_slice_mut::<_, u8>(&mut sum)[..size];
        match size / self.folder.width {
            1 => self.folder.lines(parts, sum, parts.len() / size),
            _ => self.folder.rows(parts, sum),
        }
        self.finish(sum, inputs, output);
    }

    /// Computes the result of the only contribution.
    fn finish(&self, sum: &[u8], inputs: &[Lanes<'_>], output: &mut [u8]) {
        let lanes = [Lanes::Slice(sum), inputs[self.initial]];
        let count = sum.len() / self.folder.width;
        self.finish.run(&lanes, &mut [output], count, 1);
    }
}
