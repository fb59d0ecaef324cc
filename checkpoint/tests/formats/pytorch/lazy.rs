//! Tensors whose conjugation or negation PyTorch has not applied to the stored elements.

use super::{legacy, name, open, said};

/// A file with a tensor of shorts, with these pickled arguments after the hooks.
fn shorts(function: &str, rest: &[u8]) -> Vec<u8> {
    let storage = [6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0];
    let object = [
        b"}U\x01w".to_vec(),
        name("torch._utils", function),
        b"((U\x07storage".to_vec(),
        name("torch", "ShortStorage"),
        b"U\x010U\x03cpuK\x06NtQK\x00(K\x02K\x03t(K\x03K\x01t\x89}".to_vec(),
        rest.to_vec(),
        b"tRs".to_vec(),
    ];
    legacy(&object.concat(), b"]U\x010a", &storage)
}

#[test]
fn lazy_tensors_are_refused() {
    let dtype = name("torch", "int16");
    let versions = [
        ("_rebuild_tensor_v2", &b""[..]),
        ("_rebuild_tensor_v3", dtype.as_slice()),
    ];
    for (function, dtype) in versions {
        let file = |metadata: &[u8]| shorts(function, &[dtype, metadata].concat());
        for metadata in [
            &b"}U\x04conj\x88s"[..],
            b"}U\x03neg\x88s",
            b"}U\x04conj\x89sU\x03neg\x88s",
        ] {
            let text = said(&file(metadata));
            let expected = "tensor `w`: is the conjugate or the negative of the stored elements, \
                            which is not supported\n  help: in Python, save \
                            `tensor.resolve_conj().resolve_neg()`";
            assert_eq!(text, expected, "{function}");
        }
        for metadata in [
            &b""[..],
            b"N",
            b"}",
            b"}U\x04conj\x89s",
            b"}U\x05other\x88s",
        ] {
            let array = open(&file(metadata)).unwrap().array("w").unwrap();
            assert_eq!(array.to_vec::<i16>(), [0, 1, 2, 3, 4, 5], "{function}");
        }
        let text = said(&file(b"K\x01"));
        assert!(text.contains("wrong arguments"), "{function}: {text}");
    }
}
