//! Several items, each in a directory of its name.

use crate::commit::{
    ItemReader, ItemWriter, MARKER, Process, RestoreArgs, SaveArgs, Snapshot, marker_text,
    restore_checked,
};
use crate::{Error, Result};
use ramie_core::files::Message;
use std::fmt;

/// Several named items: `orbax.checkpoint.args.Composite`, for saving and restoring.
///
/// Restoring returns a tuple in the order of the items, of which there are at most eight. If the
/// number of items is known only at run time, use [`from_items`](Composite::from_items).
///
/// ```
/// use ramie_checkpoint::commit::{restore_item, save_item};
/// use ramie_checkpoint::items::{Composite, JsonRestore, JsonSave};
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("state");
/// let items = Composite::new()
///     .item("epoch", JsonSave::new(&7))
///     .item("names", JsonSave::new(&["a", "b"]));
/// save_item(&path, &items)?;
///
/// let items = Composite::new()
///     .item("names", JsonRestore::<Vec<String>>::new())
///     .item("epoch", JsonRestore::<u32>::new());
/// let (names, epoch) = restore_item(&path, items)?;
/// assert_eq!((names.len(), epoch), (2, 7));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Composite<T = ()>(T);

/// Item of a [`Composite`], with its name.
#[derive(Clone, Debug)]
pub struct Named<A> {
    name: String,
    args: A,
}

impl Composite {
    /// Creates a composite without items.
    pub fn new() -> Composite {
        Composite(())
    }

    /// Creates a composite from a list of items.
    ///
    /// ```
    /// use ramie_checkpoint::items::{Composite, JsonSave, SaveArgs};
    /// let values = [("a", 1), ("b", 2)];
    /// let args = values
    ///     .iter()
    ///     .map(|(name, value)| (name.to_string(), Box::new(JsonSave::new(value)) as _))
    ///     .collect::<Vec<(String, Box<dyn SaveArgs>)>>();
    /// let items = Composite::from_items(args);
    /// assert_eq!(items.items().unwrap().len(), 2);
    /// ```
    ///
    /// # Panics
    /// Panics if a name cannot be the name of a directory or occurs twice.
    #[track_caller]
    pub fn from_items<A>(items: impl IntoIterator<Item = (String, A)>) -> Composite<Vec<Named<A>>> {
        let mut all = Vec::<Named<A>>::new();
        for (name, args) in items {
            let names: Vec<&str> = all.iter().map(|item| item.name.as_str()).collect();
            all.push(Named {
                name: checked(&names, &name),
                args,
            });
        }
        Composite(all)
    }
}

impl<'a> Composite<Vec<Named<&'a dyn SaveArgs>>> {
    /// Creates a composite of items whose names are already valid.
    pub(crate) fn of(items: Vec<(&str, &'a dyn SaveArgs)>) -> Self {
        let named = |(name, args): (&str, &'a dyn SaveArgs)| Named {
            name: name.to_owned(),
            args,
        };
        Composite(items.into_iter().map(named).collect())
    }
}

/// Checks that a name is new and can be the name of a directory.
#[track_caller]
fn checked(others: &[&str], name: &str) -> String {
    let separator = |c| std::path::is_separator(c) || c == '\0';
    assert!(
        !name.is_empty() && name != "." && name != ".." && !name.contains(separator),
        "Composite: {name:?} is not a valid item name\n  help: use a name without path separators; \
         it becomes a subdirectory of the checkpoint"
    );
    assert!(
        !others.contains(&name),
        "Composite: there are two items named {name:?}\n  help: use a different name for each \
         item"
    );
    name.to_owned()
}

/// List of items to save, of any types.
pub trait SaveList {
    /// Returns the items with their names.
    fn save_items(&self) -> Vec<(&str, &dyn SaveArgs)>;
}

impl<A: SaveArgs> SaveList for Vec<Named<A>> {
    fn save_items(&self) -> Vec<(&str, &dyn SaveArgs)> {
        let mut items: Vec<(&str, &dyn SaveArgs)> = Vec::new();
        for item in self {
            items.push((&item.name, &item.args));
        }
        items
    }
}

/// List of items to restore, of any types.
pub trait RestoreList {
    /// Type of the restored values.
    type Items;
    /// Returns the names of the items.
    fn restore_names(&self) -> Vec<&str>;
    /// Restores each item from the directory of its name.
    ///
    /// # Errors
    /// Returns the error of the first item that cannot be restored.
    fn restore_items(self, reader: &ItemReader) -> Result<Self::Items>;
}

impl<A: RestoreArgs> Named<A> {
    fn restore(self, reader: &ItemReader) -> Result<A::Item> {
        let item = reader.subfolder(&self.name)?;
        if !item.folder().is_dir() {
            let help = "use the name of a saved item";
            return Err(missing(reader, &self.name, help));
        }
        restore_checked(self.args, &item)
    }
}

/// Returns the error for an item that the checkpoint does not contain; `help` is the remedy.
pub(crate) fn missing(reader: &ItemReader, name: &str, help: &str) -> Error {
    let folder = reader.folder();
    if !folder.is_dir() {
        let message = Message::new("the checkpoint does not exist").help("check the path");
        return Error::format(folder, message);
    }
    let there = match reader.subfolders() {
        Ok(items) if items.is_empty() => "it has no items".to_owned(),
        Ok(items) => format!("it has `{}`", items.join("`, `")),
        Err(error) => return error,
    };
    Error::format(
        folder,
        Message::new(format!("has no item `{name}`: {there}")).help(help.to_owned()),
    )
}

impl<A: RestoreArgs> RestoreList for Vec<Named<A>> {
    type Items = Vec<A::Item>;

