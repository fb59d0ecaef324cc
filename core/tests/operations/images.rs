//! Images of another size, beside `jax.image`.

use ramie_core::image::{Resize, ResizeMethod, resize, scale_and_translate};
use ramie_core::{Array, DType, array, grad};
use ramie_testing::apply::{Operation, numbers};
use ramie_testing::golden::{Golden, Row};

fn operation(row: &Row) -> Option<Box<Operation>> {
    let method = match row.params["method"].as_str()? {
        "nearest" => ResizeMethod::Nearest,
        "linear" => ResizeMethod::Linear,
        "lanczos3" => ResizeMethod::Lanczos3,
        "lanczos5" => ResizeMethod::Lanczos5,
        "cubic" => ResizeMethod::Cubic,
        "cubic-pytorch" => ResizeMethod::CubicPytorch,
        "area" => ResizeMethod::Area,
        _ => return None,
    };
    let shape = numbers(&row.params["shape"]);
    let method = if row.params["antialias"].as_bool()? {
        Resize::from(method)
    } else {
        method.without_antialias()
    };
    if row.op == "resize" {
        return Some(Box::new(move |x| vec![resize(&x[0], &shape, method)]));
    }
    let axes: Vec<isize> = row.params["axes"]
        .as_array()?
        .iter()
        .map(|a| a.as_i64().unwrap() as isize)
        .collect();
    Some(Box::new(move |x| {
        vec![scale_and_translate(
            &x[0], &shape, &axes, &x[1], &x[2], method,
        )]
    }))
}

#[test]
fn images_agree_with_jax() {
    let golden = Golden::open("images");
    let ops = golden.ops();
    assert_eq!(ops, ["resize", "scale_and_translate"]);
    ramie_testing::walk(golden, &ops, &operation);
}

#[test]
fn a_shift_can_be_learnt() {
    let x = array([0.0, 1.0, 4.0, 2.0, 0.0]);
    let at = |shift: Array| {
        let one = Array::from([1.0f32]);
        let moved = scale_and_translate(&x, &[5], &[0], one, shift, ResizeMethod::Cubic);
        moved.index((2,))
    };
    let slope = grad(move |shift: Array| at(shift.reshape(&[1])))(Array::from(0.25f32));
    assert!(slope.item::<f32>() < -0.5, "{slope}");
}

#[test]
#[should_panic(expected = "resize: the new shape [3] has 1 axes, but the image f32[2,2] has 2")]
fn a_shape_of_another_rank() {
    resize(
        &Array::zeros(&[2, 2], DType::F32),
        &[3],
        ResizeMethod::Linear,
    );
}

#[test]
#[should_panic(expected = "ResizeMethod::Nearest is not supported")]
fn the_nearest_pixel_cannot_be_moved() {
    let x = Array::zeros(&[2], DType::F32);
    let one = Array::from([1.0f32]);
    scale_and_translate(&x, &[2], &[0], &one, &one, ResizeMethod::Nearest);
}
