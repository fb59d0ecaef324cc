//! Convolutions of whole numbers, compared with plain loops.

use crate::{Random, buffer, elements, function, run};
use ramie_cpu::ElementType::*;

impl Random {
    fn among<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Returns the axes batch, features and two of space in an order in which they are in memory.
    fn order(&mut self) -> [usize; 4] {
        self.among(&[[0, 1, 2, 3], [0, 2, 3, 1], [1, 2, 3, 0], [2, 3, 0, 1]])
    }

    fn numbers(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.below(9) as f32 - 4.0).collect()
    }
}

/// A convolution whose arrays have the axes batch, features, height and width.
struct Case {
    x: [usize; 4],
    kernel: [usize; 4],
    out: [usize; 4],
    stride: [usize; 2],
    low: [i64; 2],
    high: [i64; 2],
    base: [usize; 2],
    dilation: [usize; 2],
    reversed: [bool; 2],
    /// Groups of features and of examples.
    groups: [usize; 2],
}

impl Case {
    fn new(random: &mut Random, long: bool) -> Case {
        let group = random.among(&[1, 1, 2, 3]);
        let groups = random.among(&[[group, 1], [1, group]]);
        let inputs = random.among(&[1, 3, if long { 20 } else { 8 }]);
        let outputs = random.among(&[1, 5, 16]) * group;
        let batch = random.among(&[1, 4, if long { 40 } else { 2 }]);
        let mut case = Case {
            x: [batch * groups[1], inputs * groups[0], 0, 0],
            kernel: [outputs, inputs, 0, 0],
            out: [batch, outputs, 0, 0],
            stride: [0; 2],
            low: [0; 2],
            high: [0; 2],
            base: [0; 2],
            dilation: [0; 2],
            reversed: [0; 2].map(|_| random.below(2) == 1),
            groups,
        };
        for axis in 0..2 {
            let size = random.among(&[1, 4, 9, 17]);
            let window = random.among(&[1, 3, if long { 16 } else { 2 }]);
            case.stride[axis] = random.among(&[1, 1, 2, 3]);
            case.base[axis] = random.among(&[1, 1, 1, 2]);
            case.dilation[axis] = random.among(&[1, 1, 2]);
            case.low[axis] = random.among(&[0, 1, 2]);
            let reach = (window - 1) * case.dilation[axis] + 1;
            let padded = (size - 1) * case.base[axis] + 1 + case.low[axis] as usize;
            case.high[axis] = reach.saturating_sub(padded) as i64 + random.among(&[0, 1]);
            let free = padded + case.high[axis] as usize - reach;
            case.x[2 + axis] = size;
            case.kernel[2 + axis] = window;
            case.out[2 + axis] = free / case.stride[axis] + 1;
        }
        case
    }

    /// Returns an element of the padded array.
    fn input(&self, x: &[f32], index: [usize; 2], at: [i64; 2]) -> f32 {
        let mut place = index[0] * self.x[1] + index[1];
        for (axis, at) in at.into_iter().enumerate() {
            let (base, size) = (self.base[axis] as i64, self.x[2 + axis]);
            if at < 0 || at % base != 0 || at / base >= size as i64 {
                return 0.0;
            }
            place = place * size + (at / base) as usize;
        }
        x[place]
    }

    fn result(&self, x: &[f32], kernel: &[f32]) -> Vec<f32> {
        let [_, inputs, height, width] = self.kernel;
        let mut result = Vec::new();
        for i in 0..self.out.iter().product() {
            let [batch, output, top, left] = indices(i, self.out);
            let group = output / (self.out[1] / (self.groups[0] * self.groups[1]));
            let (first, example) = match self.groups[1] {
                1 => (group * inputs, batch),
                _ => (0, group * self.out[0] + batch),
            };
            let mut sum = 0.0;
            for k in 0..inputs * height * width {
                let [_, input, down, right] = indices(k, [1, inputs, height, width]);
                let at = |axis: usize, position: usize, offset: usize| {
                    (position * self.stride[axis] + offset * self.dilation[axis]) as i64
                        - self.low[axis]
                };
                let value = self.input(
                    x,
                    [example, first + input],
                    [at(0, top, down), at(1, left, right)],
                );
                let turned = |axis: usize, offset: usize, size: usize| {
                    if self.reversed[axis] {
                        size - 1 - offset
                    } else {
                        offset
                    }
                };
                let row = (output * inputs + input) * height + turned(0, down, height);
                sum += value * kernel[row * width + turned(1, right, width)];
            }
            result.push(sum);
        }
        result
    }

