//! The syntax tree of a module: the same for MLIR's generic and pretty forms.

use crate::TensorType;
use foldhash::HashMap;

/// A parsed module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Name of the module, empty if it has none.
    pub name: String,
    /// Attributes of the module, such as `mhlo.num_partitions`. The mesh of devices `@name` of
    /// `sdy.mesh` is the attribute `@name`, a structure.
    pub attributes: Attributes,
    /// The functions in the order of the text.
    pub functions: Vec<Function>,
    /// Indices of the functions by name.
    pub by_name: HashMap<String, usize>,
    /// Indices of the functions, each after those of the functions that it calls.
    pub order: Vec<usize>,
}

/// A function of a module.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name without `@`.
    pub name: String,
    /// Attributes of each argument, such as `tf.aliasing_output`.
    pub argument_attributes: Vec<Attributes>,
    /// The types of the results.
    pub results: Vec<Type>,
    /// Attributes of each result.
    pub result_attributes: Vec<Attributes>,
    /// The body, whose arguments are those of the function. Its last operation returns.
    pub body: Block,
    /// Line of the text, counted from 1.
    pub line: usize,
}

impl Function {
    /// Returns the attributes of each tensor among the arguments and among the results. Tokens are no tensors,
    /// and all tensors of a tuple have its attributes.
    pub fn tensor_attributes(&self) -> [Vec<&Attributes>; 2] {
        let arguments = self.body.arguments.iter().map(|(_, ty)| ty);
        let arguments = arguments.zip(&self.argument_attributes);
        let results = self.results.iter().zip(&self.result_attributes);
        let each = |(ty, attributes): (&Type, _)| std::iter::repeat_n(attributes, ty.tensors());
        [
            arguments.flat_map(each).collect(),
            results.flat_map(each).collect(),
        ]
    }
}

/// A value of a function: the result of an operation, or an argument of a block. Numbers count from
/// 0 in each function, its nested regions included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A tensor of static shape.
    Tensor(TensorType),
    /// A token, which orders effects.
    Token,
    /// A tuple.
    Tuple(Vec<Type>),
}

impl Type {
    /// Returns the number of tensors in a value.
    pub fn tensors(&self) -> usize {
        match self {
            Type::Tensor(_) => 1,
            Type::Token => 0,
            Type::Tuple(list) => list.iter().map(Type::tensors).sum(),
        }
    }
}

/// A list of operations with arguments. The last operation returns values.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The arguments with their types.
    pub arguments: Vec<(ValueId, Type)>,
    /// The operations. Each uses only values that are defined before it, here or around the block.
    pub operations: Vec<Operation>,
}

/// An operation. The pretty form has the attributes of the generic form, by the same names.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Full name, such as `stablehlo.add`.
    pub name: String,
    /// The operands.
    pub operands: Vec<ValueId>,
    /// The results with their types.
    pub results: Vec<(ValueId, Type)>,
    /// The attributes by name.
    pub attributes: Attributes,
    /// The nested blocks, one for each region.
    pub regions: Vec<Block>,
    /// Line of the text, counted from 1.
    pub line: usize,
}

/// Attributes by name, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes(pub Vec<(String, Attribute)>);

impl Attributes {
    /// Returns the attribute of this name.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, a)| a)
    }

    /// Returns the integers in an attribute and its lists that are in the range of the type.
    pub fn integers<T: TryFrom<i128>>(&self, name: &str) -> Vec<T> {
        let mut all = Vec::new();
        if let Some(attribute) = self.get(name) {
            attribute.collect(&mut all);
        }
        all
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// An attribute without a value, whose presence counts.
    Unit,
    /// `true` or `false`.
    Bool(bool),
    /// An integer, with or without a type.
    Integer(i128),
    /// A float.
    Float(f64),
    /// A string, without quotes.
    Text(String),
    /// A list: `[1, 2]`, or `array<i64: 1, 2>`.
    List(Vec<Attribute>),
    /// `dense<…> : tensor<…>`: the elements in row-major order. Elements of less than a byte have one
    /// byte each, signed ones with copies of their sign. If all elements are equal, however the text
    /// writes them, `data` has a single element, which the reader of the attribute repeats. Without
    /// elements, `data` is empty. The type `index`, in layouts, is read as `i64`.
    Dense {
        /// The type of the constant.
        ty: TensorType,
        /// The bytes of all elements, or of one that is repeated.
        data: Vec<u8>,
    },
    /// A type, such as that of `preferred_element_type`. An element type is that of a 0-d tensor.
    Type(Type),
    /// `@name`.
    Symbol(String),
    /// `{name = value, …}`.
    Dictionary(Attributes),
    /// `#stablehlo<comparison_direction GT>` or, in the pretty form, `GT`: the last word.
    Word(String),
    /// `#stablehlo.dot<lhs_batching_dimensions = [0], …>` and similar structures, as fields.
    Structure {
        /// Name of the structure, such as `dot`, `gather`, `scatter`, `conv`.
        name: String,
        /// The fields. The convolution's `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]` becomes the fields
        /// of the generic form (`input_batch_dimension`, …). `dot`, `ragged_dot`, `gather`,
        /// `scatter` and `conv` have all their fields: those that the text omits are empty lists or 0.
        /// Structures of other dialects than StableHLO and CHLO, such as `sdy.sharding`, have the
        /// field `text` with the text between their brackets.
        fields: Attributes,
    },
}

impl Attribute {
    fn collect<T: TryFrom<i128>>(&self, all: &mut Vec<T>) {
        match self {
            Attribute::Integer(n) => all.extend(T::try_from(*n)),
            Attribute::List(list) => list.iter().for_each(|a| a.collect(all)),
            _ => {}
        }
    }

    /// Returns the text of a structure of another dialect than StableHLO and CHLO.
    pub fn text(&self) -> Option<&str> {
        match self {
            Attribute::Structure { fields, .. } => match fields.get("text") {
                Some(Attribute::Text(text)) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }
}
