//! Einstein summation, implemented with `dot_general`, transposes and reductions.

use crate::base::location;
use crate::options::Contraction;
use crate::prim::dot::DotDimensionNumbers;
use crate::{Array, DType, PartitionSpec, ShapeError};
use std::borrow::Borrow;

/// Computes a sum of products of arrays whose axes are named by letters.
///
/// `"bij,bjk->bik"` multiplies two batches of matrices: axes with the same letter are aligned,
/// and letters that do not appear in the result are summed over. Without `->`, the result has the
/// letters that occur once, in alphabetical order. A letter repeated within an operand takes its
/// diagonal. `...` represents any number of leading axes, which broadcast together. An axis of size
/// 1 also broadcasts against an axis with the same letter of another operand. Spaces are ignored.
///
/// More than two operands are multiplied in pairs, starting with the pair whose product takes the
/// fewest multiplications.
///
/// ```no_run
/// use ramie_core::{Array, DType, einsum};
/// let (q, k) = (Array::ones(&[2, 5, 4, 8], DType::F32), Array::ones(&[2, 7, 4, 8], DType::F32));
/// assert_eq!(einsum("bqhd,bkhd->bhqk", &[&q, &k]).shape(), [2, 4, 5, 7]);
/// ```
///
/// # Panics
/// Panics if the letters do not fit the operands: if the number of operands or axes differs, if a
/// letter has different sizes (other than 1) or is repeated in one operand for axes of different
/// sizes, or if the result repeats a letter or has one that no operand has.
#[track_caller]
pub fn einsum<A: Borrow<Array>>(spec: &str, operands: &[A]) -> Array {
    einsum_with(spec, operands, Contraction::new())
}

/// Computes [`einsum`] with options for the precision, the dtype and the sharding of the result.
///
/// ```no_run
/// use ramie_core::numpy::einsum_with;
/// use ramie_core::sharding::{make_mesh_with, AxisType};
/// use ramie_core::{set_mesh, Array, DType, P};
/// let _current = set_mesh(make_mesh_with(&[4, 2], &["X", "Y"], AxisType::Explicit)?);
/// let x = Array::full_with(&[8, 2048], 0, DType::BF16, P!["X", "Y"]);
/// let w = Array::full_with(&[2048, 8192], 0, DType::BF16, P!["Y", None]);
/// let out = einsum_with("bd,df->bf", &[&x, &w], P!["X", None]);
/// assert_eq!(out.aval().to_string(), "bf16[8@X,8192]");
/// # Ok::<(), ramie_core::Error>(())
/// ```
///
/// # Panics
/// Panics in the same cases as [`einsum`], or if the sharding does not fit the mesh or the shape.
#[track_caller]
pub fn einsum_with<A: Borrow<Array>>(
    spec: &str,
    operands: &[A],
    how: impl Into<Contraction>,
) -> Array {
    let how = how.into();
    let arrays: Vec<&Array> = operands.iter().map(Borrow::borrow).collect();
    let out = plan("einsum", spec, &arrays).run(&arrays, &how);
    match how.preferred_element_type {
        // Covers sums of one operand and sums after the last product.
        Some(dtype) => out.astype(dtype),
        None => out,
    }
}

/// Returns the order in which [`einsum`] multiplies its operands (`jnp.einsum_path`): for each
/// product the indices of two operands in the current list, the smaller index first. Both are
/// removed from the list, and the product is appended. The elements are not used, so placeholder
/// arrays suffice.
///
/// ```
/// use ramie_core::numpy::einsum_path;
/// use ramie_core::{Array, DType};
/// let of = |shape: &[usize]| Array::shape_dtype_struct(shape, DType::F32);
/// let (a, b, x) = (of(&[50, 40]), of(&[40, 30]), of(&[30]));
/// // The product with a vector first.
/// assert_eq!(einsum_path("ij,jk,k->i", &[a, b, x]), [(1, 2), (0, 1)]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`einsum`].
#[track_caller]
pub fn einsum_path<A: Borrow<Array>>(spec: &str, operands: &[A]) -> Vec<(usize, usize)> {
    let arrays: Vec<&Array> = operands.iter().map(Borrow::borrow).collect();
    let types: Vec<crate::Aval> = arrays.iter().map(|a| a.aval().unplaced()).collect();
    let plan = plan("einsum_path", spec, &arrays);
    let mut path = Vec::new();
    // Tracing runs the same choices as `einsum` without computing a product.
    crate::program::trace::trace_to_jaxpr(&types, |arrays| {
        let refs: Vec<&Array> = arrays.iter().collect();
        vec![plan.run_along(&refs, &Contraction::new(), |pair| path.push(pair))]
    });
    path
}

