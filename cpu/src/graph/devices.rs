//! The devices that run a graph in step.

/// Some of the devices of a program, which run a graph in step.
#[derive(Clone, Debug)]
pub struct Devices {
    /// Their numbers in the program, in ascending order.
    pub numbers: Vec<usize>,
    /// Number of all devices of the program.
    pub count: usize,
    /// Whether the devices are replicas, not partitions of one replica.
    pub replicas: bool,
}

impl Devices {
    /// Returns all devices of a program.
    pub fn all(count: usize, replicas: bool) -> Devices {
        Devices {
            numbers: (0..count).collect(),
            count,
            replicas,
        }
    }

    /// Returns the devices at some positions in the list.
    pub fn subset(&self, positions: &[usize]) -> Devices {
        Devices {
            numbers: positions.iter().map(|p| self.numbers[*p]).collect(),
            ..*self
        }
    }
}
