//! Bridges between styles: a Linen module as an NNX-style model, and the reverse.

use crate::linen::{self, Apply, CollectionFilter, Scope, Streams, Variables};
use crate::model::for_each_mut;
use crate::{RngCount, RngKey, RngStream, Rngs, collection_of, for_each_variable};
use ramie_core::random::Key;
use ramie_core::text::{listed, type_name};
use ramie_core::tree::{self, Visitor};
use ramie_core::{Array, DType, State, Tree, eval_shape};
use std::borrow::Cow;
use std::fmt::Debug;
use std::marker::PhantomData;

/// A Linen module with its variables, as an NNX-style model (`nnx.bridge.ToNNX`). [`to_nnx`]
/// creates it.
///
/// Paths begin with the collection: `params.Dense_0.kernel`. The module is a static value,
/// compared by its [`Debug`] output.
#[doc(alias = "ToNNX")]
pub struct ToNnx<M> {
    /// The module.
    pub module: M,
    /// The variables of the module.
    pub variables: Variables,
    /// The RNG streams. Each call takes a key from every stream.
    pub rngs: Rngs,
}

/// Creates an NNX-style model from a Linen module, without variables yet. Its RNG streams are
/// forked from `rngs`.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Optimizer, Rngs, grad, linen, nnx};
/// use ramie_optim::sgd;
/// let x = Array::ones(&[1, 32], DType::F32);
/// let mut model = nnx::to_nnx(linen::Dense::new(64), &mut Rngs::new(0)).lazy_init(x.clone());
/// assert_eq!(model.variables["params"]["kernel"].shape(), [32, 64]);
/// let mut optimizer = Optimizer::new(&model, sgd(0.1));
/// let grads = grad(&mut model, |m| m.call(x.clone()).square().mean());
/// optimizer.update(&mut model, grads);
/// ```
#[track_caller]
pub fn to_nnx<M: Clone + Debug + Send + Sync + 'static>(module: M, rngs: &mut Rngs) -> ToNnx<M> {
    ToNnx {
        module,
        variables: Variables::new(),
        rngs: rngs.fork(),
    }
}

impl<M> ToNnx<M> {
    /// Takes the next key of each stream. Without a stream `params`, `default` is used for it.
    fn streams(&mut self) -> Streams {
        let names: Vec<String> = self.rngs.items().map(|(n, _)| n.to_owned()).collect();
        let mut streams = Streams::none();
        for name in &names {
            let key = self.rngs.key(name);
            streams = match name.as_str() {
                "default" if !self.rngs.contains("params") => streams.with("params", key),
                name => streams.with(name, key),
            };
        }
        streams
    }

    /// Initializes the variables for arguments like these.
    ///
    /// # Panics
    /// Panics as [`linen::Module::init`] does.
    #[must_use]
    #[track_caller]
    pub fn lazy_init<A: Tree, O: Tree>(mut self, args: A) -> ToNnx<M>
    where
        M: linen::Module<A, O>,
    {
        let streams = self.streams();
        self.variables = self.module.init(streams, args);
        self
    }

    /// Calls the module. Its variables do not change.
    ///
    /// # Panics
    /// Panics as [`linen::Module::apply`] does.
    #[track_caller]
    pub fn call<A: Tree, O: Tree>(&mut self, args: A) -> O
    where
        M: linen::Module<A, O>,
    {
        self.call_with(args, CollectionFilter::None)
    }

    /// Calls the module, which may change the given collections.
    ///
    /// # Panics
    /// Panics as [`linen::Module::apply_with`] does.
    #[track_caller]
    pub fn call_with<A: Tree, O: Tree>(
        &mut self,
        args: A,
        mutable: impl Into<CollectionFilter>,
    ) -> O
    where
        M: linen::Module<A, O>,
    {
        let options = Apply::new().rngs(self.streams()).mutable(mutable);
        let (out, updates) = self.module.apply_with(&self.variables, args, &options);
        for (name, state) in updates.iter() {
            self.variables.set(name, state.clone());
        }
        out
    }
}

impl<M: Clone + Debug + Send + Sync + 'static> Tree for ToNnx<M> {
    fn walk(&self, visitor: &mut dyn Visitor) {
        visitor.node("ToNnx", self);
        visitor.fixed(&format!("{:?}", self.module));
        self.variables.walk(visitor);
        tree::child(visitor, tree::Key::Field("rngs"), &self.rngs);
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        self.variables.walk_mut(visit);
        self.rngs.walk_mut(visit);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        ToNnx {
            module: self.module.clone(),
            variables: self.variables.rebuild(leaf),
            rngs: self.rngs.rebuild(leaf),
        }
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn std::any::Any)) {
        tree::part(&mut self.rngs, visit);
    }
}

/// An NNX-style model as a Linen module (`nnx.bridge.ToLinen`). [`to_linen`] creates it.
pub struct ToLinen<N, Make, Call> {
    class: String,
    make: Make,
    call: Call,
    model: PhantomData<fn() -> N>,
}

