//! `CollectionFilter`: selects collections or RNG streams.

/// A set of collections of variables, or of RNG streams.
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
    /// The collections with these names.
    Only(Vec<String>),
    /// All collections except those with these names (`DenyList`).
    AllBut(Vec<String>),
}

impl CollectionFilter {
    /// Creates a filter of all collections except those with these names.
    #[doc(alias = "DenyList")]
    pub fn all_but<'a>(names: impl IntoIterator<Item = &'a str>) -> CollectionFilter {
        CollectionFilter::AllBut(names.into_iter().map(str::to_owned).collect())
    }

    /// Returns `true` if the filter contains the collection.
    pub fn accepts(&self, collection: &str) -> bool {
        match self {
            CollectionFilter::None => false,
            CollectionFilter::All => true,
            CollectionFilter::Only(names) => names.iter().any(|n| n == collection),
            CollectionFilter::AllBut(names) => names.iter().all(|n| n != collection),
        }
    }

    /// Returns the intersection of both filters (`intersect_filters`).
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

    /// Returns the complement of the filter.
    #[must_use]
    pub fn not(&self) -> CollectionFilter {
        match self {
            CollectionFilter::None => CollectionFilter::All,
            CollectionFilter::All => CollectionFilter::None,
            CollectionFilter::Only(names) => CollectionFilter::AllBut(names.clone()),
            CollectionFilter::AllBut(names) => CollectionFilter::Only(names.clone()),
        }
    }

    /// Returns the union of both filters (`union_filters`).
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
        if all {
            CollectionFilter::All
        } else {
            CollectionFilter::None
        }
    }
}
