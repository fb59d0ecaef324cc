use ramie_pjrt::settings;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

/// Shows Ramie's log on stderr, as the variable `RAMIE_LOG` asks, else `RUST_LOG`.
///
/// The variable is a level (`error`, `warn`, `info`, `debug`, `trace`) or a list of levels for
/// crates and modules, such as `warn,ramie_core=debug`. Nothing is shown without it, and nothing
/// changes if the program has a `tracing` subscriber already. A variable that cannot be read as
/// such a list is reported on stderr and ignored.
///
/// The plugins' own messages are not part of it: `TF_CPP_MIN_LOG_LEVEL=0` shows those.
///
/// ```
/// ramie::init_logging();
/// ```
pub fn init_logging() {
    let ours = settings::LOG.get().unwrap_or_else(|error| {
        eprintln!("ramie: {error}; it is ignored");
        None
    });
    let variable = match ours {
        Some(value) => Some((settings::LOG.name, value)),
        None => std::env::var("RUST_LOG")
            .ok()
            .map(|value| ("RUST_LOG", value)),
    };
    let Some((name, value)) = variable.filter(|(_, value)| !value.is_empty()) else {
        return;
    };
    let targets: Targets = match value.parse() {
        Ok(targets) => targets,
        Err(error) => {
            eprintln!(
                "ramie: {name}=`{value}` is ignored: {error}\n\
                 help: write a level such as `debug`, or a list such as `warn,ramie_core=debug`"
            );
            return;
        }
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false);
    // Fails where a subscriber is set already: that one stays.
    let _ = tracing_subscriber::registry()
        .with(lines.with_filter(targets))
        .try_init();
}
