//! How an operation is run to be checked: at which points, with which
//! derivatives, over which batches.
//!
//! Compiling is what takes time, and one program of many operations costs less
//! than many programs. So plans that run together share two programs: one of
//! results and derivatives, run at several points, and one of batches.

use super::apply::Operation;
use super::golden::{Derivative, from_bytes};
use super::inside::{EXAMPLES, Nesting};
use super::numbers::{Draw, to_f64};
use ramie_core::options::VmapOptions;
use ramie_core::{Array, DType, eval_shape, jit, jvp, vjp, vmap_with};

/// How many examples are in a batch.
pub const BATCH: usize = 3;
/// The step of differences.
pub const STEP: f64 = 1e-6;

/// The directions in which an operation is differentiated.
#[derive(Default)]
pub struct Directions {
    /// Which operands are differentiated.
    pub which: Vec<usize>,
    /// Which results are.
    pub into: Vec<usize>,
    /// Tangents of those operands.
    pub tangents: Vec<Array>,
    /// Cotangents of those results.
    pub cotangents: Vec<Array>,
    /// Tangents of the cotangents, for the second order.
    pub moves: Vec<Array>,
    /// Cotangents of the operands' cotangents, for the second order.
    pub pulls: Vec<Array>,
}

impl Directions {
    /// Draws directions for all floats among operands and results.
    pub fn drawn(inputs: &[Array], outputs: &[Array]) -> Directions {
        let floats = |xs: &[Array]| -> Vec<usize> {
            (0..xs.len())
                .filter(|&i| xs[i].dtype().is_float())
                .collect()
        };
        let (which, into) = (floats(inputs), floats(outputs));
        let mut draw = Draw::new(7);
        let mut like = |xs: &[Array], which: &[usize]| -> Vec<Array> {
            which
                .iter()
                .map(|&i| draw.array(xs[i].shape(), xs[i].dtype(), -1.0, 1.0))
                .collect()
        };
        Directions {
            tangents: like(inputs, &which),
            cotangents: like(outputs, &into),
            moves: like(outputs, &into),
            pulls: like(inputs, &which),
            which,
            into,
        }
    }

    /// Returns the directions of a recorded derivative.
    pub fn recorded(d: &Derivative) -> Directions {
        let (which, tangents) = present(&d.tangents);
        let (into, cotangents) = present(&d.cotangents);
        let turned = |xs: &[Array]| xs.iter().map(|x| varied(x, 1)).collect();
        Directions {
            moves: turned(&cotangents),
            pulls: turned(&tangents),
            which,
            into,
            tangents,
            cotangents,
        }
    }
}

/// Returns the arrays of a list and their indices.
pub fn present(list: &[Option<Array>]) -> (Vec<usize>, Vec<Array>) {
    list.iter()
        .enumerate()
        .filter_map(|(i, a)| Some((i, a.clone()?)))
        .unzip()
}

/// Where the examples of a batched operand are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Axis {
    /// Along its first axis.
    First,
    /// Along its last axis.
    Last,
}

/// A way to batch an operation.
#[derive(Clone, Debug)]
pub struct Variant {
    /// For each operand the axis of its examples; `None` if it is the same for
    /// all.
    pub axes: Vec<Option<Axis>>,
    /// What the operation is inside of.
    pub inside: Nesting,
}

/// Which batches of an operation are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Batches {
    /// None.
    None,
    /// Of the operation itself.
    Plain,
    /// And of the operation inside of control flow.
    Nested,
}

/// The ways to batch `n` operands: all at one axis, all at different ones, and
/// each alone; inside of control flow all together and each alone.
fn variants(n: usize, batches: Batches) -> Vec<Variant> {
    if batches == Batches::None {
        return Vec::new();
    }
    let variant = |axes: &Vec<Option<Axis>>, inside: Nesting| Variant {
        axes: axes.clone(),
        inside,
    };
    let plain = axes_of_examples(n);
    let mut all: Vec<Variant> = plain
        .iter()
        .map(|axes| variant(axes, Nesting::Nothing))
        .collect();
    if batches == Batches::Nested {
        for inside in [Nesting::Cond, Nesting::Scan, Nesting::While] {
            let firsts = plain
                .iter()
                .filter(|axes| !axes.contains(&Some(Axis::Last)));
            all.extend(firsts.map(|axes| variant(axes, inside)));
        }
    }
    all
}

fn axes_of_examples(n: usize) -> Vec<Vec<Option<Axis>>> {
    use Axis::{First, Last};
    let mut all = vec![vec![Some(First); n], vec![Some(Last); n]];
    if n > 1 {
        all.push((0..n).map(|i| Some([First, Last][i % 2])).collect());
        for axis in [First, Last] {
            for alone in 0..n {
                all.push((0..n).map(|i| (i == alone).then_some(axis)).collect());
            }
        }
    }
    all
}

