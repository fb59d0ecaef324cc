//! The interpreter of `checkify`: evaluates a program and carries an error along.

use super::failure::Failure;
use super::{Layout, automatic, nested};
use crate::extend::Outputs;
use crate::program::checks::Errors;
use crate::program::jaxpr::{Eqn, Jaxpr};
use crate::transform::checkify::primitive::Check;
use crate::{Array, Aval, DType, where_};

/// The state of an evaluation.
pub(super) struct Pass {
    pub errors: Errors,
    pub layout: Layout,
    /// The current error, as arrays in the order of the layout.
    state: Vec<Array>,
}

impl Pass {
    pub fn new(errors: Errors, layout: Layout, state: Vec<Array>) -> Pass {
        Pass {
            errors,
            layout,
            state,
        }
    }

    /// Returns the final error.
    pub fn into_state(self) -> Vec<Array> {
        self.state
    }

    pub fn state(&self) -> &[Array] {
        &self.state
    }

    pub fn set_state(&mut self, state: Vec<Array>) {
        self.state = state;
    }

    /// Evaluates a program, and records its checks in the error.
    pub fn run(&mut self, jaxpr: &Jaxpr, consts: &[Array], args: &[Array]) -> Vec<Array> {
        let (consts, args) = (consts.iter().cloned(), args.iter().cloned());
        jaxpr.evaluate(consts, args, |eqn, operands| self.equation(eqn, &operands))
    }

    fn equation(&mut self, eqn: &Eqn, ins: &[Array]) -> Outputs {
        if let Some(check) = eqn.primitive.as_any().downcast_ref::<Check>() {
            if self.errors.contains(Errors::USER) {
                self.check(check, ins);
            }
            return Outputs::new();
        }
        if let Some(outs) = nested::run(self, eqn, ins) {
            return outs;
        }
        automatic::before(self, eqn, ins);
        let outs = eqn.bind(ins);
        automatic::after(self, eqn, &outs);
        outs
    }

    /// Sets the error to the first failed example of a check, if any, unless there is already an
    /// error.
    fn check(&mut self, check: &Check, args: &[Array]) {
        let (code, payload) = (&args[0], &args[1..]);
        let examples: usize = code.size();
        if examples == 0 {
            return;
        }
        let codes = code.reshape(&[examples]);
        let first = codes.ne(0).astype(DType::I32).argmax(0);
        let pick = |array: &Array, shape: &[usize]| {
            let mut all = vec![examples];
            all.extend(shape);
            if examples == 1 {
                return array.reshape(shape);
            }
            array.reshape(&all).take(&first, 0)
        };
        let code = pick(&codes, &[]);
        let mut rest = payload;
        let mut parts = Vec::new();
        for signature in &check.signatures {
            let (own, others) = rest.split_at(signature.len());
            let own = own.iter().zip(signature);
            parts.push(own.map(|(a, s)| pick(a, s.shape())).collect::<Vec<_>>());
            rest = others;
        }
        self.set_first(&code, check.signatures.iter().zip(parts));
    }

    /// Sets the error to a failure if `failed` is true, unless there is already an error.
    pub fn fail_if(&mut self, failed: &Array, failure: Failure, payload: Vec<Array>) {
        let signature = failure.signature.clone();
        let number = Array::scalar(failure.code(), DType::I32);
        let code = where_(failed, &number, Array::scalar(0, DType::I32));
        self.set_first(&code, std::iter::once((&signature, payload)));
    }

    fn set_first<'a>(
        &mut self,
        code: &Array,
        parts: impl Iterator<Item = (&'a Vec<Aval>, Vec<Array>)>,
    ) {
        let new = self.state[0].eq(0) & code.ne(0);
        self.state[0] = where_(&new, code, &self.state[0]);
        for (signature, payload) in parts {
            let Some(range) = self.layout.range(signature) else {
                continue;
            };
            for (slot, value) in self.state[range].iter_mut().zip(payload) {
                *slot = where_(&new, value.astype(slot.dtype()), &*slot);
            }
        }
    }
}
