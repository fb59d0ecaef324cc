//! Shardings: how arrays are split over the devices of a mesh.

use crate::memory::{Context, OutputTensor, Strides, Tensor, row_major};
use crate::text::sharding::{MeshText, ShardingText};
use crate::text::{self, Module};
use crate::{Dims, Error, Result, TensorType};
use foldhash::{HashMap, HashMapExt};
use std::sync::Arc;

/// Largest number of devices of a mesh.
const MOST_DEVICES: usize = 1 << 12;

/// The devices of a program as an array with named axes.
#[derive(Debug)]
pub struct Mesh {
    axes: Vec<(String, usize)>,
    /// The coordinates of each device.
    coordinates: Vec<Vec<usize>>,
}

impl Mesh {
    fn new(text: MeshText) -> Option<Mesh> {
        let sizes: Vec<usize> = text.axes.iter().map(|(_, size)| *size).collect();
        let count = sizes.iter().try_fold(1usize, |n, s| n.checked_mul(*s))?;
        if count > MOST_DEVICES {
            return None;
        }
        let order = text.devices.unwrap_or_else(|| (0..count).collect());
        let mut coordinates = vec![None; count];
        for (position, device) in order.iter().enumerate() {
            let place = coordinates.get_mut(*device).filter(|c| c.is_none())?;
            *place = Some(index(&sizes, position));
        }
        Some(Mesh {
            axes: text.axes,
            coordinates: coordinates.into_iter().collect::<Option<_>>()?,
        })
    }

    fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|(n, _)| n == name)
    }
}

/// Returns the indices of an element, given by its number in row-major order.
fn index(sizes: &[usize], mut number: usize) -> Vec<usize> {
    let mut index: Vec<usize> = Vec::with_capacity(sizes.len());
    for size in sizes.iter().rev() {
        index.push(number % size);
        number /= size;
    }
    index.reverse();
    index
}

/// The meshes of a module.
#[derive(Debug)]
pub struct Meshes {
    /// Number of devices of the program.
    pub devices: usize,
    by_name: HashMap<String, Arc<Mesh>>,
}

impl Meshes {
    /// Reads the meshes of a module for a number of devices.
    ///
    /// # Errors
    /// Returns an error if a mesh contradicts itself.
    pub fn of(module: &Module, devices: usize) -> Result<Meshes> {
        let mut by_name = HashMap::new();
        for (name, attribute) in &module.attributes.0 {
            let Some(name) = name.strip_prefix('@') else {
                continue;
            };
            let wrong = || Error::Text {
                line: 1,
                message: format!("sdy.mesh: the mesh @{name:.100} is invalid"),
            };
            let mesh = text::sharding::mesh(attribute.text().ok_or_else(wrong)?, 1)?;
            let mesh = Mesh::new(mesh).ok_or_else(wrong)?;
            by_name.insert(name.to_owned(), Arc::new(mesh));
        }
        Ok(Meshes { devices, by_name })
    }

    /// Returns a sharding of arrays of a type.
    ///
    /// # Errors
    /// Returns an error if there is no such mesh or axis, or the parts are not equal.
    pub fn sharding(&self, text: &ShardingText, ty: &TensorType, line: usize) -> Result<Sharding> {
        let wrong = |message: String| Error::Text {
            line,
            message: format!("the sharding of {ty}: {message}"),
        };
        let mesh = self.by_name.get(&text.mesh);
        let mesh = mesh.ok_or_else(|| wrong(format!("there is no mesh @{:.100}", text.mesh)))?;
        if mesh.coordinates.len() != self.devices {
            let (size, devices) = (mesh.coordinates.len(), self.devices);
            return Err(wrong(format!(
                "the mesh has {size} devices, but the program runs on {devices}"
            )));
        }
        let axis = |name: &String| {
            mesh.axis(name)
                .ok_or_else(|| wrong(format!("the mesh has no axis {name:.100}")))
        };
        let axes = text
            .axes
            .iter()
            .map(|names| names.iter().map(axis).collect());
        let axes: Vec<Vec<usize>> = axes.collect::<Result<_>>()?;
        let mut used: Vec<usize> = axes.iter().flatten().copied().collect();
        used.sort_unstable();
        let distinct = used.windows(2).all(|pair| pair[0] != pair[1]);
        let size = |axes: &Vec<usize>| axes.iter().map(|a| mesh.axes[*a].1).product();
        let sharding = Sharding {
            mesh: mesh.clone(),
            tiles: axes.iter().map(size).collect(),
            axes,
        };
        if !distinct || sharding.part(ty).is_none() {
            return Err(wrong(format!(
                "its axes {:?} do not split it evenly",
                text.axes
            )));
        }
        Ok(sharding)
    }
}

