//! `optimization_barrier`.

use crate::extend::Outputs;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Facts, Operand, Primitive};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::{self, bind};
use crate::program::tree;
use crate::{Array, Aval, Result, ShapeError, Tree};

/// Returns the operands. The compiler computes all of them before it uses any, and moves and
/// merges no operations across the barrier.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OptimizationBarrier;

/// Applies a barrier to the arrays that are `Some`.
fn among(arrays: &[Option<Array>]) -> Vec<Option<Array>> {
    let given: Vec<&Array> = arrays.iter().flatten().collect();
    if given.is_empty() {
        return arrays.to_vec();
    }
    let mut outs = bind(OptimizationBarrier, &given).into_iter();
    arrays
        .iter()
        .map(|a| a.as_ref().and_then(|_| outs.next()))
        .collect()
}

impl Primitive for OptimizationBarrier {
    fn name(&self) -> &'static str {
        "optimization_barrier"
    }
    fn facts(&self) -> Facts<'_> {
        Facts::exact()
    }
    fn infer(&self, args: &[Aval]) -> std::result::Result<Avals, ShapeError> {
        Ok(args.into())
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |_, tangents, _| among(tangents),
            |cts, operands| {
                let cts: Vec<Option<Array>> = cts
                    .iter()
                    .zip(operands)
                    .map(|(ct, o)| ct.clone().filter(|_| matches!(o, Operand::Linear(_))))
                    .collect();
                among(&cts)
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        let refs: Vec<&Array> = args.iter().collect();
        (bind(self.clone(), &refs), axes.into())
    }
    fn evaluate(&self, args: &[&Array]) -> Option<Result<Outputs>> {
        Some(Ok(args.iter().map(|a| (*a).clone()).collect()))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        ctx.barrier(args)
    }
}

/// Returns the tree. In a compiled program all its arrays are computed before any of them is
/// used, and the compiler neither moves operations across the barrier nor merges operations on
/// both sides of it (`jax.lax.optimization_barrier`).
///
/// ```
/// use ramie_core::lax::optimization_barrier;
/// use ramie_core::{make_jaxpr, Array, DType};
/// let x = Array::shape_dtype_struct(&[3], DType::F32);
/// assert_eq!(
///     make_jaxpr(|x: Array| optimization_barrier(x))(x).to_string(),
///     "{ lambda ; a:f32[3]. let b:f32[3] = optimization_barrier a in (b,) }"
/// );
/// ```
#[track_caller]
pub fn optimization_barrier<T: Tree>(tree: T) -> T {
    let leaves = tree::leaves(&tree);
    if leaves.is_empty() || !trace::is_tracing() {
        return tree;
    }
    let refs: Vec<&Array> = leaves.iter().collect();
    tree::with_leaves(&tree, bind(OptimizationBarrier, &refs))
}
