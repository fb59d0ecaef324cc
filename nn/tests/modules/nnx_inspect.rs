//! Models are shown, measured and looked into.

use ramie_core::{Array, DType, jit};
use ramie_nn::nnx::{self, Intermediates, Perturb, TabulateOptions, of_type};
use ramie_nn::{
    BatchNorm, BatchStat, Conv, Dropout, Embed, Intermediate, LayerNorm, Linear, Module,
    MultiHeadAttention, Param, Perturbation, RngStream, Rngs, value_and_grad,
};

use std::sync::{Arc, Mutex};

#[derive(Module)]
struct Block {
    linear: Linear,
    mean: BatchStat,
    noise: Option<RngStream>,
    kept: Intermediates,
    hidden: Perturb,
    rate: f64,
}

impl Block {
    fn new(rngs: &mut Rngs) -> Block {
        Block {
            linear: Linear::new(4, 3, rngs),
            mean: BatchStat::new(Array::zeros(&[3], DType::F32)),
            noise: None,
            kept: Intermediates::default(),
            hidden: Perturb::default(),
            rate: 0.5,
        }
    }

    fn forward(&mut self, x: &Array) -> Array {
        let y = self.hidden.apply(self.linear.forward(x));
        self.kept.sow("hidden", &y);
        self.kept.sow("hidden", &(&y * 2.0));
        let largest = || Array::from(f32::NEG_INFINITY);
        self.kept
            .sow_with("largest", &y.max(), largest, |a, b| a.maximum(b));
        y.tanh()
    }
}

#[derive(Module)]
struct Model {
    blocks: Vec<Block>,
    out: Linear,
}

impl Model {
    fn new() -> Model {
        let mut rngs = Rngs::new(0);
        let mut first = Block::new(&mut rngs);
        first.noise = Some(rngs.get("noise").fork());
        Model {
            blocks: vec![first],
            out: Linear::features(2).without_bias().build(3, &mut rngs),
        }
    }

    fn forward(&mut self, x: &Array) -> Array {
        let mut x = x.clone();
        for block in &mut self.blocks {
            x = block.forward(&x);
        }
        self.out.forward(&x)
    }
}

fn input() -> Array {
    Array::ones(&[5, 4], DType::F32)
}

#[test]
fn models_are_shown_as_text() {
    assert_eq!(
        nnx::display(&Model::new()),
        "\
Model( # BatchStat: 3 (12 B), Param: 21 (84 B), RngState: 2 (12 B)
  blocks=[ # BatchStat: 3 (12 B), Param: 15 (60 B), RngState: 2 (12 B)
    0=Block( # BatchStat: 3 (12 B), Param: 15 (60 B), RngState: 2 (12 B)
      linear=Linear( # Param: 15 (60 B)
        kernel=Param(f32[4,3]),
        bias=Param(f32[3]),
        config=[
          dot_general=None,
          dtype=None,
          promote_dtype=None,
          precision=None,
          preferred_element_type=None,
        ],
        lora=None,
      ),
      mean=BatchStat(f32[3]),
      noise=RngStream( # RngState: 2 (12 B)
        tag=\"default\",
        key=RngKey(u32[2]),
        count=RngCount(u32[]),
      ),
      kept=Intermediates(
      ),
      hidden=Perturb(
        value=None,
        making=false,
      ),
      rate=0.5,
    ),
  ],
  out=Linear( # Param: 6 (24 B)
    kernel=Param(f32[3,2]),
    bias=None,
    config=[
      dot_general=None,
      dtype=None,
      promote_dtype=None,
      precision=None,
      preferred_element_type=None,
    ],
    lora=None,
  ),
)
"
    );
    let summary = nnx::summary(&Model::new());
    assert_eq!((summary.parameters(), summary.bytes()), (21, 108));
    assert_eq!(summary.count("RngState"), 2);
    assert_eq!(
        summary.to_string(),
        "BatchStat: 3 (12 B)\nParam: 21 (84 B)\nRngState: 2 (12 B)\nTotal: 26 (108 B)"
    );
}

