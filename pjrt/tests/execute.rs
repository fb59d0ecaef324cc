//! Compiling and running on one device.

mod common;
use common::*;
use ramie_pjrt::{Buffer, BufferType, CompileOptions, ElementType, Error, ErrorCode};

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

#[test]
fn results_are_appended() {
    let executable = compile(ADD, &[f32s(&[3]); 2], &[]);
    let x = put(&[1., 2., 3.], &[3], device(0));
    let mut outputs = Vec::new();
    for _ in 0..3 {
        executable.execute(&[&x, &x], &[], &mut outputs).unwrap();
    }
    assert_eq!(outputs.len(), 6);
    assert_eq!(get(&outputs[4]), [2., 4., 6.]);
}

#[test]
fn a_program_may_take_and_return_nothing() {
    let constant = compile(
        "func.func @main() -> tensor<i32> { %0 = stablehlo.constant dense<7> : tensor<i32> return %0 : tensor<i32> }",
        &[],
        &[],
    );
    let results = run(&constant, &[]).unwrap();
    assert_eq!(
        results[0].buffer_type(),
        BufferType::new(ElementType::S32, &[])
    );
    let mut bytes = [0; 4];
    results[0].copy_to_host(&mut bytes).unwrap();
    assert_eq!(i32::from_ne_bytes(bytes), 7);

    let silent = compile(
        "func.func @main(%x: tensor<f32>) { return }",
        &[f32s(&[])],
        &[],
    );
    assert!(
        run(&silent, &[&put(&[1.], &[], device(0))])
            .unwrap()
            .is_empty()
    );
}

