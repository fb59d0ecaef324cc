"""Writes recordings of functions of arrays, and checks which shapes each function is recorded with.

A function is recorded with at least three shapes of its operands, an empty array and a 0-d array among them, unless
its kind in `KINDS` says that JAX has no such call:

- `axes`: takes no 0-d array, because it works along axes;
- `elements`: takes no empty array;
- `both`: takes neither an empty nor a 0-d array;
- `number`: takes 0-d arrays only;
- `fixed`: takes operands of given shapes.

`python recording.py` checks the files in `data` and needs no packages.
"""

import json
import pathlib
import sys

DATA = pathlib.Path(__file__).parent / "data"

# What the operands of each kind lack.
LACKS = {
    "any": set(), "axes": {"0-d"}, "elements": {"empty"}, "both": {"0-d", "empty"},
    "number": {"shapes", "empty"}, "fixed": {"shapes", "empty", "0-d"},
}

# Recordings of values: `ends` of NaN, infinities and kinks, `linalg_complex` of complex elements. Others vary the shapes.
WITHOUT_SHAPES = {"ends", "linalg_complex"}

# The functions of each recording that are not of the kind `any`.
KINDS = {
    # A mapped operand has an axis and is 0-d within.
    "collectives": {
        "axes": "all_gather all_to_all axis_index pmax pmean pmin ppermute pshuffle psum psum_scatter pswapaxes",
    },
    # Meshes and orders of axes vary here; `collectives` has the shapes.
    "collectives_on_meshes": {
        "both": "all_gather all_to_all pmax pmean ppermute psum psum_scatter",
        "fixed": "axis_index axis_size pbroadcast pmin pshuffle pswapaxes",
    },
    "complex": {
        "axes": "concatenate cumprod cumsum fft hfft ifft ihfft irfft irfftn prod rfft rfftn sum take"
                " fft2 ifft2 irfft2 matmul rfft2 transpose fftfreq",
        "both": "rfftfreq",
        "number": "holomorphic",
    },
    # Other recordings vary the shapes, of real numbers.
    "complex_functions": {
        "axes": "argsort argsort_descending cumlogsumexp cummax cummax_reversed cummin cumprod cumsum diff flip glu"
                " log_softmax nancumprod nancumsum nonzero norm_axes pmax reduce_window_max reduce_window_min"
                " reduce_window_sum softmax sort sort_descending std_ddof var_axes vector_norm_0 vector_norm_1"
                " vector_norm_2 vector_norm_3 vector_norm_inf",
        "elements": "nanmax nanmin",
        "both": "matrix_norm_-1 matrix_norm_-inf matrix_norm_1 matrix_norm_fro matrix_norm_inf",
        "number": "max min ptp",
        "fixed": "at_add at_max at_min at_multiply average bincount_weighted conv convolve corrcoef correlate_full"
                 " correlate_same correlate_valid cov cov_of_two cov_weighted cross digitize dot extract geomspace"
                 " gradient hessian_holomorphic histogram_weighted image init_lecun_normal init_lecun_uniform"
                 " init_normal init_variance_normal inner interp isclose_or_nan jacfwd_from_real jacfwd_holomorphic"
                 " jacrev_holomorphic jacrev_to_real lexsort linspace lognormal logspace logsumexp_sign logsumexp_size"
                 " logsumexp_weighted logsumexp_where matvec max_where normal pad_linear_ramp pad_maximum pad_mean"
                 " pad_minimum piecewise poly polyadd polyder polydiv polyint polymul polyval rademacher searchsorted"
                 " searchsorted_right segment_max segment_min segment_prod segment_sum softmax_where"
                 " square_of_imaginary standardize trapezoid trim_zeros value_and_grad_holomorphic vander var_where"
                 " vecdot vecmat vector_norm_-inf",
    },
    # The condition of a loop takes numbers: `vmap_halve` has arrays of them.
    "control": {"axes": "vmap_choice vmap_choice_of_three vmap_guarded jvp_halve", "number": "halve"},
    "convolution": {
        "axes": "conv_general_dilated conv_general_dilated_local conv_general_dilated_patches conv_transpose",
        "both": "convolve correlate",
    },
    # JAX refuses to choose among no elements.
    "custom": {
        "axes": "cummax cumprod log_softmax logsumexp softmax sort checkpoint hessian_tree jacfwd_tree jacfwd_tuple"
                " jacrev_tree jacrev_tuple",
        "elements": "max min",
    },
    "functions": {"axes": "cumlogsumexp glu"},
    "hermitian": {"axes": "pinv svd svdvals", "both": "matrix_rank pinv_as_is"},
    "lax": {
        "axes": "approx_max_k approx_min_k index_in_dim index_take sort_key_val batch_matmul ragged_dot"
                " ragged_dot_general scaled_dot",
    },
    "linalg": {
        "axes": "cholesky eigh geqrf householder_product linear_solve lu lu_pivots_to_permutation qr svd"
                " triangular_solve tridiagonal_solve",
    },
    # JAX takes the order of a norm along axes only.
    "linalg_functions": {
        "axes": "cho_solve cond det det_as_is diagonal expm inv lu_solve matrix_power multi_dot pinv pinv_as_is"
                " slogdet slogdet_as_is solve solve_triangular trace norm tensorinv multivariate_normal orthogonal",
    },
    # `nothing_max` is the least number of a type, `scalar` the text of one number.
    "narrow": {"axes": "dot_f32 reduce_max reduce_min sort", "number": "nothing_max", "fixed": "scalar"},
    # Each axis of `gradients` needs two elements.
    "numpy_calculus": {
        "axes": "average diff diff_2 gradient gradient_spaced trapezoid trapezoid_at trapezoid_spaced unwrap"
                " cov_frequencies cov_weights cov_weights_0",
        "elements": "gradients",
    },
    "numpy_layouts": {
        "axes": "apply_along_axis array_split delete diagonal_axes fill_diagonal fliplr flipud insert"
                " matrix_transpose moveaxis packbits_little roll_axes rollaxis rot90 cross cross_axis matvec vecdot"
                " vecmat polyadd polyder polydiv polyint polymul polysub vander bartlett blackman hamming hanning",
    },
    "numpy_networks": {
        "axes": "attention attention_bias_mask attention_causal attention_lengths attention_plain"
                " attention_scale_window segment_max segment_max_buckets segment_min segment_min_buckets segment_prod"
                " segment_sorted segment_sum segment_sum_buckets",
    },
    # A size without a fill value needs an element to repeat; `unique` has one.
    "numpy_orders": {
        "axes": "argpartition argsort_descending partition sort_descending unique_rows",
        "elements": "unique_flat",
        "both": "unique_columns",
    },
    # JAX's median of a 0-d array that keeps its axes has one axis, NumPy's has none.
    "numpy_reductions": {
        "axes": "cumulative_prod cumulative_prod_initial cumulative_sum cumulative_sum_initial nanargmax nanargmin"
                " nancumprod nancumsum median_keepdims nanmedian_keepdims",
    },
    "numpy_searches": {"axes": "compress compress_last nonzero bincount bincount_weighted"},
    "numpy_special_functions": {"axes": "kaiser"},
    # JAX looks at each axis, also where nothing is added.
    "padding": {"elements": "linear_ramp maximum median minimum"},
    # JAX fails to read an array without elements from several devices.
    "pmap": {"both": "pmap"},
    "primitives": {"axes": "argmax argmin concatenate cummax cummin cumprod cumsum iota sort top_k"},
    # JAX refuses to divide by the size of an empty axis. A key is two words.
    "random": {
        "axes": "init.delta_orthogonal init.orthogonal categorical permutation split threefry2x32",
        "both": "init.glorot_normal init.glorot_uniform init.he_normal init.he_uniform init.lecun_normal"
                " init.lecun_uniform init.variance_scaling",
        "number": "program.normal",
        "fixed": "fold_in key program.split_normal",
    },
    # JAX fails for square roots and for conversions of matrices without elements.
    "general_matrices": {
        "axes": "eig eigvals hessenberg qr_complete qr_reduced schur schur_complex",
        "both": "rsf2csf sqrtm",
    },
    "roots": {"axes": "batch coupled", "elements": "gmres"},
    # `rng_bit_generator` is recorded with the words of the key after it.
    "samplers": {
        "axes": "split ball dirichlet bits_of_each",
        "both": "multinomial rng_bit_generator",
        "fixed": "fold_in key",
    },
    # XLA fails to compile windows without axes.
    "windows": {"axes": "select_and_gather_add select_and_scatter_add avg_pool max_pool min_pool pool"},
}


