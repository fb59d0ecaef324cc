use std::fmt;
use std::str::FromStr;

/// A kind of hardware for which there is an XLA plugin.
///
/// ```
/// use ramie_pjrt::discover::Platform;
/// assert_eq!("cuda".parse(), Ok(Platform::Cuda));
/// assert_eq!(Platform::Tpu.to_string(), "tpu");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Platform {
    /// The host's processor (`fastatomstruct-xla-cpu` or `xla-cpu-pjrt`).
    Cpu,
    /// NVIDIA GPUs (`jax-cuda13-pjrt`).
    Cuda,
    /// Google TPUs (`libtpu`).
    Tpu,
}

impl Platform {
    /// All platforms, in the order in which they are listed to users.
    pub const ALL: [Platform; 3] = [Platform::Cpu, Platform::Cuda, Platform::Tpu];

    /// Returns the name used by `RAMIE_PLATFORM` and the command line: `cpu`, `cuda` or `tpu`.
    pub const fn name(self) -> &'static str {
        match self {
            Platform::Cpu => "cpu",
            Platform::Cuda => "cuda",
            Platform::Tpu => "tpu",
        }
    }

    /// Returns the name as used in sentences: `CPU`, `CUDA` or `TPU`.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Platform::Cpu => "CPU",
            Platform::Cuda => "CUDA",
            Platform::Tpu => "TPU",
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Platform {
    type Err = UnknownPlatform;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = text.trim();
        Platform::ALL
            .into_iter()
            .find(|platform| platform.name().eq_ignore_ascii_case(wanted))
            .ok_or_else(|| UnknownPlatform {
                given: text.to_owned(),
            })
    }
}

/// An error for a name that does not denote a [`Platform`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a platform: expected `cpu`, `cuda` (NVIDIA GPUs) or `tpu`\n\
     help: use one of these names"
)]
pub struct UnknownPlatform {
    /// The invalid name.
    pub given: String,
}

crate::debug_is_message!(UnknownPlatform);