#[test]
fn every_wrong_argument_is_a_clear_error_and_the_next_run_works() {
    let executable = compile(ADD, &[f32s(&[3]); 2], &[]);
    let x = put(&[1., 2., 3.], &[3], device(0));
    let refusal = |args: &[&Buffer]| run(&executable, args).unwrap_err().to_string();

    let few = refusal(&[&x]);
    assert!(
        few.contains("takes 2 arguments") && few.contains("got 1"),
        "{few}"
    );
    let ints = client()
        .buffer_from_host(&[0; 12], BufferType::new(ElementType::S32, &[3]), device(0))
        .unwrap();
    let dtype = refusal(&[&x, &ints]);
    assert_eq!(
        dtype,
        "argument 1 for device 0: got i32[3], expected f32[3]"
    );
    let shape = refusal(&[&put(&[0.; 3], &[1, 3], device(0)), &x]);
    assert_eq!(
        shape,
        "argument 0 for device 0: got f32[1,3], expected f32[3]"
    );
    let elsewhere = refusal(&[&x, &put(&[0.; 3], &[3], device(4))]);
    assert_eq!(
        elsewhere,
        "argument 1 for device 0: got f32[3] on device cpu:4, expected f32[3] on device cpu:0"
    );

    assert_eq!(get(&run(&executable, &[&x, &x]).unwrap()[0]), [2., 4., 6.]);
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

#[test]
fn a_deleted_buffer_is_refused_everywhere() {
    let executable = compile(INCREMENT, &[f32s(&[1024]), f32s(&[])], &[true, false]);
    let (x, one) = (
        put(&[0.; 1024], &[1024], device(0)),
        put(&[1.], &[], device(0)),
    );
    run(&executable, &[&x, &one]).unwrap();
    let again = run(&executable, &[&x, &one]).unwrap_err().to_string();
    assert!(
        again.contains("argument 0") && again.contains("donated to an earlier execution"),
        "{again}"
    );
    let operations = [
        x.wait(),
        x.copy_to_host(&mut [0; 4096]),
        x.to_host_async().map(|_| ()),
        x.copy_to_device(device(1)).map(|_| ()),
        x.address().map(|_| ()),
        x.is_ready().map(|_| ()),
    ];
    for operation in operations {
        let error = operation.unwrap_err();
        assert!(matches!(error, Error::Donated { .. }), "{error}");
        assert_eq!(error.code(), ErrorCode::FailedPrecondition);
    }
}

#[test]
fn a_buffer_is_deleted_unless_it_is_in_use() {
    let executable = compile(INCREMENT, &[f32s(&[1024]), f32s(&[])], &[true, false]);
    let (x, one) = (
        put(&[5.; 1024], &[1024], device(0)),
        put(&[1.], &[], device(0)),
    );
    let view = one.host_view().unwrap();
    let error = one.delete().unwrap_err();
    assert!(matches!(error, Error::InUse { .. }), "{error}");
    drop(view);
    assert_eq!(get(&one), [1.]);
    one.delete().unwrap();
    one.delete().unwrap();
    assert!(one.is_deleted() && !one.is_donated());
    assert!(matches!(one.wait().unwrap_err(), Error::Deleted { .. }));
    let error = run(&executable, &[&x, &one]).unwrap_err().to_string();
    assert!(
        error.contains("argument 1 for device 0: got a deleted buffer f32[]"),
        "{error}"
    );
    x.delete().unwrap();
    let error = run(&executable, &[&x, &one]).unwrap_err().to_string();
    assert!(
        error.contains("argument 0 for device 0: got a deleted buffer f32[1024]"),
        "{error}"
    );
}

#[test]
fn inputs_listed_as_non_donatable_are_copied() {
    let executable = compile(INCREMENT, &[f32s(&[1024]), f32s(&[])], &[true, false]);
    let (x, one) = (
        put(&[5.; 1024], &[1024], device(0)),
        put(&[1.], &[], device(0)),
    );
    let mut outputs = Vec::new();
    executable.execute(&[&x, &one], &[0], &mut outputs).unwrap();
    assert!(!x.is_deleted());
    assert_eq!(get(&x), [5.; 1024]);
    assert_eq!(get(&outputs[0]), [6.; 1024]);
}

#[test]
fn an_unmatched_donor_stays_usable() {
    let program = "func.func @main(%x: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<i32> {
      %0 = stablehlo.constant dense<7> : tensor<i32> return %0 : tensor<i32> }";
    let executable = compile(program, &[f32s(&[4])], &[true]);
    let x = put(&[1., 2., 3., 4.], &[4], device(0));
    run(&executable, &[&x]).unwrap();
    assert!(!x.is_deleted());
    assert_eq!(get(&x), [1., 2., 3., 4.]);
    run(&executable, &[&x]).unwrap();
}

#[test]
fn one_buffer_cannot_be_donated_twice_or_used_beside_its_donation() {
    let pair = "func.func @main(%x: tensor<3xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<3xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<3xf32>, tensor<3xf32>) {
      return %x, %y : tensor<3xf32>, tensor<3xf32> }";
    let both = compile(pair, &[f32s(&[3]); 2], &[true, true]);
    let x = put(&[1., 2., 3.], &[3], device(0));
    let twice = run(&both, &[&x, &x]).unwrap_err().to_string();
    assert!(
        twice.contains("argument 1") && twice.contains("is also donated as argument 0"),
        "{twice}"
    );
    assert!(!x.is_deleted(), "a refused call donates nothing");

    let first = compile(
        &pair.replacen(" {tf.aliasing_output = 1 : i32}", "", 1),
        &[f32s(&[3]); 2],
        &[true, false],
    );
    let beside = run(&first, &[&x, &x]).unwrap_err().to_string();
    assert!(
        beside.contains("argument 1") && beside.contains("donated as argument 0"),
        "{beside}"
    );
    assert!(!x.is_deleted());

    let mut outputs = Vec::new();
    first.execute(&[&x, &x], &[0], &mut outputs).unwrap();
    assert_eq!(get(&outputs[1]), [1., 2., 3.]);
    let y = put(&[4., 5., 6.], &[3], device(0));
    let results = run(&both, &[&x, &y]).unwrap();
    assert_eq!(get(&results[1]), [4., 5., 6.]);
    assert!(x.is_deleted() && y.is_deleted());
}

