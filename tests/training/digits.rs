//! The digits classifier follows JAX's training run from the same initial
//! parameters; `tests/golden/digits.py` recorded it.

mod model;
use crate::run;

use model::{Classifier, evaluate, loss};
use ramie::data::digits;
use ramie::jit;
use ramie::nn::{Rngs, grad};
use ramie::optim::sgd;
use ramie::train::{Same, Trainer, Training};
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
    let test = (digits.test.image_array(), digits.test.label_array());
    let mut state = Training::new(classifier(), sgd(0.05));
    let evaluate = jit(evaluate);
    let expected = golden.clone();
    let trainer = Trainer::new(loss).steps(501).every(100, move |context| {
        let made = context.status.step;
        if made == 100 || made == 500 {
            let (loss, predicted) = evaluate(&context.state.model, &test.0, &test.1);
            let correct = predicted.eq(&test.1).count_nonzero().item::<i32>();
            let expected = &expected[format!("test_after_{made}")];
            close("test loss", loss.item(), &expected["loss"], 1e-3);
            let correct = Some(i64::from(correct));
            assert_eq!(correct, expected["correct"].as_i64(), "{made} updates");
        }
        Ok(())
    });
    let history = trainer
        .quiet()
        .fit(&mut state, Same((images, labels)))
        .expect("a run without files");
    let mut compared = 0;
    for (step, loss) in history.get("loss") {
        let made = step - 1;
        if let Some(expected) = golden["loss"].get(made.to_string()) {
            let what = format!("loss after {made} updates");
            close(&what, *loss as f32, expected, 2e-4);
            compared += 1;
        }
    }
    let recorded = golden["loss"].as_object().expect("losses").len();
    assert!(compared == recorded && compared > 2, "{compared}");
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
