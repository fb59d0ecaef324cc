//! Directories in Orbax's format whose items are not known in advance.

use crate::commit::{
    self, ItemHandlers, ItemReader, MARKER, RestoreArgs, StepMetadata, TREE, restore_checked,
};
use crate::pytree::{DictRestore, PyTreeRestore, is_of_tree};
use crate::serialization::StateDict;
use crate::{Error, Result};
use ramie_core::files::Message;
use ramie_core::{Array, State};
use std::fs;
use std::path::Path;

/// A step, or one item of a step, in Orbax's format.
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

/// Item of a step.
pub struct OrbaxItem {
    name: Option<String>,
    reader: ItemReader,
    /// Python class that reads the item, if the step names one.
    handler: Option<String>,
}

impl OrbaxFolder {
    /// Opens a step with all of its items or with one of them, or opens a single item.
    ///
    /// # Errors
    /// Returns an error if the directory or the item does not exist, or the step's manifest is
    /// damaged.
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
                let message = Message::new(format!("is a single item and has no item {item}"))
                    .help("omit the item");
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
            let message = Message::new(format!("has no item {wanted}"))
                .help(format!("use one of these names: {}", names.join(", ")));
            items.retain(|item| item.name() == Some(wanted));
            if items.is_empty() {
                return Err(Error::format(folder, message));
            }
        }
        Ok(OrbaxFolder { reader, items })
    }

    /// Returns the directory.
    pub fn folder(&self) -> &Path {
        self.reader.folder()
    }

    /// Returns the reader of the step, or of the item if there is no step.
    pub fn reader(&self) -> &ItemReader {
        &self.reader
    }

    /// Returns the opened items.
    pub fn items(&self) -> &[OrbaxItem] {
        &self.items
    }

    /// Drops all items that are not trees of arrays.
    pub(super) fn trees(mut self) -> OrbaxFolder {
        self.items.retain(OrbaxItem::is_tree);
        self
    }

    /// Returns the path of a part of an item, preceded by the item's name if there are several
    /// items.
    pub fn path_in(&self, item: &OrbaxItem, path: &str) -> String {
        match item.name() {
            Some(name) if self.items.len() > 1 => format!("{name}.{path}"),
            _ => path.to_owned(),
        }
    }

    /// Returns the arrays and numbers of all trees by their [paths](OrbaxFolder::path_in), on the
    /// default device.
    ///
    /// # Errors
    /// Returns an error if a file is missing, damaged or unreadable.
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

    /// Returns the trees with all values that Orbax stores in them. If there are several items,
    /// each tree is an entry of the item's name.
    ///
    /// # Errors
    /// Same as [`state`](OrbaxFolder::state).
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
            // The reader's message names what is missing.
            [] => restore_checked(args, &self.reader),
            [first, ..] => {
                let names: Vec<&str> = trees.iter().filter_map(|item| item.name()).collect();
                let message = Message::new(format!("contains several trees: {}", names.join(", ")))
                    .help(format!(
                        "pass the directory of one, such as {}, or restore all with a `Composite`",
                        first.reader.folder().display()
                    ));
                Err(Error::format(self.folder(), message))
            }
        }
    }
}

impl OrbaxItem {
    /// Returns the item's name, or `None` if the item is the whole checkpoint.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the reader of the item.
    pub fn reader(&self) -> &ItemReader {
        &self.reader
    }

    /// Returns whether the item is a tree of arrays.
    pub fn is_tree(&self) -> bool {
        self.reader.contains(TREE)
    }

    /// Returns whether the step's metadata declares the item as JSON.
    pub fn is_json(&self) -> bool {
        self.is_read_by(&["Json"])
    }

    /// Returns whether the name of the item's Python class contains one of these.
    fn is_read_by(&self, kinds: &[&str]) -> bool {
        let handler = self.handler.as_deref().unwrap_or_default();
        kinds.iter().any(|kind| handler.contains(kind))
    }

    fn has_files(&self) -> bool {
        self.reader.names().is_ok_and(|names| !names.is_empty())
    }

    /// Returns the file names of an item that is not a tree of arrays.
    ///
    /// # Errors
    /// Returns an error if the item is a tree that has lost its metadata, has no files, or its
    /// directory cannot be listed.
    pub fn files(&self) -> Result<Vec<String>> {
        let folder = self.reader.folder();
        let mut names = self.reader.names()?;
        // An item of several trees, such as a random key, has them in subdirectories.
        let metadata = |name: &String| name.strip_suffix(TREE).is_some_and(|n| n.ends_with('/'));
        let lost = !names.iter().any(metadata) && names.iter().any(|name| is_of_tree(name));
        if lost || self.is_read_by(&["PyTree", "Standard", "ArrayCheckpoint"]) {
            let message = Message::new(format!("{TREE}, which lists the arrays, is missing"))
                .help("the checkpoint is damaged; use another step or another copy");
            return Err(Error::format(folder, message));
        }
        // Orbax's markers are not part of the saved data.
        names.retain(|name| !name.ends_with(MARKER) && !name.starts_with('_'));
        if names.is_empty() {
            return Err(Error::format(
                folder,
                Message::new("contains neither a tree of arrays nor another item")
                    .help("pass the directory of a run, a step or an item"),
            ));
        }
        Ok(names)
    }
}

/// Opens a step, or an item of a step with the step's checksums.
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

/// Returns the Python class of a checkpoint's item, if the checkpoint names it.
fn handler(reader: &ItemReader, name: Option<&str>) -> Option<String> {
    let metadata = StepMetadata::of(reader.folder()).ok().flatten()?;
    match (metadata.item_handlers?, name) {
        (ItemHandlers::One(handler), None) => Some(handler),
        (ItemHandlers::Named(handlers), Some(name)) => handlers.get(name)?.clone(),
        _ => None,
    }
}
