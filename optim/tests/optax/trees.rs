//! Transformations and functions of trees other than `State`.

use ramie_core::{Array, State, Tree, value_and_grad};
use ramie_derive::Tree;
use ramie_optim::losses::sigmoid_binary_cross_entropy;
use ramie_optim::{
    ExtraArgs, GradientTransformation, adamw, add_decayed_weights_with, apply_updates, chain,
    clip_by_global_norm, inject_hyperparams, multi_steps, scale_by_learning_rate_with, sgd, tree,
};
use ramie_testing::panic_message;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Tree)]
struct Params {
    layers: Vec<Array>,
    scale: Array,
}

/// Returns values recorded from Optax (`tests/golden/ports_nets.py`).
fn recorded() -> Value {
    ramie_testing::golden::json("ports_nets.json")
}

#[track_caller]
fn same<T: Tree>(tree: &T, expected: &Value) {
    let arrays = ramie_core::tree::leaves(tree);
    assert_eq!(arrays.len(), expected.as_array().unwrap().len());
    for (array, expected) in arrays.iter().zip(expected.as_array().unwrap()) {
        let expected = expected.as_array().unwrap().iter();
        let expected: Vec<f64> = expected.map(|x| x.as_f64().unwrap()).collect();
        for (x, y) in array.to_vec::<f32>().iter().zip(&expected) {
            assert!((f64::from(*x) - y).abs() < 1e-6, "{x} {y}");
        }
    }
}

#[test]
fn structs_are_optimized_as_in_optax() {
    let recorded = &recorded()["trees"];
    let mut params = Params {
        layers: vec![Array::from([1.0f32, 2.0]), Array::from([3.0f32])],
        scale: Array::from(0.5f32),
    };
    let tx = chain((clip_by_global_norm(1.0), adamw(0.1).weight_decay(0.01)));
    let mut state = tx.init(&params);
    for _ in 0..3 {
        let grads = tree::mul(&params, &params);
        let (updates, after) = tx.update(grads, state, Some(&params));
        (params, state) = (apply_updates(&params, &updates), after);
    }
    same(&params, &recorded["params"]);
    let norm = tree::norm(&params).item::<f32>();
    assert!((f64::from(norm) - recorded["norm"].as_f64().unwrap()).abs() < 1e-6);
    let decay = add_decayed_weights_with(0.5, |path, _| path == "layers.0");
    let (decayed, _) = decay.update(params.clone(), decay.init(&params), Some(&params));
    same(&decayed, &recorded["decayed"]);
    let up = scale_by_learning_rate_with(0.1, true);
    let down = up.update(params.clone(), up.init(&params), None).0;
    let up = scale_by_learning_rate_with(0.1, false);
    let (scaled, _) = up.update(params.clone(), up.init(&params), None);
    same(&scaled, &recorded["scaled"]);
    same(&tree::scale(-1.0, &down), &recorded["scaled"]);
}

#[test]
fn tuples_and_maps_give_the_results_of_states() {
    let tx = sgd(0.1).momentum(0.9);
    let map = BTreeMap::from([("w".to_owned(), Array::from([1.0f32, 2.0]))]);
    let state = State::of(&map);
    let step = |x: &Array| x * 0.5;
    let (a, _) = tx.update(ramie_core::tree::map(&map, step), tx.init(&map), Some(&map));
    let (b, _) = tx.update(state.map(step), tx.init(&state), Some(&state));
    assert_eq!(a["w"].to_vec::<f32>(), b["w"].to_vec::<f32>());
    let pair = (Array::from(3.0f32), Array::from(4.0f32));
    let (_, grads) = value_and_grad(|(x, y): (Array, Array)| x * y)(pair.clone());
    let (updates, _) = tx.update(grads, tx.init(&pair), None);
    let after = apply_updates(&pair, &updates);
    assert_eq!((after.0.item::<f32>(), after.1.item::<f32>()), (2.6, 3.7));
    assert_eq!(tree::sum(&pair).item::<f32>(), 7.0);
    assert_eq!(tree::zeros_like(&pair, None).0.item::<f32>(), 0.0);
    assert_eq!(tree::size(&map), 2);
}

#[test]
fn builders_have_the_methods_of_their_transformations() {
    fn step(tx: impl Into<GradientTransformation>, x: &Array) -> Vec<f32> {
        let tx = tx.into();
        let state = tx.update(x.clone(), tx.init(x), Some(x)).1;
        tx.update(x.clone(), state, Some(x)).0.to_vec()
    }
    let x = Array::from([1.0f32, -2.0]);
    macro_rules! agree {
        ($($tx:expr),*) => { $( {
            let tx = $tx;
            let state = tx.update(x.clone(), tx.init(&x), Some(&x)).1;
            let extra = ExtraArgs::new();
            let (updates, _) = tx.update_with(x.clone(), state, Some(&x), &extra);
            assert_eq!(updates.to_vec::<f32>(), step(tx, &x));
        } )* };
    }
    agree!(
        adamw(0.1).b1(0.5),
        multi_steps(sgd(0.1), 2),
        inject_hyperparams([("rate", 0.1)], |h| sgd(h.get("rate")))
    );
}

#[test]
fn a_column_of_logits_and_a_row_of_labels_are_refused() {
    let logits = Array::from([0.5f32; 8]).reshape(&[8, 1]);
    let labels = Array::from([1.0f32; 8]);
    let text = panic_message(|| sigmoid_binary_cross_entropy(&logits, &labels));
    assert!(
        text.contains("the labels do not broadcast to the shape of the logits"),
        "{text}"
    );
    assert!(text.contains("help: give both the same shape"), "{text}");
    // One label for every row is fine.
    let logits = Array::from([0.5f32; 8]).reshape(&[4, 2]);
    let losses = sigmoid_binary_cross_entropy(&logits, &Array::from([1.0f32, 0.0]));
    assert_eq!(losses.shape(), [4, 2]);
}

#[test]
fn states_are_mapped_by_the_parameters_of_any_tree() {
    let params = Params {
        layers: vec![Array::from([1.0f32, 2.0]), Array::from([3.0f32])],
        scale: Array::from(0.5f32),
    };
    let state = GradientTransformation::from(adamw(0.1)).init(&params);
    let mut seen = Vec::new();
    let marked = tree::map_params(&params, &state, |path, moment| {
        seen.push(path.to_owned());
        moment + 1.0
    });
    assert_eq!(
        seen,
        [
            "layers.0", "layers.1", "scale", "layers.0", "layers.1", "scale"
        ]
    );
    let of = |path| tree::get(&marked, path).unwrap().to_vec::<f32>();
    assert_eq!(of("mu.layers.0"), [1.0, 1.0]);
    let count = tree::get_with(&marked, "count", |path, _| path.starts_with("0.")).unwrap();
    assert_eq!(count.item::<i32>(), 0);
}
