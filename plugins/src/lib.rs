//! Discovery and installation of XLA plugins and other pinned files, and Ramie's settings.
//!
//! It finds and downloads files; `ramie_pjrt` loads the plugins.
//!
//! On CPUs, [`find`] returns the backend that is linked into the program. For other platforms it searches
//! the user cache, [`cache_dir`], and then existing Python environments: that of `VIRTUAL_ENV`, and that of
//! the first `python3` on `PATH`.
//!
//! `RAMIE_PJRT_PLUGIN` selects a plugin: the path of its file, [`XLA_CPU`] for XLA's CPU plugin, which is
//! then searched in the same places, or [`LINKED`] for the linked backend.
//!
//! [`RELEASES`] lists the plugins that [`install`] downloads with pip, with their versions and SHA-256;
//! `ramie plugin install` calls it. An installation tries those of a platform in order, and a search
//! takes the first that is installed.
//!
//! [`PinnedFile`] installs other files, such as the weights of a model, in the same way.
//!
//! `RAMIE_PLATFORM` (`cpu`, `cuda` or `tpu`) selects the platform. Without it, the first of TPU,
//! CUDA and CPU is used for which both a device and a plugin exist.
//!
//! ```no_run
//! let plugin = ramie_plugins::find(None)?;
//! println!("{} plugin: {}", plugin.platform, plugin.path.display());
//! # Ok::<(), ramie_plugins::DiscoverError>(())
//! ```

#![forbid(unsafe_code)]

mod bundle;
mod catalog;
mod cuda;
mod environment;
mod error;
mod hardware;
mod install;
mod location;
mod manifest;
mod pinned_file;
mod platform;
mod python;
mod search;
pub mod settings;
pub mod trust;
mod wheel;

pub use catalog::{RELEASES, Release, Wheel};
pub use environment::Environment;
pub use error::{Attempt, DiscoverError, InstallError, NotFound, RefusedPlugin};
pub use location::{LINKED, Origin, PluginLocation, XLA_CPU};
pub use manifest::FileState;
pub use pinned_file::PinnedFile;
pub use platform::{Platform, UnknownPlatform};
pub use search::{cache_dir, find, install};
