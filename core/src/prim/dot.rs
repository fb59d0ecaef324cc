//! `dot_general`: sums of products over axes of two operands.

use super::{
    Avals, Batched, Differentiation, Operand, Param, Primitive, batched, move_batch_axis, one,
};
use crate::lower::{Lowering, Value};
use crate::prim::elementwise::Class;
use crate::trace::bind1;
use crate::{Array, Aval, DType, Dims, IntoArray, ShapeError};

/// Which axes of two operands are summed over together, and which run along
/// together and stay.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct DotDimensionNumbers {
    /// Summed axes of the left operand.
    pub lhs_contracting: Dims,
    /// Summed axes of the right operand, in the same order.
    pub rhs_contracting: Dims,
    /// Shared axes of the left operand.
    pub lhs_batch: Dims,
    /// Shared axes of the right operand, in the same order.
    pub rhs_batch: Dims,
}

/// How exactly floats are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// The platform's fastest.
    Default,
    /// More exact where the platform has a choice.
    High,
    /// As exact as the element type.
    Highest,
}

impl Precision {
    fn name(self) -> &'static str {
        match self {
            Precision::Default => "DEFAULT",
            Precision::High => "HIGH",
            Precision::Highest => "HIGHEST",
        }
    }
}

/// The general product (`lax.dot_general`). The result has the shared axes,
/// then the other axes of the left operand, then those of the right.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DotGeneral {
    /// The axes.
    pub dimension_numbers: DotDimensionNumbers,
    /// How exactly floats are multiplied; `None` is the platform's default.
    pub precision: Option<Precision>,
    /// The element type of sums and result, where it differs from the
    /// operands'.
    pub preferred_element_type: Option<DType>,
}

/// The axes of an operand that are neither summed nor shared.
fn free(rank: usize, contracting: &[usize], batch: &[usize]) -> Dims {
    (0..rank)
        .filter(|d| !contracting.contains(d) && !batch.contains(d))
        .collect()
}

impl DotDimensionNumbers {
    fn check(&self, lhs: Aval, rhs: Aval) -> Result<(), ShapeError> {
        let sides = [
            ("lhs", lhs, &self.lhs_contracting, &self.lhs_batch),
            ("rhs", rhs, &self.rhs_contracting, &self.rhs_batch),
        ];
        for (side, aval, contracting, batch) in sides {
            let mut seen = Dims::new();
            for &d in contracting.iter().chain(batch.iter()) {
                crate::ensure_shape!(
                    d < aval.ndim() && !seen.contains(&d),
                    "{side} axis {d} is out of range or named twice for {aval}"
                );
                seen.push(d);
            }
        }
        let pairs = [
            (
                "contracted",
                "sizes",
                &self.lhs_contracting,
                &self.rhs_contracting,
            ),
            ("batch", "sizes", &self.lhs_batch, &self.rhs_batch),
        ];
        for (what, sizes, l, r) in pairs {
            crate::ensure_shape!(
                l.len() == r.len(),
                "{} {what} axes of lhs meet {} of rhs",
                l.len(),
                r.len()
            );
            for (&a, &b) in l.iter().zip(r) {
                let (n, m) = (lhs.shape()[a], rhs.shape()[b]);
                if n != m {
                    let error = ShapeError::new(format!(
                        "{what} {sizes} differ: lhs axis {a} is {n}, rhs axis {b} is {m}"
                    ));
                    return Err(error.help(remedy(lhs, rhs, a, b)));
                }
            }
        }
        Ok(())
    }

    fn out_shape(&self, lhs: Aval, rhs: Aval) -> Dims {
        let mut shape: Dims = self.lhs_batch.iter().map(|&d| lhs.shape()[d]).collect();
        let l = free(lhs.ndim(), &self.lhs_contracting, &self.lhs_batch);
        let r = free(rhs.ndim(), &self.rhs_contracting, &self.rhs_batch);
        shape.extend(l.iter().map(|&d| lhs.shape()[d]));
        shape.extend(r.iter().map(|&d| rhs.shape()[d]));
        shape
    }
}

