//! Functions of the process called by programs.

mod common;

use common::*;
use ramie_pjrt::{Callback, ElementType};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks_exact(4)
        .map(|b| f32::from_ne_bytes(b.try_into().unwrap()))
        .collect()
}

/// A program that calls a callback on a 2×3 matrix and returns a vector of 3.
fn program(id: i64) -> String {
    format!(
        "func.func @main(%x: tensor<2x3xf32>) -> tensor<3xf32> {{
           %y = stablehlo.custom_call @ramie_callback(%x) {{api_version = 4 : i32,
             has_side_effect = true, backend_config = {{id = {id} : i64}},
             operand_layouts = [dense<[1, 0]> : tensor<2xindex>],
             result_layouts = [dense<[0]> : tensor<1xindex>]}}
             : (tensor<2x3xf32>) -> tensor<3xf32>
           return %y : tensor<3xf32>
         }}"
    )
}

#[test]
fn operands_and_results_are_typed_and_row_major() {
    let column_sums = Callback::new(client(), |args, results| {
        assert_eq!(args[0].element_type, ElementType::F32);
        assert_eq!((args[0].dims, results[0].dims), (&[2, 3][..], &[3][..]));
        let x = floats(args[0].bytes);
        for (i, out) in results[0].bytes.chunks_exact_mut(4).enumerate() {
            out.copy_from_slice(&(x[i] + x[3 + i]).to_ne_bytes());
        }
        Ok(())
    })
    .unwrap();
    let run_it = compile(&program(column_sums.id()), &[f32s(&[2, 3])], &[]);
    let x = put(&[1.0, 2.0, 3.0, 10.0, 20.0, 30.0], &[2, 3], device(0));
    let outs = run(&run_it, &[&x]).unwrap();
    assert_eq!(get(&outs[0]), [11.0, 22.0, 33.0]);
}

#[test]
fn errors_and_panics_fail_the_execution() {
    let x = put(&[0.0; 6], &[2, 3], device(0));
    let message = |callback: &Callback| {
        let program = compile(&program(callback.id()), &[f32s(&[2, 3])], &[]);
        match run(&program, &[&x]) {
            Ok(outs) => outs[0].wait().unwrap_err().to_string(),
            Err(e) => e.to_string(),
        }
    };
    let refuses = Callback::new(client(), |_, _| Err("the disk is full".into())).unwrap();
    assert!(message(&refuses).contains("the disk is full"));
    let panics = Callback::new(client(), |_, _| panic!("index {} is out of range", 7)).unwrap();
    assert!(message(&panics).contains("index 7 is out of range"));
    let gone = {
        let callback = Callback::new(client(), |_, _| Ok(())).unwrap();
        program(callback.id())
    };
    let gone = compile(&gone, &[f32s(&[2, 3])], &[]);
    let error = match run(&gone, &[&x]) {
        Ok(outs) => outs[0].wait().unwrap_err().to_string(),
        Err(e) => e.to_string(),
    };
    assert!(error.contains("was dropped"), "{error}");
    // What an error has reported is not reported again.
    let disk = |failures: &[String]| failures.iter().any(|m| m.contains("the disk is full"));
    let kept = Callback::take_failures();
    assert!(!disk(&kept), "{kept:?}");
    // An execution that nobody asks about leaves its failure.
    let program = compile(&program(refuses.id()), &[f32s(&[2, 3])], &[]);
    if let Ok(outs) = run(&program, &[&x]) {
        assert!(!outs[0].settle());
        let kept = Callback::take_failures();
        assert!(disk(&kept), "{kept:?}");
    }
}

#[test]
fn a_loop_calls_its_callback_every_time_and_without_results() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let store = seen.clone();
    let callback = Callback::new(client(), move |args, results| {
        assert!(results.is_empty() && Callback::is_running());
        let value = i32::from_ne_bytes(args[0].bytes.try_into().unwrap());
        store.lock().unwrap().push(value);
        Ok(())
    })
    .unwrap();
    let text = format!(
        "func.func @main(%n: tensor<i32>) -> tensor<i32> {{
           %zero = stablehlo.constant dense<0> : tensor<i32>
           %one = stablehlo.constant dense<1> : tensor<i32>
           %r = stablehlo.while(%i = %zero) : tensor<i32>
             cond {{
               %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
               stablehlo.return %more : tensor<i1>
             }} do {{
               stablehlo.custom_call @ramie_callback(%i) {{api_version = 4 : i32,
                 has_side_effect = true, backend_config = {{id = {} : i64}}}}
                 : (tensor<i32>) -> ()
               %next = stablehlo.add %i, %one : tensor<i32>
               stablehlo.return %next : tensor<i32>
             }}
           return %r : tensor<i32>
         }}",
        callback.id()
    );
    let scalar = ramie_pjrt::BufferType::new(ElementType::S32, &[]);
    let program = compile(&text, &[scalar], &[]);
    let n = client()
        .buffer_from_host(&5i32.to_ne_bytes(), scalar, device(0))
        .unwrap();
    let outs = run(&program, &[&n]).unwrap();
    outs[0].wait().unwrap();
    client().wait();
    assert_eq!(*seen.lock().unwrap(), [0, 1, 2, 3, 4]);
    assert!(!Callback::is_running());
}

#[test]
fn what_a_callback_owns_is_dropped_when_nothing_can_call_it() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let owned = Counted(dropped.clone());
    let callback = Callback::new(client(), move |args, results| {
        let _ = &owned;
        std::thread::sleep(std::time::Duration::from_millis(20));
        results[0].bytes.copy_from_slice(&args[0].bytes[..12]);
        Ok(())
    })
    .unwrap();
    let program = compile(&program(callback.id()), &[f32s(&[2, 3])], &[]);
    let x = put(&[1.0; 6], &[2, 3], device(0));
    let outs = run(&program, &[&x]).unwrap();
    // The execution may be under way still.
    drop(callback);
    assert_eq!(get(&outs[0]), [1.0; 3]);
    client().wait();
    // Other tests of this process may be at work; then it goes a little later.
    for _ in 0..500 {
        drop(Callback::new(client(), |_, _| Ok(())).unwrap());
        if dropped.load(Ordering::SeqCst) == 1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the callback was never dropped");
}
