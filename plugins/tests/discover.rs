//! Plugin discovery in sandboxes: made-up wheels, and a shell script in the role of `python3`.

#![cfg(unix)]

#[path = "discover/sandbox.rs"]
mod sandbox;

#[path = "discover/damage.rs"]
mod damage;
#[path = "discover/install.rs"]
mod install;
#[path = "discover/order.rs"]
mod order;
#[path = "discover/pinned_file.rs"]
mod pinned_file;
#[path = "discover/platforms.rs"]
mod platforms;
#[path = "discover/preference.rs"]
mod preference;
