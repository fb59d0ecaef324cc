//! A case: one application of one operation, and what is known of it.

use super::apply::Operation;
use super::golden::{Derivative, Row};
use super::is_linked;
use super::numbers::to_f64;
use super::plan::Batches;
use ramie_core::{Array, DType, where_};

/// One application of an operation. What is known of its results is checked;
/// see [`super::check`].
pub struct Case {
    /// The operation's name.
    pub op: String,
    /// What is applied to what, for messages.
    pub label: String,
    /// The operation.
    pub apply: Box<Operation>,
    /// Operands.
    pub inputs: Vec<Array>,
    /// Results, where they are known.
    pub outputs: Option<Vec<Array>>,
    /// Whether zeros among the results have the sign of the known ones.
    pub signs: bool,
    /// Known derivatives.
    pub derivative: Option<Derivative>,
    /// Where a recorded NaN is one of JAX's faults and not compared.
    pub faulty: Faulty,
    /// Whether derivatives of first and second order exist at the operands,
    /// which are then compared with differences. The floats among them are
    /// `f64`.
    pub smooth: bool,
    /// Which batches are compared with loops.
    pub batches: Batches,
}

/// Where a recorded NaN is one of JAX's faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faulty {
    /// Nowhere.
    Nothing,
    /// Among the derivatives.
    Derivatives,
    /// Among the results.
    Results,
}

impl Case {
    /// Makes a case without known results: only its batches are compared with loops.
    pub fn new(op: &str, detail: &str, inputs: Vec<Array>, apply: Box<Operation>) -> Case {
        Case {
            op: op.to_string(),
            label: format!("{op}/{detail}"),
            batches: if inputs.is_empty() {
                Batches::None
            } else {
                Batches::Plain
            },
            apply,
            inputs,
            outputs: None,
            signs: false,
            derivative: None,
            faulty: Faulty::Nothing,
            smooth: false,
        }
    }

    /// Makes the case of a recorded row.
    pub fn recorded(row: Row, apply: Box<Operation>) -> Case {
        let everywhere = row.case != "special";
        // Elsewhere, as at ties, there may be one-sided derivatives only.
        let inside = matches!(row.case.as_str(), "regular" | "scalar" | "empty");
        // The rules do not look at the type: one of each kind is enough.
        let kinds = matches!(row.dtype, DType::F32 | DType::I32 | DType::Bool);
        let mut floats = row.inputs.iter().chain(&row.outputs);
        let wide = floats.all(|x| !x.dtype().is_float() || x.dtype() == DType::F64);
        let mut case = Case {
            smooth: row.derivative.is_some() && wide && inside,
            batches: if everywhere && kinds && !row.inputs.is_empty() {
                Batches::Plain
            } else {
                Batches::None
            },
            signs: !everywhere,
            op: row.op,
            label: row.label,
            apply,
            inputs: row.inputs,
            outputs: Some(row.outputs),
            derivative: row.derivative,
            faulty: Faulty::Nothing,
        };
        correct(&mut case, &row.case, row.dtype);
        correct_linked(&mut case, &row.case, row.dtype);
        case
    }

    /// Adds the known results.
    pub fn gives(mut self, outputs: Vec<Array>) -> Case {
        self.outputs = Some(outputs);
        self
    }

    /// Declares that derivatives exist at the operands.
    pub fn smooth(mut self) -> Case {
        self.smooth = true;
        self
    }

    /// Returns the dtypes of the operands, or of the results if there are no operands.
    pub fn dtypes(&self) -> Vec<DType> {
        let known = self.outputs.iter().flatten();
        match self.inputs.as_slice() {
            [] => known.map(Array::dtype).collect(),
            inputs => inputs.iter().map(Array::dtype).collect(),
        }
    }
}

