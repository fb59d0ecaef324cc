//! Derivatives by chosen arguments and with auxiliary values, Jacobians of structs, and tree
//! definitions, compared with JAX.

use ramie_core::lax::{custom_root, fori_loop};
use ramie_core::options::HasAux;
use ramie_core::typing::{LinearFn, RootFn};
use ramie_core::*;
use ramie_testing::panic_message;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static RECORDED: LazyLock<Value> =
    LazyLock::new(|| ramie_testing::golden::json("ports_transformations.json"));

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
    expect("grad_1", &grad(|s| three(x(), s, y()))(s()));
    let outer = |(x, y): (Array, Array)| three(x, s(), y);
    let (dx, dy) = grad(outer)((x(), y()));
    expect("grad_0_2.0", &dx);
    expect("grad_0_2.2", &dy);
    let (value, dy) = value_and_grad(|y| three(x(), s(), y))(y());
    expect("value", &value);
    expect("value_and_grad_2", &dy);
    // Arguments by reference, and compiled.
    let of = jit(|x: &Array, s: &Array, y: &Array| {
        grad(|s: &Array| ((x * s).sin() * y.square()).sum())(s)
    });
    expect("grad_1", &of(&x(), &s(), &y()));
}

fn pair(x: Array) -> (Array, (Array, i32)) {
    let reversed = x.flip(&[0]);
    (x.sin() * reversed, (x.square().sum(), 3))
}

