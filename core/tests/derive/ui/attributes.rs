use ramie_core::Array;
use ramie_derive::Tree;

#[derive(Tree)]
#[tree(fixed)]
struct Several<'a> {
    #[tree(static)]
    name: &'a str,
    #[tree(fixed, fixed)]
    size: usize,
    leaf: Array,
}

#[derive(Tree)]
enum Choice {
    #[tree(fixed)]
    One(Array),
}

#[derive(Tree)]
union Either {
    a: u32,
    b: f32,
}

fn main() {}
