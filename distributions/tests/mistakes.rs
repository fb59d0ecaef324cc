//! Messages of mistakes, and what the recorded values do not show.

use ramie_core::{Array, DType, grad, jit, random};
use ramie_distributions::*;
use ramie_testing::{assert_explained, assert_panics};

fn zeros(shape: &[usize]) -> Array {
    Array::zeros(shape, DType::F32)
}

#[test]
fn parameters_must_be_floats_that_broadcast() {
    assert_explained(
        || Normal::new(zeros(&[3]), zeros(&[2])),
        &["Normal: ", "loc f32[3], scale f32[2]"],
    );
    assert_explained(
        || Normal::new(0, 1.0),
        &["Normal: expects floats, got loc", "i32"],
    );
    assert_explained(
        || Gamma::new(1.0, Array::from([1, 2])),
        &["Gamma: expects floats, got rate i32[2]"],
    );
    assert_explained(
        || Bernoulli::from_logits(true),
        &["Bernoulli: expects floats, got logits"],
    );
    assert_explained(
        || Categorical::from_logits(1.0),
        &["Categorical: expects an axis of categories"],
    );
    assert_explained(
        || Dirichlet::new(Array::from([1.0f32])),
        &["Dirichlet: ", "f32[1]"],
    );
    assert_explained(
        || MultivariateNormalDiag::new(0.0, 1.0),
        &["MultivariateNormalDiag: expects vectors"],
    );
    for (loc, scale) in [
        (zeros(&[3]), zeros(&[2, 2])),
        (zeros(&[2]), zeros(&[2])),
        (zeros(&[2]), zeros(&[3, 2])),
    ] {
        assert_explained(
            || MultivariateNormalTri::new(loc, scale),
            &["MultivariateNormalTri: expects square matrices"],
        );
    }
    let batch = (zeros(&[4, 2]), zeros(&[3, 2, 2]));
    assert_explained(
        || MultivariateNormalTri::new(batch.0, batch.1),
        &["loc f32[4,2], scale_tri f32[3,2,2]"],
    );
}

#[test]
fn values_must_fit() {
    let normal = Normal::new(zeros(&[3]), 1.0);
    assert_explained(
        || normal.log_prob(&zeros(&[2])),
        &["Normal.log_prob: the value f32[2]", "[3]"],
    );
    assert_explained(
        || normal.log_prob(&Array::from(1)),
        &["Normal.log_prob: expects floats, got i32[]"],
    );
    let choice = Categorical::from_logits(zeros(&[3]));
    assert_explained(
        || choice.log_prob(&zeros(&[])),
        &["Categorical.log_prob: expects integers, got f32[]"],
    );
    let vectors = MultivariateNormalDiag::new(zeros(&[3]), 1.0);
    // An axis of size 1 is not broadcast to the axis of the event.
    assert_explained(
        || vectors.log_prob(&zeros(&[1])),
        &["the value f32[1]", "event shape [3]"],
    );
    let mixture = MixtureSameFamily::new(choice, normal);
    assert_explained(
        || mixture.log_prob(&Array::from(1)),
        &["MixtureSameFamily.log_prob: expects floats"],
    );
    let halves = Poisson::new(2.0).log_prob(&Array::from([1.0f32, 2.0]));
    assert_eq!(
        halves.to_vec::<f32>(),
        Poisson::new(2.0)
            .log_prob(&Array::from([1, 2]))
            .to_vec::<f32>()
    );
}

#[test]
fn parts_must_fit_together() {
    let normal = || Normal::new(zeros(&[3]), 1.0);
    assert_explained(
        || Independent::new(normal(), 2),
        &["Independent: cannot move 2 batch axes", "Normal", "[3]"],
    );
    assert_explained(
        || Transformed::new(normal(), Block::new(Tanh, 1)),
        &["Transformed: ", "[]", "Block expects 1 axes"],
    );
    assert_explained(
        || Transformed::new(normal(), ScalarAffine::new(zeros(&[2]), 1.0)),
        &["ScalarAffine: ", "[3]", "f32[2]"],
    );
    assert_explained(
        || Transformed::new(Poisson::new(1.0), Tanh),
        &["Transformed: samples of Poisson are i32"],
    );
    assert_explained(
        || Chain::new(Tanh, Block::new(Tanh, 1)),
        &["Chain: the events of Tanh have 0 axes, those of Block have 1"],
    );
    assert_explained(
        || Block::new(Tanh, 2).forward_and_log_det(&zeros(&[3])),
        &["Block: expects events of 2 axes, got f32[3]"],
    );
    let two = Categorical::from_logits(zeros(&[2]));
    assert_explained(
        || MixtureSameFamily::new(two.clone(), normal()),
        &["MixtureSameFamily: ", "[2]", "Normal", "[3]"],
    );
    let counts = Poisson::new(Array::ones(&[2], DType::F32));
    assert_explained(
        || MixtureSameFamily::new(two, counts),
        &["MixtureSameFamily: expects components of floats", "i32"],
    );
}

