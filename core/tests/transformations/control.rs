//! Control flow: values, derivatives, batches, programs and messages.

use ramie_core::config::disable_jit;
use ramie_core::extend::Jaxpr;
use ramie_core::lax::{cond, fori_loop, map, map_with, scan, scan_with, switch, while_loop};
use ramie_core::options::{MapOptions, ScanOptions};
use ramie_core::*;

fn numbers(values: &[f32]) -> Array {
    Array::from(values.to_vec())
}

fn f32s(x: &Array) -> Vec<f32> {
    x.to_vec::<f32>()
}

#[test]
fn cond_runs_one_branch() {
    let f = |x: Array| cond(x.gt(0.0), |x: Array| x.sqrt(), |x| -x, x);
    assert_eq!(f(Array::from(4.0f32)).item::<f32>(), 2.0);
    assert_eq!(f(Array::from(-4.0f32)).item::<f32>(), 4.0);
    let g = jit(grad(f));
    assert_eq!(g(Array::from(4.0f32)).item::<f32>(), 0.25);
    assert_eq!(g(Array::from(-4.0f32)).item::<f32>(), -1.0);
    let v = jit(vmap(grad(f)));
    assert_eq!(f32s(&v(numbers(&[4.0, -4.0, 1.0]))), [0.25, -1.0, 0.5]);
}

#[test]
fn switch_clamps_its_index() {
    let f = |i: Array, x: Array| switch(i, &[&|x: Array| &x + 1.0, &|x| -x, &|x| &x * &x], x);
    let at = |i: i32| f(Array::from(i), Array::from(3.0f32)).item::<f32>();
    assert_eq!(
        [at(-5), at(0), at(1), at(2), at(9)],
        [4.0, 4.0, -3.0, 9.0, 9.0]
    );
    let all = vmap(f)(
        Array::from([-1i32, 1, 2, 7]),
        numbers(&[1.0, 2.0, 3.0, 4.0]),
    );
    assert_eq!(f32s(&all), [2.0, -2.0, 9.0, 16.0]);
}

#[test]
fn while_loop_counts() {
    let f = |x: Array| {
        while_loop(
            |(x, _): (Array, Array)| x.gt(1.0),
            |(x, n)| (x * 0.5, n + 1),
            (x, Array::from(0)),
        )
    };
    let (x, n) = f(Array::from(100.0f32));
    assert_eq!((x.item::<f32>(), n.item::<i32>()), (0.78125, 7));
    let (x, n) = vmap(f)(numbers(&[100.0, 0.5, 3.0]));
    assert_eq!(f32s(&x), [0.78125, 0.5, 0.75]);
    assert_eq!(n.to_vec::<i32>(), [7, 0, 2]);
    let (_, (t, _)) = jvp(
        |(x, n): (Array, Array)| {
            while_loop(
                |(x, _): (Array, Array)| x.gt(1.0),
                |(x, n)| (x * 0.5, n + 1),
                (x, n),
            )
        },
        (Array::from(100.0f32), Array::from(0)),
        (Array::from(1.0f32), Array::from(0)),
    );
    assert_eq!(t.item::<f32>(), 1.0 / 128.0);
}

fn weighted(c: Array, x: Array) -> (Array, Array) {
    let c = (c * &x).sin();
    (c.clone(), &c * 2.0 + x)
}

