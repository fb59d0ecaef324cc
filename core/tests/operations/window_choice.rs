//! Sums over the windows that select an element, against a loop over windows.

use ramie_core::extend::bind1;
use ramie_core::prim::window::{Select, SelectAndScatterAdd, SlidingWindow};
use ramie_core::typing::Dims;
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

/// Returns all indices in an array of this shape, the last axis fastest.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new()];
    for &n in shape {
        let longer = |index: &Vec<usize>| (0..n).map(|i| [&index[..], &[i]].concat()).collect();
        out = out.iter().flat_map::<Vec<_>, _>(longer).collect();
    }
    out
}

/// Adds each element of `source` to the element that its window selects. Padding is never greater or less than an
/// element, but the first of equal ones counts, which may be of the padding.
fn expected(select: Select, window: &SlidingWindow, source: &Array, operand: &Array) -> Vec<f32> {
    let (shape, values) = (operand.shape(), operand.to_vec::<f32>());
    let last = match select {
        Select::Ge => f32::NEG_INFINITY,
        Select::Le => f32::INFINITY,
    };
    let mut sums = vec![0.0; values.len()];
    for (position, update) in indices(source.shape()).iter().zip(source.to_vec::<f32>()) {
        let mut best: Option<(f32, Option<usize>)> = None;
        for offset in indices(&window.dimensions) {
            let at = (0..shape.len()).try_fold(0, |at, d| {
                let place = (position[d] * window.strides[d] + offset[d]) as isize;
                let place = usize::try_from(place - window.padding[d].0).ok()?;
                (place < shape[d]).then_some(at * shape[d] + place)
            });
            let value = at.map_or(last, |at| values[at]);
            let stays = best.is_some_and(|(best, _)| match select {
                Select::Ge => best >= value,
                Select::Le => best <= value,
            });
            best = if stays { best } else { Some((value, at)) };
        }
        if let Some((_, Some(at))) = best {
            sums[at] += update;
        }
    }
    sums
}

#[test]
fn gradients_of_pooling_are_those_of_a_loop() {
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
        let want = expected(select, &window, &source, &operand);
        assert_eq!(
            got.to_vec::<f32>(),
            want,
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
        assert_eq!(got.to_vec::<f32>(), want, "{padding:?}");
    }
}
