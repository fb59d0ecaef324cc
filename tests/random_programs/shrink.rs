//! Making a failing case smaller.

use super::program::{Op, Program};
use super::{Case, Outcome};

/// The smallest case found that fails, and what is wrong with it.
pub fn smallest(mut case: Case) -> (Case, String) {
    let mut why = match case.check() {
        Outcome::Wrong(why) => why,
        _ => "it does not fail again".into(),
    };
    // Every attempt compiles a program.
    let mut attempts = 150;
    while let Some((smaller, reason)) = candidates(&case).into_iter().find_map(|c| {
        if attempts == 0 {
            return None;
        }
        attempts -= 1;
        match c.check() {
            Outcome::Wrong(reason) => Some((c, reason)),
            _ => None,
        }
    }) {
        (case, why) = (smaller, reason);
    }
    (case, why)
}

/// Cases that are smaller by one step, the boldest first.
fn candidates(case: &Case) -> Vec<Case> {
    let mut out = Vec::new();
    // One transformation less.
    for i in (0..case.stack.len()).rev() {
        let mut stack = case.stack.clone();
        stack.remove(i);
        // Axes of a batch may not fit any more.
        let case = Case {
            stack,
            ..case.clone()
        };
        if super::quietly(|| super::stack::signature(&case.program, &case.stack)).is_ok() {
            out.push(case);
        }
    }
    // An earlier result, of the same type if there are transformations.
    let program = &case.program;
    for output in 0..program.output {
        let (ty, old) = (program.type_of(output), program.result());
        if ty == old || ty.is_float() && case.stack.is_empty() {
            out.push(with(case, |p| p.output = output));
        }
    }
    // A constant in the place of an operation.
    for (i, (op, _)) in program.ops.iter().enumerate().rev() {
        if !matches!(op, Op::Constant) && program.is_live(program.inputs.len() + i) {
            out.push(with(case, |p| p.ops[i].0 = Op::Constant));
        }
    }
    out
}

fn with(case: &Case, change: impl FnOnce(&mut Program)) -> Case {
    let mut case = case.clone();
    change(&mut case.program);
    case
}
