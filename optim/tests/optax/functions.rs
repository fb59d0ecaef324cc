//! Functions of Optax that are no optimizers, against Optax;
//! `tests/golden/optax_functions.py` made the numbers and states the problems.

use crate::common;

use common::{golden_of, grid, numbers};
use ramie_core::linalg::NormOrder;
use ramie_core::numpy::complex;
use ramie_core::options::{Reduction, Tolerance};
use ramie_core::{Array, DType, State, grad, random, vmap};
use ramie_optim::perturbations::{Noise, Perturbation, make_perturbed_fun};
use ramie_optim::projections::*;
use ramie_optim::*;
use serde_json::Value;

fn found(section: &str) -> Value {
    golden_of("optax_functions")["found"][section].clone()
}

fn params() -> State {
    State::from_iter([
        ("a", grid(&[3], 1.5, 0.0)),
        ("b.w", grid(&[2, 3], 2.0, 0.7)),
    ])
}

fn other() -> State {
    State::from_iter([
        ("a", grid(&[3], 0.8, 2.0)),
        ("b.w", grid(&[2, 3], 1.1, 1.3)),
    ])
}

/// Elements within `tolerance` of themselves, and of the greatest for those
/// near zero.
#[track_caller]
fn near(what: &str, got: &Array, expected: &Value, tolerance: f64) {
    let expected = numbers(expected);
    let got = got.astype(DType::F32).to_vec::<f32>();
    assert_eq!(got.len(), expected.len(), "{what}");
    let greatest = expected.iter().fold(0.0f64, |a, b| a.max(b.abs()));
    for (g, e) in got.iter().zip(&expected) {
        let limit = tolerance * (e.abs() + 0.1 * greatest) + 1e-30;
        let distance = (f64::from(*g) - e).abs();
        assert!(
            distance <= limit,
            "{what}: {g} instead of {e}\n{got:?}\n{expected:?}"
        );
    }
}

#[track_caller]
fn same(what: &str, got: &State, expected: &Value, tolerance: f64) {
    let arrays = expected.as_object().expect("arrays by path");
    assert!(
        got.paths().all(|p| arrays.contains_key(p)) && got.len() == arrays.len(),
        "{what}: {got:?} instead of {:?}",
        arrays.keys()
    );
    for (path, array) in got.iter() {
        near(&format!("{what}, {path}"), array, &arrays[path], tolerance);
    }
}

/// Every entry of a section, and no other.
#[track_caller]
fn whole<T>(
    section: &str,
    expected: &Value,
    got: Vec<(&str, T)>,
    compare: impl Fn(&str, &T, &Value),
) {
    let names = expected.as_object().expect("entries by name").keys();
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    let mut given: Vec<&str> = got.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    given.sort_unstable();
    assert_eq!(given, names, "the entries of {section}");
    for (name, value) in got {
        compare(&format!("{section}, {name}"), &value, &expected[name]);
    }
}

#[test]
fn projections_onto_sets() {
    let (x, y) = (params(), other());
    let (lower, upper) = (y.map(|a| a - 0.5), y.map(|a| a + 0.5));
    let cases = vec![
        ("non_negative", projection_non_negative(&x)),
        ("box", projection_box(&x, &lower, &upper)),
        ("hypercube", projection_hypercube(&x, 0.7)),
        ("simplex", projection_simplex(&x, 1.0)),
        ("simplex_scaled", projection_simplex(&x, 2.5)),
        ("l1_sphere", projection_l1_sphere(&x, 3.0)),
        ("l1_ball", projection_l1_ball(&x, 3.0)),
        ("l1_ball_inside", projection_l1_ball(&x, 300.0)),
        ("l2_sphere", projection_l2_sphere(&x, 1.5)),
        ("l2_ball", projection_l2_ball(&x, 1.5)),
        ("l2_ball_inside", projection_l2_ball(&x, 150.0)),
        ("linf_ball", projection_linf_ball(&x, 0.9)),
        ("vector", projection_vector(&x, &y)),
        ("hyperplane", projection_hyperplane(&x, &y, 0.5)),
        ("halfspace", projection_halfspace(&x, &y, -3.0)),
        ("halfspace_inside", projection_halfspace(&x, &y, 300.0)),
    ];
    let golden = found("projections");
    whole("projections", &golden["values"], cases, |what, got, e| {
        same(what, got, e, 2e-6);
    });
    let slope = |f: fn(&State) -> State| grad(|x: State| tree::vdot(&f(&x), &other()))(params());
    let slopes = vec![
        ("simplex", slope(|x| projection_simplex(x, 1.0))),
        ("l1_ball", slope(|x| projection_l1_ball(x, 3.0))),
        ("l2_ball", slope(|x| projection_l2_ball(x, 1.5))),
    ];
    whole("slopes", &golden["gradients"], slopes, |what, got, e| {
        same(what, got, e, 2e-6);
    });
}