#[test]
fn auxiliary_values_of_jacobians() {
    let (jacobian, (norm, count)) = jacfwd_with(pair, HasAux)(x());
    expect("jacfwd", &jacobian);
    expect("jacfwd.norm", &norm);
    assert_eq!(count, 3);
    let (jacobian, (norm, _)) = jit(jacrev_with(pair, HasAux))(x());
    expect("jacrev", &jacobian);
    expect("jacrev.norm", &norm);
    let f = |x: Array| (x.integer_pow(3).sum(), x.max());
    let (curvature, max) = hessian_with(f, HasAux)(x());
    expect("hessian_with_aux", &curvature);
    expect("hessian_with_aux.max", &max);
    let ((value, (norm, _)), push) = linearize(pair, x());
    expect("linearize", &value);
    expect("linearize.norm", &norm);
    expect("linearize.tangent", &push(y()).0);
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

/// The number of leaves and their paths.
fn shown<T: Tree>(definition: &tree::TreeDef<T>) -> Vec<String> {
    let paths = definition.paths();
    let texts = paths.iter().map(|path| tree::keystr(path));
    std::iter::once(definition.num_leaves().to_string())
        .chain(texts)
        .collect()
}

/// `{"a": [x, (x,)], "b": x, "c": None}`, as a struct with these keys.
#[derive(ramie_derive::Tree)]
struct Outer<T: Tree> {
    a: (T, (T,)),
    b: T,
    c: Option<T>,
}

#[test]
fn definitions_have_children() {
    let zero = || Array::from(0.0f32);
    let outer = |(a, b): (Array, Array)| Outer {
        a: (a, (zero(),)),
        b,
        c: None,
    };
    let definition = tree::structure(&outer((zero(), zero())));
    let children = definition.children();
    let wanted: Vec<Vec<String>> =
        serde_json::from_value(RECORDED["children"].clone()).expect("lists");
    assert_eq!(children.iter().map(shown).collect::<Vec<_>>(), wanted);
    assert_eq!(children[0], tree::structure(&(zero(), (zero(),))));
    assert_ne!(children[0], tree::structure(&(zero(), [zero(), zero()])));
    assert_eq!(children[2].to_string(), "TreeDef(None)");
    assert_eq!(children[1].children().len(), 0);
    assert_eq!(RECORDED["children_of_leaf"], 0);
    // Static values are children without leaves, and distinguish definitions.
    let counts = |n: usize| tree::structure(&(zero(), n)).children();
    assert_eq!(counts(2)[1], tree::structure(&2usize));
    assert_ne!(counts(2)[1], counts(3)[1]);
    let filled = children[0].unflatten([Array::from(1.0f32), Array::from(2.0f32)]);
    assert_eq!(tree::leaves(&filled)[1].item::<f32>(), 2.0);
}

#[test]
fn definitions_compose() {
    let zero = || Array::from(0.0f32);
    let maps = |inner: (Array, BTreeMap<&'static str, Array>)| BTreeMap::from([("a", inner)]);
    let pair = || (zero(), BTreeMap::from([("d", zero())]));
    let outer = tree::structure(&BTreeMap::from([("a", zero())]));
    let composed = outer.compose(&tree::structure(&pair()));
    assert_eq!(composed, tree::structure(&maps(pair())));
    let text = r#"TreeDef({"a": (*, {"d": *})})"#;
    assert_eq!(composed.to_string(), text);
    let optional = tree::structure(&Some(zero())).compose(&tree::structure(&pair()));
    assert_eq!(optional, tree::structure(&Some(pair())));
    assert_eq!(outer.compose(&tree::structure(&zero())), outer);
    assert_eq!(RECORDED["compose_with_leaf"], true);
    let nested: BTreeMap<&str, Node> = BTreeMap::from([
        (
            "a",
            Node::List(vec![
                Node::Leaf(zero()),
                Node::Tuple((Box::new(Node::Leaf(zero())),)),
            ]),
        ),
        ("b", Node::Leaf(zero())),
    ]);
    let composed = tree::structure(&nested).compose(&tree::structure(&pair()));
    expect_texts("compose", &shown(&composed));
}

/// A list, a tuple or an array, whose keys are those of JAX.
enum Node {
    List(Vec<Node>),
    Tuple((Box<Node>,)),
    Leaf(Array),
}
impl Tree for Node {
    fn walk(&self, visitor: &mut dyn tree::Visitor) {
        match self {
            Node::List(list) => list.walk(visitor),
            Node::Tuple(tuple) => tuple.walk(visitor),
            Node::Leaf(array) => array.walk(visitor),
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        match self {
            Node::List(list) => list.walk_mut(visit),
            Node::Tuple(tuple) => tuple.walk_mut(visit),
            Node::Leaf(array) => visit(array),
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        match self {
            Node::List(list) => Node::List(list.rebuild(leaf)),
            Node::Tuple(tuple) => Node::Tuple(tuple.rebuild(leaf)),
            Node::Leaf(array) => Node::Leaf(leaf(array)),
        }
    }
}

type Parts = Outer<Array>;

#[test]
fn definitions_flatten_up_to_their_leaves() {
    let x = |v: f32| Array::from(v);
    let definition = tree::structure(&Parts {
        a: (x(0.0), (x(0.0),)),
        b: x(0.0),
        c: None,
    });
    let tree = Outer {
        a: (
            Node::List(vec![Node::Leaf(x(1.0)), Node::Leaf(x(2.0))]),
            (Node::Tuple((Box::new(Node::List(vec![Node::Leaf(x(
                3.0,
            ))])),)),),
        ),
        b: Node::Leaf(x(4.0)),
        c: None,
    };
    let parts = definition.flatten_up_to(&tree);
    let wanted: Vec<Vec<f32>> =
        serde_json::from_value(RECORDED["flatten_up_to"].clone()).expect("lists");
    let got: Vec<Vec<f32>> = parts
        .iter()
        .map(|part| tree::leaves(part).iter().map(Array::item).collect())
        .collect();
    assert_eq!(got, wanted);
    assert_eq!(format!("{:?}", parts[0]), "Subtree([*, *])");
    assert_eq!(
        tree::structure(&parts[0]),
        tree::structure(&vec![x(0.0), x(0.0)])
    );
    // The parts of a tree of the same structure are its arrays.
    let own = definition.flatten_up_to(&definition.unflatten([x(5.0), x(6.0), x(7.0)]));
    assert!(own.iter().all(|part| tree::structure(part).is_leaf()));
    let with_c = Outer {
        a: (x(1.0), (x(2.0),)),
        b: x(3.0),
        c: Some(x(4.0)),
    };
    let message = panic_message(|| definition.flatten_up_to(&with_c));
    assert!(
        message.contains("at `c`, the definition has `false`, the tree has `true`"),
        "{message}"
    );
    let shorter = panic_message(|| definition.children()[0].flatten_up_to(&(x(1.0),)));
    assert!(
        shorter.contains("the definition has the entry `1`, the tree has no further entry"),
        "{shorter}"
    );
}

#[test]
fn functions_of_several_arguments_take_tuples() {
    let f = |x: Array, y: &Array| x.square() * y;
    let args = || (Array::from(3.0f32), Array::from(2.0f32));
    let ones = (Array::from(1.0f32), Array::from(0.0f32));
    let item = |x: &Array| x.item::<f32>();
    let (z, dz) = jvp(f, args(), ones.clone());
    assert_eq!((item(&z), item(&dz)), (18.0, 12.0));
    let (_, push) = linearize(f, args());
    assert_eq!(item(&push(ones)), 12.0);
    let (_, pull) = vjp(f, args());
    let (dx, dy) = pull(Array::from(1.0f32));
    assert_eq!((item(&dx), item(&dy)), (12.0, 9.0));
    let with_aux = |x: Array, y: Array| (&x * &y, x + y);
    let (_, pull, sum) = vjp_with(with_aux, args(), HasAux);
    assert_eq!((item(&pull(Array::from(1.0f32)).1), item(&sum)), (3.0, 5.0));
    let shape = eval_shape(|x: &Array, y: &Array| x * y, args());
    assert_eq!(shape.ndim(), 0);
    let (dx, dy) = linear_transpose(|x: Array, y: Array| x * 2.0 + y, args())(Array::from(1.0f32));
    assert_eq!((item(&dx), item(&dy)), (2.0, 1.0));
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
