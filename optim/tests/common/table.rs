//! Every optimizer and transformation that is compared with Optax, by groups;
//! `tests/golden/optimizers.py` has the same under the same names.

use ramie_core::{Array, DType, State, random, where_};
use ramie_optim::*;

/// Optimizers by name.
pub type Table = Vec<(&'static str, GradientTransformation)>;

fn decaying() -> Schedule {
    Schedule::new(|count| 0.03_f64 / (count.astype(DType::F32) + 1.0))
}

fn kernels(_: &str, array: &Array) -> bool {
    array.ndim() > 1
}

fn norm(updates: &State) -> State {
    State::of(&global_norm(updates))
}

macro_rules! table {
    ($($name:literal => $tx:expr,)*) => {
        vec![$(($name, GradientTransformation::from($tx))),*]
    };
}

/// `descent` of the script.
pub fn descent() -> Table {
    table! {
        "sgd" => sgd(0.02),
        "sgd_momentum" => sgd(0.01).momentum(0.9),
        "sgd_nesterov" => sgd(0.01).momentum(0.9).nesterov(),
        "sgd_bf16_accumulator" => sgd(0.01).momentum(0.9).accumulator_dtype(DType::BF16),
        "sgd_schedule" => sgd(decaying()),
        "noisy_sgd" => noisy_sgd(0.02).key(random::key(3)),
        "polyak_sgd" => polyak_sgd().max_learning_rate(0.1),
        "polyak_sgd_plus" => polyak_sgd()
            .max_learning_rate(0.1)
            .f_min(0.5)
            .eps(0.1)
            .variant(PolyakVariant::SpsPlus)
            .scaling(0.5),
        "rprop" => rprop(0.01),
        "optimistic_gradient_descent" => optimistic_gradient_descent(0.01).alpha(0.8).beta(1.2),
        "optimistic_adam" => optimistic_adam(0.05).optimism(Some(0.02.into())),
        "optimistic_adam_v2" => optimistic_adam_v2(0.05).beta(0.5),
    }
}

/// `adams` of the script.
pub fn adams() -> Table {
    let belief = || adabelief(0.05).eps(1e-8).eps_root(1e-8);
    table! {
        "adam" => adam(0.05),
        "adam_schedule" => adam(decaying()),
        "adam_tuned" => adam(0.05).b1(0.8).b2(0.95).eps(1e-4).eps_root(1e-6).nesterov(),
        "adam_bf16" => adam(0.05).mu_dtype(DType::BF16),
        "adamw" => adamw(0.05).weight_decay(0.1),
        "adamw_mask" => adamw(0.05).weight_decay(0.1).mask(kernels),
        "adamw_decay_schedule" => adamw(0.05).weight_decay(decaying()).mask(kernels),
        "nadam" => nadam(0.05),
        "nadamw" => nadamw(0.05).weight_decay(0.1),
        "amsgrad" => amsgrad(0.05),
        "amsgrad_uncorrected" => amsgrad(0.05).bias_correction_mu(false).bias_correction_nu(false),
        "adamax" => adamax(0.05),
        "adamaxw" => adamaxw(0.05).weight_decay(0.1),
        "adabelief" => belief(),
        "adabelief_nesterov" => belief().nesterov(),
        "radam" => radam(0.05),
        "radam_nesterov" => radam(0.02).nesterov(),
        "yogi" => yogi(0.05),
        "adan" => adan(0.02).weight_decay(0.1),
    }
}

/// `scaled` of the script.
pub fn scaled() -> Table {
    table! {
        "adagrad" => adagrad(0.1),
        "adadelta" => adadelta(1.0).weight_decay(0.01),
        "rmsprop" => rmsprop(0.02),
        "rmsprop_centered" => rmsprop(0.02).eps(1e-4).centered().momentum(0.5).nesterov(),
        "rmsprop_corrected" => rmsprop(0.02)
            .eps_in_sqrt(false)
            .bias_correction(true)
            .initial_scale(0.1),
        "rmsprop_centered_corrected" => rmsprop(0.02)
            .eps(1e-2)
            .eps_in_sqrt(false)
            .centered()
            .bias_correction(true)
            .initial_scale(1.0),
        "adafactor" => adafactor().learning_rate(0.1),
        "adafactor_factored" => adafactor()
            .learning_rate(0.1)
            .min_dim_size_to_factor(3)
            .momentum(0.5)
            .weight_decay_rate(0.01)
            .mask(kernels),
        "adafactor_plain" => adafactor()
            .learning_rate(decaying())
            .multiply_by_parameter_scale(false)
            .clipping_threshold(None)
            .factored(false),
        "factored_rms_linear" => chain((
            scale_by_factored_rms()
                .min_dim_size_to_factor(3)
                .step_offset(1)
                .decay_rate_fn(|step| (step + 1) * 0.8 / (step + 3)),
            scale(-0.02),
        )),
        "sm3" => sm3(0.05),
        "lamb" => lamb(0.05).weight_decay(0.1).mask(kernels),
        "lars" => lars(0.02)
            .weight_decay(0.01)
            .trust_coefficient(0.5)
            .trust_ratio_mask(kernels),
        "fromage" => fromage(0.05),
        "fromage_schedule" => fromage(decaying()),
        "novograd" => novograd(0.02).weight_decay(0.01),
        "lion" => lion(0.02),
        "lion_smooth" => chain((scale_by_lion().mode(LionMode::Smooth(2.0)), scale(-0.02))),
        "lion_refined" => chain((scale_by_lion().mode(LionMode::Refined), scale(-0.02))),
        "sign_sgd" => sign_sgd(0.02),
        "signum" => signum(0.02),
        "distance_over_gradients" => chain((
            scale_by_distance_over_gradients().reps_rel(0.01),
            scale(-1.0),
        )),
        "sm3_decaying" => chain((scale_by_sm3().b2(0.9), scale(-0.02))),
    }
}

/// `transformations` of the script.
pub fn transformations() -> Table {
    table! {
        "clip" => chain([clip(0.3), scale(-0.2)]),
        "clip_by_global_norm" => chain((clip_by_global_norm(0.5), sgd(0.1).momentum(0.5))),
        "clip_by_block_rms" => chain((clip_by_block_rms(0.2), sgd(0.1))),
        "adaptive_grad_clip" => chain((adaptive_grad_clip(0.1), sgd(0.1))),
        "adaptive_grad_clip_axis" => chain((
            adaptive_grad_clip(0.1).eps(0.1).axes(Some(vec![-1])),
            sgd(0.1),
        )),
        "add_noise" => chain((add_noise(0.1, 0.5, random::key(9)), sgd(0.02))),
        "apply_every" => chain((apply_every(3), sgd(0.005))),
        "centralize" => chain((centralize(), sgd(0.02))),
        "ema" => chain((ema(0.8), sgd(0.02))),
        "ema_biased" => chain((ema(0.8).debias(false), sgd(0.02))),
        "keep_params_nonnegative" => chain((sgd(0.05), keep_params_nonnegative())),
        "normalize_by_update_norm" => chain((normalize_by_update_norm().scale_factor(0.1), scale(-1.0))),
        "param_block_norm" => chain((scale_by_param_block_norm(1e-3), sgd(0.01))),
        "param_block_rms" => chain((scale_by_param_block_rms(1e-3), sgd(0.01))),
        "zero_nans" => chain((zero_nans(), sgd(0.02))),
        "set_to_zero" => chain((adam(0.1), set_to_zero())),
    }
}

/// `wrappers` of the script.
pub fn wrappers() -> Table {
    let parts: [(&str, GradientTransformation); 2] =
        [("clip", clip(0.3)), ("adam", adam(0.05).into())];
    let groups: [(&str, GradientTransformation); 2] = [
        ("matrix", adam(0.05).into()),
        ("vector", sgd(0.02).momentum(0.9).into()),
    ];
    let label = |_: &str, a: &Array| if a.ndim() > 1 { "matrix" } else { "vector" }.to_owned();
    let rates: [(&str, Schedule); 6] = [
        ("learning_rate", decaying()),
        ("b1", 0.8.into()),
        ("b2", 0.999.into()),
        ("eps", 1e-8.into()),
        ("eps_root", 0.0.into()),
        ("weight_decay", 0.1.into()),
    ];
    table! {
        "named_chain" => named_chain(parts),
        "masked" => chain((masked(trace(0.9), kernels), scale(-0.01))),
        "freeze" => chain((adam(0.05), freeze(kernels))),
        "partition" => partition(groups, label),
        "multi_steps" => multi_steps(adam(0.05), 3),
        "multi_steps_sum" => multi_steps_by(sgd(0.02), |step| where_(step.lt(2), 2, 4)).sum(),
        "multi_steps_skip_large" => multi_steps(adam(0.05), 2).skip(skip_large_updates(1.0)),
        "multi_steps_skip_not_finite" => multi_steps(adam(0.05), 2).skip(skip_not_finite),
        "apply_if_finite" => apply_if_finite(adam(0.05), 2),
        "conditionally_transform" => chain((
            conditionally_transform(trace(0.9), |step, _| step.lt(7)),
            scale(-0.01),
        )),
        "conditionally_mask" => conditionally_mask(adam(0.05), |step, _| step.lt(7)),
        "inject_hyperparams" => inject_hyperparams(rates, |h| {
            adamw(h.get("learning_rate"))
                .b1(h.get("b1"))
                .b2(h.get("b2"))
                .eps(h.get("eps"))
                .eps_root(h.get("eps_root"))
                .weight_decay(h.get("weight_decay"))
        }),
        "flatten" => flatten(adam(0.05)),
        "monitor" => chain((
            snapshot("before", norm),
            adam(0.05),
            monitor([("after", measure(norm)), ("mean", measure_with_ema(norm, ema(0.9)))]),
        )),
    }
}

/// `linesearches` of the script.
pub fn linesearches() -> Table {
    table! {
        "lbfgs" => lbfgs(),
        "lbfgs_memory" => lbfgs().memory_size(3).scale_init_precond(false),
        "lbfgs_rate" => lbfgs().learning_rate(0.1).linesearch(identity()),
        "zoom" => chain((
            sgd(1.0),
            scale_by_zoom_linesearch().max_linesearch_steps(15).max_learning_rate(1.0),
        )),
        "backtracking" => chain((sgd(1.0), scale_by_backtracking_linesearch())),
        "backtracking_grad" => chain((sgd(1.0), scale_by_backtracking_linesearch().store_grad())),
    }
}

/// `contrib` of the script.
pub fn of_contrib() -> Table {
    use contrib::*;
    table! {
        "acprop" => acprop(0.02).eps(1e-8).eps_root(1e-8),
        "ademamix" => ademamix(0.02).weight_decay(0.01),
        "simplified_ademamix" => simplified_ademamix(0.002).alpha(0.5),
        "adopt" => adopt(0.02),
        "adopt_clipped" => adopt(0.02).clip_value_fn(|step| step * 0.1 + 0.05),
        "adopt_nesterov" => adopt(0.02).nesterov().use_clipping(false).eps(1e-2),
        "cocob" => cocob(),
        "dadapt_adamw" => dadapt_adamw().estim_lr0(1e-3).weight_decay(0.01),
        "prodigy" => prodigy().estim_lr0(1e-3).weight_decay(0.01),
        "prodigy_safeguarded" => prodigy().estim_lr0(1e-3).safeguard_warmup(),
        "dog" => dog().init_step(DogInit::Heuristic(1e-2)),
        "dog_learning_rate" => dog().init_step(DogInit::LearningRate(1e-2)).weight_decay(0.01),
        "dowg" => dowg().init_estim_sq_dist(1e-2),
        "madgrad" => madgrad(0.01).weight_decay(0.01),
        "mars" => mars(0.02).weight_decay(0.1),
        "mars_unlimited" => mars(0.02).gamma(0.1).b1(0.9).max_grad_norm(f64::INFINITY),
        "normalize" => chain((normalize(), sgd(0.05))),
        "reduce_on_plateau" => chain((
            sgd(0.01),
            reduce_on_plateau()
                .factor(0.5)
                .patience(2)
                .rtol(0.2)
                .cooldown(1)
                .accumulation_size(2),
        )),
        "sam" => sam(sgd(0.02), chain((normalize(), sgd(0.05)))),
        "schedule_free_sgd" => schedule_free_sgd(0.05).weight_decay(0.01),
        "schedule_free_adamw" => schedule_free_adamw(0.05).weight_decay(0.01),
        "sophia" => sophia(0.02).update_interval(3),
        "momo" => momo().learning_rate(0.1).weight_decay(0.01),
        "momo_adapting" => momo().learning_rate(0.1).lower_bound(-1.0).adapt_lower_bound(),
        "momo_adam" => momo_adam().learning_rate(0.05).weight_decay(0.01),
        "momo_adam_adapting" => momo_adam()
            .learning_rate(0.05)
            .lower_bound(-1.0)
            .adapt_lower_bound(),
        "mechanize" => mechanize(sgd(1.0).momentum(0.9)).s_init(1e-2),
        "mechanize_schedule" => mechanize(adam(decaying()))
            .weight_decay(0.0)
            .num_betas(3)
            .s_init(1e-2),
        "galore" => galore(0.05).rank(2).weight_decay(0.01),
        "galore_gap" => galore(0.01).rank(2).update_proj_gap(3).base_optimizer(identity()),
        "galore_lion" => galore(0.02).rank(1).scale(0.5).base_optimizer(scale_by_lion()),
        "muon_spectral" => muon(0.02).preconditioning(Preconditioning::Spectral),
        "muon_aol" => muon(0.02).preconditioning(Preconditioning::Aol),
        "muon_schatten" => muon(0.02)
            .preconditioning(Preconditioning::Schatten)
            .ns_steps(3),
        "muon_dion" => muon(0.02).ns_coeffs(NsCoefficients::dion()),
        "muon_dimensions" => muon(0.02)
            .weight_dimension_numbers(|_, p| {
                (p.shape() == [4, 5]).then(|| WeightDimensionNumbers::new([1], [0]))
            })
            .consistent_rms(Some(0.2)),
        "muon" => muon(0.02).weight_decay(0.01),
        "muon_adaptive" => muon(0.02).nesterov(false).adaptive().consistent_rms(Some(0.2)),
    }
}

/// The optimizers of a group.
///
/// # Panics
/// If there is no such group.
pub fn table(group: &str) -> Table {
    match group {
        "descent" => descent(),
        "adams" => adams(),
        "scaled" => scaled(),
        "transformations" => transformations(),
        "wrappers" => wrappers(),
        "linesearches" => linesearches(),
        "contrib" => of_contrib(),
        other => panic!("there is no group {other}"),
    }
}

/// The groups.
pub const GROUPS: [&str; 7] = [
    "descent",
    "adams",
    "scaled",
    "transformations",
    "wrappers",
    "linesearches",
    "contrib",
];

/// Every optimizer that takes a learning rate, with this one.
pub fn with_rate(rate: &Array) -> Table {
    use contrib::*;
    table! {
        "sgd" => sgd(rate).momentum(0.9).nesterov(),
        "noisy_sgd" => noisy_sgd(rate),
        "polyak_sgd" => polyak_sgd().max_learning_rate(rate),
        "rprop" => rprop(rate),
        "optimistic_gradient_descent" => optimistic_gradient_descent(rate),
        "optimistic_adam" => optimistic_adam(rate),
        "optimistic_adam_v2" => optimistic_adam_v2(rate),
        "adam" => adam(rate),
        "adamw" => adamw(rate).weight_decay(0.1),
        "nadam" => nadam(rate),
        "nadamw" => nadamw(rate),
        "amsgrad" => amsgrad(rate),
        "adamax" => adamax(rate),
        "adamaxw" => adamaxw(rate),
        "adabelief" => adabelief(rate).eps(1e-8).eps_root(1e-8),
        "radam" => radam(rate),
        "yogi" => yogi(rate),
        "adan" => adan(rate),
        "adagrad" => adagrad(rate),
        "adadelta" => adadelta(rate),
        "rmsprop" => rmsprop(rate),
        "adafactor" => adafactor().learning_rate(rate),
        "sm3" => sm3(rate),
        "lamb" => lamb(rate),
        "lars" => lars(rate),
        "fromage" => fromage(rate),
        "novograd" => novograd(rate),
        "lion" => lion(rate),
        "sign_sgd" => sign_sgd(rate),
        "signum" => signum(rate),
        "lbfgs" => lbfgs().learning_rate(rate).linesearch(identity()),
        "acprop" => acprop(rate).eps(1e-8).eps_root(1e-8),
        "ademamix" => ademamix(rate),
        "simplified_ademamix" => simplified_ademamix(rate),
        "adopt" => adopt(rate),
        "cocob" => cocob().learning_rate(rate),
        "dadapt_adamw" => dadapt_adamw().learning_rate(rate).estim_lr0(1e-3),
        "prodigy" => prodigy().learning_rate(rate).estim_lr0(1e-3),
        "dog" => dog().learning_rate(rate).init_step(DogInit::Heuristic(1e-2)),
        "dowg" => dowg().learning_rate(rate).init_estim_sq_dist(1e-2),
        "madgrad" => madgrad(rate),
        "mars" => mars(rate),
        "momo" => momo().learning_rate(rate),
        "momo_adam" => momo_adam().learning_rate(rate),
        "mechanize" => mechanize(adam(rate)).s_init(1e-2),
        "galore" => galore(rate).rank(2),
        "schedule_free_sgd" => schedule_free_sgd(rate),
        "schedule_free_adamw" => schedule_free_adamw(rate),
        "sophia" => sophia(rate).update_interval(2),
        "muon" => muon(rate),
        "sam" => sam(sgd(rate), chain((normalize(), sgd(0.05)))),
        "multi_steps" => multi_steps(adam(rate), 2),
        "masked" => masked(sgd(rate), kernels),
        "apply_if_finite" => apply_if_finite(adam(rate), 2),
    }
}
