//! Programs print as JAX prints them, and differentiate to the same equations.
//!
//! Each test is a program of `tests/golden/data/jaxprs.json`, written in Rust.

use ramie_core::extend::bind1;
use ramie_core::lax::{
    DotDimensionNumbers, GatherScatterMode, Precision, RoundingMethod, cond, scan, sort, while_loop,
};
use ramie_core::options::JitOptions;
use ramie_core::prim::dot::DotGeneral;
use ramie_core::prim::elementwise::Clamp;
use ramie_core::prim::index::{Gather, GatherDimensionNumbers};
use ramie_core::*;
use ramie_testing::jaxprs;
use ramie_testing::jaxprs::{argument, golden};

fn f32(value: f64) -> Array {
    Array::scalar(value, DType::F32)
}

fn simple(x: Array) -> Array {
    (&(&x + 2).power(2) + 3).sum_over(0) / 3
}

fn numbers(lhs: &[usize], rhs: &[usize], batched: bool) -> DotDimensionNumbers {
    let batch: &[usize] = if batched { &[0] } else { &[] };
    DotDimensionNumbers {
        lhs_contracting: lhs.into(),
        rhs_contracting: rhs.into(),
        lhs_batch: batch.into(),
        rhs_batch: batch.into(),
    }
}

fn product(
    a: &Array,
    b: &Array,
    dimension_numbers: DotDimensionNumbers,
    precision: Option<Precision>,
    preferred_element_type: Option<DType>,
) -> Array {
    let product = DotGeneral {
        dimension_numbers,
        precision,
        preferred_element_type,
        out_sharding: None,
    };
    bind1(product, &[a, b])
}

fn clamp(lo: Array, x: &Array, hi: Array) -> Array {
    bind1(Clamp, &[&lo, x, &hi])
}

type Params = Vec<(Array, Array)>;

/// The reference programs of composed transformations: two layers with tanh
/// between, and the mean squared error.
fn predict(params: Params, x: Array) -> Array {
    let mut inputs = x.clone();
    let mut outputs = x;
    for (w, b) in &params {
        outputs = inputs.dot(w) + b;
        inputs = outputs.tanh();
    }
    outputs
}

fn error(params: Params, x: Array, target: Array) -> Array {
    (predict(params, x) - target).power(2).mean()
}

