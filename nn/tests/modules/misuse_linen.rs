//! Wrong uses of Linen's modules are explained: what was done, where in the
//! model, what was expected, and a remedy.

use ramie_core::{Array, DType, P, State, random, stack};
use ramie_nn::linen::{self, Apply, BatchNorm, Child, Dense, Dropout, Module, Scope, Variables};
use ramie_nn::training::TrainState;
use ramie_nn::{Deterministic, UseRunningAverage, init};
use ramie_optim::sgd;
use ramie_testing::assert_explained;

fn x() -> Array {
    Array::ones(&[2, 3], DType::F32)
}

/// A model with parts two names deep.
#[derive(Clone)]
struct Model;

impl Module for Model {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let inner = linen::method(|scope: &mut Scope, x| scope.child(&Dense::new(4), x));
        scope.named("encoder", &inner, x)
    }
}

#[test]
fn missing_streams() {
    assert_explained(
        || drop(Model.init((), x())),
        &[
            "module `encoder.Dense_0`",
            "stream `params`",
            "streams are: none",
        ],
    );
    let dropout = Dropout::new(0.5);
    let args = || (x(), Deterministic(false));
    assert_explained(
        || drop(dropout.apply(&Variables::new(), args())),
        &[
            "the outermost module",
            "stream `dropout`",
            "deterministic(true)",
        ],
    );
    let other = Apply::new().rngs([("noise", random::key(0))]);
    assert_explained(
        || drop(dropout.apply_with(&Variables::new(), args(), &other)),
        &["stream `dropout`", "streams are: noise"],
    );
}

#[test]
fn missing_collections_and_parameters() {
    let norm = BatchNorm::new();
    let args = || (x(), UseRunningAverage(true));
    let made = norm.init(0, args());
    let params = Variables::from_params(made.params());
    assert_explained(
        || drop(norm.apply(&params, args())),
        &[
            "`mean`",
            "collection `batch_stats`",
            "the collections: params",
        ],
    );
    let other = Dense::new(4).init(0, x());
    assert_explained(
        || drop(Model.apply(&other, x())),
        &["no `encoder.Dense_0.kernel` in `params`", "kernel"],
    );
    assert_explained(
        || drop(Model.apply(&Variables::new(), x())),
        &[
            "module `encoder.Dense_0`",
            "`kernel`",
            "collection `params`",
        ],
    );
    assert_explained(
        || drop(other["cache"].clone()),
        &["no collection `cache`", "params"],
    );
}

#[test]
fn immutable_collections() {
    let norm = BatchNorm::new();
    let args = || (x(), UseRunningAverage(false));
    let made = norm.init(0, args());
    assert_explained(
        || drop(norm.apply(&made, args())),
        &[
            "`mean`",
            "`batch_stats` is immutable",
            "mutable(\"batch_stats\")",
        ],
    );
    let write = |scope: &mut Scope| scope.put_variable("state", "n", x());
    assert_explained(
        || drop(linen::apply(&Variables::new(), &Apply::new(), write)),
        &["`n`", "`state` is immutable"],
    );
}

#[test]
fn wrong_shapes_name_the_path() {
    let made = Model.init(0, x());
    assert_explained(
        || drop(Model.apply(&made, Array::ones(&[2, 5], DType::F32))),
        &["`encoder.Dense_0.kernel`", "[3, 4]", "[5, 4]"],
    );
}

#[test]
fn names_in_use_and_names_with_dots() {
    let build = |f: &dyn Fn(&mut Scope)| drop(linen::init(0, |scope| f(scope)));
    let dense = Dense::new(3);
    assert_explained(
        || {
            build(&|scope| {
                scope.named("a", &dense, x());
                scope.named("a", &dense, x());
            });
        },
        &[
            "`a` is already in use",
            "a module cannot have it",
            "scope.setup(\"a\"",
        ],
    );
    assert_explained(
        || {
            build(&|scope| {
                scope.param("a", &init::ones(), &[3], DType::F32);
                scope.named("a", &dense, x());
            });
        },
        &["`a` is already in use", "a module cannot have it"],
    );
    assert_explained(
        || {
            build(&|scope| {
                scope.named("a", &dense, x());
                scope.param("a", &init::ones(), &[3], DType::F32);
            });
        },
        &[
            "`a` is already in use",
            "a variable of `params` cannot have it",
        ],
    );
    assert_explained(
        || build(&|scope| drop(scope.named::<_, _, Array>("a.b", &dense, x()))),
        &["`a.b` is not a valid name", "without dots"],
    );
    assert_explained(
        || build(&|scope| drop(scope.variable("state", "", x))),
        &["`` is not a valid name"],
    );
}

