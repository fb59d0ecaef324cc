//! The fingerprint: everything on which compiled code depends, except its program, its compile
//! options and the kind of device.

use ramie_pjrt::Client;
use ramie_plugins::{Platform, PluginLocation};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::sync::OnceLock;

/// Environment variables with these prefixes may change how plugins compile: their flags, their
/// numbers of threads, and the settings of their libraries.
const VARIABLES: [&str; 21] = [
    "XLA_",
    "TF_",
    "TSL_",
    "PJRT_",
    "NPROC",
    "OMP_",
    "KMP_",
    "DNNL_",
    "ONEDNN_",
    "XNN_",
    "YNN_",
    "LLVM_",
    "LIBTPU_",
    "CUDNN_",
    "CUBLAS_",
    "TRITON_",
    "HSA_",
    "MIOPEN_",
    "SYCL_",
    "IGC_",
    "NVIDIA_TF32_OVERRIDE",
];
/// Prefix of variables that only affect logging.
const MESSAGES: &str = "TF_CPP_";

/// The state of the process when the plugin starts and reads it.
pub(super) struct Surroundings(String);

impl Surroundings {
    /// Reads the state of this process and thread.
    pub fn read() -> Surroundings {
        let variables = variables(std::env::vars_os());
        Surroundings(format!("{variables}processors {}\n", processors()))
    }
}

/// Formats the variables that change compilation, sorted by name, with the contents of the files
/// that they name: if the value of a flags variable does not start with a dash, it is the path of
/// a file that contains the flags.
fn variables(all: impl IntoIterator<Item = (OsString, OsString)>) -> String {
    let mut relevant: Vec<(OsString, OsString)> = all
        .into_iter()
        .filter(|(name, _)| {
            let name = name.to_string_lossy();
            VARIABLES.iter().any(|v| name.starts_with(v)) && !name.starts_with(MESSAGES)
        })
        .collect();
    relevant.sort();
    let mut text = String::new();
    for (name, value) in relevant {
        text.push_str(&format!("{name:?}={value:?}\n"));
        if let Some(flags) = file_of_flags(&name, &value) {
            text.push_str(&format!("{flags:?}\n"));
        }
    }
    text
}

fn file_of_flags(name: &OsStr, value: &OsStr) -> Option<String> {
    let is_flags = name.to_string_lossy().ends_with("_FLAGS");
    let text = value.to_string_lossy();
    if !is_flags || text.trim_start().starts_with('-') {
        return None;
    }
    let bytes = fs::read(value).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the number of processors on which this thread may run: compiled loops are split into
/// as many parts. If the system does not report it, returns the number of all processors.
fn processors() -> usize {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed:"));
    match allowed {
        Some(mask) => mask
            .chars()
            .filter_map(|c| c.to_digit(16))
            .map(|digit| digit.count_ones() as usize)
            .sum(),
        None => std::thread::available_parallelism().map_or(0, usize::from),
    }
}

/// Returns a string that differs whenever compiled code may differ.
pub(super) fn fingerprint(
    client: &Client,
    plugin: &PluginLocation,
    surroundings: &Surroundings,
) -> String {
    let mut text = format!(
        "{}\n{}\n{:?}\n{}\n{}",
        client.platform_name(),
        client.platform_version(),
        plugin.version,
        identity(plugin),
        surroundings.0,
    );
    match plugin.platform {
        // Virtual devices beyond the number of processors get their own threads.
        Platform::Cpu => {
            let devices = client.addressable_devices().len().max(processors());
            text.push_str(&format!("threads {devices}\n{}", processor()));
        }
        // The driver includes a compiler.
        Platform::Cuda => {
            text.push_str(&fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default());
        }
        // The version of the platform, above, names the compiler.
        Platform::Tpu
        | Platform::Rocm
        | Platform::OneApi
        | Platform::Metal
        | Platform::Other(_) => {}
    }
    text
}

/// Identifies the plugin's file: by its hash if known, otherwise by the file's metadata.
fn identity(plugin: &PluginLocation) -> String {
    match &plugin.sha256 {
        Some(hash) => hash.clone(),
        None => ramie_plugins::FileState::of(&plugin.path)
            .map_or_else(|_| String::new(), |state| format!("{state:?}")),
    }
}

/// Returns the processor's model and features, if the system reports them.
fn processor() -> &'static String {
    static PROCESSOR: OnceLock<String> = OnceLock::new();
    PROCESSOR.get_or_init(read_processor)
}

fn read_processor() -> String {
    const KEYS: [&str; 5] = [
        "model name",
        "flags",
        "Features",
        "CPU implementer",
        "CPU part",
    ];
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    first
        .lines()
        .filter(|l| KEYS.iter().any(|k| l.starts_with(k)))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> String {
        variables(pairs.iter().map(|(n, v)| (n.into(), v.into())))
    }

    #[test]
    fn every_variable_that_plugins_compile_by_counts() {
        let none = of(&[("PATH", "/bin")]);
        let names = [
            "XLA_FLAGS",
            "TF_XLA_FLAGS",
            "XLA_ANY",
            "TSL_ANY",
            "NPROC",
            "PJRT_NPROC",
            "OMP_NUM_THREADS",
            "ONEDNN_MAX_CPU_ISA",
            "LIBTPU_INIT_ARGS",
            "NVIDIA_TF32_OVERRIDE",
        ];
        for name in names {
            let (one, two) = (of(&[(name, "-1")]), of(&[(name, "-2")]));
            assert!(one != none && two != none && one != two, "{name}");
        }
        for name in [
            "PATH",
            "TF_CPP_MIN_LOG_LEVEL",
            "TF_CPP_VMODULE",
            "MY_XLA_FLAGS",
        ] {
            assert_eq!(of(&[(name, "1")]), none, "{name}");
        }
        assert_eq!(
            of(&[("XLA_A", "1"), ("TF_B", "2")]),
            of(&[("TF_B", "2"), ("XLA_A", "1")])
        );
        // A value cannot imitate another variable.
        assert_ne!(
            of(&[("XLA_A", "1\nXLA_B=2")]),
            of(&[("XLA_A", "1"), ("XLA_B", "2")])
        );
    }

    #[test]
    fn flags_in_a_file_count_by_its_contents() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("flags");
        let path = file.to_str().expect("text");
        let with = |contents: &str| {
            fs::write(&file, contents).expect("write");
            of(&[("XLA_FLAGS", path)])
        };
        let first = with("--xla_cpu_enable_fast_math=true");
        assert_ne!(first, with("--xla_cpu_enable_fast_math=false"));
        assert_eq!(first, with("--xla_cpu_enable_fast_math=true"));
    }

    #[test]
    fn processors_are_counted() {
        assert!(processors() >= 1);
    }
}
