//! The plain interpreter: loops over elements, one operation after another.

use super::number::{Number, chosen};
use super::program::{Binary, Compare, Cumulative, Inner, Op, Program, Reduction, Type, Unary};

/// An array on the host. Integers and truth values are numbers too.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub shape: Vec<usize>,
    pub data: Vec<Number>,
}

/// All indices of a shape, row by row.
pub fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let size: usize = shape.iter().product();
    (0..size).map(move |mut flat| {
        let mut index = vec![0; shape.len()];
        for (i, &d) in index.iter_mut().zip(shape).rev() {
            *i = flat % d;
            flat /= d;
        }
        index
    })
}

impl Tensor {
    /// An array with the element that `f` gives for each index.
    pub fn make(shape: &[usize], f: impl FnMut(Vec<usize>) -> Number) -> Tensor {
        let data = indices(shape).map(f).collect();
        Tensor {
            shape: shape.to_vec(),
            data,
        }
    }

    pub fn at(&self, index: &[usize]) -> Number {
        self.data[self.place(index)]
    }

    fn place(&self, index: &[usize]) -> usize {
        let steps = index.iter().zip(&self.shape);
        steps.fold(0, |flat, (&i, &d)| {
            assert!(i < d, "index {index:?} of shape {:?}", self.shape);
            flat * d + i
        })
    }

    pub fn map(&self, f: impl Fn(Number) -> Number) -> Tensor {
        let data = self.data.iter().map(|&x| f(x)).collect();
        Tensor {
            shape: self.shape.clone(),
            data,
        }
    }

    /// The element of the shape that this broadcasts to.
    fn spread(&self, index: &[usize]) -> Number {
        let own = &index[index.len() - self.shape.len()..];
        let own = own.iter().zip(&self.shape);
        self.at(&own
            .map(|(&i, &d)| if d == 1 { 0 } else { i })
            .collect::<Vec<_>>())
    }

    /// One example along an axis.
    pub fn example(&self, axis: usize, place: usize) -> Tensor {
        let mut shape = self.shape.clone();
        shape.remove(axis);
        Tensor::make(&shape, |mut i| {
            i.insert(axis, place);
            self.at(&i)
        })
    }

    /// Examples along a new axis.
    pub fn stack(parts: &[Tensor], axis: usize, like: &[usize]) -> Tensor {
        let mut shape = like.to_vec();
        shape.insert(axis, parts.len());
        Tensor::make(&shape, |mut i| {
            let which = i.remove(axis);
            parts[which].at(&i)
        })
    }

    pub fn sum(&self) -> Number {
        self.data.iter().fold(Number::from(0.0), |s, &x| s.add(x))
    }

    fn int(&self) -> i64 {
        self.data[0].value as i64
    }
}

fn flag(b: bool) -> Number {
    f64::from(u8::from(b)).into()
}

fn unary(op: Unary, x: Number) -> Number {
    match op {
        Unary::Neg => x.neg(),
        Unary::Abs => x.abs(),
        Unary::Sign => x.sign(),
        Unary::Floor => x.floor(),
        Unary::Ceil => x.ceil(),
        Unary::Round => x.round(),
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tanh => x.tanh(),
        Unary::Logistic => x.logistic(),
        Unary::Exp => x.exp(),
        Unary::Exp2 => x.exp2(),
        Unary::Expm1 => x.expm1(),
        Unary::Log => x.log(),
        Unary::Log1p => x.log1p(),
        Unary::Sqrt => x.sqrt(),
        Unary::Rsqrt => x.rsqrt(),
        Unary::Cbrt => x.cbrt(),
        Unary::Square => x.mul(x),
        Unary::Cube => x.powi(3),
        Unary::Atan => x.atan(),
        Unary::Asinh => x.asinh(),
        Unary::StopGradient => x.constant(),
        Unary::Not => flag(x.value == 0.0),
    }
}

