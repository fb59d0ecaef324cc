//! Programs where types say how values are sharded print as in JAX: those of
//! `tests/golden/explicit.py`.

use crate::eight_devices;
use ramie_core::extend::ClosedJaxpr;
use ramie_core::lax::scan;
use ramie_core::numpy::einsum_with;
use ramie_core::sharding::{AxisType, SpecEntry, make_mesh_with, reshard};
use ramie_core::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Goldens {
    programs: Vec<Program>,
}

#[derive(Deserialize)]
struct Program {
    name: String,
    args: Vec<Told>,
    jaxpr: String,
}

#[derive(Deserialize)]
struct Told {
    dtype: String,
    shape: Vec<usize>,
    spec: Vec<Option<String>>,
}

impl Told {
    fn array(&self, mesh: Mesh) -> Array {
        let entry = |e: &Option<String>| SpecEntry::from(e.as_deref());
        let spec = PartitionSpec::new(self.spec.iter().map(entry));
        let dtype = match self.dtype.as_str() {
            "int32" => DType::I32,
            _ => DType::F32,
        };
        Array::shape_dtype_struct_with(&self.shape, dtype, NamedSharding::new(mesh, spec))
    }
}

type Pair = (Array, Array);

/// The function of `PROGRAMS` of the script.
fn trace(name: &str, a: Vec<Array>) -> ClosedJaxpr {
    let x = a[0].clone();
    let y = a.get(1).cloned().unwrap_or_else(|| x.clone());
    let z = a.last().cloned().expect("an argument");
    match name {
        "square_matmul" => make_jaxpr(|x: Array, w: Array| {
            einsum_with("bd,df->bf", &[x.square(), w], P!["X", "Y"])
        })(x, y),
        "elementwise" => make_jaxpr(|x: Array, y: Array| x.sin() * y + 1.0)(x, y),
        "bias" => make_jaxpr(|x: Array, b: Array| (x + b).tanh())(x, y),
        "softmax" => make_jaxpr(|x: Array| x.softmax(-1))(x),
        "reshape" => make_jaxpr(|x: Array| x.reshape(&[4, 2, 16]))(x),
        "reshape_sharded" => make_jaxpr(|x: Array| x.reshape_with(&[4, 32], P!["X", "Y"]))(x),
        "iota" => make_jaxpr(|x: Array| x * Array::iota_with(&[8], 0, DType::I32, P!["X"]))(x),
        "zeros" => {
            let zeros = || Array::full_with(&[8, 16], 0, DType::F32, P!["X", None]);
            make_jaxpr(move |x: Array| x + zeros())(x)
        }
        "reshard" => make_jaxpr(|x: Array| reshard(&x, P![None, "Y"]) * 2.0)(x),
        "dot_jvp" => make_jaxpr(|x: Array, w: Array| -> Pair {
            jvp(|x: Array| x.matmul_with(&w, P!["X", None]), x.clone(), x)
        })(x, y),
        "dot_vjp" => make_jaxpr(|x: Array, w: Array, ct: Array| -> Pair {
            let f = |(x, w): Pair| x.matmul_with(&w, P!["X", "Y"]);
            vjp(f, (x, w)).1(ct)
        })(x, y, z),
        "sum_vjp" => {
            make_jaxpr(|x: Array, ct: Array| vjp(|x: Array| x.reduce_sum(&[0]), x).1(ct))(x, y)
        }
        "reshape_vjp" => {
            make_jaxpr(|x: Array, ct: Array| vjp(|x: Array| x.reshape(&[4, 2, 16]), x).1(ct))(x, y)
        }
        "vmap_dot" => {
            make_jaxpr(|x: Array, y: Array| vmap(|a: Array, b: Array| a.dot(&b))(x, y))(x, y)
        }
        "vmap_matmul" => make_jaxpr(|x: Array, w: Array| {
            let f = |x: Array, w: Array| x.matmul_with(&w, P!["Y"]);
            vmap_with(f, [Some(0), None])(x, w)
        })(x, y),
        "scan" => make_jaxpr(|x: Array| {
            let zeros = Array::full_with(&[16], 0, DType::F32, P!["Y"]);
            scan(|c: Array, r: Array| (&c + &r, c.sin()), zeros, x)
        })(x),
        other => panic!("the program {other} is not in the list"),
    }
}

#[test]
fn programs_print_as_in_jax() {
    eight_devices();
    let mesh = make_mesh_with(&[2, 2, 2], &["X", "Y", "Z"], AxisType::Explicit).unwrap();
    let _current = set_mesh(mesh);
    let goldens: Goldens = ramie_testing::golden::json("explicit.json");
    assert_eq!(goldens.programs.len(), 16);
    let mut wrong = Vec::new();
    for program in &goldens.programs {
        let args = program.args.iter().map(|t| t.array(mesh)).collect();
        let got = trace(&program.name, args).to_string();
        // Layout of lines aside.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        if words(&got) != words(&program.jaxpr) {
            let want = &program.jaxpr;
            wrong.push(format!("{}: got\n{got}\nwant\n{want}", program.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
