//! Exported functions: what is written is read, by us and by JAX.
//!
//! `tests/golden/export.py` recorded the files: one that JAX wrote, with what it
//! computes, and one that Ramie wrote and JAX read and ran.
use ramie_core::export::{Exported, PyTree, export};
use ramie_core::*;
use ramie_testing::{golden, is_linked, panic_message};
use std::collections::BTreeMap;

fn f32s(v: &[f32], shape: &[usize]) -> Array {
    Array::from_slice(v, shape)
}

type Params = BTreeMap<&'static str, Array>;

fn params() -> Params {
    BTreeMap::from([
        ("weight", f32s(&[1.0, -1.0, 0.5, 2.0, 0.0, 1.0], &[3, 2])),
        ("bias", f32s(&[0.5, -0.5], &[2])),
    ])
}

/// The function of the files: a layer, its greatest output, and a constant.
fn layer(params: Params, x: Array) -> (Array, Vec<Array>) {
    let offset = f32s(&[10.0, 20.0], &[2]);
    let mask = Array::from([true, false]);
    let y = (x.matmul(&params["weight"]) + &params["bias"]).tanh();
    let shifted = where_(&mask, &(&y + &offset), &y);
    (y, vec![shifted.max(), shifted.astype(DType::I32)])
}

fn input() -> Array {
    f32s(&[0.1, 0.2, 0.3, -0.4, 0.5, -0.6], &[2, 3])
}

#[test]
fn a_function_is_the_same_after_writing_and_reading() {
    let f = jit(layer);
    let shapes = |t: Params| -> Params {
        t.into_iter()
            .map(|(k, a)| (k, Array::shape_dtype_struct(a.shape(), a.dtype())))
            .collect()
    };
    let example = Array::shape_dtype_struct(&[2, 3], DType::F32);
    let exported = export(&f, (shapes(params()), example)).unwrap();
    let bytes = exported.serialize();
    let read = Exported::deserialize(&bytes).unwrap();
    assert_eq!(read.name, "layer");
    assert_eq!(
        read.in_tree.to_string(),
        "(({'bias': *, 'weight': *}, *), {})"
    );
    assert_eq!(read.out_tree.to_string(), "(*, [*, *])");
    assert_eq!(
        format!("{read:?}"),
        "Exported(layer: (({'bias': *, 'weight': *}, *), {}) of f32[2], f32[3,2], f32[2,3] -> \
         (*, [*, *]) of f32[2,2], f32[], i32[2,2], for cpu)"
    );
    assert_eq!(read.serialize(), bytes);
    let expected = f(params(), input());
    let got = read.call_like((params(), input()), &expected).unwrap();
    assert_eq!(got.0.to_vec::<f32>(), expected.0.to_vec::<f32>());
    assert_eq!(got.1[0].item::<f32>(), expected.1[0].item::<f32>());
    assert_eq!(got.1[1].to_vec::<i32>(), expected.1[1].to_vec::<i32>());
    // Any tree with these arrays in order will do.
    let p = params();
    let flat = read
        .call((p["bias"].clone(), p["weight"].clone(), input()))
        .unwrap();
    assert_eq!(flat[0].to_vec::<f32>(), expected.0.to_vec::<f32>());
}

#[test]
fn jax_reads_and_runs_what_is_written() {
    if let Some(path) = std::env::var_os("RAMIE_WRITE_EXPORT") {
        let exported = export(&jit(layer), (params(), input())).unwrap();
        std::fs::write(path, exported.serialize()).unwrap();
    }
    let bytes = golden::bytes("export_ramie.bin");
    let recorded = Exported::deserialize(&bytes).unwrap();
    let now = export(&jit(layer), (params(), input())).unwrap();
    assert_eq!(now.in_tree, recorded.in_tree);
    assert_eq!(now.out_tree, recorded.out_tree);
    assert_eq!(
        (&now.in_avals, &now.out_avals),
        (&recorded.in_avals, &recorded.out_avals)
    );
    // The file that JAX read, but for the program, which follows the lowering.
    let mut same_program = now;
    same_program.module = recorded.module.clone();
    assert_eq!(same_program.serialize(), bytes);
    let y = recorded.call((params(), input())).unwrap();
    let expected = layer(params(), input());
    assert_eq!(y[0].to_vec::<f32>(), expected.0.to_vec::<f32>());
}

