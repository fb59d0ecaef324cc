//! ONNX's node tests, and models that tests put together.

#[allow(dead_code)]
pub mod message;

use flate2::read::GzDecoder;
use ramie_testing::golden;
use std::io::Read;

/// A test of ONNX for an operator.
pub struct NodeTest {
    pub name: String,
    pub model: Vec<u8>,
    /// Tensors, each as the bytes of a file.
    pub inputs: Vec<Vec<u8>>,
    pub outputs: Vec<Vec<u8>>,
}

/// Reads all tests, which `tests/golden/onnx_nodes.py` packed.
pub fn node_tests() -> Vec<NodeTest> {
    let mut bytes = Vec::new();
    let packed = golden::bytes("onnx/nodes.bin.gz");
    GzDecoder::new(&packed[..])
        .read_to_end(&mut bytes)
        .expect("a gzip file");
    let mut rest = &bytes[..];
    let mut block = || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (data, after) = after.split_at(u32::from_le_bytes(*length) as usize);
        rest = after;
        Some(data.to_vec())
    };
    let mut tests = Vec::new();
    while let Some(name) = block() {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        let model = block().expect("a model");
        let mut count = || {
            text(block().expect("a number"))
                .parse::<usize>()
                .expect("a number")
        };
        let (inputs, outputs) = (count(), count());
        let mut blocks = |n: usize| (0..n).map(|_| block().expect("a tensor")).collect();
        tests.push(NodeTest {
            name: text(name),
            model,
            inputs: blocks(inputs),
            outputs: blocks(outputs),
        });
    }
    tests
}
