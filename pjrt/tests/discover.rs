//! Plugin discovery in sandboxes: made-up packages, and shell scripts in the roles of `python3` and
//! `npm`.

#![cfg(unix)]

#[path = "discover/sandbox.rs"]
mod sandbox;

#[path = "discover/damage.rs"]
mod damage;
#[path = "discover/install.rs"]
mod install;
#[path = "discover/npm.rs"]
mod npm;
#[path = "discover/order.rs"]
mod order;
#[path = "discover/pinned_file.rs"]
mod pinned_file;
#[path = "discover/platforms.rs"]
mod platforms;
#[path = "discover/preference.rs"]
mod preference;
