//! Special functions (`jax.scipy.special`).

mod bessel;
mod gamma;
mod information;
mod normal;
