//! Schedules against Optax; `tests/golden/schedules.py` made the numbers.

use ramie_core::{Array, grad, jit, vmap};
use ramie_optim::schedules::*;
use serde_json::Value;

fn golden() -> Value {
    ramie_testing::golden::json("schedules.json")
}

fn cases() -> Vec<(&'static str, Schedule)> {
    let exponential = ExponentialDecay {
        init_value: 1.0,
        transition_steps: 10,
        decay_rate: 0.5,
        transition_begin: 0,
        staircase: false,
        end_value: None,
    };
    let cycle = |init_value, peak_value, warmup_steps, decay_steps, end_value| WarmupCosineDecay {
        init_value,
        peak_value,
        warmup_steps,
        decay_steps,
        end_value,
        ..WarmupCosineDecay::default()
    };
    let pieces = [(30, 3.0), (10, 0.5)];
    vec![
        ("constant", constant_schedule(0.3)),
        ("linear", linear_schedule(1.0, 0.1, 20)),
        ("linear_from", linear_schedule_from(0.0, 2.0, 10, 5)),
        ("polynomial", polynomial_schedule(1.0, 0.2, 2.0, 30, 3)),
        ("cosine", cosine_decay_schedule(0.5, 30, 0.0, 1.0)),
        ("cosine_alpha", cosine_decay_schedule(0.5, 30, 0.1, 1.5)),
        ("exponential", exponential_decay(exponential)),
        (
            "exponential_stairs",
            exponential_decay(ExponentialDecay {
                transition_begin: 5,
                staircase: true,
                end_value: Some(0.1),
                ..exponential
            }),
        ),
        (
            "exponential_growth",
            exponential_decay(ExponentialDecay {
                init_value: 0.01,
                decay_rate: 1.7,
                end_value: Some(1.0),
                ..exponential
            }),
        ),
        (
            "piecewise_constant",
            piecewise_constant_schedule(1.0, &[(10, 0.5), (30, 0.1)]),
        ),
        (
            "piecewise_linear",
            piecewise_interpolate_schedule(Interpolation::Linear, 1.0, &pieces),
        ),
        (
            "piecewise_cosine",
            piecewise_interpolate_schedule(Interpolation::Cosine, 1.0, &pieces),
        ),
        (
            "linear_onecycle",
            linear_onecycle_schedule(100, 0.4, LinearOnecycle::default()),
        ),
        (
            "cosine_onecycle",
            cosine_onecycle_schedule(
                100,
                0.4,
                CosineOnecycle {
                    div_factor: 10.0,
                    final_div_factor: 100.0,
                    ..CosineOnecycle::default()
                },
            ),
        ),
        (
            "join",
            join_schedules(
                vec![
                    linear_schedule(0.0, 1.0, 10),
                    constant_schedule(1.0),
                    cosine_decay_schedule(1.0, 20, 0.0, 1.0),
                ],
                &[10, 20],
            ),
        ),
        ("warmup_constant", warmup_constant_schedule(0.0, 0.3, 10)),
        (
            "warmup_cosine",
            warmup_cosine_decay_schedule(WarmupCosineDecay {
                exponent: 1.2,
                ..cycle(0.0, 1.0, 10, 100, 0.05)
            }),
        ),
        (
            "warmup_exponential",
            warmup_exponential_decay_schedule(
                0.0,
                10,
                ExponentialDecay {
                    transition_steps: 20,
                    decay_rate: 0.7,
                    staircase: true,
                    ..exponential
                },
            ),
        ),
        (
            "warmup_cosine_none",
            warmup_cosine_decay_schedule(cycle(0.3, 1.0, 0, 40, 0.0)),
        ),
        (
            "warmup_exponential_none",
            warmup_exponential_decay_schedule(
                0.3,
                0,
                ExponentialDecay {
                    transition_steps: 20,
                    decay_rate: 0.7,
                    ..exponential
                },
            ),
        ),
        (
            "sgdr",
            sgdr_schedule(&[cycle(0.0, 1.0, 2, 20, 0.0), cycle(0.1, 0.5, 5, 80, 0.01)]),
        ),
    ]
}

fn list(value: &Value) -> Vec<f64> {
    let items = value.as_array().expect("a list").iter();
    items.map(|x| x.as_f64().expect("a number")).collect()
}

#[test]
fn slopes_between_steps() {
    let golden = golden();
    let between: Vec<f32> = list(&golden["between"]).iter().map(|&x| x as f32).collect();
    for (name, schedule) in cases() {
        let Some(expected) =
            (schedule.as_constant().is_none()).then(|| list(&golden["slopes"][name]))
        else {
            continue;
        };
        let slope = grad(|count: Array| schedule.at(&count));
        let got = jit(vmap(slope))(Array::from(between.clone())).to_vec::<f32>();
        for ((at, g), e) in between.iter().zip(&got).zip(&expected) {
            let near = (f64::from(*g) - e).abs() <= 1e-6 * e.abs() + 2e-8;
            assert!(near, "{name} at {at}: the slope is {g}, not {e}");
        }
    }
}

#[test]
fn values_at_steps() {
    let golden = golden();
    let steps: Vec<i32> = list(&golden["steps"]).iter().map(|&x| x as i32).collect();
    let steps = Array::from(steps);
    let cases = cases();
    let recorded = golden["values"].as_object().expect("by name");
    assert_eq!(
        recorded.len(),
        cases.len(),
        "every recorded schedule has a case"
    );
    for (name, schedule) in cases {
        let expected = list(&recorded[name]);
        let got = match schedule.as_constant() {
            Some(value) => vec![value as f32; expected.len()],
            None => jit(vmap(|step: Array| schedule.at(&step)))(steps.clone()).to_vec::<f32>(),
        };
        for ((step, g), e) in steps.to_vec::<i32>().iter().zip(&got).zip(&expected) {
            let g = f64::from(*g);
            assert!(
                (g - e).abs() <= 1e-6 * e.abs() + 1e-7,
                "{name} at {step}: {g}, not {e}"
            );
        }
    }
}

#[test]
fn the_inverse_square_root_comes_after_a_rise() {
    let rate = inverse_sqrt_schedule(0.2, 4);
    let at = |step: i32| rate.at(&Array::from(step)).item::<f32>();
    assert_eq!((at(0), at(2), at(4)), (0.0, 0.1, 0.2));
    assert!((at(16) - 0.1).abs() < 1e-7);
}

#[test]
#[should_panic(expected = "decay_steps is the total number of steps")]
fn a_decay_shorter_than_its_rise_is_refused() {
    warmup_cosine_decay_schedule(WarmupCosineDecay {
        warmup_steps: 10,
        decay_steps: 10,
        ..WarmupCosineDecay::default()
    });
}

#[test]
#[should_panic(expected = "2 schedules and 2 boundaries")]
fn schedules_and_boundaries_alternate() {
    join_schedules(vec![0.1.into(), 0.2.into()], &[1, 2]);
}
