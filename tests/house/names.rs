//! Which file of a crate names an item of which other file.

use crate::source::{Source, Use};
use std::collections::{BTreeMap, BTreeSet};

/// What a path refers to.
enum Found {
    /// A module, by its path.
    Module(String),
    /// An item: the file that defines it, and its name.
    Item(String, String),
    /// An item of another crate.
    Outside,
}

/// The modules of a crate, and the arrows between their files.
pub struct Names {
    /// The name by which the crate may refer to itself: `ramie_core`.
    own: String,
    /// Sources by the path of their module: `prim::control`, and an empty path for the root.
    modules: BTreeMap<String, Source>,
    /// Macros of the crate's root, with the file that defines each.
    exported: BTreeMap<String, String>,
    /// Items by the file that names them and the file that defines them.
    pub arrows: BTreeMap<(String, String), BTreeSet<String>>,
}

fn join(module: &str, name: &str) -> String {
    match module {
        "" => name.to_string(),
        _ => format!("{module}::{name}"),
    }
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

impl Names {
    /// Reads the sources of a crate, such as `core/src/`.
    pub fn of(folder: &str) -> Names {
        let mut modules = BTreeMap::new();
        let mut exported = BTreeMap::new();
        for (path, text) in crate::files(".rs") {
            let Some(file) = path.strip_prefix(folder) else {
                continue;
            };
            if file.ends_with("_tests.rs") {
                continue;
            }
            let source = Source::read(file, &text);
            for name in &source.exported {
                exported.insert(name.clone(), file.to_string());
            }
            let module = file.trim_end_matches(".rs").trim_end_matches("/mod");
            let module = if module == "lib" { "" } else { module };
            modules.insert(module.replace('/', "::"), source);
        }
        let mut names = Names {
            own: format!("ramie_{}", folder.trim_end_matches("/src/")),
            modules,
            exported,
            arrows: BTreeMap::new(),
        };
        let mut arrows: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for (module, source) in &names.modules {
            for path in names.named(module, source) {
                if let Found::Item(file, item) = path
                    && file != source.file
                {
                    let arrow = (source.file.clone(), file);
                    arrows.entry(arrow).or_default().insert(item);
                }
            }
        }
        names.arrows = arrows;
        names
    }

    /// What the paths of a source refer to. A re-export that the source itself does not use is
    /// not an arrow, and neither is a module: the paths that begin with it are.
    fn named(&self, module: &str, source: &Source) -> Vec<Found> {
        let mut found = Vec::new();
        for import in &source.uses {
            if !import.public || source.words.contains(&import.name) {
                let value = source.paths.iter().all(|path| path[0] != import.name);
                found.push(self.find(module, &import.path, value));
            }
        }
        for path in &source.paths {
            let first = &*path[0];
            let of_module = source.uses.iter().any(|import| import.name == first)
                || self.modules.contains_key(&join(module, first));
            let lowercase = first.starts_with(|c: char| c.is_lowercase());
            if ["crate", "super", "self"].contains(&first) || of_module && lowercase {
                found.push(self.find(module, path, true));
            }
        }
        found
    }

    /// Splits a path into the module that it begins in and the names that follow; `None` if it
    /// begins in another crate.
    fn begin(&self, module: &str, path: &[String]) -> Option<(String, Vec<String>)> {
        let mut module = module.to_string();
        let mut rest = path;
        match &*path[0] {
            name if name == "crate" || name == self.own => {
                (module, rest) = (String::new(), &path[1..]);
            }
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    (module, rest) = (parent(&module).to_string(), &rest[1..]);
                }
            }
            first => {
                let source = &self.modules[&module];
                let import = source.uses.iter().find(|import| import.name == first);
                let known = source.defined.contains(first)
                    || self.modules.contains_key(&join(&module, first))
                    || import.is_some_and(|import| import.path[0] != first);
                if !known {
                    return None;
                }
            }
        }
        Some((module, rest.to_vec()))
    }

    /// What `path` refers to in `module`. `value` chooses between a module and a function of
    /// one name.
    fn find(&self, module: &str, path: &[String], value: bool) -> Found {
        let Some((module, rest)) = self.begin(module, path) else {
            return Found::Outside;
        };
        if let Some(found) = self.walk(&module, &rest, value, 0) {
            return found;
        }
        self.deepest(&module, &rest).unwrap_or(Found::Outside)
    }

    /// An item that no file defines by its name: a macro of the deepest module that the path
    /// reaches does. `None` if that is the root, which a path in a macro begins with.
    fn deepest(&self, module: &str, rest: &[String]) -> Option<Found> {
        let (mut module, mut rest) = (module.to_string(), rest);
        while rest.len() > 1
            && let Some(Found::Module(next)) = self.walk(&module, &rest[..1], false, 0)
        {
            (module, rest) = (next, &rest[1..]);
        }
        let name = rest.first().filter(|_| !module.is_empty())?;
        Some(Found::Item(
            self.modules[&module].file.clone(),
            name.clone(),
        ))
    }

    fn walk(&self, module: &str, rest: &[String], value: bool, depth: usize) -> Option<Found> {
        let Some(name) = rest.first() else {
            return Some(Found::Module(module.to_string()));
        };
        // Imports in a circle, which only paths that lead nowhere follow.
        if depth > 20 {
            return None;
        }
        if let Some(file) = self.exported.get(name).filter(|_| module.is_empty()) {
            return Some(Found::Item(file.clone(), name.clone()));
        }
        let source = &self.modules[module];
        let child = join(module, name);
        let is_module = self.modules.contains_key(&child);
        let item = if source.defined.contains(name) {
            Some(Found::Item(source.file.clone(), name.clone()))
        } else {
            let import = source.uses.iter().find(|import| import.name == *name);
            import.and_then(|import| self.follow(module, import, &rest[1..], value, depth))
        };
        let takes_item = rest.len() == 1 && value && matches!(item, Some(Found::Item(..)));
        if is_module && !takes_item {
            return self.walk(&child, &rest[1..], value, depth + 1);
        }
        item.or_else(|| {
            source.globs.iter().find_map(|glob| {
                let (start, path) = self.begin(module, glob)?;
                match self.walk(&start, &path, false, depth + 1)? {
                    Found::Module(inside) => self.walk(&inside, rest, value, depth + 1),
                    _ => None,
                }
            })
        })
    }

    /// What the names `rest` behind an import refer to.
    fn follow(
        &self,
        module: &str,
        import: &Use,
        rest: &[String],
        value: bool,
        depth: usize,
    ) -> Option<Found> {
        let name = &import.path[0];
        let (start, mut path) = if import.path.len() > 1 && *name == import.name {
            // `pub use jit::jit`: the module, then the function.
            let child = join(module, name);
            if !self.modules.contains_key(&child) {
                return Some(Found::Outside);
            }
            (child, import.path[1..].to_vec())
        } else {
            match self.begin(module, &import.path) {
                Some(begun) => begun,
                None => return Some(Found::Outside),
            }
        };
        path.extend_from_slice(rest);
        let found = self.walk(&start, &path, value, depth + 1);
        found.or_else(|| self.deepest(&start, &path))
    }
}
