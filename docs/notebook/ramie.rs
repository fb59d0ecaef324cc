//! The cells of the notebook `ramie.ipynb` as a program; `tests/notebook.rs` compares both.
#![forbid(unsafe_code)]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // %% Arrays have NumPy's operations as methods.
    use ramie::prelude::*;
    let x = Array::linspace(-2.0, 2.0, 5);
    println!("{x}");
    println!("{}", &x * 2 + 1);

    // %% Transformations: derivatives and compiled functions.
    fn f(x: Array) -> Array {
        x.tanh().sum()
    }
    println!("{}", grad(f)(x.clone()));
    println!("{}", jit(f)(x.clone()));

    // %% A model and its loss.
    use ramie::data::{DataLoader, digits};
    use ramie::optim::{adam, softmax_cross_entropy_with_integer_labels as cross_entropy};
    use ramie::train::{History, Trainer, Training};
    fn loss(model: &mut Linear, images: Array, labels: Array) -> Array {
        let pixels = images.reshape(&[images.shape()[0], 64]) / 16.0;
        cross_entropy(&model.forward(&pixels), &labels).mean()
    }

    // %% Training: ten epochs on images of digits.
    let history: History = {
        let mut state = Training::new(Linear::new(64, 10, &mut Rngs::new(0)), adam(0.01));
        let digits = digits::load()?;
        let train = DataLoader::new(digits.train).batch_size(64).shuffle(0);
        let test = DataLoader::new(digits.test).batch_size(450);
        let trainer = Trainer::new(loss).epochs(10).validate(test).quiet();
        trainer.fit(&mut state, train.drop_last())?
    };
    let last: f64 = history.last("val_loss").unwrap_or(f64::NAN);
    println!("validation loss: {last:.4}");

    // %% The losses as a picture.
    let svg: String = {
        let losses = history.get("loss").iter();
        let losses = losses.map(|(step, loss)| (*step as f64, *loss));
        let plot = ramie_plot::Plot::new().x_label("step").y_label("loss");
        plot.line("", losses).drawing().to_svg()
    };
    println!("EVCXR_BEGIN_CONTENT image/svg+xml\n{svg}\nEVCXR_END_CONTENT");
    // %% End.
    Ok(())
}