#[track_caller]
fn plan(operation: &str, spec: &str, arrays: &[&Array]) -> Plan {
    match Plan::parse(spec, arrays) {
        Ok(plan) => plan,
        Err(e) => {
            let shown: Vec<String> = arrays
                .iter()
                .enumerate()
                .map(|(i, a)| format!("operand {i} {}", a.describe()))
                .collect();
            location::fail(&e.render(&format!("{operation}(\"{spec}\")"), &shown))
        }
    }
}

/// An axis: a letter, or an axis covered by `...`, counted from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Dots(std::cmp::Reverse<usize>),
    Letter(char),
}

struct Plan {
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
    sizes: Vec<(Label, usize)>,
}

/// An operand with a distinct label for each axis.
struct Term {
    array: Array,
    labels: Vec<Label>,
}

fn labels(text: &str, rank: Option<usize>, dots: usize) -> Result<Vec<Label>, ShapeError> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let letters = text.chars().filter(|c| *c != '.').count();
    let (before, after) = match text.split_once("...") {
        Some((b, a)) => (b, Some(a)),
        None => (text.as_str(), None),
    };
    // In an operand, `...` stands for the axes that no letter names; in the result, for as many as
    // in the operand that has most.
    let stands_for = match (after, rank) {
        (None, _) => 0,
        (Some(_), Some(rank)) => rank.saturating_sub(letters),
        (Some(_), None) => dots,
    };
    let mut out = Vec::new();
    let add = |part: &str, out: &mut Vec<Label>| -> Result<(), ShapeError> {
        for c in part.chars() {
            if !c.is_alphabetic() {
                return Err(
                    ShapeError::new(format!("`{c}` in `{text}` is not a letter"))
                        .help("write one letter per axis, as in \"ij,jk->ik\""),
                );
            }
            out.push(Label::Letter(c));
        }
        Ok(())
    };
    add(before, &mut out)?;
    out.extend(
        (0..stands_for)
            .rev()
            .map(|i| Label::Dots(std::cmp::Reverse(i))),
    );
    add(after.unwrap_or(""), &mut out)?;
    if let Some(rank) = rank
        && out.len() != rank
    {
        return Err(ShapeError::new(format!(
            "`{text}` names {} axes, but the operand has {rank}",
            out.len()
        ))
        .help("name every axis, or write `...` for the leading axes"));
    }
    Ok(out)
}

/// Returns the size of each axis name, in the order in which the operands name them. Axes of size 1
/// broadcast against axes of other operands.
fn sizes(inputs: &[Vec<Label>], arrays: &[&Array]) -> Result<Vec<(Label, usize)>, ShapeError> {
    let mut sizes: Vec<(Label, usize)> = Vec::new();
    for (names, array) in inputs.iter().zip(arrays) {
        for (d, (&name, &n)) in names.iter().zip(array.shape()).enumerate() {
            if let Some(twin) = names[..d].iter().position(|l| *l == name)
                && array.shape()[twin] != n
            {
                return Err(different_sizes(name, array.shape()[twin], n));
            }
            match sizes.iter_mut().find(|(l, _)| *l == name) {
                None => sizes.push((name, n)),
                // An axis of size 1 takes the size of the axis that it broadcasts against.
                Some((_, m)) if *m == 1 => *m = n,
                Some((_, m)) if *m == n || n == 1 => {}
                Some((_, m)) => return Err(different_sizes(name, *m, n)),
            }
        }
    }
    Ok(sizes)
}