fn key_data(keys: impl IntoIterator<Item = (String, random::Key)>) -> State {
    let data = |(path, key): (String, random::Key)| (path, random::key_data(&key).clone());
    keys.into_iter().map(data).collect()
}

#[test]
fn arithmetic_of_trees() {
    let (x, y) = (params(), other());
    let mixed = State::from_iter([
        ("a", complex(x.arrays()[0].clone(), y.arrays()[0].clone())),
        ("b", x.arrays()[1].clone()),
    ]);
    let yes = Array::from(true);
    let key = random::key(5);
    let normal = |key: &random::Key, a: &Array| random::normal(key, a.shape(), a.dtype());
    let uniform = |key: &random::Key, a: &Array| random::uniform(key, a.shape(), a.dtype());
    let imaginary = |a: &Array| {
        if a.dtype().is_complex() {
            a.imag()
        } else {
            a.zeros_like()
        }
    };
    let states = vec![
        ("add", tree::add(&x, &y)),
        ("sub", tree::sub(&x, &y)),
        ("mul", tree::mul(&x, &y)),
        ("div", tree::div(&x, &y)),
        ("scale", tree::scale(0.3, &x)),
        ("add_scale", tree::add_scale(&x, -1.7, &y)),
        ("clip", tree::clip(&x, -0.5, 0.8)),
        ("clip_above", tree::clip(&x, None, 0.8)),
        ("clip_below", tree::clip(&x, -0.5, None)),
        ("where", tree::where_state(&yes, &x, &y)),
        ("full_like", tree::full_like(&x, 2.5, None)),
        ("zeros_like", tree::zeros_like(&x, None)),
        ("ones_like", tree::ones_like(&x, None)),
        ("real", tree::real(&mixed)),
        ("conj_imag", tree::conj(&mixed).map(imaginary)),
        ("cast", tree::cast(&x, Some(DType::BF16))),
        ("random_like", tree::random_like(&key, &x, normal)),
        ("random_like_uniform", tree::random_like(&key, &x, uniform)),
        ("split_key_like", key_data(tree::split_key_like(&key, &x))),
        ("update_moment", tree::update_moment(&x, &y, 0.9, 3)),
        (
            "update_infinity_moment",
            tree::update_infinity_moment(&x, &y, 0.9, 0.1),
        ),
        (
            "update_moment_per_elem_norm",
            tree::update_moment_per_elem_norm(&x, &y, 0.9, 2),
        ),
        (
            "bias_correction",
            tree::bias_correction(&x, 0.9, &Array::from(3)),
        ),
        ("incremental_update", incremental_update(&x, &y, 0.2)),
        (
            "periodic_update_due",
            periodic_update(&x, &y, &Array::from(6), 3),
        ),
        (
            "periodic_update_not",
            periodic_update(&x, &y, &Array::from(7), 3),
        ),
    ];
    let nan = State::from_iter([("a", Array::from([f32::NAN, 1.0]))]);
    let equal_nan = Tolerance {
        equal_nan: true,
        ..Tolerance::default()
    };
    let golden = found("trees");
    whole("states", &golden["states"], states, |what, got, e| {
        same(what, got, e, 1e-6);
    });
    let (a, w) = (x.arrays()[0].clone(), x.arrays()[1].clone());
    let zero = Array::zeros(&[3], DType::F32);
    let scaled = |x: Array| scale_gradient(&x, 0.3).square().sum();
    let arrays = vec![
        ("sum", tree::sum(&x)),
        ("max", tree::max(&x)),
        ("min", tree::min(&x)),
        ("vdot", tree::vdot(&x, &y)),
        ("norm", tree::norm(&x)),
        ("squared_norm", tree::squared_norm(&x)),
        ("l1_norm", tree::l1_norm(&x)),
        ("max_norm", tree::max_norm(&x)),
        ("complex_norm", tree::norm(&mixed)),
        ("complex_vdot_real", tree::vdot(&mixed, &mixed).real()),
        ("allclose", tree::allclose(&x, &y, Tolerance::default())),
        ("allclose_same", tree::allclose(&x, &x, (1e-5, 1e-8))),
        (
            "allclose_nan",
            tree::allclose(&nan, &nan, Tolerance::default()),
        ),
        ("allclose_equal_nan", tree::allclose(&nan, &nan, equal_nan)),
        ("size", Array::from(tree::size(&x) as i32)),
        ("safe_norm", safe_norm(&a, 0.1)),
        ("safe_norm_least", safe_norm(&a, 10.0)),
        (
            "safe_norm_axis",
            safe_norm_over(&w, 2.5, NormOrder::P(2.0), -1),
        ),
        (
            "safe_norm_one",
            safe_norm_over(&w, 0.5, NormOrder::P(1.0), Reduction::over(0).keepdims()),
        ),
        ("safe_root_mean_squares", safe_root_mean_squares(&a, 0.1)),
        ("safe_increment", safe_increment(&Array::from(i32::MAX))),
        ("scale_gradient", scale_gradient(&a, 0.3)),
        ("scale_gradient_slope", grad(scaled)(a)),
        (
            "safe_norm_slope",
            grad(|x: Array| safe_norm(&x, 1e-6))(zero),
        ),
    ];
    whole("arrays", &golden["arrays"], arrays, |what, got, e| {
        near(what, got, e, 1e-6);
    });
}

