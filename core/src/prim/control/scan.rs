//! `scan`: a loop over the first axis of arrays, with a carry from one step to the next.

use super::derive;
use super::{check_types, split3};
use crate::extend::Outputs;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Nested, Param, Primitive, move_batch_axis,
};
use crate::prim::{Jaxprs, StatePass};
use crate::program::jaxpr::{ClosedJaxpr, Jaxpr};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::{bind, trace_to_jaxpr};
use crate::{Array, Aval, ShapeError, ensure_shape};
use smallvec::SmallVec;
use std::sync::Arc;

/// A loop of fixed length over the first axis of arrays.
///
/// The operands are constants, the initial carry, and the scanned arrays. The results are the
/// final carry and the program's other results, stacked along a first axis of steps.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scan {
    /// Program from constants, carry and elements to the next carry and the other results.
    pub jaxpr: Arc<Jaxpr>,
    /// Number of steps.
    pub length: usize,
    /// Number of arrays in the carry.
    pub num_carry: usize,
    /// Number of constants.
    pub num_consts: usize,
    /// Whether steps run from the last element to the first.
    pub reverse: bool,
    /// Number of steps unrolled in one iteration of the loop; 0 unrolls all.
    pub unroll: usize,
}

/// The operands of a scan, by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts<T> {
    pub consts: Vec<T>,
    pub carry: Vec<T>,
    pub xs: Vec<T>,
}

impl<T: Clone + PartialEq> Parts<T> {
    /// Calls `step` until the marks of the carry are stable, and returns its last results. `step`
    /// takes the marks of a program's arguments, and returns the marks of its results, of which
    /// the carry is the first part: a carry is marked if its initial value or a later one is.
    pub fn until_stable<R>(&mut self, mut step: impl FnMut(&Self) -> (R, Vec<T>)) -> (R, Vec<T>) {
        loop {
            let (derived, marks) = step(self);
            let next = &marks[..self.carry.len()];
            if *next == self.carry[..] {
                return (derived, marks);
            }
            self.carry = next.to_vec();
        }
    }
}

impl<T: Clone> Parts<T> {
    /// Returns all operands in their order.
    pub fn all(&self) -> Vec<T> {
        [&self.consts[..], &self.carry, &self.xs].concat()
    }
    /// Maps each operand.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Parts<U> {
        let mut list = |items: &[T]| items.iter().map(&mut f).collect();
        Parts {
            consts: list(&self.consts),
            carry: list(&self.carry),
            xs: list(&self.xs),
        }
    }
}

/// Returns the type of one element along the first axis.
pub(crate) fn element(aval: Aval) -> Aval {
    aval.without_dimension(0)
}

impl Scan {
    /// Splits a list with an item for each operand by kind.
    pub(crate) fn parts<T: Clone>(&self, operands: &[T]) -> Parts<T> {
        let (consts, carry, xs) = split3(operands, self.num_consts, self.num_carry);
        Parts {
            consts: consts.to_vec(),
            carry: carry.to_vec(),
            xs: xs.to_vec(),
        }
    }

    /// Applies the same loop with another program, whose captured values become constants.
    #[track_caller]
    pub(crate) fn apply(&self, program: ClosedJaxpr, args: Parts<Array>) -> Vec<Array> {
        let (jaxpr, mut consts) = program.open();
        consts.extend(args.consts);
        let primitive = Scan {
            jaxpr,
            num_carry: args.carry.len(),
            num_consts: consts.len(),
            ..*self
        };
        let all: SmallVec<[&Array; 8]> = consts.iter().chain(&args.carry).chain(&args.xs).collect();
        bind(primitive, &all).into_vec()
    }

    /// Returns the type of a result of the loop, from that of the program.
    fn result(&self, i: usize, aval: Aval) -> Aval {
        if i < self.num_carry {
            return aval;
        }
        aval.with_dimension(0, self.length, &[])
    }
}

