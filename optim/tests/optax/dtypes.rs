//! Parameters and gradients of narrow dtypes: optimizers compute in at least `f32`.

use ramie_core::{Array, DType, State, jit};
use ramie_optim::*;

const NARROW: [DType; 2] = [DType::BF16, DType::F16];

fn one(values: &[f32], dtype: DType) -> State {
    State::from_iter([("w", Array::from(values.to_vec()).astype(dtype))])
}

fn numbers(state: &State) -> Vec<f32> {
    state.arrays()[0].astype(DType::F32).to_vec::<f32>()
}

fn near(got: &[f32], expected: &[f32], tolerance: f32) -> bool {
    let each = got.iter().zip(expected);
    got.len() == expected.len()
        && each
            .into_iter()
            .all(|(g, e)| (g - e).abs() <= tolerance * e.abs())
}

/// google-deepmind/optax#1414: hyperparameters in the state configure the same optimizer as numbers do.
#[test]
fn injected_hyperparameters_are_in_f32() {
    let given = [
        ("learning_rate", 0.125),
        ("b1", 0.9),
        ("b2", 0.999),
        ("eps", 1e-8),
    ];
    for dtype in NARROW {
        let (params, grads) = (one(&[1.0, -2.0], dtype), one(&[0.5, 0.25], dtype));
        let plain: GradientTransformation = adam(0.125).into();
        let injected: GradientTransformation = inject_hyperparams(given, |h| {
            adam(h.get("learning_rate"))
                .b1(h.get("b1"))
                .b2(h.get("b2"))
                .eps(h.get("eps"))
        })
        .into();
        let of =
            |tx: &GradientTransformation| tx.update(grads.clone(), tx.init(&params), Some(&params));
        let ((expected, _), (got, state)) = (of(&plain), of(&injected));
        assert_eq!(numbers(&expected), [-0.125, -0.125], "{dtype}");
        assert_eq!(numbers(&got), numbers(&expected), "{dtype}");
        for (name, value) in given {
            let kept = tree::get(&state, &format!("hyperparams.{name}")).expect(name);
            assert_eq!(
                (kept.dtype(), kept.item::<f32>()),
                (DType::F32, value as f32),
                "{dtype}"
            );
        }
    }
}

/// tenstorrent/tt-metal#55935: the mean of squares forgets with a horizon of 1000 steps in every dtype.
#[test]
fn the_mean_of_squares_forgets_old_gradients() {
    let last = |dtype: DType| {
        let tx: GradientTransformation = adam(1.0).into();
        let mut state = tx.init(&one(&[0.0], dtype));
        let step = jit(move |state: &mut OptState, grads: State| {
            let taken = std::mem::replace(state, OptState::new(()));
            let (updates, next) = tx.update(grads, taken, None);
            *state = next;
            updates
        });
        let (large, small) = (one(&[1.0], dtype), one(&[0.01], dtype));
        (0..200).for_each(|_| _ = step(&mut state, large.clone()));
        (1..3000).for_each(|_| _ = step(&mut state, small.clone()));
        let updates = step(&mut state, small);
        assert_eq!((updates["w"].dtype(), step.compilations()), (dtype, 1));
        numbers(&updates)[0]
    };
    // nu = (1 - b2²⁰⁰) b2³⁰⁰⁰ + 1e-4 (1 - b2³⁰⁰⁰) = 0.00911, divided by 1 - b2³²⁰⁰ = 0.9593.
    let right = -0.1026;
    assert!((last(DType::F32) - right).abs() < 2e-4);
    for dtype in NARROW {
        let got = last(dtype);
        assert!(
            (got - right).abs() < 4e-3 * right.abs() + 2e-4,
            "{dtype}: {got}"
        );
    }
}

