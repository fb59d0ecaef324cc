//! A process's connection to the coordinator.

use super::coordinator::describe;
use super::protocol::{LONGEST, Magic, Reply, Request, read_frame, write_frame};
use super::{FailureKind, PeerFailure};
use crate::base::lock::lock;
use crate::{Error, Result};
use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Pause between two attempts to connect.
const RETRY: Duration = Duration::from_millis(100);
/// The coordinator reports timeouts itself; if it has not done so after this additional time, it
/// is considered lost.
const GRACE: Duration = Duration::from_secs(10);

/// The identity of a process, and how it connects to the others.
#[derive(Clone, Debug)]
pub(super) struct ProcessConfig {
    pub coordinator: String,
    pub process: usize,
    pub count: usize,
    pub join_timeout: Duration,
    pub heartbeat_timeout: Duration,
    pub peer_failure: PeerFailure,
}

/// A connection that any number of threads can use.
pub(super) struct Connection {
    config: ProcessConfig,
    stream: TcpStream,
    /// Locked while a message is written, so that messages do not interleave.
    writing: Mutex<()>,
    waiting: Mutex<PendingReplies>,
    heard: Mutex<Instant>,
    closed: AtomicBool,
    pulse: OnceLock<Thread>,
}

#[derive(Default)]
struct PendingReplies {
    next: u64,
    replies: HashMap<u64, SyncSender<Reply>>,
    /// The reason why no more replies arrive, if the connection has failed.
    failure: Option<String>,
}

pub(super) fn failed(kind: FailureKind, message: impl Into<String>) -> Error {
    Error::Distributed {
        kind,
        message: message.into(),
    }
}

impl ProcessConfig {
    /// Formats this process and the number of processes, for messages.
    fn whom(&self) -> String {
        format!("process {} of {}", self.process, self.count)
    }

    /// Connects, and retries until the coordinator listens or the deadline passes.
    fn reach(&self, deadline: Instant) -> Result<TcpStream> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match connect(&self.coordinator, left.max(Duration::from_millis(1))) {
                Ok(stream) => return Ok(stream),
                Err(error) if left < RETRY => {
                    return Err(failed(
                        FailureKind::Timeout,
                        format!(
                            "distributed::initialize: {} could not reach the coordinator at {} \
                             within {:.1?}: {error}\n  help: process 0 must run at that address, \
                             with its port open to the other hosts",
                            self.whom(),
                            self.coordinator,
                            self.join_timeout
                        ),
                    ));
                }
                Err(_) => thread::sleep(RETRY),
            }
        }
    }
}

