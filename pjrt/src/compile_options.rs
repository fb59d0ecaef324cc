//! Compile options, in the encoding that every plugin reads.

use crate::error::{Error, Result};
use ramie_formats::proto::Writer;

/// Options for compiling a program and distributing it over devices.
///
/// `Default` is one replica and one partition on the client's first device.
#[derive(Debug, Clone, PartialEq)]
pub struct CompileOptions {
    /// Number of copies of the program that differ only in their data.
    pub num_replicas: usize,
    /// Number of parts that each replica is divided into.
    pub num_partitions: usize,
    /// Device ids, replica-major: `device_assignment[r * num_partitions + p]`. With `None`, the
    /// plugin uses its first devices.
    pub device_assignment: Option<Vec<i32>>,
    /// Whether the compiler partitions the program over `num_partitions`.
    pub use_spmd: bool,
    /// Whether shardings are in the Shardy dialect (`sdy`). Required for programs that use it.
    pub use_shardy: bool,
    /// For each input, whether the compiler may choose its sharding if the program does not
    /// specify one. A single value applies to all inputs.
    ///
    /// Without Shardy, an input without a sharding that is not named here is replicated. With
    /// Shardy, the compiler shards every input without `sdy.sharding` (or with open dimensions in
    /// it), and a program specifies the sharding of inputs that must be replicated. In both
    /// modes, [`Signature::inputs`] contains, for the inputs named here, the types chosen by the
    /// compiler.
    ///
    /// [`Signature::inputs`]: crate::Signature::inputs
    pub propagate_to_inputs: Vec<bool>,
    /// Like `propagate_to_inputs`, but for the outputs. To query the choice, use
    /// [`output_shardings`](crate::Executable::output_shardings).
    pub propagate_to_outputs: Vec<bool>,
    /// XLA flags for this compilation, by name, such as `xla_dump_to`.
    pub env_overrides: Vec<(String, OptionOverride)>,
}

/// The value of an XLA flag.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionOverride {
    /// A string or the name of an enumerator.
    String(String),
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Double(f64),
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            num_replicas: 1,
            num_partitions: 1,
            device_assignment: None,
            use_spmd: false,
            use_shardy: false,
            propagate_to_inputs: Vec::new(),
            propagate_to_outputs: Vec::new(),
            env_overrides: Vec::new(),
        }
    }
}

impl CompileOptions {
    /// Creates options for one program partitioned over these devices, with Shardy.
    pub fn partitioned(devices: &[i32]) -> CompileOptions {
        CompileOptions {
            num_partitions: devices.len(),
            device_assignment: Some(devices.to_vec()),
            use_spmd: true,
            use_shardy: true,
            ..CompileOptions::default()
        }
    }

    /// Creates options for one device, given by its id.
    pub fn on_device(device: i32) -> CompileOptions {
        CompileOptions {
            device_assignment: Some(vec![device]),
            ..CompileOptions::default()
        }
    }

    /// Returns the number of devices that the program runs on.
    pub fn num_devices(&self) -> usize {
        self.num_replicas * self.num_partitions
    }

