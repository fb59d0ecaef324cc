//! Lowering of the Threefry hash and its counters to StableHLO.

use crate::program::lower::{Lowering, Value};
use crate::typing::Dims;
use crate::{Aval, DType};

impl Lowering<'_> {
    /// Emits the block function: 20 rounds on words of one type.
    pub(super) fn threefry(&mut self, key: [Value; 2], counter: [Value; 2]) -> [Value; 2] {
        const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
        let aval = counter[0].aval();
        let parity = self.splat(0x1BD1_1BDAu32, aval);
        let mixed = self.same("xor", &key);
        let mixed = self.same("xor", &[mixed, parity]);
        let schedule = [key[0], key[1], mixed];
        let mut x = self.same("add", &[counter[0], key[0]]);
        let mut y = self.same("add", &[counter[1], key[1]]);
        for i in 0..5 {
            for d in ROTATIONS[i % 2] {
                x = self.same("add", &[x, y]);
                let (up, down) = (self.splat(d, aval), self.splat(32 - d, aval));
                let high = self.same("shift_left", &[y, up]);
                let low = self.same("shift_right_logical", &[y, down]);
                y = self.same("or", &[high, low]);
                y = self.same("xor", &[x, y]);
            }
            x = self.same("add", &[x, schedule[(i + 1) % 3]]);
            y = self.same("add", &[y, schedule[(i + 2) % 3]]);
            let count = self.splat(i + 1, aval);
            y = self.same("add", &[y, count]);
        }
        [x, y]
    }

    /// Emits the two words of keys, each broadcast to `shape`, whose first axes are the keys'.
    pub(super) fn key_words(&mut self, keys: Value, shape: &[usize]) -> [Value; 2] {
        let rank = keys.ndim() - 1;
        let dims: Vec<usize> = (0..rank).collect();
        [0, 1].map(|i| {
            let word = self.slice_in_dim(keys, rank, i..i + 1);
            let word = self.reshape(word, &keys.shape()[..rank]);
            self.broadcast_in_dim(word, shape, &dims)
        })
    }

    /// Emits the hashes of every position of an array of `shape`, for each key.
    pub(super) fn hash_positions(&mut self, keys: Value, shape: &[usize]) -> [Value; 2] {
        let axes = &keys.shape()[..keys.ndim() - 1];
        let full: Dims = axes.iter().chain(shape).copied().collect();
        let counter = self.positions(shape).map(|v| {
            let dims: Vec<usize> = (axes.len()..full.len()).collect();
            self.broadcast_in_dim(v, &full, &dims)
        });
        let key = self.key_words(keys, &full);
        self.threefry(key, counter)
    }

    /// Emits the row-major position of each element of an array of `shape`, as two words,
    /// computed from an iota along each axis, so that it can be partitioned.
    fn positions(&mut self, shape: &[usize]) -> [Value; 2] {
        let size: usize = shape.iter().product();
        let narrow = u32::try_from(size).is_ok();
        let dtype = if narrow { DType::U32 } else { DType::U64 };
        let aval = Aval::new(shape, dtype);
        let mut stride = 1;
        let mut sum = None;
        for (axis, &d) in shape.iter().enumerate().rev() {
            if d != 1 {
                let mut index = self.iota(aval, axis);
                if stride != 1 {
                    let stride = self.splat(stride, aval);
                    index = self.same("multiply", &[index, stride]);
                }
                sum = Some(match sum {
                    Some(inner) => self.same("add", &[index, inner]),
                    None => index,
                });
            }
            stride *= d;
        }
        let position = sum.unwrap_or_else(|| self.splat(0, aval));
        if narrow {
            [self.splat(0, aval), position]
        } else {
            self.halves(position)
        }
    }

    /// Emits the upper and the lower word of 64-bit integers.
    pub(super) fn halves(&mut self, wide: Value) -> [Value; 2] {
        let shift = self.splat(32, wide.aval());
        let hi = self.same("shift_right_logical", &[wide, shift]);
        [hi, wide].map(|v| self.convert(v, DType::U32))
    }

    /// Emits 64-bit integers from their upper and lower words.
    pub(super) fn widen(&mut self, words: [Value; 2]) -> Value {
        let [hi, lo] = words.map(|v| self.convert(v, DType::U64));
        let shift = self.splat(32, hi.aval());
        let hi = self.same("shift_left", &[hi, shift]);
        self.same("or", &[hi, lo])
    }

    /// Joins two words along a new last axis.
    pub(super) fn join_words(&mut self, words: [Value; 2]) -> Value {
        let rank = words[0].ndim();
        let single = [words[0].shape(), &[1]].concat();
        let words = words.map(|w| self.reshape(w, &single));
        self.concatenate(&words, rank)
    }

    /// Emits the hash of the counters `0..n` in the original layout, for each key: counter `i` is
    /// hashed together with counter `i + ⌈n/2⌉`, where a missing last counter is 0.
    pub(super) fn hash_counters(&mut self, keys: Value, n: usize) -> Value {
        let last = keys.ndim() - 1;
        let half = n.div_ceil(2);
        let part = [&keys.shape()[..last], &[half]].concat();
        let part = keys.aval().with_shape(&part);
        let low = self.iota(part, last);
        let offset = self.splat(half, part);
        let mut high = self.same("add", &[low, offset]);
        if n % 2 == 1 {
            let end = self.splat(half - 1, part);
            let zero = self.splat(0, part);
            let missing = self.compare("EQ", [low, end]);
            high = self.select(missing, zero, high);
        }
        let key = self.key_words(keys, part.shape());
        let words = self.threefry(key, [low, high]);
        let joined = self.concatenate(&words, last);
        self.take_range(joined, 0, n)
    }

    /// Emits the elements `start..limit` along the last axis.
    fn take_range(&mut self, value: Value, start: usize, limit: usize) -> Value {
        let last = value.ndim() - 1;
        if limit - start == value.shape()[last] {
            value
        } else {
            self.slice_in_dim(value, last, start..limit)
        }
    }

    /// Emits `n` draws for each key in the original layout, with the type `out`.
    pub(super) fn original_bits(&mut self, keys: Value, n: usize, out: Aval) -> Value {
        let width = out.dtype().bits();
        let flat = match width {
            64 => {
                let words = self.hash_counters(keys, 2 * n);
                let halves = [0, n].map(|start| self.take_range(words, start, start + n));
                self.widen(halves)
            }
            32 => self.hash_counters(keys, n),
            // Each word is split into pieces, the least significant first.
            _ => {
                let words = self.hash_counters(keys, (n * width).div_ceil(32));
                let pieces = 32 / width;
                let axis = words.ndim();
                let split = [words.shape(), &[pieces]].concat();
                let dims: Vec<usize> = (0..axis).collect();
                let words = self.broadcast_in_dim(words, &split, &dims);
                let index = self.iota(words.aval(), axis);
                let bits = self.splat(width, words.aval());
                let shift = self.same("multiply", &[index, bits]);
                let moved = self.same("shift_right_logical", &[words, shift]);
                let narrow = self.convert(moved, out.dtype());
                let mut flat = split[..axis].to_vec();
                flat[axis - 1] *= pieces;
                let all = self.reshape(narrow, &flat);
                self.take_range(all, 0, n)
            }
        };
        if flat.aval() == out {
            flat
        } else {
            self.reshape(flat, out.shape())
        }
    }
}
