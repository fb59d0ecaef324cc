use ramie_derive::Tree;

enum Padding {
    Same,
}

#[derive(Tree)]
struct Pool {
    #[tree(fixed)]
    padding: Padding,
}

fn main() {}