/// How one operation is run.
pub struct Plan<'a> {
    /// The operation.
    pub f: &'a Operation,
    /// Operands.
    pub inputs: &'a [Array],
    /// How many results it has.
    pub outputs: usize,
    /// Directions of derivatives, if any are taken.
    pub directions: Option<Directions>,
    /// Whether derivatives of second order are taken, and points beside the
    /// operands looked at.
    pub smooth: bool,
    /// The ways to batch it.
    pub variants: Vec<Variant>,
    /// Which operands differ between examples, for the examples of a batch.
    subsets: Vec<Vec<bool>>,
}

/// The results of running a plan.
pub struct Ran {
    /// Per point: results, their tangents, the operands' cotangents, and those
    /// of second order.
    points: Vec<Vec<Array>>,
    /// Results of all batches.
    batches: Vec<Array>,
}

impl<'a> Plan<'a> {
    /// Makes a plan. It takes derivatives in the directions of `recorded`, if given.
    pub fn new(
        f: &'a Operation,
        inputs: &'a [Array],
        recorded: Option<&Derivative>,
        smooth: bool,
        batches: Batches,
    ) -> Plan<'a> {
        let results = eval_shape(|xs: Vec<Array>| f(&xs), inputs.to_vec());
        let variants = variants(inputs.len(), batches);
        let mut subsets: Vec<Vec<bool>> = Vec::new();
        for variant in &variants {
            let subset = subset(variant);
            if !subsets.contains(&subset) {
                subsets.push(subset);
            }
        }
        Plan {
            f,
            inputs,
            outputs: results.len(),
            directions: match recorded {
                Some(d) => Some(Directions::recorded(d)),
                None => smooth.then(|| Directions::drawn(inputs, &results)),
            },
            smooth,
            variants,
            subsets,
        }
    }

    /// The operation as a function of what is differentiated.
    fn restricted(&self, d: &Directions, xs: &[Array], inputs: &[Array]) -> Vec<Array> {
        let mut all = inputs.to_vec();
        for (&i, x) in d.which.iter().zip(xs) {
            all[i] = x.clone();
        }
        let outs = (self.f)(&all);
        d.into.iter().map(|&i| outs[i].clone()).collect()
    }

    /// The arguments of [`Plan::differentiate`] at `inputs`, moved by `by`
    /// steps along the tangents.
    fn arguments(&self, inputs: &[Array], by: f64) -> Vec<Array> {
        let mut args = inputs.to_vec();
        let Some(d) = &self.directions else {
            return args;
        };
        let mut cotangents = d.cotangents.clone();
        if by != 0.0 {
            for (&i, t) in d.which.iter().zip(&d.tangents) {
                args[i] = moved(&args[i], t, by);
            }
            for (ct, t) in cotangents.iter_mut().zip(&d.moves) {
                *ct = moved(ct, t, by);
            }
        }
        args.extend_from_slice(&d.tangents);
        args.extend(cotangents);
        if self.smooth {
            args.extend_from_slice(&d.moves);
            args.extend_from_slice(&d.pulls);
        }
        args
    }

    /// Results and derivatives, as a program.
    fn differentiate(&self, args: &[Array]) -> Vec<Array> {
        let (inputs, rest) = args.split_at(self.inputs.len());
        let mut results = (self.f)(inputs);
        let Some(d) = &self.directions else {
            return results;
        };
        let (tangents, rest) = rest.split_at(d.which.len());
        let (cotangents, rest) = rest.split_at(d.into.len());
        let primals: Vec<Array> = d.which.iter().map(|&i| inputs[i].clone()).collect();
        let f = |xs: Vec<Array>| self.restricted(d, &xs, inputs);
        results.extend(jvp(f, primals.clone(), tangents.to_vec()).1);
        let back = |args: Vec<Array>| {
            let (xs, cotangents) = args.split_at(d.which.len());
            vjp(f, xs.to_vec()).1(cotangents.to_vec())
        };
        let at = [&primals, cotangents].concat();
        results.extend(back(at.clone()));
        if self.smooth {
            let (moves, pulls) = rest.split_at(d.into.len());
            results.extend(jvp(back, at.clone(), [tangents, moves].concat()).1);
            results.extend(vjp(back, at).1(pulls.to_vec()));
        }
        results
    }

    /// The lengths of the parts of what [`Plan::differentiate`] gives.
    fn parts(&self) -> [usize; 5] {
        let (n, m) = match &self.directions {
            Some(d) => (d.which.len(), d.into.len()),
            None => (0, 0),
        };
        let second = usize::from(self.smooth);
        [self.outputs, m, n, second * n, second * (n + m)]
    }

    /// All batches, as a program of the operands and of their examples, stacked
    /// along the first axis.
    fn batch(&self, args: &[Array]) -> Vec<Array> {
        let (inputs, stacks) = args.split_at(self.inputs.len());
        let run = |variant: &Variant| {
            let of = |axis: Axis| -> (Vec<usize>, Vec<Array>) {
                let axes = &variant.axes;
                let which = (0..axes.len()).filter(|&i| axes[i] == Some(axis));
                which
                    .map(|i| {
                        let to = if axis == Axis::First { 0 } else { -1 };
                        (i, stacks[i].move_axis(0, to))
                    })
                    .unzip()
            };
            let ((firsts, first), (lasts, last)) = (of(Axis::First), of(Axis::Last));
            let out = if firsts.is_empty() { -1 } else { 0 };
            let f = |first: Vec<Array>, last: Vec<Array>| {
                let mut all = inputs.to_vec();
                let places = firsts.iter().chain(&lasts);
                for (&i, x) in places.zip(first.into_iter().chain(last)) {
                    all[i] = x;
                }
                variant.inside.apply(self.f, all)
            };
            let options = VmapOptions {
                in_axes: [Some(0), Some(-1)].into(),
                out_axes: out.into(),
                axis_name: Some(EXAMPLES.into()),
                axis_size: None,
                ..VmapOptions::default()
            };
            let results = vmap_with(f, options)(first, last);
            results
                .into_iter()
                .map(|r| r.move_axis(out, 0))
                .collect::<Vec<_>>()
        };
        self.variants.iter().flat_map(run).collect()
    }

    /// The operands of example `k` where those of a subset differ.
    fn example(&self, subset: &[bool], k: usize) -> Vec<Array> {
        let pairs = self.inputs.iter().zip(subset);
        pairs
            .map(|(x, differs)| if *differs { varied(x, k) } else { x.clone() })
            .collect()
    }

    /// The points at which the operation is run: the operands; the points
    /// beside them; the examples of batches.
    fn points(&self) -> Vec<Vec<Array>> {
        let mut points = vec![self.arguments(self.inputs, 0.0)];
        if self.smooth {
            points.push(self.arguments(self.inputs, STEP));
            points.push(self.arguments(self.inputs, -STEP));
        }
        for subset in &self.subsets {
            for k in 1..BATCH {
                points.push(self.arguments(&self.example(subset, k), 0.0));
            }
        }
        points
    }

    /// Part `part` (see [`Plan::parts`]) of what a point gave.
    fn part<'r>(&self, ran: &'r Ran, point: usize, part: usize) -> &'r [Array] {
        let parts = self.parts();
        let start: usize = parts[..part].iter().sum();
        &ran.points[point][start..start + parts[part]]
    }

    /// Returns the results.
    pub fn values<'r>(&self, ran: &'r Ran) -> &'r [Array] {
        self.part(ran, 0, 0)
    }

    /// Returns the tangents of the results.
    pub fn jvp<'r>(&self, ran: &'r Ran) -> &'r [Array] {
        self.part(ran, 0, 1)
    }

    /// Returns the cotangents of the operands.
    pub fn vjp<'r>(&self, ran: &'r Ran) -> &'r [Array] {
        self.part(ran, 0, 2)
    }

    /// Returns the tangents of the operands' cotangents.
    pub fn second_jvp<'r>(&self, ran: &'r Ran) -> &'r [Array] {
        self.part(ran, 0, 3)
    }

    /// Returns the cotangents of the operands and of the results' cotangents.
    pub fn second_vjp<'r>(&self, ran: &'r Ran) -> &'r [Array] {
        self.part(ran, 0, 4)
    }

    /// Returns the differentiated results at the points beside the operands.
    pub fn beside<'r>(&self, ran: &'r Ran) -> [Vec<&'r Array>; 2] {
        let d = self.directions.as_ref().expect("directions");
        [1, 2].map(|point| {
            let values = self.part(ran, point, 0);
            d.into.iter().map(|&i| &values[i]).collect()
        })
    }

    /// Returns the operands' cotangents at the points beside the operands.
    pub fn vjp_beside<'r>(&self, ran: &'r Ran) -> [Vec<&'r Array>; 2] {
        [1, 2].map(|point| self.part(ran, point, 2).iter().collect())
    }

    /// Returns, for each way to batch, its results and the stacked results of a loop.
    pub fn batches<'r>(&'r self, ran: &'r Ran) -> Vec<(&'r Variant, &'r [Array], Vec<Array>)> {
        let first = 1 + 2 * usize::from(self.smooth);
        let looped = |variant: &Variant| -> Vec<Array> {
            let place = self.subsets.iter().position(|s| *s == subset(variant));
            let at = first + place.expect("a subset of the plan") * (BATCH - 1);
            let points: Vec<usize> = std::iter::once(0).chain(at..at + BATCH - 1).collect();
            (0..self.outputs)
                .map(|i| {
                    let examples = points.iter().map(|&p| ran.points[p][i].clone());
                    stacked(&examples.collect::<Vec<_>>())
                })
                .collect()
        };
        let results = ran.batches.chunks(self.outputs.max(1));
        self.variants
            .iter()
            .zip(results)
            .map(|(v, got)| (v, got, looped(v)))
            .collect()
    }
}

