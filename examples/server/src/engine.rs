//! The thread that owns the model and decodes the requests in flight together.

use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::template::Template;
use crate::text::Text;
use ramie::checkpoint::gguf::GgufFile;
use ramie::data::readers::bpe::ByteLevelBpe;
use ramie::models::{BatchDecoding, Llama};
use ramie::random;
use std::error::Error;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A language model with its tokenizer and chat template.
pub struct Model {
    /// Name in requests and answers.
    pub name: String,
    pub(crate) llama: Llama,
    pub(crate) tokenizer: ByteLevelBpe,
    pub(crate) template: Template,
}

impl Model {
    /// Loads a model from a GGUF file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or contains another model.
    pub fn load(path: &Path) -> Result<Model, Box<dyn Error>> {
        let file = GgufFile::open(path)?;
        let tokenizer = ByteLevelBpe::load(path)?;
        let template = Template::new(tokenizer.chat_template(), &tokenizer)?;
        let stem = || path.file_stem().unwrap_or_default().to_string_lossy();
        let name = file.get("general.name").and_then(|name| name.as_str());
        Ok(Model {
            name: name.map_or_else(|| stem().into_owned(), str::to_owned),
            llama: Llama::from_gguf(&file)?,
            tokenizer,
            template,
        })
    }
}

/// Sizes of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of requests that are decoded together.
    pub slots: usize,
    /// Number of requests that can wait for a slot.
    pub queue: usize,
    /// Maximum number of tokens of a prompt and its answer.
    pub max_length: usize,
}

/// A part of an answer.
#[derive(Debug)]
pub(crate) enum Event {
    Text(String),
    End(End),
}

/// The end of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// `stop` or `length`.
    pub(crate) reason: &'static str,
    /// Number of new tokens, including one that ends the answer.
    pub(crate) generated: usize,
}

/// A request on its way to the thread.
struct Job {
    options: Options,
    events: UnboundedSender<Event>,
    arrived: Instant,
}

/// The running model.
pub struct Engine {
    pub(crate) model: Arc<Model>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) limits: Limits,
    /// `None` after the engine has stopped.
    running: Mutex<Option<Running>>,
}

struct Running {
    jobs: SyncSender<Job>,
    thread: JoinHandle<()>,
}

impl Engine {
    /// Compiles the programs of a model and starts its thread.
    ///
    /// # Errors
    /// Returns an error if the thread cannot start.
    pub fn start(model: Model, limits: Limits) -> Result<Engine, Box<dyn Error>> {
        let batch = BatchDecoding::new(&model.llama, limits.slots, limits.max_length).compiled();
        let (model, metrics) = (Arc::new(model), Arc::new(Metrics::default()));
        let (jobs, queue) = sync_channel(limits.queue);
        let worker = (model.clone(), metrics.clone());
        let thread = thread::Builder::new()
            .name("model".into())
            .spawn(move || Worker::new(batch, &worker.0, &worker.1, queue).run())?;
        Ok(Engine {
            model,
            metrics,
            limits,
            running: Mutex::new(Some(Running { jobs, thread })),
        })
    }

    /// Returns whether the thread runs.
    pub(crate) fn is_running(&self) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running
            .as_ref()
            .is_some_and(|running| !running.thread.is_finished())
    }

    /// Queues a request. Returns the parts of its answer. Dropping them ends it.
    pub(crate) fn submit(&self, options: Options) -> Result<UnboundedReceiver<Event>, ApiError> {
        let (events, answer) = unbounded_channel();
        let job = Job {
            options,
            events,
            arrived: Instant::now(),
        };
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(running) = &*running else {
            return Err(ApiError::stopped());
        };
        self.metrics.queued();
        running.jobs.try_send(job).map_err(|e| {
            self.metrics.left_queue();
            match e {
                TrySendError::Full(_) => ApiError::queue_is_full(),
                TrySendError::Disconnected(_) => ApiError::stopped(),
            }
        })?;
        Ok(answer)
    }

    /// Finishes all requests and ends the thread.
    ///
    /// # Errors
    /// Returns an error if the thread panicked.
    pub fn stop(&self) -> Result<(), Box<dyn Error>> {
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(Running { jobs, thread }) = running else {
            return Ok(());
        };
        drop(jobs);
        let panicked = |_| "the thread of the model panicked; its message is above".into();
        thread.join().map_err(panicked)
    }
}

