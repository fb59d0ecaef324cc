"""`trace` in JAX: tracing and lowering, without compiling, of the train step of a
decoder of 24 layers of width 1,024, written with plain functions and Optax.

    python trace.py --client plugin

Each sample traces a step function that has not been called before, after clearing
JAX's caches (`first_s` is the first sample in the process). Nothing is computed: arguments
are types.
"""

import argparse
import json
import statistics
import time

from steps import SAMPLES, default_library, start_client

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH = 96, 1024, 16, 24, 128, 16


def parameter_types():
    import jax
    import jax.numpy as jnp

    def p(*shape):
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    def norm():
        return {"scale": p(WIDTH), "bias": p(WIDTH)}

    def dense(inputs, outputs):
        return {"kernel": p(inputs, outputs), "bias": p(outputs)}

    def block():
        square = {name: dense(WIDTH, WIDTH) for name in ("query", "key", "value", "out")}
        return dict(norm1=norm(), norm2=norm(), up=dense(WIDTH, 4 * WIDTH), down=dense(4 * WIDTH, WIDTH), **square)

    return {"embed": p(VOCABULARY, WIDTH), "positions": p(LENGTH, WIDTH), "blocks": [block() for _ in range(LAYERS)],
            "norm": norm()}


def make_step(optimizer):
    import jax
    import jax.numpy as jnp
    import optax

    def norm(p, x):
        mean = x.mean(-1, keepdims=True)
        variance = jnp.square(x).mean(-1, keepdims=True) - jnp.square(mean)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-6) * p["scale"] + p["bias"]

    def dense(p, x):
        return x @ p["kernel"] + p["bias"]

    def attention(p, x):
        batch, length, width = x.shape
        depth = width // HEADS
        query, key, value = (dense(p[name], x).reshape(batch, length, HEADS, depth) for name in ("query", "key", "value"))
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / depth**0.5
        place = jnp.arange(length)
        causal = place[:, None] >= place[None, :]
        weights = jax.nn.softmax(jnp.where(causal, scores, jnp.finfo(scores.dtype).min), axis=-1)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, value)
        return dense(p["out"], mixed.reshape(batch, length, width))

    def block(p, x):
        x = x + attention(p, norm(p["norm1"], x))
        return x + dense(p["down"], jax.nn.gelu(dense(p["up"], norm(p["norm2"], x)), approximate=True))

    def loss_fn(params, tokens, targets):
        x = params["embed"][tokens] + params["positions"]
        for p in params["blocks"]:
            x = block(p, x)
        logits = norm(params["norm"], x) @ params["embed"].T
        return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()

    def step(state, tokens, targets):
        params, moments = state
        loss, grads = jax.value_and_grad(loss_fn)(params, tokens, targets)
        updates, moments = optimizer.update(grads, moments, params)
        return (optax.apply_updates(params, updates), moments), loss

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=["plugin", "jaxlib"], default="plugin")
    parser.add_argument("--library", help="path of the plugin (default: from the installed wheel)")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    args = parser.parse_args()
    start_client(args.client, args.library or (default_library() if args.client == "plugin" else ""))
    import jax
    import jax.numpy as jnp
    import optax

    jax.devices()
    optimizer = optax.adamw(1e-3)
    params = parameter_types()
    state = (params, jax.eval_shape(optimizer.init, params))
    tokens = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32)
    times = []
    for _ in range(args.samples + 1):
        jax.clear_caches()
        step = jax.jit(make_step(optimizer), donate_argnums=0)
        start = time.perf_counter()
        lowered = step.lower(state, tokens, tokens)
        times.append(time.perf_counter() - start)
    text = len(lowered.as_text())
    first, *times = times
    print(json.dumps({"workload": "trace", "framework": "jax", "platform": f"cpu-{args.client}",
                      "median_s": statistics.median(times), "best_s": min(times), "first_s": first,
                      "samples": len(times), "text_bytes": text}))


if __name__ == "__main__":
    main()
