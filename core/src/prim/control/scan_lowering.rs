//! The lowering of `scan`: a loop with a counter, which slices the scanned arrays and writes its
//! results into preallocated arrays.

use super::scan::Scan;
use super::split3;
use crate::program::lower::{Lowering, Value, avals, dims_array};
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

fn read(ctx: &mut Lowering<'_>, array: Value, at: &Window) -> Value {
    let out = window(array.aval(), at.size);
    if out == array.aval() {
        return array;
    }
    match at.start {
        Start::Number(start) => ctx.slice_in_dim(array, 0, start..start + at.size),
        Start::Value(start) => {
            let args = with_starts(ctx, &[array], start);
            let attributes = format!("slice_sizes = {}", dims_array(out.shape()));
            ctx.op1("dynamic_slice", &args, out, &attributes)
        }
    }
}

fn write(ctx: &mut Lowering<'_>, array: Value, new: Value, at: &Window) -> Value {
    if window(array.aval(), at.size) == array.aval() {
        return new;
    }
    let start = match at.start {
        Start::Number(start) => ctx.scalar(start as i64, DType::I32),
        Start::Value(start) => start,
    };
    let args = with_starts(ctx, &[array, new], start);
    ctx.op1("dynamic_update_slice", &args, array.aval(), "")
}

/// Appends to operands the start indices of a slice of the first operand: `start` along its first
/// axis, and zeros.
fn with_starts(ctx: &mut Lowering<'_>, operands: &[Value], start: Value) -> Vec<Value> {
    let zero = ctx.scalar(0, DType::I32);
    let mut args = [operands, &[start]].concat();
    args.resize(operands.len() + operands[0].ndim(), zero);
    args
}

/// Emits one element along the first axis, which is removed.
fn element(ctx: &mut Lowering<'_>, array: Value, at: usize) -> Value {
    let start = Start::Number(at);
    let one = read(ctx, array, &Window { start, size: 1 });
    ctx.reshape(one, &array.shape()[1..])
}

/// Stacks arrays of the same type along a new first axis.
fn stack(ctx: &mut Lowering<'_>, values: &[Value]) -> Value {
    let shape = [&[1], values[0].shape()].concat();
    let parts: Vec<Value> = values.iter().map(|v| ctx.reshape(*v, &shape)).collect();
    match parts[..] {
        [only] => only,
        _ => ctx.concatenate(&parts, 0),
    }
}

/// The part of a loop that all steps share.
struct Loop<'a> {
    scan: &'a Scan,
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
        let blocks: Vec<Value> = state.xs.iter().map(|x| read(ctx, *x, at)).collect();
        let mut results: Vec<Vec<Value>> = vec![Vec::new(); state.ys.len()];
        for step in 0..at.size {
            let index = if self.scan.reverse {
                at.size - 1 - step
            } else {
                step
            };
            let mut args = state.consts.clone();
            args.extend(&state.carry);
            args.extend(blocks.iter().map(|block| element(ctx, *block, index)));
            let mut outs = if self.shared {
                ctx.call("body", &self.scan.jaxpr, &args)
            } else {
                ctx.inline(&self.scan.jaxpr, &args)
            };
            let ys = outs.split_off(state.carry.len());
            state.carry = outs;
            for (result, y) in results.iter_mut().zip(ys) {
                result.push(y);
            }
        }
        for (values, y) in results.iter_mut().zip(&mut state.ys) {
            if self.scan.reverse {
                values.reverse();
            }
            let block = stack(ctx, values);
            *y = write(ctx, *y, block, at);
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
        let zero = ctx.scalar(0, DType::I32);
        let lists = [&state.consts, &state.xs, &state.carry, &state.ys];
        let counts = lists.map(Vec::len);
        let mut args = vec![zero];
        args.extend(lists.into_iter().flatten());
        let types = avals(&args);
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
            let more = ctx.compare("LT", [values[0], trips]);
            vec![more]
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
            let next = ctx.same("add", &[values[0], one]);
            let mut all = vec![next];
            for list in [state.consts, state.xs, state.carry, state.ys] {
                all.extend(list);
            }
            all
        });
        let outs = ctx.op("while", &args, &types, "", &[cond, body]);
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
        let mut at = round;
        if self.scan.reverse {
            let last = ctx.scalar(trips as i64 - 1, DType::I32);
            at = ctx.same("subtract", &[last, at]);
        }
        if size > 1 {
            let size = ctx.scalar(size as i64, DType::I32);
            at = ctx.same("multiply", &[at, size]);
        }
        if offset > 0 {
            let offset = ctx.scalar(offset as i64, DType::I32);
            at = ctx.same("add", &[at, offset]);
        }
        at
    }
}

impl Scan {
    pub(super) fn lower_loop(
        &self,
        ctx: &mut Lowering<'_>,
        args: &[Value],
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
        let steps = Loop {
            scan: self,
            shared: written > 1,
        };
        let values = self.parts(args);
        let mut state = State {
            consts: values.consts,
            xs: values.xs,
            carry: values.carry,
            ys: (outs[self.num_carry..].iter())
                .map(|aval| ctx.splat(0, *aval))
                .collect(),
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
