//! The wheels of JAX's plugin for CUDA 13 and of the libraries that it loads.
//!
//! The plugin finds NVIDIA's libraries through its relative search path `../../nvidia/*/lib`, and
//! the assembler and libdevice below `nvidia/cu13`, so all wheels are extracted into the same
//! directory.

use crate::catalog::Wheel;

/// The wheels for x86-64.
pub(crate) static X86_64: &[Wheel] = &wheels(0);
/// The wheels for aarch64.
pub(crate) static AARCH64: &[Wheel] = &wheels(1);

/// A package: its SHA-256 and size in bytes for x86-64 and aarch64.
struct Package {
    name: &'static str,
    version: &'static str,
    files: [(&'static str, u64); 2],
    keep: &'static [&'static str],
}

const PACKAGES: [Package; 14] = [
    Package {
        name: "jax-cuda13-pjrt",
        version: "0.12.0.1",
        files: [
            (
                "5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90",
                134_922_808,
            ),
            (
                "40758d042df8c06991b6a1a8016b56e9cefb1ed4c677c062125c3eb71c3dab97",
                128_847_710,
            ),
        ],
        keep: &["jax_plugins/xla_cuda13/xla_cuda_plugin.so"],
    },
    Package {
        name: "nvidia-cuda-nvcc",
        version: "13.5.37",
        files: [
            (
                "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7",
                47_028_279,
            ),
            (
                "588eda18eb5076ae859fe272844b526459228af22df0b117f54eec3aa82bc9c8",
                40_745_418,
            ),
        ],
        keep: &[
            "nvidia/cu13/bin/fatbinary",
            "nvidia/cu13/bin/nvlink",
            "nvidia/cu13/bin/ptxas",
        ],
    },
    Package {
        name: "nvidia-nvvm",
        version: "13.5.37",
        files: [
            (
                "c41bfa362e407405163f103c2229f0765f8cc2ed7d148b754dc77f228bf7e070",
                75_141_406,
            ),
            (
                "b659bd3115b7ac7ec8931e67d0e2c0dd09cd35b08a6a7372df6f8f22c67da80a",
                71_213_582,
            ),
        ],
        keep: &["nvidia/cu13/lib/", "nvidia/cu13/nvvm/libdevice/"],
    },
    Package {
        name: "nvidia-nvjitlink",
        version: "13.5.37",
        files: [
            (
                "280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb",
                46_642_491,
            ),
            (
                "893f6f9a55b2720ed94913b5ba3332e972da8c78dfa2863d0244403dbd528ffc",
                45_253_761,
            ),
        ],
        keep: &["nvidia/cu13/lib/"],
    },
    Package {
        name: "nvidia-cuda-runtime",
        version: "13.5.37",
        files: [
            (
                "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d",
                2_504_024,
            ),
            (
                "de2dc5a7367974228b0a69588a9acc9340d3768bef1bf38bf0801eb08497cd2d",
                2_520_010,
            ),
        ],
        keep: &["nvidia/cu13/lib/"],
    },
    Package {
        name: "nvidia-cublas",
        version: "13.10.0.20",
        files: [
            (
                "dcc6d63884c53d07e267ce7e6feac17b2538cebaafec5db865736c3e28e4dc84",
                444_289_903,
            ),
            (
                "c5f3418c0a845232a8cabc58f6fa52cfae7d8bd3680d94c3907aca710fd48d70",
                560_089_875,
            ),
        ],
        keep: &["nvidia/cu13/lib/"],
    },
    Package {
        name: "nvidia-cudnn-cu13",
        version: "9.28.0.42",
        files: [
            (
                "7358353c75bb121a58e5f7712fe6d588883dc1df8ba00f428237e44e97543c4d",
                516_782_127,
            ),
            (
                "97c70c7fe0ea32e97fcd0b40157915d27f0d1e238479e537e81b12ed3c8f17ae",
                597_093_622,
            ),
        ],
        keep: &["nvidia/cudnn/lib/"],
    },
    Package {
        name: "nvidia-cufft",
        version: "12.5.0.14",
        files: [
            (
                "b8be26837a5abad2b5b74f3e92dd29f622a42934b355be0961a48712cbba23ad",
                165_072_555,
            ),
            (
                "091cde103312d6e09366122fe3f67092dcfd94cc9785029d695d6bcffaa76fdf",
                165_074_034,
            ),
        ],
        keep: &["nvidia/cu13/lib/"],
    },
    Package {
        name: "nvidia-cusolver",
        version: "12.4.1.2",
        files: [
            (
                "b3b8e02fd2f2df869369af075dc3a179d43f6f7b85e94632a7dce556697be044",
                260_003_940,
            ),
            (
                "1f54c8e0d5b1ebd183b4c5a79f0709fa90241e8254da381ca5b969ee97c8de32",
                304_822_178,
            ),
        ],
        keep: &["nvidia/cu13/lib/"],
    },
    Package {
        name: "nvidia-cusparse",
        version: "12.9.4.2",
        files: [
            (
                "072667e58c851a318738f5527a12eb225cbf058803f2ea451c722d8cf8edddec",
                230_422_857,
            ),
            (
                "e2ce97f185c9c4b285e4a8fbf02cb96dd1b8dd66736ebe2f0a8da5f6012a4fb7",
                230_296_529,
            ),
        ],
        keep: &["nvidia/cu13/lib/"],
    },
    Package {
        name: "nvidia-nccl-cu13",
        version: "2.32.3",
        files: [
            (
                "1459723080ac889d73a26edfa3e04383a7928ab31ac8f0ec43b3ea9548b04ff3",
                305_100_071,
            ),
            (
                "a5bee92b2f4af218c109f8d221c3c9adcc752b94ae0ffcb0ed5abf9341a7724c",
                305_107_282,
            ),
        ],
        keep: &["nvidia/nccl/lib/"],
    },
    Package {
        name: "nvidia-cuda-cupti",
        version: "13.5.25",
        files: [
            (
                "9dcca41c12a734192b14e7128ae116bc9ce1b9da686e2ebf48ae7a4415f76650",
                12_592_974,
            ),
            (
                "d7e4d908315461b6ecbdadfd3c403cc796ed218b293ad117568c947e811cff28",
                12_236_153,
            ),
        ],
        keep: &["nvidia/cu13/lib/"],
    },
    Package {
        name: "nvidia-cuda-nvrtc",
        version: "13.5.37",
        files: [
            (
                "86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc",
                58_185_930,
            ),
            (
                "36e4fa2a8ada293f5693d308e531c196ab6f91cf7a0ff479bf96a537d43a6096",
                56_419_462,
            ),
        ],
        keep: &["nvidia/cu13/lib/"],
    },
    Package {
        name: "nvidia-nvshmem-cu13",
        version: "3.8.0",
        files: [
            (
                "81a4d1f666543e6d34df6d2ff940c7da1435e34e186aab6f3c2b48861b64ef38",
                182_092_449,
            ),
            (
                "8120175024f52a64323cfc5d645e95ac7345f1ee243a998d140ce19163285294",
                181_881_399,
            ),
        ],
        keep: &["nvidia/nvshmem/lib/"],
    },
];

/// Returns the wheels of the architecture at index `arch`.
const fn wheels(arch: usize) -> [Wheel; PACKAGES.len()] {
    let mut wheels = [wheel(&PACKAGES[0], arch); PACKAGES.len()];
    let mut i = 1;
    while i < wheels.len() {
        wheels[i] = wheel(&PACKAGES[i], arch);
        i += 1;
    }
    wheels
}

const fn wheel(package: &Package, arch: usize) -> Wheel {
    let (sha256, bytes) = package.files[arch];
    Wheel {
        name: package.name,
        version: package.version,
        sha256,
        bytes,
        keep: package.keep,
        selector: &[],
    }
}
