//! The singular value decomposition.

use super::jacobi::{Rotation, halves, moved_on, or_nan, phase, scale, sweeps};
use super::{Qr, batch_in_front, matrix, real, with_last};
use crate::base::location;
use crate::extend::ShardingRule;
use crate::functions::linalg::matrix::{
    adjoint, diagonal_matrices, diagonals, epsilon, identity, matrix_shape, permuted, product,
    squared_magnitude,
};
use crate::options::Reduction;
use crate::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind;
use crate::{Array, Aval, ShapeError, concatenate, where_};

/// Computes singular values in decreasing order and, optionally, left singular vectors as columns
/// and right singular vectors as rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Svd {
    /// Whether both matrices of singular vectors are square.
    pub full_matrices: bool,
    /// Whether singular vectors are computed.
    pub compute_uv: bool,
}

impl Primitive for Svd {
    fn name(&self) -> &'static str {
        "svd"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("algorithm", Param::new("None")),
            ("compute_uv", Param::flag(self.compute_uv)),
            ("full_matrices", Param::flag(self.full_matrices)),
            ("subset_by_index", Param::new("None")),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 1, "expects 1 operand, got {}", args.len());
        let (m, n) = matrix(args[0])?;
        let k = m.min(n);
        let sizes = if self.full_matrices { [m, n] } else { [k, k] };
        let mut outs = Avals::from_iter([real(with_last(args[0], &[k]))]);
        if self.compute_uv {
            outs.push(with_last(args[0], &[m, sizes[0]]));
            outs.push(with_last(args[0], &[sizes[1], n]));
        }
        Ok(outs)
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::batch(args, outs, &[2]))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::jvp(|primals, tangents, results| {
            let Some(tangent) = &tangents[0] else {
                return vec![None; results.len()];
            };
            let (m, n) = matrix_shape(&primals[0]);
            if self.compute_uv && self.full_matrices && m != n {
                location::fail(
                    "svd: the vectors that complete a basis have no derivative\n  help: compute \
                     only the others, without `full_matrices`",
                );
            }
            if !self.compute_uv {
                let vectors = Svd {
                    full_matrices: false,
                    compute_uv: true,
                };
                let parts = bind(vectors, &[&primals[0]]);
                let inside = product(&product(&adjoint(&parts[1]), tangent), &adjoint(&parts[2]));
                return vec![Some(diagonals(&inside).real())];
            }
            let [s, u, vt] = [&results[0], &results[1], &results[2]];
            tangents_of_svd(tangent, s, u, vt).map(Some).to_vec()
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        batch_in_front(self, args, axes, axis.size)
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        ctx.traced("svd", args, |args| self.decompose(&args[0]))
    }
}

/// Computes the tangents of `S`, `U` and `Vᴴ` (Giles, Collected matrix derivative results for
/// forward and reverse mode algorithmic differentiation, 2008), for distinct singular values.
fn tangents_of_svd(tangent: &Array, s: &Array, u: &Array, vt: &Array) -> [Array; 3] {
    let (ut, v) = (adjoint(u), adjoint(vt));
    let row = s.expand_dims(&[-2]);
    let column = s.expand_dims(&[-1]);
    let inside = product(&product(&ut, tangent), &v);
    let ones = identity(s.shape()[s.ndim() - 1], s.dtype());
    let distances = (&row + &column) * (&row - &column);
    let inverse = 1 / (distances + &ones) - ones;
    let both = |x: Array| &x + adjoint(&x);
    let zeros = s.eq(0).astype(s.dtype());
    let s_inverse = 1 / (s + &zeros) - zeros;
    let skew = (&inside - adjoint(&inside)) * 0.5;
    let turned = &inverse * both(&row * &inside) + skew * diagonal_matrices(&s_inverse);
    let mut u_dot = product(u, &turned);
    let mut v_dot = product(&v, &(inverse * both(&column * &inside)));
    let (m, n) = matrix_shape(tangent);
    // The part outside the space spanned by the singular vectors.
    if m > n {
        let moved = product(tangent, &v);
        u_dot += (&moved - product(u, &product(&ut, &moved))) / &row;
    }
    if n > m {
        let moved = product(&adjoint(tangent), u);
        v_dot += (&moved - product(&v, &product(vt, &moved))) / &row;
    }
    [diagonals(&inside).real(), u_dot, adjoint(&v_dot)]
}

impl Svd {
    /// Returns the decomposition of matrices without elements.
    fn of_empty(&self, a: &Array) -> Vec<Array> {
        let (m, n) = matrix_shape(a);
        let batch = &a.shape()[..a.ndim() - 2];
        let s = Array::zeros(&[batch, &[n]].concat(), a.dtype().real());
        if !self.compute_uv {
            return vec![s];
        }
        let columns = if self.full_matrices { m } else { n };
        let u = identity(m, a.dtype()).slice_in_dim(0, columns, 1, -1);
        let u = u.broadcast_to(&[batch, &[m, columns]].concat());
        let vt = identity(n, a.dtype()).broadcast_to(&[batch, &[n, n]].concat());
        vec![s, u, vt]
    }

