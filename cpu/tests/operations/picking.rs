//! Sums over the windows that select an element.

use crate::{Random, buffer, elements, function, run};
use ramie_cpu::Buffer;
use ramie_cpu::ElementType::{self, Bf16, F32, F64};

/// Windows along the axes of an array.
#[derive(Debug, Default)]
struct Case {
    shape: Vec<i64>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    padding: Vec<[i64; 2]>,
    positions: Vec<i64>,
}

impl Case {
    fn draw(random: &mut Random) -> Case {
        let mut case = Case::default();
        let mut below = |limit| random.below(limit) as i64;
        for _ in 0..1 + below(4) {
            let [size, stride] = [(); 2].map(|()| 1 + below(3));
            let dilation = 1 + below(4) / 3;
            let padding = [below(4) - 1, below(4) - 1];
            let extent = (size - 1) * dilation + 1;
            let length = extent + 2 + below(9);
            case.shape.push(length);
            case.sizes.push(size);
            case.strides.push(stride);
            case.dilations.push(dilation);
            case.padding.push(padding);
            let free = length + padding[0] + padding[1] - extent;
            case.positions.push(free / stride + 1);
        }
        case
    }

    /// Returns a program that selects elements by a comparison.
    fn program(&self, element: ElementType, comparison: &str) -> String {
        let tensor = |shape: &[i64]| {
            let sizes: String = shape.iter().map(|n| format!("{n}x")).collect();
            format!("tensor<{sizes}{element}>")
        };
        let list = |list: &[i64]| format!("{list:?}").replace(['[', ']'], "");
        let (x, updates, scalar) = (tensor(&self.shape), tensor(&self.positions), tensor(&[]));
        function(
            &format!("(%x: {x}, %u: {updates}, %v: {scalar}) -> {x}"),
            &format!(
                "%0 = \"stablehlo.select_and_scatter\"(%x, %u, %v) <{{
                   window_dimensions = array<i64: {}>, window_strides = array<i64: {}>,
                   window_dilations = array<i64: {}>, padding = dense<{:?}> : tensor<{}x2xi64>}}> ({{
                 ^bb0(%a: {scalar}, %b: {scalar}):
                   %1 = stablehlo.compare {comparison}, FLOAT : ({scalar}, {scalar}) -> tensor<i1>
                   stablehlo.return %1 : tensor<i1>
                 }}, {{
                 ^bb0(%a: {scalar}, %b: {scalar}):
                   %1 = stablehlo.add %a, %b : {scalar}
                   stablehlo.return %1 : {scalar}
                 }}) : ({x}, {updates}, {scalar}) -> {x}
                 return %0 : {x}",
                list(&self.sizes),
                list(&self.strides),
                list(&self.dilations),
                self.padding,
                self.padding.len(),
            ),
        )
    }

    /// Draws elements, many of them equal and some without an order.
    fn array(&self, random: &mut Random, shape: &[i64], element: ElementType) -> Buffer {
        let values = [-1.5, 0.1, 2.0, -0.0, 0.0, 0.3, f64::NEG_INFINITY, f64::NAN];
        let count: i64 = shape.iter().product();
        let data: Vec<f64> = (0..count).map(|_| values[random.below(8)]).collect();
        let shape: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
        match element {
            F64 => buffer(&shape, element, &data),
            _ => {
                let data: Vec<f32> = data.iter().map(|x| *x as f32).collect();
                buffer(&shape, element, &data)
            }
        }
    }
}

#[test]
fn kernels_select_the_elements_that_regions_select() {
    let mut random = Random(7);
    for number in 0..200 {
        let case = Case::draw(&mut random);
        let element = [F32, F32, F64][number % 3];
        let arguments = [
            case.array(&mut random, &case.shape, element),
            case.array(&mut random, &case.positions, element),
            case.array(&mut random, &[], element),
        ];
        // Regions that compare in the other order have no kernels.
        let orders = [["GE, %a, %b", "LE, %b, %a"], ["LE, %a, %b", "GE, %b, %a"]];
        let [fast, slow] = orders[number % 2]
            .map(|comparison| run(&case.program(element, comparison), &arguments).remove(0));
        // Sums of two NaN may have the bits of either.
        let bits = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
        let ordered = |x: &Buffer| -> Vec<u64> {
            match element {
                F64 => elements::<f64>(x).into_iter().map(bits).collect(),
                _ => elements::<f32>(x)
                    .into_iter()
                    .map(|x| bits(f64::from(x)))
                    .collect(),
            }
        };
        assert_eq!(ordered(&fast), ordered(&slow), "{case:?}");
    }
}

#[test]
fn sums_of_narrow_floats_are_rounded_once() {
    let case = Case {
        shape: vec![3],
        sizes: vec![3],
        strides: vec![1],
        dilations: vec![1],
        padding: vec![[2, 2]],
        positions: vec![5],
    };
    // 256, 1 and 1: each of the small numbers alone is lost.
    let bits = |numbers: &[f32]| -> Vec<u16> {
        numbers.iter().map(|x| (x.to_bits() >> 16) as u16).collect()
    };
    let arguments = [
        buffer(&[3], Bf16, &bits(&[0., 2., 1.])),
        buffer(&[5], Bf16, &bits(&[0., 256., 1., 1., 0.])),
        buffer(&[], Bf16, &bits(&[0.])),
    ];
    let results = run(&case.program(Bf16, "GE, %a, %b"), &arguments);
    assert_eq!(elements::<u16>(&results[0]), bits(&[0., 258., 0.]));
}
