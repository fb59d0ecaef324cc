//! Programs with control flow, those of `tests/golden/control.py`.

use super::apply::Operation;
use super::golden::Row;
use ramie_core::lax::{
    cond, fori_loop, fori_loop_with, map_with, scan, scan_with, switch, while_loop,
};
use ramie_core::options::{ForiLoopOptions, MapOptions, ScanOptions};
use ramie_core::typing::MapAxes;
use ramie_core::{Array, DType, jvp, vmap, vmap_with};
use serde_json::Value;

type Two = (Array, Array);

/// Returns the program of a row, or `None` if the row's name is unknown here.
pub fn apply(row: &Row) -> Option<Box<Operation>> {
    let p = row.params.clone();
    Some(match row.op.as_str() {
        "recurrent" => Box::new(move |a| {
            let (c, (ys, zs)) = recurrent(&a[0], &a[1], &a[2], options(&p));
            vec![c, ys, zs]
        }),
        "smooth" => Box::new(move |a| {
            let ((c, n), ys) = smooth(&a[0], &a[1], &a[2], options(&p));
            vec![c, n, ys]
        }),
        "nested" => Box::new(|a| {
            let (c, ys) = nested(&a[0], &a[1], &a[2]);
            vec![c, ys]
        }),
        "choice" => Box::new(|a| two(choice(a[0].clone(), a[1].clone(), a[2].clone()))),
        "vmap_choice" => Box::new(|a| two(vmap(choice)(a[0].clone(), a[1].clone(), a[2].clone()))),
        "choice_of_three" => {
            Box::new(|a| vec![choice_of_three(a[0].clone(), a[1].clone(), a[2].clone())])
        }
        "vmap_choice_of_three" => Box::new(|a| {
            let f = vmap(choice_of_three);
            vec![f(a[0].clone(), a[1].clone(), a[2].clone())]
        }),
        "vmap_guarded" => Box::new(|a| vec![vmap(guarded)(a[0].clone())]),
        "powers" => Box::new(|a| vec![powers(a[0].clone(), a[1].clone(), a[2].clone())]),
        "vmap_powers" => Box::new(|a| {
            let axes: MapAxes = [Some(0), Some(0), None].into();
            vec![vmap_with(powers, axes)(
                a[0].clone(),
                a[1].clone(),
                a[2].clone(),
            )]
        }),
        "jvp_powers" => Box::new(|a| {
            let (n, w) = (a[0].clone(), a[2].clone());
            let f = |(x, w): Two| powers(n.clone(), x, w);
            two(jvp(f, (a[1].clone(), w.clone()), (a[3].clone(), w)))
        }),
        "known_times" => Box::new(move |a| {
            let unroll = count(&p["unroll"]);
            let body = |i: Array, c: Array| (c * &a[1]).sin() + i;
            vec![fori_loop_with(
                1,
                6,
                body,
                a[0].clone(),
                ForiLoopOptions { unroll },
            )]
        }),
        "halve" => Box::new(|a| two(halve(a[0].clone(), a[1].clone()))),
        "vmap_halve" => Box::new(|a| {
            let axes: MapAxes = [Some(0), None].into();
            two(vmap_with(halve, axes)(a[0].clone(), a[1].clone()))
        }),
        "jvp_halve" => Box::new(|a| {
            let push = |x: Array, t: Array| {
                let limit = Array::scalar(1.0, x.dtype());
                jvp(|x: Array| halve(x, limit).0, x, t)
            };
            two(vmap(push)(a[0].clone(), a[1].clone()))
        }),
        "mapped" => Box::new(move |a| {
            let batch_size = p["batch_size"].as_u64().map(|n| n as usize);
            let f = |x: Array| ((&x * &a[1]).tanh(), x.sum());
            two(map_with(f, a[0].clone(), MapOptions { batch_size }))
        }),
        _ => return None,
    })
}

fn two((a, b): Two) -> Vec<Array> {
    vec![a, b]
}

fn count(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

fn options(p: &Value) -> ScanOptions {
    ScanOptions {
        length: None,
        reverse: p["reverse"].as_bool().expect("a truth value"),
        unroll: count(&p["unroll"]),
    }
}

fn recurrent(c: &Array, w: &Array, xs: &Array, options: ScanOptions) -> (Array, Two) {
    let step = |c: Array, x: Array| {
        let c = c * w + &x;
        (c.clone(), (c - &x, x))
    };
    scan_with(step, c.clone(), xs.clone(), options)
}

fn smooth(c: &Array, w: &Array, xs: &Array, options: ScanOptions) -> (Two, Array) {
    let step = |(c, n): Two, x: Array| {
        let c = (c * w).tanh() + w.sin() * x;
        let y = &c * n.astype(c.dtype());
        ((c, n + 1), y)
    };
    scan_with(step, (c.clone(), Array::from(0)), xs.clone(), options)
}

fn nested(c: &Array, w: &Array, xs: &Array) -> Two {
    let inner = |c: Array, x: Array| {
        let c = (c * w + &x).sin();
        (c.clone(), c * x)
    };
    let outer = |c: Array, row: Array| {
        let (c, ys) = scan(inner, c, row);
        (c * w, ys.sum())
    };
    scan(outer, c.clone(), xs.clone())
}

fn choice(p: Array, x: Array, y: Array) -> Two {
    cond(p, |(x, y): Two| (x * &y, y), |(x, y)| (&x - y, x), (x, y))
}

fn choice_of_three(i: Array, x: Array, y: Array) -> Array {
    switch(i, &[&|x: Array| x.sin() * &y, &|x| x, &|x| x.exp() - &y], x)
}

fn guarded(x: Array) -> Array {
    cond(x.gt(0.0), |x: Array| x.sqrt(), |x| x * 0.0, x)
}

fn halve(x: Array, limit: Array) -> Two {
    while_loop(
        |(x, _): Two| x.gt(&limit),
        |(x, n)| (x / 2, n + 1),
        (x, Array::from(0)),
    )
}

fn powers(n: Array, x: Array, w: Array) -> Array {
    let dtype: DType = x.dtype();
    fori_loop(0, n, |i: Array, c: Array| c * &w + i.astype(dtype), x)
}
