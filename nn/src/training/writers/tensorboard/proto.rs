//! The messages of event files, encoded as protocol buffers.

/// A message: fields by number.
#[derive(Clone, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    fn int(mut self, field: u32, value: u64) -> Message {
        self.key(field, 0);
        self.varint(value);
        self
    }

    fn double(mut self, field: u32, value: f64) -> Message {
        self.key(field, 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn float(mut self, field: u32, value: f32) -> Message {
        self.key(field, 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u32, value: &[u8]) -> Message {
        self.key(field, 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    fn message(self, field: u32, value: Message) -> Message {
        self.bytes(field, &value.0)
    }

    fn doubles(self, field: u32, values: &[f64]) -> Message {
        let packed: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.bytes(field, &packed)
    }
}

/// How values are distributed (`HistogramProto`).
#[derive(Debug, PartialEq)]
pub struct Histogram {
    min: f64,
    max: f64,
    num: f64,
    sum: f64,
    sum_squares: f64,
    /// The upper ends of the buckets.
    limits: Vec<f64>,
    counts: Vec<f64>,
}

impl Histogram {
    /// In buckets of one width. Values that are not finite are left out.
    pub fn of(values: &[f32], buckets: usize) -> Histogram {
        let values: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
        let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        let fold = |f: fn(f64, f64) -> f64| values.iter().copied().reduce(f).unwrap_or(0.0);
        let (min, max) = (fold(f64::min), fold(f64::max));
        // Of equal values there is one bucket, around them.
        let (start, width, buckets) = match max > min {
            true => (min, (max - min) / buckets as f64, buckets),
            false => (min - 0.5, 1.0, 1),
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

/// What happened at a step (`Event`).
pub struct Event(Message);

impl Event {
    /// The first event of a file.
    pub fn version(time: f64) -> Event {
        Event(
            Message::default()
                .double(1, time)
                .bytes(3, b"brain.Event:2"),
        )
    }

    /// The encoded message.
    pub fn bytes(&self) -> &[u8] {
        &self.0.0
    }

    fn value(time: f64, step: u64, value: Message) -> Event {
        let summary = Message::default().message(1, value);
        let event = Message::default().double(1, time).int(2, step);
        Event(event.message(5, summary))
    }

    /// A number.
    pub fn scalar(time: f64, step: u64, tag: &str, value: f32) -> Event {
        let tagged = Message::default().bytes(1, tag.as_bytes());
        Event::value(time, step, tagged.float(2, value))
    }

    /// A distribution.
    pub fn histogram(time: f64, step: u64, tag: &str, of: &Histogram) -> Event {
        let histogram = Message::default()
            .double(1, of.min)
            .double(2, of.max)
            .double(3, of.num)
            .double(4, of.sum)
            .double(5, of.sum_squares)
            .doubles(6, &of.limits)
            .doubles(7, &of.counts);
        let tagged = Message::default().bytes(1, tag.as_bytes());
        Event::value(time, step, tagged.message(5, histogram))
    }

    /// A text: a tensor of one string, which the plugin for texts shows.
    pub fn text(time: f64, step: u64, tag: &str, text: &str) -> Event {
        const STRING: u64 = 7;
        let shape = Message::default().message(2, Message::default().int(1, 1));
        let tensor = Message::default()
            .int(1, STRING)
            .message(2, shape)
            .bytes(8, text.as_bytes());
        let plugin = Message::default().bytes(1, b"text");
        let metadata = Message::default().message(1, plugin);
        let tagged = Message::default().bytes(1, tag.as_bytes());
        Event::value(time, step, tagged.message(8, tensor).message(9, metadata))
    }
}
