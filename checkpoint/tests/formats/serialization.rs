//! Flax's msgpack format, against bytes that Flax wrote, and what is said of
//! state dicts that do not fit and bytes that are damaged.

#[path = "serialization/depth.rs"]
mod depth;
#[cfg(target_os = "linux")]
#[path = "serialization/memory.rs"]
mod memory;

use proptest::prelude::*;
use ramie_checkpoint::serialization::{
    self, StateDict, from_bytes, from_state_dict, msgpack_restore, msgpack_serialize, to_bytes,
    to_state_dict,
};
use ramie_core::dtypes::Scalar;
use ramie_core::{Array, DType, State};
use ramie_testing::golden::{bytes, path as golden};
use std::collections::BTreeMap;
use std::process::Command;

fn number(x: f64) -> StateDict {
    StateDict::Number(Scalar::Float(x))
}

fn int(n: i64) -> StateDict {
    StateDict::Number(Scalar::Int(n))
}

fn dict<const N: usize>(parts: [(&str, StateDict); N]) -> StateDict {
    StateDict::Dict(parts.map(|(name, part)| (name.to_owned(), part)).into())
}

/// That a part is there, and which.
#[track_caller]
fn same(part: Option<&StateDict>, expected: &StateDict) {
    assert_eq!(format!("{part:?}"), format!("{:?}", Some(expected)));
}

#[test]
fn every_element_type_is_read_and_written_as_by_flax() {
    let state = serialization::load_state(golden("flax_dtypes.msgpack")).unwrap();
    for dtype in DType::ALL {
        let name = dtype.numpy_name();
        let array = |part| state.get(&format!("{name}.{part}")).unwrap();
        let (m, s, z) = (array("m"), array("s"), array("z"));
        assert_eq!((m.dtype(), m.shape()), (dtype, &[2, 3][..]));
        assert_eq!((s.dtype(), s.shape()), (dtype, &[][..]));
        assert_eq!((z.dtype(), z.shape()), (dtype, &[3, 0][..]));
        let unsigned = dtype.is_unsigned() || dtype == DType::Bool;
        let expected: &[f64] = match dtype {
            DType::Bool => &[1.0, 0.0, 1.0, 1.0, 1.0, 1.0],
            DType::F8E8M0Fnu => &[1.0, 2.0, 0.5, 4.0, 0.25, 8.0],
            DType::U2 => &[1.0, 0.0, 1.0, 0.0, 1.0, 1.0],
            _ if unsigned => &[1.0, 0.0, 1.0, 0.0, 1.0, 2.0],
            _ if dtype.is_integer() => &[1.0, 0.0, -1.0, 0.0, 1.0, -2.0],
            _ => &[1.0, 0.0, -1.0, 0.5, 1.5, -2.0],
        };
        let values = if dtype.is_complex() {
            m.real().astype(DType::F64)
        } else {
            m.astype(DType::F64)
        };
        assert_eq!(values.to_vec::<f64>(), expected, "{dtype}");
    }
    assert_eq!(state.len(), 3 * DType::ALL.len());
    assert!(to_bytes(&state).unwrap() == bytes("flax_dtypes.msgpack"));
}

