//! `MultiWriter`: combines several writers.

use super::{MetricWriter, WriteError};
use ramie_core::Array;

/// Writes metrics to several writers.
#[derive(Default)]
pub struct MultiWriter {
    writers: Vec<Box<dyn MetricWriter>>,
}

impl MultiWriter {
    /// Creates a `MultiWriter` without writers.
    pub fn new() -> MultiWriter {
        MultiWriter::default()
    }

    /// Adds a writer.
    #[must_use]
    pub fn with(mut self, writer: impl MetricWriter + 'static) -> MultiWriter {
        self.writers.push(Box::new(writer));
        self
    }

    /// Calls all writers, and returns the first error.
    fn each(
        &mut self,
        mut write: impl FnMut(&mut dyn MetricWriter) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let mut result = Ok(());
        for writer in &mut self.writers {
            result = result.and(write(writer.as_mut()));
        }
        result
    }
}

impl MetricWriter for MultiWriter {
    fn scalar(&mut self, step: u64, tag: &str, value: f64) -> Result<(), WriteError> {
        self.each(|w| w.scalar(step, tag, value))
    }
    fn histogram(&mut self, step: u64, tag: &str, values: &Array) -> Result<(), WriteError> {
        self.each(|w| w.histogram(step, tag, values))
    }
    fn text(&mut self, step: u64, tag: &str, text: &str) -> Result<(), WriteError> {
        self.each(|w| w.text(step, tag, text))
    }
    fn flush(&mut self) -> Result<(), WriteError> {
        self.each(|w| w.flush())
    }
}
