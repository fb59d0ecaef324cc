//! Groups of elementwise operations, computed tile by tile in the first-level cache.

use super::kernel::repeat;
use super::{Kernel, share};
use crate::ElementType;
use crate::memory::{Tensor, with_width};
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Range;

/// Elements of a tile: operands and results of a few operations stay in the first-level cache.
pub const TILE: usize = 1024;
/// Tiles that a thread computes at a time.
const PIECE: usize = 16 * TILE;

/// An operation of a group.
#[derive(Clone, Debug)]
pub struct Step {
    /// The operation.
    pub kernel: Kernel,
    /// Its operands: inputs of the group by number, then results of steps.
    pub arguments: SmallVec<[u32; 3]>,
    /// The element type of the result.
    pub element: ElementType,
}

/// The memory of an operand or a result of a step.
#[derive(Clone, Copy, Debug)]
enum Place {
    Input(usize),
    Scratch(usize),
    Output(usize),
}

/// The memory of a step.
#[derive(Clone, Debug)]
struct Places {
    result: Place,
    /// The operands, each with the bytes of an element.
    arguments: SmallVec<[(Place, usize); 3]>,
}

/// The bytes of an element.
pub type Bytes = SmallVec<[u8; 16]>;

/// A graph of elementwise operations over any number of lanes.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Element types of the inputs, of which the last are constants.
    pub inputs: Vec<ElementType>,
    constants: Vec<Bytes>,
    /// The operations. Each uses inputs and results of earlier steps.
    pub steps: Vec<Step>,
    /// Numbers of the results.
    pub outputs: Vec<u32>,
    places: Vec<Places>,
    /// Bytes of an element of each scratch tile.
    scratch: Vec<usize>,
}

/// Memory of a tile.
type Tile = Vec<u128>;

thread_local! {
    /// The tiles of the last group that a thread computed.
    static TILES: Cell<Vec<Tile>> = const { Cell::new(Vec::new()) };
}