/// Tries each address of a host.
fn connect(address: &str, timeout: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Connection {
    /// Connects, and waits until all processes have connected.
    pub(super) fn open(config: ProcessConfig) -> Result<Arc<Connection>> {
        let deadline = Instant::now() + config.join_timeout;
        let stream = config.reach(deadline)?;
        let gone = |what: &str, error: &io::Error| {
            failed(
                FailureKind::PeerLost,
                format!(
                    "distributed::initialize: {} lost the coordinator at {} {what}: {}",
                    config.whom(),
                    config.coordinator,
                    describe(error)
                ),
            )
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let hello = Request::Hello {
            magic: Magic,
            process: config.process as u32,
            count: config.count as u32,
            timeout_ms: left.as_millis() as u64,
        };
        let answer = stream
            .set_nodelay(true)
            .and_then(|()| stream.set_write_timeout(Some(config.heartbeat_timeout)))
            .and_then(|()| stream.set_read_timeout(Some(left + GRACE)))
            .and_then(|()| write_frame(&stream, &hello.encode()))
            .and_then(|()| read_frame(&stream, LONGEST))
            .and_then(|reply| Ok(Reply::decode(&reply)?));
        let refuse = |kind, message: &str| {
            let text = format!("distributed::initialize: {}: {message}", config.whom());
            Err(failed(kind, text))
        };
        match answer {
            Ok(Reply::Welcome) => {}
            Ok(Reply::Refused { kind, message }) => return refuse(kind, &message),
            Ok(Reply::Lost { message }) => return refuse(FailureKind::PeerLost, &message),
            Ok(_) => {
                return refuse(
                    FailureKind::Refused,
                    "the coordinator sent an unexpected reply",
                );
            }
            Err(error) => return Err(gone("before all processes had joined", &error)),
        }
        stream
            .set_read_timeout(None)
            .map_err(|e| gone("after all processes had joined", &e))?;
        let connection = Arc::new(Connection {
            config,
            stream,
            writing: Mutex::default(),
            waiting: Mutex::default(),
            heard: Mutex::new(Instant::now()),
            closed: AtomicBool::new(false),
            pulse: OnceLock::new(),
        });
        connection.start()?;
        Ok(connection)
    }

    fn start(self: &Arc<Connection>) -> Result<()> {
        let no_thread = |e: io::Error| failed(FailureKind::Other, format!("a thread: {e}"));
        let reader = self.clone();
        thread::Builder::new()
            .name("ramie distributed".into())
            .spawn(move || reader.read())
            .map_err(no_thread)?;
        let beating = self.clone();
        let pulse = thread::Builder::new()
            .name("ramie heartbeat".into())
            .spawn(move || beating.beat())
            .map_err(no_thread)?;
        let _ = self.pulse.set(pulse.thread().clone());
        Ok(())
    }

    /// Reads replies and passes each to the thread that waits for it.
    fn read(&self) {
        loop {
            let reply = read_frame(&self.stream, LONGEST).and_then(|m| Ok(Reply::decode(&m)?));
            match reply {
                Ok(
                    Reply::Lost { message }
                    | Reply::Failed {
                        kind: FailureKind::PeerLost,
                        message,
                        ..
                    },
                ) => self.fail(message),
                Ok(reply) => {
                    *lock(&self.heard) = Instant::now();
                    let waiter = reply
                        .id()
                        .and_then(|id| lock(&self.waiting).replies.remove(&id));
                    if let Some(waiter) = waiter {
                        // The receiver may have stopped waiting.
                        let _ = waiter.send(reply);
                    }
                }
                Err(error) => {
                    return self.fail(format!(
                        "the coordinator at {}, in process 0, was lost: {}",
                        self.config.coordinator,
                        describe(&error)
                    ));
                }
            }
        }
    }

    /// Sends heartbeats, and checks that the coordinator is alive.
    fn beat(&self) {
        // Several heartbeats fit into the timeout, so that one may be late.
        let pause = (self.config.heartbeat_timeout / 4).min(Duration::from_secs(10));
        while !self.closed.load(Ordering::Acquire) {
            let silence = lock(&self.heard).elapsed();
            if silence > self.config.heartbeat_timeout {
                self.fail(format!(
                    "the coordinator at {}, in process 0, was lost: no heartbeat for {silence:.1?}",
                    self.config.coordinator
                ));
                let _ = self.stream.shutdown(Shutdown::Both);
                return;
            }
            // If sending fails, the reading thread reports it.
            let _ = self.send(&Request::Heartbeat);
            thread::park_timeout(pause);
        }
    }

    fn send(&self, request: &Request) -> io::Result<()> {
        let _turn = lock(&self.writing);
        write_frame(&self.stream, &request.encode())
    }

    /// Marks the connection as failed, and wakes up the waiting threads.
    fn fail(&self, why: String) {
        if self.closed.load(Ordering::Acquire) {
            return;
        }
        if self.config.peer_failure == PeerFailure::Abort {
            // Work that waits for the lost process never ends, and would prevent a regular exit.
            eprintln!(
                "{}: {why}\n  this process exits too, since its computations with the lost process \
                 can never finish; see `PeerFailure`",
                self.config.whom()
            );
            std::process::abort();
        }
        let mut waiting = lock(&self.waiting);
        if waiting.failure.is_none() {
            tracing::error!("{why}");
            waiting.failure = Some(why);
            waiting.replies.clear();
        }
    }

    /// Sends a request, and waits for the reply.
    ///
    /// # Errors
    /// Returns an error if the coordinator or any process is lost. A rejected request is a reply,
    /// not an error.
    pub(super) fn ask(&self, request: impl FnOnce(u64) -> Request) -> Result<Reply> {
        let gone = |why: &Option<String>| {
            let why = why.as_deref().unwrap_or("the program has shut down");
            failed(FailureKind::PeerLost, why)
        };
        let (reply, receiver) = sync_channel(1);
        let (id, request) = {
            let mut waiting = lock(&self.waiting);
            if waiting.failure.is_some() || self.closed.load(Ordering::Acquire) {
                return Err(gone(&waiting.failure));
            }
            let id = waiting.next;
            waiting.next += 1;
            // Before sending, since the reply may arrive before `send` returns.
            waiting.replies.insert(id, reply);
            (id, request(id))
        };
        if let Err(error) = self.send(&request) {
            if error.kind() == io::ErrorKind::InvalidInput {
                lock(&self.waiting).replies.remove(&id);
                return Err(failed(
                    FailureKind::Other,
                    format!("{error}: the limit is {LONGEST} bytes"),
                ));
            }
            // Drops the sender of this request, so that `recv` below returns.
            self.fail(format!(
                "the coordinator at {}, in process 0, was lost: {}",
                self.config.coordinator,
                describe(&error)
            ));
        }
        receiver
            .recv()
            .map_err(|_| gone(&lock(&self.waiting).failure))
    }

    /// Same as [`ask`](Connection::ask), but returns a rejected request as an error.
    pub(super) fn demand(&self, request: impl FnOnce(u64) -> Request) -> Result<Reply> {
        match self.ask(request)? {
            Reply::Failed { kind, message, .. } => Err(failed(kind, message)),
            reply => Ok(reply),
        }
    }

    /// Closes the connection; later read errors are not failures.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        lock(&self.waiting).replies.clear();
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(pulse) = self.pulse.get() {
            pulse.unpark();
        }
    }

    pub(super) fn config(&self) -> &ProcessConfig {
        &self.config
    }
}
