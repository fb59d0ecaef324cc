//! Transformations of functions: derivatives, batching, control flow, `jit`, export.

mod by_reference;
mod checkify;
mod checkpoint;
mod collectives;
mod composite;
mod control;
mod control_effects;
mod control_jaxprs;
mod control_messages;
mod control_values;
mod custom_derivatives;
mod custom_in_programs;
mod custom_jaxprs;
mod custom_vmap;
mod derivatives;
mod export;
mod jaxprs;
mod jit;
mod linear_solve;
mod loop_products;
mod nesting;
mod ports;
mod state;
mod structures;
mod train_steps;
mod vmap;