#[test]
fn element_types_of_trees() {
    let narrow = State::from_iter([
        ("a", Array::zeros(&[2], DType::BF16)),
        ("b", Array::zeros(&[2], DType::F32)),
    ]);
    assert_eq!(tree::dtype(&params()), DType::F32);
    assert_eq!(tree::lowest_dtype(&narrow), DType::BF16);
    assert_eq!(tree::highest_dtype(&narrow), DType::F32);
    let halves = narrow.map(|a| match a.dtype() {
        DType::BF16 => a.clone(),
        _ => a.astype(DType::F16),
    });
    assert_eq!(tree::promoted_dtype(&halves), DType::F32);
}

#[test]
fn arrays_that_stand_for_parameters() {
    let groups: [(&str, GradientTransformation); 2] = [
        ("matrix", contrib::muon(0.1).into()),
        ("vector", adam(0.1).into()),
    ];
    let tx = partition(groups, |_, a| {
        if a.ndim() > 1 { "matrix" } else { "vector" }.to_owned()
    });
    let state = tx.init(&params());
    let mut seen = Vec::new();
    let mapped = tree::map_params_or(
        &params(),
        &state,
        |path, a| {
            seen.push(path.to_owned());
            a + 1.0
        },
        |a| a.zeros_like(),
    );
    seen.sort_unstable();
    assert_eq!(seen, ["a", "a", "b.w"]);
    let mapped = State::of(&mapped);
    let moments = mapped.filter(|path, _| path.contains(".mu.") || path.contains(".nu."));
    assert_eq!(moments.len(), 3);
    for (path, array) in mapped.iter() {
        let expected = f32::from(moments.get(path).is_some());
        let all = array.astype(DType::F32).to_vec::<f32>();
        assert!(all.iter().all(|x| *x == expected), "{path}");
    }
    let of_matrix = |path: &str, _: &Array| path.contains("matrix");
    assert!(tree::get_with(&state, "mu.b.w", of_matrix).is_some());
    assert!(tree::get_with(&state, "mu.a", of_matrix).is_none());
    let mut state = state;
    tree::set_with(&mut state, "count", 7, of_matrix);
    let counts = tree::get_all_with_path(&state, "count");
    for (path, count) in counts {
        let expected = if path.contains("matrix") { 7 } else { 0 };
        assert_eq!(count.item::<i32>(), expected, "{path}");
    }
}

