//! Cases of the rows of tables: derivatives of operators on floats, where they
//! are smooth.

use ramie_core::DType::F64;
use ramie_core::prim::cumulative::CUMULATIVE;
use ramie_core::prim::elementwise::{ElementwiseRow, elementwise_table};
use ramie_core::prim::reduce::REDUCE;
use ramie_testing::case::Case;
use ramie_testing::numbers::Draw;

/// Steps of the last place have a derivative of zero by definition, and no
/// slope.
const NOT_SMOOTH: &[&str] = &["nextafter"];

/// A case or more for each row of the tables that takes floats.
pub fn cases() -> Vec<Case> {
    let mut draw = Draw::new(11);
    let mut cases = Vec::new();
    let smooth = |r: &&ElementwiseRow| r.class.contains(F64) && !NOT_SMOOTH.contains(&r.name);
    for row in elementwise_table().filter(smooth) {
        let shapes: &[&[&[usize]]] = match row.domain.len() {
            0 => &[],
            1 => &[&[&[2, 3]], &[&[]], &[&[0, 2]]],
            _ => &[
                &[&[2, 3], &[2, 3]],
                &[&[2, 1], &[1, 3]],
                &[&[], &[3]],
                &[&[0, 3], &[]],
            ],
        };
        for shapes in shapes {
            let each = shapes.iter().zip(row.domain);
            let inputs = each.map(|(shape, (lo, hi))| draw.array(shape, F64, *lo, *hi));
            let label = format!("table {shapes:?}");
            let case = Case::new(row.name, &label, inputs.collect(), Box::new(row.apply));
            cases.push(case.smooth());
        }
    }
    for row in REDUCE.iter().filter(|r| r.class.contains(F64)) {
        for axes in [&[0][..], &[2, 0], &[0, 1, 2]] {
            let x = draw.array(&[2, 3, 2], F64, -2.0, 2.0);
            let f = Box::new(move |a: &[_]| vec![(row.apply)(&a[0], axes)]);
            cases.push(Case::new(row.name, &format!("table {axes:?}"), vec![x], f).smooth());
        }
    }
    for row in CUMULATIVE.iter().filter(|r| r.class.contains(F64)) {
        for (axis, reverse) in [(0, false), (1, true)] {
            let x = draw.array(&[2, 5], F64, -2.0, 2.0);
            let f = Box::new(move |a: &[_]| vec![(row.apply)(&a[0], axis, reverse)]);
            cases.push(Case::new(row.name, &format!("table {axis}"), vec![x], f).smooth());
        }
    }
    cases
}
