//! Elementary and special functions of one element.

pub mod complex;
pub mod erf;
pub mod gamma;
pub mod integer;
pub mod real;
pub mod sine;
pub mod single;
pub mod special;
