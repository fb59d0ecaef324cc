//! Layouts of inputs and outputs over devices that were left to the compiler.

mod common;
use common::*;
use ramie_formats::tile_sharding::TileSharding;
use ramie_pjrt::{CompileOptions, Executable};

const PROGRAM: &str = r#"module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                  %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
      -> (tensor<8x8xf32>, tensor<f32>, tensor<4x8xf32>, tensor<4x8xf32>) {
    %product = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1]
        : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %turned = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %twice = stablehlo.add %b, %b : tensor<4x8xf32>
    return %product, %sum, %turned, %twice
        : tensor<8x8xf32>, tensor<f32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
}"#;

fn options(to_inputs: &[bool], to_outputs: &[bool]) -> CompileOptions {
    CompileOptions {
        propagate_to_inputs: to_inputs.to_vec(),
        propagate_to_outputs: to_outputs.to_vec(),
        ..CompileOptions::partitioned(&(0..8).collect::<Vec<_>>())
    }
}

/// Tiles of an array, the tile of device `4x + 2y` being given by `place(x, y)`.
fn tiled<const N: usize>(
    tiles: [usize; N],
    place: impl Fn(usize, usize) -> [usize; N],
) -> TileSharding {
    TileSharding::Tiled {
        tiles: tiles.to_vec(),
        coordinates: (0..8).map(|d| place(d / 2, d % 2).to_vec()).collect(),
    }
}

fn output_dims(executable: &Executable) -> Vec<&'static [i64]> {
    let outputs = executable.signature().outputs.iter();
    outputs.map(|ty| ty.dims()).collect()
}

fn compiled(options: &CompileOptions) -> Executable {
    let inputs = [f32s(&[2, 2]), f32s(&[2, 8])];
    client().compile(PROGRAM, options, &inputs, &[]).unwrap()
}

/// What JAX 0.10.2 reports for the same program and mesh.
fn expected_outputs() -> Vec<TileSharding> {
    vec![
        tiled([4, 1], |x, _| [x, 0]),
        TileSharding::Replicated,
        tiled([2, 4], |x, y| [y, x]),
        tiled([2, 1], |_, y| [y, 0]),
    ]
}

#[test]
fn outputs_lie_where_the_compiler_has_put_them() {
    let executable = compiled(&options(&[], &[true; 4]));
    assert_eq!(executable.output_shardings().unwrap(), expected_outputs());
    assert_eq!(
        output_dims(&executable),
        [&[2, 8][..], &[], &[2, 2], &[2, 8]]
    );
    let inputs = [tiled([4, 2], |x, y| [x, y]), tiled([2, 1], |_, y| [y, 0])];
    assert_eq!(executable.input_shardings().unwrap(), inputs);
}

#[test]
fn an_output_with_a_layout_of_its_own_keeps_it() {
    let kept = "tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {";
    let program = PROGRAM.replacen("tensor<4x8xf32>) {", kept, 1);
    assert!(program.contains(kept));
    let inputs = [f32s(&[2, 2]), f32s(&[2, 8])];
    let options = options(&[], &[true, true, true, false]);
    let executable = client().compile(&program, &options, &inputs, &[]).unwrap();
    let mut expected = expected_outputs();
    expected[3] = TileSharding::Replicated;
    assert_eq!(executable.output_shardings().unwrap(), expected);
}

#[test]
fn a_stored_executable_knows_its_layouts() {
    let options = options(&[], &[true; 4]);
    let executable = compiled(&options);
    let bytes = executable.serialize().unwrap();
    let inputs = executable.signature().inputs.clone();
    let loaded = client()
        .load_executable(&bytes, &options, &inputs, &[])
        .unwrap();
    assert_eq!(loaded.output_shardings().unwrap(), expected_outputs());
    assert_eq!(
        loaded.input_shardings().unwrap(),
        executable.input_shardings().unwrap()
    );
}

#[test]
fn shardy_lays_out_inputs_and_their_types_are_read_back() {
    if is_linked() {
        // It chooses the layouts of outputs only, from those that Shardy's attributes give inputs.
        return;
    }
    let program = r#"module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func @main(%a: tensor<8x4xf32>,
                  %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
      -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
    %0 = stablehlo.add %a, %b : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}"#;
    let executable = free_inputs(program, &options(&[true, false], &[]));
    assert_eq!(
        *executable.signature().inputs,
        [f32s(&[4, 1]), f32s(&[8, 4])]
    );
    assert_eq!(
        executable.input_shardings().unwrap(),
        [tiled([2, 4], |x, y| [y, x]), TileSharding::Replicated]
    );
    let mut args = Vec::new();
    for d in 0..8 {
        args.push(put(&[1.5; 4], &[4, 1], device(d)));
        args.push(put(&[2.0; 32], &[8, 4], device(d)));
    }
    let results = run(&executable, &args.iter().collect::<Vec<_>>()).unwrap();
    assert!(results.iter().all(|r| get(r) == [3.5; 4]));
}

/// Compiles a program of two whole `f32[8,4]`.
fn free_inputs(program: &str, options: &CompileOptions) -> Executable {
    let whole = f32s(&[8, 4]);
    client()
        .compile(program, options, &[whole, whole], &[])
        .unwrap()
}

#[test]
fn without_shardy_the_compiler_lays_out_what_it_was_told_it_may() {
    if is_linked() {
        // It chooses the layouts of outputs only, from those that Shardy's attributes give inputs.
        return;
    }
    let program = r#"func.func @main(%a: tensor<8x4xf32>,
        %b: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,4]<=[4,2]T(1,0)}"})
        -> (tensor<8x4xf32>, tensor<8x4xf32>) {
      %0 = stablehlo.add %a, %b : tensor<8x4xf32>
      return %0, %0 : tensor<8x4xf32>, tensor<8x4xf32>
    }"#;
    let over_both = tiled([2, 4], |x, y| [y, x]);
    for (to_inputs, to_outputs) in [
        (&[][..], &[][..]),
        (&[false], &[false]),
        (&[true, false], &[false]),
        (&[false, true], &[true]),
        (&[true], &[true]),
        (&[true, true], &[]),
    ] {
        let options = CompileOptions {
            use_shardy: false,
            ..options(to_inputs, to_outputs)
        };
        let executable = free_inputs(program, &options);
        let expected = |free: bool| {
            if free {
                over_both.clone()
            } else {
                TileSharding::Replicated
            }
        };
        let free = to_inputs.first() == Some(&true);
        let inputs = executable.input_shardings().unwrap();
        assert_eq!(inputs[0], expected(free), "{to_inputs:?}");
        let dims = if free { [4, 1] } else { [8, 4] };
        assert_eq!(
            executable.signature().inputs[0],
            f32s(&dims),
            "{to_inputs:?}"
        );
        let outputs = executable.output_shardings().unwrap();
        let output = expected(to_outputs == [true]);
        assert_eq!(outputs, [output.clone(), output], "{to_outputs:?}");
    }
}

#[test]
fn a_program_for_one_device_has_everything_there() {
    let program = "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = stablehlo.negate %x : tensor<2x3xf32> return %0 : tensor<2x3xf32> }";
    let executable = compile(program, &[f32s(&[2, 3])], &[]);
    assert_eq!(
        executable.output_shardings().unwrap(),
        [TileSharding::Replicated]
    );
    assert_eq!(
        executable.input_shardings().unwrap(),
        [TileSharding::Replicated]
    );
}
