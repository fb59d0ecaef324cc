//! Parameters in 16 bits: what rounding takes is carried along, or rounding is
//! fair on the average.

use half::{bf16, f16};
use ramie_core::{Array, DType, State, jit, random};
use ramie_optim::*;

fn state(array: Array) -> State {
    State::from_iter([("w", array)])
}

/// `steps` steps of a transformation with the same gradient, in one program.
fn run(
    tx: &GradientTransformation,
    params: State,
    grad: &State,
    steps: usize,
) -> (State, OptState) {
    let (tx, grad) = (tx.clone(), grad.clone());
    let mut run = (params.clone(), tx.init(&params));
    let step = jit(move |s: &mut (State, OptState)| {
        let taken = std::mem::replace(&mut s.1, OptState::new(()));
        let (updates, next) = tx.update(grad.clone(), taken, Some(&s.0));
        *s = (apply_updates(&s.0, &updates), next);
    });
    for _ in 0..steps {
        step(&mut run);
    }
    assert_eq!(step.compilations(), 1);
    run
}

fn wide(array: &Array) -> Vec<f32> {
    array.astype(DType::F32).to_vec()
}

#[test]
fn kahans_sum_follows_that_of_f32() {
    let steps = 2000;
    let rates = [1e-4f32, 3e-4, -7e-5, 1e-7];
    let grad = state(Array::from(rates.map(|r| -r)));
    for dtype in [DType::BF16, DType::F16] {
        let ones = || state(Array::ones(&[4], dtype));
        let (plain, _) = run(&scale(-1.0), ones(), &grad, steps);
        assert_eq!(wide(&plain["w"]), [1.0; 4], "{dtype}");
        let (params, opt) = run(
            &chain((scale(-1.0), kahan_summation())),
            ones(),
            &grad,
            steps,
        );
        let parts = opt.get::<Vec<OptState>>().unwrap();
        let kahan = parts[1].get::<KahanSummationState>().unwrap();
        assert_eq!(
            (params["w"].dtype(), kahan.compensation["w"].dtype()),
            (dtype, dtype)
        );
        let (p, c) = (wide(&params["w"]), wide(&kahan.compensation["w"]));
        // Each step rounds the compensation, which is at most half a unit of the
        // parameter, to the bits of the type.
        let unit = ramie_core::dtypes::finfo(dtype).eps as f32;
        for i in 0..4 {
            let exact = 1.0 + steps as f32 * rates[i];
            let most = steps as f32 * unit * unit + 1e-5;
            assert!(
                (p[i] + c[i] - exact).abs() <= most,
                "{dtype}: {} + {} for {exact}",
                p[i],
                c[i]
            );
            assert!(c[i].abs() <= unit, "{dtype}: {}", c[i]);
        }
    }
}

#[test]
fn kahans_sum_of_f32_follows_that_of_f64() {
    let grad = state(Array::from([-1e-9f32]));
    let one = || state(Array::from([1.0f32]));
    let (plain, _) = run(&scale(-1.0), one(), &grad, 1000);
    assert_eq!(plain["w"].to_vec::<f32>(), [1.0]);
    let (params, _) = run(&chain((scale(-1.0), kahan_summation())), one(), &grad, 1000);
    let moved = f64::from(params["w"].to_vec::<f32>()[0]) - 1.0;
    assert!((moved - 1e-6).abs() < 1.2e-7, "{moved}");
}

#[test]
fn rounding_at_random_is_fair() {
    let n = 40_000;
    let tx = chain((scale(-1.0), stochastic_rounding(random::key(0))));
    let ulp = 2.0f32.powi(-7);
    for (start, part) in [
        (1.0f32, 0.25f32),
        (1.5, 0.875),
        (-1.0, 0.5),
        (1.0, 0.0),
        (1.0, 1.0),
    ] {
        let params = state(Array::full(&[n], start, DType::BF16));
        let grad = state(Array::full(&[n], -part * ulp, DType::F32));
        let (rounded, _) = run(&tx, params, &grad, 1);
        let moved: Vec<f32> = wide(&rounded["w"])
            .iter()
            .map(|x| (x - start) / ulp)
            .collect();
        // Below one in magnitude, units are half as large.
        let whole = |m: &f32| *m == 0.0 || *m == 1.0 || (start < 0.0 && *m == 0.5);
        assert!(moved.iter().all(whole), "{start} + {part}");
        let mean = moved.iter().map(|m| f64::from(*m)).sum::<f64>() / n as f64;
        let deviation = (0.25 / n as f64).sqrt();
        assert!(
            (mean - f64::from(part)).abs() <= 5.0 * deviation,
            "{start} + {part}: {mean}"
        );
    }
    // Step after step, with other bits in each.
    let params = state(Array::ones(&[n], DType::BF16));
    let grad = state(Array::full(&[n], -1e-4, DType::F32));
    let (moved, _) = run(&tx, params, &grad, 200);
    let mean = wide(&moved["w"])
        .iter()
        .map(|x| f64::from(*x) - 1.0)
        .sum::<f64>()
        / n as f64;
    assert!((mean - 0.02).abs() < 2e-4, "{mean}");
}

#[test]
fn other_numbers_are_left_alone() {
    let special = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.0, 3e38];
    let grad = state(Array::from([0.0f32; 5]));
    for last in [kahan_summation(), stochastic_rounding(random::key(1))] {
        let params = state(Array::from(special.map(bf16::from_f32)));
        let (updates, _) = last.update(grad.clone(), last.init(&params), Some(&params));
        let sums = wide(&apply_updates(&params, &updates)["w"]);
        assert!(sums[2].is_nan());
        assert_eq!((sums[3], sums[4]), (0.0, bf16::from_f32(3e38).to_f32()));
        // Integers and wider parameters get their updates as they are.
        let params = State::from_iter([("n", Array::from([3i32])), ("w", Array::from([1.0f32]))]);
        let step = State::from_iter([("n", Array::from([2i32])), ("w", Array::from([0.5f32]))]);
        let (updates, _) = last.update(step, last.init(&params), Some(&params));
        let sums = apply_updates(&params, &updates);
        assert_eq!((sums["n"].item::<i32>(), sums["w"].item::<f32>()), (5, 1.5));
    }
}

#[test]
#[should_panic(expected = "kahan_summation: `update` was called without parameters")]
fn kahans_sum_needs_parameters() {
    let params = state(Array::from([1.0f32]));
    let tx = kahan_summation();
    tx.update(params.clone(), tx.init(&params), None);
}

#[test]
#[should_panic(expected = "stochastic_rounding: parameters in f16 are not supported, got f16[1]")]
fn only_bf16_is_rounded_at_random() {
    stochastic_rounding(random::key(0)).init(&state(Array::from([f16::ONE])));
}

#[test]
#[should_panic(
    expected = "kahan_summation: parameters of fewer than 16 bits are not supported, got f8_e5m2[1]"
)]
fn types_for_storage_are_refused() {
    kahan_summation().init(&state(Array::from([1.0f32]).astype(DType::F8E5M2)));
}
