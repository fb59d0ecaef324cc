//! Compile options: on which devices a program runs.

use super::callback;
use super::client::client;
use super::serve::Failure;
use crate::sys::{RawClient, RawDevice};
use ramie_cpu::Options;
use ramie_formats::proto::{Field, fields};

/// The devices of a program.
pub(super) struct Placement {
    /// The devices in the order of the program's.
    pub devices: Vec<*mut RawDevice>,
    /// Options of the compiler.
    pub options: Options,
}

/// Returns the fields of a message in compile options.
fn parts(bytes: &[u8]) -> Result<Vec<(u32, Field<'_>)>, Failure> {
    fields(bytes).ok_or_else(|| Failure::argument("the compile options are damaged"))
}

/// Returns the field with a number, or an empty one.
fn field<'a>(all: &[(u32, Field<'a>)], number: u32) -> Field<'a> {
    let found = all.iter().find(|(n, _)| *n == number);
    found.map_or(Field::Bytes(&[]), |(_, field)| *field)
}

/// Returns a list of booleans.
fn flags(field: Field<'_>) -> Vec<bool> {
    let mut list = Vec::new();
    field.ints_into(&mut list);
    list.iter().map(|n| *n != 0).collect()
}

/// Returns the numbers of the devices, those of each partition of a replica together.
fn assigned(build: &[(u32, Field<'_>)]) -> Result<Vec<i64>, Failure> {
    let mut by_partition: Vec<Vec<i64>> = Vec::new();
    for (number, computation) in parts(field(build, 9).bytes())? {
        if number == 3 {
            let mut replicas = Vec::new();
            for (number, ids) in parts(computation.bytes())? {
                if number == 1 {
                    ids.ints_into(&mut replicas);
                }
            }
            by_partition.push(replicas);
        }
    }
    let replicas = by_partition.first().map_or(0, Vec::len);
    let of = |replica: usize| by_partition.iter().filter_map(move |p| p.get(replica));
    Ok((0..replicas).flat_map(of).copied().collect())
}

impl Placement {
    /// Reads serialized compile options.
    pub(super) fn read(options: &[u8], raw: *mut RawClient) -> Result<Placement, Failure> {
        // SAFETY: a live client.
        let devices = &unsafe { client(raw) }.devices;
        let build = parts(field(&parts(options)?, 3).bytes())?;
        let count = |number| usize::try_from(field(&build, number).int()).map_or(1, |n| n.max(1));
        let options = Options {
            replicas: count(4),
            partitions: count(5),
            free_results: flags(field(&build, 12)),
            hosts: callback::functions(),
        };
        let total = options.replicas.saturating_mul(options.partitions);
        let mut ids = assigned(&build)?;
        if ids.is_empty() {
            ids = (0..total.min(devices.len()) as i64).collect();
        }
        if ids.len() != total {
            let got = ids.len();
            return Err(Failure::argument(format!(
                "the program runs on {total} devices, but {got} are assigned to it"
            )));
        }
        let device = |id: &i64| {
            let found = usize::try_from(*id).ok().and_then(|id| devices.get(id));
            let missing = || Failure::argument(format!("there is no device {id}"));
            found.copied().ok_or_else(missing)
        };
        Ok(Placement {
            devices: ids.iter().map(device).collect::<Result<_, _>>()?,
            options,
        })
    }
}
