//! Threads and many runs under way.

mod common;
use common::*;
use ramie_pjrt::{Buffer, Client, Device, Executable, Plugin};

fn is_shared<T: Send + Sync>() {}

#[test]
fn handles_may_cross_threads() {
    is_shared::<(Plugin, Client, Device, Executable, Buffer)>();
}

const SCALE: &str = "func.func @main(%x: tensor<64xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<f32>) -> tensor<64xf32> {
  %0 = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<f32>) -> tensor<64xf32>
  %1 = stablehlo.add %x, %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}";

#[test]
fn eight_threads_run_one_executable_on_their_own_state() {
    let executable = compile(SCALE, &[f32s(&[64]), f32s(&[])], &[true, false]);
    let step = put(&[1.], &[], device(0));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (executable, step) = (&executable, &step);
            scope.spawn(move || {
                let mut x = put(&[thread as f32; 64], &[64], device(0));
                let mut outputs = Vec::new();
                for _ in 0..500 {
                    executable.execute(&[&x, step], &[], &mut outputs).unwrap();
                    x = outputs.pop().unwrap();
                }
                assert_eq!(get(&x), [thread as f32 + 500.; 64]);
            });
        }
    });
}

#[test]
fn a_buffer_is_donated_by_one_thread_only() {
    let executable = compile(SCALE, &[f32s(&[64]), f32s(&[])], &[true, false]);
    let step = put(&[1.], &[], device(0));
    for _ in 0..50 {
        let x = put(&[0.; 64], &[64], device(0));
        let (executable, x, step) = (&executable, &x, &step);
        let wins: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(move || usize::from(run(executable, &[x, step]).is_ok())))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(wins, 1);
    }
}

#[test]
fn two_hundred_runs_under_way_finish_in_order() {
    let program = "func.func @main(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
      return %0 : tensor<128x128xf32> }";
    let executable = compile(program, &[f32s(&[128, 128]); 2], &[]);
    let mut shift = vec![0.; 128 * 128];
    (0..128).for_each(|i| shift[i * 128 + (i + 1) % 128] = 1.);
    let shift = put(&shift, &[128, 128], device(0));
    let mut identity = vec![0.; 128 * 128];
    (0..128).for_each(|i| identity[i * 129] = 1.);
    let mut all = vec![put(&identity, &[128, 128], device(0))];
    for _ in 0..200 {
        let next = run(&executable, &[all.last().unwrap(), &shift])
            .unwrap()
            .remove(0);
        all.push(next);
    }
    for (i, buffer) in all.iter().enumerate() {
        assert_eq!(get(buffer)[i % 128], 1., "after {i} shifts");
    }
}

#[test]
fn every_thread_waits_for_the_programs_under_way() {
    let program = "func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
      %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      return %0 : tensor<512x512xf32> }";
    let executable = compile(program, &[f32s(&[512, 512])], &[]);
    let mut x = put(&vec![0.; 512 * 512], &[512, 512], device(0));
    for _ in 0..20 {
        x = run(&executable, &[&x]).unwrap().remove(0);
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                client().wait();
                assert!(x.is_ready().unwrap());
            });
        }
    });
}

#[test]
fn threads_compile_at_the_same_time() {
    std::thread::scope(|scope| {
        for i in 0..4 {
            scope.spawn(move || {
                let program = format!(
                    "func.func @main() -> tensor<f32> {{ %0 = stablehlo.constant dense<{i}.0> : tensor<f32> return %0 : tensor<f32> }}"
                );
                let results = run(&compile(&program, &[], &[]), &[]).unwrap();
                assert_eq!(get(&results[0]), [i as f32]);
            });
        }
    });
}
