//! Plugin discovery in sandboxes: made-up wheels, and a shell script in the role of `python3`.

#![cfg(unix)]

mod sandbox;

mod damage;
mod install;
mod order;
mod pinned_file;
mod platforms;
mod preference;
