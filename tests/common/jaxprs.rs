//! Programs that JAX has printed, and the tests that write them in Rust.

use ramie_core::{Array, ClosedJaxpr, DType};
use serde::Deserialize;

#[derive(Deserialize)]
struct Goldens {
    programs: Vec<Golden>,
}

/// A recorded program.
#[derive(Deserialize)]
pub struct Golden {
    /// What the test is called.
    pub name: String,
    args: Vec<String>,
    text: String,
}

impl Golden {
    /// Arguments of the recorded types.
    pub fn arguments(&self) -> Vec<Array> {
        self.args.iter().map(|a| argument(a)).collect()
    }

    /// Checks that a program prints as the recorded one.
    ///
    /// # Panics
    /// If it does not.
    #[track_caller]
    pub fn check(&self, jaxpr: &ClosedJaxpr) {
        let got = jaxpr.to_string();
        assert!(
            got == self.text,
            "{} prints as\n{got}\nexpected\n{}",
            self.name,
            self.text
        );
    }
}

/// The programs of `tests/golden/data/{file}.json`.
pub fn goldens(file: &str) -> Vec<Golden> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/data");
    let text = std::fs::read_to_string(format!("{root}/{file}.json"));
    let text = text.expect("the golden file can be read");
    let goldens: Goldens = serde_json::from_str(&text).expect("the golden file is JSON");
    goldens.programs
}

/// The names of [`goldens`].
pub fn names(file: &str) -> Vec<String> {
    goldens(file).into_iter().map(|g| g.name).collect()
}

/// One of [`goldens`].
///
/// # Panics
/// If there is none of this name.
#[track_caller]
pub fn golden(file: &str, name: &str) -> Golden {
    let found = goldens(file).into_iter().find(|g| g.name == name);
    found.unwrap_or_else(|| panic!("no golden program {name}"))
}

/// An array without elements, of a type as it is printed: `f32[2,3]`.
pub fn argument(aval: &str) -> Array {
    let (dtype, shape) = aval.trim_end_matches(']').split_once('[').expect("a type");
    let dtype = DType::ALL.into_iter().find(|d| d.name() == dtype);
    let shape: Vec<usize> = shape.split(',').filter_map(|d| d.parse().ok()).collect();
    Array::shape_dtype_struct(&shape, dtype.expect("a known element type"))
}

/// One test per program of a file, with arguments of the recorded types; their
/// names in order are `PROGRAMS`.
macro_rules! programs {
    ($file:literal; $( $name:ident |$($x:ident),*| $body:expr; )*) => {
        $(
            #[test]
            fn $name() {
                let golden = jaxprs::golden($file, stringify!($name));
                let mut args = golden.arguments().into_iter();
                $( let $x = args.next().expect("as many arguments"); )*
                assert!(args.next().is_none(), "the golden program has more arguments");
                let f = |$($x: Array),*| $body;
                golden.check(&make_jaxpr(f)($($x),*));
            }
        )*

        const PROGRAMS: &[&str] = &[$( stringify!($name) ),*];
    };
}
