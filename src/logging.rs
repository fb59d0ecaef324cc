use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

/// Prints Ramie's log to stderr, with the levels given by the variable `RUST_LOG`.
///
/// The variable is a level (`error`, `warn`, `info`, `debug`, `trace`) or a list of levels for
/// crates and modules, such as `warn,ramie_core=debug`. If it is not set, nothing is logged. If the program already has a `tracing` subscriber, nothing changes. An invalid value is
/// reported on stderr and ignored.
///
/// Messages of the plugins are separate: set `TF_CPP_MIN_LOG_LEVEL=0` to show them.
///
/// ```
/// ramie::init_logging();
/// ```
pub fn init_logging() {
    let value = std::env::var("RUST_LOG").unwrap_or_default();
    if value.is_empty() {
        return;
    }
    let targets: Targets = match value.parse() {
        Ok(targets) => targets,
        Err(error) => {
            eprintln!(
                "ramie: RUST_LOG=`{value}` is ignored: {error}\nhelp: use a level such as `debug`, \
                 or a list such as `warn,ramie_core=debug`"
            );
            return;
        }
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false);
    // Fails if a subscriber is already set; that one is kept.
    let _ = tracing_subscriber::registry()
        .with(lines.with_filter(targets))
        .try_init();
}
