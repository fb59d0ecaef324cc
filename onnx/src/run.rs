//! Evaluation of graphs: every node is one call of its operator.

use crate::call::{Call, Value};
use crate::file::{data_type_name, dtype_of};
use crate::graph::{Graph, Weight};
use crate::node::Op;
use crate::operators;
use ramie_core::{Array, State, enter_named_scope};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The values of a graph by name.
pub(crate) struct Scope<'a> {
    values: HashMap<&'a str, Value>,
    /// The graph around a nested one.
    outer: Option<&'a Scope<'a>>,
    weights: &'a State,
    opset: i64,
}

impl<'a> Scope<'a> {
    fn get(&self, name: &str) -> Option<&Value> {
        let own = self.values.get(name);
        own.or_else(|| self.outer.and_then(|outer| outer.get(name)))
    }

    /// Evaluates a graph, with values of its inputs in order.
    pub fn evaluate(
        graph: &Graph,
        inputs: impl IntoIterator<Item = Value>,
        weights: &State,
        opset: i64,
    ) -> Vec<Value> {
        let mut scope = Scope {
            values: HashMap::new(),
            outer: None,
            weights,
            opset,
        };
        let named = graph.inputs.iter().map(|input| input.name.as_str());
        scope.values.extend(named.zip(inputs));
        scope.run(graph)
    }

    /// Evaluates a graph in an attribute, which has no inputs.
    pub fn nested(&self, graph: &Graph) -> Vec<Value> {
        let scope = Scope {
            values: HashMap::new(),
            outer: Some(self),
            weights: self.weights,
            opset: self.opset,
        };
        scope.run(graph)
    }

    fn run(mut self, graph: &'a Graph) -> Vec<Value> {
        let constants = graph.constants.iter();
        self.values
            .extend(constants.map(|(name, known)| (name.as_str(), known.clone().into())));
        for weight in &graph.weights {
            let Some(array) = self.weights.get(&weight.path) else {
                panic!(
                    "Model::apply: the weight `{}` is missing\n  help: pass the state that \
                     Model::weights returns, or one with the same paths",
                    weight.path
                );
            };
            check(weight, array);
            self.values.insert(&weight.name, array.clone().into());
        }
        for op in &graph.ops {
            let outputs = self.call(op);
            for (name, value) in op.node.outputs.iter().zip(outputs) {
                self.values.insert(name, value);
            }
        }
        let outputs = graph.outputs.iter();
        outputs.map(|output| self.value(&output.name)).collect()
    }

    /// Returns a value of this graph or of one around it. `check::order` has accepted the graph, so
    /// that the value is missing only if its operator has fewer outputs than its node.
    fn value(&self, name: &str) -> Value {
        let value = self.get(name).unwrap_or_else(|| {
            panic!(
                "Model::apply: `{name}` is an output of a node whose operator has fewer outputs\n  \
                 help: the file is damaged; check it with onnx.checker.check_model"
            )
        });
        value.clone()
    }

    /// Calls the operator of a node. A panic gets the name of the node.
    fn call(&self, op: &Op) -> Vec<Value> {
        let given = |name: &String| (!name.is_empty()).then(|| self.value(name));
        let inputs: Vec<Option<Value>> = op.node.inputs.iter().map(given).collect();
        let call = Call {
            op,
            inputs: &inputs,
            opset: self.opset,
            scope: self,
        };
        let operator = operators::find(&op.node).expect("the model was checked");
        let _named = enter_named_scope(op.node.label());
        match catch_unwind(AssertUnwindSafe(|| operator.run(&call))) {
            Ok(values) => values,
            Err(payload) => {
                let (text, node) = (ramie_base::panic::message(&*payload), &op.node);
                panic!("{text}\n  in the ONNX node {node}")
            }
        }
    }
}

/// Panics if a weight does not have the shape and the dtype of its tensor in the file.
fn check(weight: &Weight, array: &Array) {
    let Weight { path, tensor, .. } = weight;
    let dtype = dtype_of(tensor.data_type);
    if array.shape() == tensor.shape && dtype == Some(array.dtype()) {
        return;
    }
    let sizes: Vec<String> = tensor.shape.iter().map(ToString::to_string).collect();
    panic!(
        "Model::apply: the weight `{path}` is {}, expected {}[{}]\n  help: pass the state that \
         Model::weights returns, or one with the same types; convert dtypes with astype",
        array.aval(),
        data_type_name(tensor.data_type),
        sizes.join(",")
    );
}