/// Creates a Linen module from an NNX-style model: `make` creates the model from RNG streams,
/// `call` calls it.
///
/// Its variables are stored in the scope, in the collections of their kinds (`params`,
/// `batch_stats`). Plain arrays are in `arrays`, RNG streams in `rng_keys` and `rng_counts`. A
/// call reseeds the streams for which the scope has keys.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::linen::Module;
/// use ramie_nn::{Linear, nnx};
/// let dense = nnx::to_linen(|rngs| Linear::new(4, 3, rngs), |m: &mut Linear, x: Array| m.forward(&x));
/// let x = Array::ones(&[2, 4], DType::F32);
/// let variables = dense.init(0, x.clone());
/// assert_eq!(variables["params"]["kernel"].shape(), [4, 3]);
/// assert_eq!(dense.apply(&variables, x).shape(), [2, 3]);
/// ```
pub fn to_linen<N: Tree, A: Tree, O: Tree, Make, Call>(
    make: Make,
    call: Call,
) -> ToLinen<N, Make, Call>
where
    Make: Fn(&mut Rngs) -> N,
    Call: Fn(&mut N, A) -> O,
{
    ToLinen {
        class: type_name::<N>().to_owned(),
        make,
        call,
        model: PhantomData,
    }
}

/// Returns the collection of variables of a kind.
fn collection(kind: Option<&str>) -> Cow<'_, str> {
    kind.map_or(Cow::Borrowed("arrays"), collection_of)
}

/// Takes a key from each of the scope's streams.
fn streams_of(scope: &mut Scope) -> Vec<(String, Key)> {
    let names: Vec<String> = scope.root().streams.names().map(str::to_owned).collect();
    let keys = names.into_iter().map(|name| {
        let key = scope.make_rng(&name);
        (name, key)
    });
    keys.collect()
}

/// Creates streams from keys, with a default stream for all other names if `with_default` is
/// true.
fn rngs_of(keys: &[(String, Key)], with_default: bool) -> Rngs {
    let start = if with_default {
        Rngs::new(0)
    } else {
        Rngs::empty()
    };
    keys.iter().fold(start, |rngs, (name, key)| {
        rngs.stream_of_key(name, key.clone())
    })
}

/// Stores the variables of a model in the mutable collections of a scope.
#[track_caller]
fn store<N: Tree>(scope: &mut Scope, model: &N) {
    let mut all = Vec::new();
    for_each_variable(model, |path, kind, metadata, array| {
        all.push((path.to_owned(), kind, metadata.cloned(), array.clone()));
    });
    for (path, kind, metadata, array) in all {
        let collection = collection(kind);
        if !scope.is_mutable_collection(&collection) {
            continue;
        }
        scope.put_variable(&collection, &path, array);
        if let Some(metadata) = metadata {
            let place = scope.path_of(&path);
            let mut root = scope.root_mut();
            root.variables.set_metadata(&collection, &place, metadata);
        }
    }
}

impl<N, Make, Call> ToLinen<N, Make, Call> {
    /// Creates the model with the variables of a scope.
    #[track_caller]
    fn found(&self, scope: &mut Scope) -> N
    where
        N: Tree,
        Make: Fn(&mut Rngs) -> N,
    {
        let keys = streams_of(scope);
        let mut model = eval_shape(|()| (self.make)(&mut rngs_of(&keys, true)), ());
        let mut found = State::new();
        let mut missing = Vec::new();
        for_each_variable(&model, |path, kind, _, array| {
            let collection = collection(kind);
            match scope.get_variable(&collection, path) {
                Some(value) => {
                    found.insert(path, value);
                }
                None if [Some(RngKey::KIND), Some(RngCount::KIND)].contains(&kind) => {}
                None => missing.push(format!("{collection}.{path} {}", array.aval())),
            }
        });
        assert!(
            missing.is_empty(),
            "nnx::to_linen: the variables lack {} of {}\n  help: pass all variables that init \
             returned",
            listed(&missing),
            self.class
        );
        if let Err(mismatch) = found.update(&mut model) {
            panic!("nnx::to_linen: {}: {mismatch}", self.class);
        }
        let mut rngs = rngs_of(&keys, false);
        for_each_mut(&mut model, |path, stream: &mut RngStream| {
            if rngs.contains(&stream.tag) {
                let key = rngs.key(&stream.tag);
                stream.key = RngKey(key);
                stream.count = RngCount::new(Array::scalar(0, DType::U32));
            } else {
                let key = match path {
                    "" => "key".to_owned(),
                    path => format!("{path}.key"),
                };
                assert!(
                    found.get(&key).is_some(),
                    "nnx::to_linen: {} has an RNG stream `{}`, but there are neither keys nor \
                     variables for it\n  help: pass a key: Apply::new().rngs([(\"{}\", key)])",
                    self.class,
                    stream.tag,
                    stream.tag
                );
            }
        });
        model
    }
}

impl<N, A, O, Make, Call> linen::Module<A, O> for ToLinen<N, Make, Call>
where
    N: Tree,
    A: Tree,
    O: Tree,
    Make: Fn(&mut Rngs) -> N,
    Call: Fn(&mut N, A) -> O,
{
    #[track_caller]
    fn call(&self, scope: &mut Scope, args: A) -> O {
        if scope.is_initializing() {
            let keys = streams_of(scope);
            let mut model = (self.make)(&mut rngs_of(&keys, true));
            // Store the initial values, before the call changes them.
            store(scope, &model);
            return (self.call)(&mut model, args);
        }
        let mut model = self.found(scope);
        let out = (self.call)(&mut model, args);
        store(scope, &model);
        out
    }

    fn class_name(&self) -> Cow<'static, str> {
        Cow::Owned(self.class.clone())
    }
}
