//! Checks of cases: known results and derivatives, derivatives of first and
//! second order against differences, reverse mode against forward mode, and
//! batches against loops.

use super::apply::Operation;
use super::case::{Case, Faulty};
use super::golden::Derivative;
use super::numbers::{close, to_f64, tolerance};
use super::panics::caught;
use super::plan::{Batches, Plan, Ran, STEP, present, run};
use ramie_core::{Array, where_};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of cases in one compiled program.
pub(crate) const GROUP: usize = 24;

/// What went wrong, collected so that one run shows all of it.
#[derive(Default)]
pub struct Failures {
    text: String,
    count: usize,
}

impl Failures {
    /// Adds a failure.
    pub fn note(&mut self, label: &str, message: impl std::fmt::Display) {
        self.count += 1;
        let _ = writeln!(self.text, "{label}: {message}");
    }

    /// Panics with the failures, if there are any.
    #[track_caller]
    pub fn finish(self) {
        assert!(self.count == 0, "{} failures\n{}", self.count, self.text);
    }
}

/// Checks the cases, with one thread per core.
pub fn cases(cases: &[Case], failures: &mut Failures) {
    let groups: Vec<&[Case]> = cases.chunks(GROUP).collect();
    let found = on_all_cores(&groups, |group| together(group));
    for (group, notes) in groups.into_iter().zip(found) {
        for (case, note) in group.iter().zip(notes) {
            if !note.is_empty() {
                failures.note(&case.label, note);
            }
        }
    }
}

/// Calls `f` with each item, with one thread per core, because each compilation takes a core.
/// Returns the results in the order of the items.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, R)>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { return };
                    let result = f(item);
                    found.lock().expect("no panics").push((i, result));
                }
            });
        }
    });
    let mut found = found.into_inner().expect("no panics");
    found.sort_by_key(|(i, _)| *i);
    found.into_iter().map(|(_, result)| result).collect()
}

/// Checks the results of the first case of each operation when it is applied at
/// once, outside of any program.
pub fn eagerly(cases: &[Case], failures: &mut Failures) {
    let mut seen = BTreeSet::new();
    let mut first = |case: &&Case| case.outputs.is_some() && seen.insert(case.op.clone());
    let cases: Vec<&Case> = cases.iter().filter(|case| first(case)).collect();
    let checked = on_all_cores(&cases, |case| {
        // Each operation rounds on its own here, to the operands' type.
        let operands = case.inputs.iter().map(|x| tolerance(x.dtype()));
        let coarsest = operands.fold(0.0, f64::max);
        checked(|| {
            let got = (case.apply)(&case.inputs);
            let known = case.outputs.as_ref().expect("it has known results");
            values_within(&got, known, case, coarsest)
        })
    });
    for (case, checked) in cases.into_iter().zip(checked) {
        if let Err(message) = checked {
            failures.note(&case.label, format!("at once: {message}"));
        }
    }
}

/// Per case what is wrong with it, or nothing, of the cases in one program.
fn together(group: &[Case]) -> Vec<String> {
    let checked = checked(|| {
        let plans: Vec<Plan<'_>> = group.iter().map(plan_of).collect();
        let ran = run(&plans);
        let all = group.iter().zip(&plans).zip(&ran);
        Ok(all
            .map(|((case, plan), ran)| case_of(case, plan, ran).err().unwrap_or_default())
            .collect())
    });
    match checked {
        Ok(notes) => notes,
        // One case took the others with it: each alone tells which.
        Err(_) if group.len() > 1 => group.chunks(1).flat_map(together).collect(),
        Err(message) => vec![message],
    }
}

/// The result of `f`, or the message of its panic.
fn checked<R>(f: impl FnOnce() -> Result<R, String>) -> Result<R, String> {
    caught(f).unwrap_or_else(|message| Err(format!("panicked: {message}")))
}

fn plan_of(case: &Case) -> Plan<'_> {
    Plan::new(
        &*case.apply,
        &case.inputs,
        case.derivative.as_ref(),
        case.smooth,
        case.batches,
    )
}

fn case_of(case: &Case, plan: &Plan<'_>, ran: &Ran) -> Result<(), String> {
    if let Some(outputs) = &case.outputs {
        values(plan.values(ran), outputs, case)?;
    }
    if let Some(d) = &case.derivative {
        derivatives(plan, ran, d, case.faulty)?;
    }
    if case.smooth {
        differences(plan, ran)?;
    }
    batches(plan, ran)
}

/// Compares derivatives of first and second order at `f64` inputs with differences, and reverse mode
/// with forward mode.
///
/// # Panics
/// If they differ.
#[track_caller]
pub fn gradients(label: &str, f: &Operation, inputs: &[Array]) {
    let plan = Plan::new(f, inputs, None, true, Batches::None);
    let ran = run(std::slice::from_ref(&plan));
    if let Err(message) = differences(&plan, &ran[0]) {
        panic!("{label}: {message}");
    }
}

/// Compares the operation over a batch with a loop over the examples.
///
/// # Errors
/// Returns an error if the results differ.
pub fn batching(inputs: &[Array], f: &Operation) -> Result<(), String> {
    let plan = Plan::new(f, inputs, None, false, Batches::Plain);
    let ran = run(std::slice::from_ref(&plan));
    batches(&plan, &ran[0])
}

/// The results are the known ones.
fn values(got: &[Array], known: &[Array], case: &Case) -> Result<(), String> {
    values_within(got, known, case, 0.0)
}