/// The first update of sgd, adam and so on is rounded once, in a chain as alone.
#[test]
fn a_chain_rounds_once() {
    for dtype in NARROW {
        let grads = one(&[0.3, -1.7, 100.0, 0.01], dtype);
        // Each factor rounds in bf16 and f16: the product of the rounded factors differs.
        let tx = chain((scale(0.1), scale(0.7), scale(1.0 / 3.0)));
        let (got, _) = tx.update(grads.clone(), tx.init(&grads), None);
        let wide = grads["w"].astype(DType::F32) * ((0.1f32 * 0.7) / 3.0);
        assert_eq!(got["w"].dtype(), dtype);
        assert_eq!(
            numbers(&got),
            wide.astype(dtype).astype(DType::F32).to_vec::<f32>(),
            "{dtype}"
        );
    }
}

/// google-deepmind/optax#1754, #1784 and #1789.
#[test]
fn gradients_of_zero_move_nothing() {
    let optimizers: [(&str, GradientTransformation); 13] = [
        ("sgd", sgd(0.125).into()),
        ("adam", adam(0.125).into()),
        ("adamw", adamw(0.125).weight_decay(0.0).into()),
        ("amsgrad", amsgrad(0.125).into()),
        ("adamax", adamax(0.125).into()),
        ("adabelief", adabelief(0.125).into()),
        ("radam", radam(0.125).into()),
        ("adan", adan(0.125).weight_decay(0.0).into()),
        ("lamb", lamb(0.125).into()),
        ("rmsprop", rmsprop(0.125).into()),
        ("adagrad", adagrad(0.125).into()),
        ("novograd", novograd(0.125).into()),
        ("lion", lion(0.125).weight_decay(0.0).into()),
    ];
    for dtype in [DType::F32, DType::BF16, DType::F16] {
        for (name, tx) in &optimizers {
            let (params, grads) = (one(&[1.0, -2.0], dtype), one(&[0.0, 0.0], dtype));
            let mut state = tx.init(&params);
            for _ in 0..3 {
                let (updates, next) = tx.update(grads.clone(), state, Some(&params));
                assert_eq!(numbers(&updates), [0.0, 0.0], "{name} in {dtype}");
                state = next;
            }
        }
    }
}

#[test]
fn states_are_in_f32_and_updates_in_the_dtype_of_gradients() {
    for dtype in NARROW {
        let params = one(&[1.0, 2.0], dtype);
        let tx: GradientTransformation = adam(0.1).into();
        let (updates, state) = tx.update(params.clone(), tx.init(&params), Some(&params));
        assert_eq!(updates["w"].dtype(), dtype);
        for name in ["mu.w", "nu.w"] {
            assert_eq!(tree::get(&state, name).expect(name).dtype(), DType::F32);
        }
        // Gradients or parameters in f32 get updates in f32.
        let wide = params.astype(DType::F32);
        for (grads, params) in [(&wide, &params), (&params, &wide)] {
            let (updates, _) = tx.update(grads.clone(), tx.init(params), Some(params));
            assert_eq!(updates["w"].dtype(), DType::F32);
        }
    }
}

/// Transformations of other crates get arrays in f32, too.
#[test]
fn own_transformations_compute_in_f32() {
    let average = GradientTransformation::new(
        |params: &State| params.zeros_like(),
        |updates: State, mean: State, params: Option<&State>| {
            assert_eq!(params.expect("parameters")["w"].dtype(), DType::F32);
            let mean = updates.zip(&mean, |u, m| u * 0.001 + m * 0.999);
            (mean.clone(), mean)
        },
    );
    let params = one(&[1.0], DType::BF16);
    let mut state = average.init(&params);
    for _ in 0..100 {
        state = average.update(params.clone(), state, Some(&params)).1;
    }
    let mean = state.get::<State>().expect("the mean");
    assert!(
        near(&numbers(mean), &[1.0 - 0.999f32.powi(100)], 1e-4),
        "{mean:?}"
    );
}

