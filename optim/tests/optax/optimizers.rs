//! Every optimizer and transformation step by step against Optax.

use crate::common;

use common::follow_group;
use common::table::table;

#[test]
fn descent() {
    follow_group("descent", table("descent"));
}

#[test]
fn adams() {
    follow_group("adams", table("adams"));
}

#[test]
fn scaled() {
    follow_group("scaled", table("scaled"));
}

#[test]
fn transformations() {
    follow_group("transformations", table("transformations"));
}

#[test]
fn wrappers() {
    follow_group("wrappers", table("wrappers"));
}

#[test]
fn linesearches() {
    follow_group("linesearches", table("linesearches"));
}

#[test]
fn of_contrib() {
    follow_group("contrib", table("contrib"));
}
