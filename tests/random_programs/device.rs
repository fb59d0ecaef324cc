//! The same programs on arrays.

use super::host::Tensor;
use super::program::{
    Binary, Compare, Cumulative, Inner, Kind, Op, Program, Reduction, Type, Unary,
};
use ramie::lax::{
    DotDimensionNumbers, GatherScatterMode, cond, fori_loop, scan_with, sort, switch, while_loop,
};
use ramie::options::ScanOptions;
use ramie::{Array, DType, concatenate, custom_jvp, jit, jvp, where_};

/// The array of a tensor.
pub fn array(tensor: &Tensor, kind: Kind) -> Array {
    let values = tensor.data.iter().map(|x| x.value);
    let shape = &tensor.shape;
    match kind {
        Kind::F64 => Array::from_vec(values.collect::<Vec<f64>>(), shape),
        Kind::I32 => Array::from_vec(values.map(|x| x as i32).collect::<Vec<_>>(), shape),
        Kind::Bool => Array::from_vec(values.map(|x| x != 0.0).collect::<Vec<_>>(), shape),
    }
}

fn dtype(kind: Kind) -> DType {
    match kind {
        Kind::F64 => DType::F64,
        Kind::I32 => DType::I32,
        Kind::Bool => DType::Bool,
    }
}

fn unary(op: Unary, x: &Array) -> Array {
    match op {
        Unary::Neg => -x,
        Unary::Abs => x.abs(),
        Unary::Sign => x.sign(),
        Unary::Floor => x.floor(),
        Unary::Ceil => x.ceil(),
        Unary::Round => x.round(),
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tanh => x.tanh(),
        Unary::Logistic => x.logistic(),
        Unary::Exp => x.exp(),
        Unary::Exp2 => x.exp2(),
        Unary::Expm1 => x.expm1(),
        Unary::Log => x.log(),
        Unary::Log1p => x.log1p(),
        Unary::Sqrt => x.sqrt(),
        Unary::Rsqrt => x.rsqrt(),
        Unary::Cbrt => x.cbrt(),
        Unary::Square => x.square(),
        Unary::Cube => x.integer_pow(3),
        Unary::Atan => x.atan(),
        Unary::Asinh => x.asinh(),
        Unary::StopGradient => x.stop_gradient(),
        Unary::Not => !x,
    }
}

fn binary(op: Binary, x: &Array, y: &Array) -> Array {
    match op {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div => x / y,
        Binary::Rem => x.lax_rem(y),
        Binary::Max => x.maximum(y),
        Binary::Min => x.minimum(y),
        Binary::And => x & y,
        Binary::Or => x | y,
        Binary::Xor => x ^ y,
    }
}

fn signed(axes: &[usize]) -> Vec<isize> {
    axes.iter().map(|&a| a as isize).collect()
}

impl Program {
    /// Runs the program.
    pub fn on_arrays(&self, inputs: &[Array]) -> Array {
        let mut values = inputs.to_vec();
        for (op, ty) in &self.ops {
            let value = apply(op, ty, &values);
            assert_eq!(value.shape(), ty.shape, "{op:?}");
            assert_eq!(value.dtype(), dtype(ty.kind), "{op:?}");
            values.push(value);
        }
        values.swap_remove(self.output)
    }
}

/// A scalar operand: a plain number, which takes the other operand's type.
fn number(c: f64, ty: &Type) -> Array {
    use ramie::IntoArray;
    if ty.is_integer() {
        (c as i32).into_array()
    } else {
        c.into_array()
    }
}

