//! Derivatives of the scatter family.

use super::{Gather, GatherScatterMode, Scatter, ScatterMethod};
use crate::base::location::fail;
use crate::dtypes::Literal;
use crate::passes::add_tangents;
use crate::prim::{Differentiation, NestedDifferentiation, Operand, Tangents};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, DType};

impl Scatter {
    pub(super) fn derivative(&self) -> Differentiation<'_> {
        match self.method {
            ScatterMethod::Set if !self.unique_indices => Differentiation::Nested(self),
            ScatterMethod::Set => Differentiation::bilinear(
                |p, t, _| {
                    if t[0].is_none() && t[2].is_none() {
                        return vec![None];
                    }
                    // With distinct windows the scatter is linear in the operand and the updates
                    // together, but not in one of them alone: a missing tangent is a zero that must
                    // still be written.
                    let full = |i: usize| t[i].clone().unwrap_or_else(|| p[i].zeros_like());
                    vec![Some(bind1(self.clone(), &[&full(0), &p[1], &full(2)]))]
                },
                |cts, operands| self.transpose_set(cts, operands),
            ),
            ScatterMethod::Add | ScatterMethod::Sub => Differentiation::bilinear(
                |p, t, _| {
                    let Some(updates) = &t[2] else {
                        return vec![t[0].clone()];
                    };
                    let operand = t[0].clone().unwrap_or_else(|| p[0].zeros_like());
                    vec![Some(bind1(self.clone(), &[&operand, &p[1], updates]))]
                },
                |cts, operands| self.transpose_add(cts, operands),
            ),
            ScatterMethod::Mul => Differentiation::bilinear(
                |p, t, _| vec![self.product_tangent(p, t)],
                |cts, operands| match (&cts[0], operands[1].known(), operands[2].known()) {
                    (Some(ct), Some(indices), Some(updates)) => {
                        // Only the operand can be linear here: the tangent of the updates consists
                        // of other operations, which have their own transposes.
                        let operand = bind1(self.clone(), &[ct, indices, updates]);
                        vec![Some(operand), None, None]
                    }
                    _ => vec![None; 3],
                },
            ),
            ScatterMethod::Min | ScatterMethod::Max => {
                Differentiation::jvp(|p, t, outs| vec![self.extremal_tangent(p, t, &outs[0])])
            }
        }
    }

    fn with_method(&self, method: ScatterMethod) -> Scatter {
        Scatter {
            method,
            ..self.clone()
        }
    }

    /// Gathers the elements that the scatter writes, in the shape of the updates; zero where
    /// nothing is written.
    fn read(&self, from: &Array, indices: &Array, updates: Aval) -> Array {
        let fill = self.mode == GatherScatterMode::FillOrDrop;
        let gather = Gather {
            dimension_numbers: self.dimension_numbers.inverse(),
            slice_sizes: self.window(from.ndim(), updates.shape()),
            mode: self.mode,
            indices_are_sorted: self.indices_are_sorted,
            unique_indices: self.unique_indices,
            fill_value: fill.then(|| Literal::new(0, from.dtype())),
        };
        bind1(gather, &[from, indices])
    }

    fn transpose_set(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
        let (Some(ct), Some(indices)) = (&cts[0], operands[1].known()) else {
            return vec![None; 3];
        };
        let aval = operands[2].aval();
        // An overwritten element has no influence on the result, so its cotangent is zero.
        let operand = operands[0].is_linear().then(|| {
            let zeros = Array::zeros_of(aval.with_dtype(ct.dtype()));
            bind1(self.clone(), &[ct, indices, &zeros])
        });
        let updates = operands[2].is_linear();
        let updates = updates.then(|| self.read(ct, indices, aval));
        vec![operand, None, updates]
    }

    fn transpose_add(&self, cts: &[Option<Array>], operands: &[Operand]) -> Vec<Option<Array>> {
        let (Some(ct), Some(indices)) = (&cts[0], operands[1].known()) else {
            return vec![None; 3];
        };
        let updates = operands[2].is_linear().then(|| {
            let read = self.read(ct, indices, operands[2].aval());
            match self.method {
                ScatterMethod::Sub => read.negative(),
                _ => read,
            }
        });
        vec![operands[0].is_linear().then(|| ct.clone()), None, updates]
    }

    /// Computes the tangent of products.
    fn product_tangent(&self, primals: &[Array], tangents: &[Option<Array>]) -> Option<Array> {
        let (x, indices, y) = (&primals[0], &primals[1], &primals[2]);
        let operand = tangents[0].as_ref();
        let operand = operand.map(|t| bind1(self.clone(), &[t, indices, y]));
        let updates = tangents[2].as_ref().map(|t| {
            if !self.unique_indices {
                fail(
                    "scatter-mul: the derivative with respect to the factors is only defined if \
                     no two windows overlap\n  help: assert it with unique_indices(true)",
                );
            }
            let adding = self.with_method(ScatterMethod::Add);
            // `(x y)' = x' y + x y'`: each factor is written once, so `x y'` is `x` times the
            // scattered tangents, and zero elsewhere.
            x * &bind1(adding, &[&x.zeros_like(), indices, t])
        });
        add_tangents(operand, updates)
    }

    /// Computes the tangent of a minimum or maximum. Updates that are equal to each other or to
    /// the existing element get equal shares.
    fn extremal_tangent(
        &self,
        primals: &[Array],
        tangents: &[Option<Array>],
        out: &Array,
    ) -> Option<Array> {
        if tangents[0].is_none() && tangents[2].is_none() {
            return None;
        }
        let (operand, indices, updates) = (&primals[0], &primals[1], &primals[2]);
        let read = |from: &Array| self.read(from, indices, updates.aval());
        let sums = |values: &Array| {
            let add = self.with_method(ScatterMethod::Add);
            read(&bind1(add, &[&operand.zeros_like(), indices, values]))
        };
        let (ones, zeros) = (updates.ones_like(), updates.zeros_like());
        let target = read(out);
        let won = updates.eq(&target);
        let stayed = read(operand).eq(&target);
        // Both counts are read back at each update: how many updates equal the result of their
        // element, and how many write to it.
        let winners = sums(&won.select(&ones, &zeros));
        let writers = sums(&ones);
        let share = 1.0 / &(&stayed.select(&ones, &zeros) + &winners);
        let of_update = won.select(&share, &zeros);
        // The result starts with the whole tangent `t` of the operand. Each of the `writers`
        // updates of an element then adds `t (s - 1) / writers`, so that its share `s t` remains.
        let of_operand = &(&stayed.select(&share, &zeros) - 1.0) / &writers;
        let old = tangents[0].as_ref().map(|t| read(t) * &of_operand);
        let new = tangents[2].as_ref().map(|t| t * &of_update);
        let change = add_tangents(old, new)?;
        let base = tangents[0].clone().unwrap_or_else(|| operand.zeros_like());
        let add = self.with_method(ScatterMethod::Add);
        Some(bind1(add, &[&base, indices, &change]))
    }

    /// Computes values and tangents of a scatter whose windows may overlap, for which it is
    /// unspecified which update wins. Every update gets a number, and the numbers are scattered
    /// to find the winners; values and tangents of all others are set to zero, and the rest is
    /// added.
    fn overlapping(
        &self,
        primals: &[Array],
        tangents: &[Option<Array>],
    ) -> (Vec<Array>, Vec<Option<Array>>) {
        let (operand, indices, updates) = (&primals[0], &primals[1], &primals[2]);
        // A window is numbered as a whole: `[3, 2]` updates in rows get `[[1, 1], [2, 2], [3, 3]]`.
        // The numbers start at 1, because 0 marks elements that no update wrote.
        let mut shape: Dims = updates.shape().into();
        for &d in &self.dimension_numbers.update_window_dims {
            shape[d] = 1;
        }
        let count: usize = shape.iter().product();
        let numbers = (&Array::iota(&[count], 0, DType::U32) + 1).reshape(&shape);
        let numbers = numbers.broadcast_to(updates.shape());
        let nobody = Array::zeros_of(operand.aval().with_dtype(DType::U32));
        let written_by = bind1(self.clone(), &[&nobody, indices, &numbers]);
        let untouched = written_by.eq(0);
        let winner = self.read(&written_by, indices, updates.aval()).eq(&numbers);
        let add = self.with_method(ScatterMethod::Add);
        let masked = |mask: &Array, x: &Array| mask.select(x, &x.zeros_like());
        // Each element is nonzero in at most one summand, so adding selects it. A second scatter of
        // the values could choose other winners than that of the numbers.
        let merge = |x: &Array, y: &Array| {
            bind1(
                add.clone(),
                &[&masked(&untouched, x), indices, &masked(&winner, y)],
            )
        };
        let value = merge(operand, updates);
        let tangent = match (&tangents[0], &tangents[2]) {
            (None, None) => None,
            (Some(t), None) => Some(masked(&untouched, t)),
            (t, Some(u)) => {
                let t = t.clone().unwrap_or_else(|| operand.zeros_like());
                Some(merge(&t, u))
            }
        };
        (vec![value], vec![tangent])
    }
}

impl NestedDifferentiation for Scatter {
    fn jvp(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        self.overlapping(primals, tangents)
    }

    fn linearize(&self, primals: &[Array], tangents: &[Option<Array>]) -> (Vec<Array>, Tangents) {
        self.overlapping(primals, tangents)
    }

    fn transpose(&self, _: &[Option<Array>], _: &[Operand]) -> Vec<Option<Array>> {
        fail(
            "scatter: is only linear in its operands if no two updates overlap\n  help: assert it \
             with unique_indices(true)",
        )
    }
}
