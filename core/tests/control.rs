//! Control flow: values, derivatives, batches, programs and messages.

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
            let f = move |c: Array, xs: Array| scan_with(weighted, c, xs, options.clone());
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
