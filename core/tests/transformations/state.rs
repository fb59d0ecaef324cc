//! States: by path, in order, and back into trees.

use ramie_core::tree::{self, Fixed, Tree, Visitor};
use ramie_core::{Array, DType, State};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

fn scalar(value: f32) -> Array {
    Array::scalar(value, DType::F32)
}

fn values(state: &State) -> Vec<(String, f32)> {
    let items = state.iter().map(|(p, a)| (p.to_owned(), a.item::<f32>()));
    items.collect()
}

/// A leaf of a kind.
struct Param(Array);
impl Tree for Param {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.kind("param");
        visitor.leaf(&self.0);
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        visit(&mut self.0);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        Param(leaf(&self.0))
    }
}

type Model = BTreeMap<String, (Param, Array)>;

fn model() -> Model {
    let layer = |x: f32| (Param(scalar(x)), scalar(x + 0.5));
    [
        ("dense".to_string(), layer(1.0)),
        ("norm".to_string(), layer(2.0)),
    ]
    .into()
}

#[test]
fn by_path_and_kind() {
    let state = State::of(&model());
    let paths: Vec<&str> = state.paths().collect();
    assert_eq!(paths, ["dense.0", "dense.1", "norm.0", "norm.1"]);
    assert_eq!(state.kind("dense.0"), Some("param"));
    assert_eq!(state.kind("dense.1"), None);
    assert_eq!(state.get("norm.1").map(Array::item::<f32>), Some(2.5));
    assert!(state.get("norm").is_none());
    let (params, rest) = state.split(|_, kind| kind == Some("param"));
    assert_eq!(
        values(&params),
        [("dense.0".into(), 1.0), ("norm.0".into(), 2.0)]
    );
    assert_eq!(params.paths().len() + rest.len(), 4);
    assert_eq!(values(&state.of_kind("param")), values(&params));
    let merged = params.merge(rest);
    assert_eq!(
        values(&state.zip(&merged, |a, b| scalar(a.item::<f32>() - b.item::<f32>()))).len(),
        4
    );
    assert!(merged.with_kind(None).of_kind("param").is_empty());
    assert_eq!(
        values(&state.subtree("norm")),
        [("0".into(), 2.0), ("1".into(), 2.5)]
    );
    assert_eq!(
        values(&state.subtree("norm").nested("norm")),
        values(&state)[2..]
    );
}

#[test]
fn insert_and_remove() {
    let mut state = State::new();
    for (i, path) in ["c", "a", "b"].iter().enumerate() {
        assert!(state.insert(path, scalar(i as f32)).is_none());
    }
    assert_eq!(
        state.insert("a", scalar(7.0)).map(|a| a.item::<f32>()),
        Some(1.0)
    );
    let kept = state.clone();
    assert!(state.remove("c").is_some() && state.remove("c").is_none());
    assert_eq!(values(&state), [("a".into(), 7.0), ("b".into(), 2.0)]);
    assert_eq!(kept.len(), 3, "a clone keeps its paths");
    assert_eq!(state.get("b").map(Array::item::<f32>), Some(2.0));
}

#[test]
fn a_state_is_a_tree() {
    let nested = (State::of(&model()), scalar(9.0));
    assert_eq!(
        tree::paths(&nested),
        ["0.dense.0", "0.dense.1", "0.norm.0", "0.norm.1", "1"]
    );
    assert_eq!(tree::paths(&State::of(&scalar(1.0))), [""]);
    assert_eq!(tree::paths(&(State::of(&scalar(1.0)),)), ["0"]);
    assert_eq!(State::of(&nested).kind("0.dense.0"), Some("param"));
    let doubled = tree::map(&nested, |a| scalar(2.0 * a.item::<f32>()));
    assert_eq!(doubled.0.get("norm.1").map(Array::item::<f32>), Some(5.0));
    let mut nested = nested;
    nested.walk_mut(&mut |a| *a = scalar(0.0));
    assert!(nested.0.arrays().iter().all(|a| a.item::<f32>() == 0.0));
}

/// What enters a cache key.
fn signature(state: &State) -> u64 {
    struct Fixeds(DefaultHasher);
    impl Visitor for Fixeds {
        fn leaf(&mut self, _: &Array) {}
        fn fixed(&mut self, value: &dyn Fixed) {
            value.hash_fixed(&mut self.0);
        }
    }
    let mut v = Fixeds(DefaultHasher::new());
    state.walk(&mut v);
    v.0.finish()
}

#[test]
fn paths_and_kinds_are_fixed() {
    let state = State::of(&model());
    assert_eq!(signature(&state), signature(&State::of(&model())));
    assert_eq!(signature(&state), signature(&state.map(|_| scalar(0.0))));
    assert_ne!(signature(&state), signature(&state.with_kind(None)));
    let mut other = state.clone();
    let array = other.remove("norm.1").expect("there");
    assert_ne!(signature(&state), signature(&other));
    other.insert("norm.2", array);
    assert_ne!(signature(&state), signature(&other));
}

