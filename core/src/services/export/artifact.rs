//! The file format of exported functions: the tables of `jax.export`'s format.

use super::flatbuffer::{self, Field, Node, Table, table};
use super::{Exported, PyTree};
use crate::{Aval, DType, Error, Result};
use std::sync::Arc;

/// The version that JAX writes. JAX checks it when it reads a file.
const SERIALIZATION: u16 = 3;
/// The calling convention of the program: it takes the function's arguments, in order.
const CALLING_CONVENTION: u16 = 10;

/// Field numbers of the outermost table.
mod slot {
    pub const SERIALIZATION_VERSION: u16 = 0;
    pub const FUNCTION_NAME: u16 = 1;
    pub const IN_TREE: u16 = 2;
    pub const IN_AVALS: u16 = 3;
    pub const OUT_TREE: u16 = 4;
    pub const OUT_AVALS: u16 = 5;
    pub const NUM_DEVICES_SHORT: u16 = 6;
    pub const IN_SHARDINGS: u16 = 7;
    pub const OUT_SHARDINGS: u16 = 8;
    pub const PLATFORMS: u16 = 9;
    pub const ORDERED_EFFECTS: u16 = 10;
    pub const UNORDERED_EFFECTS: u16 = 11;
    pub const DISABLED_CHECKS: u16 = 12;
    pub const MODULE: u16 = 13;
    pub const CALLING_CONVENTION: u16 = 14;
    pub const KEPT: u16 = 15;
    pub const USES_GLOBAL_CONSTANTS: u16 = 16;
    pub const NUM_DEVICES: u16 = 18;
    pub const UNIQUE_AVALS: u16 = 19;
    pub const UNIQUE_MESHES: u16 = 20;
    pub const UNIQUE_SHARDINGS: u16 = 21;
    pub const IN_AVAL_NUMBERS: u16 = 22;
    pub const OUT_AVAL_NUMBERS: u16 = 23;
    pub const IN_SHARDING_NUMBERS: u16 = 24;
    pub const OUT_SHARDING_NUMBERS: u16 = 25;
}

/// Names of the dtypes, indexed by their numbers in the format.
const DTYPES: [&str; 27] = [
    "bool",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "f32",
    "f64",
    "c64",
    "c128",
    "bf16",
    "i4",
    "u4",
    "f8_e4m3b11fnuz",
    "f8_e4m3fn",
    "f8_e4m3fnuz",
    "f8_e5m2",
    "f8_e5m2fnuz",
    "f0",
    "f8_e4m3",
    "f8_e3m4",
    "f8_e8m0fnu",
    "f4_e2m1fn",
];

/// Returns the number of a dtype in the format, if it has one.
fn code(dtype: DType) -> Option<u8> {
    let code = DTYPES.iter().position(|name| *name == dtype.name())?;
    Some(code as u8)
}

/// Checks that the format has numbers for the dtypes of arguments or results.
pub(super) fn check_dtypes(function: &str, avals: &[Aval]) -> Result<()> {
    match avals.iter().find(|aval| code(aval.dtype()).is_none()) {
        None => Ok(()),
        Some(aval) => Err(Error::Export(format!(
            "`{function}` has an argument or a result {aval}, but the format has no number for \
             this dtype\n  help: pass and return a dtype such as DType::I8, and convert it with \
             astype inside the function"
        ))),
    }
}

fn aval_node(aval: &Aval) -> Node {
    let code = code(aval.dtype()).expect("`export` rejects dtypes without a number");
    let dims = aval.shape().iter().map(|d| Node::Text(d.to_string()));
    const DEVICE_MEMORY: u8 = 1;
    table([
        (0, Field::U8(0)),
        (1, Field::Node(Node::List(dims.collect()))),
        (2, Field::U8(code)),
        (3, Field::U8(DEVICE_MEMORY)),
    ])
}

fn read_aval(table: Table<'_>) -> Result<Aval> {
    let code = table.u8(2)? as usize;
    let name = DTYPES.get(code).copied().unwrap_or("unknown");
    let dtype = DType::ALL
        .into_iter()
        .find(|d| d.name() == name)
        .ok_or_else(|| {
            Error::Export(format!(
                "arrays of dtype number {code} ({name}) are not supported"
            ))
        })?;
    let shape: Vec<usize> = table
        .texts(1)?
        .iter()
        .map(|d| {
            d.parse().map_err(|_| {
                Error::Export(format!(
                    "a dimension is `{d}`, but functions with symbolic shapes are not supported\n  help: \
                     export the function for concrete shapes"
                ))
            })
        })
        .collect::<Result<_>>()?;
    Ok(Aval::new(&shape, dtype))
}

