//! What derived trees show, in which order, and that they come back whole.

use ramie_core::dtypes::Scalar;
use ramie_core::tree::{self, Fixed, HostValue, Key, Tree, Visitor};
use ramie_core::{Array, DType};
use ramie_derive::Tree;

fn scalar(value: f32) -> Array {
    Array::scalar(value, DType::F32)
}

/// The fixed values of a tree with the paths where they stand.
fn fixed_values<T: Tree>(tree: &T) -> Vec<String> {
    #[derive(Default)]
    struct Fixeds {
        path: Vec<String>,
        found: Vec<String>,
    }
    impl Visitor for Fixeds {
        fn leaf(&mut self, _: &Array) {}
        fn fixed(&mut self, value: &dyn Fixed) {
            self.found
                .push(format!("{}={}", self.path.join("."), value.describe()));
        }
        fn enter(&mut self, key: Key<'_>) {
            self.path.push(key.to_string());
        }
        fn exit(&mut self) {
            self.path.pop();
        }
    }
    let mut v = Fixeds::default();
    tree.walk(&mut v);
    assert!(v.path.is_empty(), "each `enter` has its `exit`");
    v.found
}

/// Adds 1 to every leaf with both ways of replacing them, and checks that both
/// follow the order of `walk`.
fn incremented<T: Tree>(tree: &T) -> T {
    let next = |a: &Array| scalar(a.item::<f32>() + 1.0);
    let before: Vec<f32> = tree::leaves(tree).iter().map(|a| a.item()).collect();
    let mut copy = tree.rebuild(&mut |a| a.clone());
    let mut seen = Vec::new();
    copy.walk_mut(&mut |a| {
        seen.push(a.item::<f32>());
        *a = next(a);
    });
    assert_eq!(before, seen);
    let rebuilt = tree.rebuild(&mut |a| next(a));
    let values = |t: &T| {
        tree::leaves(t)
            .iter()
            .map(|a| a.item::<f32>())
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&rebuilt), values(&copy));
    rebuilt
}

