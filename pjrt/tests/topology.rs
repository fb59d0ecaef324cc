//! Programs compiled for hardware that is not there, where its plugin is.

#[path = "../../testing/src/targets.rs"]
mod targets;

use ramie_formats::collectives::Collective;
use ramie_pjrt::{ClientOptions, CompileOptions, ErrorCode, Plugin, Target, Topology};
use ramie_plugins::Platform;
use targets::installed;

/// Eight devices of each target whose plugin is installed.
fn topologies() -> Vec<(Target, Topology)> {
    let there = installed(&["tpu:v5e:2x4", "cuda:h200"]).into_iter();
    let topology = |target: Target| {
        let topology = target.topology(8).unwrap();
        (target, topology)
    };
    there.map(topology).collect()
}

const SUMS: &str =
    "module @sums attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <[\"x\"=8]>
  func.func @main(%x: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>})
      -> (tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] :
      (tensor<64x128xf32>, tensor<f32>) -> tensor<128xf32>
    return %y : tensor<128xf32>
  }
}";

#[test]
fn a_program_for_eight_devices() {
    for (target, topology) in topologies() {
        assert_eq!(topology.devices().len(), 8, "{target}: {topology:?}");
        let kind = topology.kind();
        assert!(["TPU v5 lite", "NVIDIA H200"].contains(&kind), "{kind}");
        let all = CompileOptions::partitioned(topology.devices());
        let executable = topology.compile(SUMS.as_bytes(), &all).unwrap();
        assert_eq!(executable.name(), "sums");
        let memory = executable.memory_analysis().unwrap();
        assert_eq!((memory.argument, memory.output), (8 * 128 * 4, 128 * 4));
        let all_reduce = Collective {
            kind: "all-reduce".into(),
            count: 1,
            bytes: 128 * 4,
        };
        assert_eq!(executable.collectives().unwrap(), [all_reduce]);
        assert!(!executable.serialize().unwrap().is_empty());
    }
}

#[test]
fn mistakes_are_told() {
    for (target, topology) in topologies() {
        let nine: Vec<i32> = (0..9).collect();
        let refused = topology.compile(SUMS.as_bytes(), &CompileOptions::partitioned(&nine));
        let message = refused.unwrap_err().to_string();
        assert!(
            message.contains("need 9 devices, but the topology has 8"),
            "{target}: {message}"
        );
        let refused = topology.compile(b"module {", &CompileOptions::default());
        let message = refused.unwrap_err().to_string();
        assert!(message.starts_with("compiling: "), "{target}: {message}");
    }
}

#[test]
fn topologies_that_there_are_not() {
    for nothing in installed(&["tpu:v9:2x2"]) {
        let message = nothing.topology(1).unwrap_err().to_string();
        assert!(
            message.starts_with("describing the topology `v9:2x2`: "),
            "{message}"
        );
    }
}

/// That of the CPU compiles for its own devices only.
#[test]
fn a_plugin_without_topologies() {
    let location = ramie_plugins::find(Some(Platform::Cpu)).unwrap();
    let plugin = Plugin::load(&location.path).unwrap();
    let refused = Topology::new(&plugin, "v5e:2x4", &ClientOptions::new());
    assert_eq!(refused.unwrap_err().code(), ErrorCode::Unimplemented);
}