/// The results are the known ones, within `least` at any rate.
fn values_within(got: &[Array], known: &[Array], case: &Case, least: f64) -> Result<(), String> {
    if got.len() != known.len() {
        return Err(format!("{} results, expected {}", got.len(), known.len()));
    }
    for (i, (got, want)) in got.iter().zip(known).enumerate() {
        let t = tolerance(want.dtype()).max(least);
        let want = &trusted(got, want, case.faulty == Faulty::Results);
        close(got, want, t, t * largest(want), case.signs)
            .map_err(|e| format!("result {i} {e}"))?;
    }
    Ok(())
}

/// The recorded array, with ours for NaNs that are faults.
fn trusted(got: &Array, want: &Array, faulty: bool) -> Array {
    if faulty && got.shape() == want.shape() {
        where_(want.is_nan(), got, want)
    } else {
        want.clone()
    }
}

/// Where results cancel, rounding is relative to their operands: a part of the
/// largest finite element.
fn smallest(want: &Array) -> f64 {
    tolerance(want.dtype()) * largest(want)
}

fn largest(want: &Array) -> f64 {
    to_f64(want)
        .into_iter()
        .filter(|v| v.is_finite() && v.abs() < 1e3)
        .fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// The derivatives are the known ones.
fn derivatives(
    plan: &Plan<'_>,
    ran: &Ran,
    known: &Derivative,
    faulty: Faulty,
) -> Result<(), String> {
    let compare = |what: &str, got: &[Array], want: &[Option<Array>]| {
        for (i, (got, want)) in got.iter().zip(present(want).1).enumerate() {
            let t = 8.0 * tolerance(want.dtype());
            let want = trusted(got, &want, faulty == Faulty::Derivatives);
            close(got, &want, t, 8.0 * smallest(&want), false)
                .map_err(|e| format!("{what} {i} {e}"))?;
        }
        Ok::<(), String>(())
    };
    compare("jvp", plan.jvp(ran), &known.jvp)?;
    compare("vjp", plan.vjp(ran), &known.vjp)
}

/// Forward derivatives are central differences, and reverse derivatives agree
/// with them; both also of the derivatives themselves.
fn differences(plan: &Plan<'_>, ran: &Ran) -> Result<(), String> {
    let d = plan.directions.as_ref().expect("directions");
    slopes("jvp", plan.jvp(ran), plan.beside(ran))?;
    slopes("jvp of vjp", plan.second_jvp(ran), plan.vjp_beside(ran))?;
    adjoint(
        "vjp",
        (&d.cotangents, plan.jvp(ran)),
        (plan.vjp(ran), &d.tangents),
    )?;
    let directions = [&d.tangents[..], &d.moves].concat();
    adjoint(
        "vjp of vjp",
        (&d.pulls, plan.second_jvp(ran)),
        (plan.second_vjp(ran), &directions),
    )
}

/// Tangents are the slopes between two points.
fn slopes(what: &str, dots: &[Array], [up, down]: [Vec<&Array>; 2]) -> Result<(), String> {
    for (i, ((up, down), dot)) in up.into_iter().zip(down).zip(dots).enumerate() {
        let (up, down) = (to_f64(up), to_f64(down));
        let largest = up.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
        let pairs = up.iter().zip(&down);
        // What is not finite has no slope; its tangent is as it is.
        let slopes = pairs.zip(to_f64(dot)).map(|((u, d), dot)| {
            let slope = (u - d) / (2.0 * STEP);
            if slope.is_finite() { slope } else { dot }
        });
        let slopes: Vec<f64> = slopes.collect();
        let slopes = Array::from_slice(&slopes, dot.shape());
        close(dot, &slopes, 1e-6, 1e-7 * largest, false)
            .map_err(|e| format!("{what} {i} {e} by differences"))?;
    }
    Ok(())
}

/// Two inner products that a linear map and its transpose make equal.
fn adjoint(
    what: &str,
    forward: (&[Array], &[Array]),
    reverse: (&[Array], &[Array]),
) -> Result<(), String> {
    let inner = |(a, b): (&[Array], &[Array])| -> (f64, f64) {
        let pairs = a.iter().zip(b);
        let products = pairs.flat_map(|(a, b)| to_f64(a).into_iter().zip(to_f64(b)));
        products.fold((0.0, 1.0), |(sum, size), (a, b)| {
            (sum + a * b, size + (a * b).abs())
        })
    };
    let ((forward, size), (reverse, _)) = (inner(forward), inner(reverse));
    if (forward - reverse).abs() <= 1e-9 * size {
        return Ok(());
    }
    Err(format!(
        "{what} gives {reverse} where forward mode gives {forward}"
    ))
}

/// Requests that the first batched case of each operation and dtype also runs inside control flow.
pub fn nest_first(cases: &mut [Case]) {
    let mut seen = BTreeSet::new();
    for case in cases {
        let dtype = case.inputs.first().map(|x| x.dtype().name());
        if case.batches == Batches::Plain && seen.insert((case.op.clone(), dtype)) {
            case.batches = Batches::Nested;
        }
    }
}

/// Batches give what loops give.
fn batches(plan: &Plan<'_>, ran: &Ran) -> Result<(), String> {
    for (variant, got, looped) in plan.batches(ran) {
        for (i, (got, want)) in got.iter().zip(&looped).enumerate() {
            let t = tolerance(want.dtype());
            close(got, want, t, smallest(want), false)
                .map_err(|e| format!("vmap with {variant:?}: result {i} {e}"))?;
        }
    }
    Ok(())
}
