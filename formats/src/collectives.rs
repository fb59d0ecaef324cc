//! Communication between the devices of a compiled program.

use crate::hlo::{element_name, field, int, ints, messages, string};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The collective operations of one kind in a compiled program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collective {
    /// XLA's name of the operation, such as `all-reduce`.
    pub kind: String,
    /// The number of operations in the program. An operation in a loop counts once.
    pub count: usize,
    /// The total size of the operands on one device in bytes, with each operation executed once.
    pub bytes: u64,
}

const KINDS: [&str; 7] = [
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "ragged-all-to-all",
    "reduce-scatter",
];

/// Returns the collective operations of a module (`HloModuleProto`), sorted by kind.
pub fn of_module(module: &[u8]) -> Vec<Collective> {
    let mut found: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    let computations: Vec<Vec<&[u8]>> = messages(module, 3)
        .map(|computation| messages(computation, 2).collect())
        .collect();
    let fusions = computations.iter().flatten();
    let fused: HashSet<i64> = fusions
        .filter(|i| string(i, 2) == "fusion")
        .flat_map(|i| ints(i, 38))
        .collect();
    // A collective that a TPU overlaps with computation occurs in each of the fusions that run
    // meanwhile, with the same channel.
    let mut fused_channels = HashSet::new();
    for (computation, instructions) in messages(module, 3).zip(computations) {
        let is_fused = fused.contains(&int(computation, 5));
        let sizes: HashMap<i64, u64> = instructions
            .iter()
            .map(|i| {
                (
                    int(i, 35),
                    field(i, 3).map_or(0, |s| bytes_of_shape(s.bytes())),
                )
            })
            .collect();
        for instruction in instructions {
            let opcode = string(instruction, 2);
            // An asynchronous operation starts with this suffix and ends in an operation of
            // another name.
            let kind = opcode.strip_suffix("-start").unwrap_or(&opcode);
            let Some(kind) = KINDS.into_iter().find(|k| *k == kind) else {
                continue;
            };
            let operands = ints(instruction, 36);
            let given: u64 = operands.iter().filter_map(|id| sizes.get(id)).sum();
            let channel = int(instruction, 26);
            if is_fused && channel != 0 && !fused_channels.insert((kind, channel)) {
                continue;
            }
            let entry = found.entry(kind).or_default();
            entry.0 += 1;
            entry.1 += given;
        }
    }
    let collective = |(kind, (count, bytes)): (&str, (usize, u64))| Collective {
        kind: kind.into(),
        count,
        bytes,
    };
    found.into_iter().map(collective).collect()
}

/// Returns the size of an array of this shape, or the total size of a tuple, in bytes.
pub(crate) fn bytes_of_shape(shape: &[u8]) -> u64 {
    let parts: u64 = messages(shape, 4).map(bytes_of_shape).sum();
    let elements: u64 = ints(shape, 3).iter().map(|d| *d as u64).product();
    parts + (elements * bits(element_name(int(shape, 2)))).div_ceil(8)
}

/// Returns the number of bits of an element, which is part of the type's name.
fn bits(name: &str) -> u64 {
    if name == "pred" {
        return 8;
    }
    let number = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = number.find(|c: char| !c.is_ascii_digit());
    number[..end.unwrap_or(number.len())].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Writer;

    #[test]
    fn collectives_are_counted_with_what_they_are_given() {
        let shape = |w: &mut Writer, element: i64, dims: &[u8]| {
            w.message(3, |shape| {
                shape.int(2, element);
                shape.bytes(3, dims);
            });
        };
        let mut module = Writer::default();
        module.message(3, |c| {
            let mut add = |id: i64, opcode: &str, operands: &[u8]| {
                c.message(2, |i| {
                    i.bytes(2, opcode.as_bytes());
                    // f32[3, 5], which is 60 bytes
                    shape(i, 11, &[3, 5]);
                    i.int(35, id);
                    i.bytes(36, operands);
                });
            };
            add(1, "parameter", &[]);
            add(2, "all-reduce", &[1]);
            add(3, "all-reduce-start", &[1, 2]);
            add(4, "all-reduce-done", &[3]);
            add(5, "all-gather", &[4]);
        });
        let of = |kind: &str, count, bytes| Collective {
            kind: kind.into(),
            count,
            bytes,
        };
        let expected = [of("all-gather", 1, 60), of("all-reduce", 2, 180)];
        assert_eq!(of_module(&module.0), expected);
        for cut in 0..module.0.len() {
            of_module(&module.0[..cut]);
        }
    }

    #[test]
    fn what_is_sent_during_several_fusions_counts_once() {
        let mut module = Writer::default();
        for id in 1..=2 {
            module.message(3, |c| {
                c.message(2, |i| {
                    i.bytes(2, b"all-gather");
                    i.int(26, 33);
                });
                c.int(5, id);
            });
        }
        let twice = of_module(&module.0);
        assert_eq!(twice[0].count, 2);
        module.message(3, |c| {
            for id in 1..=2 {
                c.message(2, |i| {
                    i.bytes(2, b"fusion");
                    i.bytes(38, &[id]);
                });
            }
        });
        assert_eq!(of_module(&module.0)[0].count, 1);
    }

    #[test]
    fn elements_are_as_wide_as_their_types_say() {
        for (name, wide) in [
            ("pred", 8),
            ("bf16", 16),
            ("f8e4m3fn", 8),
            ("c128", 128),
            ("s4", 4),
        ] {
            assert_eq!(bits(name), wide, "{name}");
        }
        assert_eq!(bits("tuple"), 0);
    }
}
