//! Cases of functions with derivatives or batches of their own, and of
//! rematerialization.

use ramie_core::extend::bind;
use ramie_core::prim::Primitive;
use ramie_core::prim::remat::{Name, OptimizationBarrier};
use ramie_core::typing::Mapped;
use ramie_core::{
    Array, CheckpointPolicy, DType, checkpoint, checkpoint_with, custom_jvp, custom_vjp,
    custom_vmap, vjp,
};
use ramie_testing::apply::Operation;
use ramie_testing::case::Case;
use ramie_testing::numbers::Draw;

/// All of them.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for d in DType::COMMON {
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
        cases.push(Case::new("custom_vjp_call", &label, vec![x.clone()], f).gives(known.clone()));
        let f = custom_vmap(pair, move |_: Mapped, x: Array| (pair(x), true));
        let f: Box<Operation> = Box::new(move |a| Vec::from(<[Array; 2]>::from(f(a[0].clone()))));
        cases.push(Case::new("custom_vmap_call", &label, vec![x.clone()], f).gives(known.clone()));
        let f = checkpoint(pair);
        let f: Box<Operation> = Box::new(move |a| Vec::from(<[Array; 2]>::from(f(a[0].clone()))));
        cases.push(Case::new("remat2", &label, vec![x.clone()], f).gives(known.clone()));
        cases.push(applied(OptimizationBarrier, &label, &known).gives(known.clone()));
        let inputs = std::slice::from_ref(&x);
        cases.push(applied(named(), &label, inputs).gives(vec![x.clone()]));
    }
    let mut draw = Draw::new(31);
    for shape in [&[2, 3][..], &[], &[0]] {
        let inputs: Vec<Array> = (0..2)
            .map(|_| draw.array(shape, DType::F64, 0.5, 1.5))
            .collect();
        let label = format!("product {shape:?}");
        cases.extend(products(&inputs, &label));
        cases.push(batched(&inputs, &label));
        cases.extend(recomputed(&inputs, &label));
        cases.push(applied(OptimizationBarrier, &label, &inputs).smooth());
        cases.push(applied(named(), &label, &inputs[..1]).smooth());
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

/// sin(x)·y, x with a rule that is its batch.
fn batched(inputs: &[Array], label: &str) -> Case {
    let f = |x: Array, y: Array| (x.sin() * y, x);
    let by_rule = custom_vmap(f, move |mapped: Mapped, (x, y): (Array, Array)| {
        let of_x = mapped.is_batched("0");
        let (all, y) = mapped.broadcast(&(x.clone(), y));
        ((all.sin() * y, x), [true, of_x])
    });
    let apply: Box<Operation> = Box::new(move |a| {
        let (p, q) = by_rule(a[0].clone(), a[1].clone());
        vec![p, q]
    });
    Case::new("custom_vmap_call", label, inputs.to_vec(), apply).smooth()
}

fn applied<P: Primitive + Clone>(primitive: P, label: &str, inputs: &[Array]) -> Case {
    let name = primitive.name();
    let apply: Box<Operation> = Box::new(move |a| {
        let refs: Vec<&Array> = a.iter().collect();
        bind(primitive.clone(), &refs).into_vec()
    });
    Case::new(name, label, inputs.to_vec(), apply)
}

fn named() -> Name {
    Name {
        name: "value".into(),
    }
}

/// Functions whose derivatives compute again what their policies do not keep.
fn recomputed(inputs: &[Array], label: &str) -> Vec<Case> {
    let f = |x: Array, y: Array| (x.sin() * &y.exp(), (x * y).tanh());
    let sines = CheckpointPolicy::new(|primitive, _| primitive.name() == "sin");
    let forms = [
        ("nothing", checkpoint(f)),
        ("sines", checkpoint_with(f, sines)),
        (
            "everything",
            checkpoint_with(f, CheckpointPolicy::everything_saveable()),
        ),
    ];
    let case = |(kept, f): (
        &str,
        Box<dyn Fn(Array, Array) -> (Array, Array) + Send + Sync>,
    )| {
        let apply: Box<Operation> = Box::new(move |a| {
            let (p, q) = f(a[0].clone(), a[1].clone());
            vec![p, q]
        });
        let label = format!("{label}, {kept} kept");
        Case::new("remat2", &label, inputs.to_vec(), apply).smooth()
    };
    forms.into_iter().map(case).collect()
}
