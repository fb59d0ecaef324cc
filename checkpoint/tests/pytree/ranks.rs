//! Arrays that have another number of axes than the saved ones.

use super::{devices_8, ramp, saved, text};
use ramie_checkpoint::commit::{restore_item, save_item};
use ramie_checkpoint::pytree::*;
use ramie_core::*;

#[test]
fn another_number_of_axes_is_refused() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let (path, state) = saved(folder.path());
    for shape in [&[][..], &[4], &[12], &[4, 3, 1], &[1, 4, 3]] {
        let mut target = state.clone();
        target.insert("enc.w", Array::zeros(shape, DType::F32));
        let tree = Aval::new(shape, DType::F32);
        let line = format!("`enc.w`: the tree has {tree}, the checkpoint has f32[4,3]\n");
        for strict in [true, false] {
            let args = StandardRestore::new(&target).strict(strict);
            let error = text(restore_item(&path, args));
            assert!(error.contains(&line), "{error}");
            assert!(error.contains("x.reshape(shape)"), "{error}");
            assert!(!error.contains("strict(false)"), "{error}");
        }
    }
}

#[test]
fn a_number_is_not_restored_into_an_array_with_axes() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers");
    save_item(&path, &StandardSave::new(&(300usize,))).unwrap();
    let target = (Array::zeros(&[2], DType::U8),);
    let args = StandardRestore::new(&target).strict(false);
    let error = text(restore_item(&path, args));
    let line = "`0`: the tree has u8[2], the checkpoint has i64";
    assert!(error.contains(line), "{error}");
}

#[test]
fn an_array_with_axes_is_not_a_number() {
    devices_8();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let state = State::from_iter([("x", ramp(&[3], DType::F32))]);
    save_item(&path, &PyTreeSave::new(&state)).unwrap();
    for name in ["_RAMIE_MANIFEST", "commit_success.txt"] {
        std::fs::remove_file(path.join(name)).unwrap();
    }
    let tree = path.join("_METADATA");
    let sound = std::fs::read_to_string(&tree).unwrap();
    let damaged = sound.replace("\"jax.Array\"", "\"scalar\"");
    assert_ne!(damaged, sound);
    std::fs::write(&tree, damaged).unwrap();
    let target = State::from_iter([("x", ramp(&[3], DType::BF16))]);
    let expected = "x/.zarray: the array has the shape [3], but _METADATA lists it as a number";
    for error in [
        text(restore_item(&path, PyTreeRestore::new(&target))),
        text(restore_item(&path, PyTreeRestore::state())),
        text(restore_item(&path, DictRestore)),
        text(metadata(&path)),
    ] {
        assert!(error.contains(expected), "{error}");
    }
}
