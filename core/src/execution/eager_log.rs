//! The summary of compilations outside `jit`, which `RAMIE_LOG_COMPILES=1` prints.

use crate::base::lock::lock;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::Mutex;
use std::time::Duration;

#[derive(Default)]
struct Summary {
    programs: usize,
    /// Number of programs when the summary was last printed.
    printed: usize,
    time: Duration,
    lines: HashMap<&'static Location<'static>, usize>,
}

static SUMMARY: Mutex<Option<Summary>> = Mutex::new(None);

/// Records that an operation at this line was compiled. Prints the summary after 10, 100, ...
/// programs, and at the end of the process.
pub(crate) fn note(at: &'static Location<'static>, time: Duration) {
    let mut summary = lock(&SUMMARY);
    let summary = summary.get_or_insert_with(|| {
        ramie_pjrt::at_exit(print_rest);
        Summary::default()
    });
    summary.programs += 1;
    summary.time += time;
    *summary.lines.entry(at).or_default() += 1;
    if summary.programs >= 10 && summary.programs == 10usize.pow(summary.programs.ilog10()) {
        summary.print();
    }
}

fn print_rest() {
    if let Some(summary) = lock(&SUMMARY).as_mut()
        && summary.programs > summary.printed
    {
        summary.print();
    }
}

impl Summary {
    fn print(&mut self) {
        self.printed = self.programs;
        let Some((line, most)) = self.lines.iter().max_by_key(|(at, n)| (**n, at.line())) else {
            return;
        };
        eprintln!(
            "ramie: compiled {} operations outside `jit` in {:.1?}, {most} of them for {line}\n  help: \
             operations outside `jit` compile one program for each operation and shape; put them \
             into a function and compile it once with `jit`",
            self.programs, self.time
        );
    }
}
