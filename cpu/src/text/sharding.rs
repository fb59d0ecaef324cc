//! Shardy's meshes and shardings, which attributes contain as text.

use super::lexer::Token;
use super::parser::Parser;
use crate::Result;

/// A mesh as it is written: `["x"=4, "y"=2], device_ids=[…]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeshText {
    /// Names and sizes of the axes.
    pub axes: Vec<(String, usize)>,
    /// Numbers of the devices in row-major order, if they are not 0, 1, ….
    pub devices: Option<Vec<usize>>,
}

/// A sharding as it is written: `@mesh, [{"x"}, {}]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardingText {
    /// Name of the mesh.
    pub mesh: String,
    /// Names of the axes over which each axis of the array is split.
    pub axes: Vec<Vec<String>>,
}

impl ShardingText {
    /// Removes the axes that are not among `names`.
    pub fn keep(&mut self, names: &[String]) {
        for axes in &mut self.axes {
            axes.retain(|axis| names.contains(axis));
        }
    }
}

/// Reads all of a text.
fn read<T>(text: &str, line: usize, f: impl FnOnce(&mut Parser<'_>) -> Result<T>) -> Result<T> {
    let mut parser = Parser::new(text).map_err(|e| e.at(line))?;
    parser.operation = "sdy";
    let result = f(&mut parser).and_then(|value| match parser.token() {
        Token::End => Ok(value),
        _ => parser.expected("the end of the attribute"),
    });
    result.map_err(|e| e.at(line))
}

/// Reads the text of a mesh.
///
/// # Errors
/// Returns an error at `line` if the text is damaged.
pub fn mesh(text: &str, line: usize) -> Result<MeshText> {
    read(text, line, |p| {
        let mut mesh = MeshText::default();
        p.expect('[')?;
        p.items(']', |p| {
            let name = p.string()?;
            p.expect('=')?;
            mesh.axes.push((name, p.size()?));
            Ok(())
        })?;
        if p.accept(',')? {
            p.expect_word("device_ids")?;
            p.expect('=')?;
            p.expect('[')?;
            let mut devices = Vec::new();
            p.items(']', |p| {
                devices.push(p.size()?);
                Ok(())
            })?;
            mesh.devices = Some(devices);
        }
        Ok(mesh)
    })
}

/// Reads the text of a sharding.
///
/// # Errors
/// Returns an error at `line` if the text is damaged or splits axes of the mesh.
pub fn sharding(text: &str, line: usize) -> Result<ShardingText> {
    read(text, line, |p| p.sharding())
}

/// Reads the text of a list of shardings: `[<@mesh, [{"x"}]>, …]`.
///
/// # Errors
/// Returns the same errors as [`sharding`].
pub fn shardings(text: &str, line: usize) -> Result<Vec<ShardingText>> {
    read(text, line, |p| {
        let mut all = Vec::new();
        p.expect('[')?;
        p.items(']', |p| {
            p.expect('<')?;
            all.push(p.sharding()?);
            p.expect('>')
        })?;
        Ok(all)
    })
}

/// Reads the text of a set of axes: `{"x", "y"}`.
///
/// # Errors
/// Returns the same errors as [`sharding`].
pub fn axes(text: &str, line: usize) -> Result<Vec<String>> {
    read(text, line, |p| p.axes())
}

impl Parser<'_> {
    /// Reads an integer that is not negative.
    fn size(&mut self) -> Result<usize> {
        let value = self.integer()?;
        usize::try_from(value).or_else(|_| self.fail(format!("the number {value} is invalid")))
    }

    fn sharding(&mut self) -> Result<ShardingText> {
        let Token::Symbol(_) = self.token() else {
            return self.unsupported("shardings over meshes without names are not supported");
        };
        let mesh = self.symbol()?;
        let mut axes = Vec::new();
        self.expect(',')?;
        self.expect('[')?;
        self.items(']', |p| {
            axes.push(p.axes()?);
            // A priority of propagation, `p0`.
            if let Token::Word(_) = p.token() {
                p.advance()?;
            }
            Ok(())
        })?;
        // Axes that are explicitly replicated, or along which the elements are parts of a sum: the
        // array outside a manual computation is the whole sum.
        while self.accept(',')? {
            self.word()?;
            self.expect('=')?;
            self.axes()?;
        }
        Ok(ShardingText { mesh, axes })
    }

    /// Reads `{"x", ?}`. Open dimensions are complete as they are.
    fn axes(&mut self) -> Result<Vec<String>> {
        let mut axes = Vec::new();
        self.expect('{')?;
        self.items('}', |p| {
            if p.accept('?')? {
                return Ok(());
            }
            axes.push(p.string()?);
            if p.at(':') {
                p.unsupported("parts of the axes of a mesh are not supported")
            } else {
                Ok(())
            }
        })?;
        Ok(axes)
    }
}