#[test]
fn a_train_state_is_read_and_written_as_by_flax() {
    let path = golden("flax_state.msgpack");
    let restored = serialization::load(&path).unwrap();
    same(restored.get("step"), &int(2));
    same(restored.get("opt_state.1"), &dict([]));
    let Some(StateDict::Array(kernel)) = restored.get("params.Dense_1.kernel") else {
        panic!("{restored:?}");
    };
    assert_eq!((kernel.dtype(), kernel.shape()), (DType::F32, &[4, 3][..]));
    assert!(restored.to_bytes().unwrap() == std::fs::read(&path).unwrap());

    // Flax reads what is written, where there is one.
    if let Some(python) = std::env::var_os("RAMIE_PYTHON") {
        let folder = tempfile::tempdir().unwrap();
        let written = folder.path().join("state.msgpack");
        std::fs::write(&written, restored.to_bytes().unwrap()).unwrap();
        let mut check = Command::new(python);
        check
            .arg(golden("../flax_msgpack.py"))
            .arg("--check")
            .arg(&written);
        assert!(check.status().unwrap().success());
    }

    // The same as a tree: of step, parameters, and the states of a chain.
    let state = serialization::load_state(&path).unwrap();
    assert_eq!(state.get("step").unwrap().item::<i32>(), 2);
    let params = state.subtree("params").zeros_like();
    let adam: BTreeMap<String, State> = ["count", "mu", "nu"]
        .map(|name| {
            (
                name.to_owned(),
                state.subtree(&format!("opt_state.0.{name}")).zeros_like(),
            )
        })
        .into();
    let mut adam = adam;
    adam.insert("count".into(), State::from_iter([("", Array::from(0i32))]));
    let mut tree = (Array::from(0i32), params, (adam, ()));
    let named = to_state_dict(&tree);
    let dict = dict([
        ("0", restored.get("step").unwrap().clone()),
        ("1", restored.get("params").unwrap().clone()),
        ("2", restored.get("opt_state").unwrap().clone()),
    ]);
    from_state_dict(&mut tree, &dict).unwrap();
    assert_eq!(tree.0.item::<i32>(), 2);
    assert_eq!(tree.2.0["count"].get("").unwrap().item::<i32>(), 2);
    let back = to_state_dict(&tree);
    same(back.get("2.1"), named.get("2.1").unwrap());
    let written = back.get("2").unwrap().to_bytes().unwrap();
    assert!(written == restored.get("opt_state").unwrap().to_bytes().unwrap());
}

#[test]
fn everything_that_a_state_dict_may_hold_is_read_and_written_as_by_flax() {
    let original = bytes("flax_leaves.msgpack");
    let dict = msgpack_restore(&original).unwrap();
    assert!(msgpack_serialize(&dict).unwrap() == original);
    same(dict.get("none"), &StateDict::None);
    same(dict.get("true"), &StateDict::Number(Scalar::Bool(true)));
    same(dict.get("int.10"), &int(i64::MAX));
    same(
        dict.get("int.11"),
        &StateDict::Number(Scalar::Uint(u64::MAX)),
    );
    same(dict.get("negative.9"), &int(i64::MIN));
    same(dict.get("float.5"), &number(1e-300));
    let complex = StateDict::Number(Scalar::Complex(1.5, -2.0));
    same(dict.get("complex"), &complex);
    same(dict.get("text.3"), &StateDict::Str("l".repeat(32)));
    same(dict.get("bytes.1"), &StateDict::Bytes(vec![0, 255]));
    same(dict.get("empty"), &self::dict([]));
    same(dict.get("list.1.list"), &StateDict::List(vec![]));
    same(dict.get("many.k19"), &int(19));
    let Some(StateDict::NumpyScalar(h)) = dict.get("scalar.h") else {
        panic!("{:?}", dict.get("scalar"));
    };
    assert_eq!(
        (h.dtype(), h.astype(DType::F32).item::<f32>()),
        (DType::BF16, 2.5)
    );
    let error = dict.to_state().unwrap_err().to_string();
    assert!(
        error.starts_with("state dict: `1`: is a string, which a `State` cannot contain"),
        "{error}"
    );
    same(dict.get(""), &dict);
    assert!(dict.get("list.2").is_none());
}

