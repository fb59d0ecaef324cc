//! `Intermediates` and `Perturb`: fields for recorded intermediate values, and for their
//! gradients.

use super::filter::{Filter, Leaf};
use super::observe::{self, Recording};
use super::parts::{for_each_mut, set_attributes};
use crate::{Intermediate, Perturbation, for_each_variable};
use ramie_core::text::listed;
use ramie_core::tree::{Key, Visitor};
use ramie_core::{Array, State, Tree, eval_shape};
use ramie_derive::Tree;
use std::collections::BTreeMap;

/// A field of a module that records intermediate values of its computation for inspection
/// (`Module.sow`).
///
/// It records only while enabled, which [`capture`] does for the duration of a call. Otherwise
/// each call would change the structure of the model, so that compiled functions would be
/// compiled again.
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::nnx::{self, Intermediates};
/// use ramie_nn::{Module, Param};
/// #[derive(Module)]
/// struct Model { weight: Param, kept: Intermediates }
/// impl Model {
///     fn forward(&mut self, x: &Array) -> Array {
///         let hidden = x * &*self.weight;
///         self.kept.sow("hidden", &hidden);
///         hidden.tanh()
///     }
/// }
/// let weight = Param::new(Array::from(2.0f32));
/// let mut model = Model { weight, kept: Intermediates::default() };
/// let x = Array::from(3.0f32);
/// let (y, kept) = nnx::capture(&mut model, |m| m.forward(&x));
/// assert_eq!(kept["kept.hidden.0"].item::<f32>(), 6.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Intermediates {
    recording: bool,
    values: BTreeMap<String, Vec<Array>>,
}

impl Intermediates {
    /// Creates a field that records from the start, until [`pop`] or
    /// [`stop`](Intermediates::stop).
    pub fn recording() -> Intermediates {
        Intermediates {
            recording: true,
            ..Intermediates::default()
        }
    }

    /// Enables recording.
    pub fn record(&mut self) {
        self.recording = true;
    }

    /// Disables recording.
    pub fn stop(&mut self) {
        self.recording = false;
    }

    /// Appends a value to those of this name. Returns `false` if recording is disabled.
    ///
    /// # Panics
    /// Panics if the name is empty or contains a dot.
    #[track_caller]
    pub fn sow(&mut self, name: &str, value: &Array) -> bool {
        self.keep(name, |kept| kept.push(value.clone()))
    }

    /// Combines a value with the recorded one by `reduce`, starting from `init()` (`sow` with
    /// `reduce_fn` and `init_fn`). Returns `false` if recording is disabled.
    ///
    /// # Panics
    /// Panics if the name is empty or contains a dot.
    #[track_caller]
    pub fn sow_with(
        &mut self,
        name: &str,
        value: &Array,
        init: impl FnOnce() -> Array,
        reduce: impl FnOnce(Array, &Array) -> Array,
    ) -> bool {
        self.keep(name, |kept| {
            let before = kept.pop().unwrap_or_else(init);
            kept.push(reduce(before, value));
        })
    }

    #[track_caller]
    fn keep(&mut self, name: &str, f: impl FnOnce(&mut Vec<Array>)) -> bool {
        assert!(
            !name.is_empty() && !name.contains('.'),
            "Intermediates::sow: `{name}` is not a valid name\n  help: use a non-empty name \
             without dots, which separate the components of a path"
        );
        if self.recording {
            f(self.values.entry(name.to_owned()).or_default());
        }
        self.recording
    }

    /// Returns the values recorded under a name, in order.
    pub fn get(&self, name: &str) -> &[Array] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }
}

impl Tree for Intermediates {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.node("Intermediates", self);
        visitor.fixed(&self.recording);
        visitor.fixed(&self.values.len());
        for (name, values) in &self.values {
            visitor.fixed(name);
            visitor.enter(Key::Name(name));
            visitor.fixed(&values.len());
            for (i, value) in values.iter().enumerate() {
                visitor.enter(Key::Index(i));
                visitor.kind(Intermediate::KIND);
                visitor.leaf(value);
                visitor.exit();
            }
            visitor.exit();
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        self.values.values_mut().flatten().for_each(visit);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        let values = self.values.iter();
        Intermediates {
            recording: self.recording,
            values: values
                .map(|(n, v)| (n.clone(), v.iter().map(&mut *leaf).collect()))
                .collect(),
        }
    }
}

/// Removes recorded values that a filter accepts from a model and returns them (`nnx.pop`).
///
/// # Panics
/// Panics if the filter accepts leaves that are struct fields, which cannot be removed.
#[track_caller]
pub fn pop<M: Tree>(model: &mut M, filter: impl Filter) -> State {
    let mut popped = State::new();
    for_each_mut(model, |path, kept: &mut Intermediates| {
        for (name, values) in &mut kept.values {
            let prefix = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            // The index before the removal, since it is part of the path that the filter sees.
            let mut i = 0;
            values.retain(|array| {
                let path = format!("{prefix}.{i}");
                i += 1;
                let taken = filter.accepts(&Leaf {
                    path: &path,
                    kind: Some(Intermediate::KIND),
                    metadata: None,
                    array,
                });
                if taken {
                    popped.insert_of_kind(&path, Some(Intermediate::KIND), array.clone());
                }
                !taken
            });
        }
        // An empty list would change the structure of the model, so that compiled functions are
        // compiled again.
        kept.values.retain(|_, values| !values.is_empty());
    });
    let mut fields = Vec::new();
    for_each_variable(model, |path, kind, metadata, array| {
        if filter.accepts(&Leaf {
            path,
            kind,
            metadata,
            array,
        }) {
            fields.push(path.to_owned());
        }
    });
    assert!(
        fields.is_empty(),
        "nnx::pop: cannot remove {}, because they are struct fields\n  help: remove only values \
         sown into `Intermediates`; use nnx::split to split a whole model",
        listed(&fields)
    );
    popped
}

