//! Compiler options of CPU programs, chosen by the plugin and the program.

use super::{Program, Runtime};
use ramie_pjrt::OptionOverride;

/// Arguments with more bytes do not stay in a CPU's caches from one use to the next.
const BEYOND_CACHES: usize = 64 << 20;

/// An operation on more bytes takes longer in plain loops than in those of XLA's fusion emitters.
const PLAIN_LOOPS: usize = 64 << 10;

/// The first minor version of the PJRT API whose plugins choose the scheduler by
/// `xla_cpu_scheduler_type` and call YNNPACK, as far as tested plugins show.
const NEWER_PLUGINS: i32 = 100;

/// Returns the options of a program.
pub(super) fn cpu_options(runtime: &Runtime, program: &Program) -> Vec<(String, OptionOverride)> {
    let (_, minor) = runtime.client().plugin().api_version();
    let mut options = Vec::new();
    let mut set = |name: &str, value| options.push((name.to_owned(), value));
    // By default the maximum and minimum of the CPU plugin drop NaN.
    set("xla_cpu_enable_fast_min_max", OptionOverride::Bool(false));
    let bytes = program.inputs.iter().map(|i| i.size_bytes()).sum::<usize>();
    let little_effort = runtime.optimizations_are_disabled();
    if plain_loops(program, bytes, little_effort) {
        set("xla_cpu_use_fusion_emitters", OptionOverride::Bool(false));
    }
    if minor >= NEWER_PLUGINS && program.text.contains("stablehlo.convolution") {
        // YNNPACK's convolutions take a quarter longer than XLA's own; its products are faster.
        let none = OptionOverride::String(String::new());
        set("xla_cpu_experimental_ynn_fusion_type", none);
    }
    if program.keeps_barriers {
        // By default XLA removes barriers before it fuses operations.
        let pass = "cse_barrier_expander".to_owned();
        set("xla_disable_hlo_passes", OptionOverride::String(pass));
    }
    if little_effort {
        // Each part would set up a compiler of its own.
        set(
            "xla_cpu_parallel_codegen_split_count",
            OptionOverride::Int(1),
        );
    }
    if bytes > BEYOND_CACHES {
        // The concurrency-optimized scheduler starts every operation as early as possible. Small
        // programs run faster with it, but a program that uses much memory keeps all its
        // intermediate values alive at the same time.
        if minor >= NEWER_PLUGINS {
            let scheduler = "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED".to_owned();
            set("xla_cpu_scheduler_type", OptionOverride::String(scheduler));
        } else {
            let name = "xla_cpu_enable_concurrency_optimized_scheduler";
            set(name, OptionOverride::Bool(false));
        }
        // If two operations read a donated argument, and one of them writes its new value, it is
        // not copied if the other can run first.
        let name = "xla_cpu_copy_insertion_use_region_analysis";
        set(name, OptionOverride::Bool(true));
    }
    options
}

/// Returns whether the program is compiled without XLA's fusion emitters. They set up a compiler
/// of their own for each fusion, which takes a third to two thirds of the time to compile, so
/// they are worth it only for a program that runs often or long.
///
/// Without them, conversions to `fnuz` floats turn values that round to zero from below into NaN.
fn plain_loops(program: &Program, bytes: usize, little_effort: bool) -> bool {
    let brief = program.single && bytes <= PLAIN_LOOPS;
    (brief || little_effort) && !program.text.is_empty() && !program.text.contains("FNUZ")
}