/// What to try where sizes differ.
fn remedy(lhs: Aval, rhs: Aval, a: usize, b: usize) -> String {
    let wanted = rhs.shape()[b];
    let tail: Option<usize> = (0..=a)
        .rev()
        .find(|&start| lhs.shape()[start..].iter().product::<usize>() == wanted);
    if a + 1 == lhs.ndim()
        && let Some(start) = tail
    {
        return format!("flatten the last axes of lhs first: x.flatten({start}..)");
    }
    if lhs.shape().contains(&wanted) || rhs.shape().contains(&lhs.shape()[a]) {
        return "an axis of that size stands elsewhere: transpose an operand, or name the axes with \
                dot_general"
            .into();
    }
    "the summed axes must have one size".into()
}

impl Primitive for DotGeneral {
    fn name(&self) -> &'static str {
        "dot_general"
    }
    fn params(&self) -> Vec<(&'static str, Param)> {
        let n = &self.dimension_numbers;
        let list = |d: &Dims| {
            let items: Vec<String> = d.iter().map(ToString::to_string).collect();
            format!("[{}]", items.join(", "))
        };
        let numbers = format!(
            "(({}, {}), ({}, {}))",
            list(&n.lhs_contracting),
            list(&n.rhs_contracting),
            list(&n.lhs_batch),
            list(&n.rhs_batch)
        );
        let precision = match self.precision {
            Some(p) => format!("({0}, {0})", p.name()),
            None => "None".into(),
        };
        let preferred = self
            .preferred_element_type
            .map_or("None", DType::numpy_name);
        vec![
            ("dimension_numbers", Param::new(numbers)),
            ("out_sharding", Param::new("None")),
            ("precision", Param::new(precision)),
            ("preferred_element_type", Param::new(preferred)),
        ]
    }
    fn propagates_weak_type(&self) -> bool {
        false
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 2, "expects 2 operands, got {}", args.len());
        let (lhs, rhs) = (args[0], args[1]);
        if lhs.dtype() != rhs.dtype() {
            return Err(ShapeError::new(format!(
                "operands have different types, {} and {}",
                lhs.dtype(),
                rhs.dtype()
            ))
            .help("`matmul` and `dot` promote; dot_general itself wants one type: use astype"));
        }
        crate::ensure_shape!(
            Class::Number.contains(lhs.dtype()),
            "expects numbers, got bool; convert first: x.astype(DType::I32)"
        );
        self.dimension_numbers.check(lhs, rhs)?;
        let dtype = self.preferred_element_type.unwrap_or(lhs.dtype());
        one(Aval::new(
            &self.dimension_numbers.out_shape(lhs, rhs),
            dtype,
        ))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::bilinear(
            |p, t, _| {
                let a = t[0].as_ref().map(|t| bind1(self.clone(), &[t, &p[1]]));
                let b = t[1].as_ref().map(|t| bind1(self.clone(), &[&p[0], t]));
                vec![crate::prim::elementwise::add_tangents(a, b)]
            },
            |cts, operands| {
                let Some(ct) = &cts[0] else {
                    return vec![None, None];
                };
                vec![
                    operands[1]
                        .known()
                        .map(|y| self.transpose_lhs(ct, y, &operands[0])),
                    operands[0]
                        .known()
                        .map(|x| self.transpose_rhs(ct, x, &operands[1])),
                ]
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], size: usize) -> Batched {
        let n = &self.dimension_numbers;
        let after =
            |d: &Dims, ax: usize| -> Dims { d.iter().map(|&d| d + usize::from(d >= ax)).collect() };
        let bind = |numbers: DotDimensionNumbers, l: &Array, r: &Array| {
            let product = DotGeneral {
                dimension_numbers: numbers,
                ..self.clone()
            };
            bind1(product, &[l, r])
        };
        match (axes[0], axes[1]) {
            (Some(l), Some(r)) => {
                let mut lhs_batch = after(&n.lhs_batch, l);
                let mut rhs_batch = after(&n.rhs_batch, r);
                lhs_batch.insert(0, l);
                rhs_batch.insert(0, r);
                let numbers = DotDimensionNumbers {
                    lhs_contracting: after(&n.lhs_contracting, l),
                    rhs_contracting: after(&n.rhs_contracting, r),
                    lhs_batch,
                    rhs_batch,
                };
                batched(bind(numbers, &args[0], &args[1]), Some(0))
            }
            (Some(l), None) => {
                // The batch axis is one more free axis of the left operand.
                let numbers = DotDimensionNumbers {
                    lhs_contracting: after(&n.lhs_contracting, l),
                    lhs_batch: after(&n.lhs_batch, l),
                    ..n.clone()
                };
                let rank = args[0].ndim();
                let place = free(rank, &numbers.lhs_contracting, &numbers.lhs_batch)
                    .iter()
                    .position(|&d| d == l)
                    .expect("the batch axis is free");
                let at = n.lhs_batch.len() + place;
                batched(bind(numbers, &args[0], &args[1]), Some(at))
            }
            (None, Some(r)) => {
                let numbers = DotDimensionNumbers {
                    rhs_contracting: after(&n.rhs_contracting, r),
                    rhs_batch: after(&n.rhs_batch, r),
                    ..n.clone()
                };
                let place = free(args[1].ndim(), &numbers.rhs_contracting, &numbers.rhs_batch)
                    .iter()
                    .position(|&d| d == r)
                    .expect("the batch axis is free");
                let lhs_free = args[0].ndim() - n.lhs_contracting.len() - n.lhs_batch.len();
                let at = n.lhs_batch.len() + lhs_free + place;
                batched(bind(numbers, &args[0], &args[1]), Some(at))
            }
            (None, None) => {
                let moved = move_batch_axis(&args[0], None, 0, size);
                self.batch(&[moved, args[1].clone()], &[Some(0), None], size)
            }
        }
    }
    fn lower(
        &self,
        ctx: &mut Lowering<'_>,
        args: &[Value],
        ins: &[Aval],
        outs: &[Aval],
    ) -> Vec<Value> {
        let n = &self.dimension_numbers;
        let (mut args, mut ins) = ([args[0], args[1]], [ins[0], ins[1]]);
        let mut numbers = n.clone();
        // Several leading axes of the left operand are one: a plain matrix
        // product is much faster on CPU than a product of higher rank.
        let rank = ins[0].ndim();
        let collapse =
            n.lhs_batch.is_empty() && rank > 2 && n.lhs_contracting.as_slice() == [rank - 1];
        if collapse {
            let shape = ins[0].shape();
            let rows: usize = shape[..rank - 1].iter().product();
            let flat = ins[0].with_shape(&[rows, shape[rank - 1]]);
            args[0] = ctx.op1("reshape", &[args[0]], &[ins[0]], flat, "");
            ins[0] = flat;
            numbers.lhs_contracting = Dims::from_slice(&[1]);
        }
        let out = Aval::new(&numbers.out_shape(ins[0], ins[1]), outs[0].dtype());
        let list = |d: &Dims| {
            let items: Vec<String> = d.iter().map(ToString::to_string).collect();
            format!("[{}]", items.join(", "))
        };
        let precision = self.precision.unwrap_or(Precision::Default).name();
        let attributes = format!(
            "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {}, \
             rhs_batching_dimensions = {}, lhs_contracting_dimensions = {}, \
             rhs_contracting_dimensions = {}>, precision_config = [#stablehlo<precision {precision}>, \
             #stablehlo<precision {precision}>]",
            list(&numbers.lhs_batch),
            list(&numbers.rhs_batch),
            list(&numbers.lhs_contracting),
            list(&numbers.rhs_contracting)
        );
        let product = ctx.op1("dot_general", &args, &ins, out, &attributes);
        if collapse {
            vec![ctx.op1("reshape", &[product], &[out], outs[0], "")]
        } else {
            vec![product]
        }
    }
}

