//! Functions with batching rules of their own.

use ramie_core::typing::Mapped;
use ramie_core::{
    Array, DType, array, custom_vjp, custom_vmap, debug, effects_barrier, grad, jit, jvp,
    make_jaxpr, sequential_vmap, vjp, vmap, vmap_with,
};
use ramie_testing::apply::Operation;
use ramie_testing::golden::{Golden, Row};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

type Pair = (Array, Array);
type Binary = Box<dyn Fn(Array, Array) -> Array + Send + Sync>;

/// sin(x)·y, whose batch is that of 3·cos(x)·y: the difference shows.
fn told() -> Arc<Binary> {
    Arc::new(custom_vmap(
        |x: Array, y: Array| (x.sin() * y).sum(),
        |mapped: Mapped, (x, y): Pair| {
            let (x, y) = mapped.broadcast(&(x, y));
            let axes: Vec<isize> = (1..x.ndim() as isize).collect();
            ((x.cos() * y * 3.0).sum_over(&axes), true)
        },
    ))
}

fn by_loop() -> Arc<Binary> {
    Arc::new(sequential_vmap(|x: Array, y: Array| (x.sin() * y).sum()))
}

/// Functions that tests/golden/custom_batching.py describes.
fn function(row: &Row) -> Option<Box<Operation>> {
    let f = match row.op.as_str() {
        "told" => told(),
        "sequential" => by_loop(),
        _ => return None,
    };
    let axis = |name: &str| row.params[name].as_i64().map(|d| d as isize);
    let axes = [axis("x"), axis("y")];
    let of = move |x: Array, y: Array| f(x, y);
    Some(match row.params["map"].as_str()? {
        "vmap" => {
            let f = vmap_with(of, axes);
            Box::new(move |a: &[Array]| vec![f(a[0].clone(), a[1].clone())])
        }
        "nested" => {
            let f = vmap_with(vmap_with(of, axes), [Some(0), Some(0)]);
            Box::new(move |a: &[Array]| vec![f(a[0].clone(), a[1].clone())])
        }
        "vmap_of_jvp" => {
            let of = Arc::new(of);
            let push = move |x: Array, y: Array, dx: Array, dy: Array| {
                let of = of.clone();
                jvp(move |(x, y): Pair| of(x, y), (x, y), (dx, dy))
            };
            let f = vmap(push);
            Box::new(move |a: &[Array]| {
                let (y, dy) = f(a[0].clone(), a[1].clone(), a[2].clone(), a[3].clone());
                vec![y, dy]
            })
        }
        _ => return None,
    })
}

#[test]
fn batches_agree_with_jax() {
    let golden = Golden::open("custom_batching");
    let ops = golden.ops();
    assert_eq!(ops.len(), 2);
    // A rule that is not a batch of the function: loops give other numbers.
    ramie_testing::walk_recorded(golden, &ops, &function);
}

#[test]
fn the_rule_is_told_what_is_batched() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let f = Arc::new(custom_vmap(
        |x: Array, (a, b): Pair| (x * &a, a + b),
        move |mapped: Mapped, (x, (a, b)): (Array, Pair)| {
            log.lock().unwrap().push((
                mapped.size(),
                mapped.leaves().to_vec(),
                mapped.is_batched("1.0"),
            ));
            ((x * &a, a + b), [true, false])
        },
    ));
    let x = Array::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let rest = || (array([10.0, 20.0]), array([1.0, 1.0]));
    let g = f.clone();
    // Where examples lie along another axis, the rule gets them along the first.
    let f = vmap_with(
        move |x: Array, r: Pair| f(x, r),
        ([Some(1), None], [Some(0), None]),
    );
    let (product, sum) = f(x.t(), rest());
    assert_eq!(
        product.to_vec::<f32>(),
        [10.0, 40.0, 30.0, 80.0, 50.0, 120.0]
    );
    assert_eq!(sum.to_vec::<f32>(), [11.0, 21.0]);
    let compiled = jit(vmap_with(
        move |x: Array, r: Pair| g(x, r).0,
        [Some(0), None],
    ));
    assert_eq!(compiled(x.clone(), rest()).shape(), [3, 2]);
    let told = (3, vec![true, false, false], false);
    assert_eq!(*seen.lock().unwrap(), [told.clone(), told]);
}

#[test]
fn functions_that_are_not_batched_are_themselves() {
    let f = told();
    let (x, y) = (array([0.5]), array([2.0]));
    let sin = 0.5f32.sin() * 2.0;
    assert_eq!(f(x.clone(), y.clone()).item::<f32>(), sin);
    let g = f.clone();
    let printed = make_jaxpr(move |x: Array, y: Array| g(x, y))(x.clone(), y.clone());
    let printed = printed.to_string();
    assert!(
        printed.contains("custom_vmap_call[") && printed.contains("sin"),
        "{printed}"
    );
    let g = f.clone();
    let out = jit(move |x: Array, y: Array| g(x, y))(x.clone(), y.clone());
    assert_eq!(out.item::<f32>(), sin);
    // No example of it is batched: another array is.
    let out = vmap_with(
        move |x: Array, y: Array, z: Array| f(x, y) + z,
        [None, None, Some(0)],
    );
    assert_eq!(
        out(x, y, array([0.0, 1.0])).to_vec::<f32>(),
        [sin, sin + 1.0]
    );
}

