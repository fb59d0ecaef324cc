//! Messages of Protocol Buffers, for small models.

use ramie_core::{Array, DType};

/// A message under construction.
#[derive(Clone, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Adds a number.
    pub fn number(mut self, field: u64, number: i64) -> Message {
        self.varint(field << 3);
        self.varint(number as u64);
        self
    }

    /// Adds bytes or a string.
    pub fn bytes(mut self, field: u64, bytes: impl AsRef<[u8]>) -> Message {
        self.varint(field << 3 | 2);
        self.varint(bytes.as_ref().len() as u64);
        self.0.extend_from_slice(bytes.as_ref());
        self
    }

    /// Adds a message.
    pub fn message(self, field: u64, message: Message) -> Message {
        self.bytes(field, message.0)
    }
}

/// A `ModelProto` with nodes, tensors, inputs and outputs of 32-bit floats.
pub fn model(opset: i64, graph: Message) -> Vec<u8> {
    let opset = Message::default().number(2, opset);
    let model = Message::default().number(1, 8).message(8, opset);
    model.message(7, graph).0
}

/// A `NodeProto`.
pub fn node(operator: &str, inputs: &[&str], output: &str) -> Message {
    let node = Message::default().bytes(4, operator).bytes(2, output);
    inputs.iter().fold(node, |node, name| node.bytes(1, name))
}

/// An attribute that is an integer.
pub fn int(name: &str, number: i64) -> Message {
    Message::default()
        .bytes(1, name)
        .number(3, number)
        .number(20, 2)
}

/// An attribute that is a list of integers.
pub fn ints(name: &str, numbers: &[i64]) -> Message {
    let attribute = Message::default().bytes(1, name).number(20, 7);
    numbers
        .iter()
        .fold(attribute, |attribute, number| attribute.number(8, *number))
}

/// A model of one node, whose inputs `x0`, `x1` and so on have the types of arrays.
#[track_caller]
pub fn of_arrays(opset: i64, operator: &str, attributes: &[Message], inputs: &[Array]) -> Vec<u8> {
    let typed = |(i, array): (usize, &Array)| {
        let data_type = match array.dtype() {
            DType::F32 => 1,
            DType::I64 => 7,
            DType::U64 => 13,
            dtype => panic!("{dtype} has no number in this test"),
        };
        let sizes: Vec<i64> = array.shape().iter().map(|n| *n as i64).collect();
        (format!("x{i}"), data_type, sizes)
    };
    let inputs: Vec<_> = inputs.iter().enumerate().map(typed).collect();
    let inputs: Vec<_> = inputs
        .iter()
        .map(|(name, data_type, sizes)| (&name[..], *data_type, &sizes[..]))
        .collect();
    model(opset, single(operator, attributes, &inputs))
}

/// A `GraphProto` of one node with the output `y`. Inputs have a name, a type of ONNX and sizes; one without a
/// name is omitted.
pub fn single(operator: &str, attributes: &[Message], inputs: &[(&str, i64, &[i64])]) -> Message {
    let names: Vec<&str> = inputs.iter().map(|(name, ..)| *name).collect();
    let plain = node(operator, &names, "y");
    let whole = attributes
        .iter()
        .fold(plain, |node, attribute| node.message(5, attribute.clone()));
    let graph = Message::default()
        .message(1, whole)
        .message(12, value("y", 1, &[]));
    let given = inputs.iter().filter(|(name, ..)| !name.is_empty());
    given.fold(graph, |graph, (name, data_type, sizes)| {
        graph.message(11, value(name, *data_type, sizes))
    })
}

/// A `ValueInfoProto` with a type of ONNX and sizes.
pub fn value(name: &str, data_type: i64, sizes: &[i64]) -> Message {
    let dims = sizes.iter().fold(Message::default(), |shape, size| {
        shape.message(1, Message::default().number(1, *size))
    });
    let tensor = Message::default().number(1, data_type).message(2, dims);
    Message::default()
        .bytes(1, name)
        .message(2, Message::default().message(1, tensor))
}

/// A `TensorProto` without its elements.
pub fn tensor(name: &str, data_type: i64, sizes: &[i64]) -> Message {
    let tensor = Message::default().bytes(8, name).number(2, data_type);
    sizes
        .iter()
        .fold(tensor, |tensor, size| tensor.number(1, *size))
}

/// The place of a tensor's elements in another file.
pub fn external(tensor: Message, entries: &[(&str, &str)]) -> Message {
    let entries = entries
        .iter()
        .map(|(key, text)| Message::default().bytes(1, key).bytes(2, text));
    entries.fold(tensor.number(14, 1), |tensor, entry| {
        tensor.message(13, entry)
    })
}
