//! The digits classifier follows JAX's training run from the same initial
//! parameters; `tests/golden/digits.py` recorded it.

#[path = "../../examples/digits/model.rs"]
mod model;
use crate::run;

use model::{Classifier, Trainer, evaluate, train_step};
use ramie::data::digits;
use ramie::jit;
use ramie::nn::{Rngs, grad};
use run::{close, initial, recorded};

fn classifier() -> Classifier {
    let mut model = Classifier::new(64, 128, 10, &mut Rngs::new(0));
    initial()
        .apply_to(&mut model)
        .expect("the model's parameters");
    model
}

#[test]
fn training_follows_jax() {
    let golden = recorded();
    let digits = digits::load().expect("the data is in the program");
    let (images, labels) = (digits.train.image_array(), digits.train.label_array());
    let mut trainer = Trainer::new(classifier(), 0.05);
    let step = jit(train_step);
    for made in 0..=500 {
        let test = |trainer: &Trainer| {
            let (images, labels) = (digits.test.image_array(), digits.test.label_array());
            let (loss, predicted) = jit(evaluate)(&trainer.model, &images, &labels);
            let correct = predicted.eq(&labels).count_nonzero().item::<i32>();
            (loss.item::<f32>(), i64::from(correct))
        };
        if made == 100 || made == 500 {
            let (loss, correct) = test(&trainer);
            let expected = &golden[format!("test_after_{made}")];
            close("test loss", loss, &expected["loss"], 1e-3);
            assert_eq!(
                Some(correct),
                expected["correct"].as_i64(),
                "after {made} updates"
            );
        }
        let loss = step(&mut trainer, images.clone(), labels.clone());
        if let Some(expected) = golden["loss"].get(made.to_string()) {
            close(
                &format!("loss after {made} updates"),
                loss.item(),
                expected,
                2e-4,
            );
        }
    }
    assert_eq!(step.compilations(), 1);
}

#[test]
fn first_gradients_are_those_of_jax() {
    let golden = recorded();
    let digits = digits::load().expect("the data is in the program");
    let mut model = classifier();
    let logits = model.forward(&digits.train.image_array()).to_vec::<f32>();
    for (got, expected) in logits
        .iter()
        .zip(golden["first_logits"].as_array().expect("a list"))
    {
        close("logits", *got, expected, 1e-5);
    }
    let grads = grad(&mut model, |m| {
        evaluate(m, &digits.train.image_array(), &digits.train.label_array()).0
    });
    assert_eq!(grads.len(), 6);
    for (path, gradient) in grads.iter() {
        let expected = &golden["first_gradient_norm"][path.replace('.', "/")];
        close(path, gradient.norm().item(), expected, 1e-4);
    }
}
