//! Transformations, one around the other, of a program: on arrays by the
//! library, on the host by loops over examples, elements and directions.

use super::host::Tensor;
use super::number::Number;
use super::program::{Kind, Program, Type};
use super::rng::Rng;
use ramie::lax::{cond, fori_loop, scan};
use ramie::typing::MapAxes;
use ramie::{Array, DType, grad, jit, jvp, linearize, remat, vjp, vmap_with};
use std::sync::Arc;

/// A transformation of a function of several arrays that returns one.
#[derive(Clone, Debug)]
pub enum Transform {
    Jit,
    Checkpoint,
    /// Batch axes of the inputs, number of examples, axis of the result.
    Vmap(Vec<Option<usize>>, usize, usize),
    /// The same over the first axis of the first input, one by one.
    Map(usize),
    /// The gradient with respect to the first input of the result's sum with
    /// irregular weights, by `grad` or by `vjp`.
    Grad {
        by_vjp: bool,
    },
    /// The derivative in an irregular direction, by `jvp` or by `linearize`.
    Jvp {
        by_linearize: bool,
    },
    /// Several steps that change the first input by the result; all results.
    Scan(usize),
    /// Several such steps; the first input as it is in the end.
    ForiLoop(usize),
    /// The result or its sine, by the sign of the first input's sum.
    Cond,
}

impl Transform {
    pub fn differentiates(&self) -> bool {
        matches!(self, Transform::Grad { .. } | Transform::Jvp { .. })
    }
}

/// The types of a function.
#[derive(Clone)]
pub struct Signature {
    pub inputs: Vec<Type>,
    pub result: Type,
}

impl Signature {
    pub fn of(program: &Program) -> Signature {
        Signature {
            inputs: program.inputs.clone(),
            result: program.result().clone(),
        }
    }

    /// The types of the transformed function.
    pub fn transformed(&self, transform: &Transform) -> Signature {
        let with = |shape: &[usize], axis: usize, n: usize| {
            let mut shape = shape.to_vec();
            shape.insert(axis, n);
            shape
        };
        let mut out = self.clone();
        let result = &self.result.shape;
        match transform {
            Transform::Vmap(axes, n, out_axis) => {
                for (ty, axis) in out.inputs.iter_mut().zip(axes) {
                    if let Some(axis) = axis {
                        ty.shape = with(&ty.shape, *axis, *n);
                    }
                }
                out.result.shape = with(result, *out_axis, *n);
            }
            Transform::Map(n) => {
                out.inputs[0].shape = with(&out.inputs[0].shape, 0, *n);
                out.result.shape = with(result, 0, *n);
            }
            Transform::Grad { .. } | Transform::ForiLoop(_) => out.result = self.inputs[0].clone(),
            Transform::Scan(n) => out.result.shape = with(result, 0, *n),
            Transform::Jit | Transform::Checkpoint | Transform::Jvp { .. } | Transform::Cond => {}
        }
        out
    }
}

/// Up to `most` transformations, the innermost first.
pub fn generate(rng: &mut Rng, program: &Program, most: usize) -> Vec<Transform> {
    let mut signature = Signature::of(program);
    let mut stack: Vec<Transform> = Vec::new();
    let reverse = !program.has_while();
    for _ in 0..rng.below(most + 1) {
        let small = signature.inputs[0].size().max(signature.result.size()) <= 24;
        let derivatives = stack.iter().filter(|t| t.differentiates()).count();
        let transform = match rng.below(10) {
            0 => Transform::Jit,
            1 => Transform::Checkpoint,
            2 | 3 if small => {
                let n = 1 + rng.below(3);
                let mut axes: Vec<Option<usize>> = Vec::new();
                for ty in &signature.inputs {
                    axes.push(rng.chance(60).then(|| rng.below(ty.rank() + 1)));
                }
                if axes.iter().all(Option::is_none) {
                    axes[0] = Some(0);
                }
                Transform::Vmap(axes, n, rng.below(signature.result.rank() + 1))
            }
            4 if small => Transform::Map(1 + rng.below(3)),
            5 | 6 if reverse && derivatives < 2 => Transform::Grad {
                by_vjp: rng.chance(50),
            },
            7 if derivatives < 2 => Transform::Jvp {
                by_linearize: reverse && rng.chance(50),
            },
            8 if small => {
                if rng.chance(50) {
                    Transform::Scan(1 + rng.below(3))
                } else {
                    Transform::ForiLoop(1 + rng.below(3))
                }
            }
            9 => Transform::Cond,
            _ => continue,
        };
        signature = signature.transformed(&transform);
        stack.push(transform);
    }
    stack
}

