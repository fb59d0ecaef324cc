//! Operations of arrays against JAX.

#[path = "../../../tests/common/mod.rs"]
mod common;
#[path = "../../../tests/common/draws.rs"]
mod draws;

mod activation;
mod attention;
mod complex;
mod convert;
mod convolution;
mod cpu_functions;
mod cumulative;
mod display;
mod dot;
mod elementwise;
mod fft;
mod functions;
mod images;
mod index;
mod index_primitives;
mod large_sums;
mod linalg;
mod linalg_functions;
mod narrow;
mod numpy;
mod numpy_layouts;
mod numpy_networks;
mod numpy_places;
mod padding;
mod ports_arrays;
mod random;
mod reduce;
mod roots;
mod samplers;
mod shape;
mod smoke;
mod sort;
mod window_choice;
