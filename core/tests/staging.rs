//! Values at compile time, trees as vectors, the folder for programs.

use ramie_core::lax::{platform_dependent, scan};
use ramie_core::lower::{Module, Partition};
use ramie_core::{
    Array, DType, Platform, array, clear_caches, compile_time_eval, grad, jit, make_jaxpr, tree,
};

#[test]
fn values_while_a_function_is_traced() {
    let f = |x: Array| {
        let table = compile_time_eval(|| {
            let squares = (Array::iota(&[4], 0, DType::F32) + 1.0).square();
            assert!(!squares.is_tracer());
            let inner = jit(|a: Array| a.sum())(squares.clone());
            assert_eq!(inner.item::<f32>(), 30.0);
            assert_eq!(
                grad(|a: Array| a.square().sum())(squares.clone()).to_vec::<f32>()[3],
                32.0
            );
            squares
        });
        let traced = compile_time_eval(|| &x * 2.0);
        assert!(traced.is_tracer());
        let nested = compile_time_eval(|| jit(|a: Array| a + 1.0)(x.clone()));
        assert!(nested.is_tracer());
        traced + nested + table
    };
    let x = array([1.0, 1.0, 1.0, 1.0]);
    assert_eq!(jit(f)(x.clone()).to_vec::<f32>(), [5.0, 8.0, 13.0, 20.0]);
    let program = make_jaxpr(f)(x);
    assert_eq!(program.consts.len(), 1);
    assert!(!program.to_string().contains("iota"), "{program}");
}

#[test]
fn trees_as_vectors() {
    let params = (
        array([[1.0, 2.0], [3.0, 4.0]]),
        vec![
            Array::scalar(7, DType::I32),
            Array::zeros(&[0, 3], DType::BF16),
        ],
    );
    let (vector, unravel) = tree::ravel(&params);
    assert_eq!(vector.to_vec::<f32>(), [1.0, 2.0, 3.0, 4.0, 7.0]);
    let back = unravel(&(&vector + 1.0));
    assert_eq!(back.0.to_vec::<f32>(), [2.0, 3.0, 4.0, 5.0]);
    assert_eq!(back.0.shape(), [2, 2]);
    assert_eq!(back.1[0].item::<i32>(), 8);
    assert_eq!(
        (back.1[1].shape(), back.1[1].dtype()),
        (&[0, 3][..], DType::BF16)
    );
    let loss = move |v: Array| {
        let (w, rest) = unravel(&v);
        (w.square()).sum() + rest[0].astype(DType::F32)
    };
    assert_eq!(
        jit(grad(loss))(vector).to_vec::<f32>(),
        [2.0, 4.0, 6.0, 8.0, 0.0]
    );
    let (empty, unravel) = tree::ravel(&Vec::<Array>::new());
    assert_eq!((empty.shape(), unravel(&empty).len()), (&[0][..], 0));
}

#[test]
#[should_panic(expected = "the vector is f32[3], expected the shape [2] of the raveled tree")]
fn a_vector_of_another_size() {
    let (_, unravel) = tree::ravel(&array([1.0, 2.0]));
    unravel(&array([1.0, 2.0, 3.0]));
}

#[test]
fn folds_in_pairs() {
    let names: Vec<Array> = (1..=5).map(|i| Array::from(i as f32)).collect();
    let mut calls = Vec::new();
    let sum = tree::reduce_associative(&names, |a, b| {
        calls.push((a.item::<f32>(), b.item::<f32>()));
        a + b
    });
    assert_eq!(sum.map(|s| s.item::<f32>()), Some(15.0));
    assert_eq!(calls, [(1.0, 2.0), (3.0, 4.0), (3.0, 7.0), (10.0, 5.0)]);
    assert!(tree::reduce_associative(&Vec::<Array>::new(), |a, _| a.clone()).is_none());
    assert!(tree::all(&names, |a| a.ndim() == 0));
    assert!(!tree::all(&names, |a| a.item::<f32>() < 5.0));
}

#[test]
fn the_function_of_the_platform() {
    let here = ramie_core::runtime().unwrap().plugin().platform;
    let other = if here == Platform::Cpu {
        Platform::Tpu
    } else {
        Platform::Cpu
    };
    let (one, two) = (|x: i32| x + 1, |x: i32| x + 2);
    let one = move |x: Array| x + one(0);
    let two = move |x: Array| x + two(0);
    let x = || Array::from(0i32);
    let chosen = platform_dependent(x(), &[(other, &one), (here, &two)], |x| x);
    assert_eq!(chosen.item::<i32>(), 2);
    let chosen = platform_dependent(x(), &[(other, &one)], |x| x + 9);
    assert_eq!(chosen.item::<i32>(), 9);
}

#[test]
fn programs_in_a_folder() {
    let folder = std::env::var_os("RAMIE_TEST_DUMP");
    if folder.is_some() {
        clear_caches();
        jit(|x: Array| x.sin())(array([1.0, 2.0])).block_until_ready();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("programs");
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "programs_in_a_folder"])
        .env("RAMIE_TEST_DUMP", "1")
        .env("RAMIE_DUMP_IR_TO", &inner)
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    let texts: Vec<String> = std::fs::read_dir(&inner)
        .unwrap()
        .map(|e| std::fs::read_to_string(e.unwrap().path()).unwrap())
        .collect();
    assert!(
        texts.iter().any(|t| t.contains("stablehlo.sine")),
        "{texts:?}"
    );

    std::fs::write(folder.path().join("file"), "").unwrap();
    let failed = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "programs_in_a_folder"])
        .env("RAMIE_TEST_DUMP", "1")
        .env("RAMIE_DUMP_IR_TO", folder.path().join("file"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&failed.stdout).into_owned();
    assert!(!failed.status.success());
    assert!(
        text.contains("set RAMIE_DUMP_IR_TO to a writable directory"),
        "{text}"
    );
}

#[test]
fn the_platform_is_an_argument_of_lowering() {
    let weights = Array::shape_dtype_struct(&[128, 128], DType::F32);
    let last = |w: Array| {
        let step = |h: Array, x: Array| ((h.dot(&w) + x).tanh(), ());
        let (h, inputs) = (
            Array::ones(&[32, 128], DType::F32),
            Array::zeros(&[64, 32, 128], DType::F32),
        );
        scan(step, h, inputs).0.sum()
    };
    let program = make_jaxpr(grad(last))(weights);
    let lowered = |platform| {
        let partition = Partition::default();
        Module::lower("f", &program.jaxpr, &[], &partition, platform).text
    };
    let [cpu, cuda, none] = [Some(Platform::Cpu), Some(Platform::Cuda), None].map(lowered);
    // On CPUs the gradient of the weights is one product over all steps.
    let over_steps = "(tensor<2048x128xf32>, tensor<2048x128xf32>)";
    assert!(cpu.contains(over_steps), "{cpu}");
    assert!(!cuda.contains(over_steps), "{cuda}");
    // The platform of this process does not count.
    assert_eq!(cuda, none);
}