/// Each combinator, around or before a transformation that needs the dtype of the parameters.
#[test]
fn exact_updates_pass_through_combinators() {
    let kahan = || chain((sgd(1.0), kahan_summation()));
    let everything = |_: &str, _: &Array| true;
    let combinators: [(&str, GradientTransformation); 12] = [
        ("chain", chain([kahan()])),
        ("named_chain", named_chain([("all", kahan())])),
        ("masked", masked(kahan(), everything)),
        (
            "partition",
            partition([("all", kahan())], |_, _| "all".to_owned()),
        ),
        ("multi_steps", multi_steps(kahan(), 1).into()),
        ("apply_if_finite", apply_if_finite(kahan(), 3)),
        (
            "conditionally_transform",
            conditionally_transform(kahan(), |step, _| step.lt(100)),
        ),
        (
            "conditionally_mask",
            conditionally_mask(kahan(), |step, _| step.lt(100)),
        ),
        ("flatten", flatten(kahan())),
        ("state_dtype", state_dtype(kahan(), DType::BF16)),
        ("adam", chain((clip(1.0), scale(-1.0), kahan_summation()))),
        (
            "inject_hyperparams",
            inject_hyperparams([("learning_rate", 1.0)], |h| {
                chain((sgd(h.get("learning_rate")), kahan_summation()))
            })
            .into(),
        ),
    ];
    for (name, tx) in combinators {
        let (mut params, grads) = (
            one(&[1.0, 1.0], DType::BF16),
            one(&[-1e-3, 0.0], DType::BF16),
        );
        let mut state = tx.init(&params);
        for _ in 0..40 {
            let (updates, next) = tx.update(grads.clone(), state, Some(&params));
            assert_eq!(updates["w"].dtype(), DType::F32, "{name}");
            (params, state) = (apply_updates(&params, &updates), next);
        }
        let got = numbers(&params);
        assert!(
            (got[0] - 1.04).abs() <= 0.004 && got[1] == 1.0,
            "{name}: {got:?}"
        );
    }
}

/// Combinators around a transformation that returns updates in f32.
#[test]
fn conditional_transformations_of_narrow_gradients() {
    let combinators: [(&str, GradientTransformation); 6] = [
        ("apply_if_finite", apply_if_finite(adam(0.125), 3)),
        (
            "conditionally_transform",
            conditionally_transform(adam(0.125), |step, _| step.lt(1)),
        ),
        (
            "conditionally_mask",
            conditionally_mask(adam(0.125), |step, _| step.lt(1)),
        ),
        ("multi_steps", multi_steps(adam(0.125), 1).into()),
        (
            "multi_steps_skip",
            multi_steps(adam(0.125), 1).skip(skip_not_finite).into(),
        ),
        (
            "masked",
            chain((
                masked(trace(0.0), |_, a| a.dtype() != DType::F32),
                adam(0.125),
            )),
        ),
    ];
    for (name, tx) in combinators {
        for dtype in NARROW {
            let grads = one(&[0.5, -300.0], dtype);
            let (updates, _) = tx.update(grads.clone(), tx.init(&grads), Some(&grads));
            assert_eq!(
                (updates["w"].dtype(), numbers(&updates)),
                (dtype, vec![-0.125, 0.125]),
                "{name}"
            );
        }
    }
}

#[test]
fn the_state_in_another_dtype() {
    let params = one(&[1.0, 2.0], DType::F32);
    let tx = state_dtype(adam(0.5).b2(0.9), DType::BF16);
    let mut state = tx.init(&params);
    let own: GradientTransformation = adam(0.5).b2(0.9).into();
    let mut own_state = own.init(&params);
    for i in 0..20 {
        let grads = one(&[1.0 + i as f32, -0.1], DType::F32);
        let (got, next) = tx.update(grads.clone(), state, Some(&params));
        let (expected, own_next) = own.update(grads, own_state, Some(&params));
        (state, own_state) = (next, own_next);
        assert_eq!(got["w"].dtype(), DType::F32);
        assert!(
            near(&numbers(&got), &numbers(&expected), 0.03),
            "{got:?}, {expected:?}"
        );
        let dtypes = ["mu.w", "nu.w", "count"].map(|n| tree::get(&state, n).expect(n).dtype());
        assert_eq!(dtypes, [DType::BF16, DType::BF16, DType::I32]);
    }
    let again = ramie_core::tree::copy(&state);
    assert_eq!(
        again
            .get::<StateDtypeState>()
            .expect("its state")
            .dtypes
            .len(),
        3
    );
}

