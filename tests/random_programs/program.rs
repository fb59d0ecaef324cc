//! Programs: lists of operations on earlier values.

use super::host::{Tensor, indices};
use super::number::Number;

/// The kind of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    F64,
    I32,
    Bool,
}

/// The type of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    pub kind: Kind,
    pub shape: Vec<usize>,
}

impl Type {
    pub fn new(kind: Kind, shape: &[usize]) -> Type {
        Type {
            kind,
            shape: shape.to_vec(),
        }
    }

    pub fn is_float(&self) -> bool {
        self.kind == Kind::F64
    }

    pub fn is_integer(&self) -> bool {
        self.kind == Kind::I32
    }

    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The type with another shape.
    pub fn with(&self, shape: &[usize]) -> Type {
        Type::new(self.kind, shape)
    }

    /// An element of another kind as one of this.
    pub fn cast(&self, x: Number) -> Number {
        match self.kind {
            Kind::F64 => x,
            Kind::I32 => x.value.trunc().into(),
            Kind::Bool => f64::from(u8::from(x.value != 0.0)).into(),
        }
    }

    /// Elements that look irregular and are the same every time.
    pub fn pattern(&self, salt: u64) -> Tensor {
        let mut state = salt ^ (self.size() as u64) << 8 ^ self.rank() as u64;
        let data = indices(&self.shape).map(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ (state >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let unit = (mixed >> 40) as f64 / (1u64 << 24) as f64;
            let x = match self.kind {
                Kind::F64 => 3.0 * unit - 1.5,
                Kind::I32 => (9.0 * unit).floor() - 4.0,
                Kind::Bool => (2.0 * unit).floor(),
            };
            x.into()
        });
        Tensor {
            data: data.collect(),
            shape: self.shape.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Unary {
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
    Not,
}

#[derive(Clone, Copy, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Max,
    Min,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug)]
pub enum Compare {
    Lt,
    Ge,
    Eq,
}

#[derive(Clone, Copy, Debug)]
pub enum Reduction {
    Sum,
    Prod,
    Max,
    Min,
    LogSumExp,
}

#[derive(Clone, Copy, Debug)]
pub enum Cumulative {
    Sum,
    Prod,
    Max,
    Min,
}

/// An operation; numbers of values come first.
#[derive(Clone, Debug)]
pub enum Op {
    Constant,
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    BinaryScalar(Binary, usize, f64),
    ScalarBinary(Binary, f64, usize),
    Compare(Compare, usize, usize),
    Select(usize, usize, usize),
    Cast(usize),
    Reshape(usize),
    Transpose(usize, Vec<usize>),
    Broadcast(usize, Vec<usize>),
    Reverse(usize, usize),
    Concatenate(usize, usize, usize),
    /// Axis, start, step.
    Slice(usize, usize, usize, usize),
    /// Axis, widths before, after and between, value.
    Pad(usize, usize, [i64; 3], f64),
    /// Array, axis, start.
    DynamicSlice(usize, usize, usize),
    /// Array, axis, start, update.
    DynamicUpdate(usize, usize, usize, usize),
    Take(usize, usize, usize),
    ScatterAdd(usize, usize, usize),
    Reduce(Reduction, usize, Vec<usize>),
    Cumulative(Cumulative, usize, usize, bool),
    ArgMax(usize, usize),
    /// Contracted axes, batch axes.
    Dot(usize, usize, (usize, usize), Option<(usize, usize)>),
    /// Keys, values, axis.
    SortBy(usize, usize, usize),
    Inner(Box<Inner>, Vec<usize>),
}

/// An operation that holds programs.
#[derive(Clone, Debug)]
pub enum Inner {
    Jit(Program),
    Checkpoint(Program),
    /// A function whose rule is its own derivative.
    CustomJvp(Program),
    Cond(Program, Program),
    Switch(Vec<Program>),
    /// The first argument is the carry, the second gone through. The result is
    /// the last carry, or all.
    Scan {
        body: Program,
        reverse: bool,
        carry: bool,
    },
    ForiLoop(usize, Program),
    WhileLoop(usize, Program),
}

impl Inner {
    pub fn programs(&self) -> Vec<&Program> {
        match self {
            Inner::Cond(a, b) => vec![a, b],
            Inner::Switch(all) => all.iter().collect(),
            Inner::Jit(p) | Inner::Checkpoint(p) | Inner::CustomJvp(p) => vec![p],
            Inner::Scan { body: p, .. } | Inner::ForiLoop(_, p) | Inner::WhileLoop(_, p) => vec![p],
        }
    }
}

/// Inputs, operations with the types of their results, and which value is the
/// result.
#[derive(Clone, Debug)]
pub struct Program {
    pub inputs: Vec<Type>,
    pub ops: Vec<(Op, Type)>,
    pub output: usize,
}

impl Program {
    /// The type of a value.
    pub fn type_of(&self, value: usize) -> &Type {
        match value.checked_sub(self.inputs.len()) {
            None => &self.inputs[value],
            Some(op) => &self.ops[op].1,
        }
    }

