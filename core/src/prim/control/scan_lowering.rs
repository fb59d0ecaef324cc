//! The lowering of `scan`: a loop with a counter, which slices the scanned arrays and writes its
//! results into preallocated arrays.

use super::scan::{Scan, element};
use super::split3;
use crate::program::lower::{Lowering, Value, dims_array};
use crate::{Aval, DType};

/// A range of elements along the first axis of several arrays.
struct Window {
    /// First element: a constant or a value.
    start: Start,
    size: usize,
}

enum Start {
    Number(usize),
    Value(Value),
}

/// Returns the type with `size` elements along the first axis.
fn window(aval: Aval, size: usize) -> Aval {
    let mut shape = aval.shape().to_vec();
    shape[0] = size;
    aval.with_shape(&shape)
}

fn read(ctx: &mut Lowering<'_>, array: Value, aval: Aval, at: &Window) -> Value {
    let out = window(aval, at.size);
    if out == aval {
        return array;
    }
    match at.start {
        Start::Number(start) => slice(ctx, array, aval, start, at.size),
        Start::Value(start) => {
            let (args, ins) = with_starts(ctx, vec![array], vec![aval], start, aval);
            let attributes = format!("slice_sizes = {}", dims_array(out.shape()));
            ctx.op1("dynamic_slice", &args, &ins, out, &attributes)
        }
    }
}

fn write(ctx: &mut Lowering<'_>, array: Value, aval: Aval, new: Value, at: &Window) -> Value {
    let part = window(aval, at.size);
    if part == aval {
        return new;
    }
    let start = match at.start {
        Start::Number(start) => ctx.scalar(start as i64, DType::I32),
        Start::Value(start) => start,
    };
    let (args, ins) = with_starts(ctx, vec![array, new], vec![aval, part], start, aval);
    ctx.op1("dynamic_update_slice", &args, &ins, aval, "")
}

/// Appends to operands the start indices of a slice: `start` along the first axis, and zeros.
fn with_starts(
    ctx: &mut Lowering<'_>,
    mut args: Vec<Value>,
    mut ins: Vec<Aval>,
    start: Value,
    aval: Aval,
) -> (Vec<Value>, Vec<Aval>) {
    let zero = ctx.scalar(0, DType::I32);
    args.push(start);
    args.resize(args.len() + aval.ndim() - 1, zero);
    ins.resize(args.len(), Aval::scalar(DType::I32));
    (args, ins)
}

fn slice(ctx: &mut Lowering<'_>, array: Value, aval: Aval, start: usize, size: usize) -> Value {
    let out = window(aval, size);
    if out == aval {
        return array;
    }
    let mut starts = vec![0; aval.ndim()];
    let mut limits = aval.shape().to_vec();
    (starts[0], limits[0]) = (start, start + size);
    let attributes = format!(
        "start_indices = {}, limit_indices = {}, strides = {}",
        dims_array(&starts),
        dims_array(&limits),
        dims_array(&vec![1; aval.ndim()])
    );
    ctx.op1("slice", &[array], &[aval], out, &attributes)
}

/// Stacks arrays of the same type along a new first axis.
fn stack(ctx: &mut Lowering<'_>, values: &[Value], aval: Aval) -> Value {
    let mut shape = vec![1];
    shape.extend(aval.shape());
    let one = aval.with_shape(&shape);
    let parts: Vec<Value> = values
        .iter()
        .map(|v| ctx.op1("reshape", &[*v], &[aval], one, ""))
        .collect();
    if let [only] = parts[..] {
        return only;
    }
    let types = vec![one; parts.len()];
    let out = window(one, parts.len());
    ctx.op1("concatenate", &parts, &types, out, "dimension = 0 : i64")
}

/// The part of a loop that all steps share.
struct Loop<'a> {
    scan: &'a Scan,
    /// Types of constants, carry, scanned arrays and results.
    consts: &'a [Aval],
    carry: &'a [Aval],
    xs: &'a [Aval],
    ys: &'a [Aval],
    /// Whether the program is emitted once, as a function.
    shared: bool,
}

/// The values at one point of the loop.
#[derive(Clone)]
struct State {
    consts: Vec<Value>,
    xs: Vec<Value>,
    carry: Vec<Value>,
    ys: Vec<Value>,
}