def tensor_shapes(path):
    """The shapes in the header of a safetensors file, by name."""
    if not path.exists():
        return {}
    with path.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return {name: info["shape"] for name, info in header.items() if name != "__metadata__"}


def recorded_shapes(path, rows):
    """The shapes of the operands, or of the results if there are no operands, of each row, by function."""
    tensors = tensor_shapes(path.with_suffix(".safetensors"))

    def shape(array):
        if isinstance(array, str):
            return tuple(tensors[array])
        return tuple(array["shape"]) if isinstance(array, dict) else (len(array),)

    functions = {}
    for row in rows:
        arrays = row.get("inputs") or row.get("outputs") or [row["output"]]
        functions.setdefault(row.get("op") or row["fn"], set()).add(tuple(shape(array) for array in arrays))
    return functions


def check(path):
    """Exits if a function lacks other shapes than its kind does. Returns the number of functions."""
    functions = recorded_shapes(path, json.loads(path.with_suffix(".json").read_text())["rows"])
    kinds = {name: kind for kind, names in KINDS.get(path.name, {}).items() for name in names.split()}
    wrong = [f"{name}: is not recorded" for name in kinds if name not in functions]
    for name, recorded in functions.items():
        shapes = {shape for row in recorded for shape in row}
        present = {"shapes": len(recorded) >= 3, "empty": any(0 in shape for shape in shapes), "0-d": () in shapes}
        lacks = {what for what, there in present.items() if not there}
        kind = kinds.get(name, "any")
        if lacks != LACKS[kind]:
            wrong.append(f"{name}: has the kind `{kind}`, but lacks {sorted(lacks) or 'nothing'}")
    if wrong:
        sys.exit("\n".join([f"{path.name}: record other shapes, or change KINDS in {__file__}", *wrong]))
    return len(functions)


def write(path, rows, tensors=None):
    """Writes the rows to `path`.json, the tensors, if any, to `path`.safetensors, and checks the shapes."""
    import jax
    from safetensors.numpy import save_file

    files = [path.with_suffix(".json")]
    if tensors is not None:
        files.append(path.with_suffix(".safetensors"))
        save_file(tensors, files[1], {"jax": jax.__version__})
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    files[0].write_text(f'{{"jax":"{jax.__version__}","rows":[\n{lines}\n]}}\n')
    print(len(rows), "rows", {file.name: file.stat().st_size for file in files})
    if path.name not in WITHOUT_SHAPES:
        check(path)


def main():
    indices = {path: json.loads(path.read_text()) for path in sorted(DATA.glob("*.json"))}
    # Optax's functions take samples, and other indices list no functions.
    names = {path.stem for path, index in indices.items() if "rows" in index and "optax" not in index}
    if missing := (KINDS.keys() | WITHOUT_SHAPES) - names:
        sys.exit(f"no recording has the name {sorted(missing)}")
    print(sum(check(DATA / name) for name in names - WITHOUT_SHAPES), "functions")


if __name__ == "__main__":
    main()
