"""Writes data/standardizer.json: scikit-learn's StandardScaler on columns of several sizes, among them
constant ones (scikit-learn 1.9.1, NumPy 2.5.5)."""

import json
import pathlib
import sys

import numpy as np
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(0)
rows = 41
x = np.stack(
    [
        rng.normal(3, 2, rows),
        rng.normal(-1e4, 0.5, rows),
        rng.uniform(0, 1e-6, rows),
        np.full(rows, 0.1),
        np.zeros(rows),
        np.full(rows, -123456.7),
    ],
    axis=1,
).astype(np.float32)
other = (x[:5] * 1.5 + 0.25).astype(np.float32)
scaler = StandardScaler().fit(x)
found = {
    "x": x.tolist(),
    "mean": scaler.mean_.tolist(),
    "scale": scaler.scale_.tolist(),
    "other": other.tolist(),
    # In f64: the float32 arithmetic of `transform` rounds the difference of large numbers.
    "applied": scaler.transform(other.astype(np.float64)).tolist(),
    "inverted": scaler.inverse_transform(other.astype(np.float64)).tolist(),
}
text = json.dumps(found) + "\n"
if sys.argv[1:] == ["-"]:
    sys.stdout.write(text)
else:
    (pathlib.Path(__file__).parent / "data" / "standardizer.json").write_text(text)
