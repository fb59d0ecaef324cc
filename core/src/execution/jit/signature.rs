//! Signatures: the properties of a call for which a program is compiled.

use crate::Array;
use crate::base::hash::{FastHasher, words};
use crate::program::array::Repr;
use crate::program::tree::{self, Fixed, Key, Visitor, Walk};
use crate::types::sharding::{Context, Sharding};
use ramie_pjrt::Device;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// State and arguments of a call. Functions of them are compiled once for all types.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub state: &'a Walk<'a>,
    pub args: &'a Walk<'a>,
}

/// Creates [`Inputs`] of two trees.
macro_rules! inputs {
    ($state:ident, $args:ident) => {
        $crate::execution::jit::signature::Inputs {
            state: &|v| $state.walk(v),
            args: &|v| $args.walk(v),
        }
    };
}
pub(super) use inputs;

impl Inputs<'_> {
    /// Returns the arrays.
    pub fn leaves(self) -> Vec<Array> {
        let mut all = tree::leaves_of(self.state);
        all.extend(tree::leaves_of(self.args));
        all
    }
}

/// Structure, fixed values, types and devices of a call, encoded as words: two calls have the
/// same words exactly if they are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Signature(SmallVec<[u64; 32]>);

impl Signature {
    /// Returns the signature of a call.
    pub fn of(inputs: Inputs<'_>) -> Signature {
        let mut all = SmallVec::new();
        feed(inputs, |word| all.push(word));
        Signature(all)
    }

    /// Returns whether a call has this signature, without allocating.
    pub fn matches(&self, inputs: Inputs<'_>) -> bool {
        let (mut rest, mut same) = (self.0.iter(), true);
        feed(inputs, |word| same &= rest.next() == Some(&word));
        same && rest.next().is_none()
    }

    /// Appends further conditions of the program to the signature.
    pub fn and(mut self, conditions: impl IntoIterator<Item = u64>) -> Signature {
        self.0.extend(conditions);
        self
    }

    /// Returns a hash for tables.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = FastHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// A hasher that passes its input on as words.
struct Sink<W>(W);

impl<W: FnMut(u64)> Hasher for Sink<W> {
    fn write(&mut self, bytes: &[u8]) {
        // The last word is padded with zeros. The length after it distinguishes `[1]` from `[1,
        // 0]`.
        for (word, _) in words(bytes) {
            (self.0)(word);
        }
        (self.0)(bytes.len() as u64);
    }
    fn write_u8(&mut self, v: u8) {
        (self.0)(v.into());
    }
    fn write_u32(&mut self, v: u32) {
        (self.0)(v.into());
    }
    fn write_u64(&mut self, v: u64) {
        (self.0)(v);
    }
    fn write_usize(&mut self, v: usize) {
        (self.0)(v as u64);
    }
    fn finish(&self) -> u64 {
        unreachable!("the words are all there is")
    }
}

struct Fingerprint<W> {
    words: Sink<W>,
    device: Option<Device>,
    mixed: bool,
}

impl<W: FnMut(u64)> Visitor for Fingerprint<W> {
    fn leaf(&mut self, array: &Array) {
        self.words.write_usize(array.aval().address());
        // All arrays of a call share one device, and scalars without a device follow the others,
        // so the device is encoded once, at the end.
        match &array.0 {
            Repr::Device(d) => match d.sharding {
                Sharding::SingleDevice(here) => match self.device {
                    // Arrays on two devices are an error. Such a call must not match the program
                    // for one of the two.
                    Some(device) if device != here => self.mixed = true,
                    _ => self.device = Some(here),
                },
                Sharding::Named(named) => self.words.write_usize(named.address()),
            },
            Repr::Abstract(_, Some(named)) => self.words.write_usize(named.address()),
            _ => {}
        }
    }
    fn fixed(&mut self, value: &dyn Fixed) {
        value.hash_fixed(&mut self.words);
    }
}

/// Passes the words of a call's signature to `word`.
fn feed(inputs: Inputs<'_>, word: impl FnMut(u64)) {
    let mut f = Fingerprint {
        words: Sink(word),
        device: None,
        mixed: false,
    };
    (inputs.state)(&mut f);
    (inputs.args)(&mut f);
    let device = f.device.or_else(default_device);
    f.words.write_i64(device.map_or(-1, |d| i64::from(d.id())));
    f.words.write_u8(u8::from(f.mixed));
    // The remaining words are settings of this thread, on which the traced program may depend.
    f.words.write_u8(crate::prim::dot::default_code());
    for number in Context::current().numbers() {
        f.words.write_usize(number);
    }
}

/// Returns the device of a call without placed arrays.
fn default_device() -> Option<Device> {
    crate::client::runtime().ok().map(|r| r.default_device())
}

/// A readable signature: path and value of every part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Description {
    parts: Vec<(String, String)>,
    /// Whether each part is a static value.
    fixed: Vec<bool>,
}