impl Primitive for Scan {
    fn name(&self) -> &'static str {
        "scan"
    }
    fn facts(&self) -> Facts<'_> {
        Facts::exact()
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("jaxpr", Param::Jaxpr(self.jaxpr.clone())),
            ("length", Param::new(self.length)),
            ("num_carry", Param::new(self.num_carry)),
            ("num_consts", Param::new(self.num_consts)),
            ("reverse", Param::flag(self.reverse)),
            ("unroll", Param::new(self.unroll)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        ensure_shape!(
            args.len() >= self.num_consts + self.num_carry,
            "there are fewer operands than constants and carries"
        );
        let args = self.parts(args);
        for x in &args.xs {
            ensure_shape!(
                x.shape().first() == Some(&self.length),
                "an array of {} elements was expected, got {x}",
                self.length
            );
        }
        let elements = args.xs.iter().map(|x| element(*x)).collect();
        let inputs = Parts {
            xs: elements,
            ..args.clone()
        };
        check_types("the body", &self.jaxpr.in_avals(), &inputs.all())?;
        let outs = self.jaxpr.out_avals();
        ensure_shape!(
            outs.len() >= self.num_carry,
            "the body has fewer results than carries"
        );
        check_types("the next step", &args.carry, &outs[..self.num_carry])?;
        let outs = outs.into_iter().enumerate();
        Ok(outs.map(|(i, aval)| self.result(i, aval)).collect())
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Nested(self)
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let args = self.parts(args);
        let from = self.parts(axes);
        // The batch axis is the first in the program, and the second in scanned arrays.
        // A carry is batched if its initial value or the result of any step is, so the marks grow
        // until they are stable; the program that is returned is that of the stable marks.
        let mut at = from.map(|ax| ax.map(|_| 0));
        let n = self.num_carry;
        let (program, out_axes) = at.until_stable(|at| {
            derive::batched(&self.jaxpr, &at.all(), axis, |i, found| {
                let carried = i < n && at.carry[i].is_some();
                (carried || found.is_some()).then_some(0)
            })
        });
        let move_axis = |x: &Array, from: &Option<usize>, to: Option<usize>| match to {
            Some(to) => move_batch_axis(x, *from, to, axis),
            None => x.clone(),
        };
        let consts = args.consts.iter().zip(&from.consts);
        let carry = args.carry.iter().zip(&from.carry).zip(&at.carry);
        let xs = args.xs.iter().zip(&from.xs);
        let moved = Parts {
            consts: consts
                .map(|(x, ax)| move_axis(x, ax, ax.map(|_| 0)))
                .collect(),
            carry: carry.map(|((x, ax), to)| move_axis(x, ax, *to)).collect(),
            xs: xs.map(|(x, ax)| move_axis(x, ax, ax.map(|_| 1))).collect(),
        };
        let outs = self.apply(program, moved);
        let out_axes = out_axes.iter().enumerate();
        let out_axes = out_axes.map(|(i, at)| at.map(|_| usize::from(i >= n)));
        (outs.into(), out_axes.collect())
    }
    fn evaluate(&self, args: &[&Array]) -> Option<crate::Result<Outputs>> {
        self.one_by_one(args)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        self.lower_divided(ctx, args, outs)
    }
}

impl Nested for Scan {
    fn thread_state(&self, pass: &StatePass<'_>, args: &[Array]) -> Option<Vec<Array>> {
        let args = self.parts(args);
        // The program's first arguments are constants; the state becomes part of the carry.
        let (consts, carried) = (args.consts.len(), pass.avals());
        let types: Vec<Aval> = self.jaxpr.in_avals();
        let all = [&types[..consts], &carried, &types[consts..]].concat();
        let program = trace_to_jaxpr(&all, |args| {
            let (consts, rest) = args.split_at(consts);
            let (state, rest) = rest.split_at(carried.len());
            pass.run(&self.jaxpr, state, &[consts, rest].concat())
        });
        let carry = pass.with(&args.carry);
        Some(self.apply(program, Parts { carry, ..args }))
    }
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::from_slice(&[&self.jaxpr])
    }
}
