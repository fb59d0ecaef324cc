//! Random programs.

use super::program::{Binary, Compare, Cumulative, Kind, Op, Program, Reduction, Type, Unary};
use super::rng::Rng;

/// The most elements of a value.
pub const LARGEST: usize = 36;

pub fn shape(rng: &mut Rng) -> Vec<usize> {
    let rank = rng.pick(&[0, 1, 1, 2, 2, 2, 3]);
    (0..rank)
        .map(|_| if rng.chance(2) { 0 } else { 1 + rng.below(4) })
        .collect()
}

/// A program being made.
pub struct Draft<'r> {
    pub rng: &'r mut Rng,
    pub program: Program,
    /// How many programs may still be nested.
    pub depth: usize,
    /// Whether loops without a reverse mode may occur.
    pub loops: bool,
}

/// A program of about `length` operations on inputs of these types. Its result
/// has the type `result`, if one is asked for, or else is some floats.
pub fn program(
    rng: &mut Rng,
    inputs: Vec<Type>,
    length: usize,
    depth: usize,
    loops: bool,
    result: Option<&Type>,
) -> Program {
    let program = Program {
        inputs,
        ops: Vec::new(),
        output: 0,
    };
    let mut draft = Draft {
        rng,
        program,
        depth,
        loops,
    };
    let mut tries = 0;
    while draft.program.ops.len() < length && tries < 40 * length {
        tries += 1;
        draft.step();
    }
    draft.finish(result);
    draft.program
}

