"""Recurrent layers of Flax."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx

from flax_layers import Recorder, draw

r = Recorder()
x = draw(0, (2, 5, 3))
major = draw(1, (5, 2, 3))
c, h = draw(2, (2, 4)), draw(3, (2, 4))
lengths = jnp.array([3, 5], jnp.int32)
normal = nn.initializers.normal(0.5)
r.arrays["lengths/in/0"] = lengths



# Linen: cells by themselves.
r.linen("simple_step", nn.SimpleCell(4, residual=True, bias_init=normal), h, x[:, 0])
two = lambda m, c, h, x: m((c, h), x)
r.linen("lstm_step", nn.LSTMCell(4, bias_init=normal), c, h, x[:, 0], method=two)
r.linen("optimized_lstm_step", nn.OptimizedLSTMCell(4, bias_init=normal), c, h, x[:, 0], method=two)
r.linen("gru_step", nn.GRUCell(4, bias_init=normal), h, x[:, 0])
r.linen("mgu_step", nn.MGUCell(4, activation_bias_init=normal), h, x[:, 0])
r.linen("mgu_step_plain", nn.MGUCell(4, reset_gate=False, forget_bias_init=normal), h, x[:, 0])
r.linen("gru_step_relu", nn.GRUCell(4, activation_fn=nn.relu, gate_fn=nn.hard_sigmoid), h, x[:, 0])

# Linen: through sequences.
r.linen("rnn", nn.RNN(nn.SimpleCell(4)), x)
r.linen("lstm", nn.RNN(nn.LSTMCell(4)), x)
r.linen("optimized_lstm", nn.RNN(nn.OptimizedLSTMCell(4)), x)
r.linen("gru", nn.RNN(nn.GRUCell(4)), x)
r.linen("mgu", nn.RNN(nn.MGUCell(4)), x)
r.linen("rnn_carry", nn.RNN(nn.LSTMCell(4), return_carry=True), x)
r.linen("rnn_carry_init", nn.RNN(nn.LSTMCell(4, carry_init=normal), return_carry=True), x, init_key=jax.random.key(5))
r.linen("rnn_lengths", nn.RNN(nn.GRUCell(4)), x, seq_lengths=lengths, return_carry=True)
r.linen("rnn_reverse", nn.RNN(nn.GRUCell(4), reverse=True), x)
r.linen("rnn_reverse_order", nn.RNN(nn.GRUCell(4), reverse=True, keep_order=True, unroll=2), x)
r.linen(
    "rnn_reverse_lengths",
    nn.RNN(nn.LSTMCell(4), reverse=True, keep_order=True, return_carry=True),
    x,
    seq_lengths=lengths,
)
r.linen("rnn_major", nn.RNN(nn.GRUCell(4), time_major=True), major)
r.linen(
    "rnn_major_lengths",
    nn.RNN(nn.GRUCell(4), time_major=True, reverse=True, keep_order=True, return_carry=True),
    major,
    seq_lengths=lengths,
)
r.linen(
    "rnn_initial",
    nn.RNN(nn.LSTMCell(4), return_carry=True),
    c,
    h,
    x,
    method=lambda m, c, h, x: m(x, initial_carry=(c, h)),
)
r.linen("rnn_no_batch", nn.RNN(nn.GRUCell(4)), x[0])
r.linen("rnn_deep_batch", nn.RNN(nn.GRUCell(4)), draw(4, (2, 2, 5, 3)))
r.linen("rnn_bf16", nn.RNN(nn.LSTMCell(4, dtype=jnp.bfloat16)), x)
r.linen("bidirectional", nn.Bidirectional(nn.RNN(nn.GRUCell(4)), nn.RNN(nn.GRUCell(4))), x)
r.linen(
    "bidirectional_lengths",
    nn.Bidirectional(nn.RNN(nn.LSTMCell(4)), nn.RNN(nn.GRUCell(4)), merge_fn=lambda a, b: a + b, return_carry=True),
    x,
    seq_lengths=lengths,
)

film = draw(5, (2, 3, 4, 3, 2))
r.linen("conv_lstm", nn.RNN(nn.ConvLSTMCell(3, (3, 2)), return_carry=True), film)


class Inline(nn.Module):
    """Cells made in a compact function, whose parameters are beside the layers."""

    @nn.compact
    def __call__(self, x):
        x = nn.RNN(nn.GRUCell(4))(x)
        x = nn.RNN(nn.GRUCell(3), name="second")(x)
        x = nn.Bidirectional(nn.RNN(nn.SimpleCell(2)), nn.RNN(nn.SimpleCell(2)))(x)
        return nn.RNN(nn.GRUCell(2))(x)


class Held(nn.Module):
    """Layers of setup, whose cells are parts of them."""

    def setup(self):
        self.rnn = nn.RNN(nn.GRUCell(4))
        self.both = nn.Bidirectional(nn.RNN(nn.SimpleCell(2)), nn.RNN(nn.SimpleCell(2)))

    def __call__(self, x):
        return self.both(self.rnn(x))


r.linen("inline", Inline(), x)
r.linen("held", Held(), x)

# NNX.
r.nnx("nnx_simple_step", lambda k: nnx.SimpleCell(3, 4, residual=True, rngs=k), h, x[:, 0])
r.nnx("nnx_lstm_step", lambda k: nnx.LSTMCell(3, 4, bias_init=normal, rngs=k), c, h, x[:, 0], call=two)
r.nnx("nnx_optimized_lstm_step", lambda k: nnx.OptimizedLSTMCell(3, 4, bias_init=normal, rngs=k), c, h, x[:, 0], call=two)
r.nnx("nnx_gru_step", lambda k: nnx.GRUCell(3, 4, bias_init=normal, rngs=k), h, x[:, 0])
r.nnx("nnx_lstm", lambda k: nnx.RNN(nnx.LSTMCell(3, 4, rngs=k)), x)
r.nnx("nnx_optimized_lstm", lambda k: nnx.RNN(nnx.OptimizedLSTMCell(3, 4, rngs=k)), x)
r.nnx(
    "nnx_gru_lengths",
    lambda k: nnx.RNN(nnx.GRUCell(3, 4, rngs=k), reverse=True, keep_order=True, return_carry=True),
    x,
    call=lambda m, x: m(x, seq_lengths=lengths),
)
r.nnx("nnx_simple_major", lambda k: nnx.RNN(nnx.SimpleCell(3, 4, rngs=k), time_major=True), major)
r.nnx(
    "nnx_bidirectional",
    lambda k: nnx.Bidirectional(nnx.RNN(nnx.LSTMCell(3, 4, rngs=k)), nnx.RNN(nnx.GRUCell(3, 4, rngs=k))),
    x,
)

r.write("flax_recurrent")