#[test]
fn tables_have_types_sizes_and_costs() {
    let layers = TabulateOptions::new()
        .row_filter(|row| ["Model", "Block", "Linear"].contains(&row.type_name.as_str()));
    let table = nnx::tabulate(&Model::new(), input(), layers.clone(), |m, x| m.forward(&x));
    assert_eq!(
        table,
        "                                         Model Summary
┏━━━━━━━━━━━━━━━━━┳━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┓
┃ path            ┃ type   ┃ inputs   ┃ outputs  ┃ BatchStat    ┃ Param            ┃ RngState ┃
┡━━━━━━━━━━━━━━━━━╇━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━┩
│                 │ Model  │ f32[5,4] │ f32[5,2] │ 3 (12 B)     │ 21 (84 B)        │ 2 (12 B) │
├─────────────────┼────────┼──────────┼──────────┼──────────────┼──────────────────┼──────────┤
│ blocks.0        │ Block  │          │          │ mean: f32[3] │ 15 (60 B)        │ 2 (12 B) │
│                 │        │          │          │ 3 (12 B)     │                  │          │
├─────────────────┼────────┼──────────┼──────────┼──────────────┼──────────────────┼──────────┤
│ blocks.0.linear │ Linear │ f32[5,4] │ f32[5,3] │              │ kernel: f32[4,3] │          │
│                 │        │          │          │              │ bias: f32[3]     │          │
│                 │        │          │          │              │ 15 (60 B)        │          │
├─────────────────┼────────┼──────────┼──────────┼──────────────┼──────────────────┼──────────┤
│ out             │ Linear │ f32[5,3] │ f32[5,2] │              │ kernel: f32[3,2] │          │
│                 │        │          │          │              │ 6 (24 B)         │          │
├─────────────────┼────────┼──────────┼──────────┼──────────────┼──────────────────┼──────────┤
│                 │        │          │ Total    │ 3 (12 B)     │ 21 (84 B)        │ 2 (12 B) │
└─────────────────┴────────┴──────────┴──────────┴──────────────┴──────────────────┴──────────┘

Total Parameters: 26 (108 B)
"
    );
    let top = nnx::tabulate(&Model::new(), input(), layers.depth(1), |m, x| {
        m.forward(&x)
    });
    assert!(top.contains("out") && !top.contains("blocks"), "{top}");

    let costs = TabulateOptions::new().compute_flops().compute_vjp_flops();
    let model = Linear::features(2)
        .without_bias()
        .build(3, &mut Rngs::new(0));
    let x = Array::ones(&[5, 3], DType::F32);
    let table = nnx::tabulate(&model, x, costs, |m, x| m.forward(&x));
    let row = table
        .lines()
        .find(|l| l.contains("│ Linear"))
        .expect("a row");
    let cells: Vec<&str> = row.split('│').map(str::trim).collect();
    let number = |cell: &str| cell.parse::<f64>().expect("a number of operations");
    // Two operations for each of 5 · 3 · 2 products, and for both gradients.
    assert_eq!(number(cells[5]), 60.0);
    assert!(number(cells[6]) >= 120.0, "{row}");
}

#[test]
fn values_inside_are_kept_on_request() {
    let mut model = Model::new();
    let before = jit(|m: &mut Model, x: Array| m.forward(&x));
    before(&mut model, input());
    let (y, kept) = nnx::capture(&mut model, |m| m.forward(&input()));
    let paths: Vec<&str> = kept.paths().collect();
    let expected = ["hidden.0", "hidden.1", "largest.0"].map(|p| format!("blocks.0.kept.{p}"));
    assert_eq!(paths, expected);
    assert_eq!(kept.kind(&expected[0]), Some("intermediate"));
    let (hidden, twice) = (&kept[&*expected[0]], &kept[&*expected[1]]);
    assert_eq!((hidden * 2.0).to_vec::<f32>(), twice.to_vec::<f32>());
    assert_eq!(
        kept[&*expected[2]].item::<f32>(),
        hidden.max().item::<f32>()
    );
    // The model is as it was: nothing compiles again.
    let again = before(&mut model, input());
    assert_eq!(before.compilations(), 1);
    assert_eq!(again.to_vec::<f32>().len(), y.size());

    let (_, outputs) = nnx::capture_intermediates(&mut model, |m| m.forward(&input()));
    assert_eq!(
        outputs["blocks.0.linear.__call__.0"].to_vec::<f32>(),
        hidden.to_vec::<f32>()
    );
    assert_eq!(outputs["out.__call__.0"].shape(), [5, 2]);

    // Within a gradient, and by hand.
    let ((_, kept), _) = value_and_grad(&mut model, |m| {
        let (y, kept) = nnx::capture(m, |m| m.forward(&input()));
        (y.sum(), kept)
    });
    assert_eq!(kept.len(), 3);
    model.blocks[0].kept.record();
    model.forward(&input());
    model.forward(&input());
    assert_eq!(model.blocks[0].kept.get("hidden").len(), 4);
    let some = nnx::pop(&mut model, nnx::PathContains("largest"));
    assert_eq!(some.len(), 1);
    assert_eq!(nnx::pop(&mut model, of_type::<Intermediate>()).len(), 4);
}

