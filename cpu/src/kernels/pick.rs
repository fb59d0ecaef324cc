//! Elements that are picked from windows by a comparison, and sums over the windows that picked them.
#![allow(unsafe_code)]

use super::kernel::vectorized;
use crate::ElementType::{self, *};
use std::ops::Range;

/// One element of each of some neighboring windows.
pub struct Place {
    /// Its number in the window.
    pub number: u32,
    /// The windows that contain it.
    pub windows: Range<usize>,
    /// The element of the first of these windows, in the array.
    pub first: usize,
}

/// A line of windows, each with a run of neighbors that belong to windows of their own.
#[derive(Clone, Copy)]
pub struct Steps {
    /// Neighbors in memory.
    pub run: usize,
    /// Distance in memory between the same elements of neighboring windows.
    pub jump: usize,
}

/// A line of windows.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// The elements of the windows, in order.
    pub places: &'a [Place],
    /// The distances in memory between windows.
    pub steps: Steps,
    /// The array.
    pub x: &'a [u8],
    /// The update of each window.
    pub updates: &'a [u8],
}

/// Memory in which the elements of a line of windows are picked.
pub struct Scratch<'a> {
    /// The best elements so far.
    pub best: &'a mut [u8],
    /// Their numbers.
    pub numbers: &'a mut [u32],
}

/// Adds the update of each window of a line to the sum of the element that the window picks.
pub type Pick = fn(line: Line<'_>, sums: &mut [u8], scratch: Scratch<'_>);

/// The number of no element.
const NONE: u32 = u32::MAX;

/// Takes those values that are better than the best elements so far, or the first.
#[inline(always)]
fn choose<T: Copy>(
    keep: &impl Fn(T, T) -> bool,
    number: u32,
    best: &mut [T],
    numbers: &mut [u32],
    values: impl IntoIterator<Item = T>,
) {
    for ((best, own), value) in best.iter_mut().zip(numbers).zip(values) {
        let kept = (*own != NONE) & keep(*best, value);
        *best = if kept { *best } else { value };
        *own = if kept { *own } else { number };
    }
}

/// Adds updates to the sums of the element with a number, where that is the best.
#[inline(always)]
fn add_where<'a, T: Copy + 'a>(
    add: &impl Fn(T, T) -> T,
    number: u32,
    sums: impl IntoIterator<Item = &'a mut T>,
    numbers: &[u32],
    updates: &[T],
) {
    for ((sum, own), update) in sums.into_iter().zip(numbers).zip(updates) {
        let total = add(*sum, *update);
        *sum = if *own == number { total } else { *sum };
    }
}

vectorized! {
    fn pick<T>(
        keep: impl Fn(T, T) -> bool,
        add: impl Fn(T, T) -> T,
        line: Line<'_>,
        sums: &mut [u8],
        scratch: Scratch<'_>,
    ) {
        let Line { places, steps, .. } = line;
        let x: &[T] = bytemuck::cast_slice(line.x);
        let updates: &[T] = bytemuck::cast_slice(line.updates);
        let sums: &mut [T] = bytemuck::cast_slice_mut(sums);
        let best: &mut [T] = bytemuck::cast_slice_mut(scratch.best);
        let numbers = scratch.numbers;
        let Steps { run, jump } = steps;
        numbers.fill(NONE);
        for place in places {
            let own = place.windows.start * run..place.windows.end * run;
            let (best, numbers) = (&mut best[own.clone()], &mut numbers[own]);
            let values = &x[place.first..];
            if run == 1 {
                choose(&keep, place.number, best, numbers, values.iter().step_by(jump).copied());
                continue;
            }
            let rows = best.chunks_exact_mut(run).zip(numbers.chunks_exact_mut(run));
            for ((best, numbers), values) in rows.zip(values.chunks(jump)) {
                choose(&keep, place.number, best, numbers, values.iter().copied());
            }
        }
        // The last element of a window first: of the windows that picked an element, the first adds first.
        for place in places.iter().rev() {
            let own = place.windows.start * run..place.windows.end * run;
            let (updates, numbers) = (&updates[own.clone()], &numbers[own]);
            let sums = &mut sums[place.first..];
            if run == 1 {
                add_where(&add, place.number, sums.iter_mut().step_by(jump), numbers, updates);
                continue;
            }
            let rows = updates.chunks_exact(run).zip(numbers.chunks_exact(run));
            for ((updates, numbers), sums) in rows.zip(sums.chunks_mut(jump)) {
                add_where(&add, place.number, sums, numbers, updates);
            }
        }
    }
}

macro_rules! picker {
    ($T:ty, $compare:tt) => {
        |line, sums, scratch| {
            let keep = |a: $T, b: $T| a $compare b;
            let add = |a: $T, b: $T| a + b;
            pick::<$T>(keep, add, line, sums, scratch)
        }
    };
}

/// Returns the kernel that picks the greatest or the least elements of a type, of equal ones the first.
pub fn picker(element: ElementType, greatest: bool) -> Option<Pick> {
    Some(match (element, greatest) {
        (F32, true) => picker!(f32, >=),
        (F32, false) => picker!(f32, <=),
        (F64, true) => picker!(f64, >=),
        (F64, false) => picker!(f64, <=),
        _ => return None,
    })
}
