//! Mistakes with control flow.

use crate::document::{Case, case, f32};
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("A carry that changes its type", || {
            let step = |(sum, n): (Array, Array), x: Array| ((sum + &x, n * x), ());
            scan(step, (f32(&[]), Array::from(1)), f32(&[5]))
        }),
        case("A carry that changes its shape", || {
            while_loop(|x: Array| x.sum().lt(9.0), |x| x.outer(&x), f32(&[2]))
        }),
        case("A number that changes from step to step", || {
            let step = |_, (count, x): (usize, Array)| (count + 1, x * 2.0);
            fori_loop(0, 10, step, (0, f32(&[])))
        }),
        case("Arrays of different lengths", || {
            let step = |c: Array, (x, y): (Array, Array)| (c + x * y, ());
            scan(step, f32(&[]), (f32(&[5]), f32(&[6])))
        }),
        case("A loop of unknown length", || {
            scan(|c: Array, ()| (c.sin(), ()), f32(&[]), ())
        }),
        case("Branches with results of different types", || {
            let x = f32(&[3]);
            cond(x.sum().gt(0.0), |x: Array| x.argmax(0), |x| x.max(), x)
        }),
        case("A choice for each element", || {
            let x = f32(&[3]);
            cond(x.gt(0.0), |x: Array| x.sqrt(), |x| -x, x)
        }),
        case("An index that is no integer", || {
            switch(f32(&[]), &[&|x: Array| x.sin(), &|x| x.cos()], f32(&[3]))
        }),
        case("A condition with several values", || {
            while_loop(|x: Array| x.lt(10.0), |x| x + 1.0, f32(&[3]))
        }),
        case("The gradient through a while loop", || {
            let grow = |x: Array| while_loop(|x: Array| x.lt(10.0), |x| x + 1.0, x);
            grad(grow)(f32(&[]))
        }),
        case("The gradient through a loop with a traced bound", || {
            let power = |x: Array, n: Array| fori_loop(0, n, |_, x: Array| x * 2.0, x);
            jit(grad(power))(f32(&[]), Array::from(3))
        }),
        case("Unrolling a loop with a traced bound", || {
            let options = ForiLoopOptions { unroll: 4 };
            let power = jit(move |n: Array, x: Array| {
                fori_loop_with(0, n, |_, x: Array| x * 2.0, x, options.clone())
            });
            power(Array::from(8), f32(&[]))
        }),
        case("An action in a branch that is batched", || {
            let log = |x: Array| io_callback(|x: Array| x, x.clone(), x);
            vmap(move |x: Array| cond(x.gt(0.0), log, |x| x, x))(f32(&[3]))
        }),
        case("No steps", || {
            train_steps(0, |sum: &mut Array, x: Array| *sum = &*sum + x)
        }),
        case("A batch that is not stacked, for many steps", || {
            let step = |sum: &mut Array, x: Array| *sum = &*sum + x.sum();
            let steps = jit(train_steps(10, step));
            steps(&mut f32(&[]), f32(&[128, 2]))
        }),
        case("Fewer batches than steps", || {
            let step = |sum: &mut Array, x: Array| *sum = &*sum + x.sum();
            let steps = jit(train_steps(10, step));
            steps(&mut f32(&[]), f32(&[7, 128, 2]))
        }),
        case("Batches for different numbers of steps", || {
            let step = |sum: &mut Array, x: Array, y: Array| *sum = &*sum + x * y;
            let steps = jit(train_steps(..=10, step));
            steps(&mut f32(&[]), f32(&[10]), f32(&[9]))
        }),
        case("The same for each step, as if it were stacked", || {
            let step = |w: &mut Array, x: Array, rate: Array| *w = &*w - x * rate;
            let steps = jit(train_steps(10, step));
            steps(&mut f32(&[]), f32(&[10]), f32(&[]))
        }),
        case("A state that changes from step to step", || {
            let step = |seen: &mut Array, x: Array| *seen = concatenate(&[&*seen, &x], 0);
            let steps = jit(train_steps(10, step));
            steps(&mut f32(&[8]), f32(&[10, 8]))
        }),
        case("A root of a function that gives another shape", || {
            let solve = |f: RootFn<'_, Array>, x: Array| x.clone() - f(x);
            let tangent_solve = |_: LinearFn<'_, Array>, y: Array| y;
            custom_root(|x: Array| x.sum(), f32(&[3]), solve, tangent_solve)
        }),
    ]
}
