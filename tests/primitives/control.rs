//! Cases of control flow: `cond`, `while` and `scan` over bodies of several
//! kinds, on every element type.

use ramie_core::lax::{cond, fori_loop, map, scan, scan_with, switch, while_loop};
use ramie_core::options::ScanOptions;
use ramie_core::{Array, DType};
use ramie_testing::case::Case;
use ramie_testing::numbers::Draw;
use ramie_testing::plan::Batches;

/// All of them.
pub fn cases() -> Vec<Case> {
    let mut cases = element_types();
    cases.extend(choices());
    cases.extend(scans());
    cases.extend(whiles());
    cases
}

fn case(
    op: &str,
    detail: &str,
    inputs: &[Array],
    f: impl Fn(&[Array]) -> Vec<Array> + Send + Sync + 'static,
) -> Case {
    Case::new(op, detail, inputs.to_vec(), Box::new(f))
}

fn array(dtype: DType, values: &[f64]) -> Array {
    Array::from_slice(values, &[values.len()]).astype(dtype)
}

fn length(n: usize) -> ScanOptions {
    let length = Some(n);
    ScanOptions {
        length,
        ..ScanOptions::default()
    }
}

/// Every element type, by moving elements.
fn element_types() -> Vec<Case> {
    let mut cases = Vec::new();
    for d in DType::COMMON {
        let x = array(d, &[0.0, 1.0, 3.0]);
        let flipped = array(d, &[3.0, 1.0, 0.0]);
        for (p, known) in [(true, &flipped), (false, &x)] {
            let f = |a: &[Array]| {
                let [p, x] = a else { unreachable!() };
                vec![cond(p, |x: Array| x.flip(&[0]), |x| x, x.clone())]
            };
            let inputs = [Array::from(p), x.clone()];
            cases.push(case("cond", &format!("{p} {d}"), &inputs, f).gives(vec![known.clone()]));
        }
        let f = |a: &[Array]| {
            let shift = |last: Array, x: Array| (x, last);
            let (last, ys) = scan(shift, a[0].at(2).get(), a[0].clone());
            vec![last, ys]
        };
        let known = vec![array(d, &[3.0]).reshape(()), array(d, &[3.0, 0.0, 1.0])];
        let mut shift =
            case("scan", &format!("shift {d}"), std::slice::from_ref(&x), f).gives(known);
        if matches!(
            d,
            DType::F4E2M1Fn | DType::I4 | DType::U4 | DType::I2 | DType::U2
        ) {
            // XLA's CPU compiler ends the process where it lays elements of less
            // than a byte out anew, which it does for batches of this scan.
            shift.batches = Batches::None;
        }
        cases.push(shift);
        let f = |a: &[Array]| {
            let (x, _) = while_loop(
                |(_, n): (Array, Array)| n.lt(3),
                |(x, n)| (x.flip(&[0]), n + 1),
                (a[0].clone(), a[1].clone()),
            );
            vec![x]
        };
        let inputs = [x, Array::from(0)];
        cases.push(case("while", &format!("flip {d}"), &inputs, f).gives(vec![flipped]));
    }
    cases
}

fn choices() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut draw = Draw::new(31);
    for shape in [&[2, 3][..], &[], &[0]] {
        for index in [0, 1, 2] {
            let f = |a: &[Array]| {
                let [i, x, y] = a else { unreachable!() };
                let (p, q): (Array, Array) = switch(
                    i,
                    &[
                        &|(x, y): (Array, Array)| (x.sin() * &y, x),
                        &|(x, y)| (x.exp(), &y * &y),
                        &|(x, _)| (x.log() * &x, x.sqrt()),
                    ],
                    (x.clone(), y.clone()),
                );
                vec![p, q]
            };
            let x = draw.array(shape, DType::F64, 0.5, 1.5);
            let y = draw.array(shape, DType::F64, 0.5, 1.5);
            let inputs = [Array::from(index), x, y];
            cases.push(case("cond", &format!("{index} of 3 {shape:?}"), &inputs, f).smooth());
        }
    }
    // What a branch captures, and a branch without a tangent.
    let f = |a: &[Array]| {
        let [p, x] = a else { unreachable!() };
        let y = x.cos();
        vec![cond(p, |()| &y * x, |()| y.zeros_like(), ())]
    };
    for p in [true, false] {
        let x = draw.array(&[3], DType::F64, 0.5, 1.5);
        let inputs = [Array::from(p), x];
        cases.push(case("cond", &format!("captured {p}"), &inputs, f).smooth());
    }
    cases
}

fn recurrence(c: Array, x: Array) -> (Array, Array) {
    let c = (c * &x).sin();
    (c.clone(), c.exp() * x)
}

