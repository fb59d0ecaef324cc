//! Hardware to compile for that need not be there, by its name.

use crate::client_options::ClientOptions;
use crate::discover::{DiscoverError, Environment, Platform};
use crate::error::Error;
use crate::plugin::Plugin;
use crate::topology::Topology;
use std::fmt;
use std::str::FromStr;

/// Hardware to compile for: `tpu:v5e:2x4`, `cuda:h200`, `cuda:h200:4`.
///
/// Of TPUs the name says generation and topology, in the words of their plugin. Of
/// GPUs it says which, and how many; without a number there are as many as a program
/// wants.
///
/// ```
/// use ramie_pjrt::Target;
/// use ramie_pjrt::discover::Platform;
/// let target: Target = "tpu:v5e:2x4".parse()?;
/// assert_eq!((target.platform(), target.to_string()), (Platform::Tpu, "tpu:v5e:2x4".into()));
/// assert!("cuda:h2000".parse::<Target>().is_err());
/// # Ok::<(), ramie_pjrt::InvalidTarget>(())
/// ```
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

/// What XLA's compiler wants to know of a GPU.
#[derive(Debug, PartialEq, Eq)]
struct Gpu {
    /// In targets.
    name: &'static str,
    /// As its driver says.
    kind: &'static str,
    /// Major and minor compute capability.
    capability: (u32, u32),
    /// Whether its architecture has instructions of its own, as `sm_90a` has.
    accelerated: bool,
    multiprocessors: u32,
    /// For single precision, of a multiprocessor.
    arithmetic_units: u32,
    clock_mhz: u32,
    memory_bytes: u64,
    memory_bytes_per_second: u64,
    l2_bytes: u64,
    /// Of a multiprocessor, and what of it a block may have.
    shared_bytes: (u32, u32),
}

/// The GPUs that have names, from their data sheets and drivers.
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

/// GPUs of one host.
const GPUS_OF_HOST: usize = 8;

impl Gpu {
    /// The text of XLA's `GpuTargetConfigProto`.
    fn config(&self) -> String {
        let (major, minor) = self.capability;
        let extension = match self.accelerated {
            true => "feature_extension: ACCELERATED_FEATURES",
            false => "",
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

/// A text that names no [`Target`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no target: {problem}; help: {HELP}")]
pub struct InvalidTarget {
    given: String,
    problem: String,
}

const HELP: &str = "a target is a TPU topology such as `tpu:v5e:2x4`, or a GPU such as `cuda:h200`, \
                    or `cuda:h200:4` for four of them";

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
                    return Err(invalid(format!("`{size}` is no size")));
                }
                Hardware::Tpu {
                    generation: generation.into(),
                    chips: chips.into(),
                }
            }
            ["tpu", ..] => {
                return Err(invalid("a TPU is named by generation and topology".into()));
            }
            ["cuda", name] => Hardware::Cuda {
                gpu: gpu(name).map_err(invalid)?,
                count: None,
            },
            ["cuda", name, count] => Hardware::Cuda {
                gpu: gpu(name).map_err(invalid)?,
                count: match count.parse() {
                    Ok(n) if hosts(n).is_some() => Some(n),
                    _ => return Err(invalid(format!("`{count}` is no number of GPUs: {COUNTS}"))),
                },
            },
            ["cuda", ..] => return Err(invalid("a GPU is named by one word and a number".into())),
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

const COUNTS: &str = "there are 1 to 8, or a multiple of 8";

fn gpu(name: &str) -> Result<&'static Gpu, String> {
    GPUS.iter().find(|gpu| gpu.name == name).ok_or_else(|| {
        let names: Vec<&str> = GPUS.iter().map(|gpu| gpu.name).collect();
        format!("the GPU `{name}` is not known, {} are", names.join(", "))
    })
}

/// Hosts and GPUs of each, of so many GPUs.
fn hosts(count: usize) -> Option<(usize, usize)> {
    match count {
        1..=GPUS_OF_HOST => Some((1, count)),
        n if n > 0 && n.is_multiple_of(GPUS_OF_HOST) => Some((n / GPUS_OF_HOST, GPUS_OF_HOST)),
        _ => None,
    }
}

/// Why there is no topology for a target.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The platform's plugin is not installed.
    #[error(transparent)]
    Plugin(#[from] DiscoverError),
    /// The plugin cannot be loaded, or knows no such topology.
    #[error(transparent)]
    Topology(#[from] Error),
    /// There is no host with so many GPUs.
    #[error("{0} GPUs are not to be had: {COUNTS}")]
    Count(usize),
}

/// What the TPUs' plugin looks for in the environment, else in the network, and says
/// aloud or in files if it finds neither; topologies by name do not depend on it.
const WITHOUT_TPU: [(&str, &str); 4] = [
    ("TPU_SKIP_MDS_QUERY", "1"),
    ("TPU_ACCELERATOR_TYPE", "v5litepod-8"),
    ("TPU_WORKER_HOSTNAMES", "localhost"),
    ("TPU_LOG_DIR", "disabled"),
];

impl Target {
    /// The platform, whose plugin compiles for the target.
    pub fn platform(&self) -> Platform {
        match &self.0 {
            Hardware::Tpu { .. } => Platform::Tpu,
            Hardware::Cuda { .. } => Platform::Cuda,
        }
    }

    /// The target's devices: of GPUs without a number, as many as are `wanted`.
    ///
    /// Finds and loads the platform's plugin. Where there is no TPU, that plugin would
    /// ask the network for minutes what its TPUs are: `TPU_SKIP_MDS_QUERY` and
    /// variables of what else it wants to know are set first, unless they are already.
    /// Call this before starting threads that read or write the environment through C.
    ///
    /// # Errors
    /// If the plugin is not installed, cannot be loaded, or knows no such topology.
    pub fn topology(&self, wanted: usize) -> Result<Topology, TargetError> {
        let environment = Environment::from_process();
        let location = environment.expect_installed(self.platform())?;
        if self.platform() == Platform::Tpu && !environment.device_visible(Platform::Tpu) {
            for (name, value) in WITHOUT_TPU {
                if std::env::var_os(name).is_none() {
                    // SAFETY: Rust's own readers of the environment are synchronised with
                    // this; C readers on other threads are the caller's concern, as
                    // documented.
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
            ("tpu", "a TPU is named by"),
            ("tpu:v5e", "a TPU is named by"),
            ("tpu:v5e:2", "two or three sizes"),
            ("tpu:v5e:2x0", "`0` is no size"),
            (
                "cuda:h2000",
                "`h2000` is not known, a100, h100, h200, b200 are",
            ),
            ("cuda:h200:12", "`12` is no number of GPUs"),
            ("cuda:h200:1:1", "one word and a number"),
        ] {
            let refusal = refusal(text);
            assert!(refusal.contains(problem), "{refusal}");
            assert!(refusal.contains("help: a target is"), "{refusal}");
        }
    }
}
