//! Train steps compiled for hardware that is not there, where its plugin is.

use ramie::aot::{CompiledFor, Target, compile_module};
use ramie::export::export;
use ramie::lax::scan;
use ramie::models::{Gpt2, Gpt2Config, ResNet, ResNetConfig};
use ramie::nn::{Optimizer, Rngs, value_and_grad};
use ramie::optim::{adamw, sgd, softmax_cross_entropy_with_integer_labels};
use ramie::stages::Lowered;
use ramie::{Array, DType, NamedSharding, P, Platform, Tree, debug, jit, make_mesh, tree};
use ramie_testing::{cpu_devices, targets::installed};

const TARGETS: [&str; 2] = ["tpu:v5e:2x4", "cuda:h200"];

/// The targets whose plugin is installed, once there are 8 devices.
fn targets(names: &[&str]) -> Vec<Target> {
    cpu_devices(8);
    installed(names)
}

/// What a step changes.
#[derive(Tree)]
struct Trainer<M: Tree> {
    model: M,
    optimizer: Optimizer,
}

/// Compiles a step for the targets, and checks that its state is in their memory once.
fn compiled<M: Tree, A: Tree, R: Tree>(
    trainer: &Trainer<M>,
    lowered: &Lowered<Trainer<M>, A, R>,
    targets: &[Target],
) -> Vec<CompiledFor> {
    let state: usize = tree::leaves(trainer).iter().map(Array::nbytes).sum();
    let check = |target: &Target| {
        let compiled = lowered.compile_for(target).unwrap();
        println!("{compiled}");
        assert_eq!((compiled.target(), compiled.devices()), (target, 1));
        let memory = compiled.memory_analysis().unwrap();
        assert!(memory.argument as usize >= state, "{memory:?}, {state}");
        // The state is donated: its new values take over the memory of the old ones.
        assert!(memory.alias as usize >= state, "{memory:?}, {state}");
        assert!(memory.temp > 0, "{memory:?}");
        assert_eq!(compiled.collectives().unwrap(), []);
        compiled
    };
    targets.iter().map(check).collect()
}

fn check_flops(compiled: &[CompiledFor], expected: f64) {
    for c in compiled {
        let part = c.flops().unwrap() / expected;
        assert!((0.7..1.4).contains(&part), "{c}\n{part} of {expected:e}");
    }
}

fn cross_entropy(logits: &Array, labels: &Array) -> Array {
    softmax_cross_entropy_with_integer_labels(logits, labels).mean()
}

#[test]
fn a_step_of_a_decoder() {
    let targets = targets(&TARGETS);
    let (batch, length, width, vocabulary) = (8, 128, 128, 256);
    let mut config = Gpt2Config::default();
    (config.vocab_size, config.n_positions, config.n_embd) = (vocabulary, length, width);
    (config.n_layer, config.n_head) = (1, 4);
    (config.resid_pdrop, config.embd_pdrop, config.attn_pdrop) = (0.0, 0.0, 0.0);
    let model = Gpt2::new(&config, &mut Rngs::new(0));
    let optimizer = Optimizer::new(&model, adamw(1e-3));
    let trainer = Trainer { model, optimizer };
    let step = jit(|t: &mut Trainer<Gpt2>, x: Array, y: Array| {
        let loss = |m: &mut Gpt2| cross_entropy(&m.forward(&x), &y);
        let (value, grads) = value_and_grad(&mut t.model, loss);
        t.optimizer.update(&mut t.model, grads);
        value
    });
    let tokens = Array::shape_dtype_struct(&[batch, length], DType::I32);
    let lowered = step.lower_with(&trainer, (tokens.clone(), tokens)).unwrap();
    let compiled = compiled(&trainer, &lowered, &targets);
    // Two operations a weight and token forward, four backward; and attention.
    let weights = 12 * width * width + vocabulary * width;
    let attention = 2 * 2 * length * width;
    check_flops(
        &compiled,
        (3 * batch * length * (2 * weights + attention)) as f64,
    );
}

#[test]
fn a_step_of_a_convolutional_network() {
    let targets = targets(&TARGETS);
    let config = ResNetConfig {
        stages: vec![1],
        ..ResNetConfig::default()
    };
    let model = ResNet::new(&config, &mut Rngs::new(0));
    let optimizer = Optimizer::new(&model, sgd(1e-3));
    let trainer = Trainer { model, optimizer };
    let step = jit(|t: &mut Trainer<ResNet>, x: Array, y: Array| {
        let loss = |m: &mut ResNet| cross_entropy(&m.forward(&x), &y);
        let (value, grads) = value_and_grad(&mut t.model, loss);
        t.optimizer.update(&mut t.model, grads);
        value
    });
    let images = Array::shape_dtype_struct(&[32, 32, 32, 3], DType::F32);
    let labels = Array::shape_dtype_struct(&[32], DType::I32);
    let lowered = step.lower_with(&trainer, (images, labels)).unwrap();
    let compiled = compiled(&trainer, &lowered, &targets);
    // Of the first convolution the gradient of the images is not wanted.
    let of_pixel = 3 * 3 * 16 * (2 * 3 + 2 * 3 * 16);
    check_flops(&compiled, (2 * 32 * 32 * 32 * of_pixel) as f64);
}

