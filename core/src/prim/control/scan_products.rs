//! Sums of products of a loop that are computed outside of it, on CPUs.
//!
//! A product that is only added to a carry, such as the gradient of a recurrent layer's weights,
//! sums over the few rows of a step. It is computed after the loop instead, from the stacked
//! operands of all steps, as one product that also contracts the steps.
//!
//! This is the only lowering that asks for the platform: with it, a step of the workload `lstm` takes 0.86 of the time
//! on the CPU backend (`docs/performance.md`). In StableHLO, the loop is a `while` whose carries and stacked
//! results have the same form, so the backend would first have to recover the scan. It was not measured on accelerators,
//! which keep the plain loop: the stacked operands take memory.

use super::Parts;
use super::scan::Scan;
use crate::prim::Primitive;
use crate::prim::dot::{DotDimensionNumbers, DotGeneral};
use crate::prim::elementwise::{Add, AddAny};
use crate::prim::shape::Transpose;
use crate::program::jaxpr::{Atom, Eqn, Jaxpr, Var};
use crate::program::lower::{Lowering, Value};
use crate::typing::Dims;
use crate::{Aval, DType};
use std::sync::Arc;

/// Products that sum over this many elements stay in the loop.
const LARGE: usize = 128;
/// Minimum number of multiplications of all steps.
const WORTHWHILE: usize = 1 << 20;
/// Maximum size of the stacked values, relative to the loop's elements and results.
const STACKED: usize = 4;

/// A product that is computed after the loop.
struct DeferredProduct {
    /// The product of all steps.
    dot: DotGeneral,
    operands: [Var; 2],
    /// Type of the product.
    out: Aval,
    transpose: Option<(Transpose, Aval)>,
    /// The index of the carry that it is added to.
    carry: usize,
}

