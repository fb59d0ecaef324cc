//! The releases that are installed: names, versions and SHA-256 pinned here, so that an installation
//! is the same everywhere and a damaged or replaced download is refused.
//!
//! Releases of one platform and architecture are listed in the order of preference. The first one is
//! the default; the next one is used where the first cannot be installed.

use std::fmt;

use crate::cuda;
use crate::platform::Platform;

/// A plugin with the packages it needs, for one system and processor architecture.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// The platform of the plugin.
    pub platform: Platform,
    /// The system, as [`std::env::consts::OS`] writes it.
    pub os: &'static str,
    /// The architecture, as [`std::env::consts::ARCH`] writes it.
    pub arch: &'static str,
    /// What distinguishes this release, as `ramie doctor` prints it.
    pub about: &'static str,
    /// The plugin's file, relative to the folder that the wheels are unpacked into.
    pub library: &'static str,
    /// The wheels: first the plugin's, then those of the libraries that it loads.
    pub wheels: &'static [Wheel],
}

/// A wheel of a [`Release`].
#[derive(Clone, Copy, Debug)]
pub struct Wheel {
    /// The package's name.
    pub name: &'static str,
    /// The package's version.
    pub version: &'static str,
    /// The SHA-256 of the wheel file, in lowercase hexadecimal.
    pub sha256: &'static str,
    /// The size of the wheel file, in bytes.
    pub bytes: u64,
    /// Path prefixes of the files that are extracted. Python sources and static libraries are
    /// never extracted.
    pub keep: &'static [&'static str],
    /// pip options that select a wheel if a package has several for different Python versions.
    pub selector: &'static [&'static str],
}

impl Release {
    /// Returns the package that contains the plugin.
    pub fn package(&self) -> &'static Wheel {
        &self.wheels[0]
    }

    /// Returns the directory name below `plugins/` in the user cache, such as
    /// `xla-cpu-pjrt-0.0.1-x86_64`.
    pub fn folder(&self) -> String {
        let package = self.package();
        format!("{}-{}-{}", package.name, package.version, self.arch)
    }

    /// Returns the total size of all wheels in bytes.
    pub fn bytes(&self) -> u64 {
        self.wheels.iter().map(|wheel| wheel.bytes).sum()
    }
}

impl fmt::Display for Wheel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl Wheel {
    /// Returns the package and version in pip's notation, such as `xla-cpu-pjrt==0.0.1`.
    pub fn requirement(&self) -> String {
        format!("{}=={}", self.name, self.version)
    }
}

/// The releases that Ramie installs.
pub static RELEASES: &[Release] = &[
    Release {
        platform: Platform::Cpu,
        os: "linux",
        arch: "x86_64",
        about: "XLA of June 2026, the fastest CPU plugin for matrix products",
        library: "fastatomstruct_xla_cpu/libpjrt_cpu.so",
        wheels: &[Wheel {
            name: "fastatomstruct-xla-cpu",
            version: "2026.6.23",
            sha256: "88b1c430b341b4bea40a37420311c9c75db6e22b46d2ff95b6986577bee6afe9",
            bytes: 63_200_622,
            keep: &["fastatomstruct_xla_cpu/libpjrt_cpu.so"],
            selector: &[],
        }],
    },
    Release {
        platform: Platform::Cpu,
        os: "linux",
        arch: "x86_64",
        about: "XLA of November 2025, used where the newer plugin cannot be installed",
        library: "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
        wheels: &[cpu(
            "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
            63_461_052,
        )],
    },
    Release {
        platform: Platform::Cpu,
        os: "linux",
        arch: "aarch64",
        about: "XLA of November 2025, the CPU plugin that is published for aarch64",
        library: "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
        wheels: &[cpu(
            "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9",
            49_514_947,
        )],
    },
    Release {
        platform: Platform::Cuda,
        os: "linux",
        arch: "x86_64",
        about: "JAX 0.12's plugin for CUDA 13",
        library: "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        wheels: cuda::X86_64,
    },
    Release {
        platform: Platform::Cuda,
        os: "linux",
        arch: "aarch64",
        about: "JAX 0.12's plugin for CUDA 13",
        library: "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        wheels: cuda::AARCH64,
    },
    Release {
        platform: Platform::Tpu,
        os: "linux",
        arch: "x86_64",
        about: "Google's plugin for TPUs",
        library: "libtpu/libtpu.so",
        wheels: &[Wheel {
            name: "libtpu",
            version: "0.0.52",
            sha256: "f5e2e596eaea9357fbb5a6755a7a9007c6ab75bfde4a55191b03eff402971140",
            bytes: 137_064_406,
            keep: &["libtpu/libtpu.so"],
            // The library is the same for every Python, but its wheels have the tag of one Python
            // version.
            selector: &[
                "--implementation",
                "cp",
                "--python-version",
                "3.11",
                "--abi",
                "cp311",
                "--platform",
                "manylinux_2_31_x86_64",
            ],
        }],
    },
    Release {
        platform: Platform::Rocm,
        os: "linux",
        arch: "x86_64",
        about: "JAX 0.12's plugin for AMD's ROCm 7, whose libraries it does not contain",
        library: "jax_plugins/xla_rocm7/xla_rocm_plugin.so",
        wheels: &[Wheel {
            name: "jax-rocm7-pjrt",
            version: "0.12.0",
            sha256: "4551d0714523355f2946ca1958c3f584e95661e467a641d36b726f718a1c7934",
            bytes: 133_415_872,
            keep: &["jax_plugins/xla_rocm7/"],
            selector: &[],
        }],
    },
    Release {
        platform: Platform::OneApi,
        os: "linux",
        arch: "x86_64",
        about: "JAX 0.11's plugin for Intel's oneAPI, whose libraries it does not contain",
        library: "jax_plugins/xla_oneapi/xla_oneapi_plugin.so",
        wheels: &[Wheel {
            name: "jax-oneapi-pjrt",
            version: "0.11.2",
            sha256: "ae7250c5d4459dcfedf4de1bf683edfef0502861e44b6e9bfaa7d8133b4292c1",
            bytes: 135_149_983,
            keep: &["jax_plugins/xla_oneapi/"],
            selector: &[],
        }],
    },
    Release {
        platform: Platform::Metal,
        os: "macos",
        arch: "aarch64",
        about: "a plugin for JAX 0.11 that runs programs by Apple's MLX",
        library: "jax_plugins/mps/lib/libpjrt_plugin_mps.dylib",
        wheels: &[Wheel {
            name: "jax-mps",
            version: "0.11.1",
            sha256: "defef43da225b50689e72300f33772610003189377cc09b0acb0f9a1364d4e2a",
            bytes: 44_734_365,
            keep: &["jax_plugins/mps/lib/"],
            // The library is the same for every Python, but the package asks for a new one.
            selector: &["--python-version", "3.13"],
        }],
    },
];

const fn cpu(sha256: &'static str, bytes: u64) -> Wheel {
    Wheel {
        name: "xla-cpu-pjrt",
        version: "0.0.1",
        sha256,
        bytes,
        keep: &["xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"],
        selector: &[],
    }
}