/// The elements of an input.
#[derive(Clone, Copy)]
pub enum Lanes<'a> {
    /// An element for each lane.
    Slice(&'a [u8]),
    /// One element for all lanes.
    Scalar(&'a [u8]),
    /// The elements of a view in row-major order, from the one with this number on.
    View(&'a Tensor, usize),
    /// Elements that are each repeated for a number of lanes.
    Repeated(&'a [u8], usize),
    /// The elements that an output has before it is written.
    Output(usize),
}

impl<'a> Lanes<'a> {
    /// Returns the elements of a tensor: one for all lanes if all of them are the same in memory.
    pub fn of(tensor: &'a Tensor) -> Lanes<'a> {
        if let Some(element) = tensor.repeated() {
            Lanes::Scalar(element)
        } else if tensor.is_contiguous() {
            Lanes::Slice(tensor.bytes())
        } else {
            Lanes::View(tensor, 0)
        }
    }

    /// Returns the elements for a range of lanes.
    pub fn part(self, range: Range<usize>, width: usize) -> Lanes<'a> {
        match self {
            Lanes::Slice(bytes) => Lanes::Slice(&bytes[range.start * width..range.end * width]),
            Lanes::View(view, first) => Lanes::View(view, first + range.start),
            other => other,
        }
    }
}

impl Group {
    /// Returns the group that does nothing with inputs of these types.
    pub fn new(inputs: &[ElementType]) -> Group {
        Group {
            inputs: inputs.to_vec(),
            ..Group::default()
        }
    }

    /// Returns the group that does nothing with inputs and constants, which are inputs without operands.
    pub fn with_constants(inputs: &[ElementType], constants: &[(ElementType, Bytes)]) -> Group {
        let mut group = Group::new(inputs);
        for (element, bytes) in constants {
            group.inputs.push(*element);
            group.constants.push(bytes.clone());
        }
        group
    }

    /// Returns the constants with their types.
    pub fn constants(&self) -> impl Iterator<Item = (ElementType, &Bytes)> {
        let first = self.inputs.len() - self.constants.len();
        self.inputs[first..].iter().copied().zip(&self.constants)
    }

    /// Returns whether another group has the same operations. Kernels that are not functions differ unless they
    /// are one.
    pub fn is_same(&self, other: &Group) -> bool {
        let same = |(a, b): (&Step, &Step)| {
            a.kernel.is_same(&b.kernel) && a.arguments == b.arguments && a.element == b.element
        };
        self.inputs == other.inputs
            && self.constants == other.constants
            && self.outputs == other.outputs
            && self.steps.len() == other.steps.len()
            && self.steps.iter().zip(&other.steps).all(same)
    }

    /// Appends an operation and returns the number of its result.
    pub fn push(&mut self, kernel: Kernel, arguments: &[u32], element: ElementType) -> u32 {
        self.steps.push(Step {
            kernel,
            arguments: arguments.into(),
            element,
        });
        (self.inputs.len() + self.steps.len() - 1) as u32
    }

    /// Returns the element type of a result.
    pub fn element(&self, register: u32) -> ElementType {
        let register = register as usize;
        self.inputs
            .get(register)
            .copied()
            .unwrap_or_else(|| self.steps[register - self.inputs.len()].element)
    }

    /// Appends the steps of another group, applied to `arguments`, and returns the numbers of its outputs.
    pub fn inline(&mut self, other: &Group, arguments: &[u32]) -> SmallVec<[u32; 1]> {
        let first = (self.inputs.len() + self.steps.len()) as u32;
        let inputs = other.inputs.len() as u32;
        let number = |r: u32| {
            if r < inputs {
                arguments[r as usize]
            } else {
                first + r - inputs
            }
        };
        for step in &other.steps {
            let arguments = step.arguments.iter().map(|a| number(*a)).collect();
            self.steps.push(Step {
                arguments,
                ..step.clone()
            });
        }
        other.outputs.iter().map(|o| number(*o)).collect()
    }

    /// Sets the outputs and chooses where each step writes.
    pub fn finish(&mut self, outputs: &[u32]) {
        self.outputs.clear();
        for &output in outputs {
            // Each output has a step of its own, which writes to it directly.
            let direct = output as usize >= self.inputs.len() && !self.outputs.contains(&output);
            let output = match direct {
                true => output,
                false => self.push(Kernel::identity(), &[output], self.element(output)),
            };
            self.outputs.push(output);
        }
        let first = self.inputs.len();
        let mut last_use = vec![0; self.steps.len()];
        for (i, step) in self.steps.iter().enumerate() {
            for &argument in &step.arguments {
                if let Some(used) = (argument as usize).checked_sub(first) {
                    last_use[used] = i;
                }
            }
        }
        self.scratch.clear();
        let mut busy_until: Vec<usize> = Vec::new();
        let mut places: Vec<Place> = (0..first).map(Place::Input).collect();
        for (i, step) in self.steps.iter().enumerate() {
            let output = self.outputs.iter().position(|o| *o as usize == first + i);
            places.push(match output {
                Some(output) => Place::Output(output),
                None => {
                    let free = busy_until.iter().position(|until| *until < i);
                    let slot = free.unwrap_or_else(|| {
                        busy_until.push(0);
                        self.scratch.push(0);
                        busy_until.len() - 1
                    });
                    busy_until[slot] = last_use[i].max(i);
                    self.scratch[slot] = self.scratch[slot].max(step.element.bytes());
                    Place::Scratch(slot)
                }
            });
        }
        let place = |r: &u32| (places[*r as usize], self.element(*r).bytes());
        let each = self.steps.iter().zip(&places[first..]);
        let each = each.map(|(step, result)| Places {
            result: *result,
            arguments: step.arguments.iter().map(place).collect(),
        });
        self.places = each.collect();
    }

    /// Computes the outputs, each with `lanes` elements.
    pub fn run(
        &self,
        inputs: &[Lanes<'_>],
        outputs: &mut [&mut [u8]],
        lanes: usize,
        threads: usize,
    ) {
        if threads < 2 || lanes <= PIECE {
            return self.run_piece(inputs, outputs, 0..lanes);
        }
        let widths: SmallVec<[usize; 4]> = self
            .outputs
            .iter()
            .map(|o| self.element(*o).bytes())
            .collect();
        let mut pieces: Vec<Vec<&mut [u8]>> =
            (0..lanes.div_ceil(PIECE)).map(|_| Vec::new()).collect();
        for (output, width) in outputs.iter_mut().zip(widths) {
            for (piece, chunk) in pieces.iter_mut().zip(output.chunks_mut(PIECE * width)) {
                piece.push(chunk);
            }
        }
        share(threads, &mut pieces, |i, outputs| {
            let range = i * PIECE..((i + 1) * PIECE).min(lanes);
            self.run_piece(inputs, outputs, range);
        });
    }

    /// Computes a range of lanes. The outputs have the elements of this range only.
    pub(super) fn run_piece(
        &self,
        inputs: &[Lanes<'_>],
        outputs: &mut [&mut [u8]],
        range: Range<usize>,
    ) {
        let tile = TILE.min(range.len());
        let mut tiles = TILES.take();
        let count = self.scratch.len() + self.inputs.len();
        if tiles.len() < count {
            tiles.resize_with(count, Tile::new);
        }
        let (scratch, loaded) = tiles.split_at_mut(self.scratch.len());
        for (memory, width) in scratch.iter_mut().zip(&self.scratch) {
            reserve(memory, tile * width);
        }
        let mut start = range.start;
        while start < range.end {
            let n = tile.min(range.end - start);
            let first = start == range.start;
            let mut slices: SmallVec<[&[u8]; 8]> = SmallVec::with_capacity(self.inputs.len());
            let constants = self.constants.iter().map(|c| Lanes::Scalar(c));
            let all = inputs.iter().copied().chain(constants);
            for ((lanes, memory), element) in all.zip(&mut *loaded).zip(&self.inputs) {
                let width = element.bytes();
                slices.push(match lanes {
                    Lanes::Slice(slice) => &slice[start * width..][..n * width],
                    Lanes::Scalar(value) if tile == 1 => value,
                    Lanes::Scalar(value) => {
                        let bytes = reserve(memory, tile * width);
                        if first {
                            fill(bytes, value);
                        }
                        &bytes[..n * width]
                    }
                    Lanes::View(view, first) => {
                        let bytes = &mut reserve(memory, tile * width)[..n * width];
                        view.load(first + start, bytes);
                        bytes
                    }
                    Lanes::Repeated(elements, times) => {
                        let bytes = &mut reserve(memory, tile * width)[..n * width];
                        with_width!(width, T => {
                            let (from, to) = (bytemuck::cast_slice(elements), bytemuck::cast_slice_mut(bytes));
                            repeat::<T>(from, times, start, to);
                        });
                        bytes
                    }
                    Lanes::Output(k) => {
                        let bytes = &mut reserve(memory, tile * width)[..n * width];
                        let own = &outputs[k][(start - range.start) * width..];
                        bytes.copy_from_slice(&own[..n * width]);
                        bytes
                    }
                });
            }
            self.run_tile(&slices, scratch, outputs, start - range.start, n);
            start += n;
        }
        TILES.set(tiles);
    }

    fn run_tile(
        &self,
        tile: &[&[u8]],
        scratch: &mut [Tile],
        outputs: &mut [&mut [u8]],
        start: usize,
        n: usize,
    ) {
        for (step, places) in self.steps.iter().zip(&self.places) {
            let width = step.element.bytes();
            let call = |scratch: &[Tile], outputs: &[&mut [u8]], target: &mut [u8]| {
                let mut slices: [&[u8]; 3] = [&[]; 3];
                for (slice, (place, width)) in slices.iter_mut().zip(&places.arguments) {
                    *slice = match *place {
                        Place::Input(i) => tile[i],
                        Place::Scratch(i) => &bytemuck::cast_slice(&scratch[i])[..n * width],
                        Place::Output(k) => &outputs[k][start * width..][..n * width],
                    };
                }
                step.kernel.call(&slices[..places.arguments.len()], target);
            };
            match places.result {
                Place::Output(k) => {
                    let target = std::mem::take(&mut outputs[k]);
                    call(scratch, outputs, &mut target[start * width..][..n * width]);
                    outputs[k] = target;
                }
                Place::Scratch(i) => {
                    let mut target = std::mem::take(&mut scratch[i]);
                    let bytes = &mut bytemuck::cast_slice_mut(&mut target)[..n * width];
                    call(scratch, outputs, bytes);
                    scratch[i] = target;
                }
                Place::Input(_) => unreachable!("steps do not write to inputs"),
            }
        }
    }
}

/// Makes room for some bytes in a tile, and returns them.
fn reserve(tile: &mut Tile, bytes: usize) -> &mut [u8] {
    if tile.len() * 16 < bytes {
        tile.resize(bytes.div_ceil(16), 0);
    }
    &mut bytemuck::cast_slice_mut(tile)[..bytes]
}

/// Sets all elements to one.
fn fill(bytes: &mut [u8], element: &[u8]) {
    with_width!(element.len(), T => {
        let value: T = bytemuck::pod_read_unaligned(element);
        bytemuck::cast_slice_mut::<_, T>(bytes).fill(value);
    });
}
