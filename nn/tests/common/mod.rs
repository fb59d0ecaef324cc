//! Recorded modules of Flax; `tests/golden/flax_layers.py` says how they are laid
//! out.
#![allow(dead_code)]

use ramie_core::{Array, DType, State, Tree, jit, random, tree, value_and_grad};
use ramie_nn::linen::{self, Apply, CollectionFilter, Scope, Variables};
use ramie_nn::{LoraParam, Param, metadata_of};
use ramie_testing::golden::{self, Opened, once};
use ramie_testing::is_linked;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The cases of a recording.
pub struct Golden {
    arrays: Vec<(String, Array)>,
}

impl Golden {
    /// Reads the recording of this name, once in a process.
    pub fn open(name: &str) -> &'static Golden {
        static OPENED: Opened<Golden> = Mutex::new(BTreeMap::new());
        once(&OPENED, name, || {
            let mut arrays = golden::arrays(&format!("{name}.safetensors"));
            arrays.sort_by(|a, b| a.0.cmp(&b.0));
            Golden { arrays }
        })
    }

    /// The names of the cases.
    pub fn cases(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .arrays
            .iter()
            .map(|(n, _)| n.split('/').next().unwrap_or(n).to_owned())
            .collect();
        names.dedup();
        names
    }

    /// A case, compared to within 1e-5 of the greatest number in each array.
    ///
    /// # Panics
    /// If there is none of this name.
    pub fn case(&self, name: &str) -> Case {
        let below = format!("{name}/");
        let arrays: Vec<(String, Array)> = self
            .arrays
            .iter()
            .filter_map(|(n, a)| Some((n.strip_prefix(&below)?.to_owned(), a.clone())))
            .collect();
        assert!(!arrays.is_empty(), "there is no case {name}");
        Case {
            name: name.to_owned(),
            arrays,
            tolerance: 1e-5,
            init_tolerance: last_bits(2.5e-7),
            rounding: 0.0,
            options: Apply::new(),
        }
    }
}

/// What the last bits of initial values are as a part of the greatest: `plugin` on XLA's plugin. JAX computes
/// `erf_inv` with polynomials of its own since 0.12, and the plugin with those of XLA. Both lose digits where
/// `1 - x²` is small: they are off by up to 5.7e-6 of themselves (measured with 30 digits), where the linked
/// backend rounds exact numbers.
pub fn last_bits(plugin: f64) -> f64 {
    if is_linked() { 6e-6 } else { plugin }
}

/// A function of a scope. The checks are compiled once for all of them.
type Function<'a> = dyn Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync + 'a;

/// Runs a model with these parameters on the inputs; its outputs, and its state afterwards.
type Run<'a> = dyn Fn(&State, &[Array]) -> (Vec<Array>, State) + Sync + 'a;

/// One recorded module.
pub struct Case {
    name: String,
    arrays: Vec<(String, Array)>,
    tolerance: f64,
    init_tolerance: f64,
    rounding: f64,
    options: Apply,
}

/// Whether a kind of variable is one of those that are parameters in Flax.
fn is_param(kind: Option<&str>) -> bool {
    [Some(Param::KIND), Some(LoraParam::KIND)].contains(&kind)
}

/// The greatest difference of two arrays, as a part of the greatest number.
fn distance(got: &Array, expected: &Array) -> f64 {
    let numbers = |a: &Array| a.astype(DType::F32).to_vec::<f32>();
    let (got, expected) = (numbers(got), numbers(expected));
    let greatest = expected.iter().fold(1e-30f64, |m, v| {
        if v.is_finite() {
            m.max(f64::from(v.abs()))
        } else {
            m
        }
    });
    let mut worst = 0.0f64;
    for (g, e) in got.iter().zip(&expected) {
        if g == e || (g.is_nan() && e.is_nan()) {
            continue;
        }
        let d = f64::from((g - e).abs()) / greatest;
        worst = if d.is_nan() {
            f64::INFINITY
        } else {
            worst.max(d)
        };
    }
    worst
}

/// The greatest number without its sign.
fn greatest(a: &Array) -> f64 {
    let numbers = a.astype(DType::F32).to_vec::<f32>();
    numbers.iter().fold(0.0, |m, v| m.max(f64::from(v.abs())))
}

impl Case {
    /// Compares outputs, gradients and what is afterwards to within this part
    /// of the greatest number in each array.
    pub fn tolerance(mut self, tolerance: f64) -> Case {
        self.tolerance = tolerance;
        self
    }

    /// Compares first values to within this part of the greatest number, in place of
    /// 2.5e-7, or to within [`last_bits`].
    pub fn init_tolerance(mut self, tolerance: f64) -> Case {
        self.init_tolerance = last_bits(tolerance).max(tolerance);
        self
    }

