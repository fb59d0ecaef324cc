//! Operations on the RNG streams within a model: split, fork, reseed.

use crate::model::{Filter, Leaf, for_each_mut};
use crate::{RngCount, RngKey, RngStream, Rngs};
use ramie_core::{Array, DType, Tree, random};

/// The streams before [`split_rngs`] or [`fork_rngs`], for [`restore_rngs`].
pub struct RngBackups(Vec<(String, RngStream)>);

/// Replaces each stream of the model whose key and count a filter accepts.
fn change<M: Tree>(
    model: &mut M,
    only: &impl Filter,
    f: impl Fn(&mut RngStream) -> RngStream,
) -> RngBackups {
    let mut backups = Vec::new();
    for_each_mut(model, |path, stream: &mut RngStream| {
        let accepts = |field: &str, kind, array: &Array| {
            let path = match path {
                "" => field.to_owned(),
                path => format!("{path}.{field}"),
            };
            only.accepts(&Leaf {
                path: &path,
                kind: Some(kind),
                metadata: None,
                array,
            })
        };
        let key = random::key_data(&stream.key.0);
        if accepts("key", RngKey::KIND, key) && accepts("count", RngCount::KIND, &stream.count) {
            let new = f(stream);
            // Back up the stream after it has returned the key, so that a restored stream does
            // not return the same key again.
            backups.push((path.to_owned(), stream.clone()));
            *stream = new;
        }
    });
    RngBackups(backups)
}

/// Splits the RNG streams of a model that a filter accepts (`nnx.split_rngs`). Each stream gets
/// an array of keys of the given shape, split from its next key, so that [`vmap`](super::vmap)
/// and [`scan`](super::scan) can pass a separate key to each batch element or step.
///
/// ```no_run
/// use ramie_nn::nnx::{self, PathContains};
/// use ramie_nn::Rngs;
/// let mut rngs = Rngs::empty().stream("params", 0).stream("dropout", 1);
/// let backups = nnx::split_rngs(&mut rngs, &[5], PathContains("params"));
/// assert_eq!(rngs.get("params").key.0.shape(), [5]);
/// nnx::restore_rngs(&mut rngs, backups);
/// assert!(rngs.get("params").key.0.shape().is_empty());
/// ```
///
/// # Panics
/// Panics if a stream already has an array of keys.
#[track_caller]
pub fn split_rngs<M: Tree>(model: &mut M, shape: &[usize], only: impl Filter) -> RngBackups {
    change(model, &only, |stream| stream.split(shape))
}

/// Replaces the RNG streams of a model that a filter accepts by new ones, each created from the
/// stream's next key (`nnx.fork_rngs`).
///
/// # Panics
/// Panics if a stream has an array of keys.
#[track_caller]
pub fn fork_rngs<M: Tree>(model: &mut M, only: impl Filter) -> RngBackups {
    change(model, &only, RngStream::fork)
}

/// Restores the streams that were split or forked, advanced by the keys that they have returned
/// (`nnx.restore_rngs`).
///
/// # Panics
/// Panics if the model does not have these streams.
#[track_caller]
pub fn restore_rngs<M: Tree>(model: &mut M, backups: RngBackups) {
    let mut backups = backups.0;
    for_each_mut(model, |path, stream: &mut RngStream| {
        if let Some(at) = backups.iter().position(|(p, _)| p == path) {
            *stream = backups.swap_remove(at).1;
        }
    });
    assert!(
        backups.is_empty(),
        "nnx::restore_rngs: the model has no stream `{}`\n  help: pass the model whose streams \
         were split, or one with streams at the same paths",
        backups[0].0
    );
}

/// Policy of [`reseed`] for streams with arrays of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReseedPolicy {
    /// Panic.
    #[default]
    ScalarsOnly,
    /// Split the new key into an array of the same shape.
    MatchShape,
}

/// Reseeds the streams of a model by the names under which they were created (`nnx.reseed`).
/// Each gets the next key of the stream of its name in `rngs`, and its count restarts at zero.
/// Streams whose names are not in `rngs` are unchanged.
///
/// ```no_run
/// # let mut model = ramie_nn::Rngs::new(0);
/// use ramie_nn::nnx::{self, ReseedPolicy};
/// use ramie_nn::Rngs;
/// nnx::reseed(&mut model, Rngs::empty().stream("dropout", 42), ReseedPolicy::default());
/// ```
///
/// # Panics
/// Panics if a stream has an array of keys and the policy is `ReseedPolicy::ScalarsOnly`.
#[track_caller]
pub fn reseed<M: Tree>(model: &mut M, mut rngs: Rngs, policy: ReseedPolicy) {
    for_each_mut(model, |path, stream: &mut RngStream| {
        if !rngs.contains(&stream.tag) {
            return;
        }
        let key = rngs.key(&stream.tag);
        let shape = stream.key.0.shape();
        let key = match (shape, policy) {
            ([], _) => key,
            (shape, ReseedPolicy::MatchShape) => key.split_array(shape),
            (shape, ReseedPolicy::ScalarsOnly) => panic!(
                "nnx::reseed: the stream at `{path}` has an array of keys of shape {shape:?}\n  \
                 help: pass ReseedPolicy::MatchShape to split the new key into an array of this \
                 shape"
            ),
        };
        stream.count = RngCount::new(Array::zeros(shape, DType::U32));
        stream.key = RngKey(key);
    });
}