#[test]
#[should_panic(expected = "state_dtype: i32 is not a floating-point dtype")]
fn a_state_of_integers_is_refused() {
    state_dtype(adam(0.1), DType::I32);
}

/// 300² is infinite in `f16`, and 256 + 1 is 256 in `bf16`.
#[test]
fn norms_and_sums_are_in_f32() {
    for dtype in NARROW {
        let (x, y) = (one(&[300.0, -400.0], dtype), one(&[2.0, 1.0], dtype));
        let rows = State::from_iter([(
            "w",
            Array::from([[300.0f32, 400.0], [0.0, 0.0]]).astype(dtype),
        )]);
        let many = one(&[1.0; 300], dtype);
        let order = ramie_core::linalg::NormOrder::P(2.0);
        let found = [
            (tree::norm(&x), 500.0),
            (global_norm(&x), 500.0),
            (tree::squared_norm(&x), 250_000.0),
            (tree::l1_norm(&x), 700.0),
            (tree::max_norm(&x), 400.0),
            (tree::vdot(&x, &x), 250_000.0),
            (tree::vdot(&x, &y), 200.0),
            (tree::sum(&many), 300.0),
            (safe_norm(&x["w"], 0.0), 500.0),
            (safe_norm_over(&rows["w"], 1.0, order, 1).max(), 500.0),
            (safe_root_mean_squares(&x["w"], 0.0), 353.553_4),
        ];
        for (i, (got, right)) in found.iter().enumerate() {
            assert_eq!((got.dtype(), got.ndim()), (DType::F32, 0), "{i} in {dtype}");
            assert!(
                (got.item::<f32>() - right).abs() <= 1e-6 * right,
                "{i} in {dtype}: {got}"
            );
        }
    }
}

#[test]
fn large_gradients_are_clipped_to_their_norm() {
    for dtype in NARROW {
        let grads = one(&[30_000.0, -40_000.0], dtype);
        let given = numbers(&grads);
        let length = given[0].hypot(given[1]);
        for tx in [
            clip_by_global_norm(1.0),
            normalize_by_update_norm().into(),
            contrib::normalize(),
        ] {
            let (updates, _) = tx.update(grads.clone(), tx.init(&grads), None);
            let right = given.iter().map(|g| g / length).collect::<Vec<f32>>();
            assert!(
                near(&numbers(&updates), &right, 4e-3),
                "{dtype}: {updates:?}"
            );
        }
        let each = State::from_iter([(
            "w",
            Array::from([[300.0f32, 400.0], [0.6, 0.8]]).astype(dtype),
        )]);
        let (sums, clipped) = per_example_global_norm_clip(&each, 1.0);
        assert!(
            near(&sums["w"].to_vec::<f32>(), &[1.2, 1.6], 4e-3),
            "{dtype}: {sums:?}"
        );
        assert!((1..=2).contains(&clipped.item::<i32>()));
    }
}

/// Sums with a known number have the dtypes of the states, but are rounded once.
#[test]
fn scaled_states_are_rounded_once() {
    for dtype in NARROW {
        let (x, y) = (
            one(&[1.0, 256.0, 3.0], dtype),
            one(&[0.7, 300.0, -100.0], dtype),
        );
        let wide = |s: &State| s["w"].astype(DType::F32);
        let rounded = |a: Array| a.astype(dtype).astype(DType::F32).to_vec::<f32>();
        for (got, right) in [
            (tree::scale(0.999, &y), wide(&y) * 0.999),
            (tree::add_scale(&x, 0.999, &y), wide(&x) + wide(&y) * 0.999),
        ] {
            assert_eq!(
                (got["w"].dtype(), numbers(&got)),
                (dtype, rounded(right)),
                "{dtype}"
            );
        }
        let wider = tree::full_like(&x, 0.999, Some(DType::F32));
        assert_eq!(wider["w"].to_vec::<f32>(), [0.999; 3]);
        let mean = update_moment(&y, &x, 0.999, 2);
        let right = wide(&y).square() * 0.001 + wide(&x) * 0.999;
        assert!(
            near(&mean["w"].to_vec::<f32>(), &right.to_vec::<f32>(), 1e-6),
            "{dtype}: {mean:?}"
        );
        let new = apply_updates(&x, &tree::scale(1e-3, &y.astype(DType::F32)));
        assert_eq!(
            numbers(&new),
            rounded(wide(&x) + wide(&y) * 1e-3),
            "{dtype}"
        );
    }
}