#[test]
fn scan_and_its_gradient() {
    let xs = numbers(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    let unrolled = |c: Array, xs: Array| {
        let mut c = c;
        let mut ys = Vec::new();
        for i in 0..5 {
            let (next, y) = weighted(c, xs.at(i).get());
            c = next;
            ys.push(y);
        }
        (c, stack(&ys, 0))
    };
    for unroll in [1, 2, 3, 5, 0, 7] {
        for reverse in [false, true] {
            let options = ScanOptions {
                unroll,
                reverse,
                length: None,
            };
            let f = move |c: Array, xs: Array| scan_with(weighted, c, xs, options);
            let plain = move |c: Array, xs: Array| {
                if !reverse {
                    return unrolled(c, xs);
                }
                let (c, ys) = unrolled(c, xs.flip(&[0]));
                (c, ys.flip(&[0]))
            };
            let c = Array::from(0.3f32);
            let (a, b) = (f(c.clone(), xs.clone()), plain(c.clone(), xs.clone()));
            assert_eq!(f32s(&a.1), f32s(&b.1), "unroll {unroll} reverse {reverse}");
            let loss =
                |(c, ys): (Array, Array)| c + (ys * numbers(&[1.0, -2.0, 3.0, 0.5, 1.0])).sum();
            let ga = grad(|(c, xs): (Array, Array)| loss(f(c, xs)))((c.clone(), xs.clone()));
            let gb = grad(|(c, xs): (Array, Array)| loss(plain(c, xs)))((c.clone(), xs.clone()));
            for (a, b) in f32s(&ga.1).iter().zip(f32s(&gb.1)) {
                assert!(
                    (a - b).abs() < 1e-5,
                    "{a} {b} unroll {unroll} reverse {reverse}"
                );
            }
        }
    }
}

/// Equations of a program and of those in it.
fn equations(jaxpr: &Jaxpr) -> usize {
    let nested = jaxpr.eqns.iter().flat_map(|e| e.primitive.params(&[]));
    let nested: usize = nested
        .flat_map(|(_, p)| p.jaxprs().to_vec())
        .map(|j| equations(&j))
        .sum();
    jaxpr.eqns.len() + nested
}

/// The largest result of any equation, in bytes.
fn largest(jaxpr: &Jaxpr) -> usize {
    let outputs = jaxpr.eqns.iter().flat_map(|e| &e.outputs);
    outputs
        .map(|v| jaxpr.var_aval(*v).size_bytes())
        .max()
        .unwrap_or(0)
}

/// A gradient keeps what differs from step to step, and no copies of what all
/// steps share.
#[test]
fn gradients_of_loops_do_not_copy_constants() {
    let (n, d) = (1000, 256);
    let loss = move |w: Array, c: Array| {
        let step = |c: Array, ()| (c.matmul(w.exp()).tanh(), ());
        let length = Some(n);
        let options = ScanOptions {
            length,
            ..ScanOptions::default()
        };
        scan_with(step, c, (), options).0.sum()
    };
    let w = Array::shape_dtype_struct(&[d, d], DType::F32);
    let c = Array::shape_dtype_struct(&[d], DType::F32);
    let program = make_jaxpr(grad(loss))(w, c);
    // The carry and what tanh keeps, for each step; a matrix is 256 KiB.
    assert_eq!(largest(&program.jaxpr), n * d * 4);
}

/// A stack of layers as a loop makes a program of one size for any depth.
#[test]
fn depth_does_not_change_the_program() {
    let program = |depth: usize| {
        let loss = |weights: Array, x: Array| {
            let layer = |x: Array, w: Array| ((x.matmul(&w)).tanh(), ());
            scan(layer, x, weights).0.square().mean()
        };
        let weights = Array::shape_dtype_struct(&[depth, 8, 8], DType::F32);
        let x = Array::shape_dtype_struct(&[4, 8], DType::F32);
        let lowered = jit(value_and_grad(loss))
            .lower((weights, x))
            .expect("a program");
        (
            equations(lowered.jaxpr()),
            lowered.as_text().lines().count(),
        )
    };
    assert_eq!(program(2), program(200));
}

#[test]
fn keys_and_integers_are_carried() {
    let walk = |key: random::Key, n: usize| {
        let step = |(key, at): (random::Key, Array), ()| {
            let [key, draw] = key.split_into::<2>();
            let at = at + random::bits(&draw, &[], DType::U32).bitwise_and(1u32);
            ((key, at.clone()), at)
        };
        let init = (key, Array::from(0u32));
        let options = ScanOptions {
            length: Some(n),
            ..ScanOptions::default()
        };
        scan_with(step, init, (), options)
    };
    let ((key, last), path) = walk(random::key(7), 10);
    let mut plain = random::key(7);
    let mut at = 0;
    for step in path.to_vec::<u32>() {
        let [next, draw] = plain.split_into::<2>();
        at += random::bits(&draw, &[], DType::U32).item::<u32>() & 1;
        assert_eq!(step, at);
        plain = next;
    }
    assert_eq!(last.item::<u32>(), at);
    assert_eq!(
        tree::leaves(&key)[0].to_vec::<u32>(),
        tree::leaves(&plain)[0].to_vec::<u32>()
    );
}

/// The transformations compose in any order, over loops in loops with choices.
#[test]
fn transformations_compose_over_loops() {
    let f = |x: Array, n: Array| {
        let step = |c: Array, k: Array| {
            let c = cond(k.lt(&n), |c: Array| (&c * &x).sin(), |c| &c + &x, c);
            let c = fori_loop(0, 2, |_, c: Array| c.tanh() * &x, c);
            (c.clone(), c)
        };
        let (c, cs) = scan(step, Array::from(0.5f32), Array::arange(4));
        c + cs.sum()
    };
    let plain = |x: f32, n: i32| {
        let (mut c, mut total) = (0.5f32, 0.0);
        for k in 0..4 {
            c = if k < n { (c * x).sin() } else { c + x };
            for _ in 0..2 {
                c = c.tanh() * x;
            }
            total += c;
        }
        c + total
    };
    let (xs, ns) = ([0.5f32, 0.9, 1.3], [0, 2, 4]);
    let slope = |x: f32, n: i32| {
        let h = 1e-2;
        (plain(x + h, n) - plain(x - h, n)) / (2.0 * h)
    };
    let args = || (Array::from(xs), Array::from(ns));
    let check = |got: Array, of: &dyn Fn(f32, i32) -> f32, within: f32| {
        for ((got, x), n) in f32s(&got).into_iter().zip(xs).zip(ns) {
            let want = of(x, n);
            assert!((got - want).abs() < within, "{got} {want} at {x} {n}");
        }
    };
    let (x, n) = args();
    check(vmap(f)(x.clone(), n.clone()), &plain, 1e-5);
    check(jit(vmap(f))(x.clone(), n.clone()), &plain, 1e-5);
    check(vmap(jit(grad(f)))(x.clone(), n.clone()), &slope, 2e-3);
    check(jit(vmap(grad(jit(f))))(x.clone(), n.clone()), &slope, 2e-3);
    let total = move |x: Array| vmap(f)(x, n.clone()).sum();
    check(jit(grad(total))(x), &slope, 2e-3);
}

/// Inside of `disable_jit` bodies see values.
#[test]
fn without_jit_bodies_see_values() {
    use std::sync::Mutex;
    let seen: Mutex<Vec<f32>> = Mutex::default();
    let (sum, ys) = disable_jit(|| {
        let step = |c: Array, x: Array| {
            seen.lock().expect("no panics").push(x.item::<f32>());
            (&c + &x, c)
        };
        let options = ScanOptions {
            reverse: true,
            ..ScanOptions::default()
        };
        scan_with(step, 0.into_array(), numbers(&[1.0, 2.0, 3.0]), options)
    });
    assert_eq!(seen.into_inner().expect("no panics"), [3.0, 2.0, 1.0]);
    assert_eq!((sum.item::<f32>(), f32s(&ys)), (6.0, vec![5.0, 3.0, 0.0]));
    let n = disable_jit(|| {
        while_loop(
            |n: Array| n.lt(100),
            |n| Array::from(n.item::<i32>() * 2),
            Array::from(1),
        )
    });
    assert_eq!(n.item::<i32>(), 128);
    let x = disable_jit(|| switch(7, &[&|x: f32| x, &|x: f32| -x], 3.0));
    assert_eq!(x, -3.0);
    // A transformed program runs operation by operation, the same.
    let g = vmap(grad(|x: Array| {
        scan(weighted, x, numbers(&[1.0, 2.0])).1.sum()
    }));
    let x = numbers(&[0.1, 0.2]);
    assert_eq!(f32s(&disable_jit(|| g(x.clone()))), f32s(&g(x)));
}

#[test]
fn map_works_in_batches() {
    let x = Array::arange(10).astype(DType::F32).reshape(&[5, 2]);
    let f = |x: Array| (x.sum(), x * 2.0);
    let (sums, doubled) = map(f, x.clone());
    for batch_size in [None, Some(0), Some(1), Some(2), Some(3), Some(5), Some(9)] {
        let (s, d) = map_with(f, x.clone(), MapOptions { batch_size });
        assert_eq!(
            (f32s(&s), f32s(&d)),
            (f32s(&sums), f32s(&doubled)),
            "{batch_size:?}"
        );
        assert_eq!(d.shape(), [5, 2]);
    }
    let nothing = map_with(
        f,
        Array::zeros(&[0, 2], DType::F32),
        MapOptions {
            batch_size: Some(3),
        },
    );
    assert_eq!(
        (nothing.0.shape(), nothing.1.shape()),
        (&[0][..], &[0, 2][..])
    );
    let g = |x: Array| {
        let ys = map_with(
            |x: Array| x.sin(),
            x,
            MapOptions {
                batch_size: Some(2),
            },
        );
        ys.sum()
    };
    assert_eq!(f32s(&grad(g)(x.clone())), f32s(&x.cos()));
}

/// What does not depend on the linear argument (a counter, the values that
/// tangents go along with) is gone through first.
#[test]
fn linear_loops_beside_known_values_are_transposed() {
    let w = numbers(&[2.0, 3.0, 5.0]);
    // y = sum of x * w[i] * (i + 1) over the steps, with a counter in the carry.
    let counted = |x: Array| {
        let step = |(sum, i): (Array, Array), w: Array| {
            let scale = (&i + 1).astype(DType::F32) * w;
            ((sum + &x * scale, &i + 1), &x * i)
        };
        let ((sum, _), ys) = scan(step, (Array::from(0.0f32), Array::from(0)), w.clone());
        (sum, ys)
    };
    let pull = linear_transpose(counted, Array::from(1.0f32));
    let ct = (Array::from(1.0f32), numbers(&[1.0, 1.0, 1.0]));
    assert_eq!(pull(ct).item::<f32>(), 2.0 + 6.0 + 15.0 + 0.0 + 1.0 + 2.0);
    // The same through a nested jit that holds both.
    let jitted = |x: Array| {
        let both = jit(|(sum, i): (Array, Array), x: Array| (sum + &x * &i, i + 1));
        fori_loop(
            0,
            3,
            |_, c: (Array, Array)| both(c, x.clone()),
            (Array::from(0.0f32), Array::from(2)),
        )
        .0
    };
    let pull = linear_transpose(jitted, Array::from(1.0f32));
    assert_eq!(pull(Array::from(1.0f32)).item::<f32>(), 9.0);
    // Tangents beside the values they belong to.
    let c0 = Array::from(0.3f32);
    let f = |c: Array| scan(weighted, c, numbers(&[1.0, 2.0, 3.0])).1.sum();
    let push = |t: Array| jvp(f, c0.clone(), t).1;
    let pull = linear_transpose(push, c0.clone());
    let (got, want) = (pull(Array::from(1.0f32)), grad(f)(c0.clone()));
    assert!((got.item::<f32>() - want.item::<f32>()).abs() < 1e-6);
}

/// A step stores a sigmoid, but not its derivative, a product of stored values. What takes other
/// functions to compute, and what is the same at each step, is stored.
#[test]
fn products_of_residuals_are_not_stored() {
    let (steps, n) = (16, 64);
    let kept = |step: fn(Array, Array) -> Array| -> usize {
        let f = move |c: Array, xs: Array| {
            scan(move |c: Array, x: Array| (step(c, x), ()), c, xs)
                .0
                .sum()
        };
        let c = Array::shape_dtype_struct(&[n], DType::F32);
        let xs = Array::shape_dtype_struct(&[steps, n], DType::F32);
        let residuals = saved_residuals(f)(c, xs);
        residuals.iter().map(|r| r.aval.size()).sum::<usize>() / (steps * n)
    };
    // The sigmoid; its product with the carry also needs the carry.
    assert_eq!(kept(|c, x| (c + x).sigmoid()), 1);
    assert_eq!(kept(|c, x| &c * (&c + x).sigmoid()), 2);
    // The tangent takes the cosine of the sum, and the sine that of the sine.
    assert_eq!(kept(|c, x| (c + x).sin().sin()), 2);

    let c = random::normal(&random::key(0), &[3], DType::F64);
    let xs = random::normal(&random::key(1), &[4, 3], DType::F64);
    let gate = |c: Array, x: &Array| &c * (&c + x).sigmoid() + x.tanh();
    let looped = move |(c, xs): (Array, Array)| {
        scan(move |c: Array, x: Array| (gate(c, &x), ()), c, xs)
            .0
            .sum()
    };
    let unrolled = move |(c, xs): (Array, Array)| {
        let steps = (0..4).map(|i| xs.index_in_dim(i, 0).squeeze(&[0]));
        steps.fold(c, |c, x| gate(c, &x)).sum()
    };
    let got = grad(looped)((c.clone(), xs.clone()));
    let want = grad(unrolled)((c, xs));
    for (got, want) in [(got.0, want.0), (got.1, want.1)] {
        assert!((got - want).abs().max().item::<f64>() < 1e-14);
    }
}

/// Layers in a loop that are computed again leave the carry of each step only.
#[test]
fn checkpointed_layers_keep_their_carry() {
    let (depth, n, d) = (12, 64, 32);
    let layer = |x: Array, w: Array| (x.matmul(w.tanh()).sin().sin().sin() + x, ());
    let kept = |f: Box<dyn Fn(Array, Array) -> Array + Send + Sync>| -> usize {
        let x = Array::shape_dtype_struct(&[n, d], DType::F32);
        let ws = Array::shape_dtype_struct(&[depth, d, d], DType::F32);
        let residuals = saved_residuals(f)(x, ws);
        residuals.iter().map(|r| r.aval.size_bytes()).sum()
    };
    let plain = kept(Box::new(move |x: Array, ws: Array| {
        scan(layer, x, ws).0.sum()
    }));
    let again = kept(Box::new(move |x: Array, ws: Array| {
        let step = checkpoint(layer);
        scan(|x: Array, w: Array| step(x, w), x, ws).0.sum()
    }));
    let (carry, weights) = (depth * n * d * 4, depth * d * d * 4);
    assert!(plain > 3 * carry, "{plain}");
    assert_eq!(again, carry + weights);

    let x = random::normal(&random::key(0), &[3, 4], DType::F32);
    let ws = random::normal(&random::key(1), &[5, 4, 4], DType::F32);
    let plain = grad(move |x: Array, ws: Array| scan(layer, x, ws).0.sum());
    let inside = grad(move |x: Array, ws: Array| {
        let step = checkpoint(layer);
        scan(|x: Array, w: Array| step(x, w), x, ws).0.sum()
    });
    let around = grad(checkpoint(move |x: Array, ws: Array| {
        scan(layer, x, ws).0.sum()
    }));
    let want = f32s(&plain(x.clone(), ws.clone()));
    for got in [inside(x.clone(), ws.clone()), around(x, ws)] {
        for (a, b) in f32s(&got).iter().zip(&want) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }
}
