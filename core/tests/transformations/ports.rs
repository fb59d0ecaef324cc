//! Derivatives by chosen arguments and with auxiliary values, Jacobians of structs, and tree
//! definitions, compared with JAX.

use ramie_core::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static RECORDED: LazyLock<Value> = LazyLock::new(|| {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/golden/data/ports_transformations.json"
    );
    let text = std::fs::read_to_string(file).expect("recorded values");
    serde_json::from_str(&text).expect("JSON")
});

#[track_caller]
fn expect(name: &str, got: &Array) {
    let wanted: Vec<f64> = serde_json::from_value(RECORDED[name].clone()).expect(name);
    let got = got.to_vec::<f32>();
    assert_eq!(got.len(), wanted.len(), "{name}");
    for (got, wanted) in got.iter().zip(&wanted) {
        let error = (f64::from(*got) - wanted).abs();
        assert!(
            error < 2e-6 * (1.0 + wanted.abs()),
            "{name}: {got} and {wanted}"
        );
    }
}

#[track_caller]
fn expect_texts(name: &str, got: &[String]) {
    let wanted: Vec<String> = serde_json::from_value(RECORDED[name].clone()).expect(name);
    assert_eq!(got, wanted, "{name}");
}

fn x() -> Array {
    Array::from([0.5f32, -1.0, 2.0])
}
fn y() -> Array {
    Array::from([1.5f32, 0.25, -0.75])
}

#[test]
fn gradients_of_chosen_arguments() {
    let three = |x: Array, s: Array, y: Array| ((x * s).sin() * y.square()).sum();
    let s = || Array::from(3.0f32);
    expect("grad_1", &grad_argnums(three, argnums![1])(x(), s(), y()));
    let (dx, dy) = grad_argnums(three, argnums![0, 2])(x(), s(), y());
    expect("grad_0_2.0", &dx);
    expect("grad_0_2.2", &dy);
    let (value, (dy,)) = value_and_grad_argnums(three, argnums![2,])(x(), s(), y());
    expect("value", &value);
    expect("value_and_grad_2", &dy);
    // Arguments by reference, and compiled.
    let of = jit(grad_argnums(
        |x: &Array, s: &Array, y: &Array| ((x * s).sin() * y.square()).sum(),
        argnums![1],
    ));
    expect("grad_1", &of(&x(), &s(), &y()));
}

fn pair(x: Array) -> (Array, (Array, i32)) {
    let reversed = x.flip(&[0]);
    (x.sin() * reversed, (x.square().sum(), 3))
}

#[test]
fn auxiliary_values_of_jacobians() {
    let (jacobian, (norm, count)) = jacfwd_with_aux(pair)(x());
    expect("jacfwd", &jacobian);
    expect("jacfwd.norm", &norm);
    assert_eq!(count, 3);
    let (jacobian, (norm, _)) = jit(jacrev_with_aux(pair))(x());
    expect("jacrev", &jacobian);
    expect("jacrev.norm", &norm);
    let f = |x: Array| (x.integer_pow(3).sum(), x.max());
    let (curvature, max) = hessian_with_aux(f)(x());
    expect("hessian_with_aux", &curvature);
    expect("hessian_with_aux.max", &max);
    let (value, push, (norm, _)) = linearize_with_aux(pair, x());
    expect("linearize", &value);
    expect("linearize.norm", &norm);
    expect("linearize.tangent", &push(y()));
}

#[derive(Clone, ramie_derive::Tree)]
struct Params {
    w: Array,
    b: Array,
}

#[test]
fn jacobians_of_structs() {
    let params = Params {
        w: y(),
        b: Array::from(0.3f32),
    };
    let loss = |p: &Params| (&p.w * x() + &p.b).tanh().square().sum() * &p.b;
    let curvature: BTreeMap<String, Params> = hessian(loss)(&params);
    expect("hessian.w.w", &curvature["w"].w);
    expect("hessian.w.b", &curvature["w"].b);
    expect("hessian.b.w", &curvature["b"].w);
    expect("hessian.b.b", &curvature["b"].b);
    let parts = |x: Array| Params {
        w: &x * 2.0,
        b: x.sum(),
    };
    for jacobian in [jacfwd(parts)(x()), jacrev(parts)(x())] {
        assert_eq!(
            jacobian["w"].to_vec::<f32>(),
            [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]
        );
        assert_eq!(jacobian["b"].to_vec::<f32>(), [1.0; 3]);
    }
}

#[test]
fn solvers_of_roots_differentiate() {
    let root = |a: Array| {
        let f = |x: Array| x.square() - &a;
        let newton = |f: RootFn<'_, Array>, x: Array| {
            let step = |_, x: Array| &x - f(x.clone()) / grad(|x: Array| f(x))(x.clone());
            fori_loop(0, 20, step, x)
        };
        let one = Array::from(1.0f32);
        let tangent = |g: LinearFn<'_, Array>, y: Array| y / g(one.clone());
        custom_root(f, Array::from(1.0f32), newton, tangent)
    };
    assert_eq!(root(Array::from(9.0f32)).item::<f32>(), 3.0);
    let slope = grad(root)(Array::from(9.0f32)).item::<f32>();
    assert!((slope - 1.0 / 6.0).abs() < 1e-6, "{slope}");
}
#[derive(Clone, ramie_derive::Tree)]
struct Named {
    c: Array,
    b: Option<Array>,
}

type Mixed = BTreeMap<&'static str, (Vec<Array>, Option<Array>)>;

