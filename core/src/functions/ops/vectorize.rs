//! Vectorization of functions by the signature of their core axes.

use crate::typing::Dims;
use crate::{Array, vmap};
use std::collections::BTreeMap;

/// The names of the core axes of each argument and each result of a function.
struct Signature {
    arguments: Vec<Vec<String>>,
    results: Vec<Vec<String>>,
}

impl Signature {
    /// Parses `"(n,m),(m)->(n)"`.
    #[track_caller]
    fn parse(text: &str) -> Signature {
        let side = |side: &str| -> Option<Vec<Vec<String>>> {
            let inner = side.trim().strip_prefix('(')?.strip_suffix(')')?;
            inner.split("),(").map(names).collect()
        };
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let sides = compact.split_once("->");
        let parsed = sides.and_then(|(a, r)| Some((side(a)?, side(r)?)));
        let Some((arguments, results)) = parsed else {
            panic!(
                "vectorize: `{text}` is not a valid signature\n  help: list the axes of \
                 arguments and results: (n,m),(m)->(n)"
            );
        };
        Signature { arguments, results }
    }
}

fn names(list: &str) -> Option<Vec<String>> {
    if list.is_empty() {
        return Some(Vec::new());
    }
    let word = |name: &str| {
        let valid = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        valid.then(|| name.to_string())
    };
    list.split(',').map(word).collect()
}

/// Vectorizes a function of arrays with the named core axes: the returned function accepts arrays
/// with additional leading axes, which broadcast together, and maps the function over them
/// (`jnp.vectorize` with a signature). Functions of single elements do not need it, since array
/// operations already broadcast.
///
/// ```no_run
/// use ramie_core::numpy::vectorize;
/// use ramie_core::{Array, DType};
/// let product = vectorize("(n,m),(m)->(n)", |x: &[Array]| vec![x[0].matmul(&x[1])]);
/// let matrices = Array::ones(&[5, 2, 3], DType::F32);
/// let vectors = Array::ones(&[4, 1, 3], DType::F32);
/// assert_eq!(product(&[matrices, vectors])[0].shape(), [4, 5, 2]);
/// ```
///
/// # Panics
/// Panics if the signature is malformed. The returned function panics if the number of arguments
/// or the axes of arguments or results do not match the signature, or if the leading axes do not
/// broadcast.
#[track_caller]
pub fn vectorize<F>(signature: &str, f: F) -> impl Fn(&[Array]) -> Vec<Array>
where
    F: Fn(&[Array]) -> Vec<Array> + Send + Sync,
{
    let parsed = Signature::parse(signature);
    let signature = signature.to_string();
    move |args| apply(&signature, &parsed, &f, args)
}

/// Returns the results of the function, whose axes must match the signature.
#[track_caller]
fn checked<'a>(
    text: &str,
    signature: &'a Signature,
    results: Vec<Array>,
    mut sizes: BTreeMap<&'a str, usize>,
) -> Vec<Array> {
    assert!(
        results.len() == signature.results.len(),
        "vectorize: got {} results for the signature {text}\n  help: return {}",
        results.len(),
        signature.results.len()
    );
    for (x, axes) in results.iter().zip(&signature.results) {
        assert!(
            x.ndim() == axes.len(),
            "vectorize: a result is {}, which lacks the axes {axes:?} of the signature {text}",
            x.aval()
        );
        own_axes(text, x, axes, &mut sizes);
    }
    results
}

#[track_caller]
fn apply<F>(text: &str, signature: &Signature, f: &F, args: &[Array]) -> Vec<Array>
where
    F: Fn(&[Array]) -> Vec<Array> + Send + Sync,
{
    assert!(
        args.len() == signature.arguments.len(),
        "vectorize: got {} arguments for the signature {text}\n  help: pass {}",
        args.len(),
        signature.arguments.len()
    );
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for (x, axes) in args.iter().zip(&signature.arguments) {
        own_axes(text, x, axes, &mut sizes);
    }
    let loops: Vec<&[usize]> = args
        .iter()
        .zip(&signature.arguments)
        .map(|(x, axes)| &x.shape()[..x.ndim() - axes.len()])
        .collect();
    let Some(shape) = crate::numpy::broadcast_shapes(&loops) else {
        panic!(
            "vectorize: the leading axes {loops:?} before those of the signature {text} do not \
             broadcast\n  help: they must agree or be 1"
        );
    };
    // Arguments without leading axes are not mapped.
    let mapped = |i: &usize| loops[*i].iter().any(|&n| n != 1);
    let own = |i: usize| -> Dims { args[i].shape()[loops[i].len()..].into() };
    let whole: Vec<Option<Array>> = (0..args.len())
        .map(|i| (!mapped(&i)).then(|| args[i].reshape(&own(i))))
        .collect();
    let batch: Vec<Array> = (0..args.len())
        .filter(mapped)
        .map(|i| merged(&args[i], &shape, &own(i)))
        .collect();
    let of_parts = |parts: Vec<Array>| {
        let mut parts = parts.into_iter();
        let mut next = || parts.next().expect("an array for each mapped argument");
        let all: Vec<Array> = whole
            .iter()
            .map(|x| x.clone().unwrap_or_else(&mut next))
            .collect();
        checked(text, signature, f(&all), sizes.clone())
    };
    let results: Vec<Array> = if batch.is_empty() {
        let results = of_parts(batch);
        results.iter().map(|r| r.expand_dims(&[0])).collect()
    } else {
        vmap(of_parts)(batch)
    };
    let unmerged = |r: &Array| r.reshape(&[&shape[..], &r.shape()[1..]].concat());
    results.iter().map(unmerged).collect()
}

/// Broadcasts the leading axes of an argument to `shape` and merges them into one.
#[track_caller]
fn merged(x: &Array, shape: &[usize], own: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    let full = x.broadcast_to(&[shape, own].concat());
    full.reshape(&[&[count], own].concat())
}

/// Checks the last axes of an array against the sizes of the names seen so far, and records new
/// names.
#[track_caller]
fn own_axes<'n>(text: &str, x: &Array, axes: &'n [String], sizes: &mut BTreeMap<&'n str, usize>) {
    assert!(
        x.ndim() >= axes.len(),
        "vectorize: {} lacks the axes {axes:?} of the signature {text}",
        x.aval()
    );
    let own = &x.shape()[x.ndim() - axes.len()..];
    for (name, &n) in axes.iter().zip(own) {
        let known = *sizes.entry(name).or_insert(n);
        assert!(
            known == n,
            "vectorize: axis `{name}` of the signature {text} has the sizes {known} and {n}\n  \
             help: axes with the same name must have the same size"
        );
    }
}