#[derive(Tree)]
struct Linear {
    kernel: Array,
    bias: Option<Array>,
    features: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Padding {
    Same,
}

#[derive(Tree)]
struct Conv {
    #[tree(fixed)]
    padding: Padding,
    r#type: Array,
    linear: Linear,
}

#[test]
fn named_fields() {
    let conv = Conv {
        padding: Padding::Same,
        r#type: scalar(1.0),
        linear: Linear {
            kernel: scalar(2.0),
            bias: Some(scalar(3.0)),
            features: 7,
        },
    };
    assert_eq!(tree::paths(&conv), ["type", "linear.kernel", "linear.bias"]);
    assert_eq!(
        fixed_values(&conv),
        ["padding=Same", "linear.bias=true", "linear.features=7"]
    );
    let next = incremented(&conv);
    assert_eq!(next.padding, Padding::Same);
    assert_eq!(next.linear.features, 7);
    assert_eq!(next.linear.bias.expect("kept").item::<f32>(), 4.0);
}

#[derive(Tree)]
struct Scale(Array);
#[derive(Tree)]
struct Pair(Scale, Array, bool);
#[derive(Tree)]
struct Unit;
#[derive(Tree)]
struct Rate(#[tree(fixed)] Padding);

#[test]
fn unnamed_fields() {
    assert_eq!(tree::paths(&Scale(scalar(1.0))), [""]);
    let pair = Pair(Scale(scalar(1.0)), scalar(2.0), true);
    assert_eq!(tree::paths(&pair), ["0", "1"]);
    assert_eq!(fixed_values(&pair), ["2=true"]);
    assert_eq!(incremented(&pair).0.0.item::<f32>(), 2.0);
    assert!(tree::paths(&Unit).is_empty());
    assert_eq!(fixed_values(&Rate(Padding::Same)), ["=Same"]);
}

#[derive(Tree)]
enum Layer {
    Dense(Linear),
    Scaled { by: Array, inner: Box<Layer> },
    Both(Array, Array),
    Identity,
}

#[derive(Tree)]
enum Never {}

#[test]
fn variants() {
    let inner = Box::new(Layer::Both(scalar(1.0), scalar(2.0)));
    let layer = Layer::Scaled {
        by: scalar(0.0),
        inner,
    };
    assert_eq!(tree::paths(&layer), ["by", "inner.0", "inner.1"]);
    assert_eq!(fixed_values(&layer), ["=Scaled", "inner=Both"]);
    assert!(matches!(incremented(&layer), Layer::Scaled { .. }));
    assert_eq!(fixed_values(&Layer::Identity), ["=Identity"]);
    let dense = Layer::Dense(Linear {
        kernel: scalar(0.0),
        bias: None,
        features: 1,
    });
    assert_eq!(tree::paths(&dense), ["kernel"]);
    assert!(tree::paths(&None::<Never>).is_empty());
}

/// `A` is a tree, `F` is only fixed, `S` both stands nowhere and has a bound
/// of its own.
#[derive(Tree)]
struct Generic<A, F, S: Default = u8, const N: usize = 2>
where
    A: PartialOrd,
{
    parts: [Vec<A>; N],
    #[tree(fixed)]
    choice: Option<F>,
    tag: std::marker::PhantomData<S>,
}

#[test]
fn generics() {
    let value: Generic<f32, Padding> = Generic {
        parts: [vec![1.5], vec![]],
        choice: Some(Padding::Same),
        tag: std::marker::PhantomData,
    };
    assert_eq!(
        fixed_values(&value),
        [
            "parts.0=1",
            "parts.0.0=1.5",
            "parts.1=0",
            "choice=Some(Same)"
        ]
    );
    assert_eq!(incremented(&value).parts[0], [1.5]);
}

macro_rules! rates {
    ($name:ident: $rate:ty, $limit:ty) => {
        #[derive(Tree)]
        struct $name {
            #[tree(fixed)]
            rate: $rate,
            #[tree(fixed)]
            limit: $limit,
            #[tree(fixed)]
            least: Option<$rate>,
        }
    };
}
rates!(Rates: f32, Option<f64>);

#[test]
fn types_from_macros() {
    let rates = Rates {
        rate: 0.5,
        limit: Some(2.0),
        least: None,
    };
    let expected = ["rate=0.5", "limit=Some(2.0)", "least=None"];
    assert_eq!(fixed_values(&rates), expected);
}

mod renamed {
    pub use ramie_core as elsewhere;
}

#[derive(Tree)]
#[tree(crate = "crate::trees::renamed::elsewhere")]
struct Elsewhere {
    leaf: Array,
}

#[test]
fn traits_under_another_path() {
    assert_eq!(tree::paths(&Elsewhere { leaf: scalar(0.0) }), ["leaf"]);
}

#[derive(Debug, PartialEq, Tree)]
struct Settings {
    #[tree(fixed)]
    rate: f64,
    #[tree(fixed)]
    limit: Option<half::bf16>,
    epoch: u8,
    name: String,
    #[tree(fixed)]
    count: usize,
    factors: (f32, Option<bool>),
}

#[test]
fn numbers_and_strings_can_be_changed() {
    let mut settings = Settings {
        rate: 0.5,
        limit: Some(half::bf16::ONE),
        epoch: 3,
        name: "a".into(),
        count: 5,
        factors: (1.5, Some(true)),
    };
    assert_eq!(
        fixed_values(&settings),
        [
            "rate=0.5",
            "limit=Some(1.0)",
            "epoch=3",
            "name=\"a\"",
            "count=5",
            "factors.0=1.5",
            "factors.1=true",
            "factors.1=true",
        ]
    );
    let mut seen = Vec::new();
    tree::for_each_host_value(&mut settings, |value| {
        seen.push(format!("{value:?}"));
        *value = match value {
            HostValue::Number(Scalar::Bool(v), dtype) => HostValue::Number((!*v).into(), *dtype),
            HostValue::Number(v, dtype) => HostValue::Number((v.to_f64() * 2.0).into(), *dtype),
            HostValue::Text(text) => HostValue::Text(format!("{text}b").into()),
        };
    });
    assert_eq!(seen, ["3", "\"a\"", "1.5", "true"]);
    let expected = Settings {
        rate: 0.5,
        limit: Some(half::bf16::ONE),
        epoch: 6,
        name: "ab".into(),
        count: 5,
        factors: (3.0, Some(false)),
    };
    assert_eq!(settings, expected);
}