fn different_sizes(name: Label, m: usize, n: usize) -> ShapeError {
    let axis = match name {
        Label::Letter(c) => format!("`{c}`"),
        Label::Dots(_) => "...".into(),
    };
    ShapeError::new(format!(
        "axes named {axis} have different sizes, {m} and {n}"
    ))
    .help("axes with the same letter are aligned; use different letters for different axes")
}

/// Checks that the result names axes of the operands, each at most once.
fn check_output(output: &[Label], sizes: &[(Label, usize)]) -> Result<(), ShapeError> {
    for (i, name) in output.iter().enumerate() {
        let shown = match name {
            Label::Letter(c) => c.to_string(),
            Label::Dots(_) => "...".into(),
        };
        let problem = if !sizes.iter().any(|(l, _)| l == name) {
            "names no axis of an operand"
        } else if output[..i].contains(name) {
            "occurs twice"
        } else {
            continue;
        };
        return Err(
            ShapeError::new(format!("`{shown}` of the result {problem}"))
                .help("use letters of the operands after `->`, each at most once"),
        );
    }
    Ok(())
}

impl Plan {
    fn parse(spec: &str, arrays: &[&Array]) -> Result<Plan, ShapeError> {
        let (left, right) = match spec.split_once("->") {
            Some((l, r)) => (l, Some(r)),
            None => (spec, None),
        };
        let parts: Vec<&str> = left.split(',').collect();
        if parts.len() != arrays.len() {
            let (named, given) = (parts.len(), arrays.len());
            return Err(ShapeError::new(format!(
                "the subscripts describe {named} operands, but {given} \
                 were passed"
            ))
            .help("describe every operand before `->`, separated by commas"));
        }
        let inputs = parts
            .iter()
            .zip(arrays)
            .map(|(part, a)| labels(part, Some(a.ndim()), 0))
            .collect::<Result<Vec<_>, _>>()?;
        let sizes = sizes(&inputs, arrays)?;
        let dots = sizes
            .iter()
            .filter(|(l, _)| matches!(l, Label::Dots(_)))
            .count();
        let output = match right {
            Some(text) => labels(text, None, dots)?,
            None => {
                let all: Vec<Label> = inputs.concat();
                let mut once: Vec<Label> = sizes.iter().map(|(l, _)| *l).collect();
                once.retain(|l| {
                    matches!(l, Label::Dots(_)) || all.iter().filter(|a| *a == l).count() == 1
                });
                // Labels of `...` sort before letters, and among them the first axis has the
                // largest count.
                once.sort_unstable();
                once
            }
        };
        check_output(&output, &sizes)?;
        Ok(Plan {
            inputs,
            output,
            sizes,
        })
    }

    fn size(&self, label: Label) -> usize {
        let found = self.sizes.iter().find(|(l, _)| *l == label);
        found.expect("every label has a size").1
    }

    #[track_caller]
    fn run(self, arrays: &[&Array], how: &Contraction) -> Array {
        self.run_along(arrays, how, |_| ())
    }