    /// Takes arrays without a number greater than this for zeros: what rounding
    /// leaves of gradients in which everything cancels.
    pub fn rounding(mut self, rounding: f64) -> Case {
        self.rounding = rounding;
        self
    }

    /// The recorded arrays below a name, by the rest of their names.
    pub fn below(&self, part: &str) -> State {
        let below = format!("{part}/");
        let named = self.arrays.iter();
        named
            .filter_map(|(n, a)| Some((n.strip_prefix(&below)?.to_owned(), a.clone())))
            .collect()
    }

    /// The recorded array of this name.
    pub fn array(&self, name: &str) -> Array {
        let found = self.arrays.iter().find(|(n, _)| n == name);
        found.unwrap_or_else(|| panic!("no {name}")).1.clone()
    }

    fn listed(&self, part: &str) -> Vec<Array> {
        let state = self.below(part);
        let get = |i: usize| state.get(&i.to_string()).cloned();
        (0..state.len()).map(|i| get(i).expect("a list")).collect()
    }

    /// The inputs.
    pub fn inputs(&self) -> Vec<Array> {
        self.listed("in")
    }

    fn close(&self, what: &str, got: &Array, expected: &Array, tolerance: f64) {
        assert_eq!(
            (got.shape(), got.dtype()),
            (expected.shape(), expected.dtype()),
            "{}: type of {what}",
            self.name
        );
        let d = distance(got, expected);
        let cancels = greatest(expected).max(greatest(got)) <= self.rounding;
        assert!(
            d <= tolerance || cancels,
            "{}: {what} differs by {d:.2e}, more than {tolerance:.0e}\n  got      {}\n  expected {}",
            self.name,
            shown(got),
            shown(expected),
        );
    }

    /// The same paths, and close arrays.
    fn same(&self, what: &str, got: &State, expected: &State, tolerance: f64) {
        let sorted = |s: &State| {
            let mut paths: Vec<String> = s.paths().map(str::to_owned).collect();
            paths.sort();
            paths
        };
        assert_eq!(
            sorted(got),
            sorted(expected),
            "{}: paths of {what}",
            self.name
        );
        for (path, e) in expected.iter() {
            let g = got.get(path).expect("the same paths");
            self.close(&format!("{what} {path}"), g, e, tolerance);
        }
    }

    /// Checks that a state has the paths and, to within the tolerance, the arrays
    /// recorded below a name; a `/` in their names is a dot of the path.
    pub fn expect(&self, part: &str, got: &State) {
        self.same(part, got, &self.dotted(part), self.tolerance);
    }

    /// Checks that a state has the paths and exactly the arrays recorded below a
    /// name, but for [`last_bits`].
    pub fn expect_exactly(&self, part: &str, got: &State) {
        self.same(part, got, &self.dotted(part), last_bits(0.0));
    }

    fn weighed(&self, outputs: &[Array]) -> Array {
        let weights = self.listed("weight");
        let mut total = Array::scalar(0.0, DType::F32);
        for (o, w) in outputs.iter().zip(&weights) {
            if o.dtype().is_float() {
                total += (o.astype(DType::F32) * w).sum();
            }
        }
        total
    }

    fn check_outputs(&self, outputs: &[Array]) {
        let expected = self.listed("out");
        assert_eq!(outputs.len(), expected.len(), "{}: outputs", self.name);
        for (i, (g, e)) in outputs.iter().zip(&expected).enumerate() {
            self.close(&format!("output {i}"), g, e, self.tolerance);
        }
    }

    fn check_grads_in(&self, grads: &[(usize, Array)]) {
        let expected = self.below("grad_in");
        for (i, g) in grads {
            let e = expected.get(&i.to_string()).expect("a gradient");
            self.close(&format!("gradient of input {i}"), g, e, self.tolerance);
        }
    }

    /// Checks a function of a scope: first variables, outputs, gradients, and
    /// collections afterwards.
    pub fn linen(self, f: impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync) {
        self.check_linen(&f, &f);
    }

    /// [`linen`](Case::linen) with another function to initialize with.
    pub fn linen_from(
        self,
        start: impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync,
        f: impl Fn(&mut Scope, &[Array]) -> Vec<Array> + Sync,
    ) {
        self.check_linen(&start, &f);
    }