#[test]
fn forgotten_modes() {
    assert_explained(
        || drop(Dropout::new(0.5).init(0, x())),
        &["Dropout", "deterministic"],
    );
    assert_explained(
        || drop(BatchNorm::new().init(0, x())),
        &["BatchNorm", "use_running_average"],
    );
    assert_explained(
        || _ = linen::merge_param::<bool>("train", None, None),
        &["`train` is not set"],
    );
    assert_explained(
        || _ = linen::merge_param("train", Some(true), Some(true)),
        &["`train` is set both"],
    );
}

#[test]
fn lazy_init_of_what_depends_on_data() {
    let model = linen::method(|scope: &mut Scope, x: Array| {
        scope.param_with("scale", None, |_| x.mean());
        x
    });
    assert_explained(
        || drop(model.lazy_init(0, Array::shape_dtype_struct(&[3], DType::F32))),
        &["`params.scale`", "depends on the values of the arguments"],
    );
}

#[test]
fn perturbations_that_are_missing() {
    let model = linen::method(|scope: &mut Scope, x: Array| scope.perturb("h", x));
    let variables = Variables::new().with("perturbations", State::from_iter([("other", x())]));
    assert_explained(
        || drop(model.apply(&variables, x())),
        &["`perturbations`", "has no `h`"],
    );
}

/// A step of a loop, which makes a variable.
struct Step;

impl Module<(Array, Array), (Array, Array)> for Step {
    fn call(&self, scope: &mut Scope, (c, x): (Array, Array)) -> (Array, Array) {
        let state = scope.variable("state", "h", || &c * 2.0);
        (c + state, x)
    }
}

#[test]
fn lifted_loops() {
    let args = || (x(), stack(&[&x(), &x()], 0));
    let carried = linen::scan(Step).variable_carry("state");
    assert_explained(
        || drop(carried.init(0, args())),
        &["linen::scan", "`h` of `state` was created in the loop"],
    );
    let shared = linen::scan(Step).variable_broadcast("state");
    assert_explained(
        || drop(shared.init(0, args())),
        &["linen::scan", "`state.h` depends on the carry"],
    );
    let constant = linen::scan(Step).variable_axes("state", 0).out_axes(None);
    assert_explained(
        || drop(constant.init(0, args())),
        &["linen::scan", "out_axes None depends on"],
    );
    let nothing = linen::scan(Step).variable_axes("state", 0).in_axes(None);
    assert_explained(
        || drop(nothing.init(0, args())),
        &["the number of steps is unknown", ".length(n)"],
    );
    let lengths = linen::scan(Step).variable_axes("state", 0).length(5);
    assert_explained(|| drop(lengths.init(0, args())), &["length has 5", "has 2"]);
    assert_explained(
        || drop(linen::scan(Step).variable_axes("state", None)),
        &["needs an axis", "variable_broadcast"],
    );
}

#[test]
fn lifted_loops_and_tangents() {
    let forever = linen::method(|scope: &mut Scope, init: Array| {
        let more = |_: &mut Scope, x: Array| x.sum().lt(10.0);
        let body = |scope: &mut Scope, c: Array| c + scope.variable("state", "h", x);
        linen::while_loop(scope, &linen::While::carrying("state"), more, body, init)
    });
    assert_explained(
        || drop(forever.init(0, x())),
        &[
            "linen::while_loop",
            "`h` of `state` was created in the loop",
        ],
    );
    let pushed = linen::method(|scope: &mut Scope, x: Array| {
        let dense = |scope: &mut Scope, x: Array| scope.named("d", &Dense::new(2), x);
        let some = scope.variables("params").filter(|path, _| path == "d.bias");
        let along = Variables::from_params(some);
        linen::jvp(scope, dense, x.clone(), x, &along).0
    });
    let params = Dense::new(2).init(0, x()).params().nested("d");
    assert_explained(
        || drop(pushed.apply(&Variables::from_params(params), x())),
        &["linen::jvp", "none for `d.kernel`"],
    );
    let vector = linen::method(|scope: &mut Scope, x: Array| {
        let dense = |scope: &mut Scope, x: Array| scope.named("d", &Dense::new(2), x);
        linen::grad(scope, dense, x)
    });
    assert_explained(
        || drop(vector.init(0, x())),
        &["linen::value_and_grad", "scalar loss", "f32[2,2]"],
    );
}