impl Loop<'_> {
    /// Emits the steps of one window, and replaces carry and results.
    fn steps(&self, ctx: &mut Lowering<'_>, state: &mut State, at: &Window) {
        let blocks: Vec<Value> = state
            .xs
            .iter()
            .zip(self.xs)
            .map(|(x, aval)| read(ctx, *x, *aval, at))
            .collect();
        let mut results: Vec<Vec<Value>> = vec![Vec::new(); self.ys.len()];
        for step in 0..at.size {
            let place = if self.scan.reverse {
                at.size - 1 - step
            } else {
                step
            };
            let mut args = state.consts.clone();
            args.extend(&state.carry);
            for (block, aval) in blocks.iter().zip(self.xs) {
                let one = slice(ctx, *block, window(*aval, at.size), place, 1);
                let (from, to) = (window(*aval, 1), element(*aval));
                args.push(ctx.op1("reshape", &[one], &[from], to, ""));
            }
            let mut outs = if self.shared {
                ctx.call("body", &self.scan.jaxpr, &args)
            } else {
                ctx.inline(&self.scan.jaxpr, &args)
            };
            let ys = outs.split_off(self.carry.len());
            state.carry = outs;
            for (result, y) in results.iter_mut().zip(ys) {
                result.push(y);
            }
        }
        for ((values, aval), y) in results.iter_mut().zip(self.ys).zip(&mut state.ys) {
            if self.scan.reverse {
                values.reverse();
            }
            let block = stack(ctx, values, element(*aval));
            *y = write(ctx, *y, *aval, block, at);
        }
    }

    /// Emits `trips` iterations of `size` steps each; the first element is `offset`.
    fn rounds(
        &self,
        ctx: &mut Lowering<'_>,
        state: State,
        trips: usize,
        size: usize,
        offset: usize,
    ) -> State {
        let index = Aval::scalar(DType::I32);
        let zero = ctx.scalar(0, DType::I32);
        let lists = [&state.consts, &state.xs, &state.carry, &state.ys];
        let counts = lists.map(Vec::len);
        let mut args = vec![zero];
        args.extend(lists.into_iter().flatten());
        let types = [&[index], self.consts, self.xs, self.carry, self.ys].concat();
        let state_of = |values: &[Value]| {
            let (consts, xs, rest) = split3(&values[1..], counts[0], counts[1]);
            let (carry, ys) = rest.split_at(counts[2]);
            State {
                consts: consts.to_vec(),
                xs: xs.to_vec(),
                carry: carry.to_vec(),
                ys: ys.to_vec(),
            }
        };
        let cond = ctx.region(&types, |ctx, values| {
            let trips = ctx.scalar(trips as i64, DType::I32);
            let more = ctx.compare("LT", [values[0], trips], index);
            vec![(more, Aval::scalar(DType::Bool))]
        });
        let body = ctx.region(&types, |ctx, values| {
            let mut state = state_of(values);
            let start = self.start(ctx, values[0], trips, size, offset);
            let at = Window {
                start: Start::Value(start),
                size,
            };
            self.steps(ctx, &mut state, &at);
            let one = ctx.scalar(1, DType::I32);
            let next = ctx.same("add", &[values[0], one], index);
            let mut all = vec![next];
            for list in [state.consts, state.xs, state.carry, state.ys] {
                all.extend(list);
            }
            all.into_iter().zip(types.iter().copied()).collect()
        });
        let outs = ctx.op("while", &args, &types, &types, "", &[cond, body]);
        state_of(&outs)
    }

    /// Returns the first element of an iteration.
    fn start(
        &self,
        ctx: &mut Lowering<'_>,
        round: Value,
        trips: usize,
        size: usize,
        offset: usize,
    ) -> Value {
        let index = Aval::scalar(DType::I32);
        let mut at = round;
        if self.scan.reverse {
            let last = ctx.scalar(trips as i64 - 1, DType::I32);
            at = ctx.same("subtract", &[last, at], index);
        }
        if size > 1 {
            let size = ctx.scalar(size as i64, DType::I32);
            at = ctx.same("multiply", &[at, size], index);
        }
        if offset > 0 {
            let offset = ctx.scalar(offset as i64, DType::I32);
            at = ctx.same("add", &[at, offset], index);
        }
        at
    }
}

impl Scan {
    pub(super) fn lower_loop(
        &self,
        ctx: &mut Lowering<'_>,
        args: &[Value],
        ins: &[Aval],
        outs: &[Aval],
    ) -> Vec<Value> {
        // Iterations of `unroll` steps, followed by the remaining steps; without iterations, all
        // steps are unrolled.
        let (trips, rest) = match self.unroll {
            0 => (0, self.length),
            unroll if unroll >= self.length => (0, self.length),
            unroll => (self.length / unroll, self.length % unroll),
        };
        let written = rest + if trips > 0 { self.unroll } else { 0 };
        let (consts, carry, xs) = split3(ins, self.num_consts, self.num_carry);
        let steps = Loop {
            scan: self,
            consts,
            carry,
            xs,
            ys: &outs[self.num_carry..],
            shared: written > 1,
        };
        let values = self.parts(args);
        let mut state = State {
            consts: values.consts,
            xs: values.xs,
            carry: values.carry,
            ys: steps.ys.iter().map(|aval| ctx.splat(0, *aval)).collect(),
        };
        // In reverse, the remaining steps are at the front.
        let offset = if self.reverse { rest } else { 0 };
        if trips > 0 {
            state = steps.rounds(ctx, state, trips, self.unroll, offset);
        }
        if rest > 0 {
            let start = if self.reverse { 0 } else { self.length - rest };
            let at = Window {
                start: Start::Number(start),
                size: rest,
            };
            steps.steps(ctx, &mut state, &at);
        }
        [state.carry, state.ys].concat()
    }
}