pub(super) fn write(exported: &Exported) -> Vec<u8> {
    let mut unique: Vec<Aval> = Vec::new();
    let mut number = |aval: &Aval| match unique.iter().position(|u| u == aval) {
        Some(at) => at as u32,
        None => {
            unique.push(*aval);
            unique.len() as u32 - 1
        }
    };
    let strong = |avals: &[Aval]| -> Vec<Aval> { avals.iter().map(Aval::strong).collect() };
    let (ins, outs) = (strong(&exported.in_avals), strong(&exported.out_avals));
    let in_numbers: Vec<u32> = ins.iter().map(&mut number).collect();
    let out_numbers: Vec<u32> = outs.iter().map(&mut number).collect();
    let avals = |avals: &[Aval]| Node::List(avals.iter().map(aval_node).collect());
    let unsharded = |n: usize| Node::List((0..n).map(|_| table([])).collect());
    let none = || Node::List(Vec::new());
    let kept = exported.kept.iter().map(|&i| i as u16).collect();
    let root = table([
        (slot::SERIALIZATION_VERSION, Field::U16(SERIALIZATION)),
        (
            slot::FUNCTION_NAME,
            Field::Node(Node::Text(exported.name.clone())),
        ),
        (slot::IN_TREE, Field::Node(exported.in_tree.to_node())),
        (slot::IN_AVALS, Field::Node(avals(&ins))),
        (slot::OUT_TREE, Field::Node(exported.out_tree.to_node())),
        (slot::OUT_AVALS, Field::Node(avals(&outs))),
        (slot::IN_SHARDINGS, Field::Node(unsharded(ins.len()))),
        (slot::OUT_SHARDINGS, Field::Node(unsharded(outs.len()))),
        (
            slot::PLATFORMS,
            Field::Node(Node::List(vec![Node::Text(exported.platform.clone())])),
        ),
        (slot::ORDERED_EFFECTS, Field::Node(none())),
        (slot::UNORDERED_EFFECTS, Field::Node(none())),
        (slot::DISABLED_CHECKS, Field::Node(none())),
        (
            slot::MODULE,
            Field::Node(Node::Bytes(exported.module.clone())),
        ),
        (slot::CALLING_CONVENTION, Field::U16(CALLING_CONVENTION)),
        (slot::KEPT, Field::Node(Node::U16s(kept))),
        (slot::USES_GLOBAL_CONSTANTS, Field::U8(0)),
        (slot::NUM_DEVICES, Field::U32(1)),
        (slot::UNIQUE_AVALS, Field::Node(avals(&unique))),
        (slot::UNIQUE_MESHES, Field::Node(none())),
        (slot::UNIQUE_SHARDINGS, Field::Node(none())),
        (slot::IN_AVAL_NUMBERS, Field::Node(Node::U32s(in_numbers))),
        (slot::OUT_AVAL_NUMBERS, Field::Node(Node::U32s(out_numbers))),
        (
            slot::IN_SHARDING_NUMBERS,
            Field::Node(Node::U32s(vec![0; ins.len()])),
        ),
        (
            slot::OUT_SHARDING_NUMBERS,
            Field::Node(Node::U32s(vec![0; outs.len()])),
        ),
    ]);
    flatbuffer::write(&root)
}

/// Reads the types of arguments or results: numbers of distinct types, or the types themselves.
fn read_avals(root: &Table<'_>, numbers: u16, listed: u16) -> Result<Vec<Aval>> {
    let unique = root.tables(slot::UNIQUE_AVALS as usize)?;
    if unique.is_empty() {
        let listed = root.tables(listed as usize)?.into_iter();
        return listed.map(read_aval).collect();
    }
    let numbers = root.u32s(numbers as usize)?.into_iter();
    let read = |i: u32| match unique.get(i as usize) {
        Some(table) => read_aval(*table),
        None => Err(Error::Export("a type is missing".into())),
    };
    numbers.map(read).collect()
}

pub(super) fn read(bytes: &[u8]) -> Result<Exported> {
    let root = Table::root(bytes)?;
    let at = |slot: u16| slot as usize;
    let refuse = |what: &str| Err(Error::Export(what.to_string()));
    if root.u16(at(slot::SERIALIZATION_VERSION))? < 2 {
        return refuse("these are not the bytes of an exported function");
    }
    let devices = root.u32(at(slot::NUM_DEVICES))?;
    let devices = devices.max(root.u16(at(slot::NUM_DEVICES_SHORT))?.into());
    if devices != 1 {
        return refuse(&format!(
            "the function runs on {devices} devices, but one is expected"
        ));
    }
    if root.u8(at(slot::USES_GLOBAL_CONSTANTS))? != 0 {
        return refuse(
            "the function has symbolic shapes or several platforms\n  help: export it for concrete \
             shapes and one platform",
        );
    }
    let effects = root.tables(at(slot::ORDERED_EFFECTS))?.len()
        + root.tables(at(slot::UNORDERED_EFFECTS))?.len();
    if effects > 0 {
        return refuse(
            "the function has effects, such as printing, which only work in the process that \
             exported it",
        );
    }
    let tree = |slot: u16| match root.table(at(slot))? {
        Some(table) => PyTree::from_table(table),
        None => Err(Error::Export(
            "the structure of arguments or results is missing".into(),
        )),
    };
    let in_avals = read_avals(&root, slot::IN_AVAL_NUMBERS, slot::IN_AVALS)?;
    let out_avals = read_avals(&root, slot::OUT_AVAL_NUMBERS, slot::OUT_AVALS)?;
    let kept: Vec<usize> = root
        .u16s(at(slot::KEPT))?
        .into_iter()
        .map(usize::from)
        .collect();
    let (in_tree, out_tree) = (tree(slot::IN_TREE)?, tree(slot::OUT_TREE)?);
    if kept.iter().any(|&i| i >= in_avals.len())
        || in_tree.num_leaves() != in_avals.len()
        || out_tree.num_leaves() != out_avals.len()
    {
        return refuse("structure and types of arguments or results disagree");
    }
    Ok(Exported {
        name: root.text(at(slot::FUNCTION_NAME))?,
        in_tree,
        in_avals,
        out_tree,
        out_avals,
        platform: root.texts(at(slot::PLATFORMS))?.join(","),
        module: root.bytes(at(slot::MODULE))?.to_vec(),
        kept,
        executable: Arc::default(),
    })
}