impl DotGeneral {
    /// The cotangent of the left operand: the product of the result's with the
    /// right operand over the right operand's own axes.
    fn transpose_lhs(&self, ct: &Array, rhs: &Array, lhs: &Operand) -> Array {
        let n = &self.dimension_numbers;
        self.transpose(ct, rhs, lhs.aval(), n, false)
    }

    fn transpose_rhs(&self, ct: &Array, lhs: &Array, rhs: &Operand) -> Array {
        let n = &self.dimension_numbers;
        let swapped = DotDimensionNumbers {
            lhs_contracting: n.rhs_contracting.clone(),
            rhs_contracting: n.lhs_contracting.clone(),
            lhs_batch: n.rhs_batch.clone(),
            rhs_batch: n.lhs_batch.clone(),
        };
        self.transpose(ct, lhs, rhs.aval(), &swapped, true)
    }

    /// The cotangent of `x` in a product of `x` and `y`, given the axes with
    /// `x` as left operand; `swapped` tells that it stood on the right.
    fn transpose(
        &self,
        ct: &Array,
        y: &Array,
        x: Aval,
        n: &DotDimensionNumbers,
        swapped: bool,
    ) -> Array {
        let batch = n.lhs_batch.len();
        let x_kept = free(x.ndim(), &n.lhs_contracting, &n.lhs_batch);
        let y_kept = free(y.ndim(), &n.rhs_contracting, &n.rhs_batch);
        let ct_batch: Dims = (0..batch).collect();
        // In the result the operand that stood on the left comes first.
        let ct_y: Dims = if swapped {
            (batch..batch + y_kept.len()).collect()
        } else {
            (batch + x_kept.len()..ct.ndim()).collect()
        };
        let numbers = DotDimensionNumbers {
            lhs_contracting: ct_y,
            rhs_contracting: y_kept,
            lhs_batch: ct_batch,
            rhs_batch: n.rhs_batch.clone(),
        };
        let product = DotGeneral {
            dimension_numbers: numbers,
            precision: self.precision,
            preferred_element_type: self.preferred_element_type,
        };
        let y = if y.dtype() == ct.dtype() {
            y.clone()
        } else {
            y.astype(ct.dtype())
        };
        let grad = bind1(product, &[ct, &y]);
        // The axes come as batch, x's own, then x's summed ones in the order of
        // y's; put each where x has it.
        let mut y_order: Vec<usize> = (0..n.rhs_contracting.len()).collect();
        y_order.sort_by_key(|&i| n.rhs_contracting[i]);
        let summed = y_order.iter().map(|&i| n.lhs_contracting[i]);
        let places: Vec<usize> = n
            .lhs_batch
            .iter()
            .copied()
            .chain(x_kept.iter().copied())
            .chain(summed)
            .collect();
        let mut permutation = vec![0isize; places.len()];
        for (from, &to) in places.iter().enumerate() {
            permutation[to] = from as isize;
        }
        grad.transpose(&permutation).astype(x.dtype())
    }
}