#[test]
fn gradients_clipped_example_by_example() {
    let grads = State::from_iter([
        ("0", grid(&[4, 3], 2.0, 0.0)),
        ("1", grid(&[4, 2, 3], 1.5, 0.5)),
    ]);
    let golden = found("per_example");
    let (sums, clipped) = per_example_global_norm_clip(&grads, 2.5);
    same("global", &sums, &golden["global"], 1e-6);
    near("clipped", &clipped, &golden["num_clipped"], 0.0);
    for (uniform, name) in [(true, "layers"), (false, "scaled")] {
        let (sums, clipped) = per_example_layer_norm_clip(&grads, 2.0, uniform);
        same(name, &sums, &golden[name], 1e-6);
        // Optax says for each example whether it was clipped, here it is how many were.
        for (path, count) in clipped.iter() {
            let of_optax = &golden[format!("{name}_clipped")][path];
            let expected: f64 = numbers(of_optax).iter().sum();
            assert_eq!(f64::from(count.item::<i32>()), expected, "{name}, {path}");
        }
    }
}

#[test]
fn perturbed_functions() {
    let golden = found("perturbations");
    for (noise, name) in [(Noise::Gumbel, "gumbel"), (Noise::Normal, "normal")] {
        for (use_baseline, which) in [(true, "True"), (false, "False")] {
            let options = Perturbation {
                num_samples: 20,
                sigma: 0.3,
                noise,
                use_baseline,
            };
            let smooth = make_perturbed_fun(|x: &State| x.map(|a| a.sign() * a.square()), options);
            let expected = &golden[format!("{name}_{which}")];
            let key = random::key(11);
            // Draws go through logarithms, and weights are differences of them.
            same(name, &smooth(&key, &params()), &expected["value"], 5e-6);
            let slope = grad(|x: State| tree::vdot(&smooth(&key, &x), &other()))(params());
            same(name, &slope, &expected["gradient"], 2e-5);
        }
    }
}

fn loss(p: State) -> Array {
    let (a, w) = (p.get("a").expect("a"), p.get("b.w").expect("b.w"));
    let inputs = grid(&[4, 2], 1.0, 0.2);
    let bent = inputs.matmul(w).tanh().square() * a.square();
    bent.sum() + (a - grid(&[3], 0.5, 0.0)).square().square().sum()
}

#[test]
fn second_derivatives() {
    let cases = vec![
        ("hvp", second_order::hvp(loss, &other(), &params())),
        ("hessian_diag", second_order::hessian_diag(loss, &params())),
        ("fisher_diag", second_order::fisher_diag(loss, &params())),
    ];
    whole(
        "second_order",
        &found("second_order"),
        cases,
        |what, got, e| {
            same(what, got, e, 2e-6);
        },
    );
}

#[test]
fn batches_part_by_part() {
    use ramie_optim::microbatching::*;
    let x = grid(&[12, 3], 1.2, 0.0);
    let total = |x: Array| x.square().sum_over(0);
    let both = microbatch(
        move |x: Array| (x.tanh() * 2.0, total(x)),
        Microbatch::of(4).accumulator(Accumulators::by_path(|path| match path {
            "0" => AccumulationType::Concat,
            _ => AccumulationType::Sum,
        })),
    );
    let (rows, sum) = both(x.clone());
    let with = |kind: AccumulationType| Microbatch::of(3).accumulator(kind);
    let early = with(AccumulationType::RunningMean).num_real_microbatches(Array::from(2));
    let of_axis = microbatch(|x: Array| x.square().sum_over(1), Microbatch::of(4).axis(1));
    let cubes = Microbatch::of(4).accumulator(AccumulationType::Concat);
    let sum_of_cubes = Microbatch::of(4);
    let cube = |r: Array| r.square() * r;
    let objective = |w: Array, (x, y): (Array, Array)| (x.matmul(w).tanh() - y).square().mean();
    let options = PerExample {
        accumulator: AccumulationType::Mean,
        microbatch_size: Some(4),
        ..PerExample::default()
    };
    let of_batch = micro_grad(
        objective,
        |g: Array| (g.clone(), g.square()),
        |g: &Array| g.square().sum().sqrt(),
        options,
    );
    let batch = (x.clone(), grid(&[12], 1.0, 0.4));
    let ((grads, squares), each) = of_batch(grid(&[3], 0.7, 0.0), batch);
    let cases = vec![
        ("concat", rows),
        ("sum", sum),
        (
            "mean",
            microbatch(total, with(AccumulationType::Mean))(x.clone()),
        ),
        (
            "running_mean",
            microbatch(total, with(AccumulationType::RunningMean))(x.clone()),
        ),
        ("early", microbatch(total, early)(x.clone())),
        ("axis", of_axis(x.matrix_transpose())),
        ("reshaped", reshape_batch_axis(&x, 4, 0)),
        (
            "vmap",
            micro_vmap(move |r: Array| cube(r).sum(), Some(cubes))(x.clone()),
        ),
        ("vmap_sum", micro_vmap(cube, Some(sum_of_cubes))(x.clone())),
        ("grad", grads),
        ("grad_squares", squares),
        ("grad_values", each.values),
        ("grad_metrics", each.metrics),
    ];
    whole(
        "microbatching",
        &found("microbatching"),
        cases,
        |what, got, e| {
            near(what, got, e, 2e-6);
        },
    );
    let at_once = micro_vmap(move |r: Array| cube(r).sum(), None)(x.clone());
    near("at once", &at_once, &found("microbatching")["vmap"], 2e-6);
}

