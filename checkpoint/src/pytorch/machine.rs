//! The pickle machine: builds values from the opcodes that `torch.save` writes, in protocols 2 to 5.

use super::global::Global;
use super::input::{Input, damaged, unsupported};
use super::object::{Id, Object, Pickle};
use super::opcode as op;
use super::rebuild;
use ramie_core::files::Problem;
use std::collections::HashMap;
use std::io::Read;

/// Latest version of the protocol.
const LATEST: u8 = 5;

/// A stack machine. Each opcode adds at most one object, so that memory is bounded by a multiple of
/// the bytes read.
struct Machine<'a, R> {
    input: &'a mut Input<R>,
    pickle: Pickle,
    stack: Vec<Id>,
    /// Lengths of the stack at the marks.
    marks: Vec<usize>,
    memo: HashMap<u32, Id>,
}

/// Reads a pickle to its end.
pub(super) fn load<R: Read>(input: &mut Input<R>) -> Result<Pickle, Problem> {
    let pickle = Pickle {
        objects: Vec::new(),
        root: 0,
        storages: Vec::new(),
    };
    let mut machine = Machine {
        input,
        pickle,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
    };
    loop {
        match machine.input.byte()? {
            op::STOP => {
                let root = machine.pop()?;
                return Ok(Pickle {
                    root,
                    ..machine.pickle
                });
            }
            opcode => machine.step(opcode)?,
        }
    }
}

