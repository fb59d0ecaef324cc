//! Checks made values: under every transformation, by the user and by operations.
use ramie_core::checkify::{Errors, check, check_error, checkify, debug_check};
use ramie_core::extend::{Jaxpr, bind1};
use ramie_core::lax::{GatherScatterMode, cond, scan, while_loop};
use ramie_core::lower::{Lowering, Value};
use ramie_core::prim::{
    Avals, BatchAxis, Batched, Differentiation, Jaxprs, Nested, Primitive, StatePass,
};
use ramie_core::*;
use ramie_testing::panic_message;
use std::sync::Arc;

fn scalar(x: f32) -> Array {
    Array::from(x)
}

fn f32s(v: &[f32]) -> Array {
    Array::from(v)
}

/// What an error says, without the line.
fn said(error: &checkify::Error) -> Option<String> {
    let text = error.get()?;
    let lines = text.lines().filter(|l| !l.starts_with("  at "));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

fn root(x: Array) -> Array {
    check(x.ge(0.0), "{} has no root", &[&x]);
    x.sqrt()
}

#[test]
fn the_first_failed_check_is_the_error() {
    let f = |x: Array| {
        check(x.lt(10.0), "{} is too large", &[&x]);
        check(
            x.gt(0.0),
            "{} is not positive, {} is far from it",
            &[&x, &(&x * 2.0)],
        );
        check(x.gt(5.0), "small", &[]);
        x + 1.0
    };
    for staged in [false, true] {
        let call = |x: f32| {
            if staged {
                jit(checkify(f, Errors::USER))(scalar(x))
            } else {
                checkify(f, Errors::USER)(scalar(x))
            }
        };
        let (error, y) = call(7.0);
        assert_eq!((said(&error), y.item::<f32>()), (None, 8.0));
        error.throw();
        error.into_result().unwrap();
        let (error, y) = call(12.0);
        assert_eq!(said(&error).unwrap(), "12.0 is too large (`check` failed)");
        assert_eq!(y.item::<f32>(), 13.0, "the result is there all the same");
        let (error, _) = call(-3.0);
        let text = error.get().unwrap();
        assert!(
            text.starts_with("-3.0 is not positive, -6.0 is far from it (`check` failed)\n  at "),
            "{text}"
        );
        assert!(text.contains("checkify.rs:"), "{text}");
        assert_eq!(panic_message(|| error.throw()), text);
        assert_eq!(error.into_result().unwrap_err().to_string(), text);
        assert_eq!(said(&call(1.0).0).unwrap(), "small (`check` failed)");
    }
}

#[test]
fn checks_go_through_transformations() {
    let no_root = Some("-4.0 has no root (`check` failed)".to_string());
    let rows = || f32s(&[1.0, -4.0, 9.0, -16.0]);
    // Outside in, and inside out.
    let (error, _) = checkify(jit(root), Errors::USER)(scalar(-4.0));
    assert_eq!(said(&error), no_root);
    let (error, _) = checkify(jit(jit(root)), Errors::USER)(scalar(4.0));
    assert_eq!(said(&error), None);
    let (error, gradient) = jit(checkify(grad(root), Errors::USER))(scalar(4.0));
    assert_eq!((said(&error), gradient.item::<f32>()), (None, 0.25));
    assert_eq!(
        said(&checkify(grad(root), Errors::USER)(scalar(-4.0)).0),
        no_root
    );
    // All examples are one call: the first that fails.
    let (error, y) = jit(checkify(vmap(root), Errors::USER))(rows());
    assert_eq!((said(&error), y.shape()), (no_root, &[4][..]));
    // Each example has an error of its own.
    let (error, _) = jit(vmap(checkify(root, Errors::USER)))(rows());
    assert_eq!(
        said(&error).unwrap(),
        "at mapped index 1: -4.0 has no root (`check` failed)\nat mapped index 3: -16.0 has no root \
         (`check` failed)"
    );
    let square = rows().reshape(&[2, 2]);
    let (error, _) = vmap(vmap(checkify(root, Errors::USER)))(square);
    assert!(
        said(&error)
            .unwrap()
            .starts_with("at mapped index 0, 1: -4.0")
    );
}

#[test]
fn checks_go_through_control_flow() {
    let errors = Errors::USER;
    let sum = |xs: Array| {
        let step = |s: Array, x: Array| {
            check(x.lt(3.0), "step with {}, sum {}", &[&x, &s]);
            (s + x, ())
        };
        scan(step, scalar(0.0), xs).0
    };
    let (error, total) = jit(checkify(sum, errors))(f32s(&[1.0, 2.0, 3.0, 4.0]));
    assert_eq!(total.item::<f32>(), 10.0);
    assert_eq!(
        said(&error).unwrap(),
        "step with 3.0, sum 3.0 (`check` failed)"
    );
    let (error, _) = jit(checkify(sum, errors))(f32s(&[1.0, 2.0]));
    assert_eq!(said(&error), None);
    let (error, gradient) = jit(checkify(grad(sum), errors))(f32s(&[1.0, 5.0]));
    assert_eq!(gradient.to_vec::<f32>(), [1.0, 1.0]);
    assert_eq!(
        said(&error).unwrap(),
        "step with 5.0, sum 1.0 (`check` failed)"
    );
    let rows = f32s(&[1.0, 2.0, 1.0, 7.0]).reshape(&[2, 2]);
    let (error, _) = jit(checkify(vmap(sum), errors))(rows.clone());
    assert_eq!(
        said(&error).unwrap(),
        "step with 7.0, sum 1.0 (`check` failed)"
    );
    let (error, _) = jit(vmap(checkify(sum, errors)))(rows);
    assert!(
        said(&error)
            .unwrap()
            .starts_with("at mapped index 1: step with 7.0")
    );

    let countdown = |n: Array| {
        while_loop(
            |n: Array| {
                check(n.lt(100.0), "{} is too far", &[&n]);
                n.gt(0.0)
            },
            |n: Array| {
                check(n.ne(2.0), "two, on the way", &[]);
                n - 1.0
            },
            n,
        )
    };
    let run = |n: f32| said(&jit(checkify(countdown, errors))(scalar(n)).0);
    assert_eq!(run(1.0), None);
    assert_eq!(run(5.0).unwrap(), "two, on the way (`check` failed)");
    assert_eq!(run(101.0).unwrap(), "101.0 is too far (`check` failed)");

    let choose = |x: Array| cond(x.gt(0.0), root, |x: Array| root(-x - 1.0), x);
    let run = |x: f32| said(&jit(checkify(choose, errors))(scalar(x)).0);
    assert_eq!((run(1.0), run(-2.0)), (None, None));
    assert_eq!(run(-0.5).unwrap(), "-0.5 has no root (`check` failed)");
    let (error, _) = jit(vmap(checkify(choose, errors)))(f32s(&[1.0, -0.5, -2.0]));
    assert_eq!(
        said(&error).unwrap(),
        "at mapped index 1: -0.5 has no root (`check` failed)"
    );
}

#[test]
fn checks_go_through_rematerialization_and_own_derivatives() {
    let again = |x: Array| checkpoint(root)(x).sin();
    for (x, expected) in [
        (4.0, None),
        (-4.0, Some("-4.0 has no root (`check` failed)".into())),
    ] {
        let (error, _) = jit(checkify(again, Errors::USER))(scalar(x));
        assert_eq!(said(&error), expected);
        let (error, _) = jit(checkify(grad(again), Errors::USER))(scalar(x));
        assert_eq!(said(&error), expected);
    }
    let own = custom_jvp(root, |x: Array, t: Array| (root(x), t * 7.0));
    let (error, y) = jit(checkify(move |x: Array| own(x), Errors::ALL))(scalar(-4.0));
    assert_eq!(said(&error).unwrap(), "-4.0 has no root (`check` failed)");
    assert!(y.item::<f32>().is_nan());
}

#[test]
fn operations_check_themselves() {
    let line = line!() + 1;
    let nan = |x: Array| (&x - 1.0).log();
    let run = |x: f32, errors| said(&jit(checkify(nan, errors))(scalar(x)).0);
    assert_eq!(run(2.0, Errors::ALL), None);
    assert_eq!(
        run(0.0, Errors::NAN).unwrap(),
        "nan generated by primitive: log"
    );
    assert_eq!(run(0.0, Errors::USER | Errors::DIV | Errors::INDEX), None);
    let located = jit(checkify(nan, Errors::FLOAT))(scalar(0.0))
        .0
        .get()
        .unwrap();
    assert!(
        located.contains(&format!("checkify.rs:{line}:")),
        "{located}"
    );

    let ratio = |x: Array, y: Array| x / y;
    let (error, _) = jit(checkify(ratio, Errors::DIV))(f32s(&[1.0, 2.0]), f32s(&[1.0, 0.0]));
    assert_eq!(said(&error).unwrap(), "division by zero");
    let (error, _) = jit(checkify(ratio, Errors::DIV))(Array::from([1, 2]), Array::from([1, 2]));
    assert_eq!(said(&error), None);

    let table = f32s(&[10.0, 20.0, 30.0]);
    let pick = |x: Array, i: Array| x.take_with(&i, 0, GatherScatterMode::Clip);
    let run = |i: &[i32]| {
        let (error, _) = jit(checkify(pick, Errors::INDEX))(table.clone(), Array::from(i));
        said(&error)
    };
    assert_eq!(run(&[0, 2, 1]), None);
    assert_eq!(
        run(&[0, 5, 7]).unwrap(),
        "gather: out-of-bounds indexing for array of shape [3]: index 5 is out of bounds for axis 0 \
         with size 3"
    );
    let put = |x: Array, i: Array| x.at(i).set(1.0);
    let (error, _) = jit(checkify(put, Errors::INDEX))(table.clone(), Array::from([1, 3]));
    assert_eq!(
        said(&error).unwrap(),
        "scatter: out-of-bounds indexing for array of shape [3]: index 3 is out of bounds for axis 0 \
         with size 3"
    );
    let window = |x: Array, i: Array| x.dynamic_slice(&[&i], &[2]);
    let run = |i: i32| said(&jit(checkify(window, Errors::INDEX))(table.clone(), Array::from(i)).0);
    assert_eq!(run(1), None);
    assert!(
        run(2).unwrap().starts_with("dynamic_slice: out-of-bounds"),
        "{:?}",
        run(2)
    );

    let inside = |xs: Array| {
        let step = |s: Array, x: Array| (&s + &x, (&x / &s).log());
        scan(step, scalar(0.0), xs).1
    };
    let (error, _) = jit(checkify(inside, Errors::ALL))(f32s(&[1.0, 2.0]));
    assert_eq!(said(&error).unwrap(), "division by zero");
}

#[test]
fn without_checkify_a_check_stops_the_program_or_is_refused() {
    let text = panic_message(|| root(scalar(-1.0)));
    assert!(text.contains("-1.0 has no root"), "{text}");
    assert_eq!(root(scalar(4.0)).item::<f32>(), 2.0);
    let text = panic_message(|| jit(root)(scalar(4.0)));
    assert!(
        text.contains("check: a compiled program cannot panic on a failed check"),
        "{text}"
    );
    assert!(text.contains("checkify(f, Errors::USER)"), "{text}");
    let debug = |x: Array| {
        debug_check(x.gt(0.0), "negative", &[]);
        x
    };
    debug(scalar(-1.0));
    jit(debug)(scalar(-1.0));
    let (error, _) = checkify(debug, Errors::USER)(scalar(-1.0));
    assert_eq!(said(&error).unwrap(), "negative (`check` failed)");
    let text = panic_message(|| check(f32s(&[1.0]).gt(0.0), "many", &[]));
    assert!(
        text.contains("check: the predicate must be a scalar bool, but it is bool[1]"),
        "{text}"
    );
}

#[test]
fn an_error_can_be_checked_again() {
    let inner = |x: Array| {
        let (error, y) = checkify(root, Errors::USER)(x);
        check_error(&error);
        y
    };
    let (error, _) = jit(checkify(inner, Errors::USER))(scalar(-9.0));
    assert_eq!(said(&error).unwrap(), "-9.0 has no root (`check` failed)");
    let (error, y) = jit(checkify(inner, Errors::USER))(scalar(9.0));
    assert_eq!((said(&error), y.item::<f32>()), (None, 3.0));
    let text = panic_message(|| inner(scalar(-9.0)));
    assert!(text.contains("-9.0 has no root"), "{text}");
}

/// A primitive of a user that runs a program twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Twice {
    jaxpr: Arc<Jaxpr>,
    /// Whether it can pass a state through the program.
    threads: bool,
}