    /// Returns the operation on transposed arrays, with a result that is transposed back.
    fn text(&self, orders: [[usize; 4]; 3]) -> String {
        let [x, kernel, out] = [
            (self.x, orders[0]),
            (self.kernel, orders[1]),
            (self.out, orders[2]),
        ]
        .map(|(shape, order)| (ty(shape), ty(order.map(|axis| shape[axis])), order));
        let names = |order: [usize; 4], names: [&str; 2]| {
            let name = |axis: usize| [names[0], names[1], "0", "1"][axis];
            order.map(name).join(", ")
        };
        let mut back = [0; 4];
        (0..4).for_each(|i| back[out.2[i]] = i);
        let body = format!(
            "%x = stablehlo.transpose %0, dims = {:?} : ({}) -> {}
             %c = stablehlo.constant dense<1.0> : {}
             %y = stablehlo.multiply %x, %c : {}
             %k = stablehlo.transpose %1, dims = {:?} : ({}) -> {}
             %r = stablehlo.convolution(%y, %k) dim_numbers = [{}]x[{}]->[{}], window = {{stride = {:?}, pad = [[{}, {}], [{}, {}]], lhs_dilate = {:?}, rhs_dilate = {:?}, reverse = {:?}}} {{batch_group_count = {} : i64, feature_group_count = {} : i64}} : ({}, {}) -> {}
             %b = stablehlo.transpose %r, dims = {back:?} : ({}) -> {}
             return %b : {}",
            x.2, x.0, x.1, x.1, x.1, kernel.2, kernel.0, kernel.1,
            names(x.2, ["b", "f"]), names(kernel.2, ["o", "i"]), names(out.2, ["b", "f"]),
            self.stride, self.low[0], self.high[0], self.low[1], self.high[1],
            self.base, self.dilation, self.reversed, self.groups[1], self.groups[0],
            x.1, kernel.1, out.1, out.1, out.0, out.0,
        );
        let signature = format!("(%0: {}, %1: {}) -> {}", x.0, kernel.0, out.0);
        function(&signature, &body)
    }
}

fn ty(shape: [usize; 4]) -> String {
    format!("tensor<{}xf32>", shape.map(|n| n.to_string()).join("x"))
}

/// Returns the index of an element in row-major order.
fn indices(mut number: usize, shape: [usize; 4]) -> [usize; 4] {
    let mut index = [0; 4];
    for axis in (0..4).rev() {
        index[axis] = number % shape[axis];
        number /= shape[axis];
    }
    index
}

#[test]
fn convolutions_are_sums_of_products() {
    let mut random = Random(1);
    for number in 0..300 {
        let case = Case::new(&mut random, number % 3 == 0);
        let work: usize = case.out.iter().chain(&case.kernel[1..]).product();
        if work > 3_000_000 {
            continue;
        }
        let orders = [0; 3].map(|_| random.order());
        let (x, kernel) = (
            random.numbers(case.x.iter().product()),
            random.numbers(case.kernel.iter().product()),
        );
        let text = case.text(orders);
        let arguments = [buffer(&case.x, F32, &x), buffer(&case.kernel, F32, &kernel)];
        let result: Vec<f32> = elements(&run(&text, &arguments)[0]);
        assert!(result == case.result(&x, &kernel), "case {number}\n{text}");
    }
}
