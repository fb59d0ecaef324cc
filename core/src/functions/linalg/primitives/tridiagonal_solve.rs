//! Linear systems with tridiagonal matrices.

use super::{batch_in_front, batch_side_by_side};
use crate::functions::linalg::tridiagonal_solve;
use crate::lax::{scan, scan_with};
use crate::options::ScanOptions;
use crate::passes::add_tangents;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Primitive, one};
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, ShapeError, concatenate, where_};

/// Solves `A X = B` for `X`, where `A` is given by its three diagonals.
///
/// The operands are the diagonals below, on and above the main one, of shape `[..., m]`, and `B`
/// of shape `[..., m, k]`. Row `i` of `A` contains the elements `i` of all three; the first
/// element of the lower and the last one of the upper diagonal are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TridiagonalSolve;

/// Shifts rows up: removes the first row and appends a row of zeros.
fn up(x: &Array, axis: isize) -> Array {
    let rows = x.shape()[(x.ndim() as isize + axis) as usize];
    let first = rows.min(1);
    let zero = x.slice_in_dim(0, first, 1, axis).zeros_like();
    concatenate(&[&x.slice_in_dim(first, rows, 1, axis), &zero], axis)
}

/// Shifts rows down: removes the last row and prepends a row of zeros.
fn down(x: &Array, axis: isize) -> Array {
    let rows = x.shape()[(x.ndim() as isize + axis) as usize];
    let zero = x.slice_in_dim(0, rows.min(1), 1, axis).zeros_like();
    let rest = x.slice_in_dim(0, rows.saturating_sub(1), 1, axis);
    concatenate(&[&zero, &rest], axis)
}

/// Computes the product of a tridiagonal matrix with `x`; diagonals that are zero are `None`.
fn product([dl, d, du]: [Option<&Array>; 3], x: &Array) -> Option<Array> {
    let times = |diagonal: &Array, x: &Array| diagonal.expand_dims(&[-1]) * x;
    [
        dl.map(|dl| times(dl, &down(x, -2))),
        d.map(|d| times(d, x)),
        du.map(|du| times(du, &up(x, -2))),
    ]
    .into_iter()
    .flatten()
    .reduce(|a, b| a + b)
}

/// Solves by Gaussian elimination with pivoting between two rows in each step, followed by back
/// substitution, as in LAPACK. The equations are along the first axis.
fn eliminated(dl: &Array, d: &Array, du: &Array, b: &Array) -> Array {
    let m = d.shape()[0];
    if m == 0 {
        return b.clone();
    }
    let rest = |x: &Array| x.slice_in_dim(1, m, 1, 0);
    // A row whose elements left of the diagonal are eliminated: two elements, and the right-hand
    // side.
    let first = ((d.index(0), du.index(0)), b.index(0));
    let column = |x: &Array| x.expand_dims(&[-1]);
    type Row = ((Array, Array), Array);
    let step = |((c0, c1), rc): Row, ((l, d), (u, b)): ((Array, Array), (Array, Array))| {
        let swap = l.abs().gt(c0.abs());
        let pivot = where_(&swap, &l, &c0);
        let factor = where_(&swap, &c0, &l) / &pivot;
        let right = where_(&swap, &d, &c1);
        let far = where_(&swap, &u, u.zeros_like());
        let wide = column(&swap);
        let side = where_(&wide, &b, &rc);
        let next0 = where_(&swap, &c1, &d) - &factor * &right;
        let next1 = where_(&swap, 0.0, &u) - &factor * &far;
        let next_side = where_(&wide, &rc, &b) - column(&factor) * &side;
        (((next0, next1), next_side), ((pivot, right), (far, side)))
    };
    let xs = ((rest(dl), rest(d)), (rest(du), rest(b)));
    let (((pivot, _), side), ((pivots, rights), (fars, sides))) = scan(step, first, xs);
    let last = &side / column(&pivot);
    let back = |(after, later): (Array, Array),
                ((p, r), (f, s)): ((Array, Array), (Array, Array))| {
        let x = (s - column(&r) * &after - column(&f) * later) / column(&p);
        ((x.clone(), after), x)
    };
    let options = ScanOptions {
        reverse: true,
        ..ScanOptions::default()
    };
    let regular = pivots.ne(0.0).all_over(0) & pivot.ne(0.0);
    let xs = ((pivots, rights), (fars, sides));
    let (_, xs) = scan_with(back, (last.clone(), last.zeros_like()), xs, options);
    let x = concatenate(&[&xs, &last.expand_dims(&[0])], 0);
    where_(column(&regular), x, f64::NAN)
}

impl Primitive for TridiagonalSolve {
    fn name(&self) -> &'static str {
        "tridiagonal_solve"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 4, "expects 4 operands, got {}", args.len());
        let [dl, d, du, b] = [args[0], args[1], args[2], args[3]];
        Class::Lapack.check(d.dtype())?;
        if dl.strong() != d.strong() || du.strong() != d.strong() || b.dtype() != d.dtype() {
            return Err(ShapeError::new(format!(
                "the diagonals are {dl}, {d} and {du}, and the right-hand sides {b}"
            ))
            .help(
                "all must have the same dtype, and all diagonals the shape [..., m]: pad the lower \
                 one at the front and the upper one at the end",
            ));
        }
        let fits = d.ndim() > 0 && b.ndim() == d.ndim() + 1 && b.shape()[..d.ndim()] == *d.shape();
        if !fits {
            return Err(ShapeError::new(format!(
                "the right-hand sides {b} do not fit diagonals {d}"
            ))
            .help("pass columns: an array of the diagonals' shape with one more axis"));
        }
        one(b)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |primals, tangents, results| {
                let dots = [0, 1, 2].map(|i| tangents[i].as_ref());
                let moved = product(dots, &results[0]).map(|moved| -moved);
                let side = add_tangents(moved, tangents[3].clone());
                let solve = |side| tridiagonal_solve(&primals[0], &primals[1], &primals[2], &side);
                vec![side.map(solve)]
            },
            |cts, operands| {
                let known = |i: usize| operands[i].known();
                let ct = cts[0].as_ref();
                let of_b =
                    (known(0).zip(known(1)).zip(known(2)).zip(ct)).map(|(((dl, d), du), ct)| {
                        tridiagonal_solve(&down(du, -1), d, &up(dl, -1), ct)
                    });
                vec![None, None, None, of_b]
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let [None, None, None, Some(at)] = *axes else {
            return batch_in_front(self, args, axes, axis.size);
        };
        batch_side_by_side(&args[3], at, args[3].ndim() - 2, |b| {
            bind1(*self, &[&args[0], &args[1], &args[2], b])
        })
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        ctx.traced("tridiagonal_solve", args, |x| {
            let axis = x[1].ndim() as isize - 1;
            let [dl, d, du, b] = [0, 1, 2, 3].map(|i| x[i].move_axis(axis, 0));
            vec![eliminated(&dl, &d, &du, &b).move_axis(0, axis)]
        })
    }
}
