"""ONNX's own tests of operators, and a small model, packed into data/onnx.

    nodes.bin.gz    the node tests of onnx 1.16.2: for each its name, the bytes of its model, and the
                    tensors of its first data set
    dense.onnx      relu(x . w + b), of the documentation

Needs the package onnx 1.16.2, whose wheel has the tests. Tests of more than LARGEST bytes are left
out, and so are those of other kinds of values than tensors. The file is a sequence of blocks: the
number of bytes in four bytes, little-endian, and the bytes. A test is a block with its name, one with
its model, one with the number of inputs in text, and a block for each input and output.
"""

import gzip
import io
import pathlib
import struct

import onnx
from onnx import TensorProto, helper, numpy_helper
import numpy as np

LARGEST = 40_000
OUT = pathlib.Path(__file__).parent / "data" / "onnx"


def block(out, data):
    out.write(struct.pack("<I", len(data)) + data)


def numbered(folder, kind):
    files = sorted(folder.glob(f"{kind}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    return [path.read_bytes() for path in files]


def is_tensor(info):
    return info.type.HasField("tensor_type")


def nodes():
    folder = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
    out, packed, left = io.BytesIO(), 0, []
    for test in sorted(folder.iterdir()):
        model = (test / "model.onnx").read_bytes()
        graph = onnx.load_from_string(model).graph
        inputs = numbered(test / "test_data_set_0", "input")
        outputs = numbered(test / "test_data_set_0", "output")
        size = len(model) + sum(map(len, inputs + outputs))
        if size > LARGEST or not all(map(is_tensor, [*graph.input, *graph.output])):
            left.append(test.name)
            continue
        block(out, test.name.encode())
        block(out, model)
        block(out, str(len(inputs)).encode())
        block(out, str(len(outputs)).encode())
        for data in inputs + outputs:
            block(out, data)
        packed += 1
    data = gzip.compress(out.getvalue(), 9, mtime=0)
    (OUT / "nodes.bin.gz").write_bytes(data)
    print(f"{packed} tests in {len(data)} bytes; left out: {' '.join(left)}")


def dense():
    w = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
    b = np.array([0.5, 0.5], np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["product"], name="product"),
            helper.make_node("Add", ["product", "b"], ["sum"], name="sum"),
            helper.make_node("Relu", ["sum"], ["y"], name="relu"),
        ],
        "dense",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 2])],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")],
    )
    model = helper.make_model(
        graph,
        producer_name="ramie",
        ir_version=8,
        opset_imports=[helper.make_opsetid("", 17)],
    )
    helper.set_model_props(model, {"license": "MIT"})
    (OUT / "dense.onnx").write_bytes(model.SerializeToString())


nodes()
dense()
