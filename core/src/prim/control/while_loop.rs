//! `while`: a program repeated as long as a condition is true.

use super::derive;
use super::scan::Parts;
use super::{acting, check_types, split3};
use crate::base::location::fail;
use crate::extend::Outputs;
use crate::prim::nested::{self, zeros};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Nested, NestedDifferentiation, Operand,
    Param, Primitive, Tangents, move_batch_axis,
};
use crate::prim::{Jaxprs, StatePass};
use crate::program::jaxpr::{ClosedJaxpr, Input, Jaxpr};
use crate::program::lists::{self, given, some_where};
use crate::program::lower::{Lowering, Value, avals};
use crate::program::trace::{bind, trace_to_jaxpr};
use crate::{Array, Aval, DType, ShapeError, ensure_shape};
use smallvec::SmallVec;
use std::sync::Arc;

/// A program applied repeatedly to its own results, as long as another program returns `true`.
///
/// The operands are the condition's constants, the body's constants, and the initial carry. A
/// condition with axes represents that many loops, along the first axes of the carry: each stops
/// when its own condition is false, and all end with the last.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct While {
    /// Program from the body's constants and the carry to the next carry.
    pub body_jaxpr: Arc<Jaxpr>,
    /// Number of the body's constants.
    pub body_nconsts: usize,
    /// Program from the condition's constants and the carry to booleans.
    pub cond_jaxpr: Arc<Jaxpr>,
    /// Number of the condition's constants.
    pub cond_nconsts: usize,
    /// Function that created the loop, for messages: `fori_loop`.
    pub made_by: &'static str,
}

/// Name of the loop of `x.at(…).apply(f)` over repeated indices.
pub(crate) const APPLY: &str = "at(…).apply";

/// A loop's program and its constants.
pub(crate) struct Part {
    /// The program; its captured values are also constants.
    pub program: ClosedJaxpr,
    /// Constants passed to the program.
    pub consts: Vec<Array>,
}

impl Part {
    fn open(self) -> (Arc<Jaxpr>, Vec<Array>) {
        let (jaxpr, mut consts) = self.program.open();
        consts.extend(self.consts);
        (jaxpr, consts)
    }
}

impl While {
    /// Panics if the loop has side effects.
    fn refuse_side_effects(&self) {
        let programs = [&self.body_jaxpr, &self.cond_jaxpr];
        if let Some(action) = programs.iter().find_map(|p| acting(p)) {
            fail(&format!(
                "while: the loop has an {action}, and the examples of a vmap run for different \
                 numbers of steps\n  help: a vmapped loop runs until its last example finishes, so \
                 the side effect would also happen for finished examples; move it out of the loop, \
                 or use map instead of vmap"
            ));
        }
    }

    /// Binds a loop for the function `made_by`.
    #[track_caller]
    pub(crate) fn apply(
        made_by: &'static str,
        cond: Part,
        body: Part,
        init: &[Array],
    ) -> Vec<Array> {
        let (cond_jaxpr, cond_consts) = cond.open();
        let (body_jaxpr, body_consts) = body.open();
        let primitive = While {
            body_jaxpr,
            body_nconsts: body_consts.len(),
            cond_jaxpr,
            cond_nconsts: cond_consts.len(),
            made_by,
        };
        let all: SmallVec<[&Array; 8]> =
            cond_consts.iter().chain(&body_consts).chain(init).collect();
        bind(primitive, &all).into_vec()
    }

    /// Splits operands into those of the condition, those of the body, and the carry.
    pub(super) fn parts<'a, T>(&self, operands: &'a [T]) -> (&'a [T], &'a [T], &'a [T]) {
        split3(operands, self.cond_nconsts, self.body_nconsts)
    }
}

fn part(program: ClosedJaxpr, consts: &[Array]) -> Part {
    let consts = consts.to_vec();
    Part { program, consts }
}

