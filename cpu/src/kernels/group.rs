//! Groups of elementwise operations, computed tile by tile in the first-level cache.
#![allow(unsafe_code)]

use super::kernel::repeat;
use super::{Kernel, share};
use crate::ElementType;
use crate::memory::{Line, Tensor, with_width};
use bytemuck::Zeroable;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Elements of a tile: operands and results of a few operations stay in the first-level cache.
pub const TILE: usize = 1024;
/// Lanes that a thread computes at a time, at most.
const PIECE: usize = 16 * TILE;
/// Work from which threads share it, in cheap operations on elements and loads of them: less takes less time than
/// the threads take to begin.
pub(super) const PARALLEL: usize = 1 << 18;
/// Work of a piece, at least.
const PIECE_WORK: usize = 1 << 17;
/// Work of a costly operation on an element.
const COSTLY: usize = 12;

/// An operation of a group.
#[derive(Clone, Debug)]
pub struct Step {
    /// The operation.
    pub kernel: Kernel,
    /// Its operands: inputs of the group by number, then results of steps.
    pub arguments: SmallVec<[u32; 3]>,
    /// The element type of the result.
    pub element: ElementType,
    /// Its work on an element, in cheap operations.
    work: usize,
}

/// A step as it runs.
#[derive(Clone, Debug)]
struct Call {
    kernel: Kernel,
    /// The memory of the operands, and of the result. It is that of an input, a constant, an output or a scratch tile,
    /// numbered in this order. Missing operands repeat another.
    arguments: [usize; 3],
    /// Number of operands.
    count: usize,
    result: usize,
    /// Bytes of an element of the result.
    width: usize,
}

/// Memory of a tile.
#[derive(Clone, Copy)]
struct Register {
    start: *mut u8,
    bytes: usize,
}

impl Register {
    /// Returns memory that no step writes.
    fn read(bytes: &[u8]) -> Register {
        Register {
            start: bytes.as_ptr().cast_mut(),
            bytes: bytes.len(),
        }
    }

    /// Returns memory that a step writes.
    fn write(bytes: &mut [u8]) -> Register {
        Register {
            start: bytes.as_mut_ptr(),
            bytes: bytes.len(),
        }
    }
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
    /// Made when the group first runs: most groups become parts of others.
    plan: OnceLock<Plan>,
}

/// The calls and the memory of a group that runs.
#[derive(Clone, Debug, Default)]
struct Plan {
    /// Number of inputs, constants included.
    inputs: usize,
    /// Work of the operations on a lane.
    work: usize,
    calls: Vec<Call>,
    /// Bytes of an element of each output.
    widths: Vec<usize>,
    /// The tiles of the constants.
    filled: Vec<Filled>,
    /// Bytes of an element of each scratch tile.
    scratch: Vec<usize>,
}

