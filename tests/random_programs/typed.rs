//! Programs without branches on arrays of every common and complex dtype: what
//! `ways.rs` runs in four ways.

use super::rng::Rng;
use ramie::DType;
use std::fmt;

/// The shape of arrays with axes; dimensions of a value may be 1 instead.
pub const SHAPE: [usize; 2] = [2, 3];

/// Dtype and shape of a value: no axes, or two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Typed {
    pub dtype: DType,
    /// `None` for a 0-d value.
    pub shape: Option<[usize; 2]>,
}

impl Typed {
    pub fn size(&self) -> usize {
        self.shape.map_or(1, |s| s[0] * s[1])
    }

    pub fn dims(&self) -> &[usize] {
        self.shape.as_ref().map_or(&[], |s| s)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Neg,
    Abs,
    Square,
    Not,
    PopulationCount,
    CountLeadingZeros,
    Tanh,
    Sin,
    Logistic,
    Conj,
    Add,
    Sub,
    Mul,
    Maximum,
    Minimum,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightLogical,
    ShiftRight,
    Divide,
    Rem,
    FloorDivide,
    Remainder,
    /// `a` where the boolean holds, else `b`.
    Where,
    Less,
    Equal,
    Convert(DType),
    Flip(usize),
    Roll(usize),
    Cumsum(usize),
    Sort(usize),
    Sum(usize),
    Max(usize),
}

const FLOATS: [Op; 8] = {
    use Op::*;
    [Abs, Tanh, Sin, Logistic, Maximum, Minimum, Sort(1), Max(0)]
};
const ARITHMETIC: [Op; 6] = {
    use Op::*;
    [Neg, Square, Add, Sub, Mul, Sum(1)]
};
const INTEGERS: [Op; 18] = {
    use Op::*;
    [
        Abs,
        Not,
        PopulationCount,
        CountLeadingZeros,
        Maximum,
        Minimum,
        And,
        Or,
        Xor,
        ShiftLeft,
        ShiftRightLogical,
        ShiftRight,
        Divide,
        Rem,
        FloorDivide,
        Remainder,
        Sort(0),
        Max(1),
    ]
};
const LAYOUT: [Op; 4] = [Op::Flip(0), Op::Flip(1), Op::Roll(1), Op::Cumsum(0)];

impl Op {
    /// How many operands the operation has.
    pub fn arity(self) -> usize {
        use Op::*;
        match self {
            Where => 3,
            Add | Sub | Mul | Maximum | Minimum | And | Or | Xor | ShiftLeft
            | ShiftRightLogical | ShiftRight | Divide | Rem | FloorDivide | Remainder | Less
            | Equal => 2,
            _ => 1,
        }
    }

    /// The axis that the operation is along.
    pub fn axis(self) -> Option<usize> {
        use Op::*;
        match self {
            Flip(axis) | Roll(axis) | Cumsum(axis) | Sort(axis) | Sum(axis) | Max(axis) => {
                Some(axis)
            }
            _ => None,
        }
    }
}

/// An operation on earlier values.
#[derive(Clone, Debug)]
pub struct Step {
    pub op: Op,
    pub args: Vec<usize>,
    pub ty: Typed,
}

/// Inputs, and operations on them. The last value is the result.
#[derive(Clone, Debug)]
pub struct TypedProgram {
    pub inputs: Vec<Typed>,
    pub steps: Vec<Step>,
}

/// The dtypes that programs are about.
pub const DTYPES: [DType; 15] = {
    use DType::*;
    [
        Bool, I8, I16, I32, I64, U8, U16, U32, U64, BF16, F16, F32, F64, C64, C128,
    ]
};

impl TypedProgram {
    /// A program of up to 12 operations, mostly on one dtype.
    pub fn new(rng: &mut Rng) -> TypedProgram {
        let dtype = rng.pick(&DTYPES);
        let shape =
            |rng: &mut Rng| rng.pick(&[Some(SHAPE), Some(SHAPE), Some([1, SHAPE[1]]), None]);
        let mut inputs = vec![Typed {
            dtype,
            shape: Some(SHAPE),
        }];
        for _ in 0..1 + rng.below(2) {
            inputs.push(Typed {
                dtype,
                shape: shape(rng),
            });
        }
        inputs.push(Typed {
            dtype: DType::Bool,
            shape: shape(rng),
        });
        let mut program = TypedProgram {
            inputs,
            steps: Vec::new(),
        };
        let length = 3 + rng.below(10);
        while program.steps.len() < length {
            if let Some(step) = program.step(rng) {
                program.steps.push(step);
            }
        }
        program
    }