#[test]
fn more_arguments_than_fit_the_stack_work() {
    let n = 150;
    let list = |f: &dyn Fn(usize) -> String, by| (0..n).map(f).collect::<Vec<_>>().join(by);
    let program = format!(
        "func.func @main({}) -> ({}) {{ {} return {} : {} }}",
        list(
            &|i| format!("%a{i}: tensor<2xf32> {{tf.aliasing_output = {i} : i32}}"),
            ", "
        ),
        list(&|_| "tensor<2xf32>".into(), ", "),
        list(
            &|i| format!("%r{i} = stablehlo.add %a{i}, %a{i} : tensor<2xf32>"),
            "\n"
        ),
        list(&|i| format!("%r{i}"), ", "),
        list(&|_| "tensor<2xf32>".into(), ", "),
    );
    let executable = compile(&program, &vec![f32s(&[2]); n], &vec![true; n]);
    let args: Vec<Buffer> = (0..n)
        .map(|i| put(&[i as f32; 2], &[2], device(0)))
        .collect();
    let refs: Vec<&Buffer> = args.iter().collect();
    let mut outputs = Vec::new();
    executable.execute(&refs, &[140, 3], &mut outputs).unwrap();
    for (i, (arg, output)) in args.iter().zip(&outputs).enumerate() {
        assert_eq!(arg.is_deleted(), i != 140 && i != 3, "input {i}");
        assert!(arg.is_deleted() || get(arg) == [i as f32; 2], "input {i}");
        assert_eq!(get(output), [2. * i as f32; 2]);
    }
}

/// A product that takes long enough to be still running when its launch returns.
const SLOW: &str = "func.func @main(%x: tensor<768x768xf32> {tf.aliasing_output = 0 : i32}, %w: tensor<768x768xf32>) -> tensor<768x768xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<768x768xf32>, tensor<768x768xf32>) -> tensor<768x768xf32>
  return %0 : tensor<768x768xf32>
}";

#[test]
fn donated_handles_of_running_programs_are_dropped_without_waiting() {
    if is_linked() {
        // It computes on the calling thread: no program runs when its launch returns.
        return;
    }
    let executable = compile(SLOW, &[f32s(&[768, 768]); 2], &[true, false]);
    let mut identity = vec![0.; 768 * 768];
    (0..768).for_each(|i| identity[i * 769] = 1.);
    let w = put(&identity, &[768, 768], device(6));
    let w = w.copy_to_device(device(0)).unwrap();
    let mut x = put(&identity, &[768, 768], device(0));
    x.wait().unwrap();
    // A thread that the system sets aside for long finds the last product complete.
    let last_was_running = (0..50).any(|_| {
        for _ in 0..12 {
            x = run(&executable, &[&x, &w]).unwrap().remove(0);
        }
        let running = !x.is_ready().unwrap();
        x.wait().unwrap();
        running
    });
    assert!(last_was_running, "each launch waits for the one before");
    assert_eq!(get(&x), identity);
}

#[test]
fn an_executable_may_be_dropped_while_it_runs() {
    let executable = compile(SLOW, &[f32s(&[768, 768]); 2], &[true, false]);
    let (x, w) = (
        put(&[0.; 768 * 768], &[768, 768], device(0)),
        put(&[0.; 768 * 768], &[768, 768], device(0)),
    );
    let results = run(&executable, &[&x, &w]).unwrap();
    drop((executable, x, w));
    assert_eq!(get(&results[0])[7], 0.);
}

#[test]
fn a_program_runs_on_the_device_it_is_compiled_for() {
    let options = CompileOptions::on_device(5);
    let executable = client()
        .compile(ADD, &options, &[f32s(&[3]); 2], &[])
        .unwrap();
    assert_eq!(executable.devices(), [device(5)]);
    let x = put(&[1., 2., 3.], &[3], device(5));
    let results = run(&executable, &[&x, &x]).unwrap();
    assert_eq!(
        (results[0].device(), get(&results[0])),
        (device(5), vec![2., 4., 6.])
    );
}