    /// Computes the result. Calls `visit` with the indices of the two terms of each product.
    #[track_caller]
    fn run_along(
        self,
        arrays: &[&Array],
        how: &Contraction,
        mut visit: impl FnMut((usize, usize)),
    ) -> Array {
        let types = arrays.iter().map(|a| (a.dtype(), a.aval().weak_type()));
        let (dtype, _) = types.reduce(DType::promote).expect("an operand");
        let mut terms: Vec<Term> = Vec::new();
        for (array, names) in arrays.iter().zip(&self.inputs) {
            terms.push(self.distinct(&array.astype(dtype), names));
        }
        loop {
            // Sum as early as possible: each axis less makes the following products smaller.
            for i in 0..terms.len() {
                self.sum_alone(&mut terms, i);
            }
            if terms.len() == 1 {
                break;
            }
            let (i, j) = self.next_pair(&terms);
            visit((i, j));
            // `j` is the larger index, so removing it first leaves `i` valid.
            let right = terms.remove(j);
            let left = terms.remove(i);
            let others: Vec<Label> = terms.iter().flat_map(|t| t.labels.clone()).collect();
            // The requested sharding is that of the result, the last product.
            let out = how.out_sharding.as_ref().filter(|_| terms.is_empty());
            let product = self.multiply(left, right, &others, how, out);
            terms.push(product);
        }
        let last = terms.pop().expect("one is left");
        let permutation: Vec<isize> = self
            .output
            .iter()
            .map(|l| last.labels.iter().position(|x| x == l))
            .map(|p| p.expect("the result's labels remain") as isize)
            .collect();
        let out = if permutation.is_sorted() {
            last.array
        } else {
            last.array.transpose(&permutation)
        };
        match &how.out_sharding {
            // A single operand, or an axis summed separately after the product.
            Some(spec) if out.aval().spec() != spec.filled(out.ndim()) => {
                crate::sharding::reshard(&out, spec.clone())
            }
            _ => out,
        }
    }

    /// Returns the operand with distinct labels: takes diagonals for repeated labels, and drops
    /// axes of size 1 that broadcast against an axis of another operand.
    #[track_caller]
    fn distinct(&self, array: &Array, names: &[Label]) -> Term {
        let mut array = array.clone();
        let mut labels = names.to_vec();
        while let Some((i, j)) = repeated(&labels) {
            let shape = array.shape();
            let (rows, columns) = (
                Array::iota(shape, i, DType::I32),
                Array::iota(shape, j, DType::I32),
            );
            // `iij`: keeps the elements with equal indices, of which each row has one, so the sum
            // is the diagonal.
            let masked = crate::where_(rows.eq(&columns), &array, array.zeros_like());
            array = masked.reduce_sum(&[j as isize]);
            labels.remove(j);
        }
        let thin: Vec<usize> = (0..labels.len())
            .filter(|&d| array.shape()[d] == 1 && self.size(labels[d]) != 1)
            .collect();
        if !thin.is_empty() {
            let axes: Vec<isize> = thin.iter().map(|&d| d as isize).collect();
            array = array.squeeze(&axes);
            // From the last, so that the positions before remain valid.
            for d in thin.into_iter().rev() {
                labels.remove(d);
            }
        }
        Term { array, labels }
    }

    /// Sums term `i` over the labels that neither another term nor the result has.
    #[track_caller]
    fn sum_alone(&self, terms: &mut [Term], i: usize) {
        let needed = |l: &Label| {
            self.output.contains(l)
                || terms
                    .iter()
                    .enumerate()
                    .any(|(k, t)| k != i && t.labels.contains(l))
        };
        let (kept, alone): (Vec<usize>, Vec<usize>) =
            (0..terms[i].labels.len()).partition(|&d| needed(&terms[i].labels[d]));
        if alone.is_empty() {
            return;
        }
        let axes: Vec<isize> = alone.iter().map(|&d| d as isize).collect();
        let labels = kept.iter().map(|&d| terms[i].labels[d]).collect();
        terms[i] = Term {
            array: terms[i]
                .array
                .sum_over(&axes)
                // A sum of booleans or narrow integers has a wider dtype.
                .astype(terms[i].array.dtype()),
            labels,
        };
    }

