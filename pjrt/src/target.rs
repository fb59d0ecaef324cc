//! Named hardware to compile for, which need not be present.

use crate::client_options::ClientOptions;
use crate::error::Error;
use crate::plugin::Plugin;
use crate::topology::Topology;
use ramie_plugins::{DiscoverError, Environment, Platform};
use std::fmt;
use std::str::FromStr;

/// Hardware to compile for, such as `tpu:v5e:2x4`, `cuda:h200` or `cuda:h200:4`.
///
/// For TPUs, the name consists of generation and topology, in the notation of the TPU plugin. For
/// GPUs, it consists of the model and the number of GPUs; without a number, there are as many as
/// a program needs.
///
/// ```
/// use ramie_pjrt::Target;
/// use ramie_plugins::Platform;
/// let target: Target = "tpu:v5e:2x4".parse()?;
/// assert_eq!((target.platform(), target.to_string()), (Platform::Tpu, "tpu:v5e:2x4".into()));
/// assert!("cuda:h2000".parse::<Target>().is_err());
/// # Ok::<(), ramie_pjrt::InvalidTarget>(())
/// ```
#[doc(alias("TopologyDescription", "get_topology_desc"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target(Hardware);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hardware {
    Tpu {
        generation: String,
        chips: String,
    },
    Cuda {
        gpu: &'static Gpu,
        count: Option<usize>,
    },
}

/// The properties of a GPU that XLA's compiler needs.
#[derive(Debug, PartialEq, Eq)]
struct Gpu {
    /// Name in targets.
    name: &'static str,
    /// Name reported by the driver.
    kind: &'static str,
    /// Major and minor compute capability.
    capability: (u32, u32),
    /// Whether the architecture has accelerated features, as `sm_90a` does.
    accelerated: bool,
    multiprocessors: u32,
    /// Number of single-precision units of a multiprocessor.
    arithmetic_units: u32,
    clock_mhz: u32,
    memory_bytes: u64,
    memory_bytes_per_second: u64,
    l2_bytes: u64,
    /// Shared memory of a multiprocessor, and the part of it that a block may use.
    shared_bytes: (u32, u32),
}

/// The supported GPUs, with properties from their data sheets and drivers.
static GPUS: [Gpu; 4] = [
    Gpu {
        name: "a100",
        kind: "NVIDIA A100-SXM4-80GB",
        capability: (8, 0),
        accelerated: false,
        multiprocessors: 108,
        arithmetic_units: 64,
        clock_mhz: 1410,
        memory_bytes: 85_098_430_464,
        memory_bytes_per_second: 2_039_000_000_000,
        l2_bytes: 41_943_040,
        shared_bytes: (167_936, 166_912),
    },
    Gpu {
        name: "h100",
        kind: "NVIDIA H100 80GB HBM3",
        capability: (9, 0),
        accelerated: true,
        multiprocessors: 132,
        arithmetic_units: 128,
        clock_mhz: 1980,
        memory_bytes: 84_929_347_584,
        memory_bytes_per_second: 3_352_320_000_000,
        l2_bytes: 52_428_800,
        shared_bytes: (233_472, 232_448),
    },
    Gpu {
        name: "h200",
        kind: "NVIDIA H200",
        capability: (9, 0),
        accelerated: true,
        multiprocessors: 132,
        arithmetic_units: 128,
        clock_mhz: 1980,
        memory_bytes: 151_397_597_184,
        memory_bytes_per_second: 4_800_000_000_000,
        l2_bytes: 52_428_800,
        shared_bytes: (233_472, 232_448),
    },
    Gpu {
        name: "b200",
        kind: "NVIDIA B200",
        capability: (10, 0),
        accelerated: true,
        multiprocessors: 148,
        arithmetic_units: 128,
        clock_mhz: 1965,
        memory_bytes: 191_514_804_224,
        memory_bytes_per_second: 7_672_320_000_000,
        l2_bytes: 132_644_864,
        shared_bytes: (233_472, 232_448),
    },
];

/// Number of GPUs in a host.
const GPUS_OF_HOST: usize = 8;

