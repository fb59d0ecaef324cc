//! `AnyLayer`: a layer whose type is not known.

use super::function::Function;
use crate::Forward;
use ramie_core::tree::{self, Tree, Visitor};
use ramie_core::{Array, fixed_tree};
use std::any::Any;
use std::fmt;

/// A layer of any type, or a function: an entry of a
/// [`Sequential`](crate::Sequential).
///
/// As a tree it is what is in it.
pub struct AnyLayer(Kind);

enum Kind {
    Layer(Box<dyn Erased>),
    Function(Function),
}

fixed_tree!(Function);

/// What [`Forward`] and [`Tree`] ask for, of a value whose type is not known.
trait Erased: Send + Sync {
    fn forward(&mut self, x: &Array) -> Array;
    fn walk(&self, visitor: &mut dyn Visitor);
    fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Array));
    fn rebuild(&self, leaf: &mut dyn FnMut(&Array) -> Array) -> Box<dyn Erased>;
    fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Any));
    fn any(&self) -> &dyn Any;
    fn any_mut(&mut self) -> &mut dyn Any;
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
    fn any(&self) -> &dyn Any {
        self
    }
    fn any_mut(&mut self) -> &mut dyn Any {
        self
    }
    fn name(&self) -> &'static str {
        std::any::type_name::<L>()
    }
}

impl AnyLayer {
    /// The layer in it, if it is of this type.
    ///
    /// ```no_run
    /// use ramie_nn::{Linear, Rngs, Sequential};
    /// let net = Sequential::new((Linear::new(2, 8, &mut Rngs::new(0)),));
    /// let first: &Linear = net.layers[0].downcast_ref().unwrap();
    /// ```
    pub fn downcast_ref<L: Forward>(&self) -> Option<&L> {
        match &self.0 {
            Kind::Layer(layer) => (**layer).any().downcast_ref(),
            Kind::Function(_) => None,
        }
    }

    /// The layer in it, to be changed, if it is of this type.
    pub fn downcast_mut<L: Forward>(&mut self) -> Option<&mut L> {
        match &mut self.0 {
            Kind::Layer(layer) => (**layer).any_mut().downcast_mut(),
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
        crate::nnx::clone(self)
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

/// What becomes an entry of a [`Sequential`](crate::Sequential): a layer, or a
/// function of an array. `Marker` tells the two apart, and is inferred.
pub trait IntoLayer<Marker> {
    /// The entry.
    fn into_layer(self) -> AnyLayer;
}

/// Says that something is called because it is a layer, or a module.
pub struct ByType(());
/// Says that something is called because it is a function.
pub struct ByCall(());

impl<L: Forward> IntoLayer<ByType> for L {
    fn into_layer(self) -> AnyLayer {
        // An entry stays the entry that it is.
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
