//! Convolutions and windows as programs: printed programs; refused arguments.

use ramie_core::lax::{
    ConvLayout, Padding, avg_pool, avg_pool_with, conv, conv_general_dilated, conv_transpose,
    max_pool, reduce, reduce_window,
};
use ramie_core::numpy::ConvolveMode;
use ramie_core::options::{ConvTranspose, Convolution, ExcludePadding, Window};
use ramie_core::{Array, DType, grad, jit, jvp, make_jaxpr};

/// The CUDA plugin refuses convolutions of complex numbers.
#[test]
fn complex_numbers_are_convolved_in_parts() {
    let x = || Array::ones(&[3], DType::C64);
    let f = jit(|x: Array, y: Array| x.convolve(&y, ConvolveMode::Full));
    let text = f.lower((x(), x())).unwrap().as_text();
    let convolutions = text.lines().filter(|l| l.contains("stablehlo.convolution"));
    let real: Vec<bool> = convolutions.map(|l| !l.contains("complex")).collect();
    assert_eq!(real, [true; 3], "{text}");
}

#[test]
fn programs_print_as_in_jax() {
    let how = Convolution::new()
        .layout(("NWC", "WIO", "NWC"))
        .strides(&[2])
        .padding(Padding::Same);
    let (x, kernel) = (
        Array::ones(&[1, 4, 2], DType::F32),
        Array::ones(&[3, 2, 1], DType::F32),
    );
    let f = |x: Array, kernel: Array| conv_general_dilated(&x, &kernel, &how);
    assert_eq!(
        make_jaxpr(f)(x.clone(), kernel).to_string(),
        "{ lambda ; a:f32[1,4,2] b:f32[3,2,1]. let
    c:f32[1,2,1] = conv_general_dilated[
      batch_group_count=1
      dimension_numbers=ConvDimensionNumbers(lhs_spec=(0, 2, 1), rhs_spec=(2, 1, 0), out_spec=(0, 2, 1))
      feature_group_count=1
      lhs_dilation=(1,)
      out_sharding=None
      padding=((0, 1),)
      precision=None
      preferred_element_type=None
      rhs_dilation=(1,)
      window_strides=(2,)
    ] a b
  in (c,) }"
    );
    let pooled = |x: Array| max_pool(&x, &[2], &[2], Padding::Valid);
    let gradient = grad(move |x: Array| pooled(x).sum());
    assert_eq!(
        make_jaxpr(gradient)(x.clone()).to_string(),
        "{ lambda ; a:f32[1,4,2]. let
    b:f32[1,2,2] = reduce_window_max[
      base_dilation=(1, 1, 1)
      padding=((0, 0), (0, 0), (0, 0))
      window_dilation=(1, 1, 1)
      window_dimensions=(1, 2, 1)
      window_strides=(1, 2, 1)
    ] a
    _:f32[] = reduce_sum[axes=(0, 1, 2) out_sharding=None] b
    c:f32[1,2,2] = broadcast_in_dim 1.0:f32[]
    d:f32[1,4,2] = select_and_scatter_add[
      padding=((0, 0), (0, 0), (0, 0))
      select_prim=ge
      window_dimensions=(1, 2, 1)
      window_strides=(1, 2, 1)
    ] c a
  in (d,) }"
    );
    let product = |x: Array| x.reduce_window(1.0, |a, b| a * b, &Window::new(&[1, 2, 1]));
    assert_eq!(
        make_jaxpr(product)(x).to_string(),
        "{ lambda ; a:f32[1,4,2]. let
    b:f32[1,3,2] = reduce_window[
      base_dilation=(1, 1, 1)
      consts=()
      jaxpr={ lambda ; c:f32[] d:f32[]. let e:f32[] = mul c d in (e,) }
      padding=((0, 0), (0, 0), (0, 0))
      window_dilation=(1, 1, 1)
      window_dimensions=(1, 2, 1)
      window_strides=(1, 1, 1)
    ] a 1.0:f32[]
  in (b,) }"
    );
}

/// A reduction by one operator is its primitive, whose derivative is simple.
#[test]
fn computations_of_one_operator_are_recognised() {
    let name = |f: &(dyn Fn(Array) -> Array + Sync)| {
        let program = make_jaxpr(|x: Array| f(x))(Array::ones(&[4], DType::F32)).jaxpr;
        program.eqns[0].primitive.name()
    };
    let window = Window::new(&[2]);
    assert_eq!(
        name(&|x| x.reduce_window(0.0, |a, b| a + b, &window)),
        "reduce_window_sum"
    );
    assert_eq!(
        name(&|x| x.reduce_window(1.0, |a, b| a + b, &window)),
        "reduce_window"
    );
    let lowest = f64::NEG_INFINITY;
    let largest = |a: &Array, b: &Array| a.maximum(b);
    assert_eq!(
        name(&|x| x.reduce_window(lowest, largest, &window)),
        "reduce_window_max"
    );
    assert_eq!(name(&|x| x.reduce(lowest, largest, &[0])), "reduce_max");
    assert_eq!(name(&|x| x.reduce(1.0, |a, b| a * b, &[0])), "reduce_prod");
    assert_eq!(name(&|x| x.reduce(0.0, |a, b| a - b, &[0])), "reduce");
}

