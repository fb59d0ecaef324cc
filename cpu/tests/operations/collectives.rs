//! Operations by which devices exchange values, and computations on parts of arrays.

use crate::hostile::compiles_and_runs;
use crate::{buffer, elements, function};
use ramie_cpu::ElementType::*;
use ramie_cpu::{Buffer, Options, Program};

const CHANNEL: &str = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";
const ADD: &str = "({ ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32> })";

fn options(replicas: usize, partitions: usize) -> Options {
    Options {
        replicas,
        partitions,
        ..Options::default()
    }
}

/// Returns a program of four devices, whose mesh is `x` = 2 by `y` = 2. Each has its quarter of `a`; the
/// body computes `%r` of the type `part`.
fn on_quarters(body: &str, part: &str, result: &str, out: &str) -> String {
    let shards = |spec: &str| format!("sdy.sharding = #sdy.sharding<@mesh, [{spec}]>");
    format!(
        "module @test {{
           sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>
           func.func @main(%a: tensor<8xf32> {{{}}}) -> (tensor<{result}xf32> {{{}}}) {{
             %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{\"x\", \"y\"}}]>]
                 out_shardings=[<@mesh, [{out}]>] manual_axes={{\"x\", \"y\"}} (%p: tensor<2xf32>) {{
               {body}
               sdy.return %r : tensor<{part}xf32>
             }} : (tensor<8xf32>) -> tensor<{result}xf32>
             return %0 : tensor<{result}xf32>
           }}
         }}",
        shards("{\"x\", \"y\"}"),
        shards(out),
    )
}

fn run_on(
    text: &str,
    options: &Options,
    arguments: Vec<Vec<Buffer>>,
) -> ramie_cpu::Result<Vec<Vec<f32>>> {
    let program = Program::compile_for(text, options).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let results = program.run_on_devices(arguments)?;
    Ok(results.iter().map(|list| elements(&list[0])).collect())
}

/// Runs a program of four devices, which have the elements 0 to 7 of an array.
fn run(text: &str) -> Vec<Vec<f32>> {
    let parts = (0..4).map(|d| vec![buffer(&[2], F32, &[2. * d as f32, 2. * d as f32 + 1.])]);
    run_on(text, &options(1, 4), parts.collect()).unwrap()
}

fn rows(table: [[f32; 2]; 4]) -> Vec<Vec<f32>> {
    table.iter().map(|row| row.to_vec()).collect()
}

#[test]
fn sums_are_those_of_groups() {
    let body = format!(
        "%r = \"stablehlo.all_reduce\"(%p) {ADD} {{{CHANNEL}, use_global_device_ids,
           replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}} : (tensor<2xf32>) -> tensor<2xf32>"
    );
    let quarters = on_quarters(&body, "2", "8", "{\"x\", \"y\"}");
    assert_eq!(
        run(&quarters),
        rows([[4., 6.], [8., 10.], [4., 6.], [8., 10.]])
    );
    // Parts that are equal along `x` are an array of half the size.
    let halves = on_quarters(&body, "2", "4", "{\"y\"}");
    assert_eq!(
        run(&halves),
        rows([[4., 6.], [8., 10.], [4., 6.], [8., 10.]])
    );
}

#[test]
fn groups_of_replicas_are_all_partitions() {
    let body = format!(
        "%r = \"stablehlo.all_reduce\"(%p) {ADD} {{{CHANNEL},
           replica_groups = dense<0> : tensor<1x1xi64>}} : (tensor<2xf32>) -> tensor<2xf32>"
    );
    assert_eq!(
        run(&on_quarters(&body, "2", "2", "{}")),
        rows([[12., 16.]; 4])
    );
    let alone = body.replace(&format!("{CHANNEL},"), "");
    let own = rows([[0., 1.], [2., 3.], [4., 5.], [6., 7.]]);
    assert_eq!(run(&on_quarters(&alone, "2", "8", "{\"x\", \"y\"}")), own);
}

#[test]
fn gathered_values_are_in_the_order_of_the_group() {
    let body = format!(
        "%r = \"stablehlo.all_gather\"(%p) {{{CHANNEL}, use_global_device_ids, all_gather_dim = 0 : i64,
           replica_groups = dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>}} : (tensor<2xf32>) -> tensor<4xf32>"
    );
    let results = run(&on_quarters(&body, "4", "16", "{\"x\", \"y\"}"));
    assert_eq!(results[0], [2., 3., 0., 1.]);
    assert_eq!(results[1], results[0]);
    assert_eq!(results[3], [4., 5., 6., 7.]);
}