ramie_testing::programs! {
    "jaxprs";
    composed_predict |w1, b1, w2, b2, x| predict(vec![(w1, b1), (w2, b2)], x);
    composed_vmap_predict |w1, b1, w2, b2, x| {
        vmap_with(predict, [None, Some(0)])(vec![(w1, b1), (w2, b2)], x)
    };
    composed_grad_loss |w1, b1, w2, b2, x, y| grad(error)(vec![(w1, b1), (w2, b2)], x, y);
    composed_gradients_of_examples |w1, b1, w2, b2, x, y| {
        let one = grad(error);
        let each = move |p: Params, x: Array, y: Array| one(p, x, y);
        vmap_with(each, [None, Some(0), Some(0)])(vec![(w1, b1), (w2, b2)], x, y)
    };
    simple_graph |x| simple(x);
    simple_graph_grad |x| grad(simple)(x);
    identity |x| x;
    constant_output |x| (f32(1.0), x, Array::scalar(3, DType::I32));
    elementwise_chain |x, y| (x.sin() * &y).tanh() - (-&y).exp();
    literals |x, n| (&x * 0.1 + 1e-8, &n * 7 - 1, &x / 1e20, x.lt(3), n.eq(2));
    literal_nonfinite |x| {
        x.minimum(f32(f64::INFINITY)).maximum(-f32(f64::INFINITY))
    };
    integer_and_shift |a, b| {
        let c = a.bitwise_and(&b).left_shift(a.bitwise_xor(&b));
        (c.lax_rem(&b), c.lax_div(&a), c.population_count())
    };
    compare_select |x| where_(x.gt(0.0), &x, &x * 0.01);
    clamp_and_powers |x| (
        clamp(f32(0.0), &x, f32(1.0)),
        x.integer_pow(3),
        x.power(2.5),
        x.square(),
        (x.rsqrt(), x.round_with(RoundingMethod::AwayFromZero)),
    );
    promotion |n, x, h| (&n + &x, &h + &x, &h * 2, &n * 2.5);
    weak_scalar |x| {
        let s = 1.0f32.into_array().sin();
        x * s
    };
    broadcasts |x, s| (
        x.broadcast_in_dim(&[2, 3], &[1]),
        s.broadcast_in_dim(&[4], &[]),
        &x + &s,
    );
    nested_jit |x| {
        fn g(x: Array) -> Array { x.sin() * 2.0 }
        jit(g)(x) + 1.0
    };
    nested_jit_twice |x| {
        fn g(x: Array) -> Array { x.sin() * 2.0 }
        let g = jit(g);
        g(g(x) + 1.0)
    };
    nested_jit_two_shapes |x, y| {
        fn g(x: Array) -> Array { x.sin() * 2.0 }
        let g = jit(g);
        (g(x), g(y))
    };
    nested_jit_deep |a, b| {
        fn inner(a: Array, b: Array) -> (Array, Array) { (&a * &b, &a + &b) }
        fn outer(a: Array, b: Array) -> Array {
            let (p, s) = jit(inner)(a, b);
            p - s
        }
        jit(outer)(a, b)
    };
    nested_jit_closure |x, y| {
        let options = JitOptions { name: Some("g".into()), ..Default::default() };
        jit_with(move |z: Array| z * &y, options)(x)
    };
    jit_donate |x| {
        fn f(x: &mut Array) { *x = &*x + 1.0 }
        let mut x = x;
        jit(f)(&mut x);
        x
    };
    nested_jit_state |x, y| {
        fn g(x: &mut Array, y: Array) -> Array {
            *x = &*x * y;
            x.sin()
        }
        let g = jit(g);
        let mut x = x;
        let s = g(&mut x, y.clone());
        let h = |mut x: Array, y: Array| {
            let s = g(&mut x, y);
            (x, s)
        };
        let outs = vmap_with(h, [Some(0), None])(x, y);
        (outs, s)
    };
    scatter_types |x, n, h, i| (
        x.at(&i).add(1.0),
        x.at(&i).add(2.0),
        n.at(&i).max(3),
        h.at(&i).multiply(2.0),
    );
    grad_product |x, y| grad(|(x, y): (Array, Array)| x.sin() * y)((x, y));
    value_and_grad_sum_squares |x| value_and_grad(|x: Array| (&x * &x).sum_over(0))(x);
    jvp_exp_log |x, t| jvp(|x: Array| x.exp() + x.log(), x, t);
    grad_of_jit |x| {
        fn g(x: Array) -> Array { x.sin() }
        let g = jit(g);
        grad(move |x: Array| g(x).sum_over(0))(x)
    };
    convert_types |x, m| (
        x.astype(DType::BF16),
        m.astype(DType::I32),
        x.astype(DType::F16),
        x.bitcast_convert_type(DType::U32),
    );
    reductions |x| (
        x.sum(),
        x.sum_over(1),
        x.reduce_max(&[0, 2]),
        x.reduce_min(&[0]),
        (x.reduce_prod(&[2]), x.argmax(1)),
    );
    cumulative |x| (x.cumsum(1), x.cummax(0), x.cumprod_reversed(1));
    sorts |x, n| {
        let one = x.sort(0);
        (one, sort(&[x.clone(), n], 0, 1), x.top_k(2))
    };
    unused_result |x, unused| {
        let _ = (x.exp(), unused);
        x.top_k(2).1
    };
    nested_unused_result |x| {
        fn g(x: Array) -> Array {
            let _ = x.exp();
            x.top_k(2).1
        }
        (jit(g)(x.clone()), x.log())
    };
    reduce_logical |m| (m.reduce_and(&[1]), m.reduce_or(&[0, 1]), !&m);
    matmul |a, b| a.matmul(&b);
    dot_general_batched |a, b| product(&a, &b, numbers(&[2], &[1], true), None, None);
    dot_precision |a, b| {
        let numbers = numbers(&[1], &[0], false);
        product(&a, &b, numbers, Some(Precision::HIGHEST), Some(DType::F32))
    };
    long_line |x, y| product(&x, &y, numbers(&[1, 2], &[1, 2], true), None, Some(DType::F32));
    reshape_transpose |x| {
        let y = x.reshape(&[6, 4]).transpose(&[1, 0]);
        (y.expand_dims(&[0]).squeeze(&[0]), y.flip(&[0]))
    };
    slices |x, i| {
        let a = x.slice_with(&[1, 0], &[5, 4], &[2, 1]);
        let b = x.slice(&[0, 1], &[6, 3]);
        let c = x.dynamic_slice(&[i.clone(), Array::scalar(0, DType::I32)], &[2, 4]);
        let d = x.dynamic_update_slice(&c, &[&i, &i]);
        (a, b, c, d)
    };
    concatenate_pad |x, y| {
        let z = concatenate(&[x, y], 0);
        z.lax_pad(&[(1, 2, 0), (0, -1, 1)], 0.0)
    };
    gather_rows |x, i| {
        let numbers = GatherDimensionNumbers::new(&[1], &[0], &[0]);
        let gather = Gather::new(numbers, &[1, 3]).mode(GatherScatterMode::Clip);
        x.gather(&i.expand_dims(&[1]), gather)
    };
    grad_linear_loss |w, b, x, y| {
        let loss = |(w, b): (Array, Array), x: Array, y: Array| {
            let p = x.matmul(&w) + &b;
            (p - y).power(2).mean()
        };
        grad(loss)((w, b), x, y)
    };
    grad_tanh_mlp |w1, w2, x| {
        let loss = |w1: Array, w2: Array, x: Array| x.matmul(&w1).tanh().matmul(&w2).sum();
        grad(loss)(w1, w2, x)
    };
    vmap_dot |a, b| vmap_with(|a: Array, b: Array| a.dot(&b), [Some(0), None])(a, b);
    vmap_grad |w, x| {
        let g = grad(|w: Array, x: Array| w.dot(&x).tanh());
        vmap_with(move |w: Array, x: Array| g(w, x), [None, Some(0)])(w, x)
    };
    many_names |x| (0..30).fold(x, |x, _| x.sin());
    nested_jit_long |x| {
        fn long(x: Array) -> Array { (0..11).fold(x, |x, _| x.sin()) }
        jit(long)(x) * 2.0
    };
    scan_cumulative |xs| scan(|c: Array, x: Array| (&c + &x, c * x), f32(0.0), xs);
    cond_branches |p, x| cond(p, |x: Array| x.sin(), |x| x.cos(), x);
    while_countdown |x| while_loop(|c: Array| c.gt(1.0), |c| c * 0.5, x);
    nested_jit_same_name |x| {
        let make = |c: f64| {
            let options = JitOptions { name: Some("g".into()), ..Default::default() };
            jit_with(move |x: Array| x * c, options)
        };
        let (double, triple) = (make(2.0), make(3.0));
        triple(double(triple(double(x))))
    };
}