/// Replaces or removes what JAX computes wrongly, as listed in `docs/from-jax.md`.
fn correct(case: &mut Case, kind: &str, dtype: DType) {
    match (case.op.as_str(), kind) {
        // Accurate to f32 only: the series of `betaln` is evaluated at the complement of its
        // argument, and that of `log_ndtr` ends after four terms. Differences check the derivatives.
        ("betaln" | "log_ndtr", _) if dtype == DType::F64 => {
            (case.outputs, case.derivative) = (None, None);
        }
        // Minus infinity gives NaN instead of the limit.
        ("silu" | "gelu" | "gelu_exact" | "mish" | "hard_silu", "ends" | "special") => {
            let outputs = case.outputs.as_mut().expect("results are recorded");
            outputs[0] = where_(case.inputs[0].eq(f64::NEG_INFINITY), -0.0, &outputs[0]);
            case.faulty = Faulty::Derivatives;
        }
        // Next to infinity, the derivatives are wrong numbers.
        ("logaddexp_of_two" | "logaddexp2_of_two", "ends") | ("logaddexp", "edge") => {
            case.derivative = None;
        }
        // The derivative of x⁰ at 0 and that of `log(0)`, a sum of nothing, are NaN.
        ("power_of_two" | "logaddexp_of_two" | "logaddexp2_of_two", _)
        | ("logsumexp", "empty")
        | ("logsumexp" | "pow", "edge") => case.faulty = Faulty::Derivatives,
        // An infinite neighbor without weight makes the result NaN.
        ("quantile_linear" | "nanquantile_linear", "special") => case.faulty = Faulty::Results,
        _ => {}
    }
}

/// Replaces or removes what XLA's plugin computes otherwise than the linked CPU backend.
fn correct_linked(case: &mut Case, kind: &str, dtype: DType) {
    match (case.op.as_str(), kind) {
        // XLA takes subnormal numbers for zero.
        (_, "ends") | ("regularized_incomplete_beta", "special") if is_linked() => {
            leave_subnormal_operands_out(case);
        }
        // XLA does not round the scaled operands to `bf16`.
        ("scaled_dot", "regular") if dtype == DType::BF16 && is_linked() => case.outputs = None,
        // Vectors times themselves: XLA rounds one of two equal products, so that rounding errors remain.
        ("cross_axis", "regular") if equal(&case.inputs[0], &case.inputs[1]) && is_linked() => {
            let outputs = case.outputs.iter_mut().flatten();
            outputs.for_each(|x| *x = Array::zeros_like(x));
        }
        // A NaN of the kernel times the zeros around the operand. XLA leaves those products out of
        // convolutions that are small.
        ("poly", "special") if is_linked() => {
            let nan = case.inputs[0].is_nan().any();
            let outputs = case.outputs.iter_mut().flatten();
            outputs.for_each(|x| *x = where_(&nan, f64::NAN, &*x));
        }
        _ => {}
    }
}

fn equal(a: &Array, b: &Array) -> bool {
    a.array_equal(b).item::<bool>()
}

/// Removes the elements whose operands are subnormal from all arrays, which have one shape.
fn leave_subnormal_operands_out(case: &mut Case) {
    let smallest = f64::from(f32::MIN_POSITIVE);
    let mut kept = Vec::new();
    let operands: Vec<Vec<f64>> = case.inputs.iter().map(to_f64).collect();
    for i in 0..case.inputs[0].size() {
        let subnormal = |x: &Vec<f64>| x[i] != 0.0 && x[i].abs() < smallest;
        if !operands.iter().any(subnormal) {
            kept.push(i as i32);
        }
    }
    let kept = Array::from(kept);
    let taken = |x: &mut Array| *x = x.ravel().take(&kept, 0);
    case.inputs.iter_mut().for_each(taken);
    case.outputs.iter_mut().flatten().for_each(taken);
    if let Some(d) = &mut case.derivative {
        for list in [&mut d.tangents, &mut d.jvp, &mut d.cotangents, &mut d.vjp] {
            list.iter_mut().flatten().for_each(taken);
        }
    }
}