impl<R: Read> Machine<'_, R> {
    fn step(&mut self, opcode: u8) -> Result<(), Problem> {
        match opcode {
            op::PROTO => self.protocol()?,
            // The size of a frame, which is for reading ahead.
            op::FRAME => {
                self.input.array::<8>()?;
            }

            op::MARK => self.marks.push(self.stack.len()),
            op::POP => {
                self.pop()?;
            }
            op::POP_MARK => drop(self.pop_to_mark()?),
            op::DUP => self.stack.push(self.top()?),

            op::BINPUT => self.put::<1>()?,
            op::LONG_BINPUT => self.put::<4>()?,
            op::MEMOIZE => {
                let (at, top) = (self.memo.len() as u32, self.top()?);
                self.memo.insert(at, top);
            }
            op::BINGET => self.get::<1>()?,
            op::LONG_BINGET => self.get::<4>()?,

            op::GLOBAL | op::STACK_GLOBAL | op::REDUCE | op::NEWOBJ | op::BUILD | op::BINPERSID => {
                self.call(opcode)?
            }
            _ => self.collect(opcode)?,
        }
        Ok(())
    }

    /// Executes an opcode that builds a value from those on the stack, or from none.
    fn collect(&mut self, opcode: u8) -> Result<(), Problem> {
        match opcode {
            op::TUPLE => {
                let items = self.pop_to_mark()?;
                self.push(Object::Tuple(items));
            }
            op::TUPLE1..=op::TUPLE3 => {
                let items = self.pop_many(usize::from(opcode - op::TUPLE1) + 1)?;
                self.push(Object::Tuple(items));
            }
            op::LIST | op::FROZENSET => {
                let items = self.pop_to_mark()?;
                self.push(Object::List(items));
            }
            op::DICT => {
                let items = self.pop_to_mark()?;
                self.push(Object::Dict(Vec::new()));
                self.set_items(items)?;
            }
            op::APPEND => {
                let items = self.pop_many(1)?;
                self.append(items)?;
            }
            op::APPENDS | op::ADDITEMS => {
                let items = self.pop_to_mark()?;
                self.append(items)?;
            }
            op::SETITEM => {
                let items = self.pop_many(2)?;
                self.set_items(items)?;
            }
            op::SETITEMS => {
                let items = self.pop_to_mark()?;
                self.set_items(items)?;
            }
            _ => {
                let object = self.plain(opcode)?;
                self.push(object);
            }
        }
        Ok(())
    }

    fn protocol(&mut self) -> Result<(), Problem> {
        match self.input.byte()? {
            version if version <= LATEST => Ok(()),
            version => Err(unsupported(format_args!(
                "has protocol {version} of pickle, expected at most {LATEST}"
            ))),
        }
    }

    /// Reads a value without parts.
    fn plain(&mut self, opcode: u8) -> Result<Object, Problem> {
        let input = &mut *self.input;
        Ok(match opcode {
            op::NONE => Object::None,
            op::NEWTRUE => Object::Bool(true),
            op::NEWFALSE => Object::Bool(false),
            op::BININT => Object::Int(i32::from_le_bytes(input.array()?).into()),
            op::BININT1 => Object::Int(input.byte()?.into()),
            op::BININT2 => Object::Int(u16::from_le_bytes(input.array()?).into()),
            op::LONG1 => Object::integer(input.bytes::<1>()?),
            op::LONG4 => Object::integer(input.bytes::<4>()?),
            op::BINFLOAT => Object::Float(f64::from_be_bytes(input.array()?)),
            op::BINUNICODE => Object::Str(input.string::<4>()?),
            op::SHORT_BINUNICODE => Object::Str(input.string::<1>()?),
            op::BINUNICODE8 => Object::Str(input.string::<8>()?),
            op::SHORT_BINSTRING => text(input.bytes::<1>()?),
            op::BINSTRING => text(input.bytes::<4>()?),
            op::SHORT_BINBYTES => Object::Bytes(input.bytes::<1>()?),
            op::BINBYTES => Object::Bytes(input.bytes::<4>()?),
            op::BINBYTES8 | op::BYTEARRAY8 => Object::Bytes(input.bytes::<8>()?),
            op::EMPTY_TUPLE => Object::Tuple(Vec::new()),
            op::EMPTY_LIST | op::EMPTY_SET => Object::List(Vec::new()),
            op::EMPTY_DICT => Object::Dict(Vec::new()),
            _ => {
                return Err(damaged(format_args!(
                    "has the opcode {opcode:#04x} at byte {} of the pickle, which `torch.save` does \
                     not write",
                    input.position() - 1
                )));
            }
        })
    }

    /// Executes an opcode that refers to a name or calls a function.
    fn call(&mut self, opcode: u8) -> Result<(), Problem> {
        match opcode {
            op::GLOBAL => {
                let (module, name) = (self.input.line()?, self.input.line()?);
                self.push(Object::Global(Global::find(&module, &name)?));
            }
            op::STACK_GLOBAL => {
                let [module, name] = self.pop_pair()?;
                let (Object::Str(module), Object::Str(name)) =
                    (self.pickle.get(module), self.pickle.get(name))
                else {
                    return Err(self.wrong("refers to a name that is not a string"));
                };
                let found = Global::find(module, name)?;
                self.push(Object::Global(found));
            }
            // Calls a function, and creates an object.
            op::REDUCE | op::NEWOBJ => {
                let [function, arguments] = self.pop_pair()?;
                let result = rebuild::call(&mut self.pickle, function, arguments)
                    .map_err(|what| self.wrong(what))?;
                self.stack.push(result);
            }
            // Sets the attributes of an object, which are omitted.
            op::BUILD => {
                let (state, object) = (self.pop()?, self.top()?);
                if rebuild::is_big_endian(&self.pickle, object, state) {
                    return Err(unsupported("has a NumPy value in big-endian byte order"));
                }
            }
            _ => {
                let id = self.pop()?;
                let storage = rebuild::storage(&self.pickle, id)?;
                let at = self.pickle.storages.len() as u32;
                self.pickle.storages.push(storage);
                self.push(Object::Storage(at));
            }
        }
        Ok(())
    }

    fn push(&mut self, object: Object) {
        self.stack.push(self.pickle.push(object));
    }

    fn top(&self) -> Result<Id, Problem> {
        let above = self.marks.last().copied().unwrap_or(0);
        match self.stack.last() {
            Some(&top) if self.stack.len() > above => Ok(top),
            _ => Err(self.wrong("uses a value that it has not built")),
        }
    }

    fn pop(&mut self) -> Result<Id, Problem> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn pop_pair(&mut self) -> Result<[Id; 2], Problem> {
        let (second, first) = (self.pop()?, self.pop()?);
        Ok([first, second])
    }

    fn pop_many(&mut self, count: usize) -> Result<Vec<Id>, Problem> {
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(self.pop()?);
        }
        items.reverse();
        Ok(items)
    }

    /// Pops the values above the last mark.
    fn pop_to_mark(&mut self) -> Result<Vec<Id>, Problem> {
        match self.marks.pop() {
            Some(mark) => Ok(self.stack.split_off(mark)),
            None => Err(self.wrong("uses a mark that it has not set")),
        }
    }

    /// Remembers the value at the top under an index of `N` bytes.
    fn put<const N: usize>(&mut self) -> Result<(), Problem> {
        let (at, top) = (self.input.length::<N>()? as u32, self.top()?);
        self.memo.insert(at, top);
        Ok(())
    }

    fn get<const N: usize>(&mut self) -> Result<(), Problem> {
        let at = self.input.length::<N>()? as u32;
        match self.memo.get(&at) {
            Some(&id) => self.stack.push(id),
            None => return Err(self.wrong("uses a value that it has not built")),
        }
        Ok(())
    }

    /// Appends items to the list at the top.
    fn append(&mut self, items: Vec<Id>) -> Result<(), Problem> {
        let top = self.top()?;
        match self.pickle.get_mut(top) {
            Object::List(list) => list.extend(items),
            _ => return Err(self.wrong("appends to a value that is not a list")),
        }
        Ok(())
    }

    /// Adds entries, keys and values in turn, to the dictionary at the top.
    fn set_items(&mut self, items: Vec<Id>) -> Result<(), Problem> {
        let top = self.top()?;
        let (pairs, rest) = items.as_chunks::<2>();
        match self.pickle.get_mut(top) {
            Object::Dict(entries) if rest.is_empty() => {
                entries.extend(pairs.iter().map(|&[key, value]| (key, value)));
            }
            _ => return Err(self.wrong("adds entries to a value that is not a dictionary")),
        }
        Ok(())
    }

    fn wrong(&self, what: &str) -> Problem {
        damaged(format_args!(
            "is damaged: the pickle {what}, before byte {}",
            self.input.position()
        ))
    }
}

/// Returns a string of Python 2, which may consist of any bytes.
fn text(bytes: Vec<u8>) -> Object {
    match String::from_utf8(bytes) {
        Ok(text) => Object::Str(text),
        Err(e) => Object::Bytes(e.into_bytes()),
    }
}