#[test]
fn no_arguments() {
    let jaxpr = make_jaxpr(|_: ()| Array::arange(4))(());
    golden("jaxprs", "no_arguments").check(&jaxpr);
}

#[test]
fn captured_array() {
    let table = Array::from(vec![1.0f32, 2.0, 3.0]);
    let golden = golden("jaxprs", "captured_array");
    let [x] = <[Array; 1]>::try_from(golden.arguments()).expect("one argument");
    let jaxpr = make_jaxpr(move |x: Array| x * &table)(x);
    golden.check(&jaxpr);
    assert_eq!(jaxpr.consts.len(), 1);
}

#[test]
fn many_arguments() {
    let golden = golden("jaxprs", "many_arguments");
    let f = |xs: Vec<Array>| xs.iter().map(|x| x + 1.0).collect::<Vec<_>>();
    golden.check(&make_jaxpr(f)(golden.arguments()));
}

#[test]
fn scalar_types() {
    let golden = golden("jaxprs", "scalar_types");
    let f = |args: Vec<Array>| {
        let [a, b, c, d, e, g, h] = <[Array; 7]>::try_from(args).expect("seven arguments");
        vec![-a, &b + &b, &c * &c, &d - &d, !e, &g + &g, &h + &h]
    };
    golden.check(&make_jaxpr(f)(golden.arguments()));
}

/// Unused results, which JAX writes as `_` also where a nested program is
/// aligned with its call.
#[test]
fn unused_results() {
    fn g(x: Array) -> (Array, Array, Array) {
        (x.sin(), x.cos(), x)
    }
    let f = |x: Array| {
        x.exp();
        jit(g)(x).0
    };
    let jaxpr = make_jaxpr(f)(argument("f32[3]"));
    let expected = "\
{ lambda ; a:f32[3]. let
    _:f32[3] = exp a
    b:f32[3] _:f32[3] _:f32[3] = jit[
      name=g
      jaxpr={ lambda ; a:f32[3]. let
          b:f32[3] = sin a
          _:f32[3] = cos a
        in (b, _, a) }
    ] a
  in (b,) }";
    assert_eq!(jaxpr.to_string(), expected);
}

#[test]
fn eval_shape_computes_nothing() {
    let x = argument("f32[100000,100000,100000]");
    let (y, n) = eval_shape(|x: Array| (x.sum_over(0), x.gt(0)), x);
    assert_eq!(y.aval().to_string(), "f32[100000,100000]");
    assert_eq!(n.aval().to_string(), "bool[100000,100000,100000]");
    assert!(std::panic::catch_unwind(|| y.to_vec::<f32>()).is_err());
}

/// A failure is shown at the line of the operation, also where a transformation
/// ran the function, and a derived operation at the line that it comes from.
#[test]
fn operations_keep_their_lines_under_transformations() {
    let first = line!() + 2;
    let f = |x: Array| {
        let y = x.sin();
        (y * 2.0).sum()
    };
    let options = JitOptions::default();
    let jaxpr = make_jaxpr(vmap(grad(jit_with(f, options))))(argument("f32[5,3]"));
    let inner = jaxpr.jaxpr.eqns[0].primitive.params(&[]);
    let inner = &inner.last().expect("a program").1.jaxprs()[0];
    let lines: Vec<(&str, u32)> = inner
        .eqns
        .iter()
        .map(|e| (e.primitive.name(), e.location.line() - first))
        .collect();
    assert_eq!(lines[..3], [("sin", 0), ("cos", 0), ("mul", 1)], "{inner}");
}

/// Every recorded program is written in Rust here.
#[test]
fn every_golden_program_is_tested() {
    let here = include_str!("jaxprs.rs");
    let mut untested = jaxprs::names("jaxprs");
    untested.retain(|name| {
        !PROGRAMS.contains(&name.as_str()) && !here.contains(&format!("\nfn {name}() {{"))
    });
    assert!(untested.is_empty(), "{untested:?}");
}
