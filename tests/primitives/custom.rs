//! Cases of functions with derivatives of their own.

use crate::common::apply::Operation;
use crate::common::case::Case;
use crate::common::numbers::Draw;
use ramie_core::{Array, DType, custom_jvp, custom_vjp, vjp};

/// All of them.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for d in DType::ALL {
        let x = Array::from([1.0f64, 0.0, 3.0]).astype(d);
        let doubled = |x: Array| vec![x.clone(), x];
        let pair = move |x: Array| (x.clone(), x);
        let known = doubled(x.clone());
        let f = custom_jvp(pair, move |x: Array, dx: Array| (pair(x), pair(dx)));
        let f: Box<Operation> = Box::new(move |a| Vec::from(<[Array; 2]>::from(f(a[0].clone()))));
        let label = format!("copies {d}");
        cases.push(Case::new("custom_jvp_call", &label, vec![x.clone()], f).gives(known.clone()));
        let f = custom_vjp(
            pair,
            move |x: Array| (pair(x), ()),
            |(), (a, _): (Array, Array)| a,
        );
        let f: Box<Operation> = Box::new(move |a| Vec::from(<[Array; 2]>::from(f(a[0].clone()))));
        cases.push(Case::new("custom_vjp_call", &label, vec![x], f).gives(known));
    }
    let mut draw = Draw::new(31);
    for shape in [&[2, 3][..], &[], &[0]] {
        let inputs: Vec<Array> = (0..2)
            .map(|_| draw.array(shape, DType::F64, 0.5, 1.5))
            .collect();
        cases.extend(products(&inputs, &format!("product {shape:?}")));
    }
    cases
}

/// sin(x)·y, x with rules that are its derivatives.
fn products(inputs: &[Array], label: &str) -> Vec<Case> {
    type Pair = (Array, Array);
    let f = |x: Array, y: Array| (x.sin() * y, x);
    let by_jvp = custom_jvp(f, move |(x, y): Pair, (dx, dy): Pair| {
        let dot = x.cos() * &y * &dx + x.sin() * dy;
        (f(x, y), (dot, dx))
    });
    let by_vjp = custom_vjp(
        f,
        move |(x, y): Pair| (f(x.clone(), y.clone()), (x, y)),
        |(x, y): Pair, (a, b): Pair| (x.cos() * y * &a + b, x.sin() * a),
    );
    let apply: Box<Operation> = Box::new(move |a| {
        let (p, q) = by_jvp(a[0].clone(), a[1].clone());
        vec![p, q]
    });
    let in_both_modes = Case::new("custom_jvp_call", label, inputs.to_vec(), apply).smooth();
    // There is no forward mode: what the rules give are the results here, to be
    // batched, and differentiated in both modes.
    let apply: Box<Operation> = Box::new(move |a| {
        let (out, pull) = vjp(|(x, y): Pair| by_vjp(x, y), (a[0].clone(), a[1].clone()));
        let (dx, dy) = pull((a[1].cos(), a[0].square()));
        vec![out.0, out.1, dx, dy]
    });
    let gradients = Case::new(
        "custom_vjp_call",
        &format!("gradient of {label}"),
        inputs.to_vec(),
        apply,
    );
    let by_rule = custom_vjp(
        f,
        move |(x, y): Pair| (f(x.clone(), y.clone()), (x, y)),
        |(x, y): Pair, (a, b): Pair| (x.cos() * y * &a + b, x.sin() * a),
    );
    let apply: Box<Operation> = Box::new(move |a| {
        let (p, q) = by_rule(a[0].clone(), a[1].clone());
        vec![p, q]
    });
    let known = f(inputs[0].clone(), inputs[1].clone());
    let values = Case::new("custom_vjp_call", label, inputs.to_vec(), apply);
    vec![
        in_both_modes,
        gradients.smooth(),
        values.gives(vec![known.0, known.1]),
    ]
}