#[test]
fn chunks_are_put_together() {
    let state = serialization::load_state(golden("flax_chunks.msgpack")).unwrap();
    let w = state.get("large.w").unwrap();
    assert_eq!(w.shape(), [2, 3]);
    assert_eq!(w.to_vec::<f32>(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let n = state.get("large.n").unwrap().to_vec::<u8>();
    assert_eq!(n, (0..17).collect::<Vec<u8>>());
    assert_eq!(state.get("flat").unwrap().shape(), [4]);
}

#[derive(ramie_derive::Tree)]
struct Layer {
    kernel: Array,
    bias: Option<Array>,
    features: usize,
    #[tree(fixed)]
    name: &'static str,
    parts: Vec<(Array, ())>,
    empty: Vec<Array>,
}

#[test]
fn trees_become_state_dicts() {
    let x = || Array::from(1.0f32);
    let layer = Layer {
        kernel: x(),
        bias: None,
        features: 3,
        name: "dense",
        parts: vec![(x(), ())],
        empty: vec![],
    };
    assert_eq!((layer.features, layer.name), (3, "dense"));
    let leaf = |d: &StateDict| matches!(d, StateDict::Array(_));
    let made = to_state_dict(&layer);
    let StateDict::Dict(parts) = &made else {
        panic!("{made:?}");
    };
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["kernel", "bias", "features", "parts", "empty"]);
    same(made.get("features"), &StateDict::Number(Scalar::Uint(3)));
    assert!(leaf(made.get("kernel").unwrap()) && leaf(made.get("parts.0.0").unwrap()));
    same(made.get("bias"), &StateDict::None);
    same(made.get("parts.0.1"), &dict([]));
    same(made.get("empty"), &dict([]));
    assert!(leaf(&to_state_dict(&x())));
    same(Some(&to_state_dict(&())), &dict([]));

    // Leaves of one node that are not side by side come together.
    let state = State::from_iter([("a.x", x()), ("b", x()), ("a.y.z", x())]);
    let made = to_state_dict(&state);
    assert!(leaf(made.get("a.x").unwrap()) && leaf(made.get("a").unwrap().get("y.z").unwrap()));
    let mut back = state.zeros_like();
    from_bytes(&mut back, &to_bytes(&state).unwrap()).unwrap();
    assert_eq!(back.arrays()[2].item::<f32>(), 1.0);
}

#[test]
#[should_panic(expected = "to_state_dict: `a` is an array, but has arrays below it")]
fn an_array_has_no_parts() {
    let x = || Array::from(1.0f32);
    to_state_dict(&State::from_iter([("a.b", x()), ("a", x())]));
}

#[test]
#[should_panic(expected = "to_state_dict: `0.a` is an array, but has arrays below it")]
fn a_part_is_no_array() {
    let x = || Array::from(1.0f32);
    to_state_dict(&(State::from_iter([("a", x()), ("a.b", x())]),));
}

#[test]
fn what_does_not_fit_is_named_and_nothing_changes() {
    let zeros = |n: usize, d: DType| Array::zeros(&[n], d);
    let mut tree = State::from_iter([
        ("a.same", zeros(2, DType::F32)),
        ("a.type", zeros(2, DType::BF16)),
        ("new", zeros(1, DType::F32)),
    ]);
    let file = State::from_iter([
        ("a.same", Array::ones(&[2], DType::F32)),
        ("a.type", zeros(2, DType::F32)),
        ("old", zeros(1, DType::F32)),
    ]);
    let saved = to_bytes(&file).unwrap();
    let text = from_bytes(&mut tree, &saved).unwrap_err().to_string();
    let expected = "the state dict does not match the tree\n  missing from the state dict: `new`\n  \
                    not in the tree: `old`\n  `a.type`: the tree has bf16[2], the state dict has \
                    f32[2]\n  help: load into a tree with the saved structure, or read the state dict \
                    as a `State` with `to_state`";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(tree.get("a.same").unwrap().to_vec::<f32>(), [0.0, 0.0]);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("params.msgpack");
    serialization::save(&path, &file).unwrap();
    let text = serialization::load_into(&path, &mut tree)
        .unwrap_err()
        .to_string();
    let start = format!("{}: the file does not match the tree\n", path.display());
    assert!(text.starts_with(&start), "{text}");
    let absent = folder.path().join("absent");
    let text = serialization::load(&absent).unwrap_err().to_string();
    assert!(
        text.starts_with(&format!("{}: cannot be read: ", absent.display())),
        "{text}"
    );
}

#[test]
fn numbers_take_the_place_of_arrays_that_hold_them() {
    let put = |dtype: DType, shape: &[usize], part: StateDict| {
        let mut tree = (Array::zeros(shape, dtype),);
        from_state_dict(&mut tree, &dict([("0", part)])).map(|()| tree.0)
    };
    assert_eq!(put(DType::U8, &[], int(255)).unwrap().item::<u8>(), 255);
    assert_eq!(put(DType::F32, &[], int(3)).unwrap().item::<f32>(), 3.0);
    assert_eq!(
        put(DType::F64, &[], number(0.1)).unwrap().item::<f64>(),
        0.1
    );
    let truth = || StateDict::Number(Scalar::Bool(true));
    assert!(put(DType::Bool, &[], truth()).unwrap().item::<bool>());
    let says = |dtype, shape: &[usize], part, expected: &str| {
        let text = put(dtype, shape, part).unwrap_err().to_string();
        let help = "help: load into a tree with the saved structure";
        let expected = format!("state dict: `0`: the tree has {expected}\n  {help}");
        assert_eq!(text, expected);
    };
    says(
        DType::U8,
        &[],
        int(256),
        "u8[], the state dict has the number 256",
    );
    says(
        DType::I32,
        &[],
        number(1.0),
        "i32[], the state dict has the number 1.0",
    );
    says(
        DType::I32,
        &[],
        truth(),
        "i32[], the state dict has the boolean true",
    );
    says(
        DType::F32,
        &[1],
        int(1),
        "f32[1], the state dict has the number 1",
    );
    let text = StateDict::Str("x".into());
    says(DType::F32, &[], text, "f32[], the state dict has a string");
}

#[test]
fn arrays_without_elements_cannot_be_written() {
    let tree = State::from_iter([("a.b", Array::shape_dtype_struct(&[2], DType::F32))]);
    let text = to_bytes(&tree).unwrap_err().to_string();
    assert!(text.starts_with("state dict: `a.b`: "), "{text}");
}

#[test]
fn damaged_bytes_are_explained() {
    let says = |bytes: &[u8], expected: &str| {
        let text = msgpack_restore(bytes).unwrap_err().to_string();
        let start = text.split("\n  help: ").next().unwrap();
        assert_eq!(start, expected, "{text}");
    };
    says(b"", "state dict: expected 1 more bytes, got 0 (byte 0)");
    says(b"\xc1", "state dict: 0xc1 is not a msgpack value (byte 1)");
    says(
        b"\x01\x02",
        "state dict: 1 bytes follow the end of the value (byte 1)",
    );
    says(
        b"\x81\xa1a\xdf\xff\xff\xff\xff",
        "state dict: `a`: expected 1 more bytes, got 0 (byte 8)",
    );
    says(
        b"\xdd\xff\xff\xff\xff",
        "state dict: `0`: expected 1 more bytes, got 0 (byte 5)",
    );
    says(
        b"\xc6\xff\xff\xff\xff",
        "state dict: expected 4294967295 more bytes, got 0 (byte 5)",
    );
    says(
        b"\x82\xa1a\x01\xa1a\x02",
        "state dict: the name `a` occurs twice (byte 6)",
    );
    says(
        b"\xa2\xff\xfe",
        "state dict: a string is not UTF-8: invalid utf-8 sequence of 1 bytes from index 0 (byte 3)",
    );
    says(
        b"\x81\xc0\x01",
        "state dict: expected a string, got Null (byte 2)",
    );
    says(
        b"\x81\xa1w\xd4\x07\x00",
        "state dict: `w`: unknown extension type 7; Flax writes 1, 2 and 3 (byte 6)",
    );

    let array = |content: &[u8]| {
        let mut bytes = b"\x81\xa1w\xc7".to_vec();
        bytes.push(content.len() as u8);
        bytes.push(1);
        bytes.extend(content);
        bytes
    };
    let says_of = |content: &[u8], expected: &str| {
        let bytes = array(content);
        says(
            &bytes,
            &format!("state dict: `w`: {expected} (byte {})", bytes.len()),
        );
    };
    assert!(msgpack_restore(&array(b"\x93\x91\x02\xa5uint8\xc4\x02ab")).is_ok());
    assert!(msgpack_restore(&array(b"\x93\x91\x02\xc4\x05uint8\xc4\x02ab")).is_ok());
    says_of(
        b"\x92\x91\x02\xa5uint8",
        "expected the shape, dtype and bytes of an array, got 2 parts",
    );
    says_of(
        b"\x93\x91\x03\xa5uint8\xc4\x02ab",
        "2 bytes do not match uint8[3]",
    );
    says_of(b"\x93\x91\xff\xa5uint8\xc4\x02ab", "-1 is not a dimension");
    says_of(
        b"\x93\x91\xa1x\xa5uint8\xc4\x02ab",
        "expected a dimension, got FixStr(1)",
    );
    says_of(
        b"\x93\x93\x00\xcf\x40\0\0\0\0\0\0\0\xcf\x40\0\0\0\0\0\0\0\xa5uint8\xc4\x00",
        "0 bytes do not match uint8[0, 4611686018427387904, 4611686018427387904]",
    );
    says_of(
        b"\x93\xdc\xff\xff",
        "has 65535 axes, but NumPy arrays have at most 64",
    );
    says_of(
        b"\x93\x90\xa3<U4\xc4\x00",
        "has the dtype `<U4`, which Ramie does not support",
    );
    says_of(
        b"\x93\x90\xa5uint8\xc4\x01ab",
        "1 bytes follow the end of an array or number",
    );
    let text = msgpack_restore(&array(b"\x93\x90\xa3<U4\xc4\x00")).unwrap_err();
    let help = "\n  help: convert the array to another dtype, such as float32";
    assert!(text.to_string().contains(help), "{text}");
    let text = msgpack_restore(&array(b"\x93\x91\x01\xa4bool\xc4\x01\x02")).unwrap_err();
    assert!(
        text.to_string()
            .starts_with("state dict: `w`: byte 0 of bool[1] is 2, but a boolean must be 0 or 1"),
        "{text}"
    );
}

#[test]
fn damaged_chunks_are_explained() {
    let array = |content: &[u8]| StateDict::Array(Array::from_slice(content, &[content.len()]));
    let made = |shape: StateDict, chunks: StateDict| {
        let mark = StateDict::Number(Scalar::Bool(true));
        let parts = dict([
            ("__msgpack_chunked_array__", mark),
            ("shape", shape),
            ("chunks", chunks),
        ]);
        msgpack_restore(&dict([("w", parts)]).to_bytes().unwrap())
    };
    let shape = |n: i64| dict([("0", int(n))]);
    assert!(made(shape(3), dict([("1", array(b"c")), ("0", array(b"ab"))])).is_ok());
    let says = |shape, chunks, expected: &str| {
        let text = made(shape, chunks).unwrap_err().to_string();
        assert!(
            text.starts_with(&format!("state dict: `w`: {expected}")),
            "{text}"
        );
    };
    says(
        shape(3),
        dict([("0", array(b"ab"))]),
        "2 bytes do not match uint8[3]",
    );
    says(shape(2), dict([]), "a chunked array has no chunks");
    says(
        shape(2),
        dict([("1", array(b"ab"))]),
        "a chunked array has an unexpected part `1`",
    );
    says(
        shape(2),
        dict([("0", int(1))]),
        "a number is not a chunk of an array",
    );
    says(
        shape(2),
        int(1),
        "a chunked array has no dictionary `chunks`",
    );
    says(
        dict([("0", array(b"a"))]),
        dict([("0", array(b"a"))]),
        "an array is not a dimension",
    );
    says(
        dict([("0", int(1)), ("00", int(1))]),
        dict([("0", array(b"a"))]),
        "a chunked array lacks a part",
    );
    let mixed = dict([
        ("0", array(b"a")),
        ("1", StateDict::Array(Array::from([1i8]))),
    ]);
    says(
        shape(2),
        mixed,
        "the chunks of an array have different dtypes",
    );
}

#[test]
fn one_path_twice_is_an_error() {
    let twice = dict([("a.b", int(1)), ("a", dict([("b", int(2))]))]);
    let text = twice.to_state().unwrap_err().to_string();
    assert!(
        text.starts_with("state dict: `a.b`: the path occurs twice"),
        "{text}"
    );
    same(twice.get("a.b"), &int(2));
}

fn any_leaf() -> impl Strategy<Value = StateDict> {
    let array = (
        prop::sample::select(DType::ALL.to_vec()),
        prop::collection::vec(0..4usize, 0..4),
    );
    let array = array.prop_flat_map(|(dtype, shape)| {
        let size = shape.iter().product::<usize>() * dtype.size();
        let most: u8 = match dtype {
            DType::Bool => 1,
            DType::I4 | DType::U4 | DType::F4E2M1Fn => 7,
            DType::I2 | DType::U2 => 1,
            _ => 255,
        };
        let bytes = prop::collection::vec(0..=most, size);
        bytes.prop_map(move |b| Array::try_from_bytes(&b, &shape, dtype).unwrap())
    });
    prop_oneof![
        array.clone().prop_map(StateDict::Array),
        array.prop_map(StateDict::NumpyScalar),
        any::<i64>().prop_map(int),
        (i64::MAX as u64 + 1..).prop_map(|n| StateDict::Number(Scalar::Uint(n))),
        any::<f32>().prop_map(|x| number(x.into())),
        any::<(f32, f32)>()
            .prop_map(|(a, b)| StateDict::Number(Scalar::Complex(a.into(), b.into()))),
        any::<bool>().prop_map(|b| StateDict::Number(Scalar::Bool(b))),
        ".{0,40}".prop_map(StateDict::Str),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(StateDict::Bytes),
        Just(StateDict::None),
    ]
}

fn any_dict() -> impl Strategy<Value = StateDict> {
    any_leaf().prop_recursive(4, 24, 5, |part| {
        prop_oneof![
            prop::collection::btree_map(".{0,5}", part.clone(), 0..5)
                .prop_map(|parts| StateDict::Dict(parts.into_iter().collect())),
            prop::collection::vec(part, 0..5).prop_map(StateDict::List),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// Whatever is written comes back, to the bit.
    #[test]
    fn state_dicts_come_back(dict in any_dict()) {
        let written = dict.to_bytes().unwrap();
        let back = msgpack_restore(&written).unwrap();
        prop_assert_eq!(back.to_bytes().unwrap(), written);
    }

    /// Damage is refused or leaves another valid state dict; it never panics.
    #[test]
    fn damage_does_not_panic(
        dict in any_dict(),
        keep in 0..=600usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut bytes = dict.to_bytes().unwrap();
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        let whole = keep >= bytes.len();
        bytes.truncate(keep);
        let restored = msgpack_restore(&bytes);
        prop_assert!(!whole || !changes.is_empty() || restored.is_ok());
        if let Ok(restored) = restored {
            let _ = restored.to_state();
            let _ = restored.to_bytes().unwrap();
        }
    }

    /// Bytes that are more like arrays than arbitrary ones.
    #[test]
    fn arbitrary_bytes_do_not_panic(
        start in prop::sample::select(vec![&b""[..], b"\x81\xa1w\xc7\x20\x01\x93", b"\x82", b"\xc8\x00\x30\x01\x93\x92"]),
        rest in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let _ = msgpack_restore(&[start, &rest].concat());
        let _ = from_bytes(&mut State::new(), &rest);
    }
}
