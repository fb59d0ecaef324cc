//! `Sizes`: one number, or one number per axis.

/// One number, or one number per axis, as an array, a slice, a `Vec` or a tuple.
///
/// Where a layer takes a number per spatial axis, such as strides, a single number applies to
/// every axis. Where it takes a list, such as the window of a convolution, a single number is a
/// list of length one.
///
/// ```
/// use ramie_nn::Sizes;
/// assert_eq!(Sizes::from(2).for_axes(3), Some(vec![2, 2, 2]));
/// assert_eq!(Sizes::from([2, 1]).list(), [2, 1]);
/// assert_eq!(Sizes::from((2, 1)), Sizes::from([2, 1]));
/// assert_eq!(Sizes::from([2, 1]).for_axes(3), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sizes {
    /// One number.
    One(usize),
    /// One number per axis.
    Each(Vec<usize>),
}

impl Sizes {
    /// Returns the numbers as a list; a single number gives a list of length one.
    pub fn list(&self) -> Vec<usize> {
        match self {
            Sizes::One(n) => vec![*n],
            Sizes::Each(list) => list.clone(),
        }
    }

    /// Returns a number for each of `axes` axes, or `None` if the list has another length. A
    /// single number applies to every axis.
    pub fn for_axes(&self, axes: usize) -> Option<Vec<usize>> {
        match self {
            Sizes::One(n) => Some(vec![*n; axes]),
            Sizes::Each(list) => (list.len() == axes).then(|| list.clone()),
        }
    }
}

impl From<usize> for Sizes {
    fn from(n: usize) -> Sizes {
        Sizes::One(n)
    }
}
impl<const N: usize> From<[usize; N]> for Sizes {
    fn from(list: [usize; N]) -> Sizes {
        Sizes::Each(list.to_vec())
    }
}
impl From<(usize,)> for Sizes {
    fn from((first,): (usize,)) -> Sizes {
        [first].into()
    }
}
impl From<(usize, usize)> for Sizes {
    fn from((first, second): (usize, usize)) -> Sizes {
        [first, second].into()
    }
}
impl From<(usize, usize, usize)> for Sizes {
    fn from((first, second, third): (usize, usize, usize)) -> Sizes {
        [first, second, third].into()
    }
}
impl<const N: usize> From<&[usize; N]> for Sizes {
    fn from(list: &[usize; N]) -> Sizes {
        Sizes::Each(list.to_vec())
    }
}
impl From<&[usize]> for Sizes {
    fn from(list: &[usize]) -> Sizes {
        Sizes::Each(list.to_vec())
    }
}
impl From<Vec<usize>> for Sizes {
    fn from(list: Vec<usize>) -> Sizes {
        Sizes::Each(list)
    }
}