/// A step of descent on the squares of `x · w`.
fn squares(w: Array, x: Array) -> Array {
    let loss = |w: Array| x.matmul(&w).square().sum();
    let slope = ramie::grad(loss)(w.clone());
    w - slope * 1e-3
}

#[test]
fn a_step_whose_batch_is_sharded() {
    let targets = targets(&["tpu:v5e:2x4", "cuda:h200", "cuda:h200:16"]);
    let mesh = make_mesh(&[8], &["data"]).unwrap();
    let on = |shape: &[usize], spec| {
        Array::shape_dtype_struct_with(shape, DType::F32, NamedSharding::new(mesh, spec))
    };
    let (w, x) = (on(&[256, 64], P![]), on(&[1024, 256], P!["data"]));
    let lowered = jit(squares).lower((w, x)).unwrap();
    for target in &targets {
        let compiled = lowered.compile_for(target).unwrap();
        println!("{compiled}");
        assert_eq!(compiled.devices(), 8);
        // Gradients are added up over the devices.
        let collectives = compiled.collectives().unwrap();
        let [sums] = &collectives[..] else {
            panic!("{collectives:?}");
        };
        assert_eq!((&*sums.kind, sums.bytes), ("all-reduce", 256 * 64 * 4));
        let memory = compiled.memory_analysis().unwrap();
        assert!(
            memory.argument < 2 * 4 * (256 * 64 + 1024 / 8 * 256),
            "{memory:?}"
        );
        check_flops(&[compiled], (2 * 2 * 1024 / 8 * 256 * 64) as f64);
    }
    for few in ["tpu:v5e:2x2", "cuda:h200:4"] {
        let target: Target = few.parse().unwrap();
        if targets.iter().any(|t| t.platform() == target.platform()) {
            let error = lowered.compile_for(&target).unwrap_err().to_string();
            let expected =
                format!("`squares` needs 8 devices, but {few} has 4\n  help: use a target");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}

/// On CPUs the gradient of a recurrent layer's weights is one product over all steps.
#[test]
fn operations_are_lowered_for_the_target() {
    let targets = targets(&TARGETS);
    let last = |(w, inputs): (Array, Array)| {
        let step = |h: Array, x: Array| ((h.dot(&w) + x).tanh(), ());
        scan(step, Array::ones(&[32, 128], DType::F32), inputs)
            .0
            .sum()
    };
    let slope = jit(move |args: (Array, Array)| ramie::grad(last)(args).0);
    let args = [vec![128, 128], vec![64, 32, 128]];
    let [w, inputs] = args.map(|shape| Array::shape_dtype_struct(&shape, DType::F32));
    let lowered = slope.lower(((w, inputs),)).unwrap();
    assert!(lowered.as_text().contains("tensor<2048x128xf32>"));
    for target in targets.iter().filter(|t| t.platform() == Platform::Tpu) {
        let text = lowered.compile_for(target).unwrap().as_text().unwrap();
        assert!(!text.contains("f32[2048,128]"), "{text}");
    }
}

#[test]
fn programs_from_files() {
    let shapes = [[128, 256], [256, 64]].map(|s| Array::shape_dtype_struct(&s, DType::F32));
    let [x, w] = shapes;
    let product = jit(|x: Array, w: Array| x.matmul(&w));
    for target in targets(&TARGETS) {
        let lowered = product.lower((x.clone(), w.clone())).unwrap();
        let text = compile_module("product", lowered.as_text().as_bytes(), &target).unwrap();
        let exported = export(&product, (x.clone(), w.clone())).unwrap();
        let exported = exported.compile_for(&target).unwrap();
        for compiled in [text, exported] {
            assert_eq!(compiled.flops().unwrap(), 2.0 * 128.0 * 256.0 * 64.0);
            assert!(compiled.as_text().unwrap().starts_with("HloModule"));
            assert!(!compiled.executable().serialize().unwrap().is_empty());
        }
        let error = compile_module("damaged", b"module {", &target).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("compiling `damaged` failed: "), "{error}");
    }
}

#[test]
fn callbacks_are_refused() {
    let _ = targets(&[]);
    let loud = jit(|x: Array| {
        debug::print("x = {}", &[&x]);
        x
    });
    let lowered = loud.lower((Array::from(1.0f32),)).unwrap();
    let error = lowered.compile_for(&"cuda:h200".parse().unwrap());
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("calls functions of this process, which are not available on cuda:h200"),
        "{error}"
    );
}