/// Memory of a tile, whose vectors are each in one cache line.
type Tile = Vec<Line>;

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

    /// Returns the elements of a tile's lanes, of a width in bytes, in memory of the input or loaded into a tile.
    /// `outputs` have the tile's lanes from the one with number `at` on.
    fn load<'t>(
        self,
        lanes: Range<usize>,
        width: usize,
        at: usize,
        memory: &'t mut Tile,
        outputs: &[&mut [u8]],
    ) -> &'t [u8]
    where
        'a: 't,
    {
        let bytes = lanes.len() * width;
        match self {
            Lanes::Slice(slice) => return &slice[lanes.start * width..][..bytes],
            Lanes::Scalar(value) if lanes.len() == 1 => return value,
            _ => {}
        }
        let target = reserve(memory, bytes);
        match self {
            Lanes::Slice(_) => {}
            Lanes::Scalar(value) => fill(target, value),
            Lanes::View(view, first) => view.load(first + lanes.start, target),
            Lanes::Repeated(elements, times) => with_width!(width, T => {
                let (from, to) = (bytemuck::cast_slice(elements), bytemuck::cast_slice_mut(target));
                repeat::<T>(from, times, lanes.start, to);
            }),
            Lanes::Output(k) => target.copy_from_slice(&outputs[k][at * width..][..bytes]),
        }
        target
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
            work: 1,
        });
        (self.inputs.len() + self.steps.len() - 1) as u32
    }

    /// Appends an operation that takes much longer than to load an element, and returns the number of its result.
    pub fn push_costly(&mut self, kernel: Kernel, arguments: &[u32], element: ElementType) -> u32 {
        let result = self.push(kernel, arguments, element);
        self.steps[result as usize - self.inputs.len()].work = COSTLY;
        result
    }

    /// Returns the work of the operations on a lane.
    pub fn work(&self) -> usize {
        self.steps.iter().map(|step| step.work).sum()
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

    /// Sets the outputs.
    pub fn finish(&mut self, outputs: &[u32]) {
        self.outputs.clear();
        for &output in outputs {
            // Each output has a step of its own, which writes to it directly.
            let direct = output as usize >= self.inputs.len() && !self.outputs.contains(&output);
            let output = if direct {
                output
            } else {
                self.push(Kernel::identity(), &[output], self.element(output))
            };
            self.outputs.push(output);
        }
        self.plan = OnceLock::new();
    }

    /// Returns where each step writes.
    fn plan(&self) -> Plan {
        let first = self.inputs.len();
        let mut plan = Plan {
            inputs: first,
            work: self.work(),
            ..Plan::default()
        };
        let mut last_use = vec![0; self.steps.len()];
        for (i, step) in self.steps.iter().enumerate() {
            for &argument in &step.arguments {
                if let Some(used) = (argument as usize).checked_sub(first) {
                    last_use[used] = i;
                }
            }
        }
        let mut busy_until: Vec<usize> = Vec::new();
        let mut places: Vec<usize> = (0..first).collect();
        for (i, step) in self.steps.iter().enumerate() {
            let width = step.element.bytes();
            let output = self.outputs.iter().position(|o| *o as usize == first + i);
            let result = output.unwrap_or_else(|| {
                let free = busy_until.iter().position(|until| *until < i);
                let slot = free.unwrap_or_else(|| {
                    busy_until.push(0);
                    plan.scratch.push(0);
                    busy_until.len() - 1
                });
                busy_until[slot] = last_use[i].max(i);
                plan.scratch[slot] = plan.scratch[slot].max(width);
                self.outputs.len() + slot
            });
            let result = first + result;
            places.push(result);
            let place = |argument: &u32| places[*argument as usize];
            let mut arguments = [step.arguments.first().map_or(result, place); 3];
            for (at, argument) in arguments.iter_mut().zip(&step.arguments) {
                *at = place(argument);
            }
            plan.calls.push(Call {
                kernel: step.kernel.clone(),
                arguments,
                count: step.arguments.len(),
                result,
                width,
            });
        }
        let width = |output: &u32| self.element(*output).bytes();
        plan.widths = self.outputs.iter().map(width).collect();
        plan.filled = self.constants.iter().map(|c| filled(c)).collect();
        plan
    }

    /// Computes the outputs, each with `lanes` elements.
    pub fn run(
        &self,
        inputs: &[Lanes<'_>],
        outputs: &mut [&mut [u8]],
        lanes: usize,
        threads: usize,
    ) {
        let plan = self.plan.get_or_init(|| self.plan());
        let work = plan.work + inputs.len();
        let size = PIECE_WORK.div_ceil(work).next_multiple_of(TILE).min(PIECE);
        if threads < 2 || lanes <= size || lanes * work < PARALLEL {
            return self.run_piece(inputs, outputs, 0..lanes);
        }
        let mut pieces: Vec<Vec<&mut [u8]>> =
            (0..lanes.div_ceil(size)).map(|_| Vec::new()).collect();
        for (output, width) in outputs.iter_mut().zip(&plan.widths) {
            for (piece, chunk) in pieces.iter_mut().zip(output.chunks_mut(size * width)) {
                piece.push(chunk);
            }
        }
        share(threads, &mut pieces, |i, outputs| {
            let range = i * size..((i + 1) * size).min(lanes);
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
        let plan = self.plan.get_or_init(|| self.plan());
        // The steps find their memory by number.
        assert_eq!(inputs.len() + plan.filled.len(), plan.inputs);
        assert_eq!(outputs.len(), plan.widths.len());
        let tile = TILE.min(range.len());
        // A destructor of an ending thread may compute after the thread's own memory is gone.
        let mut tiles = TILES.try_with(Cell::take).unwrap_or_default();
        let count = plan.scratch.len() + inputs.len();
        if tiles.len() < count {
            tiles.resize_with(count, Tile::new);
        }
        let (scratch, loaded) = tiles.split_at_mut(plan.scratch.len());
        let mut start = range.start;
        while start < range.end {
            let lanes = start..range.end.min(start + tile);
            let at = start - range.start;
            // With a capacity, each list would be copied once.
            let mut registers: SmallVec<[Register; 32]> = SmallVec::new();
            for ((own, memory), element) in inputs.iter().zip(&mut *loaded).zip(&self.inputs) {
                registers.push(Register::read(match *own {
                    // The elements of the first tile are those of all others.
                    Lanes::Scalar(value) if at > 0 && tile > 1 => {
                        &bytemuck::cast_slice(memory)[..lanes.len() * value.len()]
                    }
                    _ => own.load(lanes.clone(), element.bytes(), at, memory, outputs),
                }));
            }
            for tile in &plan.filled {
                registers.push(Register::read(bytemuck::cast_slice(tile)));
            }
            for (output, width) in outputs.iter_mut().zip(&plan.widths) {
                let output = &mut output[at * width..][..lanes.len() * width];
                registers.push(Register::write(output));
            }
            for (memory, width) in scratch.iter_mut().zip(&plan.scratch) {
                registers.push(Register::write(reserve(memory, tile * width)));
            }
            for call in &plan.calls {
                // SAFETY: all registers are borrowed until the next tile, and those that steps write are disjoint
                // from each other and from the inputs: outputs are borrowed exclusively, and inputs that are read
                // from outputs were copied to tiles.
                unsafe { call.run(&registers, lanes.len()) };
            }
            start = lanes.end;
        }
        let _ = TILES.try_with(|kept| kept.set(tiles));
    }
}

impl Call {
    /// Computes a number of lanes of a tile.
    ///
    /// # Safety
    /// The memory of the registers must be accessible, and that of the result must be disjoint from all others.
    unsafe fn run(&self, registers: &[Register], lanes: usize) {
        let operand = |i: usize| -> &[u8] {
            // A kernel without operands must not see its result.
            if self.count == 0 {
                return &[];
            }
            let register = registers[self.arguments[i]];
            // SAFETY: the caller promises that the memory is readable, and it is not that of the result.
            unsafe { std::slice::from_raw_parts(register.start, register.bytes) }
        };
        let operands = [operand(0), operand(1), operand(2)];
        let result = registers[self.result];
        assert!(
            lanes * self.width <= result.bytes,
            "the result exceeds its memory"
        );
        // SAFETY: the caller promises that the memory is writable and disjoint from the operands'.
        let result = unsafe { std::slice::from_raw_parts_mut(result.start, lanes * self.width) };
        self.kernel.call(&operands, result);
    }
}

/// Makes room for some bytes in a tile, and returns them.
fn reserve(tile: &mut Tile, bytes: usize) -> &mut [u8] {
    if tile.len() * 64 < bytes {
        tile.resize(bytes.div_ceil(64), Line::zeroed());
    }
    &mut bytemuck::cast_slice_mut(tile)[..bytes]
}

/// Sets all elements to one.
pub fn fill(bytes: &mut [u8], element: &[u8]) {
    with_width!(element.len(), T => {
        let value: T = bytemuck::pod_read_unaligned(element);
        bytemuck::cast_slice_mut::<_, T>(bytes).fill(value);
    });
}

/// A tile whose elements are all the same.
type Filled = Arc<[Line]>;

/// Returns the tile of an element, which all groups of a program share, so that it stays in the caches.
fn filled(element: &[u8]) -> Filled {
    static KNOWN: Mutex<Vec<(Bytes, Weak<[Line]>)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let same = known.iter().find(|(bytes, _)| bytes[..] == *element);
    same.and_then(|(_, tile)| tile.upgrade())
        .unwrap_or_else(|| {
            let mut tile = vec![Line::zeroed(); TILE * element.len() / 64];
            fill(bytemuck::cast_slice_mut(&mut tile), element);
            let tile: Filled = tile.into();
            known.retain(|(_, tile)| tile.strong_count() > 0);
            known.push((element.into(), Arc::downgrade(&tile)));
            tile
        })
}