impl Gpu {
    /// Returns the text of XLA's `GpuTargetConfigProto`.
    fn config(&self) -> String {
        let (major, minor) = self.capability;
        let extension = if self.accelerated {
            "feature_extension: ACCELERATED_FEATURES"
        } else {
            ""
        };
        format!(
            "gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_block_optin: {}
  shared_memory_per_core: {}
  threads_per_core_limit: 2048
  core_count: {}
  fpus_per_core: {}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  clock_rate_ghz: {}
  l2_cache_size: {}
  memory_bandwidth: {}
  device_memory_size: {}
  cuda_compute_capability {{ major: {major} minor: {minor} {extension} }}
}}
platform_name: \"CUDA\"
dnn_version_info {{ major: 9 minor: 10 }}
runtime_version {{ major: 13 }}
device_description_str: \"{}\"
",
            self.shared_bytes.1,
            self.shared_bytes.0,
            self.multiprocessors,
            self.arithmetic_units,
            f64::from(self.clock_mhz) / 1e3,
            self.l2_bytes,
            self.memory_bytes_per_second,
            self.memory_bytes,
            self.kind,
        )
    }
}

/// A string that does not name a [`Target`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a target: {problem}\n  help: {HELP}")]
pub struct InvalidTarget {
    given: String,
    problem: String,
}

ramie_base::debug_is_message!(InvalidTarget);

const HELP: &str = "use a TPU topology such as `tpu:v5e:2x4`, or a GPU such as `cuda:h200`, or \
                    `cuda:h200:4` for four of them";

impl FromStr for Target {
    type Err = InvalidTarget;

    fn from_str(given: &str) -> Result<Target, InvalidTarget> {
        let text = given.trim().to_ascii_lowercase();
        let invalid = |problem: String| InvalidTarget {
            given: given.into(),
            problem,
        };
        let parts: Vec<&str> = text.split(':').collect();
        let hardware = match parts[..] {
            ["tpu", generation, chips] => {
                let sizes = chips.split('x');
                let positive = |size: &str| size.parse().is_ok_and(|n: u32| n > 0);
                if generation.is_empty() || !(2..=3).contains(&sizes.clone().count()) {
                    return Err(invalid(format!(
                        "a TPU topology has a generation and two or three sizes, not `{generation}` \
                         and `{chips}`"
                    )));
                }
                if let Some(size) = sizes.clone().find(|size| !positive(size)) {
                    return Err(invalid(format!("`{size}` is not a positive integer")));
                }
                Hardware::Tpu {
                    generation: generation.into(),
                    chips: chips.into(),
                }
            }
            ["tpu", ..] => {
                return Err(invalid(
                    "a TPU target consists of a generation and a topology".into(),
                ));
            }
            ["cuda", name] => Hardware::Cuda {
                gpu: gpu(name).map_err(invalid)?,
                count: None,
            },
            ["cuda", name, count] => Hardware::Cuda {
                gpu: gpu(name).map_err(invalid)?,
                count: match count.parse() {
                    Ok(n) if hosts(n).is_some() => Some(n),
                    _ => {
                        return Err(invalid(format!(
                            "`{count}` is not a valid number of GPUs: {COUNTS}"
                        )));
                    }
                },
            },
            ["cuda", ..] => {
                return Err(invalid(
                    "a GPU target consists of a name and a number".into(),
                ));
            }
            _ => {
                return Err(invalid(format!(
                    "`{}` is neither `tpu` nor `cuda`",
                    parts[0]
                )));
            }
        };
        Ok(Target(hardware))
    }
}

const COUNTS: &str = "it must be 1 to 8, or a multiple of 8";

fn gpu(name: &str) -> Result<&'static Gpu, String> {
    GPUS.iter().find(|gpu| gpu.name == name).ok_or_else(|| {
        let names: Vec<&str> = GPUS.iter().map(|gpu| gpu.name).collect();
        format!(
            "the GPU `{name}` is unknown; known are {}",
            names.join(", ")
        )
    })
}

/// Returns the number of hosts, and of GPUs in each, for this number of GPUs.
fn hosts(count: usize) -> Option<(usize, usize)> {
    match count {
        1..=GPUS_OF_HOST => Some((1, count)),
        n if n > 0 && n.is_multiple_of(GPUS_OF_HOST) => Some((n / GPUS_OF_HOST, GPUS_OF_HOST)),
        _ => None,
    }
}