    /// Computes the decomposition by Jacobi's one-sided method, after a QR decomposition (Drmač
    /// and Veselić, New fast and accurate Jacobi SVD algorithm, 2008).
    fn decompose(&self, a: &Array) -> Vec<Array> {
        let (m, n) = matrix_shape(a);
        if m < n {
            // If Aᴴ = U S Vᴴ, then A = V S Uᴴ.
            let mut parts = self.decompose(&adjoint(a));
            if self.compute_uv {
                parts.swap(1, 2);
                parts[1] = adjoint(&parts[1]);
                parts[2] = adjoint(&parts[2]);
            }
            return parts;
        }
        if a.size() == 0 {
            return self.of_empty(a);
        }
        let batch = &a.shape()[..a.ndim() - 2];
        let (scale, finite) = scale(a);
        let qr = Qr {
            full_matrices: self.full_matrices && self.compute_uv,
        };
        let parts = bind(qr.clone(), &[&(a / &scale)]);
        let (q, r) = (&parts[0], parts[1].slice_in_dim(0, n, 1, -2));
        let (rows, rotations) = self.orthogonalize(&r);
        let sizes = squared_magnitude(&rows).sum_over(-1).sqrt();
        let order = (-&sizes).argsort(-1);
        let sizes = sizes.take_along_axis(&order, -1);
        let s = or_nan(&(&sizes * scale.reshape(&[batch, &[1]].concat())), &finite);
        let Some(rotations) = rotations else {
            return vec![s];
        };
        // R = V S Uᴴ, where the rows are those of S Uᴴ, and Vᴴ is the product of the rotations.
        // Rows of zero norm get the remaining directions.
        let (rows, rotations) = (permuted(&rows, &order), permuted(&rotations, &order));
        let tiny = sizes.le(sizes.max_over(Reduction::over(-1).keepdims())
            * (epsilon(a.dtype()) * epsilon(a.dtype())));
        let inverse = where_(&tiny, 0, 1 / where_(&tiny, 1, &sizes));
        let columns = adjoint(&(rows * inverse.expand_dims(&[-1])));
        let thin = bind(
            Qr {
                full_matrices: false,
            },
            &[&columns],
        );
        let negative = diagonals(&thin[1]).real().lt(0);
        let signs = where_(&negative, -1, Array::scalar(1, a.dtype()));
        let vt = adjoint(&(&thin[0] * signs.expand_dims(&[-2])));
        let own = q.slice_in_dim(0, n, 1, -1);
        let mut u = product(&own, &adjoint(&rotations));
        if qr.full_matrices {
            u = concatenate(&[u, q.slice_in_dim(n, m, 1, -1)], -1);
        }
        vec![s, or_nan(&u, &finite), or_nan(&vt, &finite)]
    }

    /// Rotates the rows of `R` until they are orthogonal to each other. If singular vectors are
    /// computed, also rotates the rows of the identity in the same way.
    fn orthogonalize(&self, r: &Array) -> (Array, Option<Array>) {
        let n = matrix_shape(r).1;
        let even = n.next_multiple_of(2);
        let mut both = vec![r.clone()];
        if self.compute_uv {
            both.push(identity(n, r.dtype()).broadcast_to(r.shape()));
        }
        let mut widths = vec![(0, 0); r.ndim()];
        widths[r.ndim() - 2].1 = even - n;
        let both = concatenate(&both, -1).pad(&widths, 0);
        let left = |both: &Array| {
            // Cosines of the angles between all rows.
            let rows = both.slice_in_dim(0, n, 1, -1);
            let sizes = squared_magnitude(&rows)
                .sum_over(Reduction::over(-1).keepdims())
                .sqrt();
            let rows = &rows / where_(sizes.eq(0), 1, &sizes);
            let cosines = product(&rows, &adjoint(&rows))
                - diagonal_matrices(&squared_magnitude(&rows).sum_over(-1));
            cosines.abs().max_over([-2, -1])
        };
        // Rounding error of the cosine of a right angle.
        let small = 2.0 * epsilon(r.dtype()) * (n as f64).sqrt().max(2.0);
        let both = sweeps(both, even - 1, small, |both| round(&both, n), left);
        let both = both.slice_in_dim(0, n, 1, -2);
        let rows = both.slice_in_dim(0, n, 1, -1);
        let rotations = self.compute_uv.then(|| both.slice_in_dim(n, 2 * n, 1, -1));
        (rows, rotations)
    }
}

/// Performs one round on `[R | Vᴴ]`.
fn round(both: &Array, n: usize) -> Array {
    let mut parts = halves(both, -2);
    let [upper, lower] = [0, 1].map(|i| parts[i].slice_in_dim(0, n, 1, -1));
    let [p, q] = [&upper, &lower].map(|x| squared_magnitude(x).sum_over(-1));
    let (r, sizeable, turn) = phase(&upper.mul(lower.conj()).sum_over(-1));
    let angle = epsilon(both.dtype()) / 2.0;
    let wanted = r
        .abs()
        .gt(p.sqrt() * q.sqrt() * angle)
        .bitwise_and(sizeable);
    if let Some(turn) = turn {
        parts[1] = &parts[1] * turn.expand_dims(&[-1]);
    }
    let rotation = Rotation::new(&p, &q, &r, &wanted);
    moved_on(rotation.rows(&parts), -2)
}
