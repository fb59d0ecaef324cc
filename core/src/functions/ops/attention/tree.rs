//! `Attention` as a pytree: its arrays are leaves, everything else is static.

use super::Attention;
use crate::Array;
use crate::program::tree::{Float, Key, Tree, Visitor, child};

impl Tree for Attention {
    fn walk(&self, visitor: &mut dyn Visitor) {
        child(visitor, Key::Field("bias"), &self.bias);
        child(visitor, Key::Field("mask"), &self.mask);
        child(visitor, Key::Field("query_lengths"), &self.query_lengths);
        child(
            visitor,
            Key::Field("key_value_lengths"),
            &self.key_value_lengths,
        );
        child(visitor, Key::Field("segments"), &self.segments);
        visitor.fixed(&self.scale.map(Float));
        visitor.fixed(&(self.causal, self.window, self.block));
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        self.bias.walk_mut(visit);
        self.mask.walk_mut(visit);
        self.query_lengths.walk_mut(visit);
        self.key_value_lengths.walk_mut(visit);
        self.segments.walk_mut(visit);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        Attention {
            bias: self.bias.rebuild(leaf),
            mask: self.mask.rebuild(leaf),
            query_lengths: self.query_lengths.rebuild(leaf),
            key_value_lengths: self.key_value_lengths.rebuild(leaf),
            segments: self.segments.rebuild(leaf),
            ..*self
        }
    }
}
