//! Synchronization of processes and exchange of small values between hosts. Nothing in this
//! module changes what devices compute.

use super::connection::failed;
use super::store::KeyValueStore;
use super::{FailureKind, current};
use crate::program::tree::{self, Tree};
use crate::{Array, Result};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The maximum time that a process waits for the others in these functions. They may be compiling
/// or writing files meanwhile; a lost process is noticed much earlier.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// Number of the next exchange. Processes agree on it because they perform the same exchanges in
/// the same order.
static EXCHANGE: AtomicU64 = AtomicU64::new(0);

fn store() -> Option<KeyValueStore> {
    let group = current()?;
    Some(KeyValueStore::new(group.connection.clone(), "host"))
}

/// Waits until all processes reach this point, and until this process's devices have finished
/// their work.
///
/// All processes must call it with the same name. With one process it only waits for the devices.
/// Corresponds to JAX's `multihost_utils.sync_global_devices`.
///
/// # Errors
/// Returns an error if a process is lost, or does not arrive within half an hour; the message
/// names it.
///
/// ```
/// ramie_core::distributed::sync_global_devices("checkpoint written")?;
/// # Ok::<(), ramie_core::Error>(())
/// ```
pub fn sync_global_devices(name: &str) -> Result<()> {
    if let Some(runtime) = crate::client::started() {
        runtime.client().wait();
    }
    match store() {
        Some(store) => store.barrier(name, PATIENCE),
        None => Ok(()),
    }
}

/// Sends the bytes of process 0 to all processes.
///
/// All processes must call it, in the same order among their exchanges; `bytes` is ignored in
/// processes other than process 0.
///
/// # Errors
/// Returns an error in the same cases as [`sync_global_devices`].
pub fn broadcast_bytes_one_to_all(bytes: &[u8]) -> Result<Vec<u8>> {
    let Some(group) = current() else {
        return Ok(bytes.to_vec());
    };
    let config = group.connection.config();
    let store = KeyValueStore::new(group.connection.clone(), "host");
    let key = format!("broadcast/{}", EXCHANGE.fetch_add(1, Ordering::Relaxed));
    let value = if config.process == 0 {
        store.put(&key, bytes)?;
        bytes.to_vec()
    } else {
        store.get(&key, PATIENCE)?
    };
    store.barrier(&key, PATIENCE)?;
    if config.process == 0 {
        store.delete(&key)?;
    }
    Ok(value)
}

/// Sends the bytes of every process to all processes, and returns them in the order of the
/// processes. Their lengths may differ.
///
/// All processes must call it, in the same order among their exchanges.
///
/// # Errors
/// Returns an error in the same cases as [`sync_global_devices`].
pub fn process_allgather_bytes(bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
    let Some(group) = current() else {
        return Ok(vec![bytes.to_vec()]);
    };
    let config = group.connection.config();
    let store = KeyValueStore::new(group.connection.clone(), "host");
    let key = format!("gather/{}", EXCHANGE.fetch_add(1, Ordering::Relaxed));
    store.put(&format!("{key}/{}", config.process), bytes)?;
    let all: Vec<Vec<u8>> = (0..config.count)
        .map(|process| store.get(&format!("{key}/{process}"), PATIENCE))
        .collect::<Result<_>>()?;
    store.barrier(&key, PATIENCE)?;
    if config.process == 0 {
        store.delete(&key)?;
    }
    Ok(all)
}

/// Sends the tree of process 0 to all processes, such as settings, seeds or small parameters.
///
/// All processes must call it with trees of the same structure, shapes and dtypes, in the same
/// order among their exchanges. The values are copied through the hosts; a jitted function
/// replicates large arrays on devices faster. Corresponds to JAX's
/// `multihost_utils.broadcast_one_to_all`.
///
/// # Errors
/// Returns an error in the same cases as [`sync_global_devices`], and if this process's tree does
/// not match that of process 0.
///
/// ```
/// use ramie_core::{Array, distributed};
/// let seed = distributed::broadcast_one_to_all(Array::from([7u32]))?;
/// assert_eq!(seed.to_vec::<u32>(), [7]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
pub fn broadcast_one_to_all<T: Tree>(tree: T) -> Result<T> {
    if current().is_none() {
        return Ok(tree);
    }
    let packed = broadcast_bytes_one_to_all(&pack(&tree)?)?;
    let values = unpack(&tree, &packed, 0)?;
    let mut arrays = Vec::with_capacity(values.len());
    for (array, bytes) in tree::leaves(&tree).iter().zip(values) {
        arrays.push(Array::try_from_bytes(bytes, array.shape(), array.dtype())?);
    }
    Ok(tree::with_leaves(&tree, arrays))
}

