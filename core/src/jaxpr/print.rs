//! Printing, in JAX's own text form.

use super::{Atom, Jaxpr};
use std::fmt;

impl fmt::Display for Jaxpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |a: &Atom| match a {
            Atom::Var(v) => format!("v{}", v.0),
            Atom::Literal(l) => l.to_string(),
        };
        write!(f, "{{ lambda ")?;
        for v in &self.constvars {
            write!(f, "v{}:{} ", v.0, self.var_aval(*v))?;
        }
        write!(f, ";")?;
        for v in &self.invars {
            write!(f, " v{}:{}", v.0, self.var_aval(*v))?;
        }
        writeln!(f, ". let")?;
        for e in &self.eqns {
            write!(f, "    ")?;
            for v in &e.outputs {
                write!(f, "v{}:{} ", v.0, self.var_aval(*v))?;
            }
            let ins: Vec<_> = e.inputs.iter().map(name).collect();
            writeln!(f, "= {} {}", e.primitive.name(), ins.join(" "))?;
        }
        let outs: Vec<_> = self.outvars.iter().map(name).collect();
        write!(f, "  in ({},) }}", outs.join(", "))
    }
}
