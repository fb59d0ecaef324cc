//! Printing of programs in JAX's text form.

use super::layout::{Doc, group, join, nest, text};
use super::{Atom, Eqn, Jaxpr, Var};
use crate::Aval;
use crate::base::stack::with_room;
use crate::prim::Nested;
use crate::program::primitive::Param;
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

impl fmt::Display for Jaxpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Printer::new(self).document(self).render())
    }
}

impl Jaxpr {
    /// Prints the program with one equation per line, each followed by its named scopes (JAX's
    /// `pretty_print(name_stack=True)`).
    ///
    /// ```
    /// use ramie_core::{Array, DType, make_jaxpr, named_scope};
    /// let f = |x: Array| named_scope("wave", || x.sin()) * 2.0;
    /// let jaxpr = make_jaxpr(f)(Array::shape_dtype_struct(&[], DType::F32));
    /// assert_eq!(
    ///     jaxpr.jaxpr.to_string_with_scopes(),
    ///     "{ lambda ; a:f32[]. let
    ///     b:f32[] = sin a # [wave]
    ///     c:f32[] = mul b 2.0:f32[]
    ///   in (c,) }"
    /// );
    /// ```
    pub fn to_string_with_scopes(&self) -> String {
        let mut printer = Printer::new(self);
        printer.scopes = true;
        align(&printer.document(self).render())
    }
}

/// Separates a line from the note at its end.
const MARGIN: char = '\u{1}';

