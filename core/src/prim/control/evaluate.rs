//! Control flow run operation by operation, inside [`disable_jit`](crate::config::disable_jit).

use super::{Cond, Scan, While};
use crate::extend::Outputs;
use crate::program::disable::jit_is_disabled;
use crate::{Array, DType, Result, stack};

/// Runs an operation that contains programs step by step, if `jit` is disabled.
fn one_by_one(run: impl FnOnce() -> Result<Vec<Array>>) -> Option<Result<Outputs>> {
    jit_is_disabled().then(|| run().map(Outputs::from_vec))
}

fn owned(args: &[&Array]) -> Vec<Array> {
    args.iter().map(|a| (*a).clone()).collect()
}

/// Returns the value of a 0-d array.
fn number<T: crate::Element>(array: &Array) -> Result<T> {
    Ok(array.try_to_vec::<T>()?[0])
}

impl Cond {
    pub(super) fn one_by_one(&self, args: &[&Array]) -> Option<Result<Outputs>> {
        one_by_one(|| {
            let last = self.branches.len() - 1;
            let index = usize::try_from(number::<i32>(args[0])?).unwrap_or(last);
            Ok(self.branches[index.min(last)].eval(&[], &owned(&args[1..])))
        })
    }
}

impl While {
    pub(super) fn one_by_one(&self, args: &[&Array]) -> Option<Result<Outputs>> {
        // A batched condition runs as one loop.
        if self.cond_jaxpr.out_avals()[0].ndim() > 0 {
            return None;
        }
        one_by_one(|| {
            let args = owned(args);
            let (cconsts, bconsts, init) = self.parts(&args);
            let mut carry = init.to_vec();
            loop {
                let holds = self.cond_jaxpr.eval(&[], &[cconsts, &carry].concat());
                if !number::<bool>(&holds[0])? {
                    return Ok(carry);
                }
                carry = self.body_jaxpr.eval(&[], &[bconsts, &carry].concat());
            }
        })
    }
}

impl Scan {
    pub(super) fn one_by_one(&self, args: &[&Array]) -> Option<Result<Outputs>> {
        one_by_one(|| {
            let args = self.parts(&owned(args));
            let (consts, mut carry) = (args.consts, args.carry);
            let ys = self.jaxpr.out_avals().split_off(self.num_carry);
            let mut steps: Vec<Vec<Array>> = vec![Vec::new(); ys.len()];
            for i in 0..self.length {
                let at = if self.reverse { self.length - 1 - i } else { i };
                let xs: Vec<Array> = args.xs.iter().map(|x| x.index(at)).collect();
                let mut outs = self.jaxpr.eval(&[], &[&consts[..], &carry, &xs].concat());
                for (all, y) in steps.iter_mut().zip(outs.split_off(self.num_carry)) {
                    all.push(y);
                }
                carry = outs;
            }
            for (mut all, aval) in steps.into_iter().zip(ys) {
                if self.reverse {
                    all.reverse();
                }
                carry.push(stacked(&all, aval.shape(), aval.dtype()));
            }
            Ok(carry)
        })
    }
}

/// Stacks arrays along a new first axis, even if there are none.
fn stacked(arrays: &[Array], shape: &[usize], dtype: DType) -> Array {
    if arrays.is_empty() {
        let shape: Vec<usize> = std::iter::once(0).chain(shape.iter().copied()).collect();
        return Array::zeros(&shape, dtype);
    }
    stack(arrays, 0)
}
