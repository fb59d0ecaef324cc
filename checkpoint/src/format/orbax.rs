//! Folders in Orbax's layout whose items are not known beforehand.

use crate::commit::{self, ItemHandlers, ItemReader, MARKER, StepMetadata};
use crate::items::{RestoreArgs, restore_checked};
use crate::pytree::{DictRestore, PyTreeRestore, TREE, is_of_tree};
use crate::serialization::StateDict;
use crate::{Error, Result};
use ramie_core::{Array, State};
use std::fs;
use std::path::Path;

/// A step, or one item of a step, in Orbax's layout.
///
/// ```
/// use ramie_checkpoint::commit::save_item;
/// use ramie_checkpoint::format::OrbaxFolder;
/// use ramie_checkpoint::items::{Composite, JsonSave};
/// use ramie_checkpoint::pytree::StandardSave;
/// use ramie_core::{Array, State};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("step");
/// let weights = State::from_iter([("w", Array::from(1.0f32))]);
/// let items = Composite::new()
///     .item("state", StandardSave::new(&weights))
///     .item("settings", JsonSave::new("narrow"));
/// save_item(&path, &items)?;
/// let step = OrbaxFolder::open(&path, None)?;
/// let names: Vec<_> = step.items().iter().filter_map(|item| item.name()).collect();
/// assert_eq!(names, ["settings", "state"]);
/// assert!(step.state()?.get("state.w").is_some());
/// # Ok(())
/// # }
/// ```
pub struct OrbaxFolder {
    reader: ItemReader,
    items: Vec<OrbaxItem>,
}

/// An item of a step.
pub struct OrbaxItem {
    name: Option<String>,
    reader: ItemReader,
    /// The class of Python that reads it, if the step names one.
    handler: Option<String>,
}

impl OrbaxFolder {
    /// Opens a step with all of its items or one of them, or an item.
    ///
    /// # Errors
    /// If there is no such folder or item, or the step's manifest is damaged.
    pub fn open(folder: impl AsRef<Path>, item: Option<&str>) -> Result<OrbaxFolder> {
        let folder = folder.as_ref();
        let reader = reader(folder)?;
        let mut items = Vec::new();
        for name in reader.subfolders()? {
            items.push(OrbaxItem {
                handler: handler(&reader, Some(&name)),
                reader: reader.subfolder(&name)?,
                name: Some(name),
            });
        }
        if reader.contains(TREE) || !items.iter().any(OrbaxItem::has_files) {
            if let Some(item) = item {
                let message = format!("is one item, and has no item {item}\n  help: name no item");
                return Err(Error::format(folder, message));
            }
            items = vec![OrbaxItem {
                name: None,
                handler: handler(&reader, None),
                reader: reader.clone(),
            }];
        }
        if let Some(wanted) = item {
            let names: Vec<&str> = items.iter().filter_map(OrbaxItem::name).collect();
            let message = format!(
                "there is no item {wanted}\n  help: name one of {}",
                names.join(", ")
            );
            items.retain(|item| item.name() == Some(wanted));
            if items.is_empty() {
                return Err(Error::format(folder, message));
            }
        }
        Ok(OrbaxFolder { reader, items })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.reader.folder()
    }

    /// The files of the step, or of the item where there is no step.
    pub fn reader(&self) -> &ItemReader {
        &self.reader
    }

    /// The items that were opened.
    pub fn items(&self) -> &[OrbaxItem] {
        &self.items
    }

    /// Leaves out all items that are no trees of arrays.
    pub(super) fn trees(mut self) -> OrbaxFolder {
        self.items.retain(OrbaxItem::is_tree);
        self
    }

    /// The path of a part of an item: with the item's name in front, if there are several
    /// items.
    pub fn path_in(&self, item: &OrbaxItem, path: &str) -> String {
        match item.name() {
            Some(name) if self.items.len() > 1 => format!("{name}.{path}"),
            _ => path.to_owned(),
        }
    }

    /// The arrays and numbers of all trees by their [paths](OrbaxFolder::path_in), on the
    /// default device.
    ///
    /// # Errors
    /// If a file is missing, damaged or cannot be read.
    pub fn state(&self) -> Result<State> {
        let mut arrays: Vec<(String, Array)> = Vec::new();
        for item in self.items.iter().filter(|item| item.is_tree()) {
            let state = PyTreeRestore::state().restore(&item.reader)?;
            for (path, array) in state.iter() {
                arrays.push((self.path_in(item, path), array.clone()));
            }
        }
        Ok(arrays.into_iter().collect())
    }