/// Gathers the trees of all processes: each array gets a new first axis with one element for each
/// process.
///
/// All processes must call it with trees of the same structure, shapes and dtypes, in the same
/// order among their exchanges. The values are copied through the hosts and should be small, such
/// as losses, counts or checksums. Corresponds to JAX's `multihost_utils.process_allgather`.
///
/// # Errors
/// Returns an error in the same cases as [`sync_global_devices`], and if the trees do not match.
///
/// ```
/// use ramie_core::{Array, distributed};
/// let losses = distributed::process_allgather(Array::from([0.5f32]))?;
/// assert_eq!(losses.shape(), [distributed::process_count(), 1]);
/// # Ok::<(), ramie_core::Error>(())
/// ```
pub fn process_allgather<T: Tree>(tree: T) -> Result<T> {
    let all = process_allgather_bytes(&pack(&tree)?)?;
    let mut gathered: Vec<Vec<u8>> = vec![Vec::new(); tree::leaves(&tree).len()];
    for (process, packed) in all.iter().enumerate() {
        for (so_far, bytes) in gathered.iter_mut().zip(unpack(&tree, packed, process)?) {
            so_far.extend(bytes);
        }
    }
    let mut arrays = Vec::with_capacity(gathered.len());
    for (array, bytes) in tree::leaves(&tree).iter().zip(gathered) {
        let shape = [&[all.len()], array.shape()].concat();
        arrays.push(Array::try_from_bytes(&bytes, &shape, array.dtype())?);
    }
    Ok(tree::with_leaves(&tree, arrays))
}

/// Encodes the types of the leaves, one per line, and their elements.
fn pack<T: Tree>(tree: &T) -> Result<Vec<u8>> {
    let leaves = tree::leaves(tree);
    let header = header(&leaves);
    let mut packed = (header.len() as u64).to_le_bytes().to_vec();
    packed.extend(header.bytes());
    for leaf in &leaves {
        packed.extend(leaf.try_to_bytes()?);
    }
    Ok(packed)
}

fn header(leaves: &[Array]) -> String {
    leaves
        .iter()
        .map(|leaf| format!("{}\n", leaf.aval()))
        .collect()
}

/// Returns the elements of each leaf of another process's tree, which must match this one.
fn unpack<'a, T: Tree>(tree: &T, packed: &'a [u8], process: usize) -> Result<Vec<&'a [u8]>> {
    let leaves = tree::leaves(tree);
    let ours = header(&leaves);
    let damaged = || {
        failed(
            FailureKind::Other,
            "received a value from another version of Ramie",
        )
    };
    let (length, rest) = packed.split_first_chunk::<8>().ok_or_else(damaged)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
    let (theirs, mut rest) = rest.split_at_checked(length).ok_or_else(damaged)?;
    if theirs != ours.as_bytes() {
        let theirs = String::from_utf8_lossy(theirs);
        let words = |text: &str| format!("({})", text.trim_end().replace('\n', ", "));
        return Err(failed(
            FailureKind::Refused,
            format!(
                "the processes exchange different trees: process {process} has {}, this one {}\n  help: \
                 perform the same exchanges in the same order in all processes",
                words(&theirs),
                words(&ours)
            ),
        ));
    }
    let mut values = Vec::with_capacity(leaves.len());
    for leaf in &leaves {
        let (bytes, after) = rest.split_at_checked(leaf.nbytes()).ok_or_else(damaged)?;
        values.push(bytes);
        rest = after;
    }
    if rest.is_empty() {
        Ok(values)
    } else {
        Err(damaged())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_tree_is_unpacked_by_a_like_one_only() {
        let tree = (
            Array::from([1.0f32, 2.0]),
            vec![Array::from([[true, false]]), Array::from(7i32)],
        );
        let packed = pack(&tree).unwrap();
        let values = unpack(&tree, &packed, 1).unwrap();
        assert_eq!(values[1], [1, 0]);
        assert_eq!(values[2], 7i32.to_le_bytes());
        for cut in 0..packed.len() {
            unpack(&tree, &packed[..cut], 1).unwrap_err();
        }
        let longer = [&packed[..], &[0]].concat();
        unpack(&tree, &longer, 1).unwrap_err();
        let other = (Array::from([1.0f32]), vec![Array::from([[true, false]])]);
        let error = unpack(&other, &packed, 3).unwrap_err().to_string();
        assert!(
            error
                .contains("process 3 has (f32[2], bool[1,2], i32[]), this one (f32[1], bool[1,2])"),
            "{error}"
        );
    }

    #[test]
    fn one_process_talks_to_itself() {
        let x = Array::from([1.5f32, 2.5]);
        sync_global_devices("here").unwrap();
        let same = broadcast_one_to_all(x.clone()).unwrap();
        assert_eq!(same.to_vec::<f32>(), [1.5, 2.5]);
        let all = process_allgather(x).unwrap();
        assert_eq!(
            (all.shape(), all.to_vec::<f32>()),
            (&[1, 2][..], vec![1.5, 2.5])
        );
        assert_eq!(process_allgather_bytes(b"a").unwrap(), [b"a"]);
    }
}
