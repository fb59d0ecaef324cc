//! Which platform is chosen.

use std::fs;

use ramie_plugins::{DiscoverError, Platform, RELEASES};

use crate::sandbox::{FakeWheel, Sandbox, touch};

/// A machine whose user has installed the plugins of all platforms.
fn everything_installed() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.offer(
        Platform::Cuda,
        "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        &[FakeWheel {
            name: "cuda",
            files: &[("jax_plugins/xla_cuda13/xla_cuda_plugin.so", 0o755, b"cuda")],
            keep: &["jax_plugins/"],
        }],
    );
    sandbox.offer(
        Platform::Tpu,
        "libtpu/libtpu.so",
        &[FakeWheel {
            name: "libtpu",
            files: &[("libtpu/libtpu.so", 0o755, b"tpu")],
            keep: &["libtpu/"],
        }],
    );
    for platform in [Platform::Cpu, Platform::Cuda, Platform::Tpu] {
        sandbox.env().install(platform).unwrap();
    }
    sandbox
}

fn chosen(sandbox: &Sandbox) -> Platform {
    sandbox.env().find(None).unwrap().platform
}

#[test]
fn the_best_visible_device_with_a_plugin_is_chosen() {
    let mut sandbox = everything_installed();
    assert_eq!(chosen(&sandbox), Platform::Cpu);

    // The control node alone is no device.
    touch(&sandbox.path("root/dev/nvidiactl"));
    assert_eq!(chosen(&sandbox), Platform::Cpu);
    touch(&sandbox.path("root/dev/nvidia0"));
    assert_eq!(chosen(&sandbox), Platform::Cuda);

    // A vfio group may be anything; with a TPU chip on the bus it is one.
    let bus = sandbox.path("root/sys/bus/pci/devices/0000:00:04.0");
    touch(&sandbox.path("root/dev/vfio/0"));
    assert_eq!(chosen(&sandbox), Platform::Cuda);
    fs::create_dir_all(&bus).unwrap();
    fs::write(bus.join("vendor"), "0x1ae0\n").unwrap();
    fs::write(bus.join("device"), "0x0042\n").unwrap();
    assert_eq!(
        chosen(&sandbox),
        Platform::Cuda,
        "a network card of the same vendor"
    );
    fs::write(bus.join("device"), "0x0063\n").unwrap();
    assert_eq!(chosen(&sandbox), Platform::Tpu);
    fs::remove_dir_all(&bus).unwrap();
    touch(&sandbox.path("root/dev/accel3"));
    assert_eq!(chosen(&sandbox), Platform::Tpu);

    sandbox.set("RAMIE_PLATFORM", "cuda");
    assert_eq!(chosen(&sandbox), Platform::Cuda);
    let asked = sandbox.env().find(Some(Platform::Cpu)).unwrap();
    assert_eq!(
        asked.platform,
        Platform::Cpu,
        "an argument wins over the variable"
    );
}

#[test]
fn hidden_gpus_are_not_chosen() {
    let mut sandbox = everything_installed();
    touch(&sandbox.path("root/dev/nvidia0"));
    for (list, expected) in [
        ("0,1", Platform::Cuda),
        ("", Platform::Cpu),
        ("-1", Platform::Cpu),
    ] {
        sandbox.set("CUDA_VISIBLE_DEVICES", list);
        assert_eq!(chosen(&sandbox), expected, "CUDA_VISIBLE_DEVICES={list}");
    }
}

#[test]
fn a_device_without_its_plugin_is_passed_over() {
    let sandbox = Sandbox::new();
    touch(&sandbox.path("root/dev/nvidia0"));
    touch(&sandbox.path("root/dev/accel0"));
    assert_eq!(chosen(&sandbox), Platform::Cpu);
}

#[test]
fn plugins_of_python_packages_serve_every_platform() {
    for (platform, library) in [
        (Platform::Cuda, "jax_plugins/xla_cuda13/xla_cuda_plugin.so"),
        (Platform::Cuda, "jax_plugins/xla_cuda12/xla_cuda_plugin.so"),
        (Platform::Tpu, "libtpu/libtpu.so"),
    ] {
        let sandbox = Sandbox::new();
        let site = sandbox.path("site");
        touch(&site.join(library));
        sandbox.search_path(&site);
        let found = sandbox.env().find(Some(platform)).unwrap();
        assert_eq!((found.path, found.version), (site.join(library), None));
    }
}