/// The convolution's cotangent is the transposed convolution.
#[test]
fn transposed_convolutions_are_cotangents() {
    let kernel = Array::arange(18).reshape(&[3, 3, 1, 2]).astype(DType::F32);
    let how = Convolution::new()
        .layout(ConvLayout::ChannelsLast)
        .strides(&[2, 2])
        .padding(Padding::Same);
    let x = Array::ones(&[1, 6, 6, 1], DType::F32);
    let weights = Array::arange(18).reshape(&[1, 3, 3, 2]).astype(DType::F32);
    let weighted = |x: Array| (conv_general_dilated(&x, &kernel, &how) * &weights).sum();
    let cotangent = grad(weighted)(x);
    let how = ConvTranspose::new().strides(&[2, 2]).transpose_kernel(true);
    let spread = conv_transpose(&weights, &kernel, &how);
    assert_eq!(cotangent.to_vec::<f32>(), spread.to_vec::<f32>());
}

#[test]
fn means_leave_padding_out_on_request() {
    let x = Array::ones(&[1, 3, 1], DType::F32);
    let counted = avg_pool(&x, &[2], &[1], Padding::Same);
    assert_eq!(counted.to_vec::<f32>(), [1.0, 1.0, 0.5]);
    let left_out = avg_pool_with(&x, &[2], &[1], Padding::Same, ExcludePadding);
    assert_eq!(left_out.to_vec::<f32>(), [1.0, 1.0, 1.0]);
}

fn f32s(shape: &[usize]) -> Array {
    Array::ones(shape, DType::F32)
}

#[test]
#[should_panic(expected = "lhs has 3 features in 1 group(s), but the kernel takes 2")]
fn features_must_agree() {
    let _ = conv(&f32s(&[1, 3, 5]), &f32s(&[4, 2, 3]), &[1], Padding::Valid);
}

#[test]
#[should_panic(expected = "do not fit 4 axes: rhs needs 4 distinct letters, including 'O' and 'I'")]
fn letters_must_name_the_axes() {
    let how = Convolution::new().layout(("NHWC", "HWXO", "NHWC"));
    let _ = conv_general_dilated(&f32s(&[1, 5, 5, 1]), &f32s(&[3, 3, 1, 1]), &how);
}

#[test]
#[should_panic(expected = "window_strides has 2 entries for 1 spatial axes")]
fn strides_go_with_spatial_axes() {
    let _ = conv(&f32s(&[1, 1, 5]), &f32s(&[1, 1, 3]), &[1, 1], [(0, 0)]);
}

#[test]
#[should_panic(expected = "Same padding does not support an operand dilated by [2]")]
fn computed_padding_needs_an_operand_that_is_not_spread() {
    let how = Convolution::new().padding(Padding::Same).lhs_dilation(&[2]);
    let _ = conv_general_dilated(&f32s(&[1, 1, 5]), &f32s(&[1, 1, 3]), &how);
}

#[test]
#[should_panic(expected = "convolve: expects nonempty 1-d operands, got f32[2,2] and f32[1]")]
fn sequences_have_one_axis() {
    let _ = f32s(&[2, 2]).convolve(f32s(&[1]), ConvolveMode::Full);
}

#[test]
#[should_panic(expected = "reduce_window_sum: a window of [2] with strides [1]")]
fn windows_have_all_axes() {
    let _ = f32s(&[2, 3]).reduce_window_sum(&Window::new(&[2]));
}

#[test]
#[should_panic(expected = "reduce: the computation captures f32[]")]
fn computations_see_no_arrays() {
    let factor = &f32s(&[3]).sum();
    let _ = f32s(&[4]).reduce(0.0, |a, b| (a + b) * factor, &[0]);
}

#[test]
#[should_panic(expected = "the computation returns [bool[]], expected [f32[]]")]
fn computations_keep_types() {
    let _ = f32s(&[4]).reduce(0.0, |a, b| a.lt(b), &[0]);
}

#[test]
#[should_panic(expected = "reduce_window: got 2 arrays and 1 initial values")]
fn each_array_has_a_start() {
    let (x, start) = (f32s(&[4]), Array::from(0.0f32));
    let sums = |a: &[Array], b: &[Array]| vec![&a[0] + &b[0], &a[1] + &b[1]];
    let _ = reduce_window(&[x.clone(), x], &[start], sums, &Window::new(&[2]));
}

#[test]
#[should_panic(expected = "array 1 is f32[2], array 0 is f32[3]")]
fn arrays_reduced_together_have_one_shape() {
    let starts = [Array::from(0.0f32), Array::from(0.0f32)];
    let sums = |a: &[Array], b: &[Array]| vec![&a[0] + &b[0], &a[1] * &b[1]];
    let _ = reduce(&[f32s(&[3]), f32s(&[2])], &starts, sums, &[0]);
}

/// In forward mode a dilated window has a derivative, in reverse mode JAX and
/// Ramie have none.
#[test]
#[should_panic(expected = "the largest or smallest element of a dilated window has no reverse")]
fn dilated_choices_have_no_reverse_derivative() {
    let f = |x: Array| {
        x.reduce_window_max(&Window::new(&[2]).window_dilation(&[2]))
            .sum()
    };
    let x = Array::from([1.0f32, 2.0, 3.0, 0.0]);
    let (_, slope) = jvp(f, x.clone(), Array::from([1.0f32, 10.0, 100.0, 1000.0]));
    assert_eq!(slope.item::<f32>(), 110.0);
    let _ = grad(f)(x);
}