/// A loop's program and the products taken out of it.
struct Division<'a> {
    scan: &'a Scan,
    jaxpr: &'a Jaxpr,
    consts: &'a [Var],
    elements: &'a [Var],
    /// Number of uses of each variable.
    uses: Vec<usize>,
    /// The equation that computes each variable.
    sources: Vec<Option<usize>>,
    /// Bytes that stacked values may still take.
    room: usize,
    /// Equations that are no longer in the loop.
    removed: Vec<bool>,
    late: Vec<DeferredProduct>,
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
        // The types of one step are compared with each other, so the number of steps cancels out.
        let elements = jaxpr.in_avals().split_off(before_elements);
        let results = jaxpr.out_avals().split_off(scan.num_carry);
        let bytes = elements.iter().chain(&results).map(Aval::size_bytes);
        Division {
            scan,
            jaxpr,
            consts: &jaxpr.invars[..scan.num_consts],
            elements: &jaxpr.invars[before_elements..],
            uses,
            sources,
            room: STACKED * bytes.sum::<usize>(),
            removed: vec![false; jaxpr.eqns.len()],
            late: Vec::new(),
            stacked: Vec::new(),
        }
    }

    /// Returns the equation of a variable that is used once, and the equation's index.
    fn source(&self, v: Var) -> Option<(usize, &'a Eqn)> {
        let i = self.sources[v.index()].filter(|_| self.uses[v.index()] == 1)?;
        Some((i, &self.jaxpr.eqns[i]))
    }

    /// Returns whether a product sums over few elements and is worth taking out.
    fn is_worthwhile(&self, dot: &DotGeneral, lhs: Var, out: Aval) -> bool {
        let aval = self.jaxpr.var_aval(lhs);
        let contracting = &dot.dimension_numbers.lhs_contracting;
        let depth: usize = contracting.iter().map(|&d| aval.shape()[d]).product();
        let multiplications = self.scan.length.saturating_mul(depth * out.size());
        aval.dtype() == DType::F32 && depth < LARGE && multiplications >= WORTHWHILE
    }

    /// Stacks values over the steps; returns `false` if they take too much memory.
    fn stack(&mut self, vars: &[Var]) -> bool {
        let is_new = |v: &&Var| !self.stacked.contains(v) && !self.elements.contains(v);
        let mut new: Vec<Var> = vars.iter().filter(is_new).copied().collect();
        // A product of a value with itself, `[v, v]`, stacks it once.
        new.dedup();
        let bytes = new.iter().map(|v| self.jaxpr.var_aval(*v).size_bytes());
        let Some(room) = self.room.checked_sub(bytes.sum()) else {
            return false;
        };
        self.room = room;
        self.stacked.extend(new);
        true
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
    fn sum(&self, carry: usize) -> Option<(Vec<usize>, DeferredProduct)> {
        // The carry must be `next = own + term`, with nothing else that reads `own`, `next` or
        // `term`: otherwise the loop needs the running sum at every step.
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
        let (mut index, mut eqn) = self.source(term).filter(|_| self.uses[own.index()] == 1)?;
        let mut removed = vec![add, index];
        // The gradient of a product is often transposed before it is added. A sum of transposes is
        // the transpose of the sum, so the transpose also moves out.
        let transpose: Option<&Transpose> = eqn.primitive.as_any().downcast_ref();
        if transpose.is_some() {
            let Atom::Var(operand) = eqn.inputs[0] else {
                return None;
            };
            (index, eqn) = self.source(operand)?;
            removed.push(index);
        }
        let (dot, operands) = product(eqn)?;
        let out = self.jaxpr.var_aval(eqn.outputs[0]);
        // A constant operand would be stacked as one equal copy per step.
        let vary = !operands.iter().any(|v| self.consts.contains(v));
        let taken = vary && self.is_worthwhile(dot, operands[0], out);
        let late = DeferredProduct {
            dot: for_sums(dot),
            operands,
            out,
            transpose: transpose.map(|t| (t.clone(), self.jaxpr.var_aval(term))),
            carry,
        };
        taken.then_some((removed, late))
    }

    /// Returns the product that is added to a carry after the loop.
    fn late(&self, carry: usize) -> Option<&DeferredProduct> {
        self.late.iter().find(|late| late.carry == carry)
    }

    /// Returns the loop of the remaining equations. Its last results are the stacked values.
    fn rest(&self) -> Scan {
        let scan = self.scan;
        let parts = scan.parts(&self.jaxpr.invars);
        let carry = (0..)
            .zip(&parts.carry)
            .filter(|(i, _)| self.late(*i).is_none());
        let carry: Vec<Var> = carry.map(|(_, v)| *v).collect();
        let num_carry = carry.len();
        let invars = [parts.consts, carry, parts.xs].concat();
        let results = self.jaxpr.outvars.iter().enumerate();
        let results = results.filter(|(i, _)| self.late(*i).is_none());
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
        let among = |vars: &[Var]| vars.iter().position(|other| *other == v);
        match among(self.elements) {
            Some(i) => args.xs[i],
            None => stacks[among(&self.stacked).expect("a stacked value")],
        }
    }

    /// Emits a late product.
    fn emit_late(
        &self,
        late: &DeferredProduct,
        ctx: &mut Lowering<'_>,
        args: &Parts<Value>,
        stacks: &[Value],
    ) -> Value {
        let operands = late.operands.map(|v| self.value(v, args, stacks));
        let mut value = late.dot.lower(ctx, &operands, &[late.out])[0];
        if let Some((transpose, aval)) = &late.transpose {
            value = transpose.lower(ctx, &[value], &[*aval])[0];
        }
        ctx.same("add", &[args.carry[late.carry], value])
    }
}

impl Scan {
    /// Emits the loop, with sums of products outside of it where that is faster.
    pub(super) fn lower_divided(
        &self,
        ctx: &mut Lowering<'_>,
        args: &[Value],
        outs: &[Aval],
    ) -> Vec<Value> {
        if !ctx.is_for_one_cpu() || self.unroll != 1 {
            return self.lower_loop(ctx, args, outs);
        }
        let mut division = Division::new(self);
        division.take_sums();
        if division.late.is_empty() {
            return self.lower_loop(ctx, args, outs);
        }
        let rest = division.rest();
        let args = self.parts(args);
        let mut inner = args.clone();
        let carry = (0..)
            .zip(&args.carry)
            .filter(|(i, _)| division.late(*i).is_none());
        inner.carry = carry.map(|(_, value)| *value).collect();
        // The program returns the types of one step. The loop stacks all results after the carry.
        let mut types = rest.jaxpr.out_avals();
        for aval in &mut types[rest.num_carry..] {
            *aval = aval.with_dimension(0, self.length, &[]);
        }
        let mut values = rest.lower_loop(ctx, &inner.all(), &types);
        let stacks = values.split_off(values.len() - division.stacked.len());
        // The remaining results keep their order, and late products fill the gaps. A reversed loop
        // is no special case: both operands have a step at the same index.
        let mut values = values.into_iter();
        (0..outs.len())
            .map(|i| match division.late(i) {
                Some(late) => division.emit_late(late, ctx, &args, &stacks),
                None => values.next().expect("a result of the loop"),
            })
            .collect()
    }
}