#[test]
fn matrices_and_assignments() {
    let x = grid(&[5, 5], 1.3, 0.0);
    let m = x.matmul(x.matrix_transpose());
    let (value, vector) = power_iteration(&m, &PowerIteration::default());
    let root = |p: u32| {
        let options = InversePthRoot {
            ridge_epsilon: 1e-3,
            ..InversePthRoot::default()
        };
        matrix_inverse_pth_root(&m, p, &options).0
    };
    // The sines alone have rank 2, and rounding would choose among solutions.
    let a = grid(&[6, 4], 1.0, 0.0) + 2.0 * Array::eye_with(6, 4, 0, DType::F32);
    let b = grid(&[6, 2], 1.0, 0.6);
    let column = |i: isize| b.index((.., i));
    let pairs = |shape: &[usize]| assignment::hungarian_algorithm(&grid(shape, 3.0, 0.1));
    let (wide, tall, square) = (pairs(&[4, 7]), pairs(&[7, 4]), pairs(&[6, 6]));
    let scores = grid(&[5, 4], 1.4, 0.0);
    let labels = Array::iota(&[5], 0, DType::I32).remainder(4);
    let margin = |s: &Array| losses::multiclass_sparsemax_loss(s, &labels);
    let number = Array::from([[16.0f32]]);
    let cases = vec![
        ("eigenvalue", value),
        ("eigenvector", vector),
        ("root_1", root(1)),
        ("root_2", root(2)),
        ("root_4", root(4)),
        ("root_8", root(8)),
        (
            "root_of_number",
            matrix_inverse_pth_root(&number, 4, &InversePthRoot::default()).0,
        ),
        ("nnls", nnls(&a, &column(0), 2000, None)),
        ("nnls_columns", nnls(&a, &b, 2000, None)),
        (
            "nnls_bound",
            nnls(&a, &column(1), 2000, Some(&Array::from(20.0f32))),
        ),
        ("rows_wide", wide.0),
        ("columns_wide", wide.1),
        ("rows_tall", tall.0),
        ("columns_tall", tall.1),
        ("rows_square", square.0),
        ("columns_square", square.1),
        ("sparsemax", margin(&scores)),
        ("sparsemax_slope", grad(|s: Array| margin(&s).sum())(scores)),
    ];
    whole("matrices", &found("matrices"), cases, |what, got, e| {
        // The matrix has a condition of 1000, which inverse roots magnify.
        let tolerance = if what.contains("root") { 2e-4 } else { 1e-5 };
        near(what, got, e, tolerance);
    });
}

#[test]
fn assignments_of_batches_and_ties() {
    let costs = Array::from(vec![1.0f32; 12]).reshape(&[3, 4]);
    let (rows, columns) = assignment::hungarian_algorithm(&costs);
    let mut columns = columns.to_vec::<i32>();
    columns.sort_unstable();
    columns.dedup();
    assert_eq!((rows.to_vec::<i32>().len(), columns.len()), (3, 3));
    let batch = grid(&[3, 4, 4], 2.0, 0.5);
    let (_, of_batch) = vmap(|c: Array| assignment::hungarian_algorithm(&c))(batch.clone());
    for i in 0..3 {
        let (_, alone) = assignment::hungarian_algorithm(&batch.index(i));
        assert_eq!(of_batch.index(i).to_vec::<i32>(), alone.to_vec::<i32>());
    }
    let (none, _) = assignment::hungarian_algorithm(&Array::zeros(&[0, 3], DType::F32));
    assert_eq!(none.shape(), [0]);
}
