//! Choices of windows by whole arrays against XLA's own operation.

use ramie_core::prim::window::{Select, SelectAndScatterAdd, SlidingWindow};
use ramie_core::*;

/// Numbers that look random, the same in every run.
struct Draw(u64);

impl Draw {
    /// One of `0..n`.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

/// The same by `select_and_scatter`, which is XLA's operation on every platform.
fn expected(select: Select, window: &SlidingWindow, source: &Array, operand: &Array) -> Array {
    let around = |sign: isize| -> Vec<(isize, isize, usize)> {
        let axes = window.padding.iter();
        axes.map(|&(low, high)| (sign * low, sign * high, 0))
            .collect()
    };
    let last = match select {
        Select::Ge => f32::NEG_INFINITY,
        Select::Le => f32::INFINITY,
    };
    let padded = operand.lax_pad(&around(1), Array::from(last));
    let scattered = select_and_scatter(
        &padded,
        source,
        0.0,
        |a, b| match select {
            Select::Ge => a.ge(b),
            Select::Le => a.le(b),
        },
        |a, b| a + b,
        &Window::new(&window.dimensions).strides(&window.strides),
    );
    scattered.lax_pad(&around(-1), Array::from(0.0f32))
}

#[test]
fn gradients_of_pooling_are_those_of_xlas_operation() {
    let mut draw = Draw(7);
    for case in 0..24 {
        let rank = 1 + draw.below(4);
        let (mut sizes, mut places) = (Vec::new(), Vec::new());
        let mut window = SlidingWindow {
            dimensions: Dims::new(),
            strides: Dims::new(),
            padding: Default::default(),
            base_dilation: Dims::from_elem(1, rank),
            window_dilation: Dims::from_elem(1, rank),
        };
        for _ in 0..rank {
            let (dimension, stride) = (1 + draw.below(3), 1 + draw.below(3));
            let size = dimension + draw.below(6);
            let padding = (draw.below(2) as isize, draw.below(3) as isize);
            window.dimensions.push(dimension);
            window.strides.push(stride);
            window.padding.push(padding);
            let padded = size + (padding.0 + padding.1) as usize;
            places.push((padded - dimension) / stride + 1);
            sizes.push(size);
        }
        let select = [Select::Ge, Select::Le][case % 2];
        // Few different values, so that windows have equal ones; some cases have NaN.
        let kinds = if case % 4 == 3 { 7 } else { 5 };
        let values = [-1.0, 0.5, 2.0, -0.0, 0.0, f32::NAN, f32::NEG_INFINITY];
        let elements: Vec<f32> = (0..sizes.iter().product())
            .map(|_| values[draw.below(kinds)])
            .collect();
        let operand = Array::from_slice(&elements, &sizes);
        let sources: Vec<f32> = (0..places.iter().product())
            .map(|_| draw.below(1000) as f32 / 7.0 + 0.1)
            .collect();
        let source = Array::from_slice(&sources, &places);
        let primitive = SelectAndScatterAdd {
            select,
            window: window.clone(),
        };
        let got = bind1(primitive, &[&source, &operand]);
        let reference = {
            let window = window.clone();
            jit(move |source: Array, operand: Array| expected(select, &window, &source, &operand))
        };
        let want = reference(source, operand.clone());
        assert_eq!(
            got.to_vec::<f32>(),
            want.to_vec::<f32>(),
            "case {case}: {select:?} over {operand:?} by {window:?}"
        );
    }
}

/// Padding that takes away behind what it adds before moves the elements, though
/// there are as many as without.
#[test]
fn padding_that_keeps_the_shape_moves_the_elements() {
    let operand = Array::from_slice(&[3.0f32, 1.0, 2.0, 5.0, 4.0, 0.0], &[6]);
    let source = Array::from_slice(&[1.0f32, 2.0, 4.0, 8.0, 16.0], &[5]);
    for padding in [(1, -1), (-1, 1)] {
        let mut window = SlidingWindow {
            dimensions: Dims::from_elem(2, 1),
            strides: Dims::from_elem(1, 1),
            padding: Default::default(),
            base_dilation: Dims::from_elem(1, 1),
            window_dilation: Dims::from_elem(1, 1),
        };
        window.padding.push(padding);
        let want = expected(Select::Ge, &window, &source, &operand);
        let primitive = SelectAndScatterAdd {
            select: Select::Ge,
            window,
        };
        let got = bind1(primitive, &[&source, &operand]);
        assert_eq!(got.to_vec::<f32>(), want.to_vec::<f32>(), "{padding:?}");
    }
}

#[test]
fn windows_of_many_elements_keep_xlas_operation() {
    let text = |size: usize| {
        let gradient = move |x: Array| {
            grad(move |x: Array| max_pool(&x, &[size, size], &[size, size], Padding::Valid).sum())(
                x,
            )
        };
        jit(gradient)
            .lower((Array::zeros(&[1, 16, 16, 1], DType::F32),))
            .unwrap()
            .as_text()
            .to_string()
    };
    if devices()[0].client().platform_name() == "cpu" {
        assert!(!text(4).contains("select_and_scatter"));
    }
    assert!(text(8).contains("select_and_scatter"));
}
