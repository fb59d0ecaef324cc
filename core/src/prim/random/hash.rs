//! Lowering of the Threefry hash and its counters to StableHLO.

use crate::program::lower::{Lowering, Value, dims_array};
use crate::{Aval, DType, Dims};

impl Lowering<'_> {
    /// Emits the block function: 20 rounds on words of one type.
    pub(super) fn threefry(
        &mut self,
        key: [Value; 2],
        counter: [Value; 2],
        aval: Aval,
    ) -> [Value; 2] {
        const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
        let parity = self.splat(0x1BD1_1BDAu32, aval);
        let mixed = self.same("xor", &key, aval);
        let mixed = self.same("xor", &[mixed, parity], aval);
        let schedule = [key[0], key[1], mixed];
        let mut x = self.same("add", &[counter[0], key[0]], aval);
        let mut y = self.same("add", &[counter[1], key[1]], aval);
        for i in 0..5 {
            for d in ROTATIONS[i % 2] {
                x = self.same("add", &[x, y], aval);
                let (up, down) = (self.splat(d, aval), self.splat(32 - d, aval));
                let high = self.same("shift_left", &[y, up], aval);
                let low = self.same("shift_right_logical", &[y, down], aval);
                y = self.same("or", &[high, low], aval);
                y = self.same("xor", &[x, y], aval);
            }
            x = self.same("add", &[x, schedule[(i + 1) % 3]], aval);
            y = self.same("add", &[y, schedule[(i + 2) % 3]], aval);
            let count = self.splat(i + 1, aval);
            y = self.same("add", &[y, count], aval);
        }
        [x, y]
    }

    /// Emits the two words of keys, each broadcast to the type of `to`, whose first axes are the
    /// keys'.
    pub(super) fn key_words(&mut self, keys: Value, aval: Aval, to: Aval) -> [Value; 2] {
        let rank = aval.ndim() - 1;
        let axes = &aval.shape()[..rank];
        let single: Dims = axes.iter().copied().chain([1]).collect();
        let (single, scalar) = (aval.with_shape(&single), aval.with_shape(axes));
        let dims: Vec<usize> = (0..rank).collect();
        [0, 1].map(|i| {
            let mut start = vec![0; rank];
            start.push(i);
            let mut limit = axes.to_vec();
            limit.push(i + 1);
            let attributes = format!(
                "start_indices = {}, limit_indices = {}, strides = {}",
                dims_array(&start),
                dims_array(&limit),
                dims_array(&vec![1; rank + 1])
            );
            let word = self.op1("slice", &[keys], &[aval], single, &attributes);
            let word = self.op1("reshape", &[word], &[single], scalar, "");
            self.broadcast_in_dim(word, scalar, to, &dims)
        })
    }

    /// Emits the hashes of every position of an array of `shape`, for each key.
    pub(super) fn hash_positions(
        &mut self,
        keys: Value,
        aval: Aval,
        shape: &[usize],
    ) -> ([Value; 2], Aval) {
        let axes = &aval.shape()[..aval.ndim() - 1];
        let full: Dims = axes.iter().chain(shape).copied().collect();
        let out = aval.with_shape(&full);
        let counter = self.positions(shape).map(|v| {
            let dims: Vec<usize> = (axes.len()..full.len()).collect();
            self.broadcast_in_dim(v, aval.with_shape(shape), out, &dims)
        });
        let key = self.key_words(keys, aval, out);
        (self.threefry(key, counter, out), out)
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
                let attributes = format!("iota_dimension = {axis} : i64");
                let mut place = self.op1("iota", &[], &[], aval, &attributes);
                if stride != 1 {
                    let stride = self.splat(stride, aval);
                    place = self.same("multiply", &[place, stride], aval);
                }
                sum = Some(match sum {
                    Some(inner) => self.same("add", &[place, inner], aval),
                    None => place,
                });
            }
            stride *= d;
        }
        let position = sum.unwrap_or_else(|| self.splat(0, aval));
        if narrow {
            return [self.splat(0, aval), position];
        }
        let (hi, lo) = self.halves(position, aval);
        [hi, lo]
    }

    /// Emits the upper and the lower word of 64-bit integers.
    pub(super) fn halves(&mut self, wide: Value, aval: Aval) -> (Value, Value) {
        let shift = self.splat(32, aval);
        let hi = self.same("shift_right_logical", &[wide, shift], aval);
        (
            self.convert(hi, aval, DType::U32),
            self.convert(wide, aval, DType::U32),
        )
    }

    /// Emits 64-bit integers from their upper and lower words.
    pub(super) fn widen(&mut self, [hi, lo]: [Value; 2], word: Aval) -> Value {
        let wide = word.with_dtype(DType::U64);
        let [hi, lo] = [hi, lo].map(|v| self.convert(v, word, DType::U64));
        let shift = self.splat(32, wide);
        let hi = self.same("shift_left", &[hi, shift], wide);
        self.same("or", &[hi, lo], wide)
    }

    /// Joins two words along a new last axis.
    pub(super) fn join_words(&mut self, words: [Value; 2], word: Aval) -> Value {
        let rank = word.ndim();
        let with_last = |n: usize| -> Aval {
            let shape: Dims = word.shape().iter().copied().chain([n]).collect();
            word.with_shape(&shape)
        };
        let (single, pair) = (with_last(1), with_last(2));
        let words = words.map(|w| self.op1("reshape", &[w], &[word], single, ""));
        let attributes = format!("dimension = {rank} : i64");
        self.op1("concatenate", &words, &[single, single], pair, &attributes)
    }

    /// Emits derived keys, with a barrier between them and the draws that use them.
    ///
    /// XLA's simplifier looks through the joining of words, and the loop over the elements of a
    /// draw then hashes its key again for each element: on a CPU LLVM took four times as long to
    /// compile a `randint`, whose loop was no faster.
    pub(super) fn derived_keys(&mut self, keys: Value, aval: Aval) -> Value {
        if !self.is_for_cpu() {
            return keys;
        }
        self.op1("optimization_barrier", &[keys], &[aval], aval, "")
    }

    /// Emits the hash of the counters `0..n` in the original layout, for each key: counter `i` is
    /// hashed together with counter `i + ⌈n/2⌉`, where a missing last counter is 0.
    pub(super) fn hash_counters(&mut self, keys: Value, aval: Aval, n: usize) -> (Value, Aval) {
        let axes = &aval.shape()[..aval.ndim() - 1];
        let last = axes.len();
        let with_last = |n: usize| -> Aval {
            let shape: Dims = axes.iter().copied().chain([n]).collect();
            aval.with_shape(&shape)
        };
        let half = n.div_ceil(2);
        let part = with_last(half);
        let count = format!("iota_dimension = {last} : i64");
        let low = self.op1("iota", &[], &[], part, &count);
        let offset = self.splat(half, part);
        let mut high = self.same("add", &[low, offset], part);
        if n % 2 == 1 {
            let end = self.splat(half - 1, part);
            let zero = self.splat(0, part);
            let missing = self.compare("EQ", [low, end], part);
            let types = [part.with_dtype(DType::Bool), part, part];
            high = self.op1("select", &[missing, zero, high], &types, part, "");
        }
        let key = self.key_words(keys, aval, part);
        let words = self.threefry(key, [low, high], part);
        let even = with_last(2 * half);
        let attributes = format!("dimension = {last} : i64");
        let joined = self.op1("concatenate", &words, &[part, part], even, &attributes);
        (self.take_first(joined, even, n), with_last(n))
    }

    /// Emits the first `n` elements along the last axis.
    fn take_first(&mut self, value: Value, aval: Aval, n: usize) -> Value {
        self.take_range(value, aval, 0, n)
    }

    /// Emits the elements `start..limit` along the last axis.
    fn take_range(&mut self, value: Value, aval: Aval, start: usize, limit: usize) -> Value {
        let rank = aval.ndim();
        let mut starts = vec![0; rank];
        starts[rank - 1] = start;
        let mut limits = aval.shape().to_vec();
        limits[rank - 1] = limit;
        let mut shape = aval.shape().to_vec();
        shape[rank - 1] = limit - start;
        let out = aval.with_shape(&shape);
        if out == aval {
            return value;
        }
        let attributes = format!(
            "start_indices = {}, limit_indices = {}, strides = {}",
            dims_array(&starts),
            dims_array(&limits),
            dims_array(&vec![1; rank])
        );
        self.op1("slice", &[value], &[aval], out, &attributes)
    }

    /// Emits `n` draws for each key in the original layout, with the type `out`.
    pub(super) fn original_bits(&mut self, keys: Value, aval: Aval, n: usize, out: Aval) -> Value {
        let width = out.dtype().bits();
        let (flat, flat_aval) = match width {
            64 => {
                let (words, both) = self.hash_counters(keys, aval, 2 * n);
                let hi = self.take_range(words, both, 0, n);
                let lo = self.take_range(words, both, n, 2 * n);
                let mut shape = both.shape().to_vec();
                *shape.last_mut().expect("the last axis holds words") = n;
                let word = both.with_shape(&shape);
                (self.widen([hi, lo], word), word.with_dtype(DType::U64))
            }
            32 => self.hash_counters(keys, aval, n),
            // Each word is split into pieces, the least significant first.
            _ => {
                let (words, from) = self.hash_counters(keys, aval, (n * width).div_ceil(32));
                let pieces = 32 / width;
                let split: Dims = from.shape().iter().copied().chain([pieces]).collect();
                let split = from.with_shape(&split);
                let axis = from.ndim();
                let dims: Vec<usize> = (0..axis).collect();
                let words = self.broadcast_in_dim(words, from, split, &dims);
                let count = format!("iota_dimension = {axis} : i64");
                let place = self.op1("iota", &[], &[], split, &count);
                let bits = self.splat(width, split);
                let shift = self.same("multiply", &[place, bits], split);
                let moved = self.same("shift_right_logical", &[words, shift], split);
                let narrow = self.convert(moved, split, out.dtype());
                let mut shape = from.shape().to_vec();
                *shape.last_mut().expect("the last axis holds words") *= pieces;
                let flat = from.with_shape(&shape).with_dtype(out.dtype());
                let split = split.with_dtype(out.dtype());
                let all = self.op1("reshape", &[narrow], &[split], flat, "");
                *shape.last_mut().expect("the last axis holds words") = n;
                (self.take_first(all, flat, n), flat.with_shape(&shape))
            }
        };
        if flat_aval == out {
            return flat;
        }
        self.op1("reshape", &[flat], &[flat_aval], out, "")
    }
}
