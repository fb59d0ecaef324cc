//! The messages of event files, encoded as protocol buffers.

use ramie_formats::proto::Writer;

/// The distribution of values (`HistogramProto`).
#[derive(Debug, PartialEq)]
pub struct Histogram {
    min: f64,
    max: f64,
    num: f64,
    sum: f64,
    sum_squares: f64,
    /// The upper bounds of the buckets.
    limits: Vec<f64>,
    counts: Vec<f64>,
}

impl Histogram {
    /// Counts the values in buckets of equal width. Non-finite values are ignored.
    pub fn of(values: &[f32], buckets: usize) -> Histogram {
        let values: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
        let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        let fold = |f: fn(f64, f64) -> f64| values.iter().copied().reduce(f).unwrap_or(0.0);
        let (min, max) = (fold(f64::min), fold(f64::max));
        // If all values are equal, use one bucket around them.
        let (start, width, buckets) = if max > min {
            (min, (max - min) / buckets as f64, buckets)
        } else {
            (min - 0.5, 1.0, 1)
        };
        let mut counts = vec![0.0; buckets];
        for value in &values {
            let bucket = ((value - start) / width) as usize;
            counts[bucket.min(buckets - 1)] += 1.0;
        }
        let limits = (1..=buckets).map(|i| start + width * i as f64);
        Histogram {
            min,
            max,
            num: values.len() as f64,
            sum: values.iter().sum(),
            sum_squares: values.iter().map(|v| v * v).sum(),
            limits: limits.collect(),
            counts,
        }
    }
}

/// Encodes numbers as a packed list.
fn packed(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// An event of a step (`Event`).
pub struct Event(Writer);

impl Event {
    fn at(time: f64) -> Event {
        let mut event = Writer::default();
        event.double(1, time);
        Event(event)
    }

    /// Creates the first event of a file.
    pub fn version(time: f64) -> Event {
        let mut event = Event::at(time);
        event.0.bytes(3, b"brain.Event:2");
        event
    }

    /// Returns the encoded message.
    pub fn bytes(&self) -> &[u8] {
        &self.0.0
    }

    /// Creates an event with a value under a tag.
    fn value(time: f64, step: u64, tag: &str, value: impl FnOnce(&mut Writer)) -> Event {
        let mut event = Event::at(time);
        event.0.uint(2, step);
        event.0.message(5, |summary| {
            summary.message(1, |tagged| {
                tagged.bytes(1, tag.as_bytes());
                value(tagged);
            });
        });
        event
    }

    /// Creates an event with a number.
    pub fn scalar(time: f64, step: u64, tag: &str, value: f32) -> Event {
        Event::value(time, step, tag, |tagged| tagged.float(2, value))
    }

    /// Creates an event with a histogram.
    pub fn histogram(time: f64, step: u64, tag: &str, of: &Histogram) -> Event {
        Event::value(time, step, tag, |tagged| {
            tagged.message(5, |histogram| {
                histogram.double(1, of.min);
                histogram.double(2, of.max);
                histogram.double(3, of.num);
                histogram.double(4, of.sum);
                histogram.double(5, of.sum_squares);
                histogram.bytes(6, &packed(&of.limits));
                histogram.bytes(7, &packed(&of.counts));
            });
        })
    }

    /// Creates an event with text: a tensor of one string, shown by the text plugin.
    pub fn text(time: f64, step: u64, tag: &str, text: &str) -> Event {
        const STRING: u64 = 7;
        Event::value(time, step, tag, |tagged| {
            tagged.message(8, |tensor| {
                tensor.uint(1, STRING);
                tensor.message(2, |shape| shape.message(2, |axis| axis.uint(1, 1)));
                tensor.bytes(8, text.as_bytes());
            });
            tagged.message(9, |metadata| {
                metadata.message(1, |plugin| plugin.bytes(1, b"text"));
            });
        })
    }
}
