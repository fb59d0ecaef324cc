//! The catalogue: every primitive of this crate.
//!
//! `tests/primitives` checks it: the test fails for a primitive that is missing here, and for
//! an entry that no test case applies.

use super::cumulative::CUMULATIVE;
use super::elementwise::elementwise_table;
use super::reduce::REDUCE;
use super::window::REDUCE_WINDOW;
use crate::program::class::Class;

/// An entry of the catalogue. A struct has several entries if its parameters select its name.
#[derive(Clone, Copy, Debug)]
pub struct CatalogueEntry {
    /// Struct that implements the primitive.
    pub ty: &'static str,
    /// Name in a printed jaxpr.
    pub name: &'static str,
    /// Dtypes of the main operand, or of the result if there are no operands.
    pub class: Class,
    /// Reason for having no test case in the catalogue, and the test that applies the primitive.
    pub exempt: Option<&'static str>,
}

const fn entry(ty: &'static str, name: &'static str, class: Class) -> CatalogueEntry {
    CatalogueEntry {
        ty,
        name,
        class,
        exempt: None,
    }
}

const fn collective(ty: &'static str, name: &'static str) -> CatalogueEntry {
    CatalogueEntry {
        ty,
        name,
        class: Class::Any,
        exempt: Some(
            "only exists with named axes: core/tests/transformations/collectives.rs maps them with vmap, \
             core/tests/meshes/collectives_on_meshes.rs over devices",
        ),
    }
}

const fn elsewhere(ty: &'static str, name: &'static str, why: &'static str) -> CatalogueEntry {
    CatalogueEntry {
        exempt: Some(why),
        ..entry(ty, name, Class::Any)
    }
}

/// Reason for operations on meshes to have no test cases.
const MESHES: &str = "it runs on several devices, but cases run on one; core/tests/meshes/sharding.rs and \
                      core/tests/meshes/shard_map.rs call it on 8 under every transformation";

/// Reason for callbacks to have no test cases.
const CALLBACK: &str = "it contains a function, not numbers; core/tests/callback.rs calls it under \
                        every transformation";

/// Creates an entry for a primitive of complex numbers, which the tables of real dtypes do not
/// include.
const fn complex(ty: &'static str, name: &'static str) -> CatalogueEntry {
    CatalogueEntry {
        exempt: Some("its numbers are complex: core/tests/operations/complex.rs has the cases"),
        ..entry(ty, name, Class::Inexact)
    }
}