/// An error while creating the topology of a target.
#[derive(thiserror::Error)]
pub enum TargetError {
    /// The platform's plugin is not installed.
    #[error(transparent)]
    Plugin(#[from] DiscoverError),
    /// The plugin cannot be loaded, or does not know the topology.
    #[error(transparent)]
    Topology(#[from] Error),
    /// No number of hosts has this number of GPUs.
    #[error("{0} is not a valid number of GPUs: {COUNTS}")]
    Count(usize),
}

ramie_base::debug_is_message!(TargetError);

/// Values of environment variables that the TPU plugin reads. If they are unset, it queries the
/// network and reports failures on stderr or in files. Named topologies do not depend on the
/// values.
const WITHOUT_TPU: [(&str, &str); 4] = [
    ("TPU_SKIP_MDS_QUERY", "1"),
    ("TPU_ACCELERATOR_TYPE", "v5litepod-8"),
    ("TPU_WORKER_HOSTNAMES", "localhost"),
    ("TPU_LOG_DIR", "disabled"),
];

impl Target {
    /// Returns the platform whose plugin compiles for the target.
    pub fn platform(&self) -> Platform {
        match &self.0 {
            Hardware::Tpu { .. } => Platform::Tpu,
            Hardware::Cuda { .. } => Platform::Cuda,
        }
    }

    /// Returns the target's topology. For GPUs without a number, it has `wanted` devices.
    ///
    /// Finds and loads the platform's plugin. On machines without a TPU, the TPU plugin would
    /// query the network for minutes, so `TPU_SKIP_MDS_QUERY` and variables for other information
    /// it needs are set first, unless they are already set. Call this before starting threads
    /// that read or write the environment through C.
    ///
    /// # Errors
    /// Returns an error if the plugin is not installed, cannot be loaded, or does not know the
    /// topology, or if `wanted` GPUs do not fill hosts.
    pub fn topology(&self, wanted: usize) -> Result<Topology, TargetError> {
        let environment = Environment::from_process();
        let location = environment.expect_installed(self.platform())?;
        if self.platform() == Platform::Tpu && !environment.device_visible(Platform::Tpu) {
            for (name, value) in WITHOUT_TPU {
                if std::env::var_os(name).is_none() {
                    // SAFETY: Rust's own readers of the environment are synchronized with this;
                    // the documentation makes callers responsible for C readers on other threads.
                    unsafe { std::env::set_var(name, value) };
                }
            }
        }
        let plugin = Plugin::load(&location.path)?;
        match &self.0 {
            Hardware::Tpu { generation, chips } => {
                let name = format!("{generation}:{chips}");
                Ok(Topology::new(&plugin, &name, &ClientOptions::new())?)
            }
            Hardware::Cuda { gpu, count } => {
                let count = count.unwrap_or(wanted);
                let (hosts, each) = hosts(count).ok_or(TargetError::Count(count))?;
                let options = ClientOptions::new()
                    .set("target_config", gpu.config())
                    .set("topology", format!("1x{hosts}x{each}"));
                Ok(Topology::new(&plugin, gpu.kind, &options)?)
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Hardware::Tpu { generation, chips } => write!(f, "tpu:{generation}:{chips}"),
            Hardware::Cuda { gpu, count: None } => write!(f, "cuda:{}", gpu.name),
            Hardware::Cuda {
                gpu,
                count: Some(n),
            } => write!(f, "cuda:{}:{n}", gpu.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_written_as_they_are_read() {
        for text in ["tpu:v5e:2x4", "tpu:v4:2x2x4", "cuda:h200", "cuda:b200:16"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_target_is_told() {
        let refusal = |text: &str| text.parse::<Target>().unwrap_err().to_string();
        for (text, problem) in [
            ("", "`` is neither"),
            ("gpu:h200", "`gpu` is neither `tpu` nor `cuda`"),
            ("tpu", "a TPU target consists of"),
            ("tpu:v5e", "a TPU target consists of"),
            ("tpu:v5e:2", "two or three sizes"),
            ("tpu:v5e:2x0", "`0` is not a positive integer"),
            (
                "cuda:h2000",
                "`h2000` is unknown; known are a100, h100, h200, b200",
            ),
            ("cuda:h200:12", "`12` is not a valid number of GPUs"),
            ("cuda:h200:1:1", "a name and a number"),
        ] {
            let refusal = refusal(text);
            assert!(refusal.contains(problem), "{refusal}");
            assert!(refusal.contains("help: use a TPU topology"), "{refusal}");
        }
    }
}
