//! Protocol buffers, and readers of the modules that XLA compiles.
//!
//! Each module uses only those above it in this list:
//!
//! | module | contents |
//! |---|---|
//! | [`proto`] | the protocol buffer wire format, read and written |
//! | [`hlo`] | the text of a compiled module |
//! | [`collectives`] | communication between the devices of a compiled module |
//! | [`cost`] | operations and bytes of a compiled module |
//! | [`tile_sharding`] | shardings of a compiled module's inputs and outputs |
//!
//! The readers accept any bytes: a damaged module yields an error or less information, never a panic.

#![forbid(unsafe_code)]

pub mod collectives;
pub mod cost;
pub mod hlo;
pub mod proto;
pub mod tile_sharding;
