//! Calls of modules: what is around them, what they cost and keep in loops, and
//! transformations within one another.

use ramie_core::{Array, DType, State, grad, random};
use ramie_nn::linen::{self, Apply, Dense, Module, Scope, Tabulate, Variables};
use ramie_testing::panic_message;
use std::cell::RefCell;
use std::rc::Rc;

struct Mlp;

impl Module for Mlp {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.child(&Dense::new(4), x).tanh();
        scope.named("out", &Dense::new(2), x)
    }
}

fn x() -> Array {
    random::normal(&random::key(7), &[3, 4], DType::F32)
}

#[test]
fn functions_around_calls() {
    let made = Mlp.init(0, x());
    let plain = Mlp.apply(&made, x()).to_vec::<f32>();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = seen.clone();
    let out = linen::intercept_methods(
        move |context, args, next| {
            log.borrow_mut()
                .push(format!("{} {}", context.path, context.class));
            next(args)
        },
        || {
            // Of two, the inner one is nearer to the module.
            linen::intercept_methods(
                |context, args, next| {
                    let factor = if context.path == "out" { 2.0 } else { 1.0 };
                    next(args).iter().map(|a| a * factor).collect()
                },
                || Mlp.apply(&made, x()),
            )
        },
    );
    assert_eq!(*seen.borrow(), [" Mlp", "Dense_0 Dense", "out Dense"]);
    let doubled: Vec<f32> = plain.iter().map(|v| v * 2.0).collect();
    assert_eq!(out.to_vec::<f32>(), doubled);
    // Afterwards calls are as before, and also after a panic.
    let message =
        panic_message(|| linen::intercept_methods(|_, _, _| Vec::new(), || Mlp.init(0, x())));
    assert!(
        message.contains("did not call `next` for `` (Mlp)"),
        "{message}"
    );
    assert_eq!(Mlp.apply(&made, x()).to_vec::<f32>(), plain);
}

#[derive(Clone)]
struct Block;

impl Module<(Array, ()), (Array, ())> for Block {
    fn call(&self, scope: &mut Scope, (x, ()): (Array, ())) -> (Array, ()) {
        (scope.child(&Dense::new(4), x).tanh(), ())
    }
}

fn deep() -> linen::Scan<Block> {
    linen::scan(Block)
        .variable_axes("params", 0)
        .variable_axes("intermediates", 0)
        .split_rngs("params", true)
        .length(5)
}

#[test]
fn tables_of_loops() {
    let model = linen::method(|scope: &mut Scope, x: Array| {
        let (x, ()) = scope.named("deep", &deep(), (x, ()));
        scope.child(&linen::remat(Mlp), x)
    });
    let types = Array::shape_dtype_struct(&[3, 4], DType::F32);
    let table = model.tabulate(0, types, &Tabulate::default().flops());
    let paths: Vec<(&str, &str)> = table.rows.iter().map(|r| (&*r.path, &*r.class)).collect();
    let expected = [
        ("", "Method"),
        ("deep", "ScanBlock"),
        ("deep.Dense_0", "Dense"),
        ("CheckpointMlp_0", "CheckpointMlp"),
        ("CheckpointMlp_0.Dense_0", "Dense"),
        ("CheckpointMlp_0.out", "Dense"),
    ];
    assert_eq!(paths, expected);
    // One round of the loop.
    let flops = |path: &str| table.row(path).and_then(|r| r.flops).expect("counted");
    assert_eq!(flops("deep.Dense_0"), 2 * 3 * 4 * 4 + 12);
    assert_eq!(flops("CheckpointMlp_0.out"), 2 * 3 * 4 * 2 + 6);
    assert!(flops("CheckpointMlp_0") >= flops("CheckpointMlp_0.out"));
    let dense = table.row("deep.Dense_0").expect("a row");
    assert_eq!(dense.size("params").elements, 5 * (16 + 4));
    assert_eq!(table.total("params").elements, 5 * 20 + 20 + 10);
}

#[test]
fn outputs_of_layers_in_loops() {
    let made = deep().init(0, (x(), ()));
    let options = Apply::new().capture_intermediates();
    let ((out, ()), updates) = deep().apply_with(&made, (x(), ()), &options);
    let kept = &updates["intermediates"];
    let inner = kept.get("Dense_0.__call__.0").expect("kept");
    assert_eq!(inner.shape(), [5, 3, 4]);
    let last = inner.index_in_dim(4, 0).squeeze(&[0]).tanh();
    for (a, b) in last.to_vec::<f32>().iter().zip(out.to_vec::<f32>()) {
        assert!((a - b).abs() < 1e-6);
    }
    assert_eq!(kept.get("__call__.0.0").expect("kept").shape(), [3, 4]);
}

/// Gradients go through every transformation within every other.
#[test]
fn transformations_compose() {
    let layer = linen::remat(linen::jit(
        linen::scan(Block)
            .variable_axes("params", 0)
            .split_rngs("params", true)
            .length(2),
    ));
    let many = linen::vmap(layer)
        .variable_axes("params", 0)
        .split_rngs("params", true)
        .axis_size(3);
    let rows = x().reshape(&[3, 1, 4]);
    let made = many.init(0, (rows.clone(), ()));
    assert_eq!(made["params"]["Dense_0.kernel"].shape(), [3, 2, 4, 4]);
    let loss = |params: State| {
        let (out, ()) = many.apply(&Variables::from_params(params), (rows.clone(), ()));
        out.square().sum()
    };
    let together = grad(loss)(made.params());
    // The same one by one, without transformations.
    let one_by_one = |params: State| {
        let mut total = Array::scalar(0.0, DType::F32);
        for i in 0..3 {
            let mut h = rows.index_in_dim(i, 0).squeeze(&[0]);
            for j in 0..2 {
                let at = |a: &Array| {
                    a.index_in_dim(i, 0)
                        .squeeze(&[0])
                        .index_in_dim(j, 0)
                        .squeeze(&[0])
                };
                let params = params.map(at).subtree("Dense_0");
                h = Dense::new(4)
                    .apply(&Variables::from_params(params), h)
                    .tanh();
            }
            total += h.square().sum();
        }
        total
    };
    let apart = grad(one_by_one)(made.params());
    for (path, a) in together.iter() {
        let b = apart.get(path).expect("the same paths").to_vec::<f32>();
        for (a, b) in a.to_vec::<f32>().iter().zip(b) {
            assert!((a - b).abs() < 1e-5, "{path}: {a} and {b}");
        }
    }
}
