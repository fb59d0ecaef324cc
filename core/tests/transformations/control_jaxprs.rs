//! Control flow prints, differentiates and batches to JAX's programs.
//!
//! Each test is a program of `tests/golden/data/control_jaxprs.json`, written
//! in Rust.

use ramie_core::lax::{cond, fori_loop, map, scan, scan_with, switch, while_loop};
use ramie_core::options::{ScanOptions, VmapOptions};
use ramie_core::*;
use ramie_testing::jaxprs;

fn f32(value: f64) -> Array {
    Array::scalar(value, DType::F32)
}

/// Two arrays, as the carry or the result of a loop.
type Two = (Array, Array);

ramie_testing::programs! {
    "control_jaxprs";
    scan_captured |w, c, xs| {
        scan(|c: Array, x: Array| ((&c * &w + x).tanh(), c), c, xs)
    };
    scan_reverse_unroll |c, xs| {
        let options = ScanOptions { reverse: true, unroll: 2, length: None };
        scan_with(|c: Array, x: Array| (&c * &x, &c + &x), c, xs, options)
    };
    scan_without_elements |c| {
        let options = ScanOptions { length: Some(3), ..ScanOptions::default() };
        scan_with(|c: Array, ()| (c.sin(), c), c, (), options)
    };
    scan_counter |xs| {
        let step = |(sum, n): Two, x: Array| ((sum + x, &n + 1), n);
        scan(step, (f32(0.0), 0.into_array()), xs)
    };
    scan_forwarded |k, c, xs| {
        scan(|(k, c): Two, x: Array| ((k, &c + &x), (x, c)), (k, c), xs)
    };
    scan_weak_carry |xs| scan(|c: Array, x: Array| (&c + x, c), 0.into_array(), xs);
    scan_nested |c, xss| {
        let inner = |c: Array, x: Array| (&c * x, c.sin());
        scan(|c: Array, xs: Array| scan(inner, c, xs), c, xss)
    };
    scan_of_cond |c, xs| {
        let step = |c: Array, x: Array| {
            (cond(x.gt(0.0), |c: Array| c * &x, |c| -c, c), x)
        };
        scan(step, c, xs)
    };
    jvp_scan |c, xs, t| {
        jvp(|c: Array| scan(|c: Array, x: Array| (&c * x, c.sin()), c, xs), c, t)
    };
    jvp_scan_carry_without_tangent |xs, t| {
        let step = |(a, b): Two, x: Array| ((b, x), a);
        jvp(|xs: Array| scan(step, (f32(0.0), f32(1.0)), xs), xs, t)
    };
    grad_scan |c, xs| {
        let step = |c: Array, x: Array| ((&c * x).sin(), c);
        grad(move |(c, xs): Two| scan(step, c, xs).0)((c, xs))
    };
    grad_scan_captured |w, c, xs| {
        let f = move |(w, c): Two| {
            scan(|c: Array, x: Array| ((c * &w).sin() + x, ()), c, xs.clone()).0
        };
        grad(f)((w, c))
    };
    grad_scan_hoisted |w, c, xs| {
        let f = move |c: Array| {
            let (c, ()) = scan(|c: Array, x: Array| (c * w.sin() + x, ()), c, xs.clone());
            c.sum()
        };
        grad(f)(c)
    };
    grad_scan_zero_carry |w, xs| {
        let f = move |w: Array| {
            scan(|c: Array, x: Array| (c + &w * x, ()), f32(0.0), xs.clone()).0
        };
        grad(f)(w)
    };
    vmap_scan |c, xs| {
        let f = |c: Array, xs: Array| scan(|c: Array, x: Array| (&c * x, c), c, xs);
        vmap_with(f, [None, Some(0)])(c, xs)
    };
    vmap_scan_elements_shared |c, xs| {
        let f = |c: Array, xs: Array| scan(|c: Array, x: Array| (c * &x, x.sin()), c, xs);
        let g = vmap_with(f, VmapOptions {
            in_axes: [Some(0), None].into(),
            out_axes: [Some(0), None].into(),
            ..VmapOptions::default()
        });
        g(c, xs)
    };
    map_sine |xs| map(|x: Array| x.sin(), xs);
    cond_captured |p, x, y| cond(p, |()| &x * &y, |()| -&y, ());
    cond_number |n, x| cond(n, |x: Array| (x.clone(), x.sin()), |x| (x.clone(), x), x);
    switch_three |i, x| switch(i, &[&|x: Array| x.sin(), &|x| x.cos(), &|x| x * 2.0], x);
    jvp_cond |p, x, t| {
        jvp(|x: Array| cond(p, |x: Array| x.sin(), |x| x.exp(), x), x, t)
    };
    grad_cond |p, x| {
        grad(move |x: Array| cond(&p, |x: Array| x * 2.0, |x| -x, x).sin())(x)
    };
    vmap_cond_predicate |p, x| {
        vmap(|p: Array, x: Array| cond(p, |x: Array| x.sin(), |x| x.cos(), x))(p, x)
    };
    vmap_cond_operand |p, x, y| {
        let f = move |x: Array| {
            cond(&p, |x: Array| (x, y.clone()), |x| (x.sin(), -&y), x)
        };
        vmap(f)(x)
    };
    vmap_switch |i, x| {
        let f = |i: Array, x: Array| {
            switch(i, &[&|x: Array| x.sin(), &|x| x.cos(), &|x| x.tanh()], x)
        };
        vmap(f)(i, x)
    };
    while_captured |limit, w, x| {
        let init = (w.clone(), x);
        while_loop(|(c, _): Two| c.lt(&limit), |(c, x)| (c + 1.0, x * &w), init)
    };
    while_forwarded |x, k| {
        while_loop(|(x, _): Two| x.lt(9.0), |(x, k)| (x * 2.0, k), (x, k))
    };
    jvp_while |w, x, t| {
        let f = |x: Array| {
            let init = (x, 0.into_array());
            while_loop(|(_, n): Two| n.lt(3), |(x, n)| (x * &w, n + 1), init).0
        };
        jvp(f, x, t)
    };
    vmap_while |x, n| {
        let f = move |x: Array| {
            let init = (x, 0.into_array());
            while_loop(|(_, i): Two| i.lt(&n), |(x, i)| (x * 2.0, i + 1), init)
        };
        vmap(f)(x)
    };
    vmap_while_predicate |x| {
        vmap(|x: Array| while_loop(|c: Array| c.gt(1.0), |c| c * 0.5, x))(x)
    };
    fori_static |x| fori_loop(0, 5, |i, c: Array| c * i, x);
    fori_dynamic |x, n| fori_loop(0, n, |_, c: Array| c * 2.0, x);
    grad_fori_static |x| grad(|x: Array| fori_loop(1, 4, |i, c: Array| c.sin() * i, x))(x);
}

/// The programs above are those of the file.
#[test]
fn every_program_is_checked() {
    assert_eq!(jaxprs::names("control_jaxprs"), PROGRAMS);
}