fn binary(op: Binary, integers: bool, x: Number, y: Number) -> Number {
    let wrap = |n: Number| -> Number {
        if integers {
            f64::from(n.value as i64 as i32).into()
        } else {
            n
        }
    };
    let bits = |f: fn(i64, i64) -> i64| ((f(x.value as i64, y.value as i64)) as f64).into();
    match op {
        Binary::Add => wrap(x.add(y)),
        Binary::Sub => wrap(x.sub(y)),
        Binary::Mul if integers => f64::from((x.value as i32).wrapping_mul(y.value as i32)).into(),
        Binary::Mul => x.mul(y),
        Binary::Div => x.div(y),
        Binary::Rem => x.rem(y),
        Binary::Max => x.extreme(y, 1.0),
        Binary::Min => x.extreme(y, -1.0),
        Binary::And => bits(|a, b| a & b),
        Binary::Or => bits(|a, b| a | b),
        Binary::Xor => bits(|a, b| a ^ b),
    }
}

fn compare(op: Compare, x: Number, y: Number) -> Number {
    chosen(x.value, y.value);
    flag(match op {
        Compare::Lt => x.value < y.value,
        Compare::Ge => x.value >= y.value,
        Compare::Eq => x.value == y.value,
    })
}

fn reduce(op: Reduction, x: &Tensor, axes: &[usize]) -> Tensor {
    let kept: Vec<usize> = (0..x.shape.len()).filter(|d| !axes.contains(d)).collect();
    let shape: Vec<usize> = kept.iter().map(|&d| x.shape[d]).collect();
    Tensor::make(&shape, |i| {
        let inside = |j: &Vec<usize>| kept.iter().zip(&i).all(|(&d, &i)| j[d] == i);
        let all: Vec<Number> = indices(&x.shape).filter(inside).map(|j| x.at(&j)).collect();
        match op {
            Reduction::Sum => all.iter().fold(0.0.into(), |a: Number, &b| a.add(b)),
            Reduction::Prod => all.iter().fold(1.0.into(), |a: Number, &b| a.mul(b)),
            Reduction::Max => extreme(&all, 1.0),
            Reduction::Min => extreme(&all, -1.0),
            Reduction::LogSumExp => {
                let largest = extreme(&all, 1.0).value;
                let powers = all.iter().map(|x| x.add((-largest).into()).exp());
                let sum = powers.fold(Number::from(0.0), Number::add);
                sum.log().add(largest.into())
            }
        }
    })
}

/// The largest or smallest; of several the mean of the derivatives.
fn extreme(all: &[Number], sign: f64) -> Number {
    let best = all.iter().fold(all[0].value, |m, x| {
        chosen(m, x.value);
        if (x.value - m) * sign > 0.0 {
            x.value
        } else {
            m
        }
    });
    let same: Vec<&Number> = all.iter().filter(|x| x.value == best).collect();
    let sum = same.iter().fold(Number::from(0.0), |s, &&x| s.add(x));
    Number {
        value: best,
        ..sum.scale(1.0 / same.len() as f64)
    }
}

fn cumulative(op: Cumulative, x: &Tensor, axis: usize, reverse: bool) -> Tensor {
    Tensor::make(&x.shape, |i| {
        let places: Vec<usize> = if reverse {
            (i[axis]..x.shape[axis]).rev().collect()
        } else {
            (0..=i[axis]).collect()
        };
        let along = |place: usize| {
            let mut j = i.clone();
            j[axis] = place;
            x.at(&j)
        };
        let all = places.into_iter().map(along);
        let combine = |a: Number, b: Number| match op {
            Cumulative::Sum => a.add(b),
            Cumulative::Prod => a.mul(b),
            Cumulative::Max => a.extreme(b, 1.0),
            Cumulative::Min => a.extreme(b, -1.0),
        };
        all.reduce(combine).expect("a place")
    })
}

/// The order of the elements along an axis, for each line.
fn order(keys: &Tensor, index: &[usize], axis: usize) -> Vec<usize> {
    let at = |place: usize| {
        let mut j = index.to_vec();
        j[axis] = place;
        keys.at(&j).value
    };
    let mut order: Vec<usize> = (0..keys.shape[axis]).collect();
    order.sort_by(|&a, &b| at(a).partial_cmp(&at(b)).expect("numbers"));
    for pair in order.windows(2) {
        chosen(at(pair[0]), at(pair[1]));
    }
    order
}

fn start(scalar: &Tensor, size: usize, window: usize) -> usize {
    let from = scalar.int();
    let from = if from < 0 { from + size as i64 } else { from };
    from.clamp(0, (size - window) as i64) as usize
}

