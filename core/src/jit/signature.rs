//! Signatures: what a compiled program is compiled for.

use crate::Array;
use crate::array::Repr;
use crate::hash::WideHasher;
use crate::sharding::{Context, Sharding};
use crate::tree::{Fixed, Key, Tree, Visitor};
use ramie_pjrt::Device;
use std::hash::Hasher;

/// A 128-bit fingerprint of structure, fixed values, types and devices.
pub(crate) type Signature = (u64, u64);

struct Fingerprint {
    hasher: WideHasher,
    device: Option<Device>,
    mixed: bool,
}

impl Visitor for Fingerprint {
    fn leaf(&mut self, array: &Array) {
        self.hasher.write_usize(array.aval().address());
        // One device serves a whole call, and scalars that are on none follow
        // the other arrays: the device counts once, at the end.
        match &array.0 {
            Repr::Device(d) => match d.sharding {
                Sharding::SingleDevice(here) => match self.device {
                    Some(device) if device != here => self.mixed = true,
                    _ => self.device = Some(here),
                },
                Sharding::Named(named) => self.hasher.write_usize(named.address()),
            },
            Repr::Abstract(_, Some(named)) => self.hasher.write_usize(named.address()),
            _ => {}
        }
    }
    fn fixed(&mut self, value: &dyn Fixed) {
        value.hash_fixed(&mut self.hasher);
    }
}

/// The signature of a call.
pub(crate) fn signature<S: Tree, A: Tree>(state: &S, args: &A) -> Signature {
    let mut f = Fingerprint {
        hasher: WideHasher::default(),
        device: None,
        mixed: false,
    };
    state.walk(&mut f);
    f.hasher.write_u8(0xA5);
    args.walk(&mut f);
    let device = f.device.or_else(default_device);
    f.hasher.write_i64(device.map_or(-1, |d| i64::from(d.id())));
    f.hasher.write_u8(f.mixed.into());
    f.hasher.write_usize(Context::current().fingerprint());
    f.hasher.finish_wide()
}

/// Where a call without placed arrays runs.
fn default_device() -> Option<Device> {
    crate::runtime::runtime().ok().map(|r| r.default_device())
}

/// A signature in words: path and value of every part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Description(Vec<(String, String)>);

struct Words {
    path: Vec<String>,
    fixed: usize,
    parts: Vec<(String, String)>,
}

impl Visitor for Words {
    fn leaf(&mut self, array: &Array) {
        let mut text = format!("{:?}", array.aval());
        match array.sharding() {
            Some(Sharding::SingleDevice(device)) => {
                text.push_str(" on ");
                text.push_str(device.description());
            }
            Some(Sharding::Named(named)) => text.push_str(&format!(" as {named}")),
            None => {}
        }
        self.parts.push((self.path.join("."), text));
    }
    fn fixed(&mut self, value: &dyn Fixed) {
        self.fixed += 1;
        let path = self.path.join(".");
        self.parts.push((path, value.describe()));
    }
    fn enter(&mut self, key: Key<'_>) {
        self.path.push(key.to_string());
    }
    fn exit(&mut self) {
        self.path.pop();
    }
}

/// Describes a call.
pub(crate) fn describe<S: Tree, A: Tree>(state: &S, args: &A) -> Description {
    let mut words = Words {
        path: vec!["state".into()],
        fixed: 0,
        parts: Vec::new(),
    };
    state.walk(&mut words);
    words.path = vec!["args".into()];
    args.walk(&mut words);
    Description(words.parts)
}

impl Description {
    /// What differs from an earlier call, one line a difference, and how many
    /// differences there are.
    fn differences(&self, earlier: &Description) -> (Vec<String>, usize) {
        let mut lines = Vec::new();
        let place = |parts: &[(String, String)], path: &str, nth: usize| {
            parts
                .iter()
                .filter(|(p, _)| p == path)
                .nth(nth)
                .map(|(_, v)| v.clone())
        };
        let count = |parts: &[(String, String)], upto: usize, path: &str| {
            parts[..upto].iter().filter(|(p, _)| p == path).count()
        };
        for (i, (path, new)) in self.0.iter().enumerate() {
            match place(&earlier.0, path, count(&self.0, i, path)) {
                Some(old) if old == *new => {}
                Some(old) => lines.push(format!("`{path}` changed from {old} to {new}")),
                None => lines.push(format!("`{path}` is new: {new}")),
            }
        }
        for (i, (path, old)) in earlier.0.iter().enumerate() {
            if place(&self.0, path, count(&earlier.0, i, path)).is_none() {
                lines.push(format!("`{path}` is gone; it was {old}"));
            }
        }
        let n = lines.len();
        (lines, n)
    }

    /// Why this call could not use any program compiled before: the
    /// differences from the most similar earlier call.
    pub fn explain<'a>(&self, earlier: impl Iterator<Item = &'a Description>) -> Option<String> {
        let (mut lines, n) = earlier
            .map(|e| self.differences(e))
            .min_by_key(|(_, n)| *n)?;
        const SHOWN: usize = 6;
        if n > SHOWN {
            lines.truncate(SHOWN);
            lines.push(format!("and {} more", n - SHOWN));
        }
        Some(lines.join("; "))
    }
}
