//! Products of few rows that Ramie computes itself (`ramie_pjrt::few_rows`): their values,
//! derivatives and batches against the plugin's `dot_general`, for each path of the function.
//!
//! Both programs are lowered here, so the test depends neither on `RAMIE_OWN_PRODUCTS` nor on the
//! number of rows for which this processor calls the function.

use ramie_core::lower::{CpuCompiler, Module, Partition};
use ramie_core::*;
use ramie_pjrt::few_rows::{READING, TARGET};
use ramie_pjrt::{Buffer, BufferType, CompileOptions};
use std::process::Command;

/// The maximum number of rows on the processors for which the function has the most paths.
const MAX_ROWS: usize = 64;

/// A function of two arrays that contains a product.
type Product = fn(Array, Array) -> Array;

/// A product of two arrays, and the number of calls of Ramie's function in each program with it.
struct Case {
    name: &'static str,
    product: Product,
    shapes: [&'static [usize]; 2],
    calls: Calls,
}

/// The number of calls in each program.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Calls {
    value: usize,
    derivatives: usize,
    /// With a batch axis of the left operand, the right operand, and both.
    batches: [usize; 3],
}

fn dot(x: &Array, y: &Array, contracting: [usize; 2], batch: [&[usize]; 2]) -> Array {
    let numbers = DotDimensionNumbers::new([&[contracting[0]], &[contracting[1]]], batch);
    x.dot_general(y, numbers)
}

const UNBATCHED: [&[usize]; 2] = [&[], &[]];

fn by_rows(x: Array, y: Array) -> Array {
    dot(&x, &y, [1, 0], UNBATCHED)
}

fn by_columns(x: Array, y: Array) -> Array {
    dot(&x, &y, [1, 1], UNBATCHED)
}

/// Steps of a recurrent layer.
fn recurrent(x: Array, y: Array) -> Array {
    scan(
        move |h: Array, x: Array| ((h.matmul(&y) * 0.1 + x).tanh(), ()),
        x.index((0,)),
        x,
    )
    .0
}

/// Returns the calls in the programs of a product: one for each product with the matrix or its
/// tangent. The plugin computes cotangents of the matrix.
const fn calls(batches: [usize; 3]) -> Calls {
    Calls {
        value: 1,
        derivatives: 5,
        batches,
    }
}

fn cases() -> Vec<Case> {
    let case = |name, product: Product, shapes, calls| Case {
        name,
        product,
        shapes,
        calls,
    };
    vec![
        case(
            "one row",
            by_rows,
            [&[1, 256], &[256, 1024]],
            calls([1, 0, 1]),
        ),
        case(
            "one row, adjacent elements of columns",
            by_columns,
            [&[1, 333], &[517, 333]],
            calls([1, 1, 1]),
        ),
        case(
            "few rows",
            by_rows,
            [&[5, 200], &[200, 333]],
            calls([1, 0, 1]),
        ),
        case(
            "few rows, adjacent elements of columns",
            by_columns,
            [&[READING, 211], &[333, 211]],
            calls([1, 1, 1]),
        ),
        case(
            "tiles",
            by_rows,
            [&[READING + 1, 256], &[256, 400]],
            calls([1, 0, 0]),
        ),
        case(
            "all rows of tiles",
            by_rows,
            [&[MAX_ROWS, 300], &[300, 530]],
            calls([0, 0, 0]),
        ),
        case(
            "tiles, adjacent elements of columns",
            by_columns,
            [&[MAX_ROWS - 1, 300], &[530, 300]],
            calls([0, 1, 0]),
        ),
        case(
            "leading axes",
            |x, y| dot(&x, &y, [2, 0], UNBATCHED),
            [&[2, 3, 128], &[128, 256]],
            calls([1, 0, 1]),
        ),
        case(
            "a transposed left operand",
            |x, y| dot(&x, &y, [0, 0], UNBATCHED),
            [&[130, 6], &[130, 256]],
            calls([1, 0, 1]),
        ),
        case(
            "a transposed matrix",
            |x, y| x.matmul(y.transpose(&[1, 0])),
            [&[8, 128], &[256, 128]],
            calls([1, 0, 1]),
        ),
        case(
            "batches",
            |x, y| dot(&x, &y, [2, 1], [&[0], &[0]]),
            [&[4, 2, 96], &[4, 96, 80]],
            calls([1, 0, 1]),
        ),
        case(
            "scores of attention",
            |x, y| dot(&x, &y, [4, 3], [&[0, 2], &[0, 2]]),
            [&[3, 1, 2, 4, 64], &[3, 96, 2, 64]],
            calls([1, 0, 1]),
        ),
        case(
            "weighted values of attention",
            |x, y| dot(&x, &y, [4, 1], [&[0, 1], &[0, 2]]),
            [&[3, 2, 4, 1, 96], &[3, 96, 2, 64]],
            calls([1, 0, 1]),
        ),
        case(
            "a loop",
            recurrent,
            [&[4, 24, 256], &[256, 256]],
            Calls {
                // The cotangent of the state changes, too.
                derivatives: 6,
                ..calls([1, 0, 0])
            },
        ),
    ]
}

