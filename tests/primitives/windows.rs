//! Cases of windows and general reductions that JAX's rows leave out: values to
//! start with that differ between examples, choices by programs, truth values,
//! arrays without elements or axes.

use ramie_core::Array;
use ramie_core::DType::{self, F64, I32};
use ramie_core::lax::{reduce, reduce_window, select_and_scatter};
use ramie_core::options::Window;
use ramie_core::prim::window::{Select, SelectAndGatherAdd, SelectAndScatterAdd, SlidingWindow};
use ramie_testing::apply::{Operation, of};
use ramie_testing::case::Case;
use ramie_testing::numbers::Draw;

/// All of them.
pub fn cases() -> Vec<Case> {
    let mut cases = starts();
    cases.extend(choices());
    cases.extend(without_axes());
    cases
}

fn case(op: &str, detail: &str, inputs: &[Array], f: Box<Operation>) -> Case {
    Case::new(op, detail, inputs.to_vec(), f)
}

fn array(dtype: DType, values: &[f64]) -> Array {
    Array::from_slice(values, &[values.len()]).astype(dtype)
}

/// Affine maps `x → a x + b`, one after another: associative, with an identity.
fn compose(f: &[Array], g: &[Array]) -> Vec<Array> {
    vec![&f[0] * &g[0], &f[0] * &g[1] + &f[1]]
}

/// Reductions whose start is an operand like the others.
fn starts() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut draw = Draw::new(31);
    let product = |a: &[Array], b: &[Array]| vec![&a[0] * &b[0]];
    for (shape, axes) in [(&[2, 3][..], &[1][..]), (&[5], &[0]), (&[2, 2, 2], &[0, 2])] {
        let inputs = [
            draw.array(shape, F64, 0.5, 2.0),
            draw.array(&[], F64, 0.5, 2.0),
        ];
        let f = move |a: &[Array]| reduce(&a[..1], &a[1..], product, axes);
        cases.push(case("reduce", &format!("start {shape:?}"), &inputs, Box::new(f)).smooth());
        // The first array's start is given, the second's differs.
        let pair = [
            inputs[0].clone(),
            draw.array(shape, F64, -1.0, 1.0),
            inputs[1].clone(),
        ];
        let f = move |a: &[Array]| {
            let starts = [Array::from(1.0), a[2].clone()];
            let commuting = |a: &[Array], b: &[Array]| vec![&a[0] * &b[0], &a[1] + &b[1]];
            reduce(&a[..2], &starts, commuting, axes)
        };
        cases.push(case("reduce", &format!("pair {shape:?}"), &pair, Box::new(f)).smooth());
    }
    let window = || Window::new(&[2, 2]).strides(&[1, 2]);
    let inputs = [
        draw.array(&[3, 4], F64, 0.5, 2.0),
        draw.array(&[], F64, 0.5, 2.0),
    ];
    let f = move |a: &[Array]| reduce_window(&a[..1], &a[1..], product, &window());
    cases.push(case("reduce_window", "start", &inputs, Box::new(f)).smooth());
    let maps = [
        draw.array(&[2, 4], F64, 0.5, 2.0),
        draw.array(&[2, 4], F64, -1.0, 1.0),
    ];
    let f = move |a: &[Array]| {
        let starts = [Array::from(1.0), Array::from(0.0)];
        reduce_window(
            a,
            &starts,
            compose,
            &Window::new(&[1, 3]).padding([(0, 0), (1, 1)]),
        )
    };
    cases.push(case("reduce_window", "affine maps", &maps, Box::new(f)).smooth());
    let truths = [
        Array::from([[true, false], [true, true]]),
        Array::from(false),
    ];
    let differ = |a: &[Array], b: &[Array]| vec![a[0].ne(&b[0])];
    let f = move |a: &[Array]| reduce(&a[..1], &a[1..], differ, &[1]);
    let known = vec![Array::from([true, false])];
    cases.push(case("reduce", "parity", &truths, Box::new(f)).gives(known));
    let f = move |a: &[Array]| reduce_window(&a[..1], &a[1..], differ, &Window::new(&[2, 1]));
    let known = vec![Array::from([[false, true]])];
    cases.push(case("reduce_window", "parity", &truths, Box::new(f)).gives(known));
    cases
}

/// Windows in which a program chooses, or the largest is chosen.
fn choices() -> Vec<Case> {
    let mut cases = Vec::new();
    let pick = |window: Window| {
        move |a: &[Array]| {
            let start = Array::scalar(0, a[0].dtype());
            let (first, sum) = (
                |a: &Array, b: &Array| a.ge(b),
                |a: &Array, b: &Array| a.add(b),
            );
            vec![select_and_scatter(&a[0], &a[1], start, first, sum, &window)]
        }
    };
    for dtype in DType::COMMON {
        let x = array(dtype, &[1.0, 0.0, 1.0, 3.0]);
        let inputs = [x, array(dtype, &[5.0, 2.0, 4.0])];
        let known: &[f64] = match dtype {
            // Sums of truth values tell whether there is any; 3 is as true as 1.
            DType::Bool => &[1.0, 0.0, 1.0, 0.0],
            _ => &[5.0, 0.0, 2.0, 4.0],
        };
        let f = Box::new(pick(Window::new(&[2])));
        let made = case("select_and_scatter", &format!("{dtype}"), &inputs, f);
        cases.push(made.gives(vec![array(dtype, known)]));
    }
    let mut draw = Draw::new(32);
    let x = draw.array(&[3, 4], F64, -2.0, 2.0);
    let source = draw.array(&[2, 2], F64, -2.0, 2.0);
    let f = Box::new(pick(Window::new(&[2, 2]).strides(&[1, 2])));
    cases.push(case("select_and_scatter", "plane", &[x, source], f));
    let none = [Array::zeros(&[0, 3], I32), Array::zeros(&[0, 2], I32)];
    let f = Box::new(pick(Window::new(&[1, 2])));
    let made = case("select_and_scatter", "nothing", &none, f);
    cases.push(made.gives(vec![none[0].clone()]));
    let scalars = [Array::from(3), Array::from(7)];
    let f = Box::new(pick(Window::new(&[])));
    let made = case("select_and_scatter", "0-d", &scalars, f);
    cases.push(made.gives(vec![Array::from(7)]));
    cases
}

/// Windows over 0-d arrays, which have one place.
fn without_axes() -> Vec<Case> {
    let mut cases = Vec::new();
    let window = SlidingWindow {
        dimensions: Default::default(),
        strides: Default::default(),
        padding: Default::default(),
        base_dilation: Default::default(),
        window_dilation: Default::default(),
    };
    let pair = [Array::from(2.5f32), Array::from(-1.0f32)];
    let first = vec![pair[0].clone()];
    let select = Select::Ge;
    let gather = SelectAndGatherAdd {
        select,
        window: window.clone(),
    };
    let f = of(gather).expect("an operation");
    cases.push(case("select_and_gather_add", "0-d", &pair, f).gives(first.clone()));
    let f = of(SelectAndScatterAdd { select, window }).expect("an operation");
    cases.push(case("select_and_scatter_add", "0-d", &pair, f).gives(first));
    let product = |a: &[Array], b: &[Array]| vec![&a[0] * &b[0]];
    let f = move |a: &[Array]| reduce_window(&a[..1], &a[1..], product, &Window::new(&[]));
    let made = case("reduce_window", "0-d", &pair, Box::new(f));
    cases.push(made.gives(vec![Array::from(-2.5f32)]));
    cases
}
