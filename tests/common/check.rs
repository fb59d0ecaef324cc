//! Ways to check an operation: against recorded values and derivatives, by
//! finite differences, and batched against a loop.

use super::apply::Operation;
use super::from_bytes;
use super::golden::Row;
use super::numbers::{Draw, close, to_f64, tolerance};
use ramie_core::{Array, DType, jvp, vjp, vmap_axes};
use std::fmt::Write;

/// What went wrong, collected so that one run shows all of it.
#[derive(Default)]
pub struct Failures {
    text: String,
    count: usize,
}

impl Failures {
    /// Adds a failure.
    pub fn note(&mut self, label: &str, message: String) {
        self.count += 1;
        if self.count <= 40 {
            let _ = writeln!(self.text, "{label}: {message}");
        }
    }

    /// Panics with the failures, if there are any.
    #[track_caller]
    pub fn finish(self) {
        assert!(self.count == 0, "{} rows differ\n{}", self.count, self.text);
    }
}

/// The results are the recorded ones.
pub fn values(row: &Row, f: &Operation) -> Result<(), String> {
    let outputs = f(&row.inputs);
    if outputs.len() != row.outputs.len() {
        return Err(format!(
            "{} results, expected {}",
            outputs.len(),
            row.outputs.len()
        ));
    }
    for (i, (got, want)) in outputs.iter().zip(&row.outputs).enumerate() {
        let t = tolerance(want.dtype());
        close(got, want, t, smallest(want), row.case == "special")
            .map_err(|e| format!("result {i} {e}"))?;
    }
    Ok(())
}

/// Where results cancel, rounding is relative to their operands: a part of the
/// largest finite element.
fn smallest(want: &Array) -> f64 {
    let largest = to_f64(want)
        .into_iter()
        .filter(|v| v.is_finite() && v.abs() < 1e3)
        .fold(0.0, |m: f64, v| m.max(v.abs()));
    tolerance(want.dtype()) * largest
}

/// `f` as a function of some of its operands, giving some of its results.
fn restricted<'a>(
    f: &'a Operation,
    inputs: &'a [Array],
    which: &'a [usize],
    into: &'a [usize],
) -> impl Fn(Vec<Array>) -> Vec<Array> + Send + Sync + 'a {
    move |xs| {
        let mut all = inputs.to_vec();
        for (&i, x) in which.iter().zip(xs) {
            all[i] = x;
        }
        let outs = f(&all);
        into.iter().map(|&i| outs[i].clone()).collect()
    }
}

fn present(list: &[Option<Array>]) -> (Vec<usize>, Vec<Array>) {
    list.iter()
        .enumerate()
        .filter_map(|(i, a)| Some((i, a.clone()?)))
        .unzip()
}

/// The derivatives are the recorded ones, if any are.
pub fn derivatives(row: &Row, f: &Operation) -> Result<(), String> {
    let Some(d) = &row.derivative else {
        return Ok(());
    };
    let (which, tangents) = present(&d.tangents);
    let (into, cotangents) = present(&d.cotangents);
    let primals: Vec<Array> = which.iter().map(|&i| row.inputs[i].clone()).collect();
    let g = restricted(f, &row.inputs, &which, &into);
    let compare = |what: &str, got: &[Array], want: &[Option<Array>]| {
        for (i, (got, want)) in got.iter().zip(present(want).1).enumerate() {
            let t = 8.0 * tolerance(want.dtype());
            close(got, &want, t, 8.0 * smallest(&want), false)
                .map_err(|e| format!("{what} {i} {e}"))?;
        }
        Ok::<(), String>(())
    };
    let (_, dots) = jvp(&g, primals.clone(), tangents);
    compare("jvp", &dots, &d.jvp)?;
    let (_, pull) = vjp(&g, primals);
    compare("vjp", &pull(cotangents), &d.vjp)
}

/// The array with its elements moved on by `by` places, the last ones first.
fn rolled(x: &Array, by: usize) -> Array {
    let mut bytes = x.try_to_bytes().expect("elements");
    if !bytes.is_empty() {
        let width = x.dtype().size();
        let n = bytes.len();
        bytes.rotate_right((by * width) % n);
    }
    from_bytes(x.dtype(), x.shape(), &bytes)
}

/// Arrays of one shape as one array, along a new axis at `axis`.
pub fn stacked(arrays: &[Array], axis: usize) -> Array {
    let first = &arrays[0];
    let mut bytes = Vec::new();
    for a in arrays {
        bytes.extend(a.try_to_bytes().expect("elements"));
    }
    let mut shape = vec![arrays.len()];
    shape.extend_from_slice(first.shape());
    from_bytes(first.dtype(), &shape, &bytes).move_axis(0, axis as isize)
}

