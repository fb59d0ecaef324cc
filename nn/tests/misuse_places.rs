//! What is refused is told with the caller's line, not one of the library.

use ramie_core::{Array, DType};
use ramie_nn::linen::{self, Apply, Module, Scope, Variables};
use ramie_nn::{
    Conv, ConvTranspose, Deterministic, Dropout, GRUCell, LayerNorm, RNNCell, Rngs,
    UseRunningAverage, nnx,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

static TOLD: Mutex<Option<(String, u32, String)>> = Mutex::new(None);
/// The line of the layer that does not fit.
static LINE: AtomicU32 = AtomicU32::new(0);

/// Checks that a call is refused at a line of this file, in these words. Returns the line.
#[track_caller]
fn refused<R>(parts: &[&str], call: impl FnOnce() -> R) -> u32 {
    let outcome = catch_unwind(AssertUnwindSafe(|| drop(call())));
    assert!(outcome.is_err(), "nothing was said of {parts:?}");
    let (file, line, message) = TOLD.lock().unwrap().take().expect("it was told");
    assert!(
        file.ends_with("misuse_places.rs"),
        "{file} is told: {message}"
    );
    for part in parts.iter().chain(&["help: "]) {
        assert!(message.contains(part), "`{part}` is not in:\n{message}");
    }
    line
}

fn zeros(shape: &[usize]) -> Array {
    Array::zeros(shape, DType::F32)
}

fn rngs() -> Rngs {
    Rngs::new(0)
}

/// A model whose second layer does not fit.
#[derive(Clone)]
struct Model;

impl Module for Model {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.child(&linen::Dense::new(4), x);
        LINE.store(line!() + 1, Ordering::Relaxed);
        scope.child(&linen::LayerNorm::new().feature_axes(&[3]), x)
    }
}

/// The same model as the step of a loop.
#[derive(Clone)]
struct Step;

impl Module<(Array, ()), (Array, ())> for Step {
    fn call(&self, scope: &mut Scope, (x, ()): (Array, ())) -> (Array, ()) {
        (scope.child(&Model, x), ())
    }
}

// One test: what is told goes through the hook of the process.
#[test]
fn lines_of_callers_are_told() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let (file, line) = info.location().map_or(("", 0), |l| (l.file(), l.line()));
        let message = info.payload_as_str().unwrap_or("").to_owned();
        *TOLD.lock().unwrap() = Some((file.to_owned(), line, message));
        hook(info);
    }));
    layers();
    modules();
}

fn layers() {
    refused(&["LayerNorm", "f32[2,9]", "[8]"], || {
        LayerNorm::new(8, &mut rngs()).forward(&zeros(&[2, 9]))
    });
    refused(&["LayerNorm", "no axis -1", "f32[]"], || {
        LayerNorm::new(8, &mut rngs()).forward(&zeros(&[]))
    });
    refused(&["Dropout", "provides an RNG key"], || {
        let mut dropout = Dropout::with_rate(0.5).build_without_keys();
        dropout.forward(&zeros(&[2]))
    });
    refused(&["Conv: strides is [2], but the window has 2 axes"], || {
        Conv::features(8, [3, 3]).strides([2]).build(3, &mut rngs())
    });
    refused(&["Conv: strides [0, 0], expected 1 or more"], || {
        Conv::features(8, [3, 3]).strides(0).build(3, &mut rngs())
    });
    refused(
        &["ConvTranspose: kernel_size [3, 0], expected 1 or more"],
        || ConvTranspose::new(3, 8, [3, 0], &mut rngs()),
    );
    refused(
        &["neither a stream `params`", "existing streams: none"],
        || LayerNorm::new(8, &mut Rngs::empty()),
    );
    let input = ["GRUCell: the input of a step is f32[2,4]", "last axis of 3"];
    refused(&input, || {
        GRUCell::new(3, 8, &mut rngs()).step(zeros(&[2, 8]), &zeros(&[2, 4]))
    });
    refused(&["nnx::vmap: `default.", "rngs.split(n)"], || {
        nnx::vmap(&mut rngs(), (), 0, |rngs, ()| LayerNorm::new(3, rngs))
    });
}

fn modules() {
    let x = || zeros(&[2, 3]);
    let dense = linen::Dense::new(4);
    let variables = dense.init(0, x());
    refused(&["Scope::param: `kernel`", "[3, 4]", "[7, 4]"], || {
        dense.apply(&variables, zeros(&[2, 7]))
    });
    refused(
        &[
            "`kernel` of the collection `params`",
            "the collections: none",
        ],
        || dense.apply(&Variables::new(), x()),
    );
    refused(
        &["no collection `batch_stats`; existing collections: params"],
        || variables["batch_stats"].len(),
    );
    let said = ["LayerNorm: the input f32[2,4] has no axis 3"];
    let direct = refused(&said, || Model.init(0, x()));
    let looped = linen::scan(Step).variable_axes("params", 0).length(2);
    let looped = looped.split_rngs("params", true);
    let in_loop = refused(&said, || looped.init(0, (zeros(&[2, 4]), ())));
    let expected = LINE.load(Ordering::Relaxed);
    assert_eq!([direct, in_loop], [expected; 2], "the layer's line");
    let norm = linen::BatchNorm::new();
    refused(&["BatchNorm: `use_running_average` is not set"], || {
        norm.init(0, x())
    });
    refused(
        &[
            "`mean` of the collection `batch_stats`",
            "collections: params",
        ],
        || norm.apply(&variables, (x(), UseRunningAverage(true))),
    );
    let key = ["stream `dropout`", "streams are: none", "Apply::new().rngs"];
    refused(&key, || {
        let options = Apply::new();
        linen::Dropout::new(0.5).apply_with(&variables, (x(), Deterministic(false)), &options)
    });
    refused(
        &["stream `params`", "model.init([(\"params\", key)], x)"],
        || dense.init((), x()),
    );
    let attention = linen::MultiHeadAttention::new(2).dropout_rate(0.1);
    refused(&["MultiHeadAttention: `deterministic` is not set"], || {
        attention.init(0, zeros(&[1, 4, 8]))
    });
}
