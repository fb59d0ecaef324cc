//! ONNX's own tests of operators: values equal those of the reference implementation.
//!
//! The tests run in programs of many nodes each, because most of the time is compilation.

mod common;

use common::{NodeTest, node_tests};
use ramie_core::{Array, DType, State, jit};
use ramie_onnx::{Model, OnnxFile, TensorInfo, tensor_from_bytes};
use ramie_testing::check::on_all_cores;
use ramie_testing::numbers::{close, to_f64};
use ramie_testing::panics::caught;
use std::collections::BTreeMap;

/// Number of tests in one program.
const GROUP: usize = 24;

/// Number of tests that apply: Ramie supports all of their operators.
const APPLICABLE: usize = 1054;

/// Tests that do not apply, by the operator that is not supported or by another reason.
const LEFT_OUT: [(&str, usize); 40] = [
    ("AffineGrid", 4),
    ("Bernoulli", 3),
    ("BlackmanWindow", 2),
    ("Cast", 2),
    ("Col2Im", 5),
    ("Compress", 4),
    ("DFT", 6),
    ("DeformConv", 4),
    ("GridSample", 18),
    ("HammingWindow", 2),
    ("HannWindow", 2),
    ("ImageDecoder", 9),
    ("Loop", 3),
    ("MaxPool", 2),
    ("MaxUnpool", 2),
    ("MelWeightMatrix", 1),
    ("NonMaxSuppression", 9),
    ("OptionalGetElement", 1),
    ("OptionalHasElement", 4),
    ("RandomUniformLike", 3),
    ("RegexFullMatch", 3),
    ("RoiAlign", 3),
    ("STFT", 2),
    ("Scan", 2),
    ("StringConcat", 5),
    ("StringNormalizer", 6),
    ("StringSplit", 6),
    ("TfIdfVectorizer", 7),
    ("Unique", 5),
    ("ai.onnx.ml.ArrayFeatureExtractor", 1),
    ("ai.onnx.ml.Binarizer", 1),
    ("ai.onnx.ml.LabelEncoder", 4),
    ("ai.onnx.ml.TreeEnsemble", 2),
    ("ai.onnx.preview.training.Adagrad", 2),
    ("ai.onnx.preview.training.Adam", 2),
    ("ai.onnx.preview.training.Momentum", 3),
    (OLD, 22),
    (NOT_NUMBERS, 6),
    (RANDOM, 4),
    (WRAPPED, 4),
];

/// Part of the error for versions 1 to 6 of ONNX's operators.
const OLD: &str = "of ONNX's operators";

/// Part of the error for strings.
const NOT_NUMBERS: &str = "only tensors of numbers are supported";

/// Tests that Ramie does not pass, with the reason.
const EXCLUDED: [(&str, &str); 8] = [
    ("test_training_dropout", RANDOM),
    ("test_training_dropout_default", RANDOM),
    ("test_training_dropout_default_mask", RANDOM),
    ("test_training_dropout_mask", RANDOM),
    ("test_qlinearmatmul_2D_int8_float16", WRAPPED),
    ("test_qlinearmatmul_2D_int8_float32", WRAPPED),
    ("test_qlinearmatmul_3D_int8_float16", WRAPPED),
    ("test_qlinearmatmul_3D_int8_float32", WRAPPED),
];

/// The results are random numbers of NumPy.
const RANDOM: &str = "random numbers";

/// The specification requires saturation.
const WRAPPED: &str = "recorded numbers that wrap";

/// A test whose operators are supported.
struct Case {
    name: String,
    model: Model,
    weights: State,
    inputs: Vec<Array>,
    outputs: Vec<Array>,
}

impl Case {
    fn new(test: &NodeTest, model: Model) -> Result<Case, String> {
        let read = |tensors: &[Vec<u8>], infos: &[TensorInfo]| {
            let pairs = tensors.iter().zip(infos);
            let arrays = pairs.map(|(bytes, info)| {
                let array = tensor_from_bytes(bytes.clone())?;
                // The tests store `bf16` as integers with the same bits.
                Ok(match (info.dtype, array.dtype()) {
                    (Some(DType::BF16), DType::U16) => array.bitcast_convert_type(DType::BF16),
                    _ => array,
                })
            });
            arrays
                .collect::<Result<Vec<_>, _>>()
                .map_err(|e: ramie_onnx::Error| e.to_string())
        };
        let description = model.description();
        Ok(Case {
            name: test.name.clone(),
            weights: model.weights().map_err(|e| e.to_string())?,
            inputs: read(&test.inputs, &description.inputs)?,
            outputs: read(&test.outputs, &description.outputs)?,
            model,
        })
    }