/// Primitives that are not in one of the tables.
const LISTED: &[CatalogueEntry] = &[
    // Elementwise
    entry("AddAny", "add_any", Class::Number),
    entry("Clamp", "clamp", Class::Ordered),
    complex("Complex", "complex"),
    complex("Conj", "conj"),
    complex("Imag", "imag"),
    complex("Real", "real"),
    entry("ConvertElementType", "convert_element_type", Class::Any),
    entry("IntegerPow", "integer_pow", Class::Number),
    entry("IsFinite", "is_finite", Class::Inexact),
    entry("LogAddExp", "logaddexp", Class::Inexact),
    entry("Mulhi", "mulhi", Class::Integer),
    entry("Polygamma", "polygamma", Class::Float),
    entry("Pow", "pow", Class::Float),
    entry("Round", "round", Class::Float),
    entry("SelectN", "select_n", Class::Any),
    entry("StopGradient", "stop_gradient", Class::Any),
    // Collectives
    collective("AllReduce", "psum"),
    collective("AllReduce", "pmax"),
    collective("AllReduce", "pmin"),
    collective("AllGather", "all_gather"),
    collective("AllGather", "all_gather_invariant"),
    collective("AllToAll", "all_to_all"),
    collective("AxisIndex", "axis_index"),
    collective("Ppermute", "ppermute"),
    collective("Pvary", "pvary"),
    collective("RaggedAllToAll", "ragged_all_to_all"),
    collective("ReduceScatter", "reduce_scatter"),
    elsewhere("Reshard", "reshard", MESHES),
    elsewhere("ShardMap", "shard_map", MESHES),
    elsewhere("ShardingConstraint", "sharding_constraint", MESHES),
    // Shape
    entry("BitcastConvertType", "bitcast_convert_type", Class::Any),
    entry("BroadcastInDim", "broadcast_in_dim", Class::Any),
    entry("Concatenate", "concatenate", Class::Any),
    entry("Iota", "iota", Class::Number),
    entry("Pad", "pad", Class::Any),
    entry("ReducePrecision", "reduce_precision", Class::Float),
    entry("Reshape", "reshape", Class::Any),
    entry("Rev", "rev", Class::Any),
    entry("Slice", "slice", Class::Any),
    entry("Split", "split", Class::Any),
    entry("Squeeze", "squeeze", Class::Any),
    entry("Transpose", "transpose", Class::Any),
    // Index
    entry("DynamicSlice", "dynamic_slice", Class::Any),
    entry("DynamicUpdateSlice", "dynamic_update_slice", Class::Any),
    entry("Gather", "gather", Class::Any),
    entry("Scatter", "scatter", Class::Any),
    entry("Scatter", "scatter-add", Class::Number),
    entry("Scatter", "scatter-max", Class::Any),
    entry("Scatter", "scatter-min", Class::Any),
    entry("Scatter", "scatter-mul", Class::Number),
    entry("Scatter", "scatter-sub", Class::Number),
    // Reductions, products and orders
    entry("Argmax", "argmax", Class::Ordered),
    entry("Argmin", "argmin", Class::Ordered),
    entry("ConvGeneralDilated", "conv_general_dilated", Class::Number),
    entry("DotGeneral", "dot_general", Class::Any),
    entry("RaggedDotGeneral", "ragged_dot_general", Class::Number),
    entry("Reduce", "reduce", Class::Any),
    entry("Sort", "sort", Class::Any),
    entry("TopK", "top_k", Class::Ordered),
    // Linear algebra
    entry("Cholesky", "cholesky", Class::Lapack),
    entry("Eigh", "eigh", Class::Lapack),
    entry("Geqrf", "geqrf", Class::Lapack),
    entry("HouseholderProduct", "householder_product", Class::Lapack),
    entry("LinearSolve", "linear_solve", Class::Lapack),
    entry("Lu", "lu", Class::Lapack),
    entry(
        "LuPivotsToPermutation",
        "lu_pivots_to_permutation",
        Class::Integer,
    ),
    entry("Qr", "qr", Class::Lapack),
    entry("Svd", "svd", Class::Lapack),
    entry("TriangularSolve", "triangular_solve", Class::Lapack),
    entry("TridiagonalSolve", "tridiagonal_solve", Class::Lapack),
    // Windows
    entry("ReduceWindow", "reduce_window", Class::Any),
    entry("SelectAndGatherAdd", "select_and_gather_add", Class::Float),
    entry("SelectAndScatter", "select_and_scatter", Class::Any),
    entry(
        "SelectAndScatterAdd",
        "select_and_scatter_add",
        Class::Number,
    ),
    // Fourier transforms
    CatalogueEntry {
        exempt: Some("its numbers are complex: core/tests/operations/fft.rs has the cases"),
        ..entry("Fft", "fft", Class::Inexact)
    },
    // Random numbers
    entry("RandomBits", "random_bits", Class::Word),
    entry("RandomFoldIn", "random_fold_in", Class::Word),
    CatalogueEntry {
        exempt: Some(
            "only JAX provides reference samples: core/tests/operations/samplers.rs compares with them",
        ),
        ..entry("RandomGamma", "random_gamma", Class::Word)
    },
    entry("RandomSeed", "random_seed", Class::Integer),
    entry("RandomSplit", "random_split", Class::Word),
    CatalogueEntry {
        exempt: Some(
            "a batch is drawn with its first state, unlike a loop: core/tests/operations/samplers.rs compares \
             it with JAX",
        ),
        ..entry("RngBitGenerator", "rng_bit_generator", Class::Integer)
    },
    entry("Threefry2x32", "threefry2x32", Class::Word),
    // Programs
    entry("Call", "jit", Class::Any),
    CatalogueEntry {
        exempt: Some(
            "it has no derivative, and its batch consists of other operations: \
             core/tests/transformations/composite.rs",
        ),
        ..entry("Composite", "composite", Class::Any)
    },
    entry("CustomJvpCall", "custom_jvp_call", Class::Any),
    CatalogueEntry {
        exempt: Some(
            "only exists between the forward and the backward rule of custom_vjp, whose cases run \
             it",
        ),
        ..entry("CustomLin", "custom_lin", Class::Any)
    },
    entry("CustomVjpCall", "custom_vjp_call", Class::Any),
    entry("CustomVmapCall", "custom_vmap_call", Class::Any),
    entry("Cond", "cond", Class::Any),
    entry("Scan", "scan", Class::Any),
    entry("While", "while", Class::Any),
    CatalogueEntry {
        ty: "CustomLinearSolve",
        name: "custom_linear_solve",
        class: Class::Float,
        exempt: Some(
            "its programs must solve one system; values, derivatives of both orders and batches: \
             core/tests/transformations/linear_solve.rs",
        ),
    },
    entry("Name", "name", Class::Any),
    entry("OptimizationBarrier", "optimization_barrier", Class::Any),
    entry("Remat", "remat2", Class::Any),
    // Checks and host callbacks
    elsewhere(
        "Check",
        "check",
        "it has no results; core/tests/transformations/checkify.rs converts it to values under every \
         transformation",
    ),
    elsewhere("HostCallback", "debug_callback", CALLBACK),
    elsewhere("HostCallback", "io_callback", CALLBACK),
    elsewhere("HostCallback", "pure_callback", CALLBACK),
];

/// Returns every primitive of this crate: the entries of the tables, followed by the others.
pub fn catalogue() -> Vec<CatalogueEntry> {
    let elementwise = elementwise_table().map(|r| entry(r.ty, r.name, r.class));
    let reduce = REDUCE.iter().map(|r| entry(r.ty, r.name, r.class));
    let windows = REDUCE_WINDOW.iter().map(|r| entry(r.ty, r.name, r.class));
    let cumulative = CUMULATIVE.iter().map(|r| entry(r.ty, r.name, r.class));
    let listed = LISTED.iter().copied();
    elementwise
        .chain(reduce)
        .chain(cumulative)
        .chain(windows)
        .chain(listed)
        .collect()
}
