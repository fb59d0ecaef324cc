//! The streams of keys within a model: split, forked, seeded again.

use super::filter::{Filter, Leaf};
use super::parts::for_each_mut;
use crate::{RngCount, RngKey, RngStream, Rngs};
use ramie_core::{Array, DType, Tree, random};

/// The state of streams before [`split_rngs`] or [`fork_rngs`], for
/// [`restore_rngs`].
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
            // The stream as it is after it has given the key: restored, it does
            // not give that one again.
            backups.push((path.to_owned(), stream.clone()));
            *stream = new;
        }
    });
    RngBackups(backups)
}

/// Splits those streams of keys in a model that a filter accepts (`nnx.split_rngs`):
/// each gets an array of keys of a shape, split from its next key, so that
/// [`vmap`](super::vmap) and [`scan`](super::scan) can give each example or step
/// its own.
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
/// If a stream has an array of keys already.
#[track_caller]
pub fn split_rngs<M: Tree>(model: &mut M, shape: &[usize], only: impl Filter) -> RngBackups {
    change(model, &only, |stream| stream.split(shape))
}

/// Replaces those streams of keys in a model that a filter accepts by new ones,
/// each from the stream's next key (`nnx.fork_rngs`).
///
/// # Panics
/// If a stream has an array of keys.
#[track_caller]
pub fn fork_rngs<M: Tree>(model: &mut M, only: impl Filter) -> RngBackups {
    change(model, &only, RngStream::fork)
}

/// Puts streams back as they were, but for the keys that they have given
/// (`nnx.restore_rngs`).
///
/// # Panics
/// If the model does not have the streams.
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
        "nnx::restore_rngs: the model has no stream `{}`\n  help: give the model whose streams were \
         split, or one that has them at the same paths",
        backups[0].0
    );
}

/// What [`reseed`] does with streams that have arrays of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReseedPolicy {
    /// Refuses them.
    #[default]
    ScalarsOnly,
    /// Splits the new key into as many.
    MatchShape,
}

/// Gives the streams of a model new keys, by the names that they were made under
/// (`nnx.reseed`): each gets the next key of the stream of its name in `rngs`,
/// and counts from zero. Streams whose names are not there stay.
///
/// ```no_run
/// # let mut model = ramie_nn::Rngs::new(0);
/// use ramie_nn::nnx::{self, ReseedPolicy};
/// use ramie_nn::Rngs;
/// nnx::reseed(&mut model, Rngs::empty().stream("dropout", 42), ReseedPolicy::default());
/// ```
///
/// # Panics
/// If a stream has an array of keys and the policy refuses that.
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
                "nnx::reseed: the stream at `{path}` has an array of keys, of shape {shape:?}\n  \
                 help: if all of them are different, give ReseedPolicy::MatchShape"
            ),
        };
        stream.count = RngCount::new(Array::zeros(shape, DType::U32));
        stream.key = RngKey(key);
    });
}