/// The state of the thread.
struct Worker<'a> {
    batch: BatchDecoding<Llama>,
    model: &'a Model,
    metrics: &'a Metrics,
    queue: Receiver<Job>,
    slots: Vec<Option<Answer<'a>>>,
}

/// A request in a slot.
struct Answer<'a> {
    text: Text<'a>,
    events: UnboundedSender<Event>,
    arrived: Instant,
    max_tokens: usize,
    generated: usize,
}

impl<'a> Worker<'a> {
    fn new(
        batch: BatchDecoding<Llama>,
        model: &'a Model,
        metrics: &'a Metrics,
        queue: Receiver<Job>,
    ) -> Worker<'a> {
        let slots = (0..batch.free_slots()).map(|_| None).collect();
        Worker {
            batch,
            model,
            metrics,
            queue,
            slots,
        }
    }

    /// Serves requests until the engine stops and all are finished.
    fn run(mut self) {
        while self.admit() {
            let chosen = self.batch.step();
            self.metrics.step(chosen.len());
            for (slot, token) in chosen {
                if self.add(slot, token) {
                    self.batch.end(slot);
                    self.slots[slot] = None;
                    self.metrics.ended();
                }
            }
        }
    }

    /// Starts waiting requests in free slots. If there are no requests at all, waits for one, or
    /// returns `false` if the engine stops.
    fn admit(&mut self) -> bool {
        while self.batch.free_slots() > 0 {
            let is_idle = self.batch.free_slots() == self.slots.len();
            let job = match is_idle {
                true => match self.queue.recv() {
                    Ok(job) => job,
                    Err(_) => return false,
                },
                false => match self.queue.try_recv() {
                    Ok(job) => job,
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                },
            };
            self.metrics.left_queue();
            if job.events.is_closed() {
                self.metrics.abandoned();
                continue;
            }
            self.start(job);
        }
        true
    }

    fn start(&mut self, job: Job) {
        let options = job.options;
        let key = random::key(options.seed);
        self.metrics.started(options.prompt.len());
        let slot = self.batch.start(&options.prompt, options.sampling, &key);
        self.slots[slot] = Some(Answer {
            text: Text::new(&self.model.tokenizer, options.stops),
            events: job.events,
            arrived: job.arrived,
            max_tokens: options.max_tokens,
            generated: 0,
        });
    }

    /// Adds a token to an answer. Returns whether it ends.
    fn add(&mut self, slot: usize, token: i32) -> bool {
        let answer = self.slots[slot].as_mut().expect("a request in the slot");
        answer.generated += 1;
        if answer.generated == 1 {
            self.metrics.first_token(answer.arrived.elapsed());
        }
        let is_last = Some(token) == self.model.tokenizer.eos_token_id();
        let (text, stops) = match is_last {
            true => (String::new(), false),
            false => answer.text.push(token),
        };
        let is_sent = match text.is_empty() {
            true => !answer.events.is_closed(),
            false => answer.events.send(Event::Text(text)).is_ok(),
        };
        if !is_sent {
            self.metrics.abandoned();
            return true;
        }
        let is_full = answer.generated == answer.max_tokens || self.batch.is_full(slot);
        if !(is_last || stops || is_full) {
            return false;
        }
        let answer = self.slots[slot].take().expect("a request in the slot");
        answer.end(is_last, stops);
        true
    }
}

impl Answer<'_> {
    /// Sends the rest of the text and the end. A client that is gone needs neither.
    fn end(self, is_last: bool, stops: bool) {
        let rest = match stops {
            true => String::new(),
            false => self.text.finish(),
        };
        if !rest.is_empty() {
            _ = self.events.send(Event::Text(rest));
        }
        let reason = if is_last || stops { "stop" } else { "length" };
        let generated = self.generated;
        _ = self.events.send(Event::End(End { reason, generated }));
    }
}