/// The operation over a batch gives what a loop over the examples gives: with
/// all operands batched, at the first and at the last axis, and with each alone.
pub fn batching(inputs: &[Array], f: &Operation) -> Result<(), String> {
    if inputs.is_empty() {
        return Ok(());
    }
    let all: Vec<usize> = (0..inputs.len()).collect();
    batching_of(inputs, f, &all, false)?;
    batching_of(inputs, f, &all, true)?;
    if inputs.len() > 1 {
        for i in all {
            batching_of(inputs, f, &[i], false)?;
        }
    }
    Ok(())
}

fn batching_of(inputs: &[Array], f: &Operation, which: &[usize], last: bool) -> Result<(), String> {
    const SIZE: usize = 3;
    let examples: Vec<Vec<Array>> = (0..SIZE)
        .map(|k| {
            let mut all = inputs.to_vec();
            for &i in which {
                all[i] = rolled(&all[i], k);
            }
            all
        })
        .collect();
    let batch: Vec<Array> = which
        .iter()
        .map(|&i| {
            let column: Vec<Array> = examples.iter().map(|e| e[i].clone()).collect();
            stacked(&column, if last { inputs[i].ndim() } else { 0 })
        })
        .collect();
    let single: Vec<Vec<Array>> = examples.iter().map(|e| f(e)).collect();
    let into: Vec<usize> = (0..single[0].len()).collect();
    let axis = if last { -1 } else { 0 };
    let g = restricted(f, inputs, which, &into);
    let together = vmap_axes(g, axis, 0)(batch);
    for (i, got) in together.iter().enumerate() {
        let column: Vec<Array> = single.iter().map(|e| e[i].clone()).collect();
        let want = stacked(&column, 0);
        let t = tolerance(want.dtype());
        close(got, &want, t, smallest(&want), false).map_err(|e| {
            let at = if last { "last" } else { "first" };
            format!("vmap over operands {which:?} at the {at} axis: result {i} {e}")
        })?;
    }
    Ok(())
}

/// Forward derivatives agree with central differences, and reverse derivatives
/// with forward ones, at `inputs` of `f64`; results that are no floats are left
/// out.
///
/// # Panics
/// If they do not.
#[track_caller]
pub fn gradients(label: &str, f: &Operation, inputs: &[Array]) {
    const STEP: f64 = 1e-6;
    let which: Vec<usize> = (0..inputs.len())
        .filter(|&i| inputs[i].dtype() == DType::F64)
        .collect();
    assert!(!which.is_empty(), "{label}: no operand holds f64");
    let outs = f(inputs);
    let into: Vec<usize> = (0..outs.len())
        .filter(|&i| outs[i].dtype().is_float())
        .collect();
    let g = restricted(f, inputs, &which, &into);
    let primals: Vec<Array> = which.iter().map(|&i| inputs[i].clone()).collect();
    let mut draw = Draw::new(7);
    let mut like = |xs: &[Array]| -> Vec<Array> {
        xs.iter()
            .map(|x| draw.array(x.shape(), x.dtype(), -1.0, 1.0))
            .collect()
    };
    let tangents = like(&primals);
    let (values, dots) = jvp(&g, primals.clone(), tangents.clone());
    let moved = |by: f64| -> Vec<Array> {
        let pairs = primals.iter().zip(&tangents);
        g(pairs.map(|(x, t)| x + &(t * by)).collect())
    };
    for (i, ((up, down), dot)) in moved(STEP).iter().zip(&moved(-STEP)).zip(&dots).enumerate() {
        let slope = &(up - down) / (2.0 * STEP);
        if let Err(e) = close(dot, &slope, 1e-6, 1e-7, false) {
            panic!("{label}: jvp {i} {e} by differences");
        }
    }
    let cotangents = like(&values);
    let (_, pull) = vjp(&g, primals);
    let back = pull(cotangents.clone());
    let inner = |a: &[Array], b: &[Array]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs
            .flat_map(|(a, b)| to_f64(a).into_iter().zip(to_f64(b)))
            .map(|(a, b)| a * b)
            .sum()
    };
    let (forward, reverse) = (inner(&cotangents, &dots), inner(&back, &tangents));
    assert!(
        (forward - reverse).abs() <= 1e-9 * (1.0 + forward.abs()),
        "{label}: reverse mode gives {reverse}, forward mode {forward}"
    );
}
