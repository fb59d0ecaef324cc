//! `CollectionFilter`: which collections, or which streams.

/// Which collections of variables, or which streams of keys.
///
/// ```
/// use ramie_nn::linen::CollectionFilter;
/// let mutable = CollectionFilter::from(["batch_stats", "cache"]);
/// assert!(mutable.accepts("cache") && !mutable.accepts("params"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum CollectionFilter {
    /// No collection.
    #[default]
    None,
    /// Every collection.
    All,
    /// Those with these names.
    Only(Vec<String>),
    /// All but those with these names (`DenyList`).
    AllBut(Vec<String>),
}

impl CollectionFilter {
    /// All collections but those with these names.
    pub fn all_but<'a>(names: impl IntoIterator<Item = &'a str>) -> CollectionFilter {
        CollectionFilter::AllBut(names.into_iter().map(str::to_owned).collect())
    }

    /// Whether a collection is among them.
    pub fn accepts(&self, collection: &str) -> bool {
        match self {
            CollectionFilter::None => false,
            CollectionFilter::All => true,
            CollectionFilter::Only(names) => names.iter().any(|n| n == collection),
            CollectionFilter::AllBut(names) => names.iter().all(|n| n != collection),
        }
    }

    /// The collections that both accept (`intersect_filters`).
    ///
    /// ```
    /// use ramie_nn::linen::CollectionFilter;
    /// let some = CollectionFilter::from(["params", "cache"]);
    /// let not_params = CollectionFilter::all_but(["params"]);
    /// assert_eq!(some.and(&not_params), "cache".into());
    /// assert_eq!(some.or(&not_params), CollectionFilter::all_but([]));
    /// ```
    #[must_use]
    pub fn and(&self, other: &CollectionFilter) -> CollectionFilter {
        use CollectionFilter::{All, AllBut, None, Only};
        let kept = |names: &[String], by: &CollectionFilter| -> CollectionFilter {
            let names = names.iter().filter(|n| by.accepts(n));
            Only(names.cloned().collect())
        };
        match (self, other) {
            (None, _) | (_, None) => None,
            (All, filter) | (filter, All) => filter.clone(),
            (Only(names), by) | (by, Only(names)) => kept(names, by),
            (AllBut(a), AllBut(b)) => AllBut(a.iter().chain(b).cloned().collect()),
        }
    }

    /// The collections that this one does not accept.
    #[must_use]
    pub fn not(&self) -> CollectionFilter {
        match self {
            CollectionFilter::None => CollectionFilter::All,
            CollectionFilter::All => CollectionFilter::None,
            CollectionFilter::Only(names) => CollectionFilter::AllBut(names.clone()),
            CollectionFilter::AllBut(names) => CollectionFilter::Only(names.clone()),
        }
    }

    /// The collections that either accepts (`union_filters`).
    #[must_use]
    pub fn or(&self, other: &CollectionFilter) -> CollectionFilter {
        self.not().and(&other.not()).not()
    }
}

impl From<&str> for CollectionFilter {
    fn from(name: &str) -> CollectionFilter {
        CollectionFilter::Only(vec![name.to_owned()])
    }
}
impl<const N: usize> From<[&str; N]> for CollectionFilter {
    fn from(names: [&str; N]) -> CollectionFilter {
        CollectionFilter::Only(names.map(str::to_owned).to_vec())
    }
}
impl From<bool> for CollectionFilter {
    fn from(all: bool) -> CollectionFilter {
        match all {
            true => CollectionFilter::All,
            false => CollectionFilter::None,
        }
    }
}
