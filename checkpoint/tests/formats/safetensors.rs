//! Safetensors files: round trips, equality with the reference implementation,
//! and what is said of files that do not fit or are damaged.

use half::{bf16, f16};
use proptest::prelude::*;
use ramie_checkpoint::Error;
use ramie_checkpoint::safetensors::{
    load_into, load_metadata, load_state, save, save_with_metadata,
};
use ramie_core::{Array, DType, State};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use std::path::{Path, PathBuf};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn ones(shape: &[usize]) -> Array {
    Array::ones(shape, DType::F32)
}

#[test]
fn a_tree_comes_back() {
    let folder = folder();
    let path = folder.path().join("model.safetensors");
    let weights = vec![Array::from([[1.0f32, 2.0], [3.0, 4.0]]), ones(&[0, 3])];
    save(&path, &(weights, Array::from(7i32))).unwrap();
    let mut model = (vec![ones(&[2, 2]), ones(&[0, 3])], Array::from(0i32));
    load_into(&path, &mut model).unwrap();
    assert_eq!(model.0[0].to_vec::<f32>(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(model.1.item::<i32>(), 7);
    let state = load_state(&path).unwrap();
    assert_eq!(state.paths().collect::<Vec<_>>(), ["0.0", "0.1", "1"]);
    assert!(load_metadata(&path).unwrap().is_empty());
}

#[test]
fn notes_come_back() {
    let folder = folder();
    let path = folder.path().join("noted");
    let notes = [("step", "100"), ("what", "a \"test\"\n")];
    let notes = notes.map(|(k, v)| (k.to_string(), v.to_string())).into();
    save_with_metadata(&path, &ones(&[2]), &notes).unwrap();
    assert_eq!(load_metadata(&path).unwrap(), notes);
    assert_eq!(load_state(&path).unwrap().len(), 1);
}

/// The reference implementation's type for one of ours.
fn dtype(dtype: DType) -> Dtype {
    match dtype {
        DType::Bool => Dtype::BOOL,
        DType::I8 => Dtype::I8,
        DType::I16 => Dtype::I16,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::U8 => Dtype::U8,
        DType::U16 => Dtype::U16,
        DType::U32 => Dtype::U32,
        DType::U64 => Dtype::U64,
        DType::BF16 => Dtype::BF16,
        DType::F16 => Dtype::F16,
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
        DType::C64 => Dtype::C64,
        DType::F8E4M3Fn => Dtype::F8_E4M3,
        DType::F8E5M2 => Dtype::F8_E5M2,
        DType::F8E4M3Fnuz => Dtype::F8_E4M3FNUZ,
        DType::F8E5M2Fnuz => Dtype::F8_E5M2FNUZ,
        DType::F8E8M0Fnu => Dtype::F8_E8M0,
        other => panic!("the format does not support {other}"),
    }
}

/// Every element type of at least a byte.
fn dtypes() -> Vec<DType> {
    let all = DType::ALL.into_iter();
    all.filter(|d| d.bits() >= 8 && *d != DType::C128).collect()
}

#[test]
fn elements_of_less_than_a_byte_are_refused() {
    let path = folder().path().join("state");
    let error = save(&path, &ones(&[2]).astype(DType::I4)).unwrap_err();
    assert!(message(error, &path).contains("the format does not support i4"));
}

#[test]
fn files_equal_the_reference_implementations() {
    let folder = folder();
    let path = folder.path().join("state");
    let arrays = [
        ("b.kernel", Array::from([[1.0f32, -2.5], [f32::NAN, 0.0]])),
        ("a", Array::from([1u8, 2, 3])),
        ("b.bias", Array::from([f16::from_f32(0.5)])),
        ("h", Array::from([bf16::from_f32(1.5), bf16::ONE])),
        ("mask", Array::from([true, false, true])),
        ("step", Array::from(12i64)),
        ("big", Array::from([1.0f64, 2.0])),
        ("n", Array::from([-1i8])),
        ("none", ones(&[2, 0])),
        ("é \"", Array::from([u32::MAX])),
        ("i16", Array::from([i16::MIN])),
        ("u16", Array::from([u16::MAX])),
        ("u64", Array::from([u64::MAX])),
        ("i32", Array::from([[i32::MIN]])),
    ];
    let state = State::from_iter(arrays.clone());
    save(&path, &state).unwrap();
    let held: Vec<_> = arrays
        .iter()
        .map(|(name, a)| {
            (
                *name,
                dtype(a.dtype()),
                a.shape(),
                a.try_to_bytes().unwrap(),
            )
        })
        .collect();
    let views = held.iter().map(|(name, d, shape, bytes)| {
        (*name, TensorView::new(*d, shape.to_vec(), bytes).unwrap())
    });
    let reference = safetensors::serialize(views, None).unwrap();
    let written = std::fs::read(&path).unwrap();
    assert!(
        written == reference,
        "{}",
        String::from_utf8_lossy(&written[..900])
    );
}

#[test]
fn files_of_other_programs_are_read() {
    let path = ramie_testing::golden::path("primitives.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let reference = SafeTensors::deserialize(&bytes).unwrap();
    let state = load_state(path).unwrap();
    assert_eq!(state.len(), reference.len());
    assert!(state.len() > 100);
    for (name, array) in state.iter() {
        let view = reference.tensor(name).unwrap();
        assert_eq!(dtype(array.dtype()), view.dtype());
        assert_eq!(array.shape(), view.shape());
        assert_eq!(array.try_to_bytes().unwrap(), view.data());
    }
}

fn message(error: Error, path: &Path) -> String {
    let text = error.to_string();
    let name = format!("{}: ", path.display());
    assert!(text.starts_with(&name), "{text}");
    text[name.len()..].to_string()
}

#[test]
fn what_does_not_fit_is_named_and_nothing_changes() {
    let folder = folder();
    let path = folder.path().join("model");
    let saved = [
        ("same", ones(&[2])),
        ("type", ones(&[2])),
        ("shape", ones(&[3])),
        ("old", ones(&[1])),
    ];
    save(&path, &State::from_iter(saved)).unwrap();
    let zeros = |n: usize, d: DType| Array::zeros(&[n], d);
    let mut tree = State::from_iter([
        ("same", zeros(2, DType::F32)),
        ("type", zeros(2, DType::BF16)),
        ("shape", zeros(2, DType::F32)),
        ("new", zeros(1, DType::F32)),
    ]);
    let text = message(load_into(&path, &mut tree).unwrap_err(), &path);
    let expected = "the file does not match the tree\n  missing from the file: `new`\n  not in the \
                    tree: `old`\n  `type`: the tree has bf16[2], the file has f32[2]\n  `shape`: the \
                    tree has f32[2], the file has f32[3]\n  help: ";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(tree.get("same").unwrap().to_vec::<f32>(), [0.0, 0.0]);
}

#[test]
fn arrays_without_elements_cannot_be_saved() {
    let folder = folder();
    let path = folder.path().join("model");
    save(&path, &ones(&[1])).unwrap();
    let tree = (ones(&[1]), Array::shape_dtype_struct(&[2], DType::F32));
    let text = message(save(&path, &tree).unwrap_err(), &path);
    assert!(text.starts_with("tensor `1`: "), "{text}");
    assert_eq!(load_state(&path).unwrap().len(), 1);
}

/// A file of these parts.
fn file(folder: &Path, header: &str, data: &[u8]) -> PathBuf {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    let path = folder.join("made");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn damaged_files_are_named() {
    let folder = folder();
    let says = |header: &str, data: &[u8], expected: &str| {
        let path = file(folder.path(), header, data);
        let text = message(load_state(&path).unwrap_err(), &path);
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("\n  help: "), "{text}");
    };
    let f32s = |shape: &str, offsets: &str| {
        format!(r#"{{"w":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#)
    };
    says("not json", &[], "has a header that cannot be read: ");
    says("[1]", &[], "expected a map of tensors by name");
    says(
        &f32s("[2]", "[0,8]"),
        &[0; 5],
        "has 5 bytes of tensors, but 8 according to its header",
    );
    says(&f32s("[2]", "[0,8]"), &[0; 9], "damaged or truncated");
    says(
        &f32s("[3]", "[0,8]"),
        &[0; 8],
        "tensor `w`: bytes 0 to 8 do not match the size of F32[3]",
    );
    says(&f32s("[2]", "[8,0]"), &[0; 8], "tensor `w`: bytes 8 to 0");
    says(
        &f32s("[2]", "[4,12]"),
        &[0; 12],
        "tensor `w`: starts at byte 4, expected 0",
    );
    let huge = f32s("[4294967296,4294967296,2]", "[0,0]");
    says(&huge, &[], "tensor `w`: bytes 0 to 0 do not");
    let twice = r#"{"w":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}"#;
    says(twice, &[0; 4], "`w` occurs twice");
    let unknown = r#"{"w":{"dtype":"F6_E2M3","shape":[1],"data_offsets":[0,1]}}"#;
    says(
        unknown,
        &[0],
        "tensor `w`: has dtype F6_E2M3, which is not supported",
    );
    let truth = r#"{"w":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}}"#;
    says(
        truth,
        &[2],
        "tensor `w`: byte 0 of bool[1] is 2, but a boolean must be 0 or 1",
    );
    let path = folder.path().join("short");
    std::fs::write(&path, [1, 2, 3]).unwrap();
    let text = message(load_state(&path).unwrap_err(), &path);
    assert!(
        text.starts_with("has only 3 bytes, which is too short\n  help: "),
        "{text}"
    );
    std::fs::write(&path, [0xFF; 20]).unwrap();
    let text = message(load_state(&path).unwrap_err(), &path);
    assert!(text.contains("but only 12 bytes follow"), "{text}");
    let absent = folder.path().join("absent");
    let text = message(load_state(&absent).unwrap_err(), &absent);
    assert!(text.starts_with("cannot be read: "), "{text}");
    assert!(text.contains("\n  help: check the path"), "{text}");
}

fn any_array() -> impl Strategy<Value = (DType, Vec<usize>, Vec<u8>)> {
    let dtype = prop::sample::select(dtypes());
    (dtype, prop::collection::vec(0..5usize, 0..4)).prop_flat_map(|(dtype, shape)| {
        let size = shape.iter().product::<usize>() * dtype.size();
        let byte = if dtype == DType::Bool {
            0..=1u8
        } else {
            0..=255
        };
        (Just(dtype), Just(shape), prop::collection::vec(byte, size))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    /// Every element type and shape, NaN payloads included.
    #[test]
    fn arrays_come_back(arrays in prop::collection::btree_map("[a-z.]{0,6}", any_array(), 0..8)) {
        let folder = folder();
        let path = folder.path().join("state");
        let state: State = arrays
            .iter()
            .map(|(name, (d, shape, bytes))| {
                (name, Array::try_from_bytes(bytes, shape, *d).unwrap())
            })
            .collect();
        save(&path, &state).unwrap();
        let back = load_state(&path).unwrap();
        prop_assert_eq!(back.len(), arrays.len());
        for (name, (d, shape, bytes)) in &arrays {
            let array = back.get(name).unwrap();
            prop_assert_eq!((array.dtype(), array.shape()), (*d, shape.as_slice()));
            prop_assert_eq!(&array.try_to_bytes().unwrap(), bytes);
        }
    }

    /// Damage is refused or leaves another valid file; it never panics.
    #[test]
    fn damage_does_not_panic(keep in 0..=400usize, flips in prop::collection::vec((0..400usize, 0..8u32), 0..4)) {
        let folder = folder();
        let path = folder.path().join("state");
        let notes = [("k".to_string(), "v".to_string())].into();
        let state = State::from_iter([("a.b", ones(&[2, 3])), ("c", Array::from([true, false]))]);
        save_with_metadata(&path, &state, &notes).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        for (at, bit) in &flips {
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
        }
        let whole = keep >= bytes.len();
        bytes.truncate(keep);
        std::fs::write(&path, &bytes).unwrap();
        let loaded = load_state(&path);
        prop_assert!(whole || loaded.is_err());
        prop_assert!(!(whole && flips.is_empty()) || loaded.is_ok());
        let _ = load_metadata(&path);
        let _ = load_into(&path, &mut state.clone());
    }
}
