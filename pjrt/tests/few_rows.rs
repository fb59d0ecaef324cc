//! Products of few rows, called by programs.

mod common;

use common::*;
use ramie_pjrt::few_rows::TARGET;

/// A matrix with batch axes, and the axes that the product sums over and keeps.
struct Case {
    rows: usize,
    dims: &'static [i64],
    contracting: usize,
    free: usize,
}

fn tensor(dims: &[i64]) -> String {
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    format!("tensor<{}xf32>", dims.join("x"))
}

fn row_major(rank: usize) -> String {
    let axes: Vec<String> = (0..rank).rev().map(|d| d.to_string()).collect();
    format!("dense<[{}]> : tensor<{rank}xindex>", axes.join(", "))
}

impl Case {
    fn is_batch(&self, axis: usize) -> bool {
        axis != self.contracting && axis != self.free
    }

    /// Returns the number of batch elements, and the dimensions of the left operand and the result.
    fn dims(&self) -> (usize, [i64; 3], [i64; 3]) {
        let batch = (0..self.dims.len()).filter(|d| self.is_batch(*d));
        let batch: i64 = batch.map(|d| self.dims[d]).product();
        let [depth, columns] = [self.contracting, self.free].map(|d| self.dims[d]);
        let rows = self.rows as i64;
        (batch as usize, [batch, rows, depth], [batch, rows, columns])
    }

    fn program(&self) -> String {
        let (_, left, out) = self.dims();
        let (left, matrix, out) = (tensor(&left), tensor(self.dims), tensor(&out));
        format!(
            "func.func @main(%x: {left}, %y: {matrix}) -> {out} {{
               %z = stablehlo.custom_call @{TARGET}(%x, %y) {{api_version = 4 : i32,
                 backend_config = {{contracting = {} : i64, free = {} : i64}},
                 operand_layouts = [{}, {}], result_layouts = [{}]}} : ({left}, {matrix}) -> {out}
               return %z : {out}
             }}",
            self.contracting,
            self.free,
            row_major(3),
            row_major(self.dims.len()),
            row_major(3),
        )
    }

    /// Computes the product element by element in `f64`.
    fn expected(&self, x: &[f32], y: &[f32]) -> Vec<f64> {
        let (batches, left, out) = self.dims();
        let stride = |d: usize| self.dims[d + 1..].iter().product::<i64>() as usize;
        let (depth, columns) = (left[2] as usize, out[2] as usize);
        let mut all = Vec::new();
        for batch in 0..batches {
            let (mut rest, mut start) = (batch, 0);
            for d in (0..self.dims.len()).rev().filter(|d| self.is_batch(*d)) {
                let size = self.dims[d] as usize;
                start += rest % size * stride(d);
                rest /= size;
            }
            for row in 0..self.rows {
                let x = &x[(batch * self.rows + row) * depth..][..depth];
                for column in 0..columns {
                    let at = |k: usize| {
                        start + k * stride(self.contracting) + column * stride(self.free)
                    };
                    let products = x.iter().enumerate();
                    all.push(
                        products
                            .map(|(k, x)| f64::from(*x) * f64::from(y[at(k)]))
                            .sum(),
                    );
                }
            }
        }
        all
    }

    fn check(&self) {
        let (_, left, _) = self.dims();
        let (x, y) = (numbers(&left, 1), numbers(self.dims, 2));
        let inputs = [f32s(&left), f32s(self.dims)];
        let program = compile(&self.program(), &inputs, &[]);
        let args = [put(&x, &left, device(0)), put(&y, self.dims, device(0))];
        let outs = run(&program, &[&args[0], &args[1]]).unwrap();
        let (got, expected) = (get(&outs[0]), self.expected(&x, &y));
        assert_eq!(got.len(), expected.len());
        for (i, (got, want)) in got.iter().zip(expected).enumerate() {
            let error = (f64::from(*got) - want).abs();
            assert!(
                error <= 1e-6 * left[2] as f64,
                "{} rows by {:?}: element {i} is {got}, expected {want}",
                self.rows,
                self.dims
            );
        }
    }
}

fn numbers(dims: &[i64], seed: u32) -> Vec<f32> {
    let mut state = seed;
    let count = dims.iter().product::<i64>();
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect()
}

#[test]
fn products_equal_those_in_double_precision() {
    if !client().computes_products() {
        return;
    }
    // Matrices in both orders, with sizes that tiles do not divide, for one piece and several.
    let matrices: [(&[i64], usize, usize); 13] = [
        (&[1, 1], 0, 1),
        (&[9, 17], 0, 1),
        (&[9, 17], 1, 0),
        (&[300, 530], 0, 1),
        (&[300, 530], 1, 0),
        (&[64, 1550], 0, 1),
        (&[50, 5003], 0, 1),
        (&[1550, 64], 1, 0),
        // Batch axes before and between.
        (&[3, 20, 2, 24], 3, 1),
        (&[3, 20, 2, 24], 1, 3),
        (&[2, 130, 3, 97], 3, 1),
        (&[2, 530, 3, 64], 1, 3),
        (&[2, 700, 303], 1, 2),
    ];
    for rows in [1, 2, 3, 4, 5, 8, 13, 17, 32, 64] {
        for (dims, contracting, free) in matrices {
            let case = Case {
                rows,
                dims,
                contracting,
                free,
            };
            case.check();
        }
    }
}

#[test]
fn calls_with_other_shapes_fail() {
    if !client().computes_products() {
        return;
    }
    let case = Case {
        rows: 2,
        dims: &[16, 32],
        contracting: 0,
        free: 1,
    };
    let program = case.program().replace("free = 1", "free = 2");
    let inputs = [f32s(&[1, 2, 16]), f32s(&[16, 32])];
    let program = compile(&program, &inputs, &[]);
    let args = [
        put(&[0.0; 32], &[1, 2, 16], device(0)),
        put(&[0.0; 512], &[16, 32], device(0)),
    ];
    let outs = run(&program, &[&args[0], &args[1]]);
    let error = outs.and_then(|outs| outs[0].copy_to_host(&mut [0; 256]));
    let error = error.expect_err("the axis does not exist").to_string();
    assert!(
        error.contains("a product of [1, 2, 16] and [16, 32]"),
        "{error}"
    );
}