#[test]
fn projections_and_matrices_of_narrow_dtypes() {
    let matrix = Array::from([[300.0f32, 0.0], [0.0, 100.0]]);
    for dtype in NARROW {
        let x = one(&[300.0, -400.0], dtype);
        for (got, right) in [
            (projections::projection_l2_sphere(&x, 1.0), [0.6, -0.8]),
            (projections::projection_l2_ball(&x, 1.0), [0.6, -0.8]),
            (
                projections::projection_vector(&x, &one(&[300.0, 0.0], dtype)),
                [300.0, 0.0],
            ),
            (projections::projection_simplex(&x, 1.0), [1.0, 0.0]),
        ] {
            assert_eq!(got["w"].dtype(), dtype);
            assert!(near(&numbers(&got), &right, 4e-3), "{dtype}: {got:?}");
        }
        let matrix = matrix.astype(dtype);
        let (largest, _) = power_iteration(&matrix, &PowerIteration::default());
        assert!(
            (largest.item::<f32>() - 300.0).abs() < 1e-2,
            "{dtype}: {largest}"
        );
        let (root, _) = matrix_inverse_pth_root(&matrix, 2, &InversePthRoot::default());
        assert_eq!(root.dtype(), dtype);
        let root = root.astype(DType::F32).to_vec::<f32>();
        assert!(
            near(&[root[0], root[3]], &[1.0 / 300f32.sqrt(), 0.1], 4e-3),
            "{dtype}: {root:?}"
        );
        let solved = nnls(
            &matrix,
            &Array::from([600.0f32, 50.0]).astype(dtype),
            100,
            None,
        );
        assert_eq!(solved.dtype(), dtype);
        assert!(
            near(
                &solved.astype(DType::F32).to_vec::<f32>(),
                &[2.0, 0.5],
                8e-3
            ),
            "{solved}"
        );
    }
}

/// Sums of microbatches exceed what the dtype can add: 256 + 1 is 256 in `bf16`.
#[test]
fn microbatches_are_summed_in_f32() {
    use microbatching::{AccumulationType, Microbatch, microbatch};
    for dtype in NARROW {
        let mut numbers = vec![1.0f32; 512];
        numbers[0] = 2048.0;
        let x = Array::from(numbers).astype(dtype);
        for (kind, right) in [
            (AccumulationType::Sum, 2559.0),
            (AccumulationType::Mean, 2559.0 / 512.0),
            (AccumulationType::RunningMean, 2559.0 / 512.0),
        ] {
            let sum =
                microbatch(|x: Array| x.sum(), Microbatch::of(1).accumulator(kind))(x.clone());
            let got = sum.astype(DType::F32).item::<f32>();
            assert_eq!(sum.dtype(), dtype);
            assert!(
                (got - right).abs() <= 4e-3 * right,
                "{kind:?} in {dtype}: {got}"
            );
        }
    }
}

/// Gradients of the accumulated steps are added in f32, and the update is rounded once.
#[test]
fn accumulated_gradients_are_summed_in_f32() {
    for dtype in NARROW {
        let tx = multi_steps(sgd(1.0), 512).sum();
        let params = one(&[1.0], dtype);
        let inner = GradientTransformation::from(tx);
        let mut state = inner.init(&params);
        let step = jit(move |state: &mut OptState, grads: State| {
            let taken = std::mem::replace(state, OptState::new(()));
            let (updates, next) = inner.update(grads, taken, None);
            *state = next;
            updates
        });
        let mut last = step(&mut state, one(&[2048.0], dtype));
        (1..512).for_each(|_| last = step(&mut state, params.clone()));
        assert!(near(&numbers(&last), &[-2559.0], 4e-3), "{dtype}: {last:?}");
    }
}

