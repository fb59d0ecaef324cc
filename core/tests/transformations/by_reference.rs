//! Arguments passed by reference, long argument lists, and the stages of jitted functions.

use ramie_core::options::JitOptions;
use ramie_core::*;

#[derive(ramie_derive::Tree)]
struct Affine {
    weights: Array,
    bias: Array,
    scale: f32,
}

fn affine(scale: f32) -> Affine {
    Affine {
        weights: Array::from([1.0f32, 2.0]),
        bias: Array::from(0.5f32),
        scale,
    }
}

fn apply(m: &Affine, x: &Array) -> Array {
    (x * &m.weights + &m.bias) * m.scale
}

#[test]
fn jit_takes_functions_and_closures_of_references() {
    let (m, x) = (affine(2.0), Array::from([1.0f32, 10.0]));
    let f = jit(apply);
    assert_eq!(f(&m, &x).to_vec::<f32>(), [3.0, 41.0]);
    assert_eq!(f(&m, &x).to_vec::<f32>(), [3.0, 41.0]);
    assert_eq!(f.compilations(), 1);
    f(&affine(3.0), &x);
    let why = f.last_retrace().expect("a reason");
    assert_eq!(why, "`args.0.scale` changed from 2.0 to 3.0");

    let first = jit(|m: &Affine, x: Array| apply(m, &x));
    assert_eq!(first(&m, x.clone()).to_vec::<f32>(), [3.0, 41.0]);
    let second = jit(|x: Array, m: &Affine| apply(m, &x));
    assert_eq!(second(x.clone(), &m).to_vec::<f32>(), [3.0, 41.0]);
    let draw = jit(|x: &Array, key: &random::Key| x + random::uniform(key, &[2], DType::F32));
    let key = random::key(3);
    let eager = &x + random::uniform(&key, &[2], DType::F32);
    assert_eq!(draw(&x, &key).to_vec::<f32>(), eager.to_vec::<f32>());
    let held = jit(|x: &Array| -x);
    assert_eq!(jit(held)(&x).to_vec::<f32>(), [-1.0, -10.0]);
}

#[test]
fn state_by_mut_comes_before_references() {
    let step = jit(|m: &mut Affine, x: &Array, rate: &Array| {
        m.bias = &m.bias - rate * x.sum();
        apply(m, x)
    });
    let (mut m, x, rate) = (
        affine(1.0),
        Array::from([1.0f32, 1.0]),
        Array::from(0.25f32),
    );
    for _ in 0..2 {
        step(&mut m, &x, &rate);
    }
    assert_eq!(m.bias.item::<f32>(), -0.5);
    assert_eq!(step.compilations(), 1);
    assert_eq!((x.to_vec::<f32>().len(), rate.item::<f32>()), (2, 0.25));
}

#[test]
fn references_are_not_donated() {
    let options = JitOptions {
        donate_argnums: vec![0],
        ..Default::default()
    };
    let f = jit_with(|x: &Array| x + 1.0, options);
    let x = Array::from([1.0f32, 2.0]) + 0.0;
    assert_eq!(f(&x).to_vec::<f32>(), [2.0, 3.0]);
    assert_eq!(x.to_vec::<f32>(), [1.0, 2.0]);
}

#[test]
fn transformations_keep_references() {
    let (m, x) = (affine(2.0), Array::from([[1.0f32, 10.0], [2.0, 20.0]]));
    let axes = [None, Some(0)];
    let rows = vmap_with(apply, axes);
    assert_eq!(rows(&m, &x).to_vec::<f32>(), [3.0, 41.0, 5.0, 81.0]);
    let compiled = jit(vmap_with(jit(apply), axes));
    assert_eq!(
        compiled(affine(2.0), x.clone()).to_vec::<f32>(),
        [3.0, 41.0, 5.0, 81.0]
    );
    let loss = |m: &Affine, x: &Array| apply(m, x).sum();
    let grads = grad(loss)(&m, &x);
    assert_eq!(grads.weights.to_vec::<f32>(), [6.0, 60.0]);
    assert_eq!(grads.bias.item::<f32>(), 8.0);
    let (value, grads) = jit(value_and_grad(loss))(&m, &x);
    assert_eq!(
        (value.item::<f32>(), grads.bias.item::<f32>()),
        (130.0, 8.0)
    );
    let total = vmap(|x: &Array, y: Array| x * y);
    assert_eq!(total(&x, x.clone()).shape(), [2, 2]);
    let checked = remat(|x: &Array| x.sin());
    assert_eq!(make_jaxpr(|x: &Array| checked(x))(&x).jaxpr.eqns.len(), 1);
}

#[test]
fn inner_calls_record_calls_or_equations() {
    let named = |inline| {
        let options = JitOptions {
            inline,
            ..Default::default()
        };
        let double = jit_with(|x: &Array| x * 2.0, options);
        make_jaxpr(move |x: Array| double(&x))(Array::from(1.0f32)).to_string()
    };
    assert_eq!(
        named(true),
        "{ lambda ; a:f32[]. let b:f32[] = mul a 2.0:f32[] in (b,) }"
    );
    assert!(named(false).contains("jit"), "{}", named(false));
}

#[test]
fn eight_arguments_are_the_limit() {
    type A = Array;
    let f = |a: &A, b: &A, c: A, d: A, e: A, f: A, g: A, h: A| a + b + c + d + e + f + g + h;
    let one = || Array::from(1.0f32);
    let (a, b) = (one(), one());
    let compiled = jit(f);
    let sum = compiled(&a, &b, one(), one(), one(), one(), one(), one());
    assert_eq!(sum.item::<f32>(), 8.0);
    let last = |a: A, b: A, c: A, d: A, e: A, f: A, g: A, h: A| b + c + d + e + f + g + h - a;
    let g = grad(last)(one(), one(), one(), one(), one(), one(), one(), one());
    assert_eq!(g.item::<f32>(), -1.0);
    let add = jit(
        |s: &mut A, a: &A, b: A, c: A, d: A, e: A, f: A, g: A, h: A| {
            *s += a + b + c + d + e + f + g + h;
        },
    );
    let mut s = one();
    add(&mut s, &a, one(), one(), one(), one(), one(), one(), one());
    assert_eq!(s.item::<f32>(), 9.0);
}

#[test]
fn traced_functions_report_types_and_lower() {
    let f = jit(|x: &Array, n: usize| (x.sum_over(0), x.astype(DType::BF16), n + 1));
    let x = || Array::shape_dtype_struct(&[3, 4], DType::F32);
    let (sum, narrow, n) = f.eval_shape((x(), 2));
    assert_eq!(sum.aval().to_string(), "f32[4]");
    assert_eq!((narrow.dtype(), n), (DType::BF16, 3));
    let traced = f.trace((x(), 2)).expect("traces");
    assert_eq!(traced.fun_name(), "<lambda>");
    assert_eq!(traced.jaxpr().jaxpr.outvars.len(), 2);
    assert_eq!(traced.out_info().1.shape(), [3, 4]);
    traced.lower().compile().expect("compiles");
    f(&Array::zeros(&[3, 4], DType::F32), 2);
    assert_eq!(f.compilations(), 0, "the call uses the compiled program");

    let step = jit(|s: &mut Array, x: Array| s.dot(&x));
    let out = step.eval_shape_with(
        &Array::zeros(&[4], DType::F32),
        (Array::zeros(&[4], DType::F32),),
    );
    assert_eq!(out.shape(), [0usize; 0]);
}
