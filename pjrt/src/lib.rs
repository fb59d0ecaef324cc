//! A safe, thin layer over the PJRT C API.