/// Runs plans together.
pub fn run(plans: &[Plan<'_>]) -> Vec<Ran> {
    let points: Vec<Vec<Vec<Array>>> = plans.iter().map(Plan::points).collect();
    let most = points.iter().map(Vec::len).max().unwrap_or(0);
    let program = jit(|args: Vec<Vec<Array>>| -> Vec<Vec<Array>> {
        let pairs = plans.iter().zip(&args);
        pairs.map(|(plan, args)| plan.differentiate(args)).collect()
    });
    let mut ran: Vec<Ran> = plans
        .iter()
        .map(|_| Ran {
            points: Vec::new(),
            batches: Vec::new(),
        })
        .collect();
    for point in 0..most {
        let at = |list: &Vec<Vec<Array>>| list.get(point).unwrap_or(&list[0]).clone();
        let results = program(points.iter().map(at).collect());
        for ((ran, result), list) in ran.iter_mut().zip(results).zip(&points) {
            if point < list.len() {
                ran.points.push(result);
            }
        }
    }
    let batched: Vec<usize> = (0..plans.len())
        .filter(|&i| !plans[i].variants.is_empty())
        .collect();
    if batched.is_empty() {
        return ran;
    }
    let program = jit(|args: Vec<Vec<Array>>| -> Vec<Vec<Array>> {
        let pairs = batched.iter().zip(&args);
        pairs.map(|(&i, args)| plans[i].batch(args)).collect()
    });
    let arguments = |&i: &usize| -> Vec<Array> {
        let inputs = plans[i].inputs;
        let stacks = inputs.iter().map(|x| {
            let examples: Vec<Array> = (0..BATCH).map(|k| varied(x, k)).collect();
            stacked(&examples)
        });
        inputs.iter().cloned().chain(stacks).collect()
    };
    let results = program(batched.iter().map(arguments).collect());
    for (&i, result) in batched.iter().zip(results) {
        ran[i].batches = result;
    }
    ran
}

fn subset(variant: &Variant) -> Vec<bool> {
    variant.axes.iter().map(Option::is_some).collect()
}

/// `x` moved by `by` times `t`.
fn moved(x: &Array, t: &Array, by: f64) -> Array {
    assert_eq!(x.dtype(), DType::F64, "differences are taken of f64");
    let pairs = to_f64(x).into_iter().zip(to_f64(t));
    let values: Vec<f64> = pairs.map(|(x, t)| x + by * t).collect();
    Array::from_slice(&values, x.shape())
}

/// The array of example `k`: the elements moved on by `k` places, the last ones
/// first; a single number becomes another one.
fn varied(x: &Array, k: usize) -> Array {
    if k == 0 {
        return x.clone();
    }
    let mut bytes = x.try_to_bytes().expect("elements");
    if x.ndim() == 0 {
        if x.dtype().is_float() {
            let value = to_f64(x)[0] * (1.0 - k as f64 / 8.0);
            return Array::scalar(value, DType::F64).astype(x.dtype());
        }
        bytes[0] = match x.dtype() {
            DType::Bool => bytes[0] ^ (k as u8 & 1),
            _ => bytes[0].wrapping_add(k as u8),
        };
    } else if !bytes.is_empty() {
        let n = bytes.len();
        bytes.rotate_right((k * x.dtype().size()) % n);
    }
    from_bytes(x.dtype(), x.shape(), &bytes)
}

/// Arrays of one shape as one array, along a new first axis.
fn stacked(arrays: &[Array]) -> Array {
    let first = &arrays[0];
    let mut bytes = Vec::new();
    for a in arrays {
        bytes.extend(a.try_to_bytes().expect("elements"));
    }
    let shape: Vec<usize> = std::iter::once(arrays.len())
        .chain(first.shape().iter().copied())
        .collect();
    from_bytes(first.dtype(), &shape, &bytes)
}