    pub fn result(&self) -> &Type {
        self.type_of(self.output)
    }

    /// Whether a loop without a reverse mode is in it.
    pub fn has_while(&self) -> bool {
        self.ops.iter().any(|(op, _)| match op {
            Op::Inner(inner, _) => {
                matches!(**inner, Inner::WhileLoop(..))
                    || inner.programs().iter().any(|p| p.has_while())
            }
            _ => false,
        })
    }

    /// Which values the result depends on.
    fn liveness(&self) -> Vec<bool> {
        let count = self.inputs.len();
        let mut live = vec![false; count + self.ops.len()];
        live[self.output] = true;
        for (i, (op, _)) in self.ops.iter().enumerate().rev() {
            if live[count + i] {
                op.operands().into_iter().for_each(|v| live[v] = true);
            }
        }
        live
    }

    /// Whether the result depends on a value.
    pub fn is_live(&self, value: usize) -> bool {
        self.liveness()[value]
    }

    /// The inputs, and the operations that the result depends on, for a report.
    pub fn live(&self) -> Vec<String> {
        let (count, live) = (self.inputs.len(), self.liveness());
        let shown = |(i, (op, ty)): (usize, &(Op, Type))| {
            let (kind, shape) = (ty.kind, &ty.shape);
            live[count + i].then(|| format!("v{} = {op:?} : {kind:?}{shape:?}", count + i))
        };
        let inputs = self.inputs.iter().enumerate();
        let inputs = inputs.map(|(i, t)| format!("v{i} = input : {:?}{:?}", t.kind, t.shape));
        let ops = self.ops.iter().enumerate().filter_map(shown);
        let mut lines: Vec<String> = inputs.chain(ops).collect();
        lines.push(format!("result v{}", self.output));
        lines
    }
}

impl Op {
    /// The values that the operation reads.
    pub fn operands(&self) -> Vec<usize> {
        match self {
            Op::Constant => vec![],
            Op::Unary(_, x)
            | Op::BinaryScalar(_, x, _)
            | Op::ScalarBinary(_, _, x)
            | Op::Cast(x)
            | Op::Reshape(x)
            | Op::Transpose(x, _)
            | Op::Broadcast(x, _)
            | Op::Reverse(x, _)
            | Op::Slice(x, ..)
            | Op::Pad(x, ..)
            | Op::Reduce(_, x, _)
            | Op::Cumulative(_, x, ..)
            | Op::ArgMax(x, _) => vec![*x],
            Op::Binary(_, x, y)
            | Op::Compare(_, x, y)
            | Op::Concatenate(x, y, _)
            | Op::Take(x, y, _)
            | Op::Dot(x, y, ..)
            | Op::SortBy(x, y, _) => vec![*x, *y],
            Op::DynamicSlice(x, _, at) => vec![*x, *at],
            Op::Select(x, y, z) | Op::ScatterAdd(x, y, z) => vec![*x, *y, *z],
            Op::DynamicUpdate(x, _, at, update) => vec![*x, *at, *update],
            Op::Inner(_, args) => args.clone(),
        }
    }
}
