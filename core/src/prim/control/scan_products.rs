//! Products of a loop that are computed outside of it, on CPUs.
//!
//! A step of a recurrent layer multiplies few rows, which takes longer than a product of the rows
//! of all steps. Three kinds of products are therefore taken out of the loop:
//!
//! - An element times a constant is computed before the loop, for all elements at once.
//! - A value times a constant that is only a result is computed after the loop, from the stacked
//!   values.
//! - A product that is only added to a carry, such as the gradient of a layer's weights, is
//!   computed after the loop as one product that also contracts the steps.

use super::Parts;
use super::scan::Scan;
use crate::prim::Primitive;
use crate::prim::dot::{DotDimensionNumbers, DotGeneral};
use crate::prim::elementwise::{Add, AddAny};
use crate::prim::shape::Transpose;
use crate::program::jaxpr::{Atom, Eqn, Jaxpr, Var};
use crate::program::lower::{Lowering, Value};
use crate::{Aval, DType, Dims};
use std::sync::Arc;

/// Products of this many rows, and sums over this many elements, stay in the loop.
const LARGE: usize = 128;
/// Minimum number of multiplications of all steps.
const WORTHWHILE: usize = 1 << 20;
/// Maximum size of the stacked values, relative to the loop's elements and results.
const STACKED: usize = 4;

/// An argument of the loop's program.
#[derive(Clone, Copy, PartialEq)]
enum Argument {
    Const(usize),
    Carry(usize),
    Element(usize),
}

/// A product that is computed after the loop.
struct Late {
    /// The product of all steps.
    dot: DotGeneral,
    operands: [Var; 2],
    /// Type of the product.
    out: Aval,
    transpose: Option<(Transpose, Aval)>,
    /// The index of its result among those of the loop.
    result: usize,
}

/// A loop's program and the products taken out of it.
struct Division<'a> {
    scan: &'a Scan,
    jaxpr: &'a Jaxpr,
    arguments: Vec<Option<Argument>>,
    /// Number of uses of each variable.
    uses: Vec<usize>,
    /// The equation that computes each variable.
    sources: Vec<Option<usize>>,
    /// Bytes that stacked values may still take.
    room: usize,
    /// Equations that are no longer in the loop.
    removed: Vec<bool>,
    early: Vec<&'a Eqn>,
    late: Vec<Late>,
    stacked: Vec<Var>,
}

/// Returns an equation's product and its operands, if both are variables.
fn product(eqn: &Eqn) -> Option<(&DotGeneral, [Var; 2])> {
    match eqn.inputs[..] {
        [Atom::Var(a), Atom::Var(b)] => Some((eqn.primitive.as_any().downcast_ref()?, [a, b])),
        _ => None,
    }
}

/// Returns the axes of an operand that has one more axis in front.
fn shifted(axes: &[usize]) -> impl Iterator<Item = usize> {
    axes.iter().map(|axis| axis + 1)
}

/// Returns the product of the stacked left operand, whose first axis is kept.
fn for_rows(dot: &DotGeneral) -> DotGeneral {
    let n = &dot.dimension_numbers;
    let dimension_numbers = DotDimensionNumbers {
        lhs_contracting: shifted(&n.lhs_contracting).collect(),
        ..n.clone()
    };
    DotGeneral {
        dimension_numbers,
        ..dot.clone()
    }
}

/// Returns the product of both stacked operands, whose first axes are contracted.
fn for_sums(dot: &DotGeneral) -> DotGeneral {
    let n = &dot.dimension_numbers;
    let with_steps = |axes: &[usize]| -> Dims { [0].into_iter().chain(shifted(axes)).collect() };
    let dimension_numbers = DotDimensionNumbers {
        lhs_contracting: with_steps(&n.lhs_contracting),
        rhs_contracting: with_steps(&n.rhs_contracting),
        lhs_batch: shifted(&n.lhs_batch).collect(),
        rhs_batch: shifted(&n.rhs_batch).collect(),
    };
    DotGeneral {
        dimension_numbers,
        ..dot.clone()
    }
}