#[test]
fn reverse_mode_in_a_map_is_that_of_the_function() {
    let x = Array::from([[0.1f32, 0.2], [0.3, 0.4]]);
    let y = array([1.0, 2.0]);
    for f in [told(), by_loop()] {
        let slope = vmap_with(grad(move |x: Array, y: Array| f(x, y)), [Some(0), None]);
        let known = x.cos() * &y;
        let got = jit(move |x: Array, y: Array| slope(x, y))(x.clone(), y.clone());
        assert!(got.allclose(&known).item::<bool>(), "{got}, {known}");
    }
    // The gradient of a map is the gradient of the rule.
    let f = told();
    let batch = vmap_with(move |x: Array, y: Array| f(x, y), [Some(0), None]);
    let slope = grad(move |x: Array, y: Array| batch(x, y).sum())(x.clone(), y.clone());
    let known = -x.sin() * &y * 3.0;
    assert!(slope.allclose(&known).item::<bool>(), "{slope}, {known}");
}

#[test]
fn a_function_can_have_rules_for_both() {
    let inner = told();
    let again = inner.clone();
    let f = custom_vjp(
        move |x: Array, y: Array| inner(x, y),
        move |(x, y): Pair| (again(x.clone(), y.clone()), (x, y)),
        |(x, y): Pair, ct: Array| (&ct * &y * 100.0, ct * x),
    );
    let x = Array::from([[0.1f32, 0.2], [0.3, 0.4]]);
    let y = array([1.0, 2.0]);
    let other = y.clone();
    let map = vmap(move |x: Array| {
        let (out, pull) = vjp(|x: Array| f(x, other.clone()), x);
        (out, pull(array(1.0)))
    });
    let (out, slope) = map(x.clone());
    let known = (x.cos() * &y * 3.0).sum_over(1);
    assert!(out.allclose(&known).item::<bool>(), "{out}, {known}");
    assert_eq!(slope.to_vec::<f32>(), [100.0, 200.0, 100.0, 200.0]);
}

#[test]
fn captured_values_have_derivatives() {
    let f = |w: Array, x: Array| {
        let told = custom_vmap(
            move |x: Array| (x.sin() * &w).sum(),
            |_: Mapped, x: Array| (x.sum_over(-1), true),
        );
        told(x)
    };
    let (w, x) = (array([2.0, 3.0]), array([0.1, 0.2]));
    let slope = grad(f)(w.clone(), x.clone());
    assert!(slope.allclose(x.sin()).item::<bool>());
    let at = x.clone();
    let (_, dot) = jvp(move |w: Array| f(w, at.clone()), w.clone(), w.clone());
    assert!(dot.allclose((x.sin() * w).sum()).item::<bool>());
}

#[test]
fn loops_call_one_example_after_the_other() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let traced = Arc::new(AtomicUsize::new(0));
    let (log, count) = (calls.clone(), traced.clone());
    let f = Arc::new(sequential_vmap(move |x: Array| {
        let log = log.clone();
        count.fetch_add(1, Ordering::Relaxed);
        debug::callback(
            move |x: Array| log.lock().unwrap().push(x.item::<f32>()),
            x.clone(),
        );
        x + 1.0
    }));
    let g = f.clone();
    let out = jit(vmap(move |x: Array| g(x)))(array([0.0, 1.0, 2.0]));
    assert_eq!(out.to_vec::<f32>(), [1.0, 2.0, 3.0]);
    effects_barrier().unwrap();
    assert_eq!(*calls.lock().unwrap(), [0.0, 1.0, 2.0]);
    assert!(traced.load(Ordering::Relaxed) <= 3);
    let none = vmap(move |x: Array| f(x))(Array::zeros(&[0, 2], DType::F32));
    assert_eq!(none.shape(), [0, 2]);
}

#[test]
fn equal_calls_are_one_program() {
    let f = told();
    let again = f.clone();
    let program = move |x: Array, y: Array| {
        let g = again.clone();
        let h = again.clone();
        let once = make_jaxpr(move |x: Array, y: Array| g(x, y))(x.clone(), y.clone());
        let twice = make_jaxpr(move |x: Array, y: Array| h(x, y))(x, y);
        once.jaxpr == twice.jaxpr
    };
    assert!(program(array([1.0]), array([2.0])));
}

#[test]
#[should_panic(
    expected = "for the result, expected f32[3], a batch of 3 examples along the first axis"
)]
fn rules_give_batches() {
    let f = custom_vmap(
        |x: Array| x.sum(),
        |_: Mapped, x: Array| (x.sum_over(0), true),
    );
    vmap(move |x: Array| f(x))(Array::zeros(&[3, 2], DType::F32));
}

#[test]
#[should_panic(expected = "captures a value that is batched")]
fn captured_values_are_not_batched() {
    let f = |w: Array| {
        let told = custom_vmap(
            {
                let w = w.clone();
                move |x: Array| x * &w
            },
            |_: Mapped, x: Array| (x, true),
        );
        told(w)
    };
    vmap(f)(array([1.0, 2.0]));
}
