//! The digits classifier as pure functions of variables follows JAX's training
//! run from the same initial parameters; `tests/golden/digits.py` recorded it.

mod model;
use crate::run;

use model::{Classifier, evaluate, train_state, train_step};
use ramie::data::digits;
use ramie::nn::linen::Module;
use ramie::{jit, random};
use run::{close, initial, recorded};

#[test]
fn training_follows_jax() {
    let golden = recorded();
    let digits = digits::load().expect("the data is in the program");
    let (images, labels) = (digits.train.pixel_array(), digits.train.label_array());
    let made = Classifier::default().init(random::key(0), images.clone());
    let mut params = made.params();
    initial().apply_to(&mut params).expect("the same paths");
    let mut state = train_state(params, 0.05);
    let step = jit(train_step);
    for made in 0..=500 {
        if made == 100 || made == 500 {
            let test = (digits.test.pixel_array(), digits.test.label_array());
            let (loss, predicted) = jit(evaluate)(state.params.clone(), test.0, test.1.clone());
            let correct = predicted.eq(&test.1).count_nonzero().item::<i32>();
            let expected = &golden[format!("test_after_{made}")];
            close("test loss", loss.item(), &expected["loss"], 1e-3);
            assert_eq!(
                Some(i64::from(correct)),
                expected["correct"].as_i64(),
                "after {made} updates"
            );
        }
        let loss = step(&mut state, images.clone(), labels.clone());
        if let Some(expected) = golden["loss"].get(made.to_string()) {
            let what = format!("loss after {made} updates");
            close(&what, loss.item(), expected, 2e-4);
        }
    }
    assert_eq!(step.compilations(), 1);
}