/// A slow step of 0.001 changes nothing in `bf16`.
#[test]
fn slow_parameters_are_averages_in_f32() {
    let tx: GradientTransformation = lookahead(sgd(0.0), 1usize, 0.001).into();
    let mut params = LookaheadParams::init_synced(&one(&[1.0], DType::BF16));
    params.fast = one(&[2.0], DType::BF16);
    let state = tx.init(&params.to_state());
    for _ in 0..50 {
        let given = LookaheadParams {
            fast: one(&[2.0], DType::BF16),
            slow: params.slow.clone(),
        };
        let (given, taken) = (given.to_state(), ramie_core::tree::copy(&state));
        let (updates, _) = tx.update(one(&[0.0], DType::BF16), taken, Some(&given));
        params = LookaheadParams::from_state(&apply_updates(&given, &updates));
    }
    let right = 2.0 - 0.999f32.powi(50);
    assert!(
        near(&numbers(&params.slow), &[right], 1e-5),
        "{:?}",
        params.slow
    );
}

#[test]
fn slow_parameters_follow_fast_ones() {
    for dtype in NARROW {
        let tx: GradientTransformation = lookahead(sgd(0.1), 2usize, 0.3).into();
        let mut params = LookaheadParams::init_synced(&one(&[1.0], dtype)).to_state();
        let mut state = tx.init(&params);
        for _ in 0..2 {
            let (updates, next) = tx.update(one(&[0.5], dtype), state, Some(&params));
            assert_eq!(
                (updates["fast.w"].dtype(), updates["slow.w"].dtype()),
                (dtype, DType::F32)
            );
            (params, state) = (apply_updates(&params, &updates), next);
        }
        let wide = |path: &str| params[path].astype(DType::F32).item::<f32>();
        assert!((wide("slow.w") - 0.97).abs() < 1e-3, "{dtype}: {params:?}");
        assert!((wide("fast.w") - 0.97).abs() < 4e-3, "{dtype}: {params:?}");
    }
}

#[test]
fn gradients_of_each_example_are_summed_in_f32() {
    let tx: GradientTransformation = contrib::dpsgd(1.0)
        .l2_norm_clip(2048.0)
        .noise_multiplier(0.0)
        .into();
    for dtype in NARROW {
        let mut numbers = vec![1.0f32; 512];
        numbers[0] = 2048.0;
        let grads =
            State::from_iter([("w", Array::from(numbers).reshape(&[512, 1]).astype(dtype))]);
        let (updates, _) = tx.update(grads.clone(), tx.init(&one(&[1.0], dtype)), None);
        let got = updates["w"].astype(DType::F32).to_vec::<f32>();
        assert_eq!(updates["w"].dtype(), dtype);
        assert!(near(&got, &[-2559.0 / 512.0], 4e-3), "{dtype}: {got:?}");
    }
}

/// The objective gets parameters in their own dtype, the search computes in f32.
#[test]
fn line_searches_evaluate_narrow_parameters() {
    for dtype in NARROW {
        let objective = move |p: &State| {
            assert_eq!(p["w"].dtype(), dtype);
            (&p["w"] - 2.0).square().sum()
        };
        for search in [
            GradientTransformation::from(scale_by_zoom_linesearch()),
            scale_by_backtracking_linesearch().store_grad().into(),
        ] {
            let tx = chain((sgd(1.0), search));
            let mut params = one(&[30.0, 1.0], dtype);
            let mut state = tx.init(&params);
            for _ in 0..10 {
                let (value, grads) = value_and_grad_from_state(&objective, &params, &state);
                let extra = ExtraArgs::new()
                    .value(&value)
                    .grad(&grads)
                    .value_fn(&objective);
                let (updates, next) = tx.update_with(grads.clone(), state, Some(&params), &extra);
                (params, state) = (apply_updates(&params, &updates), next);
            }
            assert!(
                near(&numbers(&params), &[2.0, 2.0], 0.2),
                "{dtype}: {params:?}"
            );
        }
    }
}