#[test]
fn definitions_flatten_and_unflatten() {
    let zeros = |n: usize| Array::zeros(&[n], DType::F32);
    let tree: Mixed = BTreeMap::from([("a", (vec![zeros(2), zeros(1)], None))]);
    let (leaves, treedef) = tree::flatten(&tree);
    assert_eq!(treedef.to_string(), r#"TreeDef({"a": ([*, *], None)})"#);
    assert_eq!((treedef.num_leaves(), treedef.is_leaf()), (2, false));
    assert!(tree::structure(&zeros(3)).is_leaf());
    let back = tree::unflatten(&treedef, leaves.iter().map(|x| x + 1.0));
    assert_eq!(back["a"].0[0].to_vec::<f32>(), [1.0, 1.0]);
    assert_eq!(tree::structure(&back), treedef.clone());
    let other: Mixed = BTreeMap::from([("b", (vec![zeros(2), zeros(1)], None))]);
    assert_ne!(tree::structure(&other), treedef);
    // Other types with the same containers and keys are equal.
    assert_eq!(tree::structure(&[zeros(1)]), tree::structure(&(zeros(2),)));
    let (paths, _) = tree::flatten_with_path(&back);
    assert_eq!(
        treedef.paths(),
        paths.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
    );
}

#[test]
#[should_panic(expected = "got 1 arrays for the 2 leaves")]
fn definitions_count_their_leaves() {
    let pair = (Array::from(1.0f32), Array::from(2.0f32));
    tree::structure(&pair).unflatten([Array::from(1.0f32)]);
}

#[test]
fn texts_of_paths_are_those_of_jax() {
    let zeros = || Array::zeros(&[1], DType::F32);
    let list: BTreeMap<String, (Array, (Array,))> =
        BTreeMap::from([("a".into(), (zeros(), (zeros(),)))]);
    let inner: BTreeMap<String, Array> = BTreeMap::from([("c".into(), zeros())]);
    let inner: BTreeMap<String, BTreeMap<String, Array>> = BTreeMap::from([("it's".into(), inner)]);
    let last: BTreeMap<String, Array> = BTreeMap::from([("é\\".into(), zeros())]);
    let mut paths = Vec::new();
    paths.extend(tree::leaves_with_path(&list));
    paths.extend(tree::leaves_with_path(&inner));
    paths.extend(tree::leaves_with_path(&last));
    assert_eq!(RECORDED["num_leaves"], paths.len());
    let texts: Vec<String> = paths.iter().map(|(path, _)| tree::keystr(path)).collect();
    expect_texts("keystr", &texts);
    let texts: Vec<String> = paths
        .iter()
        .map(|(path, _)| tree::keystr_simple(path, "/"))
        .collect();
    expect_texts("keystr_simple", &texts);
    let named = vec![Named {
        c: zeros(),
        b: None,
    }];
    let (path, _) = &tree::leaves_with_path(&named)[0];
    assert_eq!(tree::keystr(path), "[0].c");
    assert_eq!(path[1], tree::KeyEntry::GetAttrKey("c"));
}

#[test]
fn dictionaries_flatten_as_in_flax() {
    let mut state = State::from_iter([
        ("params.dense.kernel", Array::from(1.0f32)),
        ("params.dense.bias", Array::from(2.0f32)),
        ("step", Array::from(3.0f32)),
    ]);
    state.insert_empty("params.empty");
    let flat = tree::flatten_dict(&state, "/");
    let pairs: Vec<(String, f32)> = flat.iter().map(|(k, a)| (k.clone(), a.item())).collect();
    let wanted: Vec<(String, f32)> =
        serde_json::from_value(RECORDED["flatten_dict"].clone()).expect("pairs");
    assert_eq!(pairs, wanted);
    let kept = tree::flatten_dict_keep_empty(&state, ".");
    expect_texts(
        "flatten_dict_keep_empty",
        &kept.keys().cloned().collect::<Vec<_>>(),
    );
    assert!(kept["params.empty"].is_none());
    let back = tree::unflatten_dict(kept, ".");
    assert_eq!(back.empty_paths().collect::<Vec<_>>(), ["params.empty"]);
    assert_eq!(back["params.dense.bias"].item::<f32>(), 2.0);
    assert_eq!(tree::unflatten_dict(flat, "/").len(), 3);
    type Empty = BTreeMap<&'static str, BTreeMap<&'static str, Array>>;
    let empty: Empty = BTreeMap::from([("x", BTreeMap::new())]);
    assert!(tree::flatten_dict_keep_empty(&empty, "/")["x"].is_none());
    assert!(tree::flatten_dict(&empty, "/").is_empty());
}

#[test]
#[should_panic(expected = "`a` is an array and a prefix of `a.b`")]
fn a_path_is_no_prefix() {
    let one = Array::from(1.0f32);
    tree::unflatten_dict(
        [("a", one.clone()), ("a-c", one.clone()), ("a/b", one)],
        "/",
    );
}

#[test]
fn parts_of_a_type_are_mapped() {
    let named = || Named {
        c: Array::from(2.0f32),
        b: None,
    };
    let trees = vec![(named(), 1usize), (named(), 2)];
    let more = tree::map_parts(&trees, |part: &mut Named| part.c = &part.c * 3.0);
    assert_eq!(more[1].0.c.item::<f32>(), 6.0);
    assert_eq!(trees[1].0.c.item::<f32>(), 2.0);
}