    /// Whether an input must be known when the model is traced.
    fn is_static(&self, i: usize) -> bool {
        self.model.description().inputs[i].is_static
    }

    /// The inputs that a compiled program takes.
    fn arguments(&self) -> Vec<Array> {
        let all = self.inputs.iter().enumerate();
        let traced = all.filter(|(i, _)| !self.is_static(*i));
        traced.map(|(_, array)| array.clone()).collect()
    }

    fn apply(&self, arguments: Vec<Array>) -> Vec<Array> {
        let mut arguments = arguments.into_iter();
        let inputs = self.inputs.iter().enumerate().map(|(i, array)| {
            if self.is_static(i) {
                array.clone()
            } else {
                arguments.next().expect("an argument")
            }
        });
        self.model.apply(&self.weights, &inputs.collect::<Vec<_>>())
    }

    /// Compares results with those of the reference.
    fn compare(&self, got: &[Array]) -> Result<(), String> {
        if got.len() < self.outputs.len() {
            return Err(format!(
                "{} results, expected {}",
                got.len(),
                self.outputs.len()
            ));
        }
        for (i, (got, want)) in got.iter().zip(&self.outputs).enumerate() {
            let finite = to_f64(want).into_iter().filter(|x| x.is_finite());
            let scale = finite.fold(0.0, |m: f64, x| m.max(x.abs()));
            let rtol = match want.dtype() {
                // The reference truncates where Ramie rounds.
                DType::BF16 => 1.0 / 128.0,
                DType::F16 => 1e-3,
                _ => 1e-5,
            };
            close(got, want, rtol, rtol * scale, false).map_err(|e| format!("result {i} {e}"))?;
        }
        Ok(())
    }
}

/// Runs cases in one program. Returns what is wrong with each, or nothing.
fn together(cases: &[Case]) -> Vec<String> {
    let ran = caught(|| {
        let arguments: Vec<Vec<Array>> = cases.iter().map(Case::arguments).collect();
        let copies: Vec<Case> = cases.iter().map(Case::share).collect();
        let run = jit(move |arguments: Vec<Vec<Array>>| -> Vec<Vec<Array>> {
            let pairs = copies.iter().zip(arguments);
            pairs
                .map(|(case, arguments)| case.apply(arguments))
                .collect()
        });
        run(arguments)
    });
    match ran {
        Ok(results) => {
            let pairs = cases.iter().zip(&results);
            pairs
                .map(|(case, got)| case.compare(got).err().unwrap_or_default())
                .collect()
        }
        // One case took the others with it: each alone tells which.
        Err(_) if cases.len() > 1 => cases.chunks(1).flat_map(together).collect(),
        Err(message) => vec![format!("panicked: {message}")],
    }
}

impl Case {
    fn share(&self) -> Case {
        Case {
            name: self.name.clone(),
            model: self.model.clone(),
            weights: self.weights.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
        }
    }
}

/// Returns the model of a test, or why the test does not apply.
fn applicable(test: &NodeTest) -> Result<Model, String> {
    if let Some((_, reason)) = EXCLUDED.iter().find(|(name, _)| *name == test.name) {
        return Err((*reason).into());
    }
    let file = OnnxFile::from_bytes(test.model.clone()).expect("a model");
    if let Some(first) = file.unsupported().first() {
        return Err(first.operator.clone());
    }
    file.into_model().map_err(|error| {
        let error = error.to_string();
        let known = [
            "of ONNX's operators",
            "only tensors of numbers are supported",
        ];
        let known = known.into_iter().find(|part| error.contains(part));
        known.unwrap_or(&error).to_owned()
    })
}

#[test]
fn nodes_equal_the_reference() {
    let tests = node_tests();
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    let (mut cases, mut failures) = (Vec::new(), Vec::new());
    for test in &tests {
        match applicable(test).map(|model| Case::new(test, model)) {
            Ok(Ok(case)) => cases.push(case),
            Ok(Err(e)) => failures.push(format!("{}: {e}", test.name)),
            Err(reason) => *left_out.entry(reason).or_default() += 1,
        }
    }
    let groups: Vec<&[Case]> = cases.chunks(GROUP).collect();
    let notes = on_all_cores(&groups, |group| together(group));
    let notes = cases.iter().zip(notes.into_iter().flatten());
    let failed = notes.filter(|(_, note)| !note.is_empty());
    failures.extend(failed.map(|(case, note)| format!("{}: {note}", case.name)));
    println!(
        "{} of {} tests apply, {} fail",
        cases.len(),
        tests.len(),
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let left_out: Vec<(&str, usize)> = left_out.iter().map(|(k, n)| (k.as_str(), *n)).collect();
    assert_eq!(left_out, LEFT_OUT);
    assert_eq!(cases.len(), APPLICABLE);
}