/// The part of the arguments whose change caused a compilation.
#[derive(Debug)]
pub(crate) struct Change {
    pub path: String,
    pub from: String,
    pub to: String,
    pub is_fixed: bool,
}

struct Words {
    path: Vec<String>,
    described: Description,
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
        self.described.push(self.path.join("."), text, false);
    }
    fn fixed(&mut self, value: &dyn Fixed) {
        self.described
            .push(self.path.join("."), value.describe(), true);
    }
    fn enter(&mut self, key: Key<'_>) {
        self.path.push(key.to_string());
    }
    fn exit(&mut self) {
        self.path.pop();
    }
}

/// Describes a call.
pub(crate) fn describe(inputs: Inputs<'_>) -> Description {
    let mut words = Words {
        path: vec!["state".into()],
        described: Description::default(),
    };
    (inputs.state)(&mut words);
    words.path = vec!["args".into()];
    (inputs.args)(&mut words);
    words.described
}

impl Description {
    fn push(&mut self, path: String, text: String, fixed: bool) {
        self.parts.push((path, text));
        self.fixed.push(fixed);
    }

    /// Returns the part whose change caused the compilation: the first static value that differs
    /// from the most similar earlier call with the same parts, otherwise the first array.
    pub fn change<'a>(&self, earlier: impl Iterator<Item = &'a Description>) -> Option<Change> {
        let same_parts = |e: &&Description| {
            let pairs = || e.parts.iter().zip(&self.parts);
            e.parts.len() == self.parts.len() && pairs().all(|((a, _), (b, _))| a == b)
        };
        let differing = |e: &Description| -> Vec<usize> {
            let pairs = e.parts.iter().zip(&self.parts).enumerate();
            pairs.filter(|(_, (a, b))| a != b).map(|(i, _)| i).collect()
        };
        let (old, changed) = earlier
            .filter(same_parts)
            .map(|e| (e, differing(e)))
            .min_by_key(|(_, changed)| changed.len())?;
        let fixed = changed.iter().find(|i| self.fixed[**i]);
        let at = *fixed.or(changed.first())?;
        Some(Change {
            path: self.parts[at].0.clone(),
            from: old.parts[at].1.clone(),
            to: self.parts[at].1.clone(),
            is_fixed: fixed.is_some(),
        })
    }

    /// Returns the differences from an earlier call, one per line, and their number.
    fn differences(&self, earlier: &Description) -> (Vec<String>, usize) {
        let mut lines = Vec::new();
        // A path can have several parts, such as an optional number: whether it is present, and its
        // value. The `nth` part of a path is compared with the `nth` of the earlier call.
        let value_of = |parts: &[(String, String)], path: &str, nth: usize| {
            parts
                .iter()
                .filter(|(p, _)| p == path)
                .nth(nth)
                .map(|(_, v)| v.clone())
        };
        let count = |parts: &[(String, String)], upto: usize, path: &str| {
            parts[..upto].iter().filter(|(p, _)| p == path).count()
        };
        for (i, (path, new)) in self.parts.iter().enumerate() {
            match value_of(&earlier.parts, path, count(&self.parts, i, path)) {
                Some(old) if old == *new => {}
                Some(old) => lines.push(format!("`{path}` changed from {old} to {new}")),
                None => lines.push(format!("`{path}` is new: {new}")),
            }
        }
        for (i, (path, old)) in earlier.parts.iter().enumerate() {
            if value_of(&self.parts, path, count(&earlier.parts, i, path)).is_none() {
                lines.push(format!("`{path}` was removed; it was {old}"));
            }
        }
        let n = lines.len();
        (lines, n)
    }

    /// Explains why no compiled program matched this call: the differences from the most similar
    /// earlier call.
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
