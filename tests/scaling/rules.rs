//! One model, spread over devices in several ways by rules alone.

use crate::model::{Trainer, dimensions, shardings, train_step};
use crate::{SIZES, STEPS, assert_close, batch, losses_on_one_device, mesh};
use ramie::options::JitOptions;
use ramie::sharding::{LogicalAxisRules, logical_to_mesh, set_logical_axis_rules};
use ramie::*;
use ramie_testing::is_linked;

/// Trains by these rules, and checks the losses. Returns what was trained, and the compiled step, whose text
/// shows communication if XLA partitions it: the linked backend computes on whole arrays.
fn train(what: &str, mesh: Mesh, rules: LogicalAxisRules) -> (Trainer, String) {
    let _mesh = set_mesh(mesh);
    let _rules = set_logical_axis_rules(rules);
    let options = JitOptions {
        out_shardings: Some(shardings(mesh, rules)),
        ..JitOptions::default()
    };
    let mut trainer = jit_with(|key| Trainer::new(SIZES, key), options)(random::key(0));
    let tokens = |i| device_put(&batch(i), logical_to_mesh(&P!["batch"]));
    let step = jit(train_step);
    // One program makes all steps: what it returns is laid out as what it takes.
    let lowered = step.lower_with(&trainer, (tokens(0),)).unwrap();
    let step = lowered.compile().unwrap();
    let text = step.as_text().unwrap();
    let losses: Vec<f32> = (0..STEPS)
        .map(|i| step.run_with(&mut trainer, (tokens(i),)).unwrap().item())
        .collect();
    assert_close(what, &losses, losses_on_one_device(), 1e-4);
    check_places(&trainer, mesh, rules);
    (trainer, text)
}

/// Parameters and moments are where the rules say, after training as before.
fn check_places(trainer: &Trainer, mesh: Mesh, rules: LogicalAxisRules) {
    let mut parameters = 0;
    tree::for_each_with_path(trainer, |path, _, array| {
        let spec = rules.to_mesh(&dimensions(path));
        let want = NamedSharding::new(mesh, spec).shard_shape(array.shape());
        for shard in array.addressable_shards() {
            assert_eq!(shard.data().shape(), &want[..], "{path}");
        }
        parameters += usize::from(path.starts_with("model."));
    });
    assert_eq!(parameters, 3 + 2 * 8);
}

fn bytes(trees: &impl Tree) -> (usize, Vec<usize>) {
    let mut each = vec![0; 8];
    let mut whole = 0;
    for array in tree::leaves(trees) {
        whole += array.size() * array.dtype().size();
        for (device, bytes) in array.addressable_bytes() {
            each[device.id() as usize] += bytes;
        }
    }
    (whole, each)
}

#[test]
fn data_parallel() {
    let rules = LogicalAxisRules::new().rule("batch", "data");
    let (trainer, text) = train("data parallel", mesh(&[8], &["data"]), rules);
    // Gradients are summed; parameters are everywhere and never gathered.
    assert!(
        is_linked() || text.contains("all-reduce") && !text.contains("all-gather"),
        "{text}"
    );
    let (whole, each) = bytes(&trainer.model);
    assert_eq!(each, [whole; 8]);
}

#[test]
fn fully_sharded() {
    let rules = LogicalAxisRules::new()
        .rule("batch", "data")
        .rule("embed", "data")
        .rule("norm", "data");
    let (trainer, text) = train("fully sharded", mesh(&[8], &["data"]), rules);
    assert!(is_linked() || text.contains("all-gather"), "{text}");
    let (whole, each) = bytes(&trainer.model);
    assert_eq!(each, [whole / 8; 8]);
    // Moments are sharded like their parameters; each device has the step counts.
    let (whole, each) = bytes(&trainer.optimizer);
    assert!(
        each.iter().all(|n| *n <= whole / 8 + 16),
        "{each:?} of {whole}"
    );
}

#[test]
fn tensor_parallel() {
    let rules = LogicalAxisRules::new()
        .rule("heads", "model")
        .rule("mlp", "model")
        .rule("vocab", "model");
    let (_, text) = train("tensor parallel", mesh(&[8], &["model"]), rules);
    // Sums after the second product of attention and of the MLP.
    assert!(is_linked() || text.contains("all-reduce"), "{text}");
    // Each device has one of 8 heads, and 8 of 64 hidden values.
    assert!(is_linked() || text.contains("f32[16,16,8]"), "{text}");
}

#[test]
fn fully_sharded_and_tensor_parallel() {
    let rules = LogicalAxisRules::new()
        .rule("batch", "data")
        .rule("heads", "model")
        .rule("mlp", "model")
        .rule("vocab", "model")
        .rule("position", "model")
        .rule("embed", "data")
        .rule("norm", ("data", "model"));
    let mesh = mesh(&[4, 2], &["data", "model"]);
    let (trainer, _) = train("fully sharded and tensor parallel", mesh, rules);
    let (whole, each) = bytes(&trainer.model);
    assert_eq!(each, [whole / 8; 8]);
    let (whole, each) = bytes(&trainer.optimizer);
    assert!(
        each.iter().all(|n| *n <= whole / 8 + 16),
        "{each:?} of {whole}"
    );
}

#[test]
fn sequence_parallel() {
    // Between the products that are tensor parallel, norms and sums go over
    // parts of the sequences.
    let rules = LogicalAxisRules::new()
        .rule("batch", "data")
        .rule("sequence", "model")
        .rule("heads", "model")
        .rule("mlp", "model")
        .rule("vocab", "model");
    let mesh = mesh(&[2, 4], &["data", "model"]);
    let (_, text) = train("sequence parallel", mesh, rules);
    // 8 sequences, 4 of their 16 places.
    assert!(
        is_linked() || text.contains("f32[8,4,32]") && text.contains("all-gather"),
        "{text}"
    );
}