#[test]
fn gradients_of_values_inside() {
    let mut model = Model::new();
    nnx::init_perturbations(&mut model, |m| m.forward(&input()));
    let zeros = nnx::state(&model, of_type::<Perturbation>());
    assert_eq!(zeros["blocks.0.hidden.value"].shape(), [5, 3]);
    let grads = nnx::grad_wrt(&mut model, of_type::<Perturbation>(), |m| {
        m.forward(&input()).sum()
    });
    // The derivative of tanh, times the sum of the rows of the last kernel.
    let hidden = model.blocks[0].linear.forward(&input());
    let slope = 1.0 - hidden.tanh().square();
    let expected: Array = slope * model.out.kernel.sum_over(1);
    let got = grads["blocks.0.hidden.value"].to_vec::<f32>();
    for (g, e) in got.iter().zip(expected.to_vec::<f32>()) {
        assert!((g - e).abs() < 1e-6, "{g} {e}");
    }
    assert_eq!(nnx::state(&model, of_type::<Param>()).len(), 3);
}

#[test]
#[should_panic(expected = "because they are struct fields")]
fn parameters_are_not_popped() {
    nnx::pop(&mut Model::new(), of_type::<Param>());
}

#[test]
fn layers_report_their_calls() {
    #[derive(Module)]
    struct Net {
        embed: Embed,
        conv: Conv,
        norm: BatchNorm,
        layer_norm: LayerNorm,
        drop: Dropout,
        attention: MultiHeadAttention,
        out: Linear,
    }
    impl Net {
        fn forward(&mut self, tokens: &Array) -> Array {
            let x = self.embed.forward(tokens);
            let x = self.norm.forward(&self.conv.forward(&x));
            let x = self.drop.forward(&self.layer_norm.forward(&x));
            let x = self.attention.forward(&x);
            self.out.forward(&x)
        }
    }
    let mut rngs = Rngs::new(0);
    let net = Net {
        embed: Embed::new(10, 4, &mut rngs),
        conv: Conv::new(4, 8, [3], &mut rngs),
        norm: BatchNorm::new(8, &mut rngs),
        layer_norm: LayerNorm::new(8, &mut rngs),
        drop: Dropout::new(0.5, &mut rngs),
        attention: MultiHeadAttention::new(2, 8, &mut rngs),
        out: Linear::new(8, 2, &mut rngs),
    };
    let rows = Arc::new(Mutex::new(Vec::new()));
    let seen = rows.clone();
    let options = TabulateOptions::new()
        .compute_flops()
        .compute_vjp_flops()
        .row_filter(move |row| {
            seen.lock().expect("one thread").push(row.clone());
            true
        });
    let tokens = Array::zeros(&[2, 5], DType::I32);
    nnx::tabulate(&net, tokens, options, |m, x| m.forward(&x));
    let rows = rows.lock().expect("one thread");
    let row = |path: &str| rows.iter().find(|r| r.path == path).expect("a row");
    for (path, input, output) in [
        ("", "i32[2,5]", "f32[2,5,2]"),
        ("embed", "i32[2,5]", "f32[2,5,4]"),
        ("conv", "f32[2,5,4]", "f32[2,5,8]"),
        ("norm", "f32[2,5,8]", "f32[2,5,8]"),
        ("layer_norm", "f32[2,5,8]", "f32[2,5,8]"),
        ("drop", "f32[2,5,8]", "f32[2,5,8]"),
        ("attention", "f32[2,5,8]", "f32[2,5,8]"),
        ("attention.query", "f32[2,5,8]", "f32[2,5,2,4]"),
        ("out", "f32[2,5,8]", "f32[2,5,2]"),
    ] {
        let row = row(path);
        assert_eq!(
            (&row.inputs[..], &row.outputs[..]),
            (&[input.to_owned()][..], &[output.to_owned()][..]),
            "{path}"
        );
        assert!(
            row.flops.is_some() && row.vjp_flops >= row.flops,
            "{path}: {row:?}"
        );
    }
    // Products, and the bias.
    assert_eq!(row("out").flops, Some(2.0 * 10.0 * 8.0 * 2.0 + 10.0 * 2.0));
}
