//! The table of the pretty forms.

use super::signature::Signature::{self, *};
use super::{Kind::*, Piece, Piece::*};

/// The pieces of a form, and the form of its types.
type Form = (&'static [Piece], Signature);

const COMMA: Piece = Mark(',');

/// Returns the pretty form of an operation, and the form of its types.
#[rustfmt::skip]
pub(super) fn form(name: &str) -> Option<Form> {
    let (dialect, name) = name.split_once('.')?;
    match dialect {
        "stablehlo" => same(name).or_else(|| function(name)).or_else(|| numbers(name)),
        "chlo" => chlo(name),
        "func" => Some(match name {
            "call" => (&[Value(Symbol, "callee"), Mark('('), Operands, Mark(')')], Function),
            "return" => (&[Operands], Terminator),
            _ => return None,
        }),
        "sdy" if name == "return" => Some((&[Operands], Terminator)),
        _ => None,
    }
}

/// Operations whose types are not those of a function.
#[rustfmt::skip]
fn same(name: &str) -> Option<Form> {
    Some(match name {
        "abs" | "cbrt" | "ceil" | "convert" | "cosine" | "count_leading_zeros" | "exponential"
        | "exponential_minus_one" | "floor" | "imag" | "log" | "log_plus_one" | "logistic" | "negate"
        | "not" | "popcnt" | "real" | "round_nearest_afz" | "round_nearest_even" | "rsqrt" | "sign"
        | "sine" | "sqrt" | "tan" | "tanh" => (&[Operand], Same),
        "add" | "and" | "atan2" | "divide" | "maximum" | "minimum" | "multiply" | "or" | "power"
        | "remainder" | "shift_left" | "shift_right_arithmetic" | "shift_right_logical" | "subtract"
        | "xor" => (&[Operand, COMMA, Operand], Same),
        "clamp" => (&[Operand, COMMA, Operand, COMMA, Operand], Same),
        "after_all" => (&[Operands], Same),
        "cholesky" => (&[Operand, OptionalField("lower", Bool, "lower")], Same),
        "reduce_precision" => (&[Operand, COMMA, Format], Same),
        "reverse" => (&[Operand, COMMA, Field("dims", Integers, "dimensions")], Same),
        "complex" => (&[Operand, COMMA, Operand], Complex),
        "select" => (&[Operand, COMMA, Operand, COMMA, Operand], Select),
        "tuple" => (&[Operands], Tuple),
        "optimization_barrier" => (&[Dictionary, BarrierOperands], Pairwise),
        "return" => (&[Operands], Terminator),
        "iota" => (&[Field("dim", Integer, "iota_dimension")], Results),
        "create_token" | "partition_id" | "replica_id" => (&[], Results),
        _ => return None,
    })
}

/// Operations that move elements, compare or call, with the type of a function.
#[rustfmt::skip]
fn function(name: &str) -> Option<Form> {
    Some(match name {
        "bitcast_convert" | "is_finite" | "reshape" => (&[Operand], Function),
        "dynamic_update_slice" => (&[Operands], Function),
        "broadcast" => (&[Operand, COMMA, Field("sizes", Integers, "broadcast_sizes")], Function),
        "broadcast_in_dim" =>
            (&[Operand, COMMA, Field("dims", Integers, "broadcast_dimensions")], Function),
        "compare" => (&[
            Value(Word, "comparison_direction"), COMMA, Operand, COMMA, Operand, OptionalWord("compare_type"),
        ], Function),
        "composite" => (&[Value(Text, "name"), Operands], Function),
        "concatenate" => (&[OperandsWithCommas, Field("dim", Integer, "dimension")], Function),
        "custom_call" =>
            (&[Value(SymbolText, "call_target_name"), Mark('('), Operands, Mark(')')], Function),
        "dynamic_slice" => (&[
            Operand, COMMA, OperandsWithCommas, Field("sizes", Integers, "slice_sizes"),
        ], Function),
        "get_dimension_size" => (&[Operand, COMMA, Field("dim", Integer, "dimension")], Function),
        "get_tuple_element" => (&[Operand, Mark('['), Value(Integer, "index"), Mark(']')], Function),
        "pad" => (&[
            Operand, COMMA, Operand, COMMA, Field("low", Integers, "edge_padding_low"),
            COMMA, Field("high", Integers, "edge_padding_high"),
            COMMA, Field("interior", Integers, "interior_padding"),
        ], Function),
        "set_dimension_size" =>
            (&[Operand, COMMA, Operand, COMMA, Field("dim", Integer, "dimension")], Function),
        "slice" => (&[Operand, Slices], Function),
        "transpose" => (&[Operand, COMMA, Field("dims", Integers, "permutation")], Function),
        "dynamic_reshape" | "real_dynamic_slice" | "dynamic_pad" => (&[Operands], Function),
        "dynamic_broadcast_in_dim" => (&[
            Operand, COMMA, Operand, COMMA, Field("dims", Integers, "broadcast_dimensions"),
        ], Function),
        "dynamic_iota" => (&[Operand, COMMA, Field("dim", Integer, "iota_dimension")], Function),
        _ => return None,
    })
}

/// Operations that compute numbers, with the type of a function.
#[rustfmt::skip]
fn numbers(name: &str) -> Option<Form> {
    Some(match name {
        "convolution" => (&[Mark('('), Operands, Mark(')'), ConvDimensions, COMMA, Window], Function),
        "dot" => (&[Operand, COMMA, Operand, Precision], Function),
        "dot_general" => (&[Operand, COMMA, Operand, COMMA, DotDimensions, Precision], Function),
        "einsum" => (&[Operand, COMMA, Operand, COMMA, Field("config", Text, "einsum_config")], Function),
        "unary_einsum" => (&[Operand, COMMA, Field("config", Text, "einsum_config")], Function),
        "fft" => (&[
            Operand, COMMA, Field("type", Word, "fft_type"), COMMA, Field("length", Integers, "fft_length"),
        ], Function),
        "rng" => (&[
            Operand, COMMA, Operand, COMMA, Operand, COMMA,
            Field("distribution", Word, "rng_distribution"),
        ], Function),
        "rng_bit_generator" =>
            (&[Operand, COMMA, Field("algorithm", Word, "rng_algorithm")], Function),
        _ => return None,
    })
}

#[rustfmt::skip]
fn chlo(name: &str) -> Option<Form> {
    Some(match name {
        "_asin_acos_kernel" | "acos" | "acosh" | "asin" | "asinh" | "atan" | "atanh" | "bessel_i1e"
        | "conj" | "cosh" | "digamma" | "erf" | "erf_inv" | "erfc" | "is_inf" | "is_neg_inf"
        | "is_pos_inf" | "lgamma" | "sinh" | "square" | "tan" => (&[Operand], Arrow),
        "mulhi" | "next_after" | "polygamma" | "zeta" => (&[Operand, COMMA, Operand], Arrow),
        "top_k" => (&[
            Mark('('), Operand, COMMA, Field("k", Integer, "k"),
            OptionalField("is_stable", Bool, "is_stable"), Mark(')'),
        ], Arrow),
        "broadcast_select" => (&[Operand, COMMA, Operand, COMMA, Operand], Function),
        _ if name.starts_with("broadcast_") => (&[Operand, COMMA, Operand], Function),
        _ => return None,
    })
}