/// A distribution of arrays of a type over the devices of a mesh.
#[derive(Clone, Debug)]
pub struct Sharding {
    mesh: Arc<Mesh>,
    /// For each axis of the array the axes of the mesh over which it is split, the slowest first.
    axes: Vec<Vec<usize>>,
    /// Number of parts along each axis of the array.
    pub tiles: Dims,
}

impl Sharding {
    /// Returns whether every device has the whole array.
    pub fn is_whole(&self) -> bool {
        self.tiles.iter().all(|n| *n == 1)
    }

    /// Returns the coordinates of a device. Replicas of a program are all its only device.
    fn coordinates(&self, device: usize) -> &[usize] {
        &self.mesh.coordinates[device % self.mesh.coordinates.len()]
    }

    /// Returns the indices of a device's part.
    pub fn tile(&self, device: usize) -> Dims {
        let at = self.coordinates(device);
        let number = |axes: &Vec<usize>| {
            let step = |n, a: &usize| n * self.mesh.axes[*a].1 + at[*a];
            axes.iter().fold(0, step)
        };
        self.axes.iter().map(number).collect()
    }

    /// Returns the type of a part, or `None` if the parts are not equal.
    pub fn part(&self, ty: &TensorType) -> Option<TensorType> {
        let size = |(n, tiles): (&usize, &usize)| match n.checked_rem(*tiles) {
            Some(0) => Some(n / tiles),
            _ => None,
        };
        let shape: Option<Dims> = ty.shape.iter().zip(&self.tiles).map(size).collect();
        (self.tiles.len() == ty.shape.len()).then_some(TensorType {
            shape: shape?,
            element: ty.element,
        })
    }

    /// Returns a device's part of an array.
    pub fn split(&self, x: &Tensor, device: usize) -> Tensor {
        let part = self.part(&x.ty).expect("the type has been checked");
        let offset = x.offset as isize + self.offset(device, &part.shape, &x.strides);
        x.view(part.shape, x.strides.clone(), offset as usize)
    }

    /// Returns the distance of a device's part from the start of the array.
    fn offset(&self, device: usize, part: &[usize], strides: &[isize]) -> isize {
        let parts = self.tile(device).into_iter().zip(part).zip(strides);
        parts.map(|((i, n), s)| (i * n) as isize * s).sum()
    }

    /// Returns whether two devices have parts of the same array, if arrays differ along the axes of the
    /// mesh that this sharding does not use.
    pub fn are_peers(&self, a: usize, b: usize) -> bool {
        let same = |axis: usize| self.coordinates(a)[axis] == self.coordinates(b)[axis];
        let split = |axis: &usize| self.axes.iter().any(|axes| axes.contains(axis));
        let axes = 0..self.mesh.axes.len();
        axes.into_iter().all(|axis| split(&axis) || same(axis))
    }

    /// Returns the array of a type, given the parts of devices. Equal parts may be missing or repeated.
    ///
    /// # Errors
    /// Returns [`Error::Memory`] if the array does not fit into memory.
    pub fn assemble<'a>(
        &self,
        context: &Context,
        ty: &TensorType,
        mut parts: impl Iterator<Item = (usize, &'a Tensor)>,
    ) -> Result<Tensor> {
        if self.is_whole() {
            let (_, whole) = parts.next().expect("at least one device has the array");
            return Ok(whole.clone());
        }
        let mut fresh = OutputTensor::new(context, ty.clone())?;
        let strides: Strides = row_major(&ty.shape);
        for (device, part) in parts.filter(|(_, part)| part.size() != 0) {
            let offset = self.offset(device, part.shape(), &strides);
            fresh.write(part, offset as usize, &strides);
        }
        Ok(fresh.finish())
    }
}