#[test]
fn back_into_a_tree() {
    let mut model = model();
    let state = State::of(&model).map(|a| scalar(-a.item::<f32>()));
    state.apply_to(&mut model).expect("of the same structure");
    assert_eq!(model["norm"].1.item::<f32>(), -2.5);
    let params = state.of_kind("param").map(|_| scalar(8.0));
    params.update(&mut model).expect("a part of the structure");
    assert_eq!(model["norm"].0.0.item::<f32>(), 8.0);
    assert_eq!(model["norm"].1.item::<f32>(), -2.5);

    let mut wrong = params.clone();
    wrong.insert("norm.3", scalar(1.0));
    wrong.insert("dense.0", Array::scalar(1, DType::I32));
    let error = wrong.apply_to(&mut model).expect_err("does not fit");
    assert_eq!(error.missing, ["dense.1", "norm.1"]);
    assert_eq!(error.unexpected, ["norm.3"]);
    assert_eq!(error.mistyped[0].0, "dense.0");
    let text = error.to_string();
    for part in [
        "dense.1, norm.1",
        "not in the tree: norm.3",
        "dense.0: the tree has f32[], the state i32[]",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(
        wrong
            .update(&mut model)
            .expect_err("does not fit")
            .missing
            .is_empty()
    );
    assert_eq!(model["dense"].0.0.item::<f32>(), 8.0, "left as it was");
}

#[test]
fn zip_follows_paths_not_places() {
    let a = State::from_iter([("x", scalar(1.0)), ("y", scalar(2.0))]);
    let b = State::from_iter([("y", scalar(20.0)), ("x", scalar(10.0))]);
    let sum = a.zip(&b, |a, b| scalar(a.item::<f32>() + b.item::<f32>()));
    assert_eq!(values(&sum), [("x".into(), 11.0), ("y".into(), 22.0)]);
}

#[test]
#[should_panic(expected = "only in the first: y\n  only in the second: z")]
fn zip_names_what_differs() {
    let a = State::from_iter([("x", scalar(1.0)), ("y", scalar(2.0))]);
    let b = State::from_iter([("x", scalar(1.0)), ("z", scalar(2.0))]);
    a.zip(&b, |a, _| a.clone());
}

#[test]
#[should_panic(expected = "both states have an array at `x`")]
fn merge_refuses_a_path_twice() {
    let a = State::from_iter([("x", scalar(1.0))]);
    let _ = a.clone().merge(a);
}

/// The children that walking a state shows, `-` before those without an array.
fn children(state: &State) -> Vec<String> {
    #[derive(Default)]
    struct Children(Vec<String>);
    impl Visitor for Children {
        fn leaf(&mut self, _: &Array) {
            let last = self.0.last_mut().expect("entered");
            last.remove(0);
        }
        fn enter(&mut self, key: tree::Key<'_>) {
            self.0.push(format!("-{key}"));
        }
    }
    let mut v = Children::default();
    state.walk(&mut v);
    v.0
}

#[test]
fn masked_leaves_keep_their_places() {
    let paths = ["a", "b", "c", "d", "e"];
    let state = State::from_iter(paths.map(|p| (p, scalar(1.0))));
    let masked = state.masked(|path, _| path != "a" && path != "c");
    assert_eq!(masked.paths().collect::<Vec<_>>(), ["b", "d", "e"]);
    assert_eq!(children(&masked), ["-a", "b", "-c", "d", "e"]);
    // Whatever is made of it keeps them, and masking again adds to them.
    let twice = masked.map(|_| scalar(2.0)).masked(|path, _| path == "d");
    assert_eq!(children(&twice), ["-a", "-b", "-c", "d", "-e"]);
    assert_eq!(children(&tree::copy(&twice)), children(&twice));
    assert_eq!(
        children(&masked.zip(&state.filter(|p, _| "bde".contains(p)), |a, _| a.clone())),
        children(&masked)
    );
    let mut changed = masked.clone();
    changed.remove("b");
    changed.insert("f", scalar(1.0));
    assert_eq!(children(&changed), ["-a", "-c", "d", "e", "f"]);
    // They are a part of the structure, as of what a function is compiled for.
    let filtered = state.filter(|path, _| masked.get(path).is_some());
    assert_eq!(children(&filtered), ["b", "d", "e"]);
    assert_ne!(signature(&filtered), signature(&masked));
}

#[test]
fn empty_parts_are_added_and_carried() {
    let mut state = State::from_iter([("a.w", scalar(1.0)), ("b", scalar(2.0))]);
    state.insert_empty("a.none");
    state.insert_empty("a.none");
    state.insert_empty("b"); // an array already
    state.insert("c", scalar(3.0));
    state.insert_empty("d");
    assert_eq!(children(&state), ["a.w", "b", "-a.none", "c", "-d"]);
    assert_eq!(state.empty_paths().collect::<Vec<_>>(), ["a.none", "d"]);
    assert_eq!(children(&state.subtree("a")), ["w", "-none"]);
    let nested = state.subtree("a").nested("x");
    assert_eq!(children(&nested), ["x.w", "-x.none"]);
    let merged = state.clone().merge(nested.clone());
    assert_eq!(
        children(&merged),
        ["a.w", "b", "-a.none", "c", "-d", "x.w", "-x.none"]
    );
    let mut only_empty = State::new();
    only_empty.insert_empty("e");
    assert_eq!(
        children(&only_empty.merge(nested)),
        ["-e", "x.w", "-x.none"]
    );
    // An array takes the place of an empty part.
    state.insert("d", scalar(4.0));
    assert_eq!(children(&state), ["a.w", "b", "-a.none", "c", "d"]);
}

#[test]
fn empty_parts_end_where_an_array_comes() {
    let state = State::from_iter([("a", scalar(1.0)), ("b", scalar(2.0))]);
    let (first, second) = (state.masked(|p, _| p == "a"), state.masked(|p, _| p == "b"));
    let whole = first.clone().merge(second);
    assert_eq!(values(&whole), [("a".into(), 1.0), ("b".into(), 2.0)]);
    assert_eq!(children(&whole), ["a", "b"]);
    // A filter drops empty parts, whether it rejects an array or not.
    assert_eq!(children(&first.filter(|_, _| true)), ["a"]);
}
