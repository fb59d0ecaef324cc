//! Parts in parts, which the stack must not follow without a limit.

use ramie_checkpoint::serialization::{load_abstract, msgpack_restore};

fn error(bytes: &[u8]) -> String {
    msgpack_restore(bytes).unwrap_err().to_string()
}

#[test]
fn the_depth_of_lists_is_limited() {
    let deep = [b"\x91".repeat(300), b"\x01".to_vec()].concat();
    let text = error(&deep);
    assert!(
        text.contains("parts are nested more than 256 deep"),
        "{text}"
    );
}

/// Returns complex numbers whose real parts are complex numbers, `depth` deep. The imaginary parts
/// are 1, and so is the innermost real part.
fn nested_complex(depth: u32) -> Vec<u8> {
    const HEAD: u32 = 7;
    let mut bytes = Vec::new();
    for inner in (0..depth).rev() {
        // The list of two parts, the inner numbers, and the imaginary part.
        let length = 1 + (HEAD + 1) * inner + 1 + 1;
        bytes.push(0xc9);
        bytes.extend(length.to_be_bytes());
        bytes.extend(b"\x02\x92");
    }
    bytes.extend(vec![1; depth as usize + 1]);
    bytes
}

/// The parser of an extension had a depth of its own, so a file of 800 kB overflowed the stack.
#[test]
fn complex_numbers_are_not_nested() {
    assert!(msgpack_restore(&nested_complex(1)).is_ok());
    let expected = "state dict: expected a part of a complex number, got Ext32";
    for depth in [100_000, 2] {
        let bytes = nested_complex(depth);
        let text = error(&bytes);
        assert!(text.starts_with(expected), "{text}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nested");
        std::fs::write(&path, &bytes).unwrap();
        let text = load_abstract(&path).unwrap_err().to_string();
        assert!(text.contains("expected a part of a complex"), "{text}");
    }
    let list = error(b"\xd7\x02\x92\x91\x01\x01\0\0\0\0");
    assert!(list.contains("a complex number, got FixArray(1)"), "{list}");
}