/// The types of the whole stack.
pub fn signature(program: &Program, stack: &[Transform]) -> Signature {
    stack
        .iter()
        .fold(Signature::of(program), |s, t| s.transformed(t))
}

/// Salts of the irregular weights and directions.
const WEIGHTS: u64 = 17;
const DIRECTION: u64 = 40;

/// What a step of a loop makes of the first input.
const KEEP: f64 = 0.5;

/// Evaluates on the host; `level` directions are taken by transformations
/// around these.
pub fn on_host(program: &Program, stack: &[Transform], inputs: &[Tensor], level: usize) -> Tensor {
    let Some((transform, inner)) = stack.split_last() else {
        return program.on_host(inputs);
    };
    let ty = signature(program, inner);
    let call = |inputs: &[Tensor], level: usize| on_host(program, inner, inputs, level);
    match transform {
        Transform::Jit | Transform::Checkpoint => call(inputs, level),
        Transform::Vmap(axes, n, out_axis) => {
            let examples = (0..*n).map(|k| {
                let pick = |(x, axis): (&Tensor, &Option<usize>)| match axis {
                    Some(axis) => x.example(*axis, k),
                    None => x.clone(),
                };
                call(
                    &inputs.iter().zip(axes).map(pick).collect::<Vec<_>>(),
                    level,
                )
            });
            Tensor::stack(&examples.collect::<Vec<_>>(), *out_axis, &ty.result.shape)
        }
        Transform::Map(n) => {
            let examples = (0..*n).map(|k| {
                let mut inputs = inputs.to_vec();
                inputs[0] = inputs[0].example(0, k);
                call(&inputs, level)
            });
            Tensor::stack(&examples.collect::<Vec<_>>(), 0, &ty.result.shape)
        }
        Transform::Grad { .. } => {
            let weights = ty.result.pattern(WEIGHTS);
            let mut gradient = inputs[0].clone();
            for (i, slot) in gradient.data.iter_mut().enumerate() {
                let mut inputs = inputs.to_vec();
                inputs[0].data[i].dots[level] += 1.0;
                let out = call(&inputs, level + 1);
                let pairs = out.data.iter().zip(&weights.data);
                let sum = pairs.fold(Number::from(0.0), |s, (&x, &w)| s.add(x.mul(w)));
                *slot = sum.derivative(level);
            }
            gradient
        }
        Transform::Jvp { .. } => {
            let mut inputs = inputs.to_vec();
            for (x, ty) in inputs.iter_mut().zip(&ty.inputs) {
                if ty.is_float() {
                    let direction = ty.pattern(DIRECTION);
                    for (x, d) in x.data.iter_mut().zip(&direction.data) {
                        x.dots[level] += d.value;
                    }
                }
            }
            call(&inputs, level + 1).map(|x| x.derivative(level))
        }
        Transform::Scan(n) | Transform::ForiLoop(n) => {
            let mut inputs = inputs.to_vec();
            let mut results = Vec::new();
            for _ in 0..*n {
                let out = call(&inputs, level);
                let change = out.sum().sin();
                inputs[0] = inputs[0].map(|x| x.scale(KEEP).add(change));
                results.push(out);
            }
            match transform {
                Transform::Scan(_) => Tensor::stack(&results, 0, &ty.result.shape),
                _ => inputs.swap_remove(0),
            }
        }
        Transform::Cond => {
            let out = call(inputs, level);
            let sum = inputs[0].sum().value;
            super::number::chosen(sum, 0.0);
            if sum > 0.0 { out } else { out.map(Number::sin) }
        }
    }
}

