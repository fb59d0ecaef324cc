//! Programs that JAX has printed, and the tests that write them in Rust.

use super::golden;
use ramie_core::Array;
use ramie_core::extend::ClosedJaxpr;
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
    /// Makes arguments of the recorded types.
    pub fn arguments(&self) -> Vec<Array> {
        self.args.iter().map(|a| argument(a)).collect()
    }

    /// Checks that a program prints as the recorded one.
    ///
    /// # Panics
    /// If the texts differ.
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

/// Reads the programs of `tests/golden/data/{file}.json`.
pub fn goldens(file: &str) -> Vec<Golden> {
    golden::json::<Goldens>(&format!("{file}.json")).programs
}

/// Returns the names of [`goldens`].
pub fn names(file: &str) -> Vec<String> {
    goldens(file).into_iter().map(|g| g.name).collect()
}

/// Returns one of [`goldens`].
///
/// # Panics
/// If no program has this name.
#[track_caller]
pub fn golden(file: &str, name: &str) -> Golden {
    let found = goldens(file).into_iter().find(|g| g.name == name);
    found.unwrap_or_else(|| panic!("no golden program {name}"))
}

/// Makes an array without elements from a printed type such as `f32[2,3]`.
pub fn argument(aval: &str) -> Array {
    let (dtype, shape) = aval.trim_end_matches(']').split_once('[').expect("a type");
    let shape: Vec<usize> = shape.split(',').filter_map(|d| d.parse().ok()).collect();
    Array::shape_dtype_struct(&shape, golden::dtype(dtype))
}

/// One test per program of a file, with arguments of the recorded types; their
/// names in order are `PROGRAMS`.
#[macro_export]
macro_rules! programs {
    ($file:literal; $( $name:ident |$($x:ident),*| $body:expr; )*) => {
        $(
            #[test]
            fn $name() {
                let golden = $crate::jaxprs::golden($file, stringify!($name));
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
