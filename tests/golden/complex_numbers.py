"""Writes data/complex.json: values and derivatives of operations on complex
numbers, their text, and Fourier transforms.

Every row: `op`, `dtype`, `args`, `shapes`, `inputs` and `outputs`, and where
there are derivatives `tangents`, `jvp`, `cotangents` and `vjp`. An array is a
list of its real parts, followed by its imaginary parts if it is complex.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import recording

rows = []
rng = np.random.default_rng(3)


def plain(x):
    x = np.asarray(x)
    parts = [x.real, x.imag] if np.iscomplexobj(x) else [x]
    values = np.concatenate([p.reshape(-1) for p in parts]).astype(np.float64)
    digits = 17 if x.dtype.itemsize == (16 if np.iscomplexobj(x) else 8) else 9
    return {"dtype": str(x.dtype), "shape": list(x.shape),
            "values": [float(f"{v:.{digits}g}") if np.isfinite(v) else str(v) for v in values]}


def like(x):
    x = np.asarray(x)
    v = rng.normal(size=x.shape)
    if np.iscomplexobj(x):
        v = v + 1j * rng.normal(size=x.shape)
    return jnp.asarray(v.astype(x.dtype))


def record(op, f, inputs, args=None, derivative=True):
    inputs = [jnp.asarray(x) for x in inputs]
    out = f(*inputs)
    row = {"op": op, "args": args or {}, "inputs": [plain(x) for x in inputs], "output": plain(out)}
    if derivative and jnp.issubdtype(out.dtype, jnp.inexact):
        tangents = [like(x) for x in inputs]
        _, t = jax.jvp(f, inputs, tangents)
        _, pull = jax.vjp(f, *inputs)
        ct = like(out)
        row |= {"tangents": [plain(x) for x in tangents], "jvp": plain(t),
                "cotangent": plain(ct), "vjp": [plain(x) for x in pull(ct)]}
    rows.append(row)


def operations(real, cplx):
    z = lambda *shape: (rng.uniform(-1.5, 1.5, shape) + 1j * rng.uniform(-1.5, 1.5, shape)).astype(cplx)
    x = lambda *shape: rng.uniform(-1.5, 1.5, shape).astype(real)
    lax = jax.lax
    unary = {"neg": lax.neg, "abs": lax.abs, "exp": lax.exp, "expm1": lax.expm1, "log": lax.log, "log1p": lax.log1p,
             "sqrt": lax.sqrt, "rsqrt": lax.rsqrt, "sin": lax.sin, "cos": lax.cos, "tan": lax.tan, "tanh": lax.tanh,
             "sinh": lax.sinh, "cosh": lax.cosh, "asin": lax.asin, "acos": lax.acos, "atan": lax.atan,
             "asinh": lax.asinh, "acosh": lax.acosh, "atanh": lax.atanh, "logistic": lax.logistic,
             "square": lax.square, "real": lax.real, "imag": lax.imag, "conj": jnp.conj, "sign": lax.sign,
             "angle": jnp.angle, "cumsum": lambda a: lax.cumsum(a), "cumprod": lambda a: lax.cumprod(a)}
    for op, f in unary.items():
        # The derivative of acosh has another branch there than the function.
        record(op, f, [z(4)], derivative=op != "acosh")
    for op in ("real", "imag", "abs", "exp"):
        record(op, unary[op], [z()])
        record(op, unary[op], [z(0, 2)])
        record(op, unary[op], [z(2, 3)])
    specials = np.array([0, 1j, -1, complex(np.inf, 1), complex(np.nan, 0), complex(0, -np.inf), complex(-0.0, 0.0)], cplx)
    for op in ("neg", "abs", "real", "imag", "conj", "exp", "sqrt"):
        record(op, unary[op], [specials], {"special": True}, derivative=False)
    binary = {"add": lax.add, "sub": lax.sub, "mul": lax.mul, "div": lax.div, "pow": lax.pow}
    for op, f in binary.items():
        record(op, f, [z(4), z(4)])
    for op, f in {"eq": lax.eq, "ne": lax.ne}.items():
        a = z(4)
        record(op, f, [a, np.where([True, False, True, False], a, a.conj())], derivative=False)
    record("complex", lax.complex, [x(4), x(4)])
    record("integer_pow", lambda a: lax.integer_pow(a, 3), [z(4)], {"y": 3})
    record("integer_pow", lambda a: lax.integer_pow(a, -2), [z(4)], {"y": -2})
    record("sum", lambda a: jnp.sum(a, 1), [z(2, 3)])
    record("prod", lambda a: jnp.prod(a, 1), [z(2, 3)])
    record("matmul", jnp.matmul, [z(2, 3), z(3, 2)])
    record("transpose", lambda a: a.T, [z(2, 3)])
    record("concatenate", lambda a, b: jnp.concatenate([a, b]), [z(2), z(3)])
    record("where", lambda a, b: jnp.where(jnp.array([True, False, True]), a, b), [z(3), z(3)])
    record("take", lambda a: a[jnp.array([2, 0, 2])], [z(4)])
    record("to_complex", lambda a: a.astype(cplx), [x(3)])
    for scale in (1.0, 1e5):
        value = (z(3) * scale).astype(cplx)
        rows.append({"op": "text", "inputs": [plain(value)], "repr": repr(jnp.asarray(value)), "str": str(jnp.asarray(value)),
                     "scalar": str(jnp.asarray(value[0]))})
    value = np.array([[1 + 2j, -0.5 - 3j], [0, 10.25j]], cplx)
    rows.append({"op": "text", "inputs": [plain(value)], "repr": repr(jnp.asarray(value)), "str": str(jnp.asarray(value)),
                 "scalar": str(jnp.asarray(value[0, 0]))})
    real_valued = {"norm": lambda a: jnp.sum(jnp.abs(a) ** 2), "part": lambda a: jnp.sum(jnp.real(a * a * (1 + 2j)))}
    for name, f in real_valued.items():
        a = jnp.asarray(z(3))
        rows.append({"op": "grad", "args": {"f": name}, "inputs": [plain(a)], "output": plain(jax.grad(f)(a))})
    a = jnp.asarray(z())
    rows.append({"op": "holomorphic", "args": {}, "inputs": [plain(a)],
                 "output": plain(jax.grad(lambda v: jnp.sin(v) * v, holomorphic=True)(a))})
    transforms(z, x)


def transforms(z, x):
    fft = jnp.fft
    for name in ("fft", "ifft"):
        for n in (None, 3, 8):
            for norm in (None, "ortho", "forward"):
                record(name, lambda a: getattr(fft, name)(a, n=n, norm=norm), [z(2, 5)], {"n": n, "axis": -1, "norm": norm})
        record(name, lambda a: getattr(fft, name)(a, axis=0), [z(4, 3)], {"n": None, "axis": 0, "norm": None})
        record(name, getattr(fft, name), [x(6)], {"n": None, "axis": -1, "norm": None})
    for name in ("rfft", "ihfft"):
        for n in (None, 4, 7):
            record(name, lambda a: getattr(fft, name)(a, n=n), [x(2, 6)], {"n": n, "axis": -1, "norm": None})
    for name in ("irfft", "hfft"):
        for n in (None, 5, 6):
            record(name, lambda a: getattr(fft, name)(a, n=n, norm="ortho"), [z(2, 4)], {"n": n, "axis": -1, "norm": "ortho"})
    for name in ("fft2", "ifft2", "fftn", "ifftn"):
        record(name, getattr(fft, name), [z(2, 3, 4)])
    for name in ("rfft2", "rfftn"):
        record(name, getattr(fft, name), [x(2, 3, 4)])
    for name in ("irfft2", "irfftn"):
        record(name, getattr(fft, name), [z(2, 3, 4)])
    for name in ("fftshift", "ifftshift"):
        record(name, getattr(fft, name), [x(3, 4)])
    for n in (4, 5):
        for name in ("fftfreq", "rfftfreq"):
            rows.append({"op": name, "args": {"n": n, "d": 0.5}, "inputs": [], "output": plain(getattr(fft, name)(n, 0.5))})


def other_shapes():
    """Operations and transforms at empty, 0-d and more shapes, in one type."""
    z = lambda *shape: (rng.uniform(-1.5, 1.5, shape) + 1j * rng.uniform(-1.5, 1.5, shape)).astype(np.complex64)
    x = lambda *shape: rng.uniform(-1.5, 1.5, shape).astype(np.float32)
    lax = jax.lax
    shapes = [(), (0, 2), (1, 3)]
    # Others are recorded at them above.
    unary = ("neg", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "tanh", "sinh", "cosh", "asin", "acos",
             "atan", "asinh", "acosh", "atanh", "logistic", "square", "sign")
    functions = {op: getattr(lax, op) for op in unary} | {
        "conj": jnp.conj, "angle": jnp.angle, "integer_pow": lambda a: lax.integer_pow(a, 3)}
    for op, f in functions.items():
        for shape in shapes:
            record(op, f, [z(*shape)], {"y": 3} if op == "integer_pow" else None, derivative=False)
    for shape in shapes:
        record("to_complex", lambda a: a.astype(np.complex64), [x(*shape)])
        record("complex", lax.complex, [x(*shape), x(*shape)])
        for op in ("add", "sub", "mul", "div", "pow", "eq", "ne"):
            record(op, getattr(lax, op), [z(*shape), z(*shape)], derivative=False)
    infinite = np.array([complex(np.inf, 0), complex(0, -np.inf), complex(np.nan, 1), 0, complex(1e30, 1e30)], np.complex64)
    for op in ("add", "sub", "mul"):
        record(op, getattr(lax, op), [infinite, infinite[::-1]], {"special": True}, derivative=False)
    for op, f in {"cumsum": lax.cumsum, "cumprod": lax.cumprod}.items():
        for shape in ((0, 2), (2, 3)):
            record(op, f, [z(*shape)])
    for op, f in {"sum": lambda a: jnp.sum(a, 1), "prod": lambda a: jnp.prod(a, 1)}.items():
        for shape in ((0, 3), (2, 0)):
            record(op, f, [z(*shape)])
    for left, right in (((0, 2), (2, 3)), ((2, 0), (0, 2))):
        record("matmul", jnp.matmul, [z(*left), z(*right)])
    for shape in ((0, 2), (1, 3)):
        record("transpose", lambda a: a.T, [z(*shape)])
    for left, right in (((0,), (2,)), ((1, 2), (2, 2))):
        record("concatenate", lambda a, b: jnp.concatenate([a, b]), [z(*left), z(*right)])
    for shape in ((), (2, 3), (0, 3)):
        record("where", lambda a, b: jnp.where(jnp.array([True, False, True]), a, b), [z(*shape), z(*shape)])
    for shape in ((3, 2), (3, 0)):
        record("take", lambda a: a[jnp.array([2, 0, 2])], [z(*shape)])
    real_valued = {"norm": lambda a: jnp.sum(jnp.abs(a) ** 2), "part": lambda a: jnp.sum(jnp.real(a * a * (1 + 2j)))}
    for name, f in real_valued.items():
        for shape in shapes:
            a = jnp.asarray(z(*shape))
            rows.append({"op": "grad", "args": {"f": name}, "inputs": [plain(a)], "output": plain(jax.grad(f)(a))})
    for shape in ((), (0, 2)):
        value = jnp.asarray(z(*shape))
        rows.append({"op": "text", "inputs": [plain(value)], "repr": repr(value), "str": str(value),
                     "scalar": str(value) if value.ndim == 0 else None})
    fft = jnp.fft
    of_complex = ("fft", "ifft", "irfft", "hfft", "fft2", "ifft2", "irfft2", "fftn", "ifftn", "irfftn")
    for name in (*of_complex, "rfft", "ihfft", "rfft2", "rfftn", "fftshift", "ifftshift"):
        one = {"n": None, "axis": -1, "norm": None} if name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") else None
        for shape in ((0, 4), (3, 5), *([()] if name in ("fftn", "ifftn", "fftshift", "ifftshift") else [])):
            # Of nothing JAX has not all derivatives.
            record(name, getattr(fft, name), [z(*shape) if name in of_complex else x(*shape)], one, 0 not in shape)
    for name in ("fft", "ifft"):
        values = np.array([[1, np.inf, 0, 2], [np.nan, 1, 2, 3]], np.float32)
        record(name, getattr(fft, name), [values], {"n": None, "axis": -1, "norm": None, "special": True}, derivative=False)
    for n in (0, 1):
        rows.append({"op": "fftfreq", "args": {"n": n, "d": 0.5}, "inputs": [], "output": plain(fft.fftfreq(n, 0.5))})
    for n in (1, 8):
        rows.append({"op": "rfftfreq", "args": {"n": n, "d": 0.5}, "inputs": [], "output": plain(fft.rfftfreq(n, 0.5))})


def main():
    operations(np.float32, np.complex64)
    with jax.enable_x64(True):
        operations(np.float64, np.complex128)
    other_shapes()
    recording.write(recording.DATA / "complex", rows)


if __name__ == "__main__":
    main()
