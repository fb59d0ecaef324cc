//! Recurrent networks: a scan over time for each direction.

use super::{Operator, only, values};
use crate::call::{Call, Value};
use crate::file::Node;
use ramie_core::lax::scan_with;
use ramie_core::options::ScanOptions;
use ramie_core::{Array, stack, where_};

pub(super) const OPERATORS: &[Operator] = &[
    values("GRU", |c| run(c, Cell::Gru)).limits(|n, _| limits(n, &["Sigmoid", "Tanh"])),
    values("LSTM", |c| run(c, Cell::Lstm)).limits(|n, _| limits(n, &["Sigmoid", "Tanh", "Tanh"])),
    values("RNN", |c| run(c, Cell::Rnn)).limits(|n, _| limits(n, &["Tanh"])),
];

#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Gru,
    Lstm,
    Rnn,
}

/// Only the default activations are supported.
fn limits(node: &Node, default: &[&str]) -> Result<(), String> {
    let directions = ["forward", "reverse", "bidirectional"];
    only(node, "direction", "forward", &directions)?;
    let given = node.texts("activations")?;
    let same = |(i, name): (usize, &&str)| name.eq_ignore_ascii_case(default[i % default.len()]);
    if !given.iter().enumerate().all(same) {
        return Err(format!("the `activations` {given:?} are not supported"));
    }
    let unknown = match node.attribute("clip") {
        Some(_) => "clip",
        None if node.int("input_forget", 0)? != 0 => "input_forget",
        None => return Ok(()),
    };
    Err(format!("the attribute `{unknown}` is not supported"))
}

/// A cell that runs over time in one direction.
struct Direction {
    cell: Cell,
    reverse: bool,
    /// Whether a GRU resets the product with the state instead of the state.
    resets_product: bool,
    /// `[inputs, gates]`.
    kernel: Array,
    /// `[features, gates]`.
    recurrent: Array,
    /// Biases of both products.
    bias: Option<(Array, Array)>,
    /// Weights of the cell for the gates of an LSTM.
    peepholes: Option<Vec<Array>>,
}

fn run(call: &Call<'_>, cell: Cell) -> Vec<Value> {
    // A layout of 1 has the batch first.
    let batch_first = call.int("layout", 0) != 0;
    let turn = |x: Array| if batch_first { x.swap_axes(0, 1) } else { x };
    let x = turn(call.array(0));
    let features = call.array(2).shape()[2];
    let initial = |i: usize, direction: isize| match call.optional(i) {
        Some(state) => turn(state).index_in_dim(direction, 0).squeeze(&[0]),
        None => Array::zeros(&[x.shape()[1], features], x.dtype()),
    };
    let mask = call.optional(4).map(|lengths| {
        let time = Array::iota(&[x.shape()[0], x.shape()[1], 1], 0, lengths.dtype());
        time.lt(lengths.expand_dims(&[1]))
    });
    let (mut outputs, mut last) = (Vec::new(), [Vec::new(), Vec::new()]);
    for direction in 0..call.array(1).shape()[0] as isize {
        let state = (initial(5, direction), initial(6, direction));
        let ((h, c), y) = Direction::of(call, cell, direction).run(&x, state, mask.as_ref());
        outputs.push(y);
        last[0].push(h);
        last[1].push(c);
    }
    // `[time, directions, batch, features]`, or with the batch first.
    let y = stack(&outputs, 1);
    let y = if batch_first {
        y.transpose(&[2, 0, 1, 3])
    } else {
        y
    };
    let joined = |states: &[Array]| Value::from(stack(states, isize::from(batch_first)));
    let mut values = vec![y.into(), joined(&last[0])];
    if cell == Cell::Lstm {
        values.push(joined(&last[1]));
    }
    values
}