impl Primitive for Twice {
    fn name(&self) -> &'static str {
        "twice"
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn infer(&self, _: &[Aval]) -> std::result::Result<Avals, ShapeError> {
        Ok(self.jaxpr.out_avals().into())
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Undefined {
            why: "the test has no use for it",
            help: "use stop_gradient",
        }
    }
    fn batch(&self, _: &[Array], _: &[Option<usize>], _: BatchAxis) -> Batched {
        unreachable!("the test has no use for it")
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let once = ctx.call("twice", &self.jaxpr, args);
        ctx.call("twice", &self.jaxpr, &once)
    }
}

impl Nested for Twice {
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::from_slice(&[&self.jaxpr])
    }
    fn thread_state(&self, pass: &StatePass<'_>, args: &[Array]) -> Option<Vec<Array>> {
        self.threads.then(|| {
            let once = pass.run(&self.jaxpr, pass.state(), args);
            let (state, args) = once.split_at(pass.state().len());
            pass.run(&self.jaxpr, state, args)
        })
    }
}

fn twice(threads: bool) -> impl Fn(Array) -> Array + Send + Sync + Copy {
    move |x: Array| {
        let body = make_jaxpr(|x: Array| root(x) - 2.0)(Array::shape_dtype_struct(&[], x.dtype()));
        let jaxpr = body.jaxpr;
        bind1(Twice { jaxpr, threads }, &[&x])
    }
}

#[test]
fn checks_inside_a_primitive_of_the_user_are_found() {
    let f = checkify(twice(true), Errors::ALL);
    let (error, y) = f(scalar(36.0));
    assert_eq!((said(&error), y.item::<f32>()), (None, 0.0));
    let (error, _) = f(scalar(1.0));
    let text = said(&error).expect("the second root is of -1");
    assert_eq!(text, "-1.0 has no root (`check` failed)");
    let text = panic_message(|| checkify(twice(false), Errors::ALL)(scalar(1.0)));
    assert!(text.contains("a `check` inside `twice`"), "{text}");
    assert!(text.contains("implement `Nested::thread_state`"), "{text}");
}
