//! Checks of a graph before it is evaluated.

use crate::UnsupportedNodes;
use crate::description::Description;
use crate::file::{Attribute, Graph, Node};
use crate::operators;
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// Versions of ONNX's operator set in which the operators have the semantics implemented here.
const OPSETS: RangeInclusive<i64> = 7..=23;

/// Returns an error unless the version of the operator set is supported.
pub(crate) fn opset(version: i64) -> Result<(), String> {
    if OPSETS.contains(&version) {
        return Ok(());
    }
    Err(format!(
        "has version {version} of ONNX's operators, but versions {} to {} are supported\n  help: \
         convert the model with onnx.version_converter, or export it again",
        OPSETS.start(),
        OPSETS.end()
    ))
}

/// Returns an error unless all inputs and outputs are tensors of numbers.
pub(crate) fn types(description: &Description) -> Result<(), String> {
    let all = description.inputs.iter().chain(&description.outputs);
    match all.clone().find(|value| value.dtype.is_none()) {
        None => Ok(()),
        Some(value) => Err(format!(
            "has `{}`, which is {value}, among its inputs and outputs; only tensors of numbers are \
             supported\n  help: export the part of the model that computes with numbers, for \
             example with onnx.utils.extract_model",
            value.name
        )),
    }
}

/// Returns the nodes of a graph that are not supported, by operator and reason.
pub(crate) fn unsupported(graph: &Graph, opset: i64) -> Vec<UnsupportedNodes> {
    let mut found: Vec<UnsupportedNodes> = Vec::new();
    visit(graph, &mut |node| {
        let Some(reason) = reason(node, opset) else {
            return;
        };
        let operator = node.operator_name();
        let known = found
            .iter_mut()
            .find(|of| of.operator == operator && of.reason == reason);
        let label = if node.name.is_empty() {
            format!("node with the output `{}`", node.label())
        } else {
            format!("node `{}`", node.name)
        };
        match known {
            Some(of) => of.nodes.push(label),
            None => found.push(UnsupportedNodes {
                operator,
                reason,
                nodes: vec![label],
            }),
        }
    });
    found
}

/// Returns why a node is not supported, if it is not.
fn reason(node: &Node, opset: i64) -> Option<String> {
    match operators::find(node) {
        None if node.is_constant() => None,
        None => Some("the operator is unknown".into()),
        Some(operator) => operator.limits.and_then(|limits| limits(node, opset).err()),
    }
}

/// Calls a function with the nodes of a graph and of its nested graphs.
fn visit(graph: &Graph, f: &mut dyn FnMut(&Node)) {
    for node in &graph.nodes {
        f(node);
        for (_, attribute) in &node.attributes {
            if let Attribute::Graph(nested) = attribute {
                visit(nested, f);
            }
        }
    }
}

/// Returns an error if a node uses a value that no earlier node computes, or if no node computes
/// an output.
pub(crate) fn order(graph: &Graph) -> Result<(), String> {
    within(graph, &HashSet::new())
}

fn within<'a>(graph: &'a Graph, outer: &HashSet<&'a str>) -> Result<(), String> {
    let mut known = outer.clone();
    known.extend(graph.inputs.iter().map(|input| input.name.as_str()));
    known.extend(graph.initializers.iter().map(|tensor| tensor.name.as_str()));
    let help = "help: the file is damaged or incomplete; check it with onnx.checker.check_model";
    for node in &graph.nodes {
        let mut inputs = node.inputs.iter().filter(|name| !name.is_empty());
        if let Some(missing) = inputs.find(|name| !known.contains(name.as_str())) {
            return Err(format!(
                "the node {node} uses `{missing}`, which no earlier node computes\n  {help}"
            ));
        }
        for (_, attribute) in &node.attributes {
            if let Attribute::Graph(nested) = attribute {
                within(nested, &known)?;
            }
        }
        known.extend(node.outputs.iter().map(String::as_str));
    }
    let mut outputs = graph.outputs.iter().map(|output| output.name.as_str());
    match outputs.find(|name| !known.contains(name)) {
        Some(missing) => Err(format!("no node computes the output `{missing}`\n  {help}")),
        None => Ok(()),
    }
}
