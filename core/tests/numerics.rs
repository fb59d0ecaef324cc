//! `debug_nans`, `debug_infs`, `disable_jit`.
use ramie_core::config::{debug_infs, debug_nans, default_matmul_precision, disable_jit};
use ramie_core::lax::{Precision, cond, scan, switch, while_loop};
use ramie_core::*;
use ramie_testing::panic_message;
use std::sync::{Mutex, MutexGuard};

/// The switches are the process's: one test at a time, both off at its end.
struct Alone(#[allow(dead_code)] MutexGuard<'static, ()>);

fn alone() -> Alone {
    static ALONE: Mutex<()> = Mutex::new(());
    Alone(ALONE.lock().unwrap_or_else(|e| e.into_inner()))
}

impl Drop for Alone {
    fn drop(&mut self) {
        debug_nans(false);
        debug_infs(false);
    }
}

fn scalar(x: f32) -> Array {
    Array::from(x)
}

#[test]
fn the_operation_that_makes_a_nan_is_named_with_its_line() {
    let _alone = alone();
    debug_nans(true);
    let eager = panic_message(|| (scalar(1.0) - 2.0).log());
    assert!(
        eager.starts_with("log: the result f32[] has NaN in 1 of 1 elements"),
        "{eager}"
    );
    assert!(eager.contains("numerics.rs:31:"), "{eager}");

    let inner = jit(|x: Array| {
        let y = &x * 2.0;
        y.sqrt()
    });
    let f = jit(move |x: Array| inner(x - 3.0).sum_over(0) + 1.0);
    let x = Array::from([4.0f32, 2.0, 5.0]);
    let text = panic_message(|| f(x.clone()));
    assert!(
        text.starts_with("sqrt: the result f32[3] has NaN in 1 of 3 elements"),
        "{text}"
    );
    assert!(text.contains("numerics.rs:40:"), "{text}");
    let fine = f(x + 3.0);
    assert_eq!(fine.ndim(), 0, "no NaN, no panic");

    let gradient = jit(grad(|x: Array| (&x * 0.0).sqrt()));
    let text = panic_message(|| gradient(scalar(1.0)));
    assert!(text.starts_with("mul: the result f32[] has NaN"), "{text}");

    let staged = jit(|x: Array| x.log()).compile((scalar(1.0),)).unwrap();
    let text = panic_message(|| staged.run((scalar(-1.0),)));
    assert!(text.starts_with("log: the result f32[] has NaN"), "{text}");
    let narrow = Array::from([1e9f32]);
    let text = panic_message(|| narrow.astype(DType::F8E4M3Fn));
    assert!(text.contains("has NaN in 1 of 1"), "{text}");

    debug_nans(false);
    assert!((scalar(1.0) - 2.0).log().item::<f32>().is_nan());
    assert!(gradient(scalar(1.0)).item::<f32>().is_nan());
}

/// An argument that contains NaN is named, rather than the first operation that uses it.
#[test]
fn an_argument_with_nan_is_named() {
    let _alone = alone();
    debug_nans(true);
    let step = jit(|state: &mut (Array, Array), rate: Array| {
        state.1 = &state.1 - &state.0 * rate;
    });
    let nan = || Array::from([1.0f32, f32::NAN]);
    let text = panic_message(|| step(&mut (Array::zeros(&[2], DType::F32), nan()), scalar(0.5)));
    let expected =
        "the argument state.1 f32[2] has NaN in 1 of 2 elements, and the result f32[2] has it, too";
    assert!(text.contains(expected), "{text}");
    let text = panic_message(|| step(&mut (nan() + nan(), nan()), scalar(f32::NAN)));
    assert!(text.contains("f32[2] with NaN"), "{text}");
}

#[test]
fn both_parts_of_complex_numbers_are_checked() {
    let _alone = alone();
    debug_nans(true);
    for dtype in [DType::C64, DType::C128] {
        let zeros = Array::zeros(&[3], dtype);
        let text = panic_message(|| &zeros / &zeros);
        let expected = format!("div: the result {dtype}[3] has NaN in 3 of 3 elements");
        assert!(text.starts_with(&expected), "{text}");
    }
}

#[test]
fn infinities_are_found_on_their_own() {
    let _alone = alone();
    debug_nans(true);
    let f = jit(|x: Array| x.reciprocal());
    assert_eq!(f(scalar(0.0)).item::<f32>(), f32::INFINITY);
    debug_infs(true);
    let text = panic_message(|| f(scalar(0.0)));
    assert!(
        text.starts_with("div: the result f32[] has an infinity"),
        "{text}"
    );
    let half = Array::from_slice(&[half::f16::MAX], &[1]);
    let text = panic_message(|| &half * 2.0);
    assert!(
        text.starts_with("mul: the result f16[1] has an infinity"),
        "{text}"
    );
}

#[test]
fn state_is_not_given_away_while_results_are_checked() {
    let _alone = alone();
    debug_nans(true);
    let step = jit(|s: &mut Array, x: Array| *s = &*s / &x);
    let mut s = Array::from(vec![1.0f32; 1000]);
    step(&mut s, scalar(2.0));
    assert_eq!(s.to_vec::<f32>()[0], 0.5);
    let mut zeros = Array::from(vec![0.0f32; 1000]);
    let text = panic_message(|| step(&mut zeros, scalar(0.0)));
    assert!(
        text.starts_with("div: the result f32[1000] has NaN in 1000"),
        "{text}"
    );
}

#[test]
fn without_jit_values_can_be_read() {
    let _alone = alone();
    let inner = jit(|x: Array| {
        let positive = x.to_vec::<f32>()[0] > 0.0;
        if positive { x * 2.0 } else { x }
    });
    let f = jit(move |x: Array| inner(x) + 1.0);
    assert_eq!(
        disable_jit(|| f(Array::from([3.0f32]))).to_vec::<f32>(),
        [7.0]
    );
    assert_eq!(f.compilations(), 0);
    assert!(panic_message(|| f(Array::from([3.0f32]))).contains("not known at trace time"));
    let step = jit(|s: &mut Array, x: Array| *s = &*s + x.item::<f32>());
    let mut s = scalar(1.0);
    disable_jit(|| step(&mut s, scalar(2.0)));
    assert_eq!(s.item::<f32>(), 3.0);
}

#[test]
fn without_jit_control_flow_runs_with_values() {
    let _alone = alone();
    let f = |x: Array| {
        let positive = cond(
            x.sum().gt(0.0),
            |x: Array| scalar(x.to_vec::<f32>()[0]),
            |_| scalar(-1.0),
            x.clone(),
        );
        let (sum, seen) = scan(
            |sum: Array, x: Array| {
                let value = x.item::<f32>();
                (sum + value, x * 2.0)
            },
            positive,
            x.clone(),
        );
        let halved = while_loop(
            |x: Array| scalar(x.item::<f32>()).gt(1.0),
            |x: Array| x / 2.0,
            sum.clone(),
        );
        let last = switch(
            2,
            &[&|x: Array| x, &|x| x, &|x| scalar(-x.item::<f32>())],
            halved,
        );
        (seen, last)
    };
    let x = || Array::from([3.0f32, 4.0]);
    let (seen, last) = disable_jit(|| f(x()));
    assert_eq!(seen.to_vec::<f32>(), [6.0, 8.0]);
    assert_eq!(last.item::<f32>(), -0.625);
    assert!(panic_message(|| f(x())).contains("not known at trace time"));

    // Programs that are there already run one operation after the other.
    let loops = |x: Array| {
        let (sum, ys) = scan(
            |s: Array, x: Array| (&s + &x, &s * &x),
            scalar(0.0),
            x.clone(),
        );
        let many = while_loop(|s: Array| s.lt(100.0), |s: Array| s * 3.0, sum);
        let chosen = cond(many.gt(150.0), |y: Array| y.log(), |y| y, ys);
        (chosen, many)
    };
    let program = make_jaxpr(loops)(x());
    let compiled = jit(loops)(x());
    let outs = disable_jit(|| program.eval(&[x()]));
    assert_eq!(outs[0].to_vec::<f32>(), compiled.0.to_vec::<f32>());
    assert_eq!(outs[1].item::<f32>(), compiled.1.item::<f32>());
}

#[test]
fn a_nan_is_found_inside_of_a_loop() {
    let _alone = alone();
    debug_nans(true);
    let f = jit(|x: Array| {
        let step = |s: Array, x: Array| {
            let s = s - x;
            (s.clone(), s.sqrt())
        };
        scan(step, scalar(2.5), x).1
    });
    let text = panic_message(|| f(Array::from([1.0f32, 1.0, 1.0])));
    assert!(text.starts_with("sqrt: the result f32[] has NaN"), "{text}");
}

#[test]
fn settings_change_while_the_program_runs() {
    let _alone = alone();
    let before = config::read();
    config::update(|c| {
        c.debug_nans = true;
        c.default_matmul_precision = Some(Precision::HIGH);
    });
    assert!(config::read().debug_nans && !config::read().debug_infs);
    let x = Array::ones(&[2, 2], DType::F32);
    let printed = |x: &Array| make_jaxpr(|x: Array| x.matmul(&x))(x.clone()).to_string();
    assert!(printed(&x).contains("(Precision.HIGH, Precision.HIGH)"));
    let none = default_matmul_precision(None, || printed(&x));
    assert!(!none.contains("Precision"), "{none}");
    assert!(panic_message(|| scalar(-1.0).log()).contains("has NaN"));
    config::update(|c| *c = before);
    assert!(scalar(-1.0).log().item::<f32>().is_nan());
    assert!(!printed(&x).contains("Precision"));
}

/// In JAX, too, literals adopt the dtype of the other operand, except beside booleans.
#[test]
fn strict_promotion_refuses_different_dtypes() {
    let _alone = alone();
    use ramie_core::config::{DtypePromotion, numpy_dtype_promotion};
    let (x, n) = (Array::from([1.5f32, 2.0]), Array::from([1i32, 2]));
    let mask = Array::from([true, false]);
    numpy_dtype_promotion(DtypePromotion::Strict, || {
        assert_eq!((&x * 2 + 1.0).to_vec::<f32>(), [4.0, 5.0]);
        assert_eq!((&n + 1).to_vec::<i32>(), [2, 3]);
        assert_eq!((&x + n.astype(DType::F32)).to_vec::<f32>(), [2.5, 4.0]);
        for text in [
            panic_message(|| &x + &n),
            panic_message(|| x.astype(DType::BF16) * &x),
            panic_message(|| &n + 0.5),
            panic_message(|| &mask + 1),
            panic_message(|| where_(&mask, &x, &n)),
            panic_message(|| stats::norm::logpdf(&x, 0.5, &n)),
            panic_message(|| x.lt(&n)),
            panic_message(|| make_jaxpr(|a: Array| a + &n)(x.clone()).to_string()),
        ] {
            assert!(text.contains("numpy_dtype_promotion is strict"), "{text}");
            assert!(text.contains("x.astype(DType::"), "{text}");
        }
        // Functions of the library do not depend on promotion.
        let m = Array::from([[1.0f32, 2.0], [3.0, 5.0]]);
        let loss = grad(|m: Array| m.softmax(-1).log().mean() + m.var().sqrt());
        assert!(loss(m.clone()).is_finite().all().item::<bool>());
        assert!(
            random::normal(&random::key(0), &[3], DType::F32)
                .is_finite()
                .all()
                .item::<bool>()
        );
        assert!(
            (linalg::inv(&m).matmul(&m) - Array::eye(2, DType::F32))
                .abs()
                .max()
                .item::<f32>()
                < 1e-5
        );
    });
    assert_eq!((&x + &n).to_vec::<f32>(), [2.5, 4.0]);
}

#[test]
fn ranks_are_promoted_unless_the_setting_forbids_it() {
    let _alone = alone();
    use ramie_core::config::{RankPromotion, numpy_rank_promotion};
    let (x, y) = (
        Array::from([[1.0f32, 2.0], [3.0, 4.0]]),
        Array::from([1.0f32, 2.0]),
    );
    numpy_rank_promotion(RankPromotion::Raise, || {
        assert_eq!((&x + 1.0 + Array::from(1.0f32)).shape(), [2, 2]);
        assert_eq!((&x + y.expand_dims(&[0])).shape(), [2, 2]);
        let text = panic_message(|| &x + &y);
        let expected = "add: the operands have different ranks: f32[2,2], f32[2]";
        assert!(text.starts_with(expected), "{text}");
        let wrong = panic_message(|| &x + Array::from([1.0f32, 2.0, 3.0]));
        assert!(!wrong.contains("different ranks"), "{wrong}");
        let loss = grad(|m: Array| m.softmax(-1).log().mean() + m.var_over(0).sum());
        assert!(loss(x.clone()).is_finite().all().item::<bool>());
    });
    let warned = numpy_rank_promotion(RankPromotion::Warn, || &x + &y);
    assert_eq!(warned.to_vec::<f32>(), (&x + &y).to_vec::<f32>());
}

#[test]
fn promotions_are_settings_of_the_process() {
    let _alone = alone();
    use ramie_core::config::{self, DtypePromotion, RankPromotion};
    let before = config::read();
    let expected = (DtypePromotion::Standard, RankPromotion::Allow);
    assert_eq!(
        (before.numpy_dtype_promotion, before.numpy_rank_promotion),
        expected
    );
    config::update(|c| c.numpy_rank_promotion = RankPromotion::Warn);
    assert_eq!(config::read().numpy_rank_promotion, RankPromotion::Warn);
    assert_eq!(
        config::read().numpy_dtype_promotion,
        DtypePromotion::Standard
    );
    config::update(|c| *c = before);
    assert_eq!(config::read(), before);
}