/// A function of arrays.
pub type Function = Arc<dyn Fn(Vec<Array>) -> Array + Send + Sync>;

/// The transformed program as a function of arrays.
pub fn on_arrays(program: &Program, stack: &[Transform]) -> Function {
    let Some((transform, inner)) = stack.split_last() else {
        let program = program.clone();
        return Arc::new(move |xs| program.on_arrays(&xs));
    };
    let f = on_arrays(program, inner);
    let ty = signature(program, inner);
    match transform.clone() {
        Transform::Jit => {
            let f = jit(move |xs: Vec<Array>| (*f)(xs));
            // What is called is what the function dereferences to.
            #[allow(clippy::redundant_closure)]
            Arc::new(move |xs| f(xs))
        }
        Transform::Checkpoint => Arc::from(remat(move |xs: Vec<Array>| (*f)(xs))),
        Transform::Vmap(axes, _, out_axis) => {
            let axis = move |path: &str| {
                let number = path.rsplit('.').next().expect("a path");
                axes[number.parse::<usize>().expect("a number")].map(|a| a as isize)
            };
            Arc::from(vmap_with(
                move |xs: Vec<Array>| (*f)(xs),
                (MapAxes::by_path(axis), out_axis as isize),
            ))
        }
        Transform::Map(_) => Arc::new(move |mut xs| {
            let rest = xs.split_off(1);
            let one = |x: Array| f(std::iter::once(x).chain(rest.iter().cloned()).collect());
            ramie::lax::map(one, xs.remove(0))
        }),
        Transform::Grad { by_vjp } => Arc::new(move |mut xs| {
            let rest = xs.split_off(1);
            let weights = super::device::array(&ty.result.pattern(WEIGHTS), Kind::F64);
            let f = f.clone();
            let whole = move |x: Array| f(std::iter::once(x).chain(rest.iter().cloned()).collect());
            if by_vjp {
                let (_, pull) = vjp(whole, xs.remove(0));
                return pull(weights);
            }
            grad(move |x: Array| (whole(x) * &weights).sum())(xs.remove(0))
        }),
        Transform::Jvp { by_linearize } => Arc::new(move |xs| {
            let direction = |(x, ty): (&Array, &Type)| {
                if ty.is_float() {
                    super::device::array(&ty.pattern(DIRECTION), Kind::F64)
                } else {
                    Array::zeros(x.shape(), x.dtype())
                }
            };
            let direction: Vec<Array> = xs.iter().zip(&ty.inputs).map(direction).collect();
            let f = f.clone();
            if by_linearize {
                return linearize(move |xs: Vec<Array>| f(xs), xs).1(direction);
            }
            jvp(move |xs: Vec<Array>| f(xs), xs, direction).1
        }),
        Transform::Scan(n) => Arc::new(move |mut xs| {
            let rest = xs.split_off(1);
            let step = |x: Array, _: Array| {
                let out = f(std::iter::once(x.clone())
                    .chain(rest.iter().cloned())
                    .collect());
                (x * KEEP + out.sum().sin(), out)
            };
            scan(step, xs.remove(0), Array::zeros(&[n], DType::F32)).1
        }),
        Transform::ForiLoop(n) => Arc::new(move |mut xs| {
            let rest = xs.split_off(1);
            let step = |_: Array, x: Array| {
                let out = f(std::iter::once(x.clone())
                    .chain(rest.iter().cloned())
                    .collect());
                x * KEEP + out.sum().sin()
            };
            fori_loop(0, n as i32, step, xs.remove(0))
        }),
        Transform::Cond => Arc::new(move |xs| {
            let positive = xs[0].sum().gt(0.0);
            cond(positive, |xs| f(xs), |xs| f(xs).sin(), xs)
        }),
    }
}