    fn restore_names(&self) -> Vec<&str> {
        self.iter().map(|item| item.name.as_str()).collect()
    }

    fn restore_items(self, reader: &ItemReader) -> Result<Vec<A::Item>> {
        self.into_iter().map(|item| item.restore(reader)).collect()
    }
}

macro_rules! one_more {
    ($($t:ident $i:tt),*; $more:ident) => {
        impl<$($t),*> Composite<($(Named<$t>,)*)> {
            /// Adds an item.
            ///
            /// # Panics
            /// Panics if the name cannot be the name of a directory or is already in use.
            #[track_caller]
            pub fn item<$more>(
                self,
                name: &str,
                args: $more,
            ) -> Composite<($(Named<$t>,)* Named<$more>,)> {
                let others: &[&str] = &[$(&self.0.$i.name),*];
                let name = checked(others, name);
                Composite(($(self.0.$i,)* Named { name, args },))
            }
        }
    };
}
one_more!(; A);
one_more!(A 0; B);
one_more!(A 0, B 1; C);
one_more!(A 0, B 1, C 2; D);
one_more!(A 0, B 1, C 2, D 3; E);
one_more!(A 0, B 1, C 2, D 3, E 4; F);
one_more!(A 0, B 1, C 2, D 3, E 4, F 5; G);
one_more!(A 0, B 1, C 2, D 3, E 4, F 5, G 6; H);

macro_rules! lists {
    ($(($($t:ident $i:tt),*))*) => { $(
        impl<$($t: SaveArgs),*> SaveList for ($(Named<$t>,)*) {
            fn save_items(&self) -> Vec<(&str, &dyn SaveArgs)> {
                vec![$((self.$i.name.as_str(), &self.$i.args)),*]
            }
        }
        impl<$($t: RestoreArgs),*> RestoreList for ($(Named<$t>,)*) {
            type Items = ($($t::Item,)*);

            fn restore_names(&self) -> Vec<&str> {
                vec![$(self.$i.name.as_str()),*]
            }

            fn restore_items(self, reader: &ItemReader) -> Result<Self::Items> {
                // Unused if there are no items.
                let _ = reader;
                Ok(($(self.$i.restore(reader)?,)*))
            }
        }
    )* };
}
lists! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

impl<T: SaveList> SaveArgs for Composite<T> {
    fn handler(&self) -> &str {
        "orbax.checkpoint._src.handlers.composite_checkpoint_handler.CompositeCheckpointHandler"
    }

    fn snapshot(&self, process: Process) -> Result<Box<dyn Snapshot>> {
        let items = self.0.save_items().into_iter();
        let items = items.map(|(name, args)| Ok((name.to_owned(), args.snapshot(process)?)));
        Ok(Box::new(Snapshots(items.collect::<Result<_>>()?)))
    }

    fn items(&self) -> Option<Vec<(&str, &dyn SaveArgs)>> {
        Some(self.0.save_items())
    }
}

/// Snapshots of a composite that is an item of another composite.
struct Snapshots(Vec<(String, Box<dyn Snapshot>)>);

impl Snapshot for Snapshots {
    fn write(&mut self, writer: &ItemWriter) -> Result<()> {
        let mut items = self.0.iter_mut();
        items.try_for_each(|(name, item)| item.write(&writer.subfolder(name)?))
    }

    fn finalize(&mut self, writer: &ItemWriter) -> Result<()> {
        for (name, item) in &mut self.0 {
            let folder = writer.subfolder(name)?;
            item.finalize(&folder)?;
            folder.write(MARKER, marker_text(folder.folder()).as_bytes())?;
        }
        Ok(())
    }
}

impl<T: RestoreList> RestoreArgs for Composite<T> {
    type Item = T::Items;

    fn restore(self, reader: &ItemReader) -> Result<T::Items> {
        self.0.restore_items(reader)
    }

    fn reads_checked(&self) -> bool {
        // Each item decides for itself.
        true
    }

    fn names(&self) -> Option<Vec<&str>> {
        Some(self.0.restore_names())
    }
}

impl<T: SaveList> fmt::Debug for Composite<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.save_items().into_iter().map(|(name, _)| name);
        f.debug_tuple("Composite")
            .field(&names.collect::<Vec<_>>())
            .finish()
    }
}