#[test]
fn what_jax_wrote_is_read_and_run() {
    let bytes = golden::bytes("export_jax.bin");
    let read = Exported::deserialize(&bytes).unwrap();
    assert_eq!(read.name, "layer");
    let structure = PyTree::Tuple(vec![PyTree::Leaf, PyTree::List(vec![PyTree::Leaf; 2])]);
    assert_eq!(read.out_tree, structure);
    assert_eq!(
        read.in_tree.to_string(),
        "(({'bias': *, 'weight': *}, *), {})"
    );
    let expected = layer(params(), input());
    if is_linked() {
        // JAX writes programs as MLIR bytecode, which the linked backend does not read.
        let error = read.call_like((params(), input()), &expected).unwrap_err();
        assert!(error.to_string().contains("MLIR bytecode"), "{error}");
        return;
    }
    let (y, rest) = read.call_like((params(), input()), &expected).unwrap();
    for (got, expected) in y.to_vec::<f32>().iter().zip(expected.0.to_vec::<f32>()) {
        assert!((got - expected).abs() < 1e-6, "{got} {expected}");
    }
    assert_eq!(rest[1].to_vec::<i32>(), expected.1[1].to_vec::<i32>());
}

#[test]
fn what_cannot_be_exported_or_read_is_an_error() {
    let x = Array::shape_dtype_struct(&[2], DType::F32);
    let prints = jit(|x: Array| debug::print("{}", &[&x]));
    let error = export(&prints, (x.clone(),)).unwrap_err().to_string();
    assert!(
        error.contains("`<lambda>` calls functions of this process"),
        "{error}"
    );
    let f = export(&jit(|x: Array| &x + 1.0), (x,)).unwrap();
    let bytes = f.serialize();
    for cut in [0, 3, 20, bytes.len() / 2, bytes.len() - 1] {
        let _ = Exported::deserialize(&bytes[..cut]).is_err();
    }
    let error = Exported::deserialize(b"not a file at all, but text").unwrap_err();
    assert!(
        error.to_string().starts_with("exported function:"),
        "{error}"
    );
    let text = panic_message(|| f.call((Array::from([1.0f32, 2.0, 3.0]),)));
    assert!(
        text.contains("takes f32[2] as array 0 of ((*,), {}), got f32[3]"),
        "{text}"
    );
}

#[test]
fn programs_for_other_platforms_are_not_run() {
    let x = Array::from([1.0f32, 2.0]);
    let mut f = export(&jit(|x: Array| &x + 1.0), (x.clone(),)).unwrap();
    let here = std::mem::replace(&mut f.platform, "other".into());
    let f = Exported::deserialize(&f.serialize()).unwrap();
    let error = f.call((x,)).unwrap_err().to_string();
    let expected = format!(
        "`<lambda>` was exported for the platform `other`, but this process runs on `{here}`"
    );
    assert!(error.contains(&expected), "{error}");
}

#[test]
fn dtypes_without_a_number_are_refused() {
    let f = jit(|x: Array| x.astype(DType::F32));
    for dtype in DType::ALL {
        let exported = export(&f, (Array::shape_dtype_struct(&[2], dtype),));
        if !matches!(dtype, DType::I2 | DType::U2) {
            let bytes = exported.unwrap().serialize();
            let read = Exported::deserialize(&bytes).unwrap();
            assert_eq!(read.in_avals[0].dtype(), dtype);
            continue;
        }
        let error = exported.unwrap_err().to_string();
        let expected = format!("an argument or a result {}[2]", dtype.name());
        assert!(error.contains(&expected), "{error}");
    }
    let to_narrow = jit(|x: Array| x.astype(DType::U2));
    let x = Array::shape_dtype_struct(&[2], DType::I32);
    assert!(export(&to_narrow, (x,)).is_err());
}

#[test]
fn captured_arrays_of_every_type_are_part_of_the_program() {
    for dtype in DType::ALL {
        // The CPU's compiler does not store elements of two bits.
        if matches!(dtype, DType::I2 | DType::U2) {
            continue;
        }
        let captured = Array::from([1.0f32, 2.0, 4.0]).astype(dtype);
        let expected = captured.astype(DType::F32).to_vec::<f32>();
        let f = jit(move |x: Array| x + captured.astype(DType::F32));
        let exported = export(&f, (Array::zeros(&[3], DType::F32),)).unwrap();
        let y = exported.call((Array::zeros(&[3], DType::F32),));
        let y = y.unwrap_or_else(|e| panic!("{dtype:?}: {e}"));
        assert_eq!(y[0].to_vec::<f32>(), expected, "{dtype:?}");
    }
}

#[test]
fn fields_are_in_the_order_of_their_names() {
    // In the order of a Rust tree `b` comes first; in a dictionary `a` does.
    let tree = (BTreeMap::from([
        ("z", f32s(&[1.0], &[1])),
        ("a", f32s(&[2.0, 3.0], &[2])),
    ]),);
    let f = jit(|t: BTreeMap<&'static str, Array>| {
        BTreeMap::from([("y", &t["z"] * 10.0), ("x", &t["a"] * 10.0)])
    });
    let exported = export(&f, tree.clone()).unwrap();
    assert_eq!(exported.in_avals[0].to_string(), "f32[2]");
    let out = exported.call(tree).unwrap();
    assert_eq!(out[0].to_vec::<f32>(), [20.0, 30.0]);
}
