use std::fmt;
use std::str::FromStr;

/// A kind of hardware for which there is an XLA plugin.
///
/// ```
/// use ramie_plugins::Platform;
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
    /// AMD GPUs (`jax-rocm7-pjrt`).
    Rocm,
    /// Intel GPUs (`jax-oneapi-pjrt`).
    OneApi,
    /// Apple GPUs (`jax-mps`).
    Metal,
    /// The platform of a plugin that Ramie does not know, by the name that the plugin reports.
    Other(&'static str),
}

impl Platform {
    /// All platforms with a name, in the order in which they are listed to users.
    pub const ALL: [Platform; 6] = [
        Platform::Cpu,
        Platform::Cuda,
        Platform::Tpu,
        Platform::Rocm,
        Platform::OneApi,
        Platform::Metal,
    ];

    /// The names for messages, to follow the word "expected".
    pub(crate) const NAMES: &str = "`cpu`, `cuda` (NVIDIA GPUs), `tpu`, `rocm` (AMD GPUs), `oneapi` (Intel \
                                    GPUs) or `metal` (Apple GPUs)";

    /// Returns the name used by `RAMIE_PLATFORM` and the command line, or the name that the plugin reports.
    pub const fn name(self) -> &'static str {
        match self {
            Platform::Cpu => "cpu",
            Platform::Cuda => "cuda",
            Platform::Tpu => "tpu",
            Platform::Rocm => "rocm",
            Platform::OneApi => "oneapi",
            Platform::Metal => "metal",
            Platform::Other(name) => name,
        }
    }

    /// Returns the platform with the name that a plugin's client reports.
    ///
    /// ```
    /// use ramie_plugins::Platform;
    /// assert_eq!(Platform::reported("sycl"), Platform::OneApi);
    /// assert_eq!(Platform::reported("abacus").name(), "abacus");
    /// ```
    pub fn reported(name: &'static str) -> Platform {
        match &*name.to_ascii_lowercase() {
            "sycl" => Platform::OneApi,
            "mps" => Platform::Metal,
            _ => name.parse().unwrap_or(Platform::Other(name)),
        }
    }

    /// Returns the platform that the name of a plugin's file suggests. The platform decides which options
    /// the client gets, until the client reports its own. Names of GPU plugins can contain a vendor's word and `gpu`.
    pub(crate) fn of_file(name: &str) -> Platform {
        const WORDS: [(&str, Platform); 12] = [
            ("cuda", Platform::Cuda),
            ("rocm", Platform::Rocm),
            ("hip", Platform::Rocm),
            ("oneapi", Platform::OneApi),
            ("sycl", Platform::OneApi),
            ("xpu", Platform::OneApi),
            ("metal", Platform::Metal),
            ("mps", Platform::Metal),
            ("tpu", Platform::Tpu),
            ("cpu", Platform::Cpu),
            ("gpu", Platform::Cuda),
            ("host", Platform::Cpu),
        ];
        let name = name.to_ascii_lowercase();
        let known = WORDS.iter().find(|(word, _)| name.contains(word));
        known.map_or(Platform::Other("unknown"), |(_, platform)| *platform)
    }

    /// Returns the name as used in sentences, such as `CPU`.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Platform::Cpu => "CPU",
            Platform::Cuda => "CUDA",
            Platform::Tpu => "TPU",
            Platform::Rocm => "ROCm",
            Platform::OneApi => "oneAPI",
            Platform::Metal => "Metal",
            Platform::Other(name) => name,
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
    "`{given}` is not a platform: expected {}\nhelp: use one of these names",
    Platform::NAMES
)]
pub struct UnknownPlatform {
    /// The invalid name.
    pub given: String,
}

ramie_base::debug_is_message!(UnknownPlatform);