#[test]
fn large_plugins_are_installed_only_on_demand() {
    let sandbox = everything_installed();
    for (platform, library) in [
        (Platform::Cuda, "xla_cuda_plugin.so"),
        (Platform::Tpu, "libtpu.so"),
    ] {
        let calls = sandbox.calls("pip download");
        let folder = sandbox.env().release(platform).unwrap().folder();
        fs::remove_dir_all(sandbox.plugins().join(folder)).unwrap();
        let error = sandbox.env().find(Some(platform)).unwrap_err();
        assert!(matches!(error, DiscoverError::NotFound(_)));
        let text = error.to_string();
        assert!(
            text.contains(&format!(
                "help: run `cargo run --release -- plugin install {platform}`"
            )),
            "{text}"
        );
        assert!(text.contains(&format!("the path of {library}")), "{text}");
        assert_eq!(sandbox.calls("pip download"), calls);
    }
}

#[test]
fn an_unknown_platform_is_an_error() {
    let mut sandbox = Sandbox::new();
    sandbox.set("RAMIE_PLATFORM", "gpu");
    assert_eq!(
        sandbox.env().find(None).unwrap_err().to_string(),
        "RAMIE_PLATFORM: `gpu` is not a platform: expected `cpu`, `cuda` (NVIDIA GPUs), `tpu`, `rocm` (AMD \
         GPUs), `oneapi` (Intel GPUs) or `metal` (Apple GPUs)\n\
         help: use one of these names, or unset the variable to use the best platform available"
    );
    assert_eq!(
        "gpu".parse::<Platform>().unwrap_err().to_string(),
        "`gpu` is not a platform: expected `cpu`, `cuda` (NVIDIA GPUs), `tpu`, `rocm` (AMD GPUs), `oneapi` \
         (Intel GPUs) or `metal` (Apple GPUs)\n\
         help: use one of these names"
    );
    for platform in Platform::ALL {
        assert_eq!(platform.name().parse(), Ok(platform));
    }
    sandbox.set("RAMIE_PLATFORM", "");
    assert_eq!(chosen(&sandbox), Platform::Cpu);
}

#[test]
fn an_explicit_plugin_tells_its_platform_by_its_name() {
    let mut sandbox = Sandbox::new();
    for (name, platform) in [
        ("libtpu.so", Platform::Tpu),
        ("xla_cuda_plugin.so", Platform::Cuda),
        ("xla_rocm_plugin.so", Platform::Rocm),
        ("libhip_gpu.so", Platform::Rocm),
        ("xla_oneapi_plugin.so", Platform::OneApi),
        ("libpjrt_plugin_mps.dylib", Platform::Metal),
        ("libpjrt_cpu.so", Platform::Cpu),
        ("mine.so", Platform::Other("unknown")),
    ] {
        touch(&sandbox.path(name));
        sandbox.set("RAMIE_PJRT_PLUGIN", sandbox.path(name));
        assert_eq!(chosen(&sandbox), platform);
    }
}

#[test]
fn a_machine_without_a_pinned_plugin_is_told_so() {
    let sandbox = Sandbox::empty();
    let text = sandbox
        .env()
        .install(Platform::Cpu)
        .unwrap_err()
        .to_string();
    assert!(text.starts_with("no CPU plugin is pinned for "), "{text}");
    let text = sandbox.find().unwrap_err().to_string();
    assert!(text.ends_with("help: set RAMIE_PJRT_PLUGIN to a plugin built for this machine"));
}

#[test]
fn pins_are_well_formed() {
    for release in RELEASES {
        let keeps_library = |prefix: &&str| release.library.starts_with(*prefix);
        assert!(release.package().keep.iter().any(keeps_library));
        for wheel in release.wheels {
            assert_eq!(wheel.sha256.len(), 64, "{}", wheel.name);
            assert!(
                wheel
                    .sha256
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            );
            assert!(wheel.bytes > 1_000_000 && !wheel.keep.is_empty());
        }
    }
}
