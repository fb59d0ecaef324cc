"""`collectives` in JAX: products of sharded matrices on a mesh (2, 4) of virtual
devices: as sharded by the compiler, and with a ring transfer during the
multiplication, in one and in both directions.

    python collectives.py --client jaxlib

Prints a line for each with the time of a call. A sample makes several calls and waits once.
"""

import argparse
import json
import statistics
import time

from steps import SAMPLES, WARMUP, default_library, start_client

BATCH, WIDTH, HIDDEN, CALLS = 512, 1024, 4096, 5
BACK, FORTH = -1, 1


def programs(mesh):
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import PartitionSpec as P

    def send(x, way):
        n = lax.axis_size("Y")
        return lax.ppermute(x, "Y", [(i, (i + way) % n) for i in range(n)])

    def all_gather_matmul(lhs, rhs, ways):
        n, here, chunk = lax.axis_size("Y"), lax.axis_index("Y"), lhs.shape[1]
        sums, parts = [0.0] * len(ways), jnp.split(lhs, len(ways))
        for i in range(n):
            for w, way in enumerate(ways):
                start = (here - way * i) % n * chunk
                sums[w] += parts[w] @ lax.dynamic_slice_in_dim(rhs, start, chunk)
                if i < n - 1:
                    parts[w] = send(parts[w], way)
        return jnp.concatenate(sums)

    def reduce_scatter_matmul(lhs, rhs, ways):
        n, here = lax.axis_size("Y"), lax.axis_index("Y")
        chunk = rhs.shape[1] // n
        columns = chunk // len(ways)
        sums = [0.0] * len(ways)
        for left in reversed(range(n)):
            for w, way in enumerate(ways):
                start = (here + way * left) % n * chunk + w * columns
                sums[w] += lhs @ lax.dynamic_slice_in_dim(rhs, start, columns, 1)
                if left:
                    sums[w] = send(sums[w], way)
        return jnp.concatenate(sums, 1)

    def all_reduce_matmul(lhs, rhs, tiles):
        return jnp.concatenate([lax.psum(lhs @ tile, "Y") for tile in jnp.split(rhs, tiles, 1)], 1)

    def all_reduce_matmul_ring(lhs, rhs, ways):
        n, here = lax.axis_size("Y"), lax.axis_index("Y")
        columns = rhs.shape[1] // n // len(ways)
        parts = jnp.split(reduce_scatter_matmul(lhs, rhs, ways), len(ways), 1)
        out = jnp.zeros((lhs.shape[0], rhs.shape[1]), lhs.dtype)
        for i in range(n):
            for w, way in enumerate(ways):
                start = (here - way * i) % n * columns * len(ways) + w * columns
                out = lax.dynamic_update_slice_in_dim(out, parts[w], start, 1)
                if i < n - 1:
                    parts[w] = send(parts[w], way)
        return out

    def block(x, w_in, w_out, ways):
        hidden = jax.nn.relu(all_gather_matmul(x, w_in, ways))
        return reduce_scatter_matmul(hidden, w_out, ways)

    specs = (P("X", "Y"), P(None, "Y"), P("Y", None), P("Y", None))

    def manual(f):
        return jax.shard_map(f, mesh=mesh, in_specs=specs, out_specs=P("X", "Y"))

    def summed(f):
        # The types do not show that all devices of a ring have the complete sums.
        return jax.shard_map(lambda x, w_in, w_out, rows: f(x, rows), mesh=mesh, in_specs=specs, out_specs=P("X"),
                             check_vma=False)

    found = {
        ("product", "compiler"): lambda x, w_in, w_out, rows: x @ w_in,
        ("product", "one way"): manual(lambda x, w_in, w_out, rows: all_gather_matmul(x, w_in, [BACK])),
        ("product", "both ways"): manual(lambda x, w_in, w_out, rows: all_gather_matmul(x, w_in, [BACK, FORTH])),
        ("sums", "compiler"): lambda x, w_in, w_out, rows: x @ rows,
        ("sums", "tiles"): summed(lambda x, w: all_reduce_matmul(x, w, 4)),
        ("sums", "one way"): summed(lambda x, w: all_reduce_matmul_ring(x, w, [BACK])),
        ("sums", "both ways"): summed(lambda x, w: all_reduce_matmul_ring(x, w, [BACK, FORTH])),
        ("block", "compiler"): lambda x, w_in, w_out, rows: jax.nn.relu(x @ w_in) @ w_out,
        ("block", "one way"): manual(lambda x, w_in, w_out, rows: block(x, w_in, w_out, [BACK])),
        ("block", "both ways"): manual(lambda x, w_in, w_out, rows: block(x, w_in, w_out, [BACK, FORTH])),
    }
    outs = {"sums": P("X")}
    out = {name: jax.NamedSharding(mesh, outs.get(name[0], P("X", "Y"))) for name in found}
    return specs, {name: jax.jit(f, out_shardings=out[name]) for name, f in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=["plugin", "jaxlib"], default="plugin")
    parser.add_argument("--library", help="path of the plugin (default: from the installed wheel)")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    args = parser.parse_args()
    library = args.library or (default_library() if args.client == "plugin" else "")
    start_client(args.client, library, devices=8)

    import jax
    import numpy as np

    mesh = jax.make_mesh((2, 4), ("X", "Y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    specs, found = programs(mesh)
    shapes = [(BATCH, WIDTH), (WIDTH, HIDDEN), (HIDDEN, WIDTH)]
    arrays = []
    for i, (shape, spec) in enumerate(zip(shapes, specs)):
        x = jax.random.normal(jax.random.fold_in(jax.random.key(0), i), shape) / shape[0] ** 0.5
        arrays.append(jax.device_put(x, jax.NamedSharding(mesh, spec)))
    arrays.append(jax.device_put(arrays[1], jax.NamedSharding(mesh, specs[3])))
    expected = None
    for (name, by), program in found.items():
        for _ in range(WARMUP):
            out = program(*arrays)
        out.block_until_ready()
        times = []
        for _ in range(args.samples):
            begin = time.perf_counter()
            for _ in range(CALLS):
                out = program(*arrays)
            out.block_until_ready()
            times.append((time.perf_counter() - begin) / CALLS)
        if by == "compiler":
            expected = np.asarray(out)
        assert abs(np.asarray(out) - expected).max() < 1e-3
        print(json.dumps({"workload": "collectives", "program": name, "by": by, "framework": "jax",
                          "platform": f"cpu-{args.client}", "median_s": statistics.median(times),
                          "best_s": min(times), "steps": CALLS, "samples": args.samples}), flush=True)


if __name__ == "__main__":
    main()