#[test]
fn parts_of_sums_and_parts_of_others() {
    let body = format!(
        "%r = \"stablehlo.reduce_scatter\"(%p) {ADD} {{{CHANNEL}, use_global_device_ids,
           scatter_dimension = 0 : i64,
           replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}} : (tensor<2xf32>) -> tensor<1xf32>"
    );
    let results = run(&on_quarters(&body, "1", "4", "{\"x\", \"y\"}"));
    assert_eq!(results.concat(), [2., 4., 10., 12.]);
    let body = format!(
        "%r = \"stablehlo.all_to_all\"(%p) {{{CHANNEL}, split_dimension = 0 : i64,
           concat_dimension = 0 : i64, split_count = 2 : i64,
           replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>}} : (tensor<2xf32>) -> tensor<2xf32>"
    );
    let results = run(&on_quarters(&body, "2", "8", "{\"x\", \"y\"}"));
    assert_eq!(results, rows([[0., 6.], [2., 4.], [3., 5.], [1., 7.]]));
}

#[test]
fn values_move_between_devices() {
    let body = format!(
        "%r = \"stablehlo.collective_permute\"(%p) {{{CHANNEL},
           source_target_pairs = dense<[[0, 1], [3, 0]]> : tensor<2x2xi64>}} : (tensor<2xf32>) -> tensor<2xf32>"
    );
    let results = run(&on_quarters(&body, "2", "8", "{\"x\", \"y\"}"));
    assert_eq!(results, rows([[6., 7.], [0., 1.], [0., 0.], [0., 0.]]));
    let body = format!(
        "%r = \"stablehlo.collective_broadcast\"(%p) {{{CHANNEL},
           replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>}} : (tensor<2xf32>) -> tensor<2xf32>"
    );
    let results = run(&on_quarters(&body, "2", "8", "{\"x\", \"y\"}"));
    assert_eq!(results, rows([[0., 0.], [4., 5.], [4., 5.], [0., 0.]]));
}

