//! Functions of several trees refuse trees of different structures.

use ramie_core::lax::{cond, while_loop};
use ramie_core::options::HasAux;
use ramie_core::*;
use ramie_testing::panic_message;
use std::collections::BTreeMap;

/// A tree whose structure its value decides.
#[derive(Clone)]
enum Form {
    List(Vec<Array>),
    Map(BTreeMap<String, Array>),
    Optional(Option<Array>),
    Pair(Array, f32),
}

impl tree::Tree for Form {
    fn walk(&self, v: &mut dyn tree::Visitor) {
        match self {
            Form::List(x) => x.walk(v),
            Form::Map(x) => x.walk(v),
            Form::Optional(x) => x.walk(v),
            Form::Pair(x, n) => {
                tree::child(v, tree::Key::Field("array"), x);
                tree::child(v, tree::Key::Field("number"), n);
            }
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        match self {
            Form::List(x) => x.walk_mut(visit),
            Form::Map(x) => x.walk_mut(visit),
            Form::Optional(x) => x.walk_mut(visit),
            Form::Pair(x, _) => visit(x),
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Form {
        match self {
            Form::List(x) => Form::List(x.rebuild(leaf)),
            Form::Map(x) => Form::Map(x.rebuild(leaf)),
            Form::Optional(x) => Form::Optional(x.rebuild(leaf)),
            Form::Pair(x, n) => Form::Pair(leaf(x), *n),
        }
    }
}

/// Every function that takes two trees refuses trees of other structures, even if
/// the numbers and types of their arrays agree.
#[test]
fn functions_of_two_trees_compare_structures() {
    let x = || Array::from(2.0f32);
    let map = |key: &str| Form::Map([(key.to_string(), x())].into());
    let differing: [(Form, Form, &str); 5] = [
        (map("a"), map("b"), "`\"a\"`"),
        (Form::List(vec![x()]), map("a"), "the entry `0`"),
        (Form::List(vec![x()]), Form::Optional(Some(x())), "`true`"),
        (Form::Pair(x(), 1.0), Form::Pair(x(), 2.0), "number"),
        (
            Form::List(vec![x()]),
            Form::List(vec![x(), x()]),
            "2 entries",
        ),
    ];
    type Call = Box<dyn Fn(Form, Form)>;
    let with_rule = |x: Form, rule: Form| {
        let custom = custom_jvp(|x: Form| x, move |x: Form, _: Form| (x, rule.clone()));
        drop(jvp(|x: Form| custom(x), x.clone(), x));
    };
    let with_rules = |x: Form, rule: Form| {
        let custom = custom_vjp(
            |x: Form| x,
            |x: Form| (x, ()),
            move |(), _: Form| rule.clone(),
        );
        let (y, pull) = vjp(|x: Form| custom(x), x);
        pull(y);
    };
    let calls: Vec<(&str, Call)> = vec![
        (
            "tree::map2",
            Box::new(|a, b| drop(tree::map2(&a, &b, |a, b| a + b))),
        ),
        (
            "tree::map_trees",
            Box::new(|a, b| drop(tree::map_trees([&a, &b], |[a, b]| a + b))),
        ),
        (
            "tree::transpose",
            Box::new(|a, b| drop(tree::transpose(&[a, b]))),
        ),
        ("jvp", Box::new(|a, b| drop(jvp(|x: Form| x, a, b)))),
        (
            "linearize",
            Box::new(|a, b| drop(linearize(|x: Form| x, a).1(b))),
        ),
        ("vjp", Box::new(|a, b| drop(vjp(|x: Form| x, a).1(b)))),
        (
            "vjp",
            Box::new(|a, b| drop(vjp_with(|x: Form| (x, ()), a, HasAux).1(b))),
        ),
        (
            "linear_transpose",
            Box::new(|a, b| drop(linear_transpose(|x: Form| x, a)(b))),
        ),
        ("custom_jvp", Box::new(with_rule)),
        ("custom_vjp", Box::new(with_rules)),
        (
            "cond",
            Box::new(|a, b| {
                let choose = move |p: Array| {
                    let (a, b) = (a.clone(), b.clone());
                    cond(p, move |()| a.clone(), move |()| b.clone(), ())
                };
                drop(jit(choose)(Array::from(true)));
            }),
        ),
        (
            "while_loop",
            Box::new(|a, b| {
                let endless = |c: Form| tree::leaves(&c)[0].lt(0.0);
                let stuck = move |a: Form| while_loop(endless, |_| b.clone(), a);
                drop(jit(stuck)(a));
            }),
        ),
    ];
    for (name, call) in &calls {
        for (a, b, shown) in &differing {
            let said = panic_message(|| call(a.clone(), b.clone()));
            assert!(said.starts_with(name), "{name}: {said}");
            let own = ["cond", "while_loop"].contains(name);
            assert!(own || said.contains(shown), "{name}: {said}");
        }
        let (same, also) = (map("a"), map("a"));
        if *name != "while_loop" {
            call(same, also);
        }
    }
    let (pair, list) = ((x(), x()), vec![x(), x()]);
    let said = panic_message(|| drop(tree::map2(&pair, &list, |a, _| a.clone())));
    assert!(said.contains("(*, *)") && said.contains("[*, *]"), "{said}");
    let more = panic_message(|| drop(tree::with_leaves(&pair, [x(), x(), x()])));
    assert!(more.contains("3 arrays for the 2 leaves"), "{more}");
}

fn numbers(tree: &impl Tree) -> Vec<f32> {
    tree::leaves(tree).iter().map(|a| a.item()).collect()
}

/// The values and structures of `jax.tree.transpose`, `broadcast` and `map` of JAX 0.12.0.
#[test]
fn several_trees_give_the_trees_of_jax() {
    let x = |value: f32| Array::from(value);
    type Inner = BTreeMap<&'static str, (Array, Option<Array>)>;
    let entries = |a: f32, b: [f32; 2]| -> Inner {
        BTreeMap::from([("a", (x(a), None)), ("b", (x(b[0]), Some(x(b[1]))))])
    };
    // A list of two trees {'a': 1, 'b': (2, 3)} is a tree {'a': [1, 4], 'b': ([2, 5], [3, 6])}.
    let list = vec![entries(1.0, [2.0, 3.0]), entries(4.0, [5.0, 6.0])];
    let (outer, inner) = (
        tree::structure(&vec![x(0.0), x(0.0)]),
        tree::structure(&list[0]),
    );
    let transposed = outer.transpose(&inner, &list);
    assert_eq!(numbers(&transposed), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(
        tree::structure(&transposed).to_string(),
        "TreeDef({\"a\": ([*, *], None), \"b\": ([*, *], [*, *])})"
    );
    let back = inner.transpose(&outer, &transposed);
    assert_eq!(numbers(&back), numbers(&list));
    assert!(tree::structure(&back) == tree::structure(&list));
    let text = panic_message(|| inner.transpose(&outer, &list));
    assert!(
        text.starts_with("TreeDef::transpose: the tree does not"),
        "{text}"
    );
    // broadcast([1, (2, 3)], [{'a': 0, 'b': (0, 0)}, (0, (0, 0))])
    // gives [{'a': 1, 'b': (1, 1)}, (2, (3, 3))].
    let full = (entries(0.0, [0.0; 2]), (x(0.0), (x(0.0), x(0.0))));
    let prefix = (x(1.0), (x(2.0), x(3.0)));
    let filled = tree::broadcast(&prefix, &full);
    assert_eq!(numbers(&filled), [1.0, 1.0, 1.0, 2.0, 3.0, 3.0]);
    let text = panic_message(|| tree::broadcast(&full, &prefix));
    assert!(
        text.contains("at `0`, the prefix has 2 entries, the tree has an array"),
        "{text}"
    );
    // map(lambda *a: sum(a), t, t, t)
    let sums = tree::map_trees([&prefix; 3], |[a, b, c]| a + b + c);
    assert_eq!(numbers(&sums), [3.0, 6.0, 9.0]);
}
