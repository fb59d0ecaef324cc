//! How operations are sharded where types say it: the table that
//! `tests/golden/explicit.py` records from JAX.

use ramie_core::lax::{
    DotDimensionNumbers, GatherScatterMode, Padding, cond, conv_general_dilated,
    optimization_barrier, scan, while_loop,
};
use ramie_core::numpy::einsum_with;
use ramie_core::options::{Convolution, Window};
use ramie_core::sharding::{AxisName, AxisType, SpecEntry, auto_axes, make_mesh_with, reshard};
use ramie_core::*;
use ramie_testing::{caught, cpu_devices};
use serde::Deserialize;

#[derive(Deserialize)]
struct Goldens {
    types: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    op: String,
    args: Vec<Told>,
    outs: Option<Vec<String>>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Told {
    dtype: String,
    shape: Vec<usize>,
    spec: Vec<Option<Entry>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    One(String),
    Several(Vec<String>),
}

impl Told {
    fn array(&self, mesh: Mesh) -> Array {
        let spec = PartitionSpec::new(self.spec.iter().map(|e| match e {
            None => SpecEntry::None,
            Some(Entry::One(name)) => SpecEntry::from(name.as_str()),
            Some(Entry::Several(names)) => {
                let names: Vec<AxisName> = names.iter().map(|n| n.as_str().into()).collect();
                SpecEntry::from(&names[..])
            }
        }));
        let dtype = match self.dtype.as_str() {
            "float32" => DType::F32,
            "int32" => DType::I32,
            other => panic!("element type {other}"),
        };
        Array::shape_dtype_struct_with(&self.shape, dtype, NamedSharding::new(mesh, spec))
    }
}

/// The operation of `OPS` of the script.
fn apply(op: &str, a: &[Array]) -> Vec<Array> {
    let x = &a[0];
    let y = a.get(1).unwrap_or(x);
    let rank = x.ndim();
    let rest = |front: &[usize]| [front, &x.shape()[1..]].concat();
    let widths = |low, high| -> Vec<(usize, usize)> {
        let others = std::iter::repeat_n((0, 0), rank - 1);
        std::iter::once((low, high)).chain(others).collect()
    };
    let one = match op {
        "sin" => x.sin(),
        "add" | "numpy_add" => x + y,
        "mul_scalar" => x * 2.0,
        "lt" => x.lt(y),
        "convert" => x.astype(DType::I32),
        "clamp" => x.clip(0.0, 1.0),
        "select" => where_(x.gt(y), x, y),
        "where_row" => where_(x.gt(0.0), x, y),
        "stop_gradient" => x.stop_gradient(),
        "optimization_barrier" => optimization_barrier(x.clone()),
        "broadcast_in_dim" => {
            let dims: Vec<usize> = (1..=rank).collect();
            x.broadcast_in_dim(&[&[8], x.shape()].concat(), &dims)
        }
        "expand_dims" => x.expand_dims(&[1]),
        "squeeze" => x.squeeze(&[1]),
        "transpose" => x.t(),
        "move_axis" => x.move_axis(0, -1),
        "reshape_split_first" => x.reshape(&rest(&[4, 2])),
        "reshape_split_unevenly" => x.reshape(&rest(&[1, 8])),
        "reshape_split_odd" => x.reshape(&[3, 4]),
        "reshape_split_three" => x.reshape(&rest(&[2, 2, 2])),
        "reshape_merge" => x.flatten(0..2),
        "reshape_merge_last" => x.flatten(rank - 2..),
        "reshape_other" => x.reshape(&[x.shape()[0] * 2, x.shape()[1] / 2]),
        "reshape_sharded" => x.reshape_with(&[4, 32], P!["X", "Y"]),
        "rev" => x.flip(&[0]),
        "pad" => x.pad(&widths(1, 1), 0.0),
        "pad_odd" => x.pad(&widths(1, 0), 0.0),
        "slice_half" => x.slice_in_dim(0, 4, 1, 0),
        "slice_one" => x.slice_in_dim(0, 1, 1, 0),
        "dynamic_slice" | "dynamic_slice_one" => {
            let size = if op == "dynamic_slice" { 4 } else { 1 };
            let starts = [Array::from(1), Array::from(0)];
            x.dynamic_slice(&starts, &[size, x.shape()[1]])
        }
        "dynamic_update_slice" => x.dynamic_update_slice(y, &[Array::from(0), Array::from(0)]),
        "concatenate" => concatenate(&[x, y], 0),
        "stack" => stack(&[x, y], 0),
        "split" => return x.split(2, 0),
        "reduce_sum" => x.reduce_sum(&[0]),
        "reduce_all" => x.sum(),
        "reduce_last" => x.reduce_max(&[-1]),
        "reduce_prod" => x.reduce_prod(&[0]),
        "mean_kept" => x.mean_over(-1).expand_dims(&[-1]),
        "argmax" => x.argmax(1),
        "cumsum" => x.cumsum(1),
        "cummax" => x.cummax(0),
        "sort" => x.sort(0),
        "top_k" => {
            let (values, places) = x.top_k(2);
            return vec![values, places];
        }
        "softmax" => x.softmax(-1),
        "matmul" => x.matmul(y),
        "matmul_xy" => x.matmul_with(y, P!["X", "Y"]),
        "matmul_x" => x.matmul_with(y, P!["X", None]),
        "matmul_unreduced" => x.matmul_with(y, P!["X", None].with_unreduced("Y")),
        "matmul_summed" => {
            let parts = x.matmul_with(y, P!["X", None].with_unreduced("Y"));
            reshard(&parts, P!["X", None])
        }
        "batched_dot" => x.dot_general(y, DotDimensionNumbers::new([&[2], &[1]], [&[0], &[0]])),
        "tensordot" => x.tensordot(y, 1),
        "einsum_attention" => einsum("bqhd,bkhd->bhqk", &[x, y]),
        "einsum_out" => einsum_with("bd,df->fb", &[x, y], P!["Y", "X"]),
        "gather_rows" => x.index(y),
        "gather_sharded" => x.at(y).out_sharding(P![None, "Y"]).get(),
        "take_columns" => x.take_with(y, 1, GatherScatterMode::Clip),
        "index_last" => x.index((.., 0)),
        "index_first" => x.index(0),
        "scatter_set" => x.at(y).set(0.0),
        "scatter_add" => x.at(y).add(1.0),
        "conv" => conv_general_dilated(x, y, &Convolution::new().padding(Padding::Same)),
        "reduce_window" => x.reduce_window_sum(&Window::new(&[1, 2]).strides(&[1, 2])),
        "cholesky" => linalg::cholesky_with(x, linalg::CholeskyFactor::new().unsymmetrized()),
        "triangular_solve" => linalg::triangular_solve(x, y, linalg::TriangularSolve::default()),
        "qr" => {
            let (q, r) = linalg::qr(x);
            return vec![q, r];
        }
        "eigh" => {
            let (values, vectors) = linalg::eigh_with(x, linalg::Triangle::Lower);
            return vec![vectors, values];
        }
        "svd" => {
            let f = linalg::svd_with(x, linalg::SvdMode::Reduced);
            return vec![f.u, f.s, f.vt];
        }
        "lu" => {
            let f = linalg::lu(x);
            return vec![f.lu, f.pivots, f.permutation];
        }
        "fft" => fft::fft(&x.astype(DType::C64)),
        "reshard" => reshard(x, P!["Z", "X"]),
        "unreduced" => reshard(x, P!["X", None].with_unreduced("Y")),
        "unreduced_add" => {
            let parts = reshard(x, P!["X", None].with_unreduced("Y"));
            &parts + &parts
        }
        "unreduced_sin" => reshard(x, P!["X", None].with_unreduced("Y")).sin(),
        "reduced" => reshard(x, P!["X", None].with_reduced("Y")),
        "zeros" => x + Array::full_with(&[8, 16], 0, DType::F32, P!["X", "Y"]),
        "iota" => x * Array::iota_with(&[8], 0, DType::I32, P!["X"]).astype(DType::F32),
        "random" => {
            let key = random::key(0);
            x + random::sharded(&key, P!["X", "Y"], |key| {
                random::uniform(key, &[8, 16], DType::F32)
            })
        }
        "scan_rows" => {
            let spec = x.aval().sharding().map(|s| s.spec().entries()[1].clone());
            let spec = PartitionSpec::new(spec);
            let init = Array::full_with(&x.shape()[1..], 0, DType::F32, spec);
            let (carry, ys) = scan(|c: Array, r: Array| (&c + &r, r * 2), init, x.clone());
            return vec![carry, ys];
        }
        "scan_mismatch" => {
            let init = Array::zeros(&[16], DType::F32);
            let (carry, ys) = scan(|c: Array, r: Array| (&c + &r, r), init, x.clone());
            return vec![carry, ys];
        }
        "while" => {
            let start = (Array::from(0), x.clone());
            while_loop(|c: (Array, Array)| c.0.lt(3), |c| (c.0 + 1, c.1 * 2), start).1
        }
        "cond" => {
            let positive = x.sum().gt(0.0);
            cond(positive, |x: Array| x * 2, |x: Array| x.sin(), x.clone())
        }
        "vmap_dot" => vmap(|a: Array, b: Array| a.dot(&b))(x.clone(), y.clone()),
        "vmap_add_row" => {
            vmap_with(|a: Array, b: Array| a + b, [Some(0), None])(x.clone(), y.clone())
        }
        "vmap_concatenate" => {
            let f = |r: Array| concatenate(&[r, Array::zeros(&[2], DType::F32)], 0);
            vmap(f)(x.clone())
        }
        "vmap_reduce" => vmap(|r: Array| r.sum())(x.clone()),
        "auto_cumsum" => auto_axes(|x: Array| x.cumsum(0), [], P!["X", "Y"])(x.clone()),
        other => panic!("the operation {other} is not in the table"),
    };
    vec![one]
}

fn mesh() -> Mesh {
    cpu_devices(8);
    make_mesh_with(&[2, 2, 2], &["X", "Y", "Z"], AxisType::Explicit).unwrap()
}

/// Where Ramie takes what JAX refuses: values that are whole on every device join
/// those that are sharded, as they do in elementwise operations.
const JOINS: &[&str] = &[
    "select",
    "concatenate",
    "vmap_concatenate",
    "stack",
    "dynamic_update_slice",
    "cholesky",
];

#[test]
fn results_are_sharded_as_in_jax() {
    let mesh = mesh();
    let _current = set_mesh(mesh);
    let goldens: Goldens = ramie_testing::golden::json("explicit.json");
    assert!(goldens.types.len() > 300);
    let mut wrong = Vec::new();
    let mut joined = 0;
    std::panic::set_hook(Box::new(|_| {}));
    for row in &goldens.types {
        let args: Vec<Array> = row.args.iter().map(|t| t.array(mesh)).collect();
        let types: Vec<String> = args.iter().map(|a| a.aval().to_string()).collect();
        let what = format!("{} {}", row.op, types.join(" "));
        let got = caught(|| {
            let f = |args: Vec<Array>| apply(&row.op, &args);
            let outs = make_jaxpr(f)(args.clone()).jaxpr.out_avals();
            outs.iter()
                .map(|a| format!("{a:#}"))
                .collect::<Vec<String>>()
        });
        match (got, &row.outs, &row.error) {
            (Ok(got), Some(want), _) if got == *want => {}
            (Ok(got), Some(want), _) => wrong.push(format!("{what}: got {got:?}, want {want:?}")),
            (Ok(_), None, Some(_)) if JOINS.contains(&row.op.as_str()) => joined += 1,
            (Ok(got), None, error) => wrong.push(format!("{what}: got {got:?}, want {error:?}")),
            (Err(got), Some(want), _) => {
                wrong.push(format!("{what}: got {got}, want {want:?}"));
            }
            (Err(got), None, error) => {
                let want = error.as_deref().unwrap_or_default();
                if !got.contains("help:") {
                    wrong.push(format!("{what}: no help in {got}"));
                }
                let equal = [
                    "Contracting dimensions",
                    "dot_general requires",
                    "Mapped away",
                ];
                // Who has which sharding is said in other words.
                let told = |start: usize| want[start..].split(" X vs").next().unwrap_or_default();
                if let Some(start) = equal.iter().find_map(|e| want.find(e))
                    && !got.contains(told(start))
                {
                    wrong.push(format!("{what}: got {got}, want {want}"));
                }
            }
        }
    }
    let _ = std::panic::take_hook();
    assert!(
        wrong.is_empty(),
        "{} rows:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(joined, 11);
}