impl Direction {
    fn of(call: &Call<'_>, cell: Cell, direction: isize) -> Direction {
        let part = |i: usize| Some(call.optional(i)?.index_in_dim(direction, 0).squeeze(&[0]));
        let matrix = |i: usize| call.array(i).index_in_dim(direction, 0).squeeze(&[0]).t();
        let halves = |bias: Array| {
            let mut halves = bias.split(2, 0).into_iter();
            Some((halves.next()?, halves.next()?))
        };
        let peepholes = part(7).filter(|_| cell == Cell::Lstm);
        Direction {
            cell,
            reverse: direction == 1 || call.text("direction", "forward") == "reverse",
            resets_product: call.int("linear_before_reset", 0) != 0,
            kernel: matrix(1),
            recurrent: matrix(2),
            bias: part(3).and_then(halves),
            peepholes: peepholes.map(|weights| weights.split(3, 0)),
        }
    }

    /// Runs the cell over time. Returns the last state, and the outputs of all steps. Steps outside
    /// of the mask keep the state and return zeros.
    fn run(
        &self,
        x: &Array,
        state: (Array, Array),
        mask: Option<&Array>,
    ) -> ((Array, Array), Array) {
        // The products with the inputs do not depend on the state.
        let inputs = x.matmul(&self.kernel);
        let inputs = match &self.bias {
            Some((bias, _)) => inputs + bias,
            None => inputs,
        };
        let options = ScanOptions {
            reverse: self.reverse,
            ..ScanOptions::default()
        };
        let step = |(h, c): (Array, Array), (input, mask): (Array, Option<Array>)| {
            let (new_h, new_c) = match self.cell {
                Cell::Rnn => ((input + self.product(&h)).tanh(), c.clone()),
                Cell::Gru => (self.gru(&h, &input), c.clone()),
                Cell::Lstm => self.lstm(&h, &c, &input),
            };
            let Some(mask) = mask else {
                return ((new_h.clone(), new_c), new_h);
            };
            let y = where_(&mask, &new_h, new_h.zeros_like());
            ((where_(&mask, new_h, h), where_(&mask, new_c, c)), y)
        };
        scan_with(step, state, (inputs, mask.cloned()), options)
    }

    /// Computes the product with the state, and adds its bias.
    fn product(&self, h: &Array) -> Array {
        let product = h.matmul(&self.recurrent);
        match &self.bias {
            Some((_, bias)) => product + bias,
            None => product,
        }
    }

    /// Gates in the order update, reset, hidden.
    fn gru(&self, h: &Array, input: &Array) -> Array {
        let inputs = input.split(3, -1);
        let (update, reset, hidden);
        if self.resets_product {
            let states = self.product(h).split(3, -1);
            update = (&inputs[0] + &states[0]).sigmoid();
            reset = (&inputs[1] + &states[1]).sigmoid();
            hidden = (&inputs[2] + &reset * &states[2]).tanh();
        } else {
            let kernels = self.recurrent.split(3, 1);
            let biases = self.bias.as_ref().map(|(_, bias)| bias.split(3, 0));
            let product = |h: &Array, gate: usize| match &biases {
                Some(biases) => h.matmul(&kernels[gate]) + &biases[gate],
                None => h.matmul(&kernels[gate]),
            };
            update = (&inputs[0] + product(h, 0)).sigmoid();
            reset = (&inputs[1] + product(h, 1)).sigmoid();
            hidden = (&inputs[2] + product(&(&reset * h), 2)).tanh();
        }
        (1.0 - &update) * hidden + update * h
    }

    /// Gates in the order input, output, forget, cell.
    fn lstm(&self, h: &Array, c: &Array, input: &Array) -> (Array, Array) {
        let gates = (input + self.product(h)).split(4, -1);
        let peep = |gate: &Array, c: &Array, i: usize| match &self.peepholes {
            Some(peepholes) => gate + c * &peepholes[i],
            None => gate.clone(),
        };
        let i = peep(&gates[0], c, 0).sigmoid();
        let f = peep(&gates[2], c, 2).sigmoid();
        let c = f * c + i * gates[3].tanh();
        let o = peep(&gates[1], &c, 1).sigmoid();
        (o * c.tanh(), c)
    }
}