    /// Checks that the counts are positive, and that the assignment lists one distinct device for
    /// each replica and partition.
    ///
    /// # Errors
    /// Returns [`Error::CompileOptions`] with the contradiction.
    pub fn check(&self) -> Result<()> {
        let refuse = |reason: String| Err(Error::CompileOptions(reason));
        if self.num_devices() == 0 {
            return refuse(format!(
                "num_replicas ({}) and num_partitions ({}) must be positive",
                self.num_replicas, self.num_partitions
            ));
        }
        if let Some(ids) = &self.device_assignment {
            if ids.len() != self.num_devices() {
                return refuse(format!(
                    "device_assignment lists {} devices for {} replicas × {} partitions",
                    ids.len(),
                    self.num_replicas,
                    self.num_partitions
                ));
            }
            let mut sorted = ids.clone();
            sorted.sort_unstable();
            if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return refuse(format!("device_assignment lists device {} twice", twice[0]));
            }
        }
        Ok(())
    }

    /// Returns the serialized `CompileOptionsProto`. Equal options have equal bytes, so these can
    /// be part of a cache key.
    pub fn encode(&self) -> Vec<u8> {
        let (replicas, partitions) = (self.num_replicas, self.num_partitions);
        let mut options = Writer::default();
        // executable_build_options
        options.message(3, |build| {
            build.int(4, replicas as i64);
            build.int(5, partitions as i64);
            if self.use_spmd {
                build.int(6, 1);
            }
            if let Some(ids) = &self.device_assignment {
                build.message(9, |assignment| {
                    assignment.int(1, replicas as i64);
                    assignment.int(2, partitions as i64);
                    for partition in 0..partitions {
                        assignment.message(3, |computation| {
                            let mut packed = Writer::default();
                            for replica in 0..replicas {
                                packed.varint(ids[replica * partitions + partition] as i64 as u64);
                            }
                            computation.bytes(1, &packed.0);
                        });
                    }
                });
            }
            let choices = |flags: &[bool]| flags.iter().copied().map(u8::from).collect::<Vec<_>>();
            if !self.propagate_to_outputs.is_empty() {
                build.bytes(12, &choices(&self.propagate_to_outputs));
            }
            if !self.propagate_to_inputs.is_empty() {
                build.bytes(18, &choices(&self.propagate_to_inputs));
            }
            if self.use_shardy {
                build.int(19, 1);
            }
        });
        // env_option_overrides, a map from name to value
        for (name, value) in &self.env_overrides {
            options.message(7, |entry| {
                entry.bytes(1, name.as_bytes());
                entry.message(2, |payload| match value {
                    OptionOverride::String(s) => payload.bytes(1, s.as_bytes()),
                    OptionOverride::Bool(b) => payload.int(2, i64::from(*b)),
                    OptionOverride::Int(i) => payload.int(3, *i),
                    OptionOverride::Double(x) => payload.double(4, *x),
                });
            });
        }
        options.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        text.split(' ')
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect()
    }

    #[test]
    fn one_device_has_the_known_bytes() {
        assert_eq!(CompileOptions::default().encode(), hex("1a 04 20 01 28 01"));
    }

    #[test]
    fn four_partitions_have_the_known_bytes() {
        let options = CompileOptions::partitioned(&[0, 1, 2, 3]);
        let known = "1a 23 20 01 28 04 30 01 4a 18 08 01 10 04 1a 03 0a 01 00 1a 03 0a 01 01 \
                     1a 03 0a 01 02 1a 03 0a 01 03 98 01 01";
        assert_eq!(
            options.encode(),
            hex(&known.split_whitespace().collect::<Vec<_>>().join(" "))
        );
    }

    #[test]
    fn choices_left_to_the_compiler_are_packed_lists() {
        let options = CompileOptions {
            propagate_to_inputs: vec![true, false, true],
            propagate_to_outputs: vec![false, true],
            ..CompileOptions::default()
        };
        let known = hex("1a 0e 20 01 28 01 62 02 00 01 92 01 03 01 00 01");
        assert_eq!(options.encode(), known);
    }

    #[test]
    fn overrides_are_map_entries() {
        let set = |value| CompileOptions {
            env_overrides: vec![("a".into(), value)],
            ..CompileOptions::default()
        };
        let tail = |value| set(value).encode()[6..].to_vec();
        assert_eq!(
            tail(OptionOverride::Bool(true)),
            hex("3a 07 0a 01 61 12 02 10 01")
        );
        assert_eq!(
            tail(OptionOverride::Int(3)),
            hex("3a 07 0a 01 61 12 02 18 03")
        );
        assert_eq!(
            tail(OptionOverride::String("x".into())),
            hex("3a 08 0a 01 61 12 03 0a 01 78")
        );
        assert_eq!(tail(OptionOverride::Double(0.0)).len(), 9 + 7);
    }

    #[test]
    fn assignments_are_written_partition_by_partition() {
        let options = CompileOptions {
            num_replicas: 2,
            num_partitions: 2,
            device_assignment: Some(vec![10, 11, 12, 13]),
            ..CompileOptions::default()
        };
        // Partition 0 runs on devices 10 and 12, partition 1 on 11 and 13.
        let assignment = hex("4a 10 08 02 10 02 1a 04 0a 02 0a 0c 1a 04 0a 02 0b 0d");
        assert!(
            options
                .encode()
                .windows(assignment.len())
                .any(|w| w == assignment)
        );
    }

    #[test]
    fn contradictions_are_refused() {
        let refusal = |options: CompileOptions| options.check().unwrap_err().to_string();
        assert!(CompileOptions::partitioned(&[3, 5]).check().is_ok());
        assert!(refusal(CompileOptions::partitioned(&[])).contains("must be positive"));
        assert!(refusal(CompileOptions::partitioned(&[1, 1])).contains("device 1 twice"));
        let short = CompileOptions {
            num_partitions: 4,
            ..CompileOptions::partitioned(&[1, 2])
        };
        assert!(refusal(short).contains("lists 2 devices for 1 replicas × 4 partitions"));
    }
}
