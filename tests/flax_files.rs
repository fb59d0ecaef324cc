//! A file that Flax wrote of a model's variables, read and computed with as it
//! is; `tests/golden/flax_files.py` made it.

use ramie::checkpoint::serialization::{self, StateDict, msgpack_restore};
use ramie::nn::linen::{
    BatchNorm, Conv, Dense, LayerNorm, Module, MultiHeadDotProductAttention, Scope, Variables,
};
use ramie::{Array, State, Tree, random};

#[derive(Clone)]
struct Model {
    train: bool,
}

impl Module for Model {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.child(&Conv::new(4, [3, 3]), x);
        let norm = BatchNorm::new().use_running_average(!self.train);
        let x = scope.child(&norm, x).relu();
        let x = x.reshape(&[x.shape()[0], x.shape()[1] * x.shape()[2], 4]);
        let h: Array = scope.child(&LayerNorm::new(), x.clone());
        let attention = MultiHeadDotProductAttention::new(2);
        let x = x + scope.named::<_, _, Array>("attention", &attention, h);
        scope.named("out", &Dense::new(3), x.mean_over(1))
    }
}

/// What is in the file.
#[derive(Tree)]
struct Content {
    variables: Variables,
    x: Array,
    y: Array,
}

fn file() -> Vec<u8> {
    ramie_testing::golden::bytes("flax_model.msgpack")
}

/// The model's own first variables, in the place of those of the file.
fn content() -> Content {
    let x = Array::zeros(&[2, 4, 4, 1], ramie::DType::F32);
    let variables = Model { train: true }.init(random::key(7), x.clone());
    Content {
        variables,
        x,
        y: Array::zeros(&[2, 3], ramie::DType::F32),
    }
}

#[test]
fn a_file_of_flax_loads_unchanged() {
    let mut content = content();
    serialization::from_bytes(&mut content, &file()).expect("the same names and shapes");
    let model = Model { train: false };
    let y = model.apply(&content.variables, content.x.clone());
    for (a, b) in y.to_vec::<f32>().iter().zip(content.y.to_vec::<f32>()) {
        assert!(
            (a - b).abs() <= 1e-5 * b.abs().max(1.0),
            "{a} instead of {b}"
        );
    }
    // And what is written is what Flax would read: the same dictionaries.
    let written = serialization::to_bytes(&content).expect("arrays in memory");
    let paths = |bytes: &[u8]| {
        let mut paths = Vec::new();
        collect("", &msgpack_restore(bytes).expect("msgpack"), &mut paths);
        paths.sort();
        paths
    };
    assert_eq!(paths(&written), paths(&file()));
    assert_eq!(written.len(), file().len());
}

/// The paths of what a state dict holds.
fn collect(path: &str, node: &StateDict, paths: &mut Vec<String>) {
    match node {
        StateDict::Dict(entries) => {
            for (name, node) in entries {
                collect(&format!("{path}/{name}"), node, paths);
            }
        }
        _ => paths.push(path.to_owned()),
    }
}

#[test]
fn a_file_of_another_model_is_refused_by_path() {
    let mut content = content();
    let mut params: State = content.variables.params();
    params.remove("out.kernel");
    params.insert("out.weight", Array::zeros(&[4, 3], ramie::DType::F32));
    content.variables.set("params", params);
    let error = serialization::from_bytes(&mut content, &file()).expect_err("another model");
    let message = error.to_string();
    assert!(
        message.contains("out") && message.contains("weight"),
        "{message}"
    );
}
