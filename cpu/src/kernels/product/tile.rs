//! Tiles of products: sums that stay in registers.

use super::piece::{Piece, Store};
use super::vector::{Real, Vector};
use std::array::from_fn;
use std::mem::MaybeUninit;

impl<T: Real> Piece<T> {
    /// Computes `M` rows. The right operand has the columns of `W` vectors next to each other, of which the
    /// result may have fewer.
    ///
    /// # Safety
    /// The operands must be readable, the result writable, and the processor must have the vectors.
    #[inline(always)]
    pub unsafe fn tile<V: Vector<T>, const M: usize, const W: usize>(&self) {
        let (mut x, mut y) = (self.left.start, self.right.start);
        // SAFETY: the caller promises that operands and result are accessible.
        unsafe {
            let mut sums = [[V::splat(T::zeroed()); W]; M];
            for _ in 0..self.depth {
                let right: [V; W] = from_fn(|w| V::load(y.add(w * V::LANES)));
                for (i, sums) in sums.iter_mut().enumerate() {
                    let left = V::splat(*x.offset(i as isize * self.left.free));
                    for (sum, right) in sums.iter_mut().zip(right) {
                        *sum = left.times_plus(right, *sum);
                    }
                }
                x = x.wrapping_offset(self.left.inner);
                y = y.wrapping_offset(self.right.inner);
            }
            if self.columns == W * V::LANES && self.out.column == 1 {
                for (i, sums) in sums.iter().enumerate() {
                    let place = self.out.start.offset(i as isize * self.out.row);
                    for (w, sum) in sums.iter().enumerate() {
                        self.put(place.add(w * V::LANES), *sum);
                    }
                }
                return;
            }
            let mut memory = MaybeUninit::<[[V; W]; M]>::uninit();
            for (i, sum) in sums.into_iter().flatten().enumerate() {
                memory.as_mut_ptr().cast::<V>().add(i).write(sum);
            }
            self.put_some(memory.as_ptr().cast(), W * V::LANES);
        }
    }

    #[inline(always)]
    unsafe fn put<V: Vector<T>>(&self, place: *mut T, sum: V) {
        // SAFETY: the caller promises that the place is accessible.
        unsafe {
            let sum = match self.store {
                Store::Set => sum,
                Store::Add => V::load(place).plus(sum),
                Store::Subtract => V::load(place).minus(sum),
            };
            sum.store(place);
        }
    }

    /// Stores the columns that the result has, wherever they are, of rows of `width` sums.
    #[inline(never)]
    unsafe fn put_some(&self, sums: *const T, width: usize) {
        // SAFETY: the caller promises that the sums are readable and the result is accessible.
        unsafe {
            match self.store {
                Store::Set => self.put_each(sums, width, |_, sum| sum),
                Store::Add => self.put_each(sums, width, |old, sum| old + sum),
                Store::Subtract => self.put_each(sums, width, T::minus),
            }
        }
    }

    #[inline(always)]
    unsafe fn put_each(&self, sums: *const T, width: usize, new: impl Fn(T, T) -> T) {
        for j in 0..self.columns {
            let mut place = self.out.from(0, j).start;
            for i in 0..self.rows {
                // SAFETY: the caller promises that the sums are readable and the result is accessible.
                unsafe { *place = new(*place, *sums.add(i * width + j)) };
                place = place.wrapping_offset(self.out.row);
            }
        }
    }

    /// Computes elements one by one from operands that both have the axis that is summed over in neighboring
    /// memory.
    ///
    /// # Safety
    /// As for [`tile`](Piece::tile).
    #[inline(always)]
    pub unsafe fn dots<V: Vector<T>>(&self) {
        const TOGETHER: usize = 4;
        let whole = self.columns / TOGETHER * TOGETHER;
        // SAFETY: the caller promises that operands and result are accessible.
        unsafe {
            for j in (0..whole).step_by(TOGETHER) {
                (0..self.rows).for_each(|i| self.dot::<V, TOGETHER>(i, j));
            }
            for j in whole..self.columns {
                (0..self.rows).for_each(|i| self.dot::<V, 1>(i, j));
            }
        }
    }

    /// Computes `C` neighboring elements of a row, each from two vectors of sums.
    #[inline(always)]
    unsafe fn dot<V: Vector<T>, const C: usize>(&self, i: usize, j: usize) {
        let x = self.left.from(i, 0).start;
        let y: [*const T; C] = from_fn(|c| self.right.from(j + c, 0).start);
        let width = 2 * V::LANES;
        let whole = self.depth / width * width;
        // SAFETY: the caller promises that operands and result are accessible.
        unsafe {
            let mut sums = [[V::splat(T::zeroed()); 2]; C];
            for k in (0..whole).step_by(width) {
                let left = [V::load(x.add(k)), V::load(x.add(k + V::LANES))];
                for (sums, y) in sums.iter_mut().zip(y) {
                    let right = [V::load(y.add(k)), V::load(y.add(k + V::LANES))];
                    *sums = from_fn(|n| left[n].times_plus(right[n], sums[n]));
                }
            }
            for (c, (sums, y)) in sums.into_iter().zip(y).enumerate() {
                let mut sum = total(sums[0].plus(sums[1]));
                for k in whole..self.depth {
                    sum = (*x.add(k)).times_plus(*y.add(k), sum);
                }
                self.put(self.out.from(i, j + c).start, [sum]);
            }
        }
    }
}

/// Returns the sum of a vector's elements.
#[inline(always)]
unsafe fn total<T: Real, V: Vector<T>>(sums: V) -> T {
    let mut elements = [T::zeroed(); 16];
    // SAFETY: the caller promises that the processor has the vector, of at most 16 elements.
    unsafe { sums.store(elements.as_mut_ptr()) };
    let mut half = V::LANES / 2;
    while half > 0 {
        for n in 0..half {
            elements[n] = elements[n] + elements[n + half];
        }
        half /= 2;
    }
    elements[0]
}