/// Calls a function of a model and also returns the values that it recorded (`nnx.capture`).
///
/// # Panics
/// Panics if the function does.
#[track_caller]
pub fn capture<M: Tree, R>(model: &mut M, f: impl FnOnce(&mut M) -> R) -> (R, State) {
    // The values that were recorded before are set aside, so that only those of this call are
    // returned.
    let mut before = Vec::new();
    for_each_mut(model, |_, kept: &mut Intermediates| {
        before.push(std::mem::take(kept));
        kept.record();
    });
    let out = f(model);
    let kept = pop(model, super::of_type::<Intermediate>());
    // Both walks visit the fields in the same order.
    let mut before = before.into_iter();
    set_attributes(model, |kept: &mut Intermediates| {
        *kept = before.next().unwrap_or_default();
    });
    (out, kept)
}

/// Like [`capture`], but also records the outputs of all layers that report their calls
/// ([`observe`](super::observe)), as `path.__call__` (`nnx.capture` with `method_outputs`).
///
/// # Panics
/// Panics if the function does.
#[track_caller]
pub fn capture_intermediates<M: Tree, R>(model: &mut M, f: impl FnOnce(&mut M) -> R) -> (R, State) {
    let ((out, calls), mut kept) = capture(model, |model| {
        let guard = observe::start(model, Recording::default().outputs());
        let out = f(model);
        (out, guard.finish())
    });
    // A layer that is called several times records `__call__.0`, `__call__.1` and so on.
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for call in calls {
        let count = counts.entry(call.path.clone()).or_default();
        for (leaf, array) in call.values {
            let steps = [&call.path, "__call__", &count.to_string(), &leaf];
            let steps: Vec<&str> = steps.into_iter().filter(|s| !s.is_empty()).collect();
            kept.insert_of_kind(&steps.join("."), Some(Intermediate::KIND), array);
        }
        *count += 1;
    }
    (out, kept)
}

/// A field of a module that adds zeros to a value; the gradient of the zeros is the gradient
/// with respect to the value (`Module.perturb`).
///
/// Before [`init_perturbations`], values pass through unchanged.
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::nnx::{self, Perturb, of_type};
/// use ramie_nn::{Module, Param, Perturbation};
/// #[derive(Module)]
/// struct Model { weight: Param, hidden: Perturb }
/// impl Model {
///     fn forward(&mut self, x: &Array) -> Array {
///         let hidden = self.hidden.apply(x * &*self.weight);
///         hidden.square()
///     }
/// }
/// let weight = Param::new(Array::from(2.0f32));
/// let mut model = Model { weight, hidden: Perturb::default() };
/// let x = Array::from(3.0f32);
/// nnx::init_perturbations(&mut model, |m| m.forward(&x));
/// let grads = nnx::grad_wrt(&mut model, of_type::<Perturbation>(), |m| m.forward(&x));
/// assert_eq!(grads["hidden.value"].item::<f32>(), 12.0);
/// ```
#[derive(Clone, Debug, Default, Tree)]
pub struct Perturb {
    /// The zeros, after they have been created.
    pub value: Option<Perturbation>,
    #[tree(fixed)]
    making: bool,
}

impl Perturb {
    /// Adds the zeros to the value.
    ///
    /// # Panics
    /// Panics if the value does not have the shape of the zeros.
    #[track_caller]
    pub fn apply(&mut self, value: Array) -> Array {
        if self.making && self.value.is_none() {
            self.value = Some(Perturbation::new(value.zeros_like()));
        }
        match &self.value {
            Some(zeros) => {
                assert!(
                    zeros.shape() == value.shape(),
                    "Perturb::apply: the value is {}, but the perturbation is {}\n  help: create \
                     perturbations for inputs of this shape with nnx::init_perturbations",
                    value.aval(),
                    zeros.aval()
                );
                value + zeros.value()
            }
            None => value,
        }
    }
}

/// Creates the zeros of all [`Perturb`] fields that a function of the model uses. Nothing is
/// computed, and the model's state is unchanged.
///
/// # Panics
/// Panics if the function does.
#[track_caller]
pub fn init_perturbations<M: Tree, R: Tree>(model: &mut M, f: impl FnOnce(&mut M) -> R) {
    set_attributes(model, |p: &mut Perturb| {
        p.making = true;
        p.value = None;
    });
    // The function runs on a copy, of which only the types of the perturbations are kept.
    let shapes = eval_shape(
        |mut model: M| {
            f(&mut model);
            model
        },
        super::graph::copy(model),
    );
    let mut made = Vec::new();
    super::parts::for_each(&shapes, |_, p: &Perturb| made.push(p.value.clone()));
    let mut made = made.into_iter();
    set_attributes(model, |p: &mut Perturb| {
        let shape = made.next().flatten();
        p.making = false;
        p.value = shape.map(|s| Perturbation::new(Array::zeros(s.shape(), s.dtype())));
    });
}
