//! `Sizes`: one number, or one for each axis.

/// One number, or one for each axis.
///
/// Where a layer takes a number for each spatial axis, such as strides, one
/// number stands for all of them; where it takes a list, such as the window of a
/// convolution, one number is a list of one.
///
/// ```
/// use ramie_nn::Sizes;
/// assert_eq!(Sizes::from(2).for_axes(3), Some(vec![2, 2, 2]));
/// assert_eq!(Sizes::from([2, 1]).list(), [2, 1]);
/// assert_eq!(Sizes::from([2, 1]).for_axes(3), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sizes {
    /// One number.
    One(usize),
    /// One for each axis.
    Each(Vec<usize>),
}

impl Sizes {
    /// The numbers, one number as a list of one.
    pub fn list(&self) -> Vec<usize> {
        match self {
            Sizes::One(n) => vec![*n],
            Sizes::Each(list) => list.clone(),
        }
    }

    /// A number for each of so many axes, if there are as many or one for all.
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
