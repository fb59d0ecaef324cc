//! How cases ended, counted by operation and dtype.

use ramie_core::DType;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How a case ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    Computed,
    /// A panic that names the operation, at the caller's line.
    Refused,
    /// The same at a line of this crate.
    Misplaced(String),
    /// A panic of another form, or the compiler's own words.
    Raw(String),
    /// A signal ended the process, or it ran for too long.
    Died(String),
}

impl Outcome {
    /// The outcome in one line.
    pub fn encode(&self) -> String {
        match self {
            Outcome::Computed => "computed".into(),
            Outcome::Refused => "refused".into(),
            Outcome::Misplaced(text) => format!("misplaced {}", text.replace('\n', "\\n")),
            Outcome::Raw(text) => format!("raw {}", text.replace('\n', "\\n")),
            Outcome::Died(text) => format!("died {text}"),
        }
    }

    /// The outcome of a line of [`encode`](Outcome::encode).
    pub fn decode(line: &str) -> Outcome {
        match line.split_once(' ') {
            None if line == "computed" => Outcome::Computed,
            None if line == "refused" => Outcome::Refused,
            Some(("misplaced", text)) => Outcome::Misplaced(text.replace("\\n", "\n")),
            Some(("raw", text)) => Outcome::Raw(text.replace("\\n", "\n")),
            _ => panic!("a child wrote {line:?}"),
        }
    }
}

/// Numbers of cases that ended in each way.
#[derive(Clone, Copy, Default)]
pub struct Count {
    pub computed: usize,
    pub refused: usize,
    pub misplaced: usize,
    pub raw: usize,
    pub died: usize,
}

impl Count {
    fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Computed => self.computed += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::Misplaced(_) => self.misplaced += 1,
            Outcome::Raw(_) => self.raw += 1,
            Outcome::Died(_) => self.died += 1,
        }
    }

    fn sum(counts: impl Iterator<Item = Count>) -> Count {
        counts.fold(Count::default(), |a, b| Count {
            computed: a.computed + b.computed,
            refused: a.refused + b.refused,
            misplaced: a.misplaced + b.misplaced,
            raw: a.raw + b.raw,
            died: a.died + b.died,
        })
    }
}

/// Outcomes by operation and dtype, and every failure in words.
#[derive(Default)]
pub struct Report {
    counts: BTreeMap<(&'static str, &'static str), Count>,
    pub failures: Vec<String>,
    pub misplaced: Vec<String>,
}

impl Report {
    pub fn note(&mut self, operation: &'static str, dtype: DType, case: &str, outcome: &Outcome) {
        let key = (operation, dtype.name());
        self.counts.entry(key).or_default().add(outcome);
        match outcome {
            Outcome::Raw(text) | Outcome::Died(text) => {
                self.failures.push(format!("{case}: {text}"));
            }
            Outcome::Misplaced(text) => self.misplaced.push(format!("{case}: {text}")),
            Outcome::Computed | Outcome::Refused => {}
        }
    }

    pub fn total(&self) -> Count {
        Count::sum(self.counts.values().copied())
    }

    /// A row for each dtype.
    pub fn by_dtype(&self) -> String {
        let mut text = String::from(
            "| dtype | computed | refused | refused elsewhere | raw error | died |\n\
             |---|---|---|---|---|---|\n",
        );
        for dtype in DType::ALL {
            let of = self.counts.iter().filter(|((_, d), _)| *d == dtype.name());
            row(&mut text, dtype.name(), Count::sum(of.map(|(_, c)| *c)));
        }
        row(&mut text, "all", self.total());
        text
    }

    /// A row for each operation, and for each dtype a cell `computed/refused`.
    pub fn by_operation(&self) -> String {
        let mut text = String::from("operation");
        DType::ALL.iter().for_each(|d| {
            let _ = write!(text, "\t{d}");
        });
        let mut operations: Vec<_> = self.counts.keys().map(|(name, _)| *name).collect();
        operations.dedup();
        for operation in operations {
            let _ = write!(text, "\n{operation}");
            for dtype in DType::ALL {
                let count = self.counts.get(&(operation, dtype.name()));
                let Count {
                    computed,
                    refused,
                    misplaced,
                    raw,
                    died,
                } = count.copied().unwrap_or_default();
                let _ = match raw + died {
                    0 => write!(text, "\t{computed}/{}", refused + misplaced),
                    _ => write!(text, "\t{computed}/{}/{raw}/{died}", refused + misplaced),
                };
            }
        }
        text.push('\n');
        text
    }
}

fn row(text: &mut String, name: &str, count: Count) {
    let Count {
        computed,
        refused,
        misplaced,
        raw,
        died,
    } = count;
    let _ = writeln!(
        text,
        "| {name} | {computed} | {refused} | {misplaced} | {raw} | {died} |"
    );
}