    fn check_linen(&self, start: &Function<'_>, f: &Function<'_>) {
        let inputs = self.inputs();
        let keys = [("params", random::key(0)), ("dropout", random::key(1))];
        let made = linen::init(keys, |s| start(s, &inputs));
        self.same(
            "first",
            &State::of(&made),
            &self.dotted("init"),
            self.init_tolerance,
        );
        // What was recorded is what is applied.
        let mut variables = Variables::new();
        let mut all = self.dotted("init");
        for (path, a) in self.below("changed").iter() {
            all.insert(path, a.clone());
        }
        for (path, a) in all.iter() {
            let (collection, _) = path.split_once('.').expect("a collection");
            let mut state = variables.get(collection).cloned().unwrap_or_default();
            state.insert(&path[collection.len() + 1..], a.clone());
            variables.set(collection, state);
        }
        for (path, metadata) in metadata_of(&made) {
            let (collection, rest) = path.split_once('.').expect("a collection");
            variables.set_metadata(collection, rest, metadata);
        }
        let params = variables.params();
        let floats: Vec<usize> = (0..inputs.len())
            .filter(|&i| inputs[i].dtype().is_float())
            .collect();
        let some: Vec<Array> = floats.iter().map(|&i| inputs[i].clone()).collect();
        let options = self
            .options
            .clone()
            .rngs([("dropout", random::key(2))])
            .mutable(CollectionFilter::all_but([
                "params",
                "intermediates",
                "perturbations",
            ]));
        let loss = |(params, some): (State, Vec<Array>)| {
            let mut inputs = inputs.clone();
            for (&i, x) in floats.iter().zip(&some) {
                inputs[i] = x.clone();
            }
            let variables = variables.clone().with("params", params);
            let (outputs, updates) = linen::apply(&variables, &options, |s| f(s, &inputs));
            (self.weighed(&outputs), (outputs, updates))
        };
        let ((_, (outputs, updates)), (grads, grads_in)) =
            jit(value_and_grad(loss))((params, some));
        self.check_outputs(&outputs);
        self.same("gradient", &grads, &self.below("grad"), self.tolerance);
        let grads_in: Vec<_> = floats.iter().copied().zip(grads_in).collect();
        self.check_grads_in(&grads_in);
        self.same(
            "afterwards",
            &State::of(&updates),
            &self.dotted("after"),
            self.tolerance,
        );
    }

    /// The arrays below a part, with the collection as the first name of the
    /// path.
    fn dotted(&self, part: &str) -> State {
        let state = self.below(part);
        state
            .iter()
            .map(|(p, a)| (p.replacen('/', ".", 1), a.clone()))
            .collect()
    }

    /// Checks a model that was made with `Rngs::new(0)`: first state, outputs,
    /// gradients, and state afterwards.
    pub fn nnx<M: Tree>(self, mut model: M, f: impl Fn(&mut M, &[Array]) -> Vec<Array> + Sync) {
        self.same(
            "first",
            &State::of(&model),
            &self.below("init"),
            self.init_tolerance,
        );
        let changed = self.below("changed");
        let start = if changed.is_empty() {
            self.below("init")
        } else {
            changed
        };
        start.apply_to(&mut model).expect("the recorded state");
        let params = State::of(&model).filter(|_, kind| is_param(kind));
        let template = tree::copy(&model);
        let run = |params: &State, inputs: &[Array]| {
            let mut model = tree::copy(&template);
            params.update(&mut model).expect("the model's own paths");
            let outputs = f(&mut model, inputs);
            (outputs, State::of(&model).filter(|_, kind| !is_param(kind)))
        };
        self.check_nnx(&params, &run);
    }

    fn check_nnx(&self, params: &State, run: &Run<'_>) {
        let inputs = self.inputs();
        let floats: Vec<usize> = (0..inputs.len())
            .filter(|&i| inputs[i].dtype().is_float())
            .collect();
        let some: Vec<Array> = floats.iter().map(|&i| inputs[i].clone()).collect();
        let loss = |(params, some): (State, Vec<Array>)| {
            let mut inputs = self.inputs();
            for (&i, x) in floats.iter().zip(&some) {
                inputs[i] = x.clone();
            }
            let (outputs, after) = run(&params, &inputs);
            (self.weighed(&outputs), (outputs, after))
        };
        let ((_, (outputs, after)), (grads, grads_in)) =
            jit(value_and_grad(loss))((params.clone(), some));
        self.check_outputs(&outputs);
        self.same("gradient", &grads, &self.below("grad"), self.tolerance);
        let grads_in: Vec<_> = floats.iter().copied().zip(grads_in).collect();
        self.check_grads_in(&grads_in);
        self.same("afterwards", &after, &self.below("after"), self.tolerance);
    }
}

fn shown(a: &Array) -> String {
    let text = format!("{:?}", a.astype(DType::F32).to_vec::<f32>());
    text.chars().take(300).collect()
}
