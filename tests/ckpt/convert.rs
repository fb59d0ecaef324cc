//! `ramie ckpt convert` between trees of Orbax and of Flax.

use super::{compute, golden, has_all, run, shown};
use ramie::checkpoint::commit::{restore_item, save_item};
use ramie::checkpoint::pytree::{PartMetadata, StandardRestore, StandardSave, metadata};
use std::fs;
use std::process::Command;

/// Nodes without parts, numbers and texts go from Orbax to Flax and back.
#[test]
fn convert_keeps_all_that_a_format_has() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| shown(&folder.path().join(name));
    let (orbax, flax) = (golden("convert/orbax"), golden("convert/state.msgpack"));
    let convert = |from: &str, to: &str| {
        let (code, out, err) = compute(&["ckpt", "convert", from, to]);
        assert_eq!((code, err.as_str()), (0, ""));
        // Arrays and numbers: lr, step, and those of the optimizer.
        assert_eq!(out, format!("{to}: 10 arrays\n"));
    };
    convert(&orbax, &at("a.msgpack"));
    assert_eq!(fs::read(at("a.msgpack")).unwrap(), fs::read(&flax).unwrap());
    convert(&flax, &at("tree"));
    convert(&at("tree"), &at("b.msgpack"));
    assert_eq!(fs::read(at("b.msgpack")).unwrap(), fs::read(&flax).unwrap());
    // The parts have the names and kinds of Orbax, where it cannot tell empty ones apart.
    let parts = |path: &str| -> Vec<String> {
        let show = |part: &PartMetadata| {
            if part.kind.is_empty() {
                format!("{} empty", part.path.as_python())
            } else {
                format!("{} {}", part.path.as_python(), part.kind.name())
            }
        };
        metadata(path).unwrap().parts.iter().map(show).collect()
    };
    assert_eq!(parts(&at("tree")), parts(&orbax));
    // The library keeps empty parts, too, and numbers as arrays.
    let state = restore_item(&orbax, StandardRestore::state()).unwrap();
    save_item(at("again"), &StandardSave::new(&state)).unwrap();
    let again: Vec<String> = parts(&orbax)
        .iter()
        .filter(|part| !part.ends_with("string"))
        .map(|part| part.replace("scalar", "jax.Array"))
        .collect();
    assert_eq!(parts(&at("again")), again);
    // What a format does not have is named.
    let (code, _, err) = compute(&["ckpt", "convert", &orbax, &at("w.safetensors")]);
    assert_eq!(code, 0);
    for path in ["`empty`", "`note`", "`opt.0`"] {
        has_all(
            &err,
            &[&format!("{path} is omitted: safetensors does not support ")],
        );
    }
}

/// Flax and Orbax restore the states of optimizers that were converted. Runs where
/// `RAMIE_ORBAX_PYTHON` names a Python with the packages of `tests/golden`.
#[test]
fn others_restore_what_was_converted() {
    let Some(python) = std::env::var_os("RAMIE_ORBAX_PYTHON") else {
        println!("skipped: RAMIE_ORBAX_PYTHON names no Python with Orbax, Flax and Optax");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = |what: &str| {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/golden/convert_interop.py"
        );
        let mut command = Command::new(&python);
        let (code, out, err) = run(command.args([path, what]).arg(folder.path()));
        assert_eq!(code, 0, "{out}{err}");
        out
    };
    let names = script("write");
    let at = |name: String| shown(&folder.path().join(name));
    for name in names.split_whitespace() {
        for (from, to) in [
            (at(name.into()), at(format!("{name}_from_orbax.msgpack"))),
            (
                at(format!("{name}.msgpack")),
                at(format!("{name}_from_flax")),
            ),
        ] {
            let (code, _, err) = compute(&["ckpt", "convert", &from, &to]);
            assert_eq!((code, err.as_str()), (0, ""), "{name}");
        }
    }
    script("check");
}
