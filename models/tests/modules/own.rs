//! A model of a user, which loads and saves files by the one method of `Pretrained`.

use ramie_core::{Array, DType, State};
use ramie_models::{Pretrained, PretrainedError, Weights};
use ramie_nn::nnx::{self, of_type};
use ramie_nn::{Linear, LinearGeneral, LoraParam, Module, Param, Rngs, apply_lora};
use ramie_testing::panic_message;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Module)]
struct Classifier {
    hidden: Linear,
    out: Linear,
}

impl Pretrained for Classifier {
    type Config = [usize; 3];

    fn new([inputs, hidden, classes]: &[usize; 3], rngs: &mut Rngs) -> Classifier {
        Classifier {
            hidden: Linear::new(*inputs, *hidden, rngs),
            out: Linear::new(*hidden, *classes, rngs),
        }
    }

    fn exchange(&mut self, weights: &mut Weights) -> Result<(), PretrainedError> {
        weights.linear("fc1", &mut self.hidden)?;
        weights.linear("fc2", &mut self.out)
    }
}

const SIZES: [usize; 3] = [4, 3, 2];

/// A file with the tensors of the model, whose weights are `[outputs, inputs]`.
fn tensors() -> State {
    let range = |shape: &[usize]| {
        let size = shape.iter().product::<usize>();
        Array::arange(size).astype(DType::F32).reshape(shape)
    };
    [
        ("fc1.weight", range(&[3, 4])),
        ("fc1.bias", range(&[3])),
        ("fc2.weight", range(&[2, 3])),
        ("fc2.bias", range(&[2])),
    ]
    .map(|(name, array)| (name.to_owned(), array))
    .into_iter()
    .collect()
}

fn written(folder: &Path, tensors: &State) -> PathBuf {
    let file = folder.join("model.safetensors");
    ramie_checkpoint::save(&file, tensors).expect("saved");
    file
}

#[test]
fn one_method_loads_and_saves_a_file() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = written(folder.path(), &tensors());
    let model = Classifier::from_weights(&file, &SIZES).expect("loads");
    let x = Array::ones(&[1, 4], DType::F32);
    // The sums of the rows, and the biases.
    let hidden = model.hidden.forward(&x);
    assert_eq!(hidden.to_vec::<f32>(), [6.0, 23.0, 40.0]);
    let out = model.out.forward(&hidden).to_vec::<f32>();
    assert_eq!(out, [103.0, 311.0]);
    let mut other = Classifier::new(&SIZES, &mut Rngs::new(1));
    other.load_pretrained(&file).expect("loads");
    assert_eq!(other.out.forward(&hidden).to_vec::<f32>(), out);

    let again = folder.path().join("again.safetensors");
    other.save_weights(&again).expect("saved");
    let again = ramie_checkpoint::load_state(&again).expect("read");
    for (name, array) in tensors().iter() {
        assert_eq!(again[name].shape(), array.shape(), "{name}");
        assert_eq!(again[name].to_vec::<f32>(), array.to_vec::<f32>(), "{name}");
    }
}

#[test]
fn files_that_do_not_fit_are_explained() {
    let folder = tempfile::tempdir().expect("a directory");
    let error = |change: &dyn Fn(&mut State)| {
        let mut state = tensors();
        change(&mut state);
        let file = written(folder.path(), &state);
        let text = Classifier::from_weights(&file, &SIZES)
            .expect_err("it does not fit")
            .to_string();
        assert!(text.starts_with(&format!("{}: ", file.display())), "{text}");
        assert!(text.contains("\n  help: "), "{text}");
        text
    };
    let text = error(&|state| drop(state.remove("fc2.bias")));
    assert!(
        text.contains("the tensor `fc2.bias` is missing; existing tensors: `fc2.weight`"),
        "{text}"
    );
    let text = error(&|state| drop(state.insert("fc1.weight", Array::zeros(&[4, 3], DType::F32))));
    assert!(
        text.contains("the tensor `fc1.weight` has shape [4, 3], expected [3, 4]"),
        "{text}"
    );
    let text = error(&|state| drop(state.insert("fc3.bias", Array::zeros(&[1], DType::F32))));
    assert!(
        text.contains("the model has no parameters for `fc3.bias`"),
        "{text}"
    );
}

#[test]
fn adapters_of_any_model_are_exchanged() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut model = Classifier::new(&SIZES, &mut Rngs::new(0));
    let text = panic_message(|| model.save_adapter(folder.path()));
    assert!(
        text.contains("Classifier::save_adapter: the model has no LoRA adapters"),
        "{text}"
    );
    apply_lora(&mut model, 2, |path| path == "out", &mut Rngs::new(1));
    let text = panic_message(|| model.save_weights(folder.path().join("model.safetensors")));
    assert!(
        text.contains("Classifier::save_weights: the model has LoRA adapters, such as `out.lora"),
        "{text}"
    );
    model.save_adapter(folder.path()).expect("saved");
    let mut other = Classifier::new(&SIZES, &mut Rngs::new(0));
    other.load_adapter(folder.path()).expect("loads");
    let adapters = |model: &Classifier| nnx::state(model, of_type::<LoraParam>());
    let (own, read) = (adapters(&model), adapters(&other));
    assert_eq!(
        read["out.lora.lora_a"].to_vec::<f32>(),
        own["out.lora.lora_a"].to_vec::<f32>()
    );
    assert_eq!(read.paths().count(), 2);
}

/// Queries and keys in one tensor, in either order of its axes.
#[derive(Clone, Debug, Module)]
struct Joined {
    query: LinearGeneral,
    key: LinearGeneral,
    inputs_first: bool,
}

impl Pretrained for Joined {
    type Config = bool;

    fn new(inputs_first: &bool, rngs: &mut Rngs) -> Joined {
        let layer = LinearGeneral::features([2, 2]).without_bias();
        Joined {
            query: layer.build(3, rngs),
            key: layer.build(3, rngs),
            inputs_first: *inputs_first,
        }
    }

    fn exchange(&mut self, weights: &mut Weights) -> Result<(), PretrainedError> {
        if self.inputs_first {
            weights.inputs_first();
        }
        weights.side_by_side("qk", vec![&mut self.query, &mut self.key])
    }
}

#[test]
fn layers_in_one_tensor_have_either_order_of_axes() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut odd = Joined::new(&true, &mut Rngs::new(0));
    odd.key.bias = Some(Param::new(Array::zeros(&[2, 2], DType::F32)));
    let text = panic_message(|| odd.save_weights(folder.path().join("odd.safetensors")));
    assert!(
        text.contains("Weights::side_by_side: 1 of the 2 layers of `qk` have a bias"),
        "{text}"
    );
    for (inputs_first, shape) in [(true, [3, 8]), (false, [8, 3])] {
        let file = folder.path().join("model.safetensors");
        let model = Joined::new(&inputs_first, &mut Rngs::new(0));
        model.save_weights(&file).expect("saved");
        let state = ramie_checkpoint::load_state(&file).expect("read");
        assert_eq!(state["qk.weight"].shape(), shape);
        let loaded = Joined::from_weights(&file, &inputs_first).expect("loads");
        let kernels = |model: &Joined| {
            let params = nnx::state(model, of_type::<Param>());
            ["query.kernel", "key.kernel"].map(|path| params[path].to_vec::<f32>())
        };
        assert_eq!(kernels(&loaded), kernels(&model));
    }
}