impl Program {
    /// Runs the program.
    pub fn on_host(&self, inputs: &[Tensor]) -> Tensor {
        let mut values = inputs.to_vec();
        for (op, ty) in &self.ops {
            let value = apply(op, ty, &values);
            assert_eq!(value.shape, ty.shape, "{op:?}");
            values.push(value);
        }
        values.swap_remove(self.output)
    }
}

fn apply(op: &Op, ty: &Type, values: &[Tensor]) -> Tensor {
    let v = |i: &usize| &values[*i];
    let shape = &ty.shape;
    match op {
        Op::Constant => ty.pattern(0),
        Op::Unary(op, x) => v(x).map(|x| unary(*op, x)),
        Op::Binary(op, x, y) => {
            let integers = ty.is_integer();
            Tensor::make(shape, |i| {
                binary(*op, integers, v(x).spread(&i), v(y).spread(&i))
            })
        }
        Op::BinaryScalar(op, x, c) => {
            let integers = ty.is_integer();
            v(x).map(|x| binary(*op, integers, x, (*c).into()))
        }
        Op::ScalarBinary(op, c, x) => {
            let integers = ty.is_integer();
            v(x).map(|x| binary(*op, integers, (*c).into(), x))
        }
        Op::Compare(op, x, y) => {
            Tensor::make(shape, |i| compare(*op, v(x).spread(&i), v(y).spread(&i)))
        }
        Op::Select(c, x, y) => Tensor::make(shape, |i| {
            let from = if v(c).spread(&i).value != 0.0 {
                v(x)
            } else {
                v(y)
            };
            from.spread(&i)
        }),
        Op::Cast(x) => v(x).map(|n| ty.cast(n)),
        Op::Reshape(x) => Tensor {
            shape: shape.clone(),
            data: v(x).data.clone(),
        },
        Op::Transpose(x, axes) => Tensor::make(shape, |i| {
            let mut j = vec![0; i.len()];
            for (&axis, i) in axes.iter().zip(i) {
                j[axis] = i;
            }
            v(x).at(&j)
        }),
        Op::Broadcast(x, dims) => Tensor::make(shape, |i| {
            let own = dims.iter().zip(&v(x).shape);
            v(x).at(&own
                .map(|(&d, &n)| if n == 1 { 0 } else { i[d] })
                .collect::<Vec<_>>())
        }),
        Op::Reverse(x, axis) => Tensor::make(shape, |mut i| {
            i[*axis] = shape[*axis] - 1 - i[*axis];
            v(x).at(&i)
        }),
        Op::Concatenate(x, y, axis) => Tensor::make(shape, |mut i| {
            let first = v(x).shape[*axis];
            if i[*axis] < first {
                return v(x).at(&i);
            }
            i[*axis] -= first;
            v(y).at(&i)
        }),
        Op::Slice(x, axis, from, step) => Tensor::make(shape, |mut i| {
            i[*axis] = from + i[*axis] * step;
            v(x).at(&i)
        }),
        Op::Pad(x, axis, [low, _, interior], value) => Tensor::make(shape, |mut i| {
            let place = i[*axis] as i64 - low;
            let (n, step) = (v(x).shape[*axis] as i64, interior + 1);
            if place < 0 || place % step != 0 || place / step >= n {
                return (*value).into();
            }
            i[*axis] = (place / step) as usize;
            v(x).at(&i)
        }),
        Op::DynamicSlice(x, axis, at) => {
            let from = start(v(at), v(x).shape[*axis], shape[*axis]);
            Tensor::make(shape, |mut i| {
                i[*axis] += from;
                v(x).at(&i)
            })
        }
        Op::DynamicUpdate(x, axis, at, update) => {
            let update = v(update);
            let from = start(v(at), shape[*axis], update.shape[*axis]);
            Tensor::make(shape, |mut i| {
                if !(from..from + update.shape[*axis]).contains(&i[*axis]) {
                    return v(x).at(&i);
                }
                i[*axis] -= from;
                update.at(&i)
            })
        }
        Op::Take(x, places, axis) => Tensor::make(shape, |mut i| {
            i[*axis] = v(places).at(&[i[*axis]]).value as usize;
            v(x).at(&i)
        }),
        Op::ScatterAdd(x, places, updates) => {
            let mut out = v(x).clone();
            let mut window = shape.clone();
            window[0] = v(places).shape[0];
            for i in indices(&window) {
                let mut j = i.clone();
                j[0] = v(places).at(&[i[0]]).value as usize;
                let place = out.place(&j);
                out.data[place] = out.data[place].add(v(updates).spread(&i));
            }
            out
        }
        Op::Reduce(op, x, axes) => reduce(*op, v(x), axes),
        Op::Cumulative(op, x, axis, reverse) => cumulative(*op, v(x), *axis, *reverse),
        Op::ArgMax(x, axis) => Tensor::make(shape, |mut i| {
            i.insert(*axis, 0);
            let mut best = 0;
            let at = |place: usize| {
                let mut j = i.clone();
                j[*axis] = place;
                v(x).at(&j).value
            };
            for place in 1..v(x).shape[*axis] {
                chosen(at(place), at(best));
                if at(place) > at(best) {
                    best = place;
                }
            }
            (best as f64).into()
        }),
        Op::Dot(x, y, contract, batch) => {
            let (x, y) = (v(x), v(y));
            let n = usize::from(batch.is_some());
            let free = |t: &Tensor, c: usize, b: Option<usize>| -> Vec<usize> {
                (0..t.shape.len())
                    .filter(|&d| d != c && Some(d) != b)
                    .collect()
            };
            let left = free(x, contract.0, batch.map(|b| b.0));
            let right = free(y, contract.1, batch.map(|b| b.1));
            Tensor::make(shape, |i| {
                let (mut a, mut b) = (vec![0; x.shape.len()], vec![0; y.shape.len()]);
                if let Some((p, q)) = batch {
                    (a[*p], b[*q]) = (i[0], i[0]);
                }
                for (k, &d) in left.iter().enumerate() {
                    a[d] = i[n + k];
                }
                for (k, &d) in right.iter().enumerate() {
                    b[d] = i[n + left.len() + k];
                }
                (0..x.shape[contract.0]).fold(0.0.into(), |sum: Number, k| {
                    (a[contract.0], b[contract.1]) = (k, k);
                    sum.add(x.at(&a).mul(y.at(&b)))
                })
            })
        }
        Op::SortBy(keys, x, axis) => Tensor::make(shape, |mut i| {
            let order = order(v(keys), &i, *axis);
            i[*axis] = order[i[*axis]];
            v(x).at(&i)
        }),
        Op::Inner(inner, args) => {
            let args: Vec<Tensor> = args.iter().map(|a| v(a).clone()).collect();
            inner.on_host(&args, ty)
        }
    }
}