fn type_of_shape(shape: &[usize]) -> Array {
    Array::shape_dtype_struct(shape, DType::F32)
}

fn with_batch(shape: &[usize]) -> Array {
    type_of_shape(&[&[2], shape].concat())
}

impl Case {
    fn operands(&self) -> [Array; 2] {
        self.shapes.map(type_of_shape)
    }

    fn value(&self) -> ClosedJaxpr {
        let [x, y] = self.operands();
        make_jaxpr(self.product)(x, y)
    }

    /// Returns the program of the value, the cotangents of both operands, and the tangents of these
    /// three.
    fn derivatives(&self) -> ClosedJaxpr {
        let [x, y] = self.operands();
        let ct = eval_shape(self.product, (x.clone(), y.clone()));
        let product = self.product;
        make_jaxpr(move |at: (Array, Array), by: (Array, Array), ct: Array| {
            let cotangents = move |x: Array, y: Array| {
                let (z, pull) = vjp(product, (x, y));
                (z, pull(ct.clone()))
            };
            jvp(cotangents, at, by)
        })((x.clone(), y.clone()), (x, y), ct)
    }

    fn batches(&self) -> [ClosedJaxpr; 3] {
        let ([x, y], [xs, ys]) = (self.operands(), self.shapes.map(with_batch));
        let over = |axes: [Option<isize>; 2], x: &Array, y: &Array| {
            make_jaxpr(vmap_with(self.product, axes))(x.clone(), y.clone())
        };
        [
            over([Some(0), None], &xs, &y),
            over([None, Some(0)], &x, &ys),
            over([Some(0), Some(0)], &xs, &ys),
        ]
    }

    fn check(&self) {
        let compared =
            |kind: &str, program: ClosedJaxpr| compare(&format!("{}: {kind}", self.name), &program);
        let [left, right, both] = self.batches();
        let calls = Calls {
            value: compared("value", self.value()),
            derivatives: compared("derivatives", self.derivatives()),
            batches: [
                compared("batch of left operands", left),
                compared("batch of right operands", right),
                compared("batch of both operands", both),
            ],
        };
        assert_eq!(calls, self.calls, "{}: calls of {TARGET}", self.name);
    }
}

/// Returns the program, which calls Ramie's function for products of up to `max_own_rows` rows, and
/// the number of the calls.
fn lowered(program: &ClosedJaxpr, max_own_rows: usize) -> (String, usize) {
    let (cpu, partition) = (Some(Platform::Cpu), Partition::default());
    assert!(program.consts.is_empty());
    let module = Module::lower(
        "f",
        &program.jaxpr,
        &[],
        &partition,
        cpu,
        CpuCompiler::Xla { max_own_rows },
    );
    let calls = module.text.matches(TARGET).count();
    (module.text, calls)
}