    /// The trees with everything that Orbax keeps in them; of several items each is a part
    /// of the item's name.
    ///
    /// # Errors
    /// As [`state`](OrbaxFolder::state).
    pub fn dict(&self) -> Result<StateDict> {
        let mut dicts = Vec::new();
        for item in self.items.iter().filter(|item| item.is_tree()) {
            let dict = DictRestore.restore(&item.reader)?;
            match item.name() {
                Some(name) if self.items.len() > 1 => dicts.push((name.to_owned(), dict)),
                _ => return Ok(dict),
            }
        }
        Ok(StateDict::Dict(dicts))
    }

    /// Restores the only tree.
    pub(super) fn restore<R: RestoreArgs>(&self, args: R) -> Result<R::Item> {
        let trees: Vec<&OrbaxItem> = self.items.iter().filter(|item| item.is_tree()).collect();
        match trees.as_slice() {
            [tree] => restore_checked(args, &tree.reader),
            // The reader's message says what is missing.
            [] => restore_checked(args, &self.reader),
            [first, ..] => {
                let names: Vec<&str> = trees.iter().filter_map(|item| item.name()).collect();
                let message = format!(
                    "contains several trees: {}\n  help: name the folder of one, such as {}, or \
                     restore all with a `Composite`",
                    names.join(", "),
                    first.reader.folder().display()
                );
                Err(Error::format(self.folder(), message))
            }
        }
    }
}

impl OrbaxItem {
    /// The name of its folder; nothing if the item is the whole checkpoint.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The item's files.
    pub fn reader(&self) -> &ItemReader {
        &self.reader
    }

    /// Whether it is a tree of arrays.
    pub fn is_tree(&self) -> bool {
        self.reader.contains(TREE)
    }

    /// Whether the step says that the item is JSON.
    pub fn is_json(&self) -> bool {
        self.is_read_by(&["Json"])
    }

    /// Whether the name of the class that reads it contains one of these.
    fn is_read_by(&self, kinds: &[&str]) -> bool {
        let handler = self.handler.as_deref().unwrap_or_default();
        kinds.iter().any(|kind| handler.contains(kind))
    }

    fn has_files(&self) -> bool {
        self.reader.names().is_ok_and(|names| !names.is_empty())
    }

    /// The names of the files of an item that is no tree of arrays.
    ///
    /// # Errors
    /// If the item is a tree that has lost its metadata, has no files, or its folder cannot
    /// be listed.
    pub fn files(&self) -> Result<Vec<String>> {
        let folder = self.reader.folder();
        let mut names = self.reader.names()?;
        // An item of several trees, such as that of a random key, has them below it.
        let metadata = |name: &String| name.strip_suffix(TREE).is_some_and(|n| n.ends_with('/'));
        let lost = !names.iter().any(metadata) && names.iter().any(|name| is_of_tree(name));
        if lost || self.is_read_by(&["PyTree", "Standard", "ArrayCheckpoint"]) {
            let message = format!(
                "{TREE} is missing, which names the arrays\n  help: the checkpoint is damaged; take \
                 another step, or another copy"
            );
            return Err(Error::format(folder, message));
        }
        // The markers of Orbax say nothing of what was saved.
        names.retain(|name| !name.ends_with(MARKER) && !name.starts_with('_'));
        if names.is_empty() {
            return Err(Error::format(
                folder,
                "holds neither a tree of arrays nor another item\n  help: give the folder of a run, a \
                 step or an item",
            ));
        }
        Ok(names)
    }
}

/// The reader of a step, or of an item of a step, which knows the step's checksums.
fn reader(folder: &Path) -> Result<ItemReader> {
    let reader = ItemReader::open(folder)?;
    if !reader.is_checked()
        && let (Some(step), Some(name)) = (folder.parent(), folder.file_name())
        && let (Ok(true), Some(name)) = (fs::exists(step.join(commit::METADATA)), name.to_str())
    {
        return ItemReader::open(step)?.subfolder(name);
    }
    Ok(reader)
}

/// The class of Python that reads an item of a checkpoint, if the checkpoint names it.
fn handler(reader: &ItemReader, name: Option<&str>) -> Option<String> {
    let metadata = StepMetadata::of(reader.folder()).ok().flatten()?;
    match (metadata.item_handlers?, name) {
        (ItemHandlers::One(handler), None) => Some(handler),
        (ItemHandlers::Named(handlers), Some(name)) => handlers.get(name)?.clone(),
        _ => None,
    }
}