    pub fn ty(&self, value: usize) -> Typed {
        match value.checked_sub(self.inputs.len()) {
            None => self.inputs[value],
            Some(step) => self.steps[step].ty,
        }
    }

    /// The program of the first `steps` operations.
    pub fn prefix(&self, steps: usize) -> TypedProgram {
        TypedProgram {
            inputs: self.inputs.clone(),
            steps: self.steps[..steps].to_vec(),
        }
    }

    /// A random operation, if what is picked fits together.
    fn step(&self, rng: &mut Rng) -> Option<Step> {
        let values = self.inputs.len() + self.steps.len();
        let first = if rng.chance(50) {
            values - 1 - rng.below(values.min(3))
        } else {
            rng.below(values)
        };
        let ty = self.ty(first);
        let op = self.operation(rng, ty.dtype);
        if op.axis().is_some() && ty.shape.is_none() {
            return None;
        }
        let alike: Vec<usize> = (0..values)
            .filter(|&v| self.ty(v).dtype == ty.dtype)
            .collect();
        let mut args = vec![first];
        if op == Op::Where {
            let booleans = (0..values).filter(|&v| self.ty(v).dtype == DType::Bool);
            args.insert(0, rng.pick(&booleans.collect::<Vec<_>>()));
        }
        while args.len() < op.arity() {
            args.push(rng.pick(&alike));
        }
        let ty = self.result(op, &args);
        Some(Step { op, args, ty })
    }

    fn operation(&self, rng: &mut Rng, dtype: DType) -> Op {
        let any = [Op::Where, rng.pick(&LAYOUT)];
        if dtype == DType::Bool {
            let convert = Op::Convert(rng.pick(&DTYPES[1..9]));
            return rng.pick(&[
                Op::And,
                Op::Or,
                Op::Xor,
                Op::Not,
                Op::Where,
                Op::Flip(1),
                convert,
            ]);
        }
        let own = match dtype {
            d if d.is_integer() => {
                let convert = Op::Convert(rng.pick(&DTYPES[..9]));
                {
                    let (a, b) = (rng.pick(&INTEGERS), rng.pick(&INTEGERS));
                    rng.pick(&[a, b, Op::Less, Op::Equal, convert])
                }
            }
            d if d.is_complex() => rng.pick(&[Op::Conj, Op::Neg]),
            _ => rng.pick(&FLOATS),
        };
        let (arithmetic, any) = (rng.pick(&ARITHMETIC), rng.pick(&any));
        rng.pick(&[own, own, own, arithmetic, arithmetic, any])
    }

    fn result(&self, op: Op, args: &[usize]) -> Typed {
        let types: Vec<Typed> = args.iter().map(|&a| self.ty(a)).collect();
        let last = types[types.len() - 1];
        let shape = types.iter().fold(None, |shape: Option<[usize; 2]>, t| {
            match (shape, t.shape) {
                (Some(a), Some(b)) => Some([a[0].max(b[0]), a[1].max(b[1])]),
                (a, b) => a.or(b),
            }
        });
        let dtype = match op {
            Op::Less | Op::Equal => DType::Bool,
            Op::Convert(to) => to,
            _ => last.dtype,
        };
        let shape = match (op, shape) {
            (Op::Sum(0) | Op::Max(0), Some(s)) => Some([1, s[1]]),
            (Op::Sum(_) | Op::Max(_), Some(s)) => Some([s[0], 1]),
            (_, shape) => shape,
        };
        Typed { dtype, shape }
    }
}

impl fmt::Display for TypedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, ty) in self.inputs.iter().enumerate() {
            writeln!(f, "  {i}: input {}{:?}", ty.dtype, ty.dims())?;
        }
        for (i, step) in self.steps.iter().enumerate() {
            let Step { op, args, ty } = step;
            let at = i + self.inputs.len();
            writeln!(f, "  {at}: {op:?} {args:?} -> {}{:?}", ty.dtype, ty.dims())?;
        }
        Ok(())
    }
}
