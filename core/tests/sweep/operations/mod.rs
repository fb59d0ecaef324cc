//! The table of the sweep: every public operation on arrays, by name.

mod functions;
mod methods;
mod samplers;

use ramie_core::Array;

/// A public operation, applied to up to three operands of one dtype and shape.
pub struct Operation {
    /// The name, `sum` for a method and `linalg::det` for a function. What
    /// follows a `/` tells several forms of one operation apart.
    pub name: &'static str,
    pub apply: fn(&[Array]) -> Vec<Array>,
}

impl Operation {
    /// The name without the form.
    pub fn public_name(&self) -> &'static str {
        self.name
            .split_once('/')
            .map_or(self.name, |(name, _)| name)
    }
}

/// Every operation, in the order of the table.
pub fn all() -> Vec<Operation> {
    let mut all = methods::table();
    all.extend(functions::table());
    all.extend(samplers::table());
    all
}

/// Results of an operation as a list.
pub trait Results {
    fn list(self) -> Vec<Array>;
}

impl Results for Array {
    fn list(self) -> Vec<Array> {
        vec![self]
    }
}

impl Results for Vec<Array> {
    fn list(self) -> Vec<Array> {
        self
    }
}

impl<const N: usize> Results for [Array; N] {
    fn list(self) -> Vec<Array> {
        self.into()
    }
}

impl Results for (Array, Array) {
    fn list(self) -> Vec<Array> {
        vec![self.0, self.1]
    }
}

/// Rows of a table: names of methods that are called alike, or a name and a
/// call.
macro_rules! rows {
    ($list:ident; $($name:ident)* => $operands:tt $arguments:tt) => {
        $( rows!(@method $list $name $operands $arguments); )*
    };
    (@method $list:ident $name:ident [$x:ident $(, $y:ident)*] ($($argument:expr),*)) => {
        $list.push(Operation {
            name: stringify!($name),
            apply: |a| {
                let [$x $(, $y)*, ..] = a else { unreachable!("three operands") };
                Results::list($x.$name($($argument),*))
            },
        });
    };
    ($list:ident; $($name:literal |$($x:ident),*| $call:expr;)*) => {
        $( $list.push(Operation {
            name: $name,
            apply: |a| {
                let [$($x,)* ..] = a else { unreachable!("three operands") };
                Results::list($call)
            },
        }); )*
    };
}
use rows;
