//! Programs and the ways to evaluate them.

pub(crate) mod backend;
pub(crate) mod checks;
pub(crate) mod class;
pub(crate) mod disable;
pub(crate) mod lists;
pub(crate) mod primitive;
pub(crate) mod rules;
pub(crate) mod state_pass;
pub(crate) mod traced;
