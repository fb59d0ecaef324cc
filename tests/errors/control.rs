//! Errors of control flow and training loops.

use crate::document::{Case, case, f32};
use ramie::lax::{cond, custom_root, fori_loop, fori_loop_with, scan, switch, while_loop};
use ramie::options::ForiLoopOptions;
use ramie::typing::{LinearFn, RootFn};
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("scan: the carry changes its dtype", || {
            let step = |(sum, n): (Array, Array), x: Array| ((sum + &x, n * x), ());
            scan(step, (f32(&[]), Array::from(1)), f32(&[5]))
        }),
        case("while_loop: the carry changes its shape", || {
            while_loop(|x: Array| x.sum().lt(9.0), |x| x.outer(&x), f32(&[2]))
        }),
        case("fori_loop: a number in the carry changes", || {
            let step = |_, (count, x): (usize, Array)| (count + 1, x * 2.0);
            fori_loop(0, 10, step, (0, f32(&[])))
        }),
        case("scan: lengths differ", || {
            let step = |c: Array, (x, y): (Array, Array)| (c + x * y, ());
            scan(step, f32(&[]), (f32(&[5]), f32(&[6])))
        }),
        case("scan: the number of steps is unknown", || {
            scan(|c: Array, ()| (c.sin(), ()), f32(&[]), ())
        }),
        case("cond: the branches return different types", || {
            let x = f32(&[3]);
            cond(x.sum().gt(0.0), |x: Array| x.argmax(0), |x| x.max(), x)
        }),
        case("cond: the predicate must be a scalar", || {
            let x = f32(&[3]);
            cond(x.gt(0.0), |x: Array| x.sqrt(), |x| -x, x)
        }),
        case("switch: the index must be a scalar integer", || {
            switch(f32(&[]), &[&|x: Array| x.sin(), &|x| x.cos()], f32(&[3]))
        }),
        case(
            "while_loop: the condition must return a scalar bool",
            || while_loop(|x: Array| x.lt(10.0), |x| x + 1.0, f32(&[3])),
        ),
        case("while_loop: no reverse-mode derivative", || {
            let grow = |x: Array| while_loop(|x: Array| x.lt(10.0), |x| x + 1.0, x);
            grad(grow)(f32(&[]))
        }),
        case(
            "fori_loop: no reverse-mode derivative with traced bounds",
            || {
                let power = |x: Array, n: Array| fori_loop(0, n, |_, x: Array| x * 2.0, x);
                jit(grad(power))(f32(&[]), Array::from(3))
            },
        ),
        case("fori_loop: unroll requires known bounds", || {
            let options = ForiLoopOptions { unroll: 4 };
            let power = jit(move |n: Array, x: Array| {
                fori_loop_with(0, n, |_, x: Array| x * 2.0, x, options)
            });
            power(Array::from(8), f32(&[]))
        }),
        case("cond: io_callback in a branch under vmap", || {
            let log = |x: Array| io_callback(|x: Array| x, x.clone(), x);
            vmap(move |x: Array| cond(x.gt(0.0), log, |x| x, x))(f32(&[3]))
        }),
        case("train_steps: a call of 0 steps", || {
            train_steps(0, |sum: &mut Array, x: Array| *sum = &*sum + x)
        }),
        case("train_steps: the batch is not stacked", || {
            let step = |sum: &mut Array, x: Array| *sum = &*sum + x.sum();
            let steps = jit(train_steps(10, step));
            steps(&mut f32(&[]), f32(&[128, 2]))
        }),
        case("train_steps: fewer batches than steps", || {
            let step = |sum: &mut Array, x: Array| *sum = &*sum + x.sum();
            let steps = jit(train_steps(10, step));
            steps(&mut f32(&[]), f32(&[7, 128, 2]))
        }),
        case(
            "train_steps: arguments have different numbers of batches",
            || {
                let step = |sum: &mut Array, x: Array, y: Array| *sum = &*sum + x * y;
                let steps = jit(train_steps(..=10, step));
                steps(&mut f32(&[]), f32(&[10]), f32(&[9]))
            },
        ),
        case("train_steps: a scalar argument has no batch axis", || {
            let step = |w: &mut Array, x: Array, rate: Array| *w = &*w - x * rate;
            let steps = jit(train_steps(10, step));
            steps(&mut f32(&[]), f32(&[10]), f32(&[]))
        }),
        case("train_steps: the state changes its shape", || {
            let step = |seen: &mut Array, x: Array| *seen = concatenate(&[&*seen, &x], 0);
            let steps = jit(train_steps(10, step));
            steps(&mut f32(&[8]), f32(&[10, 8]))
        }),
        case(
            "custom_root: f returns another shape than the guess",
            || {
                let solve = |f: RootFn<'_, Array>, x: Array| x.clone() - f(x);
                let tangent_solve = |_: LinearFn<'_, Array>, y: Array| y;
                custom_root(|x: Array| x.sum(), f32(&[3]), solve, tangent_solve)
            },
        ),
    ]
}
