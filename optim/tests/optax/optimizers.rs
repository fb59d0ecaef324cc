//! Every optimizer and transformation step by step against Optax.

use crate::common;

use common::follow_group;
use common::table::table;

#[test]
fn descent() {
    follow_group("descent", 0.08, table("descent"));
}

#[test]
fn adams() {
    follow_group("adams", 0.12, table("adams"));
}

#[test]
fn scaled() {
    follow_group("scaled", 0.05, table("scaled"));
}

#[test]
fn transformations() {
    follow_group("transformations", 0.02, table("transformations"));
}

#[test]
fn wrappers() {
    follow_group("wrappers", 0.08, table("wrappers"));
}

#[test]
fn linesearches() {
    follow_group("linesearches", 0.7, table("linesearches"));
}

#[test]
fn of_contrib() {
    follow_group("contrib", 0.1, table("contrib"));
}