impl Array {
    /// The general product (`lax.dot_general`) of two arrays of one type.
    ///
    /// # Panics
    /// If types differ, or paired axes differ in size.
    #[track_caller]
    pub fn dot_general(&self, rhs: &Array, dimension_numbers: DotDimensionNumbers) -> Array {
        let product = DotGeneral {
            dimension_numbers,
            precision: None,
            preferred_element_type: Some(self.dtype()),
        };
        bind1(product, &[self, rhs])
    }

    /// The matrix product, as NumPy's `matmul`: vectors are rows on the left
    /// and columns on the right; leading axes are batches and broadcast
    /// together.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let x = Array::ones(&[4, 2, 3], DType::F32);
    /// let w = Array::ones(&[3, 5], DType::F32);
    /// assert_eq!(x.matmul(&w).shape(), [4, 2, 5]);
    /// ```
    ///
    /// # Panics
    /// If an operand is 0-d, the summed sizes differ, or batches do not
    /// broadcast.
    #[track_caller]
    pub fn matmul(&self, rhs: impl IntoArray) -> Array {
        let (a, b) = promote_types(self, &rhs.into_array());
        assert!(
            a.ndim() > 0 && b.ndim() > 0,
            "matmul: operands must have at least one axis\n  lhs {}\n  rhs {}\n  help: multiply by a \
             scalar with `*`",
            a.describe(),
            b.describe()
        );
        let summed_b = b.ndim().saturating_sub(2);
        if a.ndim() <= 2 || b.ndim() <= 2 {
            // At most one operand has batch axes: they are free axes of it.
            let numbers = DotDimensionNumbers {
                lhs_contracting: Dims::from_slice(&[a.ndim() - 1]),
                rhs_contracting: Dims::from_slice(&[summed_b]),
                ..Default::default()
            };
            let product = a.dot_general(&b, numbers);
            if b.ndim() <= 2 || a.ndim() == 1 {
                return product;
            }
            // [m, batch…, n] → [batch…, m, n]
            return product.move_axis(0, -2);
        }
        let (ra, rb) = (a.ndim(), b.ndim());
        let (lead_a, lead_b) = (&a.shape()[..ra - 2], &b.shape()[..rb - 2]);
        let Some(lead) = crate::broadcast_shapes(&[lead_a, lead_b]) else {
            crate::trace::fail(
                &ShapeError::new("batch axes do not broadcast together")
                    .help("all axes but the last two are batches; they must agree or be 1")
                    .render(
                        "matmul",
                        &[
                            format!("lhs {}", a.describe()),
                            format!("rhs {}", b.describe()),
                        ],
                    ),
            );
        };
        let full = |x: &Array| {
            let mut shape = lead.clone();
            shape.extend_from_slice(&x.shape()[x.ndim() - 2..]);
            x.broadcast_to(&shape)
        };
        let (a, b) = (full(&a), full(&b));
        let batch: Dims = (0..lead.len()).collect();
        a.dot_general(
            &b,
            DotDimensionNumbers {
                lhs_contracting: Dims::from_slice(&[lead.len() + 1]),
                rhs_contracting: Dims::from_slice(&[lead.len()]),
                lhs_batch: batch.clone(),
                rhs_batch: batch,
            },
        )
    }

    /// NumPy's `dot`: the sum of products over the last axis of `self` and the
    /// second to last of `rhs` (its only one for a vector); a scalar operand
    /// multiplies.
    ///
    /// # Panics
    /// If the summed sizes differ.
    #[track_caller]
    pub fn dot(&self, rhs: impl IntoArray) -> Array {
        let (a, b) = promote_types(self, &rhs.into_array());
        if a.ndim() == 0 || b.ndim() == 0 {
            return a.mul(&b);
        }
        let numbers = DotDimensionNumbers {
            lhs_contracting: Dims::from_slice(&[a.ndim() - 1]),
            rhs_contracting: Dims::from_slice(&[b.ndim().saturating_sub(2)]),
            ..Default::default()
        };
        a.dot_general(&b, numbers)
    }
}

/// Both operands in one element type, shapes as they are.
fn promote_types(a: &Array, b: &Array) -> (Array, Array) {
    let (x, y) = (a.aval(), b.aval());
    let (dtype, _) = DType::promote((x.dtype(), x.weak_type()), (y.dtype(), y.weak_type()));
    (a.astype(dtype), b.astype(dtype))
}