#[test]
fn lifted_maps() {
    let dense = || linen::vmap(Dense::new(2)).split_rngs("params", true);
    let mapped = dense().variable_axes("params", 0);
    let made = mapped.init(0, x());
    assert_explained(
        || drop(mapped.apply(&made, Array::ones(&[5, 3], DType::F32))),
        &["batch sizes differ", "`kernel` of `params` has 2"],
    );
    assert_explained(
        || drop(mapped.clone().in_axes(7).init(0, x())),
        &["linen::vmap", "no axis 7"],
    );
    assert_explained(
        || drop(mapped.clone().in_axes(None).init(0, x())),
        &["the number of batch elements is unknown", ".axis_size(n)"],
    );
    assert_explained(
        || drop(mapped.clone().in_axes([Some(0), None]).init(0, x())),
        &["in_axes has 2 axes", "components of a tuple"],
    );
    // Collections that are not named are not there.
    assert_explained(
        || drop(dense().init(0, x())),
        &["`kernel`", "collection `params`"],
    );
    let kernel = init::ones().with_partitioning(P!["in", "out"]);
    let sharded = linen::vmap(Dense::new(2).kernel_init(kernel))
        .variable_axes("params", 0)
        .split_rngs("params", true);
    assert_explained(
        || drop(sharded.init(0, x())),
        &["`kernel` has a sharding", "partition_name"],
    );
}

#[test]
fn scopes_from_outside_of_a_transformation() {
    let model = linen::method(|scope: &mut Scope, x: Array| {
        let mut dense: Child<Dense> = scope.setup("dense", &Dense::new(3));
        let pred = x.sum().gt(0.0);
        let dense = std::cell::RefCell::new(&mut dense);
        let branch = |_: &mut Scope, x: Array| dense.borrow_mut().call::<_, Array>(x);
        linen::cond(scope, pred, branch, branch, x)
    });
    assert_explained(
        || drop(model.init(0, x())),
        &["linen::cond", "module `dense` from outside"],
    );
}

#[test]
fn branches_with_different_variables() {
    let model = linen::method(|scope: &mut Scope, x: Array| {
        let yes = |scope: &mut Scope, x: Array| scope.named("a", &Dense::new(2), x);
        let no = |scope: &mut Scope, x: Array| scope.named("b", &Dense::new(2), x);
        linen::cond(scope, x.sum().gt(0.0), yes, no, x)
    });
    assert_explained(
        || drop(model.init(0, x())),
        &["cond", "results of the same structure"],
    );
}

#[test]
fn gradients_of_other_parameters() {
    let params = Dense::new(4).init(0, x()).params();
    let mut state = TrainState::create(params.clone(), sgd(0.1));
    let some = params.filter(|path, _| path == "bias");
    assert_explained(
        || state.apply_gradients(some),
        &["TrainState::apply_gradients", "without a gradient: kernel"],
    );
}

/// A layer of a loop, with dropout.
#[derive(Clone)]
struct Layer;

impl Module<(Array, ()), (Array, ())> for Layer {
    fn call(&self, scope: &mut Scope, (x, ()): (Array, ())) -> (Array, ()) {
        let x = scope.child(&Dense::new(3), x);
        (
            scope.child(&Dropout::new(0.5), (x, Deterministic(false))),
            (),
        )
    }
}

#[test]
fn transformations_that_withhold_variables_or_keys() {
    let scan = || linen::scan(Layer).length(2);
    let keys = || [("params", random::key(0)), ("dropout", random::key(1))];
    assert_explained(
        || drop(scan().init(keys(), (x(), ()))),
        &[
            "module `Dense_0` requests `kernel`",
            "linen::scan does not pass the collection `params` to its module",
            ".variable_axes(\"params\", 0)",
            ".variable_broadcast(\"params\")",
        ],
    );
    let with_axes = || scan().variable_axes("params", 0);
    assert_explained(
        || drop(with_axes().init(keys(), (x(), ()))),
        &[
            "module `Dense_0` needs a key of the stream `params`",
            "linen::scan does not pass the RNG stream `params`",
            ".split_rngs(\"params\", true)",
        ],
    );
    assert_explained(
        || {
            drop(
                with_axes()
                    .split_rngs("params", true)
                    .apply(&Variables::new(), (x(), ())),
            )
        },
        &["the variables only have the collections: none"],
    );
    let made = with_axes()
        .split_rngs(["params", "dropout"], true)
        .init(keys(), (x(), ()));
    let options = Apply::new().rngs([("dropout", random::key(1))]);
    assert_explained(
        || drop(with_axes().apply_with(&made, (x(), ()), &options)),
        &["linen::scan does not pass the RNG stream `dropout`"],
    );
    assert_explained(
        || drop(linen::vmap(Dense::new(2)).apply(&made, x())),
        &[
            "linen::vmap does not pass the collection `params`",
            ".variable_axes(\"params\", None)",
        ],
    );
    assert_explained(
        || {
            drop(
                linen::remat(Dense::new(2))
                    .variables("batch_stats")
                    .init(0, x()),
            )
        },
        &[
            "linen::remat does not pass the collection `params`",
            ".variables(..)",
        ],
    );
}

#[test]
fn parameters_are_empty() {
    let none = Variables::from_params(State::new());
    assert_explained(
        || drop(Dense::new(2).apply(&none, x())),
        &[
            "the outermost module requests `kernel` of the collection `params`",
            "`params` of the variables is empty",
        ],
    );
}