impl Draft<'_> {
    pub fn count(&self) -> usize {
        self.program.inputs.len() + self.program.ops.len()
    }

    pub fn push(&mut self, op: Op, ty: Type) -> usize {
        self.program.ops.push((op, ty));
        self.count() - 1
    }

    pub fn ty(&self, value: usize) -> Type {
        self.program.type_of(value).clone()
    }

    /// Some value of a kind; late ones are likelier.
    pub fn some(&mut self, kind: Kind) -> Option<usize> {
        self.some_where(|t| t.kind == kind)
    }

    pub fn some_where(&mut self, fits: impl Fn(&Type) -> bool) -> Option<usize> {
        let all: Vec<usize> = (0..self.count())
            .filter(|&v| fits(self.program.type_of(v)))
            .collect();
        if all.is_empty() {
            return None;
        }
        let late = self.rng.chance(50);
        let from = if late { all.len() * 2 / 3 } else { 0 };
        Some(self.rng.pick(&all[from..]))
    }

    pub fn float(&mut self) -> Option<usize> {
        self.some(Kind::F64)
    }

    /// A float with at least one axis, and one of its axes.
    pub fn axis(&mut self) -> Option<(usize, usize)> {
        let x = self.some_where(|t| t.is_float() && t.rank() > 0)?;
        let rank = self.ty(x).rank();
        Some((x, self.rng.below(rank)))
    }

    /// An integer of a shape.
    pub fn integer(&mut self, shape: &[usize]) -> usize {
        let found = self.some_where(|t| t.is_integer() && t.shape == shape);
        found.unwrap_or_else(|| self.push(Op::Constant, Type::new(Kind::I32, shape)))
    }

    /// Makes a value small, most of the time.
    pub fn tame(&mut self, x: usize) {
        if self.rng.chance(40) {
            let op = self
                .rng
                .pick(&[Unary::Tanh, Unary::Sin, Unary::Atan, Unary::Logistic]);
            let ty = self.ty(x);
            self.push(Op::Unary(op, x), ty);
        }
    }

    /// Adds one operation, or few, if operands can be found.
    fn step(&mut self) -> Option<()> {
        match self.rng.below(24) {
            0..=2 => self.unary(),
            3..=5 => self.binary(),
            6 => self.integers(),
            7 => self.compare(),
            8 => self.select(),
            9 => self.cast(),
            10 => self.reshape(),
            11 => self.broadcast(),
            12 => self.turn(),
            13 => self.join(),
            14 => self.cut(),
            15 => self.pad(),
            16 => self.dynamic(),
            17 => self.gather(),
            18 => self.reduce(),
            19 => self.cumulative(),
            20 => self.dot(),
            21 => self.sort(),
            _ => self.nested(),
        }
    }

    fn unary(&mut self) -> Option<()> {
        use Unary::*;
        let mut x = self.float()?;
        let ty = self.ty(x);
        let op = self.rng.pick(&[
            Neg,
            Abs,
            Sign,
            Floor,
            Ceil,
            Round,
            Sin,
            Cos,
            Tanh,
            Logistic,
            Exp,
            Exp2,
            Expm1,
            Log,
            Log1p,
            Sqrt,
            Rsqrt,
            Cbrt,
            Square,
            Cube,
            Atan,
            Asinh,
            StopGradient,
            Sin,
            Cos,
        ]);
        match op {
            Exp | Exp2 | Expm1 | Cube => x = self.push(Op::Unary(Sin, x), ty.clone()),
            Log | Log1p | Sqrt | Rsqrt | Cbrt => x = self.positive(x),
            _ => {}
        }
        self.push(Op::Unary(op, x), ty);
        Some(())
    }

    /// The square of a value plus a half.
    fn positive(&mut self, x: usize) -> usize {
        let ty = self.ty(x);
        let square = self.push(Op::Unary(Unary::Square, x), ty.clone());
        self.push(Op::BinaryScalar(Binary::Add, square, 0.5), ty)
    }

    fn binary(&mut self) -> Option<()> {
        use Binary::*;
        let x = self.float()?;
        let op = self.rng.pick(&[Add, Sub, Mul, Mul, Div, Rem, Max, Min]);
        if self.rng.chance(25) {
            let c = self.rng.pick(&[0.5, -1.5, 2.0, 0.25, 3.0]);
            let ty = self.ty(x);
            let out = if self.rng.chance(50) {
                self.push(Op::BinaryScalar(op, x, c), ty)
            } else {
                let y = if matches!(op, Div | Rem) {
                    self.positive(x)
                } else {
                    x
                };
                self.push(Op::ScalarBinary(op, c, y), ty)
            };
            self.tame(out);
            return Some(());
        }
        let a = self.ty(x).shape;
        let y = self.some_where(|t| t.is_float() && broadcast(&a, &t.shape).is_some())?;
        let out = broadcast(&a, &self.ty(y).shape)?;
        let y = if matches!(op, Div | Rem) {
            self.positive(y)
        } else {
            y
        };
        let out = self.push(Op::Binary(op, x, y), Type::new(Kind::F64, &out));
        self.tame(out);
        Some(())
    }

    fn integers(&mut self) -> Option<()> {
        use Binary::*;
        if self.rng.chance(30) {
            let x = self.some(Kind::Bool)?;
            let y = self.some_where(|t| t.kind == Kind::Bool)?;
            let (a, b) = (self.ty(x).shape, self.ty(y).shape);
            let out = broadcast(&a, &b)?;
            let op = self.rng.pick(&[And, Or, Xor]);
            let out = self.push(Op::Binary(op, x, y), Type::new(Kind::Bool, &out));
            if self.rng.chance(30) {
                let ty = self.ty(out);
                self.push(Op::Unary(Unary::Not, out), ty);
            }
            return Some(());
        }
        let shape = match self.some(Kind::I32) {
            Some(x) => self.ty(x).shape,
            None => shape(self.rng),
        };
        let (x, y) = (self.integer(&shape), self.integer(&shape));
        let op = self.rng.pick(&[Add, Sub, Mul, Max, Min, And, Or, Xor]);
        let ty = Type::new(Kind::I32, &shape);
        let out = self.push(Op::Binary(op, x, y), ty.clone());
        self.push(Op::BinaryScalar(Rem, out, 5.0), ty);
        Some(())
    }

    fn compare(&mut self) -> Option<()> {
        let x = self.some_where(|t| t.kind != Kind::Bool)?;
        let a = self.ty(x);
        let y = self.some_where(|t| t.kind == a.kind && broadcast(&a.shape, &t.shape).is_some())?;
        let out = broadcast(&a.shape, &self.ty(y).shape)?;
        let op = self.rng.pick(&[Compare::Lt, Compare::Ge, Compare::Eq]);
        self.push(Op::Compare(op, x, y), Type::new(Kind::Bool, &out));
        Some(())
    }

    fn select(&mut self) -> Option<()> {
        let c = self.some(Kind::Bool)?;
        let x = self.float()?;
        let y = self.float()?;
        let (c_shape, a, b) = (self.ty(c).shape, self.ty(x).shape, self.ty(y).shape);
        let out = broadcast(&broadcast(&a, &b)?, &c_shape)?;
        self.push(Op::Select(c, x, y), Type::new(Kind::F64, &out));
        Some(())
    }

    fn cast(&mut self) -> Option<()> {
        let x = self.some_where(|_| true)?;
        let from = self.ty(x);
        let to = self
            .rng
            .pick(&[Kind::F64, Kind::F64, Kind::I32, Kind::Bool]);
        // Large floats are no integers.
        let x = if from.is_float() && to == Kind::I32 {
            let small = self.push(Op::Unary(Unary::Sin, x), from.clone());
            self.push(Op::BinaryScalar(Binary::Mul, small, 3.5), from.clone())
        } else {
            x
        };
        self.push(Op::Cast(x), Type::new(to, &from.shape));
        Some(())
    }

    fn reshape(&mut self) -> Option<()> {
        let x = self.float()?;
        let ty = self.ty(x);
        let mut parts = vec![];
        let mut left = ty.size();
        if left == 0 {
            parts.push(0);
        }
        for d in [2, 3, 4] {
            if left > 1 && left.is_multiple_of(d) && self.rng.chance(60) {
                parts.push(d);
                left /= d;
            }
        }
        if left > 1 || self.rng.chance(20) {
            parts.push(left.max(1).min(ty.size().max(1)));
        }
        if parts.iter().product::<usize>() != ty.size() {
            return None;
        }
        self.push(Op::Reshape(x), ty.with(&parts));
        Some(())
    }

    fn broadcast(&mut self) -> Option<()> {
        let x = self.float()?;
        let ty = self.ty(x);
        if ty.rank() > 2 {
            return None;
        }
        let at = self.rng.below(ty.rank() + 1);
        let mut shape = ty.shape.clone();
        for d in &mut shape {
            if *d == 1 && self.rng.chance(50) {
                *d = 1 + self.rng.below(3);
            }
        }
        shape.insert(at, 1 + self.rng.below(3));
        let dims = (0..=ty.rank()).filter(|&d| d != at).collect();
        let to = ty.with(&shape);
        (to.size() <= LARGEST).then(|| self.push(Op::Broadcast(x, dims), to))?;
        Some(())
    }

    fn turn(&mut self) -> Option<()> {
        let (x, axis) = self.axis()?;
        let ty = self.ty(x);
        if self.rng.chance(50) {
            self.push(Op::Reverse(x, axis), ty);
            return Some(());
        }
        let mut axes: Vec<usize> = (0..ty.rank()).collect();
        for i in (1..axes.len()).rev() {
            axes.swap(i, self.rng.below(i + 1));
        }
        let shape: Vec<usize> = axes.iter().map(|&a| ty.shape[a]).collect();
        self.push(Op::Transpose(x, axes), ty.with(&shape));
        Some(())
    }

    fn join(&mut self) -> Option<()> {
        let (x, axis) = self.axis()?;
        let a = self.ty(x);
        let fits = |t: &Type| {
            t.is_float()
                && t.rank() == a.rank()
                && (0..a.rank()).all(|d| d == axis || t.shape[d] == a.shape[d])
        };
        let y = self.some_where(fits)?;
        let mut shape = a.shape.clone();
        shape[axis] += self.ty(y).shape[axis];
        let to = a.with(&shape);
        (to.size() <= LARGEST).then(|| self.push(Op::Concatenate(x, y, axis), to))?;
        Some(())
    }

    fn cut(&mut self) -> Option<()> {
        let (x, axis) = self.axis()?;
        let ty = self.ty(x);
        let n = ty.shape[axis];
        let from = self.rng.below(n + 1);
        let step = 1 + self.rng.below(2);
        let most = (n - from).div_ceil(step);
        let size = if self.rng.chance(5) {
            0
        } else {
            most.min(1 + self.rng.below(3))
        };
        let mut shape = ty.shape.clone();
        shape[axis] = size;
        self.push(Op::Slice(x, axis, from, step), ty.with(&shape));
        Some(())
    }

    fn pad(&mut self) -> Option<()> {
        let (x, axis) = self.axis()?;
        let ty = self.ty(x);
        let n = ty.shape[axis] as i64;
        let widths = [
            self.rng.below(4) as i64 - 1,
            self.rng.below(4) as i64 - 1,
            self.rng.below(2) as i64,
        ];
        let size = n + (n - 1).max(0) * widths[2] + widths[0] + widths[1];
        let mut shape = ty.shape.clone();
        shape[axis] = usize::try_from(size).ok()?;
        let value = self.rng.pick(&[0.0, 1.0, -0.5]);
        let to = ty.with(&shape);
        (to.size() <= LARGEST).then(|| self.push(Op::Pad(x, axis, widths, value), to))?;
        Some(())
    }

    fn dynamic(&mut self) -> Option<()> {
        let (x, axis) = self.axis()?;
        let ty = self.ty(x);
        let at = self.integer(&[]);
        if self.rng.chance(50) {
            let mut shape = ty.shape.clone();
            shape[axis] = self.rng.below(shape[axis] + 1).max(1).min(shape[axis]);
            self.push(Op::DynamicSlice(x, axis, at), ty.with(&shape));
            return Some(());
        }
        let fits = |t: &Type| {
            t.is_float()
                && t.rank() == ty.rank()
                && (0..ty.rank())
                    .all(|d| t.shape[d] == ty.shape[d] || d == axis && t.shape[d] < ty.shape[d])
        };
        let update = self.some_where(fits)?;
        self.push(Op::DynamicUpdate(x, axis, at, update), ty);
        Some(())
    }

    /// Integers that are places of an axis of size `n`.
    fn places(&mut self, n: usize) -> usize {
        let count = 1 + self.rng.below(4);
        let ty = Type::new(Kind::I32, &[count]);
        let x = self.integer(&[count]);
        let x = self.push(Op::BinaryScalar(Binary::Max, x, 0.0), ty.clone());
        self.push(Op::BinaryScalar(Binary::Min, x, n as f64 - 1.0), ty)
    }

    fn gather(&mut self) -> Option<()> {
        let (x, axis) = self.axis()?;
        let ty = self.ty(x);
        if ty.shape[axis] == 0 || ty.shape[0] == 0 {
            return None;
        }
        if self.rng.chance(60) {
            let places = self.places(ty.shape[axis]);
            let mut shape = ty.shape.clone();
            shape[axis] = self.ty(places).shape[0];
            let to = ty.with(&shape);
            (to.size() <= LARGEST).then(|| self.push(Op::Take(x, places, axis), to))?;
            return Some(());
        }
        let places = self.places(ty.shape[0]);
        let mut window = ty.shape.clone();
        window[0] = self.ty(places).shape[0];
        let fits =
            |t: &Type| t.is_float() && broadcast(&window, &t.shape).is_some_and(|s| s == window);
        let updates = self.some_where(fits)?;
        self.push(Op::ScatterAdd(x, places, updates), ty);
        Some(())
    }

    fn reduce(&mut self) -> Option<()> {
        use Reduction::*;
        let (x, axis) = self.axis()?;
        let ty = self.ty(x);
        let op = self.rng.pick(&[Sum, Sum, Prod, Max, Min, LogSumExp]);
        let mut axes = vec![axis];
        if !matches!(op, LogSumExp) {
            axes = (0..ty.rank())
                .filter(|&d| d == axis || self.rng.chance(30))
                .collect();
        }
        let empty = axes.iter().any(|&a| ty.shape[a] == 0);
        if self.rng.chance(10) && !empty {
            let mut shape = ty.shape.clone();
            shape.remove(axis);
            self.push(Op::ArgMax(x, axis), Type::new(Kind::I32, &shape));
            return Some(());
        }
        if empty && !matches!(op, Sum | Prod) {
            return None;
        }
        let kept = (0..ty.rank()).filter(|d| !axes.contains(d));
        let shape: Vec<usize> = kept.map(|d| ty.shape[d]).collect();
        let out = self.push(Op::Reduce(op, x, axes), ty.with(&shape));
        self.tame(out);
        Some(())
    }

    fn cumulative(&mut self) -> Option<()> {
        use Cumulative::*;
        let (x, axis) = self.axis()?;
        let op = self.rng.pick(&[Sum, Sum, Prod, Max, Min]);
        let reverse = self.rng.chance(40);
        let ty = self.ty(x);
        let out = self.push(Op::Cumulative(op, x, axis, reverse), ty);
        self.tame(out);
        Some(())
    }

    fn dot(&mut self) -> Option<()> {
        let (x, i) = self.axis()?;
        let (y, j) = self.axis()?;
        let (a, b) = (self.ty(x), self.ty(y));
        if a.shape[i] != b.shape[j] {
            return None;
        }
        let pairs: Vec<(usize, usize)> = (0..a.rank())
            .flat_map(|p| (0..b.rank()).map(move |q| (p, q)))
            .filter(|&(p, q)| p != i && q != j && a.shape[p] == b.shape[q])
            .collect();
        let batch = (!pairs.is_empty() && self.rng.chance(60)).then(|| self.rng.pick(&pairs));
        let mut shape: Vec<usize> = batch.iter().map(|&(p, _)| a.shape[p]).collect();
        let others = |t: &Type, c: usize, s: Option<usize>| -> Vec<usize> {
            let kept = (0..t.rank()).filter(|&d| d != c && Some(d) != s);
            kept.map(|d| t.shape[d]).collect()
        };
        shape.extend(others(&a, i, batch.map(|b| b.0)));
        shape.extend(others(&b, j, batch.map(|b| b.1)));
        let to = a.with(&shape);
        if to.size() > LARGEST || to.rank() > 3 {
            return None;
        }
        let out = self.push(Op::Dot(x, y, (i, j), batch), to);
        self.tame(out);
        Some(())
    }

    fn sort(&mut self) -> Option<()> {
        let (x, axis) = self.axis()?;
        let ty = self.ty(x);
        let keys = if self.rng.chance(50) {
            x
        } else {
            self.some_where(|t| *t == ty)?
        };
        self.push(Op::SortBy(keys, x, axis), ty);
        Some(())
    }
}

/// The shape that two broadcast to, if it is not too large.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let shape = ramie::numpy::broadcast_shapes(&[a, b])?;
    (shape.iter().product::<usize>() <= LARGEST && shape.len() <= 3).then(|| shape.to_vec())
}
