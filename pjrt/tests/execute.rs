//! Compiling and running on one device.

mod common;
use common::*;

const ADD: &str =
    "func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = stablehlo.add %x, %y : tensor<3xf32>
  %1 = stablehlo.subtract %x, %y : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}";

#[test]
fn a_program_runs_and_its_signature_is_read_from_it() {
    let executable = compile(ADD, &[f32s(&[3]); 2], &[]);
    assert_eq!(*executable.signature().outputs, [f32s(&[3]), f32s(&[3])]);
    assert_eq!(executable.devices(), [device(0)]);
    let (x, y) = (
        put(&[1., 2., 3.], &[3], device(0)),
        put(&[10., 20., 30.], &[3], device(0)),
    );
    let results = run(&executable, &[&x, &y]).unwrap();
    assert_eq!(get(&results[0]), [11., 22., 33.]);
    assert_eq!(get(&results[1]), [-9., -18., -27.]);
}

const INCREMENT: &str =
    "func.func @main(%x: tensor<1024xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<f32>) -> tensor<1024xf32> {
  %0 = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<f32>) -> tensor<1024xf32>
  %1 = stablehlo.add %x, %0 : tensor<1024xf32>
  return %1 : tensor<1024xf32>
}";

#[test]
fn a_donated_input_becomes_the_output() {
    let executable = compile(INCREMENT, &[f32s(&[1024]), f32s(&[])], &[true, false]);
    let mut x = put(&[0.; 1024], &[1024], device(0));
    let one = put(&[1.], &[], device(0));
    let address = x.address().unwrap();
    for _ in 0..300 {
        let next = run(&executable, &[&x, &one]).unwrap().remove(0);
        assert!(x.is_deleted() && x.is_donated());
        assert_eq!(next.address().unwrap(), address);
        x = next;
    }
    assert_eq!(get(&x), [300.; 1024]);
    assert!(!one.is_deleted());
}