impl<'a> Division<'a> {
    /// Returns the loop with nothing taken out of it.
    fn new(scan: &'a Scan) -> Division<'a> {
        let jaxpr = &*scan.jaxpr;
        let before_elements = scan.num_consts + scan.num_carry;
        let mut arguments = vec![None; jaxpr.num_vars()];
        for (i, v) in jaxpr.invars.iter().enumerate() {
            arguments[v.index()] = Some(match i {
                i if i < scan.num_consts => Argument::Const(i),
                i if i < before_elements => Argument::Carry(i - scan.num_consts),
                i => Argument::Element(i - before_elements),
            });
        }
        let mut uses = vec![0; jaxpr.num_vars()];
        let read = jaxpr.eqns.iter().flat_map(|eqn| &eqn.inputs);
        for atom in read.chain(&jaxpr.outvars) {
            if let Atom::Var(v) = atom {
                uses[v.index()] += 1;
            }
        }
        let mut sources = vec![None; jaxpr.num_vars()];
        for (i, eqn) in jaxpr.eqns.iter().enumerate() {
            for v in &eqn.outputs {
                sources[v.index()] = Some(i);
            }
        }
        let elements = jaxpr.in_avals().split_off(before_elements);
        let results = jaxpr.out_avals().split_off(scan.num_carry);
        let bytes = elements.iter().chain(&results).map(Aval::size_bytes);
        Division {
            scan,
            jaxpr,
            arguments,
            uses,
            sources,
            room: STACKED * bytes.sum::<usize>(),
            removed: vec![false; jaxpr.eqns.len()],
            early: Vec::new(),
            late: Vec::new(),
            stacked: Vec::new(),
        }
    }

    fn is_const(&self, v: Var) -> bool {
        matches!(self.arguments[v.index()], Some(Argument::Const(_)))
    }

    fn is_element(&self, v: Var) -> bool {
        matches!(self.arguments[v.index()], Some(Argument::Element(_)))
    }

    /// Returns the equation of a variable that is used once, and the equation's index.
    fn source(&self, v: Var) -> Option<(usize, &'a Eqn)> {
        let i = self.sources[v.index()].filter(|_| self.uses[v.index()] == 1)?;
        Some((i, &self.jaxpr.eqns[i]))
    }

    /// Returns the number of elements per sum and of rows of a product that is worth taking out.
    fn size(&self, dot: &DotGeneral, lhs: Var, out: Aval) -> Option<(usize, usize)> {
        let aval = self.jaxpr.var_aval(lhs);
        let contracting = &dot.dimension_numbers.lhs_contracting;
        let depth: usize = contracting.iter().map(|&d| aval.shape()[d]).product();
        let multiplications = self.scan.length.saturating_mul(depth * out.size());
        let worthwhile = aval.dtype() == DType::F32 && multiplications >= WORTHWHILE;
        worthwhile.then(|| (depth, aval.size() / depth.max(1)))
    }

    /// Returns a product of few rows and a constant.
    fn of_rows(&self, eqn: &'a Eqn) -> Option<(&'a DotGeneral, Var)> {
        let (dot, [lhs, rhs]) = product(eqn)?;
        let (_, rows) = self.size(dot, lhs, self.jaxpr.var_aval(eqn.outputs[0]))?;
        let few = rows < LARGE && dot.dimension_numbers.lhs_batch.is_empty();
        (few && self.is_const(rhs)).then_some((dot, lhs))
    }

    /// Stacks values over the steps; returns `false` if they take too much memory.
    fn stack(&mut self, vars: &[Var]) -> bool {
        let is_new = |v: &&Var| !self.stacked.contains(v) && !self.is_element(**v);
        let mut new: Vec<Var> = vars.iter().filter(is_new).copied().collect();
        new.dedup();
        let bytes = new.iter().map(|v| self.jaxpr.var_aval(*v).size_bytes());
        let Some(room) = self.room.checked_sub(bytes.sum()) else {
            return false;
        };
        self.room = room;
        self.stacked.extend(new);
        true
    }

    /// Takes out products of elements and constants.
    fn take_early(&mut self) {
        for (i, eqn) in self.jaxpr.eqns.iter().enumerate() {
            let bytes = |v: Var| self.jaxpr.var_aval(v).size_bytes();
            if let Some((_, lhs)) = self.of_rows(eqn)
                && self.is_element(lhs)
                && let Some(room) = self.room.checked_sub(bytes(eqn.outputs[0]))
            {
                self.room = room;
                self.removed[i] = true;
                self.early.push(eqn);
            }
        }
    }

    /// Takes out products that are only results.
    fn take_results(&mut self) {
        let first = self.scan.num_carry;
        for (result, atom) in self.jaxpr.outvars.iter().enumerate().skip(first) {
            if let Atom::Var(v) = atom
                && let Some((i, eqn)) = self.source(*v)
                && let Some((dot, lhs)) = self.of_rows(eqn)
                && !self.removed[i]
                && self.stack(&[lhs])
            {
                let (_, operands) = product(eqn).expect("a product");
                self.removed[i] = true;
                self.late.push(Late {
                    dot: for_rows(dot),
                    operands,
                    out: self
                        .jaxpr
                        .var_aval(*v)
                        .with_dimension(0, self.scan.length, &[]),
                    transpose: None,
                    result,
                });
            }
        }
    }

    /// Takes out products that are only added to a carry.
    fn take_sums(&mut self) {
        for carry in 0..self.scan.num_carry {
            if let Some((removed, late)) = self.sum(carry)
                && self.stack(&late.operands)
            {
                for i in removed {
                    self.removed[i] = true;
                }
                self.late.push(late);
            }
        }
    }

    /// Returns the product that is added to a carry, and the equations that compute it.
    fn sum(&self, carry: usize) -> Option<(Vec<usize>, Late)> {
        let own = self.jaxpr.invars[self.scan.num_consts + carry];
        let Atom::Var(next) = self.jaxpr.outvars[carry] else {
            return None;
        };
        let (add, eqn) = self.source(next)?;
        let primitive = eqn.primitive.as_any();
        let adds = primitive.is::<AddAny>() || primitive.is::<Add>();
        let term = match eqn.inputs[..] {
            [Atom::Var(a), Atom::Var(b)] if adds && a == own => b,
            [Atom::Var(a), Atom::Var(b)] if adds && b == own => a,
            _ => return None,
        };
        let (mut at, mut eqn) = self.source(term).filter(|_| self.uses[own.index()] == 1)?;
        let mut removed = vec![add, at];
        let transpose: Option<&Transpose> = eqn.primitive.as_any().downcast_ref();
        if transpose.is_some() {
            let Atom::Var(operand) = eqn.inputs[0] else {
                return None;
            };
            (at, eqn) = self.source(operand)?;
            removed.push(at);
        }
        let (dot, operands) = product(eqn)?;
        let out = self.jaxpr.var_aval(eqn.outputs[0]);
        let (depth, _) = self.size(dot, operands[0], out)?;
        let vary = !operands.iter().any(|v| self.is_const(*v));
        let late = Late {
            dot: for_sums(dot),
            operands,
            out,
            transpose: transpose.map(|t| (t.clone(), self.jaxpr.var_aval(term))),
            result: carry,
        };
        (depth < LARGE && vary).then_some((removed, late))
    }

    fn is_late(&self, result: usize) -> bool {
        self.late.iter().any(|late| late.result == result)
    }

    /// Returns the loop of the remaining equations. Its last elements are the early products, and
    /// its last results the stacked values.
    fn rest(&self) -> Scan {
        let scan = self.scan;
        let parts = scan.parts(&self.jaxpr.invars);
        let carry = (0..).zip(&parts.carry).filter(|(i, _)| !self.is_late(*i));
        let carry: Vec<Var> = carry.map(|(_, v)| *v).collect();
        let num_carry = carry.len();
        let mut invars = [parts.consts, carry, parts.xs].concat();
        invars.extend(self.early.iter().map(|eqn| eqn.outputs[0]));
        let results = self.jaxpr.outvars.iter().enumerate();
        let results = results.filter(|(i, _)| !self.is_late(*i));
        let mut outvars: Vec<Atom> = results.map(|(_, atom)| *atom).collect();
        outvars.extend(self.stacked.iter().map(|v| Atom::Var(*v)));
        let eqns = self.jaxpr.eqns.iter().zip(&self.removed);
        let eqns = eqns.filter(|(_, removed)| !**removed);
        let eqns = eqns.map(|(eqn, _)| eqn.clone()).collect();
        let avals = self.jaxpr.avals().to_vec();
        Scan {
            jaxpr: Arc::new(Jaxpr::new(Vec::new(), invars, eqns, outvars, avals)),
            num_carry,
            ..*scan
        }
    }

    /// Returns the value of a variable for all steps.
    fn value(&self, v: Var, args: &Parts<Value>, stacks: &[Value]) -> Value {
        match self.arguments[v.index()] {
            Some(Argument::Element(i)) => args.xs[i],
            Some(Argument::Const(i)) => args.consts[i],
            _ => {
                let at = self.stacked.iter().position(|s| *s == v);
                stacks[at.expect("a stacked value")]
            }
        }
    }

    /// Emits the early products.
    fn emit_early(&self, ctx: &mut Lowering<'_>, args: &Parts<Value>) -> Vec<Value> {
        let mut values = Vec::new();
        for eqn in &self.early {
            let (dot, operands) = product(eqn).expect("a product");
            let operands = operands.map(|v| self.value(v, args, &[]));
            let out = self.jaxpr.var_aval(eqn.outputs[0]);
            let out = out.with_dimension(0, self.scan.length, &[]);
            values.push(for_rows(dot).lower(ctx, &operands, &[out])[0]);
        }
        values
    }

    /// Emits a late product.
    fn emit_late(
        &self,
        late: &Late,
        ctx: &mut Lowering<'_>,
        args: &Parts<Value>,
        stacks: &[Value],
    ) -> Value {
        let operands = late.operands.map(|v| self.value(v, args, stacks));
        let mut value = late.dot.lower(ctx, &operands, &[late.out])[0];
        if let Some((transpose, aval)) = &late.transpose {
            value = transpose.lower(ctx, &[value], &[*aval])[0];
        }
        match args.carry.get(late.result) {
            Some(initial) => ctx.same("add", &[*initial, value]),
            None => value,
        }
    }
}

impl Scan {
    /// Emits the loop, with products of all steps outside of it where that is faster.
    pub(super) fn lower_divided(
        &self,
        ctx: &mut Lowering<'_>,
        args: &[Value],
        outs: &[Aval],
    ) -> Vec<Value> {
        let mut division = Division::new(self);
        if ctx.is_for_one_cpu() && self.unroll == 1 {
            division.take_early();
            division.take_results();
            division.take_sums();
        }
        if division.early.is_empty() && division.late.is_empty() {
            return self.lower_loop(ctx, args, outs);
        }
        let rest = division.rest();
        let args = self.parts(args);
        let mut inner = args.clone();
        let carry = (0..)
            .zip(&args.carry)
            .filter(|(i, _)| !division.is_late(*i));
        inner.carry = carry.map(|(_, value)| *value).collect();
        inner.xs.extend(division.emit_early(ctx, &args));
        let mut types = rest.jaxpr.out_avals();
        for aval in &mut types[rest.num_carry..] {
            *aval = aval.with_dimension(0, self.length, &[]);
        }
        let mut values = rest.lower_loop(ctx, &inner.all(), &types);
        let stacks = values.split_off(values.len() - division.stacked.len());
        let mut values = values.into_iter();
        let late = |result: usize| division.late.iter().find(|late| late.result == result);
        (0..outs.len())
            .map(|i| match late(i) {
                Some(late) => division.emit_late(late, ctx, &args, &stacks),
                None => values.next().expect("a result of the loop"),
            })
            .collect()
    }
}