#[test]
fn divergences_need_equal_events_and_bijectors() {
    let normal = |n: usize| Normal::new(zeros(&[n]), 1.0);
    assert_explained(
        || normal(2).kl_divergence(&normal(3)),
        &["kl_divergence: Normal", "[2]", "[3]"],
    );
    let vectors = |n: usize| Independent::new(normal(n), 1);
    assert_explained(
        || vectors(2).kl_divergence(&vectors(1)),
        &["kl_divergence: Independent", "event shape [2]", "[1]"],
    );
    let choice = |n: usize| Categorical::from_logits(zeros(&[n]));
    assert_explained(
        || choice(2).kl_divergence(&choice(3)),
        &["kl_divergence: the distributions have 2 and 3 categories"],
    );
    let moved = |loc: f32, shift: f32| {
        Transformed::new(Normal::new(loc, 1.0), ScalarAffine::new(shift, 2.0))
    };
    assert_eq!(
        moved(1.0, 3.0)
            .kl_divergence(&moved(0.0, 3.0))
            .item::<f32>(),
        0.5
    );
    assert_explained(
        || moved(1.0, 3.0).kl_divergence(&moved(0.0, 4.0)),
        &["the bijectors have different parameters"],
    );
    let traced = |shift: Array| {
        let moved = Transformed::new(Normal::new(0.0, 1.0), ScalarAffine::new(shift, 2.0));
        moved.kl_divergence(&moved)
    };
    assert_explained(|| jit(traced)(Array::from(1.0f32)), &["traced parameters"]);
}

#[test]
fn methods_without_a_closed_form_name_the_distribution() {
    let squashed = Transformed::new(Normal::new(0.0, 1.0), Tanh);
    assert_explained(|| squashed.mean(), &["Transformed.mean: ", "Tanh"]);
    assert_explained(|| Poisson::new(1.0).entropy(), &["Poisson.entropy: "]);
    assert_explained(|| Uniform::new(0.0, 1.0).mode(), &["Uniform.mode: "]);
    let keys = random::key(0).split_array(&[2]);
    assert_panics(
        || Normal::new(0.0, 1.0).sample(&keys, &[]),
        &["array of keys"],
    );
}

#[test]
fn vectors_of_both_scales_have_divergences_from_each_other() {
    let (loc, scale) = (Array::from([0.5f32, -1.0]), Array::from([2.0f32, 0.5]));
    let q = MultivariateNormalDiag::new(zeros(&[2]), 1.5);
    let diag = MultivariateNormalDiag::new(&loc, &scale);
    let tri =
        MultivariateNormalTri::new(&loc, scale.expand_dims(&[-1]) * Array::eye(2, DType::F32));
    let triangular = MultivariateNormalTri::new(0.0, 1.5 * Array::eye(2, DType::F32));
    let want = diag.kl_divergence(&q).item::<f32>();
    for got in [
        diag.kl_divergence(&triangular),
        tri.kl_divergence(&q),
        tri.kl_divergence(&triangular),
    ] {
        assert!((got.item::<f32>() - want).abs() < 1e-6);
    }
}

#[test]
fn gradients_at_probabilities_of_zero_are_finite() {
    let zero = |value: Array| Bernoulli::from_probs(0.0).log_prob(&value);
    assert_eq!(zero(Array::from(0)).item::<f32>(), 0.0);
    assert_eq!(zero(Array::from(1)).item::<f32>(), f32::NEG_INFINITY);
    // A gray pixel of 0: the derivative of the log probability with respect to the value is the logit.
    let slope =
        grad(|value: Array| Bernoulli::from_logits(2.0).log_prob(&value))(Array::from(0.0f32));
    assert!((slope.item::<f32>() - 2.0).abs() < 1e-6);
    let entropy = |logits: Array| Categorical::from_logits(logits).entropy();
    let slope = grad(entropy)(Array::from([0.0f32, f32::NEG_INFINITY, 0.0]));
    assert_eq!(slope.to_vec::<f32>()[1], 0.0);
}