impl Inner {
    fn on_host(&self, args: &[Tensor], ty: &Type) -> Tensor {
        match self {
            Inner::Jit(body) | Inner::Checkpoint(body) | Inner::CustomJvp(body) => {
                body.on_host(args)
            }
            Inner::Cond(on_true, on_false) => {
                let taken = args[0].data[0].value != 0.0;
                if taken { on_true } else { on_false }.on_host(&args[1..])
            }
            Inner::Switch(branches) => {
                let which = args[0].int().clamp(0, branches.len() as i64 - 1);
                branches[which as usize].on_host(&args[1..])
            }
            Inner::Scan {
                body,
                reverse,
                carry,
            } => {
                let n = args[1].shape[0];
                let mut state = args[0].clone();
                let mut results = vec![None; n];
                let order: Vec<usize> = if *reverse {
                    (0..n).rev().collect()
                } else {
                    (0..n).collect()
                };
                for place in order {
                    let mut inputs = vec![state, args[1].example(0, place)];
                    inputs.extend_from_slice(&args[2..]);
                    state = body.on_host(&inputs);
                    results[place] = Some(state.clone());
                }
                if *carry {
                    return state;
                }
                let results: Vec<Tensor> = results.into_iter().flatten().collect();
                Tensor::stack(&results, 0, &ty.shape[1..])
            }
            Inner::ForiLoop(steps, body) | Inner::WhileLoop(steps, body) => {
                (0..*steps).fold(args[0].clone(), |state, _| {
                    let mut inputs = vec![state];
                    inputs.extend_from_slice(&args[1..]);
                    body.on_host(&inputs)
                })
            }
        }
    }
}