    /// Returns the pair whose product takes the fewest multiplications. Ties are broken by the
    /// smallest growth over the operands.
    fn next_pair(&self, terms: &[Term]) -> (usize, usize) {
        let volume =
            |labels: &[Label]| -> f64 { labels.iter().map(|&l| self.size(l) as f64).product() };
        let mut best = ((f64::INFINITY, f64::INFINITY), (0, 1));
        for i in 0..terms.len() {
            for j in i + 1..terms.len() {
                let (a, b) = (&terms[i].labels, &terms[j].labels);
                let mut out: Vec<Label> = a.clone();
                out.extend(b.iter().filter(|l| !a.contains(l)));
                // `out` has all labels of both terms here: one multiplication for each combination.
                let multiplications = volume(&out);
                out.retain(|l| {
                    self.output.contains(l)
                        || (0..terms.len()).any(|k| k != i && k != j && terms[k].labels.contains(l))
                });
                let growth = volume(&out) - volume(a) - volume(b);
                if (multiplications, growth) < best.0 {
                    best = ((multiplications, growth), (i, j));
                }
            }
        }
        best.1
    }

    /// Multiplies two terms. Labels of both become batch axes if the result or another term needs
    /// them; otherwise they are summed over.
    #[track_caller]
    fn multiply(
        &self,
        left: Term,
        right: Term,
        others: &[Label],
        how: &Contraction,
        out_sharding: Option<&PartitionSpec>,
    ) -> Term {
        // The spec of the product, before its labels are transposed.
        let spec = |labels: &[Label]| {
            let position = |l| self.output.iter().position(|o| o == l);
            let positions: Option<Vec<usize>> = labels.iter().map(position).collect();
            out_sharding
                .zip(positions)
                // `None` if the product still has labels that the result lacks.
                .map(|(s, positions)| s.gathered(&positions))
        };
        let needed = |l: &Label| self.output.contains(l) || others.contains(l);
        let shared = |l: &&Label| right.labels.contains(l);
        let (batch, summed): (Vec<Label>, Vec<Label>) =
            left.labels.iter().filter(shared).partition(|l| needed(l));
        let free = |t: &Term| -> Vec<Label> {
            let mut labels = t.labels.clone();
            labels.retain(|l| !batch.contains(l) && !summed.contains(l));
            labels
        };
        let (free_left, free_right) = (free(&left), free(&right));
        // With the operands swapped, the result may need no transpose.
        let exchanged = [&batch[..], &free_right, &free_left].concat();
        if exchanged == self.output && !free_left.is_empty() {
            let spec = spec(&exchanged);
            let how = &how.swapped();
            return product([&right, &left], [&batch, &summed], exchanged, how, spec);
        }
        let labels = [&batch[..], &free_left, &free_right].concat();
        let spec = spec(&labels);
        product([&left, &right], [&batch, &summed], labels, how, spec)
    }
}

#[track_caller]
fn product(
    [a, b]: [&Term; 2],
    [batch, summed]: [&[Label]; 2],
    labels: Vec<Label>,
    how: &Contraction,
    out_sharding: Option<PartitionSpec>,
) -> Term {
    let axes = |t: &Term, of: &[Label]| -> Vec<usize> {
        of.iter()
            .map(|l| t.labels.iter().position(|x| x == l).expect("shared"))
            .collect()
    };
    let numbers = DotDimensionNumbers::new(
        [&axes(a, summed), &axes(b, summed)],
        [&axes(a, batch), &axes(b, batch)],
    );
    // Intermediate products use the requested dtype.
    let dtype = how.preferred_element_type.unwrap_or(a.array.dtype());
    let (left, right) = if a.array.dtype() == b.array.dtype() {
        (a.array.clone(), b.array.clone())
    } else {
        (a.array.astype(dtype), b.array.astype(dtype))
    };
    let how = Contraction {
        preferred_element_type: Some(dtype),
        out_sharding,
        ..how.clone()
    };
    let array = left.dot_general_with(&right, numbers, how);
    Term { array, labels }
}

/// Returns the first two positions of a label that occurs twice.
fn repeated(labels: &[Label]) -> Option<(usize, usize)> {
    labels.iter().enumerate().find_map(|(i, l)| {
        let j = labels[i + 1..].iter().position(|x| x == l)?;
        Some((i, i + 1 + j))
    })
}