fn apply(op: &Op, ty: &Type, values: &[Array]) -> Array {
    let v = |i: &usize| &values[*i];
    let shape = &ty.shape;
    match op {
        Op::Constant => array(&ty.pattern(0), ty.kind),
        Op::Unary(op, x) => unary(*op, v(x)),
        Op::Binary(op, x, y) => binary(*op, v(x), v(y)),
        Op::BinaryScalar(op, x, c) => binary(*op, v(x), &number(*c, ty)),
        Op::ScalarBinary(op, c, x) => binary(*op, &number(*c, ty), v(x)),
        Op::Compare(Compare::Lt, x, y) => v(x).lt(v(y)),
        Op::Compare(Compare::Ge, x, y) => v(x).ge(v(y)),
        Op::Compare(Compare::Eq, x, y) => v(x).eq(v(y)),
        Op::Select(c, x, y) => where_(v(c), v(x), v(y)),
        Op::Cast(x) => v(x).astype(dtype(ty.kind)),
        Op::Reshape(x) => v(x).reshape(shape),
        Op::Transpose(x, axes) => v(x).transpose(&signed(axes)),
        Op::Broadcast(x, dims) => v(x).broadcast_in_dim(shape, dims),
        Op::Reverse(x, axis) => v(x).flip(&[*axis as isize]),
        Op::Concatenate(x, y, axis) => concatenate(&[v(x), v(y)], *axis as isize),
        Op::Slice(x, axis, from, step) => {
            let limit = match shape[*axis] {
                0 => *from,
                n => from + (n - 1) * step + 1,
            };
            v(x).slice_in_dim(*from, limit, *step, *axis as isize)
        }
        Op::Pad(x, axis, [low, high, interior], value) => {
            let mut widths = vec![(0, 0, 0); shape.len()];
            widths[*axis] = (*low as isize, *high as isize, *interior as usize);
            v(x).lax_pad(&widths, *value)
        }
        Op::DynamicSlice(x, axis, at) => {
            v(x).dynamic_slice_in_dim(v(at), shape[*axis], *axis as isize)
        }
        Op::DynamicUpdate(x, axis, at, update) => {
            v(x).dynamic_update_slice_in_dim(v(update), v(at), *axis as isize)
        }
        Op::Take(x, places, axis) => v(x).take(v(places), *axis as isize),
        Op::ScatterAdd(x, places, updates) => v(x)
            .at(v(places))
            .mode(GatherScatterMode::Clip)
            .add(v(updates)),
        Op::Reduce(op, x, axes) => {
            let signed = signed(axes);
            match op {
                Reduction::Sum => v(x).sum_over(&signed),
                Reduction::Prod => v(x).prod_over(&signed),
                Reduction::Max => v(x).max_over(&signed),
                Reduction::Min => v(x).min_over(&signed),
                Reduction::LogSumExp => v(x).logsumexp(signed[0]),
            }
        }
        Op::Cumulative(op, x, axis, reverse) => {
            let (x, axis) = (v(x), *axis as isize);
            match (op, reverse) {
                (Cumulative::Sum, false) => x.cumsum(axis),
                (Cumulative::Sum, true) => x.cumsum_reversed(axis),
                (Cumulative::Prod, false) => x.cumprod(axis),
                (Cumulative::Prod, true) => x.cumprod_reversed(axis),
                (Cumulative::Max, false) => x.cummax(axis),
                (Cumulative::Max, true) => x.cummax_reversed(axis),
                (Cumulative::Min, false) => x.cummin(axis),
                (Cumulative::Min, true) => x.cummin_reversed(axis),
            }
        }
        Op::ArgMax(x, axis) => v(x).argmax(*axis as isize),
        Op::Dot(x, y, contract, batch) => {
            let batch = batch.map(|(p, q)| ([p], [q]));
            let batch = match &batch {
                Some((p, q)) => [&p[..], &q[..]],
                None => [&[][..], &[]],
            };
            let numbers = DotDimensionNumbers::new([&[contract.0], &[contract.1]], batch);
            v(x).dot_general(v(y), numbers)
        }
        Op::SortBy(keys, x, axis) if keys == x => v(x).sort(*axis as isize),
        Op::SortBy(keys, x, axis) => {
            let operands = [v(keys).clone(), v(x).clone()];
            sort(&operands, *axis as isize, 1).swap_remove(1)
        }
        Op::Inner(inner, args) => {
            let args: Vec<Array> = args.iter().map(|a| v(a).clone()).collect();
            inner.on_arrays(args)
        }
    }
}

/// A program as a function that can be kept.
fn function(program: &Program) -> impl Fn(Vec<Array>) -> Array + Send + Sync + Clone + 'static {
    let program = std::sync::Arc::new(program.clone());
    move |args: Vec<Array>| program.on_arrays(&args)
}

impl Inner {
    fn on_arrays(&self, mut args: Vec<Array>) -> Array {
        match self {
            Inner::Jit(body) => jit(function(body))(args),
            Inner::Checkpoint(body) => ramie::remat(function(body))(args),
            Inner::CustomJvp(body) => {
                let (f, rule) = (function(body), function(body));
                custom_jvp(f, move |x: Vec<Array>, dx: Vec<Array>| {
                    jvp(rule.clone(), x, dx)
                })(args)
            }
            Inner::Cond(on_true, on_false) => {
                let pred = args.remove(0);
                cond(pred, function(on_true), function(on_false), args)
            }
            Inner::Switch(branches) => {
                let index = args.remove(0);
                let functions: Vec<_> = branches.iter().map(function).collect();
                let functions: Vec<&dyn Fn(Vec<Array>) -> Array> = functions
                    .iter()
                    .map(|f| f as &dyn Fn(Vec<Array>) -> Array)
                    .collect();
                switch(index, &functions, args)
            }
            Inner::Scan {
                body,
                reverse,
                carry,
            } => {
                let (init, xs) = (args.remove(0), args.remove(0));
                let step = |state: Array, x: Array| {
                    let mut inputs = vec![state, x];
                    inputs.extend_from_slice(&args);
                    let state = body.on_arrays(&inputs);
                    (state.clone(), state)
                };
                let options = ScanOptions {
                    reverse: *reverse,
                    ..ScanOptions::default()
                };
                let (last, all) = scan_with(step, init, xs, options);
                if *carry { last } else { all }
            }
            Inner::ForiLoop(steps, body) => {
                let init = args.remove(0);
                let step = |_: Array, state: Array| {
                    let mut inputs = vec![state];
                    inputs.extend_from_slice(&args);
                    body.on_arrays(&inputs)
                };
                fori_loop(0, *steps as i32, step, init)
            }
            Inner::WhileLoop(steps, body) => {
                let init = args.remove(0);
                let step = |(count, state): (Array, Array)| {
                    let mut inputs = vec![state];
                    inputs.extend_from_slice(&args);
                    (count + 1, body.on_arrays(&inputs))
                };
                let more = |(count, _): (Array, Array)| count.lt(*steps as i32);
                while_loop(more, step, (Array::from(0), init)).1
            }
        }
    }
}