/// Aligns the notes at the ends of lines.
fn align(text: &str) -> String {
    let columns = |line: &str| line.split(MARGIN).next().map_or(0, |l| l.chars().count());
    let noted = text.lines().filter(|line| line.contains(MARGIN));
    let width = noted.map(columns).max().unwrap_or(0);
    let lines = text.lines().map(|line| match line.split_once(MARGIN) {
        Some((code, note)) => format!("{code:width$} # {note}"),
        None => line.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The identity of a program while it is printed: its address.
type Identity = *const Jaxpr;

/// Nested programs with more equations are printed before the outermost one.
const LONG: usize = 10;

/// The names used in one printed program.
#[derive(Default)]
struct Printer {
    variables: HashMap<(Identity, Var), String>,
    /// Number of generated names so far.
    given: usize,
    /// Programs printed first and referred to by name, in order.
    shared: Vec<(Arc<Jaxpr>, String)>,
    /// Keeps nested programs alive, so that their addresses stay unique.
    nested: Vec<Arc<Jaxpr>>,
    /// Whether named scopes are printed after equations.
    scopes: bool,
}

/// Writes the number in base 26 with the digits a to z.
fn letters(mut n: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(b'a' + (n % 26) as u8);
        n /= 26;
        if n == 0 {
            break;
        }
    }
    digits.iter().rev().map(|&d| char::from(d)).collect()
}

/// Returns the parameters of an equation.
fn params(jaxpr: &Jaxpr, eqn: &Eqn) -> Vec<(&'static str, Param)> {
    let operands: SmallVec<[Aval; 4]> = eqn.inputs.iter().map(|a| jaxpr.aval(a)).collect();
    eqn.primitive.params(&operands)
}

fn line() -> Doc {
    Doc::Break(" ")
}

fn fold() -> Doc {
    Doc::Break("")
}

impl Printer {
    fn new(outermost: &Jaxpr) -> Printer {
        let mut printer = Printer::default();
        printer.find_shared(outermost);
        printer.name_unused(outermost);
        printer
    }

    /// Finds the nested programs that occur more than once or are long, in breadth-first order.
    fn find_shared(&mut self, outermost: &Jaxpr) {
        let mut seen: Vec<(Arc<Jaxpr>, String)> = Vec::new();
        let mut count: HashMap<Identity, usize> = HashMap::new();
        let mut todo: VecDeque<Arc<Jaxpr>> = VecDeque::new();
        let mut look_inside = |jaxpr: &Jaxpr, todo: &mut VecDeque<Arc<Jaxpr>>| {
            for eqn in &jaxpr.eqns {
                let params = params(jaxpr, eqn);
                let name = params.iter().find_map(|(key, value)| match value {
                    Param::Text(name) if *key == "name" => Some(name.trim_matches(['<', '>'])),
                    _ => None,
                });
                for inner in params.iter().flat_map(|(_, value)| value.jaxprs()) {
                    if !seen.iter().any(|(other, _)| Arc::ptr_eq(other, inner)) {
                        seen.push((inner.clone(), name.unwrap_or("jaxpr").into()));
                    }
                    todo.push_back(inner.clone());
                }
            }
        };
        look_inside(outermost, &mut todo);
        while let Some(jaxpr) = todo.pop_front() {
            let visits = count.entry(Arc::as_ptr(&jaxpr)).or_default();
            *visits += 1;
            // After two visits everything inside has been counted twice.
            if *visits <= 2 {
                look_inside(&jaxpr, &mut todo);
            }
        }
        let mut uses: HashMap<String, usize> = HashMap::new();
        for (jaxpr, mut name) in seen {
            self.nested.push(jaxpr.clone());
            if count.get(&Arc::as_ptr(&jaxpr)) == Some(&1) && jaxpr.eqns.len() <= LONG {
                continue;
            }
            let before = *uses.get(&name).unwrap_or(&0);
            *uses.entry(name.clone()).or_default() += 1;
            if before > 0 {
                name = format!("{name}{before}");
                *uses.entry(name.clone()).or_default() += 1;
            }
            self.shared.push((jaxpr, name));
        }
    }

    /// Names unused results of the outermost program `_`.
    fn name_unused(&mut self, outermost: &Jaxpr) {
        let operands = outermost.eqns.iter().flat_map(|e| &e.inputs);
        let used: HashSet<Var> = operands
            .chain(&outermost.outvars)
            .filter_map(Atom::var)
            .collect();
        let results = outermost.eqns.iter().flat_map(|e| &e.outputs);
        for v in results.filter(|v| !used.contains(v)) {
            self.variables.insert((outermost, *v), "_".into());
        }
    }

    /// Returns the name of a variable, which is assigned when it is first written.
    fn variable(&mut self, jaxpr: &Jaxpr, var: Var) -> String {
        if let Some(name) = self.variables.get(&(std::ptr::from_ref(jaxpr), var)) {
            return name.clone();
        }
        let name = loop {
            let name = letters(self.given);
            self.given += 1;
            if !self.shared.iter().any(|(_, taken)| *taken == name) {
                break name;
            }
        };
        self.variables.insert((jaxpr, var), name.clone());
        name
    }

    fn atom(&mut self, jaxpr: &Jaxpr, atom: &Atom) -> Doc {
        text(match atom {
            Atom::Var(v) => self.variable(jaxpr, *v),
            Atom::Literal(l) => l.to_string(),
        })
    }

    /// Formats variables with their types; a long list fills lines.
    fn binders(&mut self, jaxpr: &Jaxpr, vars: &[Var]) -> Doc {
        let docs = vars.iter().map(|v| {
            let name = self.variable(jaxpr, *v);
            match jaxpr.avals.get(v.index()) {
                Some(aval) => text(format!("{name}:{aval}")),
                None => text(name),
            }
        });
        list("", docs.collect())
    }

    fn atoms(&mut self, jaxpr: &Jaxpr, separator: &'static str, atoms: &[Atom]) -> Doc {
        let docs = atoms.iter().map(|a| self.atom(jaxpr, a)).collect();
        list(separator, docs)
    }

    /// Returns the whole document: shared programs, then the outermost.
    fn document(&mut self, outermost: &Jaxpr) -> Doc {
        let mut docs = Vec::new();
        for (jaxpr, name) in self.shared.clone() {
            docs.push(text(format!("let {name} = ")));
            docs.push(self.program(&jaxpr));
            docs.push(text(" in"));
            docs.push(line());
        }
        docs.push(self.program(outermost));
        Doc::Concat(docs)
    }

    fn program(&mut self, jaxpr: &Jaxpr) -> Doc {
        let consts = self.binders(jaxpr, &jaxpr.constvars);
        let inputs = self.binders(jaxpr, &jaxpr.invars);
        let equations = jaxpr.eqns.iter().map(|e| self.equation(jaxpr, e));
        let equations = with_room(|| equations.collect());
        let outputs = self.atoms(jaxpr, ",", &jaxpr.outvars);
        let close = if jaxpr.outvars.len() == 1 { ",)" } else { ")" };
        let body = nest(2, vec![line(), join(|| Doc::Break("; "), equations)]);
        let parts = vec![
            text("{ lambda "),
            consts,
            text("; "),
            inputs,
            text(". let"),
            body,
            line(),
            text("in ("),
            outputs,
            text(close),
        ];
        let docs = vec![nest(2, parts), text(" }")];
        if self.scopes {
            return Doc::Concat(docs);
        }
        group(docs)
    }

    fn equation(&mut self, jaxpr: &Jaxpr, eqn: &Eqn) -> Doc {
        let params = params(jaxpr, eqn);
        if let Some(callee) = eqn.primitive.nested().and_then(Nested::callee) {
            self.align(jaxpr, eqn, callee);
        }
        let mut docs = Vec::new();
        if !eqn.outputs.is_empty() {
            docs.push(self.binders(jaxpr, &eqn.outputs));
            docs.push(text(" = "));
        }
        docs.push(text(eqn.primitive.name()));
        if !params.is_empty() {
            let params = params.iter().map(|(key, value)| self.param(key, value));
            docs.push(brackets("[", params.collect(), "]"));
        }
        docs.push(text(" "));
        docs.push(self.atoms(jaxpr, "", &eqn.inputs));
        if self.scopes && !eqn.scope.name().is_empty() {
            docs.push(text(format!("{MARGIN}[{}]", eqn.scope)));
        }
        Doc::Concat(docs)
    }

    fn param(&mut self, key: &str, value: &Param) -> Doc {
        let value = match value {
            Param::Text(value) => text(value.clone()),
            Param::Jaxpr(inner) => self.nested_program(inner),
            Param::Jaxprs(inner) => {
                let programs = inner.iter().map(|j| self.nested_program(j)).collect();
                brackets("(", programs, ")")
            }
        };
        Doc::Concat(vec![text(format!("{key}=")), value])
    }

    fn nested_program(&mut self, jaxpr: &Arc<Jaxpr>) -> Doc {
        match self.shared.iter().find(|(s, _)| Arc::ptr_eq(s, jaxpr)) {
            Some((_, name)) => text(name.clone()),
            None => {
                self.nested.push(jaxpr.clone());
                self.program(jaxpr)
            }
        }
    }

    /// Reuses the caller's names in a called function, each once: its inputs get the names of the
    /// operands, its outputs those of the results.
    fn align(&mut self, jaxpr: &Jaxpr, eqn: &Eqn, inner: &Arc<Jaxpr>) {
        if self.shared.iter().any(|(s, _)| Arc::ptr_eq(s, inner)) {
            return;
        }
        self.nested.push(inner.clone());
        let operands = inner.invars.iter().zip(&eqn.inputs);
        let operands = operands.filter_map(|(var, atom)| Some((*var, atom.var()?)));
        self.rename(jaxpr, inner, operands.collect());
        let results = inner.outvars.iter().zip(&eqn.outputs);
        let results = results.filter_map(|(atom, like)| Some((atom.var()?, *like)));
        self.rename(jaxpr, inner, results.collect());
    }

    fn rename(&mut self, jaxpr: &Jaxpr, inner: &Arc<Jaxpr>, pairs: Vec<(Var, Var)>) {
        let mut used = HashSet::new();
        for (var, like) in pairs {
            let key = (Arc::as_ptr(inner), var);
            if !used.contains(&like) && !self.variables.contains_key(&key) {
                used.insert(like);
                let name = self.variable(jaxpr, like);
                self.variables.insert(key, name);
            }
        }
    }
}

/// Formats a list that breaks lines only where they are full.
fn list(separator: &'static str, docs: Vec<Doc>) -> Doc {
    let separate = || Doc::Concat(vec![text(separator), group(vec![line()])]);
    nest(2, vec![group(vec![join(separate, docs)])])
}

/// Formats items in brackets: all on one line, or one per line.
fn brackets(open: &'static str, docs: Vec<Doc>, close: &'static str) -> Doc {
    let inside = nest(2, vec![text(open), fold(), join(line, docs)]);
    group(vec![inside, fold(), text(close)])
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn names_count_in_base_26() {
        assert_eq!(letters(0), "a");
        assert_eq!(letters(25), "z");
        assert_eq!(letters(26), "ba");
        assert_eq!(letters(26 * 26), "baa");
    }
}
