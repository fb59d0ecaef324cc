//! Links Ramie into one dynamic library, which all cells of the notebook share. Linked into each
//! cell instead, Ramie would have a client for each cell, and no cell could use another's arrays.
#![forbid(unsafe_code)]

pub use {ramie, ramie_plot};
