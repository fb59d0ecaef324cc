//! The precision of matrix products and convolutions, and its default.

use crate::base::scoped;
use ramie_plugins::settings;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    #[default]
    #[serde(alias = "bfloat16", alias = "fastest")]
    Default,
    #[serde(alias = "bfloat16_3x", alias = "tensorfloat32")]
    High,
    #[serde(alias = "float32")]
    Highest,
}

/// A precision in a configuration file.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "invalid precision, expected default, high or highest, or a pair of these for both operands"
)]
enum Levels {
    Both(Level),
    Each(Level, Level),
}

impl From<Levels> for Precision {
    fn from(levels: Levels) -> Precision {
        match levels {
            Levels::Both(level) => Precision::both(level),
            Levels::Each(lhs, rhs) => Precision { lhs, rhs },
        }
    }
}

impl From<Precision> for Levels {
    fn from(Precision { lhs, rhs }: Precision) -> Levels {
        if lhs == rhs {
            Levels::Both(lhs)
        } else {
            Levels::Each(lhs, rhs)
        }
    }
}

const LEVELS: [Level; 3] = [Level::Default, Level::High, Level::Highest];

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Default => "DEFAULT",
            Level::High => "HIGH",
            Level::Highest => "HIGHEST",
        })
    }
}

/// The precision of matrix products and convolutions on hardware that offers a choice: by default,
/// TPUs and GPUs multiply `f32` in fewer bits. Operands may have different precisions.
///
/// ```
/// use ramie_core::lax::Precision;
/// let weights_only = Precision::per_operand(Precision::DEFAULT, Precision::HIGHEST);
/// assert_ne!(weights_only, Precision::HIGHEST);
/// assert_eq!("highest".parse(), Ok(Precision::HIGHEST));
/// ```
///
/// In a configuration file, it is `"default"`, `"high"` or `"highest"`, or a pair of these. The other
/// names of JAX's setting `jax_default_matmul_precision` are also read.
#[doc(alias = "PrecisionLike")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "Levels", into = "Levels")]
pub struct Precision {
    lhs: Level,
    rhs: Level,
}

impl Precision {
    /// The fastest.
    pub const DEFAULT: Precision = Precision::both(Level::Default);
    /// A compromise.
    pub const HIGH: Precision = Precision::both(Level::High);
    /// The full precision of the dtype.
    pub const HIGHEST: Precision = Precision::both(Level::Highest);

    const fn both(level: Level) -> Precision {
        Precision {
            lhs: level,
            rhs: level,
        }
    }

    /// Combines the precision of `lhs` for the left operand and that of `rhs` for the right
    /// operand.
    pub const fn per_operand(lhs: Precision, rhs: Precision) -> Precision {
        Precision {
            lhs: lhs.lhs,
            rhs: rhs.rhs,
        }
    }

    /// Returns the precision for exchanged operands.
    pub(crate) fn swapped(self) -> Precision {
        Precision {
            lhs: self.rhs,
            rhs: self.lhs,
        }
    }

    /// Formats the precision of both operands like JAX.
    pub(crate) fn of_both(self) -> String {
        format!("(Precision.{}, Precision.{})", self.lhs, self.rhs)
    }

    /// Returns the attribute of a StableHLO operation.
    pub(crate) fn attribute(self) -> String {
        format!(
            "precision_config = [#stablehlo<precision {}>, #stablehlo<precision {}>]",
            self.lhs, self.rhs
        )
    }

    /// Returns the precision that JAX's setting calls `name`.
    fn named(name: &str) -> Option<Precision> {
        let names = [
            ["default", "bfloat16", "fastest"],
            ["high", "bfloat16_3x", "tensorfloat32"],
            ["highest", "float32", "highest"],
        ];
        let level = names.iter().position(|names| names.contains(&name))?;
        Some(Precision::both(LEVELS[level]))
    }

    fn code(self) -> u8 {
        1 + self.lhs as u8 * 3 + self.rhs as u8
    }

    fn of_code(code: u8) -> Option<Precision> {
        let code = usize::from(code.checked_sub(1)?);
        Some(Precision {
            lhs: LEVELS[code / 3],
            rhs: LEVELS[code % 3],
        })
    }
}

/// Returns the precision with one of the names of JAX's setting.
impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Precision, String> {
        Precision::named(text)
            .ok_or_else(|| format!("unknown precision `{text}`, expected default, high or highest"))
    }
}

impl fmt::Debug for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Formats one name if the operands have the same precision, and a pair otherwise.
impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lhs == self.rhs {
            self.lhs.fmt(f)
        } else {
            write!(f, "({}, {})", self.lhs, self.rhs)
        }
    }
}

/// The environment has not been read yet.
const UNREAD: u8 = u8::MAX;
/// The code of the process's default, or 0.
static DEFAULT: AtomicU8 = AtomicU8::new(UNREAD);
// The code of the thread's default plus 1, or 0 outside of scopes.
thread_local! { static SCOPED: Cell<u8> = const { Cell::new(0) }; }

/// Returns the process's default.
pub(crate) fn process_default() -> Option<Precision> {
    let code = match DEFAULT.load(Ordering::Relaxed) {
        UNREAD => {
            let name = settings::DEFAULT_MATMUL_PRECISION.get().ok().flatten();
            let read = name.and_then(|name| Precision::named(&name));
            let code = read.map_or(0, Precision::code);
            // Another thread may have set the default meanwhile.
            match DEFAULT.compare_exchange(UNREAD, code, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => code,
                Err(set) => set,
            }
        }
        code => code,
    };
    Precision::of_code(code)
}

/// Sets the process's default.
pub(crate) fn set_process_default(precision: Option<Precision>) {
    let code = precision.map_or(0, Precision::code);
    DEFAULT.store(code, Ordering::Relaxed);
}

/// Returns the precision of products that request none.
pub(crate) fn current_default() -> Option<Precision> {
    match SCOPED.get() {
        0 => process_default(),
        scoped => Precision::of_code(scoped - 1),
    }
}

/// Returns a number that differs between defaults, for the keys of traced programs.
pub(crate) fn default_code() -> u8 {
    current_default().map_or(0, Precision::code)
}

/// Runs `f` with `precision` for the matrix products and convolutions on this thread that request
/// no precision (`jax.default_matmul_precision`). `None` restores the choice of the platform.
/// [`config::update`](crate::execution::config::update) and `RAMIE_DEFAULT_MATMUL_PRECISION` set the default
/// of the process.
///
/// A function is traced and compiled once for each default that it is called with.
///
/// ```no_run
/// use ramie_core::config::default_matmul_precision;
/// use ramie_core::lax::Precision;
/// use ramie_core::{Array, DType};
/// let x = Array::ones(&[64, 64], DType::F32);
/// let exact = default_matmul_precision(Precision::HIGHEST, || x.matmul(&x));
/// ```
pub fn default_matmul_precision<R>(
    precision: impl Into<Option<Precision>>,
    f: impl FnOnce() -> R,
) -> R {
    let code = precision.into().map_or(0, Precision::code);
    scoped::with(&SCOPED, code + 1, f)
}
