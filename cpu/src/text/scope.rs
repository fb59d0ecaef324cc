//! The names of values, and where they are visible.

use super::{Type, ValueId};
use foldhash::HashMap;

/// The values that the current operation can use. Values of regions disappear at their ends.
#[derive(Default)]
pub(super) struct Scope<'a> {
    /// First value and number of values of each visible name.
    names: HashMap<&'a str, (u32, u32)>,
    /// The visible names in the order of their definitions.
    order: Vec<&'a str>,
    /// The types of all values of the function.
    types: Vec<Type>,
}

impl<'a> Scope<'a> {
    /// Forgets the values of the last function.
    pub fn clear(&mut self) {
        self.names.clear();
        self.order.clear();
        self.types.clear();
    }

    /// Returns the state to which [`leave`](Self::leave) returns at the end of a region.
    pub fn enter(&self) -> usize {
        self.order.len()
    }

    /// Hides the names defined since [`enter`](Self::enter) returned `mark`.
    pub fn leave(&mut self, mark: usize) {
        for name in self.order.drain(mark.min(self.order.len())..) {
            self.names.remove(name);
        }
    }

    /// Adds a value and returns its number, or `None` if there are too many values.
    pub fn add(&mut self, ty: Type) -> Option<ValueId> {
        let id = u32::try_from(self.types.len()).ok()?;
        self.types.push(ty);
        Some(ValueId(id))
    }

    /// Names `count` values from `first` on. Returns whether the name was unused.
    pub fn name(&mut self, name: &'a str, first: ValueId, count: u32) -> bool {
        let unused = self.names.insert(name, (first.0, count)).is_none();
        self.order.push(name);
        unused
    }

    /// Returns the first value with this name, and their number.
    pub fn find(&self, name: &str) -> Option<(ValueId, u32)> {
        let (first, count) = *self.names.get(name)?;
        Some((ValueId(first), count))
    }

    /// Returns the type of a value.
    pub fn type_of(&self, value: ValueId) -> Option<&Type> {
        self.types.get(value.0 as usize)
    }
}
