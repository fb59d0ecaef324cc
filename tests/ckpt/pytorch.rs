//! PyTorch files.

use super::{compute, golden, has_all, lines, look, shown};
use ramie::checkpoint::serialization::{self, StateDict};
use std::fs;

#[test]
fn pytorch_files_are_shown_and_converted() {
    for name in ["archive.pt", "legacy.pth"] {
        let path = golden(&format!("pytorch/{name}"));
        let (code, out, err) = look(&["inspect", &path, "--largest", "1"]);
        assert_eq!((code, err.as_str()), (0, ""));
        let all = lines(&out);
        for line in [
            "format PyTorch",
            "parameters 62 in 25 arrays",
            "c128 1 2 32 B",
            "state_dict.c128 c128[2] 32 B",
        ] {
            assert!(all.iter().any(|l| l == line), "{line}: {out}");
        }
        let (code, out, _) = look(&["ckpt", "show", &path]);
        assert_eq!(code, 0);
        let all = lines(&out);
        for line in [
            "epoch 3",
            "state_dict.transposed f32[3,2] 24 B",
            "optimizer.param_groups.0.lr 0.001",
            "name 'naïve'",
            "nothing empty dictionary",
        ] {
            assert!(all.iter().any(|l| l == line), "{line}: {out}");
        }
        let (code, out, _) = look(&["ckpt", "verify", &path]);
        assert_eq!(code, 0);
        assert!(out.contains(": readable, "), "{out}");
        let row = ["ckpt", "show", &path, "--values", "state_dict.row"];
        let (code, out, err) = compute(&row);
        assert_eq!((code, err.as_str()), (0, ""));
        has_all(&out, &["3.5", "4.5", "5.5"]);

        let folder = tempfile::tempdir().unwrap();
        // Safetensors has no `c128`.
        let to = shown(&folder.path().join("model.msgpack"));
        let (code, _, err) = compute(&["ckpt", "convert", &path, &to]);
        assert_eq!((code, err.as_str()), (0, ""));
        let dict = serialization::load(&to).unwrap();
        let row = &dict.arrays()["state_dict.row"];
        assert_eq!(row.to_vec::<f32>(), [3.5, 4.5, 5.5]);
        assert!(matches!(dict.get("name"), Some(StateDict::Str(name)) if name == "naïve"));
        // Cut short, it is named.
        let half = folder.path().join("half.pt");
        let bytes = fs::read(&path).unwrap();
        fs::write(&half, &bytes[..bytes.len() / 2]).unwrap();
        let (code, _, err) = look(&["inspect", &shown(&half)]);
        assert_eq!(code, 1);
        has_all(&err, &[&shown(&half), "truncated", "\n  help: "]);
    }
}