/// Returns a program of four devices in two groups, each of which sends the first of its two rows to the first
/// member and the second one to the other, to the row of its own number.
fn on_rows() -> String {
    let body = "%id = stablehlo.partition_id : tensor<ui32>
      %two = stablehlo.constant dense<2> : tensor<ui32>
      %0 = stablehlo.remainder %id, %two : tensor<ui32>
      %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i32>
      %to = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %from = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
      %one = stablehlo.constant dense<1> : tensor<2xi32>
      %r = stablehlo.custom_call @ragged_all_to_all(%p, %p, %from, %one, %to, %one) {
          api_version = 4 : i32, backend_config = {channel_id = 1 : i64,
          replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}}
        : (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
          -> tensor<2xf32>";
    on_quarters(body, "2", "8", "{\"x\", \"y\"}")
}

#[test]
fn ranges_of_rows_move_between_devices() {
    let results = run(&on_rows());
    assert_eq!(results, rows([[0., 2.], [1., 3.], [4., 6.], [5., 7.]]));
}

#[test]
fn ranges_that_do_not_fit_are_refused() {
    let fails = |from: &str, to: &str| {
        let text = on_rows().replace(from, to);
        let part = buffer(&[2], F32, &[0f32; 2]);
        match Program::compile_for(&text, &options(1, 4)) {
            Ok(program) => program.run_on_devices(vec![vec![part]; 4]).map(drop),
            Err(error) => Err(error),
        }
        .unwrap_err()
        .to_string()
    };
    let outside = fails("dense<[0, 1]>", "dense<[0, 2]>");
    assert!(
        outside.contains("member 0 of the group sends 1 rows from row 2 of 2"),
        "{outside}"
    );
    let negative = fails("dense<[0, 1]>", "dense<[0, -1]>");
    assert!(negative.contains("from row -1"), "{negative}");
    let groups = fails(
        "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>",
        "dense<[[0, 1, 2]]> : tensor<1x3xi64>",
    );
    assert!(groups.contains("expected a multiple"), "{groups}");
    let table = fails("dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>", "3 : i64");
    assert!(table.contains("replica_groups"), "{table}");
}

#[test]
fn devices_take_different_branches_and_numbers_of_steps() {
    // Device `d` doubles its part `d` times.
    let body = "%id = stablehlo.partition_id : tensor<ui32>
      %zero = stablehlo.constant dense<0> : tensor<ui32>
      %0:2 = stablehlo.while(%i = %id, %x = %p) : tensor<ui32>, tensor<2xf32>
        cond {
          %c = stablehlo.compare GT, %i, %zero, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %one = stablehlo.constant dense<1> : tensor<ui32>
          %1 = stablehlo.subtract %i, %one : tensor<ui32>
          %2 = stablehlo.add %x, %x : tensor<2xf32>
          stablehlo.return %1, %2 : tensor<ui32>, tensor<2xf32>
        }
      %first = stablehlo.compare EQ, %id, %zero, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %r = \"stablehlo.if\"(%first) ({
          %n = stablehlo.negate %0#1 : tensor<2xf32>
          stablehlo.return %n : tensor<2xf32>
        }, { stablehlo.return %0#1 : tensor<2xf32> }) : (tensor<i1>) -> tensor<2xf32>";
    let results = run(&on_quarters(body, "2", "8", "{\"x\", \"y\"}"));
    assert_eq!(
        results,
        rows([[-0., -1.], [4., 6.], [16., 20.], [48., 56.]])
    );
}

#[test]
fn an_exchange_in_a_branch_of_some_devices_fails() {
    let body = format!(
        "%id = stablehlo.partition_id : tensor<ui32>
         %zero = stablehlo.constant dense<0> : tensor<ui32>
         %first = stablehlo.compare EQ, %id, %zero, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
         %r = \"stablehlo.if\"(%first) ({{
             %s = \"stablehlo.all_reduce\"(%p) {ADD} {{{CHANNEL}, use_global_device_ids,
               replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}} : (tensor<2xf32>) -> tensor<2xf32>
             stablehlo.return %s : tensor<2xf32>
           }}, {{ stablehlo.return %p : tensor<2xf32> }}) : (tensor<i1>) -> tensor<2xf32>"
    );
    let text = on_quarters(&body, "2", "8", "{\"x\", \"y\"}");
    let parts = vec![vec![buffer(&[2], F32, &[0f32; 2])]; 4];
    let error = run_on(&text, &options(1, 4), parts)
        .unwrap_err()
        .to_string();
    assert!(error.contains("device 1 does not take part"), "{error}");
}

#[test]
fn replicas_exchange_values() {
    let text = function(
        "(%p: tensor<2xf32>) -> tensor<2xf32>",
        &format!(
            "%r = \"stablehlo.all_reduce\"(%p) {ADD} {{
               replica_groups = dense<[[0, 2, -1], [1, -1, -1]]> : tensor<2x3xi64>}} : (tensor<2xf32>) -> tensor<2xf32>
             return %r : tensor<2xf32>"
        ),
    );
    let parts = (0..3).map(|d| vec![buffer(&[2], F32, &[d as f32, 1.])]);
    let results = run_on(&text, &options(3, 1), parts.collect()).unwrap();
    assert_eq!(results, [[2., 2.], [1., 1.], [2., 2.]]);
}

