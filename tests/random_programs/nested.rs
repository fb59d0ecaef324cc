//! Programs inside of random programs, and the result of each.

use super::generate::{Draft, LARGEST, program};
use super::program::{Binary, Inner, Kind, Op, Program, Reduction, Type, Unary};

impl Draft<'_> {
    /// A program inside the program.
    pub fn nested(&mut self) -> Option<()> {
        if self.depth == 0 {
            return None;
        }
        let x = self.float()?;
        let ty = self.ty(x);
        let mut args = vec![x];
        for _ in 0..self.rng.below(3) {
            args.extend(self.some_where(|_| true));
        }
        match self.rng.below(8) {
            0 => {
                let body = self.body(&args, &ty);
                self.inner(Inner::Jit(body), args, ty);
            }
            1 => {
                let body = self.body(&args, &ty);
                self.inner(Inner::Checkpoint(body), args, ty);
            }
            2 => {
                args.retain(|&v| self.program.type_of(v).is_float());
                let body = self.body(&args, &ty);
                self.inner(Inner::CustomJvp(body), args, ty);
            }
            3 => {
                let pred = self.some_where(|t| t.kind == Kind::Bool && t.rank() == 0)?;
                let branches = (self.body(&args, &ty), self.body(&args, &ty));
                args.insert(0, pred);
                self.inner(Inner::Cond(branches.0, branches.1), args, ty);
            }
            4 => {
                let index = self.integer(&[]);
                let count = 2 + self.rng.below(2);
                let branches = (0..count).map(|_| self.body(&args, &ty)).collect();
                args.insert(0, index);
                self.inner(Inner::Switch(branches), args, ty);
            }
            5 | 6 => {
                let xs = self.some_where(|t| t.rank() > 0)?;
                args.insert(1, xs);
                let mut inputs: Vec<Type> = args.iter().map(|&a| self.ty(a)).collect();
                let n = inputs[1].shape.remove(0);
                let body = self.body_of(inputs, &ty);
                let (reverse, carry) = (self.rng.chance(30), self.rng.chance(50));
                let mut shape = ty.shape.clone();
                if !carry {
                    shape.insert(0, n);
                }
                let to = ty.with(&shape);
                if to.size() > LARGEST {
                    return None;
                }
                self.inner(
                    Inner::Scan {
                        body,
                        reverse,
                        carry,
                    },
                    args,
                    to,
                );
            }
            _ => {
                let body = self.body(&args, &ty);
                let steps = self.rng.below(4);
                let inner = if self.loops && self.rng.chance(50) {
                    Inner::WhileLoop(steps, body)
                } else {
                    Inner::ForiLoop(steps, body)
                };
                self.inner(inner, args, ty);
            }
        }
        Some(())
    }

    fn inner(&mut self, inner: Inner, args: Vec<usize>, ty: Type) {
        self.push(Op::Inner(Box::new(inner), args), ty);
    }

    fn body(&mut self, args: &[usize], result: &Type) -> Program {
        let inputs = args.iter().map(|&a| self.ty(a)).collect();
        self.body_of(inputs, result)
    }

    fn body_of(&mut self, inputs: Vec<Type>, result: &Type) -> Program {
        let length = 1 + self.rng.below(5);
        program(
            self.rng,
            inputs,
            length,
            self.depth - 1,
            self.loops,
            Some(result),
        )
    }

    /// A value plus a number that depends on the floats that nothing uses yet, and
    /// on the first input.
    fn gathered(&mut self, value: usize) -> usize {
        let operands = self.program.ops.iter().flat_map(|(op, _)| op.operands());
        let read: Vec<usize> = operands.collect();
        let unused = (0..self.count()).filter(|&v| v == 0 || v != value && !read.contains(&v));
        let unused: Vec<usize> = unused
            .filter(|&v| self.program.type_of(v).is_float())
            .collect();
        let mut total = self.push(Op::Constant, Type::new(Kind::F64, &[]));
        for v in unused {
            let ty = self.ty(v);
            let weights = self.push(Op::Constant, ty.clone());
            let weighted = self.push(Op::Binary(Binary::Mul, v, weights), ty.clone());
            let axes = (0..ty.rank()).collect();
            let sum = self.push(Op::Reduce(Reduction::Sum, weighted, axes), ty.with(&[]));
            total = self.push(Op::Binary(Binary::Add, total, sum), ty.with(&[]));
        }
        let small = self.push(Op::Unary(Unary::Sin, total), Type::new(Kind::F64, &[]));
        let ty = self.ty(value);
        self.push(Op::Binary(Binary::Add, value, small), ty)
    }

    /// Chooses the result: a late value, made to fit the type that is asked for.
    pub fn finish(&mut self, result: Option<&Type>) {
        let output = (0..self.count())
            .rev()
            .find(|&v| self.program.type_of(v).is_float());
        let mut output =
            output.unwrap_or_else(|| self.push(Op::Constant, Type::new(Kind::F64, &[])));
        if result.is_none() {
            output = self.gathered(output);
        }
        if let Some(to) = result
            && self.ty(output) != *to
        {
            let ty = self.ty(output);
            let axes = (0..ty.rank()).collect();
            let sum = self.push(Op::Reduce(Reduction::Sum, output, axes), ty.with(&[]));
            let small = self.push(Op::Unary(Unary::Sin, sum), ty.with(&[]));
            output = self.push(Op::Broadcast(small, vec![]), to.clone());
            // What the carry was has a part in what it becomes.
            if self.ty(0) == *to {
                output = self.push(Op::Binary(Binary::Add, output, 0), to.clone());
            }
        }
        self.program.output = output;
    }
}