fn scans() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut draw = Draw::new(32);
    // Other directions and lengths are compared with each other in the tests of
    // the core.
    for n in [4, 1, 0] {
        for (reverse, unroll) in [(false, 1), (true, 3)] {
            let options = ScanOptions {
                reverse,
                unroll,
                length: None,
            };
            let f = move |a: &[Array]| {
                let (c, ys) = scan_with(recurrence, a[0].clone(), a[1].clone(), options);
                vec![c, ys]
            };
            let c = draw.array(&[], DType::F64, 0.5, 1.5);
            let xs = draw.array(&[n], DType::F64, 0.5, 1.5);
            let label = format!("{n} steps, reverse {reverse}, unroll {unroll}");
            cases.push(case("scan", &label, &[c, xs], f).smooth());
        }
    }
    // Without anything to go through, and 0-d.
    let f = |a: &[Array]| {
        let (c, ys) = scan_with(|c: Array, ()| (c.sin(), c), a[0].clone(), (), length(3));
        vec![c, ys]
    };
    let c = draw.array(&[], DType::F64, 0.5, 1.5);
    cases.push(case("scan", "no elements", &[c], f).smooth());
    // A constant, a carry with a counter and one without a first tangent, trees.
    let f = |a: &[Array]| {
        let [w, xs] = a else { unreachable!() };
        let step = |(sum, i): (Array, Array), x: Array| {
            let y = (w * &x).tanh() * (&i + 1).astype(DType::F64);
            ((sum + &y, i + 2), (y, x))
        };
        let first = (Array::zeros(&[2], DType::F64), Array::from(0));
        let ((sum, i), (ys, same)) = scan(step, first, xs.clone());
        vec![sum, i, ys, same]
    };
    let w = draw.array(&[2], DType::F64, 0.5, 1.5);
    let xs = draw.array(&[4, 2], DType::F64, 0.5, 1.5);
    cases.push(case("scan", "constant and counter", &[w.clone(), xs.clone()], f).smooth());
    // A loop in a loop.
    let f = |a: &[Array]| {
        let [w, xs] = a else { unreachable!() };
        let inner = |c: Array, x: Array| ((c * w).sin() + x, ());
        let outer = |c: Array, x: Array| {
            let (c, ()) = scan_with(|c: Array, ()| inner(c, x.clone()), c, (), length(3));
            (c.clone(), c)
        };
        let (c, ys) = scan(outer, w.cos(), xs.clone());
        vec![c, ys]
    };
    cases.push(case("scan", "nested", &[w.clone(), xs.clone()], f).smooth());
    // A choice in a loop, of a number of steps that is known.
    let f = |a: &[Array]| {
        let [w, xs] = a else { unreachable!() };
        let step = |i: Array, c: Array| {
            let even = i.bitwise_and(1).eq(0);
            cond(even, |c: Array| c.sin() * w, |c| &c * &c, c)
        };
        let ys = map(|x: Array| fori_loop(0, 3, step, x), xs.clone());
        vec![ys]
    };
    cases.push(case("scan", "choice in a loop", &[w, xs], f).smooth());
    cases
}

fn whiles() -> Vec<Case> {
    let mut cases = Vec::new();
    let halve = |a: &[Array]| {
        let [x, limit] = a else { unreachable!() };
        let (x, n) = while_loop(
            |(x, _): (Array, Array)| x.gt(limit),
            |(x, n)| (x * 0.5, n + 1),
            (x.clone(), Array::from(0)),
        );
        vec![x, n]
    };
    for (x, known, n) in [(100.0, 0.781_25, 7), (0.5, 0.5, 0), (f64::NAN, f64::NAN, 0)] {
        let inputs = [Array::from(x), Array::from(1.0)];
        let known = vec![Array::from(known), Array::from(n)];
        cases.push(case("while", &format!("halve {x}"), &inputs, halve).gives(known));
    }
    let f = |a: &[Array]| {
        let [n, x, w] = a else { unreachable!() };
        let step = |i: Array, x: Array| x * w + i.astype(DType::F64);
        vec![fori_loop(0, n, step, x.clone())]
    };
    let mut draw = Draw::new(33);
    for shape in [&[2, 3][..], &[], &[0]] {
        let x = draw.array(shape, DType::F64, 0.5, 1.5);
        let w = draw.array(shape, DType::F64, 0.5, 1.5);
        for n in [0, 4] {
            let inputs = [Array::from(n), x.clone(), w.clone()];
            cases.push(case("while", &format!("{n} times {shape:?}"), &inputs, f));
        }
    }
    cases
}
