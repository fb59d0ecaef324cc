//! Values that a CPU program computes once.
//!
//! XLA computes elementwise operations within the loops of the operations that use them. A value
//! with several users is computed several times, and so is all that it is computed from. In a
//! network with residual connections, each layer adds to a value that the next layers use, in the
//! backward pass, too, so that the time of a step would grow with the square of the number of
//! layers. Behind a barrier, such a value is stored.

use super::{Atom, Jaxpr};

/// A value is stored if at least this many operations compute it.
const OPERATIONS: usize = 12;

/// The users of an equation's result.
#[derive(Clone, Copy, Default)]
struct Users {
    /// The number of users.
    count: usize,
    /// The index, plus one, of the first equation in whose loop all users are computed. 0 if there
    /// is none, because several operations need the elements in memory.
    common: usize,
    /// The number of equations in the chain of common ones that begins here.
    depth: usize,
}

impl Jaxpr {
    /// Values with fewer elements are cheap to compute again.
    pub(crate) const STORED_ELEMENTS: usize = 4096;

    /// Returns for each equation whether its result is stored behind a barrier.
    pub(crate) fn stored(&self) -> Vec<bool> {
        let mut stored = vec![false; self.eqns.len()];
        if stored.len() < OPERATIONS {
            return stored;
        }
        let fuses: Vec<bool> = (self.eqns.iter())
            .map(|eqn| eqn.outputs.len() == 1 && eqn.primitive.fuses())
            .collect();
        let users = users(self, &fuses);
        let mut made_by = vec![None; self.num_vars()];
        // The last equation whose operations were counted, per equation.
        let mut counted_for = vec![usize::MAX; self.eqns.len()];
        for (i, eqn) in self.eqns.iter().enumerate() {
            if fuses[i] {
                made_by[eqn.outputs[0].index()] = Some(i);
                let aval = self.var_aval(eqn.outputs[0]);
                let large = aval.size() >= Jaxpr::STORED_ELEMENTS && aval.dtype().is_inexact();
                if large && users[i].count > 1 && users[i].common == 0 {
                    stored[i] = takes_many_operations(self, &made_by, &stored, &mut counted_for, i);
                }
            }
        }
        stored
    }
}

/// Returns the users of each equation's result. The common equations are the immediate
/// postdominators in the graph of the equations that fuse.
fn users(jaxpr: &Jaxpr, fuses: &[bool]) -> Vec<Users> {
    let mut users = vec![Users::default(); jaxpr.eqns.len()];
    let mut of_variables: Vec<Option<Users>> = vec![None; jaxpr.num_vars()];
    for atom in &jaxpr.outvars {
        add_user(&mut of_variables, &users, atom, 0);
    }
    for (i, eqn) in jaxpr.eqns.iter().enumerate().rev() {
        if fuses[i] {
            let all = of_variables[eqn.outputs[0].index()].unwrap_or_default();
            let depth = 1 + depth(&users, all.common);
            users[i] = Users { depth, ..all };
        }
        let user = if fuses[i] { i + 1 } else { 0 };
        for atom in &eqn.inputs {
            add_user(&mut of_variables, &users, atom, user);
        }
    }
    users
}

/// Adds a user of a variable: the index of an equation that fuses, plus one, or 0.
fn add_user(of_variables: &mut [Option<Users>], users: &[Users], atom: &Atom, user: usize) {
    let Atom::Var(v) = atom else { return };
    let all = of_variables[v.index()].get_or_insert(Users {
        common: user,
        ..Users::default()
    });
    all.count += 1;
    all.common = common(users, all.common, user);
}

/// Returns the depth of an equation, given by its index plus one, or 0.
fn depth(users: &[Users], equation: usize) -> usize {
    equation.checked_sub(1).map_or(0, |i| users[i].depth)
}

/// Returns the first equation in whose loop both are computed, or 0.
fn common(users: &[Users], mut a: usize, mut b: usize) -> usize {
    while a != b {
        match depth(users, a) >= depth(users, b) {
            true => a = users[a - 1].common,
            false => b = users[b - 1].common,
        }
    }
    a
}

/// Returns whether an equation's result takes many operations, each on at least as many elements,
/// to compute from values in memory.
fn takes_many_operations(
    jaxpr: &Jaxpr,
    made_by: &[Option<usize>],
    stored: &[bool],
    counted_for: &mut [usize],
    last: usize,
) -> bool {
    let size = |v| jaxpr.var_aval(v).size();
    let least = size(jaxpr.eqns[last].outputs[0]);
    counted_for[last] = last;
    let (mut seen, mut next, mut count) = (1, vec![last], 0);
    while let Some(i) = next.pop()
        && seen < 8 * OPERATIONS
    {
        let eqn = &jaxpr.eqns[i];
        let read = eqn.inputs.iter().filter_map(Atom::var);
        // Broadcasting a smaller array is no work.
        count += usize::from(read.clone().any(|v| size(v) >= least));
        if count == OPERATIONS {
            return true;
        }
        for i in read.filter_map(|v| made_by[v.index()].filter(|&i| !stored[i])) {
            if counted_for[i] != last {
                counted_for[i] = last;
                seen += 1;
                next.push(i);
            }
        }
    }
    false
}
