//! Programs on several devices.

mod common;
use common::*;
use ramie_pjrt::{Buffer, BufferType, CompileOptions, ElementType, Executable};

/// Sums one value per device over a mesh of `n`.
fn sum_over(devices: &[i32]) -> Executable {
    let n = devices.len();
    let groups = (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let program = format!(
        "module {{
  sdy.mesh @mesh = <[\"x\"={n}]>
  func.func @main(%a: tensor<{total}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{\"x\"}}]>}})
      -> (tensor<{total}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{\"x\"}}]>}}) {{
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{\"x\"}}]>] out_shardings=[<@mesh, [{{\"x\"}}]>]
        manual_axes={{\"x\"}} (%b: tensor<2xf32>) {{
      %1 = \"stablehlo.all_reduce\"(%b) ({{
        ^bb0(%l: tensor<f32>, %r: tensor<f32>):
          %s = stablehlo.add %l, %r : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }}) {{replica_groups = dense<[[{groups}]]> : tensor<1x{n}xi64>, use_global_device_ids,
           channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}} : (tensor<2xf32>) -> tensor<2xf32>
      sdy.return %1 : tensor<2xf32>
    }} : (tensor<{total}xf32>) -> tensor<{total}xf32>
    return %0 : tensor<{total}xf32>
  }}
}}",
        total = 2 * n
    );
    client()
        .compile(
            &program,
            &CompileOptions::partitioned(devices),
            &[f32s(&[2])],
            &[],
        )
        .unwrap()
}

/// Two values for each device.
fn shards(devices: &[i32]) -> Vec<Buffer> {
    let shard =
        |(i, &id): (usize, &i32)| put(&[i as f32, 10. * i as f32], &[2], device(id as usize));
    devices.iter().enumerate().map(shard).collect()
}

fn refs(buffers: &[Buffer]) -> Vec<&Buffer> {
    buffers.iter().collect()
}

#[test]
fn all_reduce_sums_over_eight_devices() {
    let ids: Vec<i32> = (0..8).collect();
    let executable = sum_over(&ids);
    assert_eq!(executable.devices().len(), 8);
    assert_eq!(
        *executable.signature().outputs,
        [f32s(&[2])],
        "types are those of one device"
    );
    let args = shards(&ids);
    let results = run(&executable, &refs(&args)).unwrap();
    assert_eq!(results.len(), 8);
    for (i, result) in results.iter().enumerate() {
        assert_eq!((result.device(), get(result)), (device(i), vec![28., 280.]));
    }
}

#[test]
fn a_subset_of_the_devices_in_any_order_works() {
    for ids in [[6, 2], [2, 6]] {
        let executable = sum_over(&ids);
        let order: Vec<i32> = executable.devices().iter().map(|d| d.id()).collect();
        assert_eq!(order, ids);
        let args = shards(&ids);
        let results = run(&executable, &refs(&args)).unwrap();
        assert!(results.iter().all(|r| get(r) == [1., 10.]));
    }
}

#[test]
fn a_wrong_argument_on_any_device_is_refused_and_the_next_run_works() {
    let ids = [0, 1, 2, 3];
    let executable = sum_over(&ids);
    let good = shards(&ids);
    let refusal = |position: usize, bad: &Buffer| {
        let mut args = refs(&good);
        args[position] = bad;
        run(&executable, &args).unwrap_err().to_string()
    };
    let ints = client()
        .buffer_from_host(&[0; 8], BufferType::new(ElementType::S32, &[2]), device(2))
        .unwrap();
    assert_eq!(
        refusal(2, &ints),
        "argument 0 for device 2: got i32[2], expected f32[2]"
    );
    assert!(refusal(3, &put(&[0.; 4], &[4], device(3))).contains("got f32[4]"));
    assert!(refusal(1, &good[0]).contains("on device cpu:0, expected f32[2] on device cpu:1"));
    let few = run(&executable, &refs(&good[..3])).unwrap_err().to_string();
    assert!(
        few.contains("takes 4 arguments (4 devices × 1 inputs), got 3"),
        "{few}"
    );
    for result in run(&executable, &refs(&good)).unwrap() {
        assert_eq!(get(&result), [6., 60.]);
    }
}

#[test]
fn donation_works_on_every_device_and_deleted_shards_are_refused() {
    let program = "module {
  sdy.mesh @mesh = <[\"x\"=4]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>, tf.aliasing_output = 0 : i32})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}) {
    %0 = stablehlo.add %a, %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}";
    let ids = [0, 1, 2, 3];
    let options = CompileOptions::partitioned(&ids);
    let executable = client()
        .compile(program, &options, &[f32s(&[2])], &[true])
        .unwrap();
    let mut state = shards(&ids);
    let addresses: Vec<usize> = state.iter().map(|b| b.address().unwrap()).collect();
    for _ in 0..20 {
        let next = run(&executable, &refs(&state)).unwrap();
        assert!(state.iter().all(Buffer::is_deleted));
        let refused = run(&executable, &refs(&state)).unwrap_err().to_string();
        assert!(
            refused.contains("donated to an earlier execution"),
            "{refused}"
        );
        state = next;
    }
    let after: Vec<usize> = state.iter().map(|b| b.address().unwrap()).collect();
    assert_eq!(after, addresses);
    assert_eq!(
        get(&state[3]),
        [3. * (1 << 20) as f32, 30. * (1 << 20) as f32]
    );

    let mut mixed = shards(&ids);
    mixed[2] = put(&[0.; 4], &[4], device(2));
    run(&executable, &refs(&mixed)).unwrap_err();
    assert!(
        mixed.iter().all(|b| !b.is_deleted()),
        "a refused call donates nothing"
    );
}

#[test]
fn two_hundred_runs_in_flight_from_several_threads_finish() {
    let ids: Vec<i32> = (0..8).collect();
    let executable = sum_over(&ids);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let args = shards(&ids);
                let mut outputs = Vec::new();
                for _ in 0..50 {
                    executable.execute(&refs(&args), &[], &mut outputs).unwrap();
                }
                assert!(outputs.iter().all(|r| get(r) == [28., 280.]));
            });
        }
    });
}

#[test]
fn replicas_run_the_same_program_on_their_own_data() {
    let program = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.negate %x : tensor<2xf32> return %0 : tensor<2xf32> }";
    let options = CompileOptions {
        num_replicas: 3,
        device_assignment: Some(vec![4, 0, 7]),
        ..CompileOptions::default()
    };
    let executable = client()
        .compile(program, &options, &[f32s(&[2])], &[])
        .unwrap();
    let args = shards(&[4, 0, 7]);
    let results = run(&executable, &refs(&args)).unwrap();
    assert_eq!(get(&results[2]), [-2., -20.]);
    assert_eq!(results[0].device(), device(4));
}

#[test]
fn impossible_assignments_are_refused() {
    let refusal = |options: CompileOptions| {
        let program = "func.func @main() { return }";
        client()
            .compile(program, &options, &[], &[])
            .unwrap_err()
            .to_string()
    };
    let unknown = refusal(CompileOptions::on_device(8));
    assert!(
        unknown.contains("lists device 8") && unknown.contains("[0, 1, 2, 3, 4, 5, 6, 7]"),
        "{unknown}"
    );
    let many = refusal(CompileOptions {
        num_partitions: 9,
        ..CompileOptions::default()
    });
    assert!(
        many.contains("need 9 devices, but this client has 8"),
        "{many}"
    );
}