impl Primitive for While {
    fn name(&self) -> &'static str {
        "while"
    }
    fn facts(&self) -> Facts<'_> {
        Facts::exact()
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("body_jaxpr", Param::Jaxpr(self.body_jaxpr.clone())),
            ("body_nconsts", Param::new(self.body_nconsts)),
            ("cond_jaxpr", Param::Jaxpr(self.cond_jaxpr.clone())),
            ("cond_nconsts", Param::new(self.cond_nconsts)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        ensure_shape!(
            args.len() >= self.cond_nconsts + self.body_nconsts,
            "there are fewer operands than constants"
        );
        let (cconsts, bconsts, carry) = self.parts(args);
        check_types(
            "the condition",
            &self.cond_jaxpr.in_avals(),
            &[cconsts, carry].concat(),
        )?;
        check_types(
            "the body",
            &self.body_jaxpr.in_avals(),
            &[bconsts, carry].concat(),
        )?;
        let outs = self.body_jaxpr.out_avals();
        check_types("the next step", carry, &outs)?;
        let [pred] = self.cond_jaxpr.out_avals()[..] else {
            return Err(ShapeError::new("the condition must have one result"));
        };
        ensure_shape!(
            pred.dtype() == DType::Bool
                && carry.iter().all(|c| c.shape().starts_with(pred.shape())),
            "the condition must return booleans along the first axes of the carry, but it returns \
             {pred}"
        );
        Ok(outs.into())
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Nested(self)
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let (cconsts, bconsts, init) = self.parts(args);
        let (cconst_axes, bconst_axes, init_axes) = self.parts(axes);
        let to_front = |_: usize, found: Option<usize>| found.map(|_| 0);
        let at = |consts: &[Option<usize>], carry: &[Option<usize>]| [consts, carry].concat();
        let mut marks = Parts {
            consts: bconst_axes.to_vec(),
            carry: init_axes.iter().map(|ax| ax.map(|_| 0)).collect(),
            xs: Vec::new(),
        };
        let (_, mut carry) = marks.until_stable(|marks| {
            derive::batched(&self.body_jaxpr, &marks.all(), axis, |i, found| {
                marks.carry[i].or(found.map(|_| 0))
            })
        });
        let axes = at(cconst_axes, &carry);
        let (_, pred) = derive::batched(&self.cond_jaxpr, &axes, axis, to_front);
        let pred = pred[0].is_some();
        if pred {
            self.refuse_side_effects();
        }
        // The axis of a batched condition is the first of every carry; otherwise the new axis
        // follows the condition's axes.
        let rank = self.cond_jaxpr.out_avals()[0].ndim();
        for axis in &mut carry {
            *axis = match (pred, *axis) {
                (true, _) => Some(0),
                (false, Some(_)) => Some(rank),
                (false, None) => None,
            };
        }
        let (body, _) =
            derive::batched(&self.body_jaxpr, &at(bconst_axes, &carry), axis, |i, _| {
                carry[i]
            });
        let (cond, _) =
            derive::batched(&self.cond_jaxpr, &at(cconst_axes, &carry), axis, |_, _| {
                pred.then_some(0)
            });
        let init: Vec<Array> = init
            .iter()
            .zip(init_axes)
            .zip(&carry)
            .map(|((x, from), to)| match to {
                Some(to) => move_batch_axis(x, *from, *to, axis),
                None => x.clone(),
            })
            .collect();
        let outs = While::apply(
            self.made_by,
            part(cond, cconsts),
            part(body, bconsts),
            &init,
        );
        (outs.into(), carry.into())
    }
    fn evaluate(&self, args: &[&Array]) -> Option<crate::Result<Outputs>> {
        self.one_by_one(args)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let batched = self.cond_jaxpr.out_avals()[0].ndim() > 0;
        let holds = |ctx: &mut Lowering<'_>, values: &[Value]| {
            let (cconsts, _, carry) = self.parts(values);
            ctx.inline(&self.cond_jaxpr, &[cconsts, carry].concat())[0]
        };
        let types = avals(args);
        let cond = ctx.region(&types, |ctx, values| {
            let value = holds(ctx, values);
            vec![if batched { any_of(ctx, value) } else { value }]
        });
        let body = ctx.region(&types, |ctx, values| {
            let (cconsts, bconsts, carry) = self.parts(values);
            let mut next = ctx.inline(&self.body_jaxpr, &[bconsts, carry].concat());
            if batched {
                let mask = holds(ctx, values);
                for (new, old) in next.iter_mut().zip(carry) {
                    let dims: Vec<usize> = (0..mask.ndim()).collect();
                    let mask = ctx.broadcast_in_dim(mask, old.shape(), &dims);
                    *new = ctx.select(mask, *new, *old);
                }
            }
            [cconsts, bconsts, &next].concat()
        });
        let mut outs = ctx.op("while", args, &types, "", &[cond, body]);
        outs.split_off(self.cond_nconsts + self.body_nconsts)
    }
}

