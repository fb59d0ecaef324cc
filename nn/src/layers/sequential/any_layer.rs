//! `AnyLayer`: a type-erased layer.

use super::function::Function;
use crate::Forward;
use ramie_core::tree::{self, Tree, Visitor};
use ramie_core::{Array, fixed_tree};
use std::any::Any;
use std::fmt;

/// A layer of any type, or a function: an entry of a [`Sequential`](crate::Sequential).
///
/// As a pytree it is transparent: its leaves are those of the layer.
pub struct AnyLayer(Kind);

enum Kind {
    Layer(Box<dyn Erased>),
    Function(Function),
}

fixed_tree!(Function);

/// The methods of [`Forward`] and [`Tree`] for a type-erased value.
trait Erased: Any + Send + Sync {
    fn forward(&mut self, x: &Array) -> Array;
    fn walk(&self, visitor: &mut dyn Visitor);
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array));
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Box<dyn Erased>;
    fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Any));
    fn name(&self) -> &'static str;
}

impl<L: Forward> Erased for L {
    #[track_caller]
    fn forward(&mut self, x: &Array) -> Array {
        Forward::forward(self, x)
    }
    fn walk(&self, visitor: &mut dyn Visitor) {
        Tree::walk(self, visitor);
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        Tree::walk_mut(self, visit);
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Box<dyn Erased> {
        Box::new(Tree::rebuild(self, leaf))
    }
    fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        tree::part(self, visit);
    }
    fn name(&self) -> &'static str {
        std::any::type_name::<L>()
    }
}

impl AnyLayer {
    /// Returns a reference to the layer if it has this type.
    ///
    /// ```no_run
    /// use ramie_nn::{Linear, Rngs, Sequential};
    /// let net = Sequential::new((Linear::new(2, 8, &mut Rngs::new(0)),));
    /// let first: &Linear = net.layers[0].downcast_ref().unwrap();
    /// ```
    pub fn downcast_ref<L: Forward>(&self) -> Option<&L> {
        match &self.0 {
            Kind::Layer(layer) => (&**layer as &dyn Any).downcast_ref(),
            Kind::Function(_) => None,
        }
    }

    /// Returns a mutable reference to the layer if it has this type.
    pub fn downcast_mut<L: Forward>(&mut self) -> Option<&mut L> {
        match &mut self.0 {
            Kind::Layer(layer) => (&mut **layer as &mut dyn Any).downcast_mut(),
            Kind::Function(_) => None,
        }
    }
}

impl Forward for AnyLayer {
    #[track_caller]
    fn forward(&mut self, x: &Array) -> Array {
        match &mut self.0 {
            Kind::Layer(layer) => (**layer).forward(x),
            Kind::Function(f) => f.call(x),
        }
    }
}

impl Tree for AnyLayer {
    fn walk(&self, visitor: &mut dyn Visitor) {
        match &self.0 {
            Kind::Layer(layer) => (**layer).walk(visitor),
            Kind::Function(f) => f.walk(visitor),
        }
    }
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array)) {
        if let Kind::Layer(layer) = &mut self.0 {
            (**layer).walk_mut(visit);
        }
    }
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Self {
        AnyLayer(match &self.0 {
            Kind::Layer(layer) => Kind::Layer((**layer).rebuild(leaf)),
            Kind::Function(f) => Kind::Function(f.clone()),
        })
    }
    fn visit_parts(&mut self, visit: &mut dyn FnMut(&mut dyn Any)) {
        if let Kind::Layer(layer) = &mut self.0 {
            (**layer).visit(visit);
        }
    }
}

impl Clone for AnyLayer {
    fn clone(&self) -> AnyLayer {
        crate::model::clone(self)
    }
}

impl fmt::Debug for AnyLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Layer(layer) => f.write_str((**layer).name()),
            Kind::Function(function) => function.fmt(f),
        }
    }
}

/// A value that converts to an entry of a [`Sequential`](crate::Sequential): a layer, or a
/// function of an array. `Marker` distinguishes the two and is inferred.
pub trait IntoLayer<Marker> {
    /// Converts the value to an entry.
    fn into_layer(self) -> AnyLayer;
}

/// Marker of values that are called as layers or modules.
pub struct ByType(());
/// Marker of values that are called as functions.
pub struct ByCall(());

impl<L: Forward> IntoLayer<ByType> for L {
    fn into_layer(self) -> AnyLayer {
        // An `AnyLayer` stays as it is, instead of being wrapped again.
        let mut layer = Some(self);
        if let Some(entry) = (&mut layer as &mut dyn Any).downcast_mut::<Option<AnyLayer>>() {
            return entry.take().expect("an entry");
        }
        AnyLayer(Kind::Layer(Box::new(layer.expect("a layer"))))
    }
}

impl<F: Fn(&Array) -> Array + Send + Sync + 'static> IntoLayer<ByCall> for F {
    fn into_layer(self) -> AnyLayer {
        AnyLayer(Kind::Function(Function::new(self)))
    }
}