#[test]
fn a_computation_within_another_splits_the_rest_of_the_axes() {
    let text = "module @test {
      sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>
      func.func @main(%a: tensor<4x2xf32>) -> tensor<4x2xf32> {
        %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\"}, {?}]>]
            out_shardings=[<@mesh, [{\"x\"}, {?}]>] manual_axes={\"x\"} (%p: tensor<2x2xf32>) {
          %1 = sdy.manual_computation(%p) in_shardings=[<@mesh, [{}, {\"y\"}]>]
              out_shardings=[<@mesh, [{}, {\"y\"}]>] manual_axes={\"y\"} (%q: tensor<2x1xf32>) {
            %id = stablehlo.partition_id : tensor<ui32>
            %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
            %b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
            %r = stablehlo.add %q, %b : tensor<2x1xf32>
            sdy.return %r : tensor<2x1xf32>
          } : (tensor<2x2xf32>) -> tensor<2x2xf32>
          sdy.return %1 : tensor<2x2xf32>
        } : (tensor<4x2xf32>) -> tensor<4x2xf32>
        return %0 : tensor<4x2xf32>
      }
    }";
    let whole = vec![vec![buffer(&[4, 2], F32, &[0f32; 8])]; 4];
    let results = run_on(text, &options(1, 4), whole).unwrap();
    assert_eq!(results[3], [0., 1., 0., 1., 2., 3., 2., 3.]);
}

#[test]
fn free_results_are_split_like_their_operands() {
    let text = "module @test {
      sdy.mesh @mesh = <[\"x\"=2]>
      func.func @main(%a: tensor<2x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>},
          %b: tensor<3xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<1x3xf32>) {
        %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
        %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
            : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %2 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
            : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
        %3 = stablehlo.slice %a [0:1, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
        return %0, %1, %2, %3 : tensor<3x2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<1x3xf32>
      }
    }";
    let free = Options {
        free_results: vec![true],
        ..options(1, 2)
    };
    let shapes = |options: &Options| {
        let program = Program::compile_for(text, options).unwrap();
        let shapes = program.results().iter().map(|ty| ty.shape.to_vec());
        shapes.collect::<Vec<_>>()
    };
    assert_eq!(shapes(&free), [&[3, 1][..], &[1], &[3], &[1, 3]]);
    assert_eq!(shapes(&options(1, 2)), [&[3, 2][..], &[2], &[3], &[1, 3]]);
}

#[test]
fn chains_of_calls_with_free_results_are_long() {
    let function = |name: &str, argument: &str, callee: &str| {
        format!(
            "func.func @{name}(%x: tensor<2xf32> {argument}) -> tensor<2xf32> {{
               %0 = {callee}(%x) : (tensor<2xf32>) -> tensor<2xf32>
               return %0 : tensor<2xf32>
             }}\n"
        )
    };
    let n = 20_000;
    let mut text = String::from("module @test {\nsdy.mesh @mesh = <[\"x\"=2]>\n");
    text += &function("f0", "", "\"stablehlo.negate\"");
    for i in 1..n {
        text += &function(&format!("f{i}"), "", &format!("func.call @f{}", i - 1));
    }
    let split = "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}";
    text += &function("main", split, &format!("func.call @f{}", n - 1));
    let free = Options {
        free_results: vec![true],
        ..options(1, 2)
    };
    let program = Program::compile_for(&(text + "}"), &free).unwrap();
    assert_eq!(program.results()[0].shape[..], [1]);
}

#[test]
fn wrong_meshes_and_types_are_refused() {
    let refusal = |text: &str, devices| {
        let error = Program::compile_for(text, &options(1, devices)).unwrap_err();
        error.to_string()
    };
    let text = on_quarters(
        "%r = stablehlo.negate %p : tensor<2xf32>",
        "2",
        "8",
        "{\"x\", \"y\"}",
    );
    assert!(refusal(&text, 2).contains("the mesh has 4 devices, but the program runs on 2"));
    assert!(refusal(&text.replace("\"y\"}]> in", "\"z\"}]> in"), 2).contains("mesh"));
    assert!(refusal(&text.replace("tensor<8xf32>", "tensor<6xf32>"), 4).contains("evenly"));
    let uneven = text.replace("[{\"x\", \"y\"}]>]\n", "[{\"x\"}]>]\n");
    assert!(refusal(&uneven, 4).contains("does not compute on parts"));
}

/// Damaged texts are errors of the compiler or of the run, or other programs.
#[test]
fn damaged_programs_do_not_panic() {
    let body = format!(
        "%g = \"stablehlo.all_gather\"(%p) {{{CHANNEL}, use_global_device_ids, all_gather_dim = 0 : i64,
           replica_groups = dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>}} : (tensor<2xf32>) -> tensor<4xf32>
         %r = \"stablehlo.reduce_scatter\"(%g) {ADD} {{{CHANNEL}, use_global_device_ids,
           scatter_dimension = 0 : i64,
           replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}} : (tensor<4xf32>) -> tensor<2xf32>"
    );
    let mut ran = 0;
    for text in [on_quarters(&body, "2", "8", "{\"x\", \"y\"}"), on_rows()] {
        for at in 0..text.len() {
            for replacement in ["", "0", "2", "7", "x", "-"] {
                let damaged = [&text[..at], replacement, &text[at + 1..]].concat();
                ran += usize::from(compiles_and_runs(&damaged, &options(1, 4)).1);
            }
        }
    }
    assert!(ran > 100, "{ran} damaged programs run");
}