impl Nested for While {
    fn thread_state(&self, pass: &StatePass<'_>, args: &[Array]) -> Option<Vec<Array>> {
        Some(super::while_state::thread(self, pass, args))
    }
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::from_slice(&[&self.body_jaxpr, &self.cond_jaxpr])
    }
}

/// Emits whether any of the booleans is true.
fn any_of(ctx: &mut Lowering<'_>, value: Value) -> Value {
    let init = ctx.scalar(false, DType::Bool);
    let axes: Vec<usize> = (0..value.ndim()).collect();
    ctx.reduce("or", value, init, &axes)
}

impl NestedDifferentiation for While {
    fn jvp(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        let (cconsts, bconsts, init) = self.parts(primals);
        let (_, bdots, init_dots) = self.parts(tangents);
        let mut on = Parts {
            consts: given(bdots),
            carry: given(init_dots),
            xs: Vec::new(),
        };
        let (body, carry_on) = on.until_stable(|on| self.pushed_body(bconsts, init, on));
        let mut consts = bconsts.to_vec();
        consts.extend(bdots.iter().flatten().cloned());
        let dots = init_dots.iter().zip(init).zip(&carry_on);
        let dots = dots.filter(|(_, on)| **on);
        let dots = dots.map(|((t, x), _)| t.clone().unwrap_or_else(|| zeros(x.aval())));
        let mut all: Vec<Array> = init.to_vec();
        all.extend(dots);
        // The condition does not read tangents.
        let read = self.cond_jaxpr.invars.iter().map(|v| Input::Own(*v));
        let unread = all[init.len()..].iter().map(|t| Input::Unused(t.aval()));
        let cond = self.cond_jaxpr.with_inputs(read.chain(unread));
        let cond = part(ClosedJaxpr::without_consts(cond), cconsts);
        let body = Part {
            program: body,
            consts,
        };
        let mut outs = While::apply(self.made_by, cond, body, &all);
        let dots = outs.split_off(init.len());
        (outs, some_where(&carry_on, dots))
    }

    /// Computes the results with the original loop, and their tangents with a second loop that
    /// computes both: the number of iterations is unknown, so residuals cannot be stored.
    fn linearize(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        let refs: SmallVec<[&Array; 8]> = primals.iter().collect();
        let outs = bind(self.clone(), &refs).into_vec();
        (outs, self.jvp(primals, tangents).1)
    }

    fn transpose(&self, _: &[Option<Array>], _: &[Operand]) -> Vec<Option<Array>> {
        let remedy = match self.made_by {
            "fori_loop" => "pass bounds that are numbers, not traced arrays; or use `scan`,",
            APPLY => "call `unique_indices(true)` before `apply` if no integer repeats;",
            _ => "use `scan`, or `fori_loop` with bounds that are numbers, not traced arrays;",
        };
        fail(&format!(
            "{}: has no reverse-mode derivative: the number of steps is known only when the program \
             runs, so the values of all steps cannot be stored\n  help: {remedy} or use forward mode \
             (`jvp`, `jacfwd`)",
            self.made_by
        ))
    }
}

impl While {
    /// Returns the body on values and tangents, and which carries then have a tangent.
    fn pushed_body(
        &self,
        consts: &[Array],
        init: &[Array],
        on: &Parts<bool>,
    ) -> (ClosedJaxpr, Vec<bool>) {
        let (const_on, carry_on) = (&on.consts, &on.carry);
        let dots = |arrays: &[Array], on: &[bool]| -> Vec<Aval> {
            let marked = arrays.iter().zip(on).filter(|(_, on)| **on);
            marked.map(|(a, _)| a.aval().strong()).collect()
        };
        let const_dots = dots(consts, const_on);
        let avals = [
            lists::avals(consts),
            const_dots.clone(),
            lists::avals(init),
            dots(init, carry_on),
        ]
        .concat();
        let mut found = Vec::new();
        let program = trace_to_jaxpr(&avals, |args| {
            let (consts, const_dots, rest) = split3(args, consts.len(), const_dots.len());
            let (carry, dots) = rest.split_at(init.len());
            let primals = [consts, carry].concat();
            let mut tangents = some_where(const_on, const_dots.iter().cloned());
            tangents.extend(some_where(carry_on, dots.iter().cloned()));
            let (mut outs, dots) = nested::jvp(&self.body_jaxpr, &primals, &tangents, carry_on);
            found = given(&dots);
            outs.extend(dots.into_iter().flatten());
            outs
        });
        (program, found)
    }
}