/// Compares the results of a program with those of the program that calls no function of Ramie.
/// Returns the number of calls.
fn compare(name: &str, program: &ClosedJaxpr) -> usize {
    let (text, calls) = lowered(program, MAX_ROWS);
    let (plain, none) = lowered(program, 0);
    assert_eq!(none, 0, "{name}: {plain}");
    if calls == 0 {
        return 0;
    }
    let args: Vec<Vec<f32>> = (1..)
        .zip(program.jaxpr.in_avals())
        .map(|(seed, aval)| numbers(aval.size(), seed))
        .collect();
    let got = run(&text, program, &args);
    let expected = run(&plain, program, &args);
    for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let scale = expected.iter().fold(0.0f32, |scale, x| scale.max(x.abs()));
        assert!(scale > 0.0, "{name}: result {i} is zero");
        for (at, (x, y)) in got.iter().zip(expected).enumerate() {
            // Not the negation of `>`, which NaN would satisfy.
            let is_close = (x - y).abs() <= 1e-5 * scale;
            assert!(
                is_close,
                "{name}: result {i}, element {at} is {x}, expected {y}"
            );
        }
    }
    calls
}

/// Returns numbers between -1 and 1.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Compiles and runs a program; returns the elements of its results.
fn run(text: &str, program: &ClosedJaxpr, args: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let runtime = runtime().expect("a client");
    let (client, device) = (*runtime.client(), runtime.default_device());
    let types: Vec<BufferType> = program
        .jaxpr
        .in_avals()
        .iter()
        .map(Aval::buffer_type)
        .collect();
    let mut options = CompileOptions::on_device(device.id());
    options.env_overrides = vec![
        (
            "xla_backend_optimization_level".into(),
            OptionOverride::Int(0),
        ),
        (
            "xla_llvm_disable_expensive_passes".into(),
            OptionOverride::Bool(true),
        ),
    ];
    let program = client.compile(text, &options, &types, &[]);
    let program = program.unwrap_or_else(|e| panic!("{e}\n{text}"));
    let put = |(data, ty): (&Vec<f32>, &BufferType)| {
        let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_ne_bytes()).collect();
        client.buffer_from_host(&bytes, *ty, device).expect("room")
    };
    let buffers: Vec<Buffer> = args.iter().zip(&types).map(put).collect();
    let mut results = Vec::new();
    program
        .execute(&buffers.iter().collect::<Vec<_>>(), &[], &mut results)
        .expect("it runs");
    let read = |buffer: &Buffer| {
        let mut bytes = vec![0; buffer.size_bytes()];
        buffer.copy_to_host(&mut bytes).expect("its elements");
        let (numbers, _) = bytes.as_chunks();
        numbers.iter().map(|b| f32::from_ne_bytes(*b)).collect()
    };
    results.iter().map(read).collect()
}

/// Returns whether the plugin and the processor can compute the products.
fn is_supported() -> bool {
    runtime().is_ok_and(|runtime| runtime.client().computes_products())
}

#[test]
fn own_products_equal_those_of_the_plugin() {
    if is_supported() {
        cases().iter().for_each(Case::check);
    }
}

#[test]
fn other_dtypes_are_left_to_the_plugin() {
    for dtype in [DType::F16, DType::BF16, DType::I32, DType::C64] {
        let [x, y] = [&[4, 256], &[256, 1024]].map(|s| Array::shape_dtype_struct(s, dtype));
        let (text, calls) = lowered(&make_jaxpr(by_rows)(x, y), MAX_ROWS);
        assert_eq!(calls, 0, "{text}");
    }
}

/// The setting decides in programs of `jit`, and values are the same.
#[test]
fn the_setting_turns_own_products_off() {
    if std::env::var_os("RAMIE_TEST_PRODUCTS").is_some() {
        let (x, y) = (
            Array::from_slice(&numbers(4 * 256, 1), &[4, 256]),
            Array::from_slice(&numbers(256 * 512, 2), &[256, 512]),
        );
        let product = jit(by_rows);
        let text = product.lower((x.clone(), y.clone())).unwrap().as_text();
        let sums = (x.expand_dims(&[2]) * y.expand_dims(&[0])).sum_over(1);
        let error = (product(x, y) - sums).abs().max().item::<f32>();
        assert!(error <= 1e-4, "{error}");
        println!("calls: {}", text.matches(TARGET).count());
        return;
    }
    for (setting, calls) in [("1", usize::from(is_supported())), ("0", 0)] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg("own_products::the_setting_turns_own_products_off")
            .env("RAMIE_TEST_PRODUCTS", "1")
            .env("RAMIE_OWN_PRODUCTS", setting)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let expected = format!("calls: {calls}\n");
        assert!(
            output.status.success() && text.contains(&expected),
            "{text}"
        );
    }
}
