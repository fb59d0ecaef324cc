//! The coordinator: a thread of process 0 to which all processes connect.

use super::FailureKind;
use super::protocol::{LONGEST, LONGEST_HELLO, Reply, Request, read_frame, write_frame};
use super::table::Table;
use crate::base::lock::lock;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum time for a new connection to send its first message.
const INTRODUCTION: Duration = Duration::from_secs(30);
/// Maximum time between two checks of deadlines.
const LOOK: Duration = Duration::from_secs(1);

/// A running coordinator, which stops when this is dropped.
pub(super) struct Coordinator {
    shared: Arc<Shared>,
    address: SocketAddr,
}

struct Shared {
    table: Mutex<Table>,
    changed: Condvar,
    /// The connection of each process that has joined.
    connections: Mutex<Vec<Option<Arc<TcpStream>>>>,
    /// Locked while a message is written, so that messages do not interleave.
    writing: Vec<Mutex<()>>,
    heartbeat_timeout: Duration,
    ended: AtomicBool,
}

impl Coordinator {
    /// Starts the coordinator's threads.
    pub(super) fn start(
        listener: TcpListener,
        count: usize,
        heartbeat_timeout: Duration,
    ) -> io::Result<Coordinator> {
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            table: Mutex::new(Table::new(count, heartbeat_timeout)),
            changed: Condvar::new(),
            connections: Mutex::new(vec![None; count]),
            writing: (0..count).map(|_| Mutex::new(())).collect(),
            heartbeat_timeout,
            ended: AtomicBool::new(false),
        });
        let (accepting, timing) = (shared.clone(), shared.clone());
        spawn("ramie coordinator", move || accepting.accept(&listener))?;
        spawn("ramie coordinator's clock", move || timing.keep_time())?;
        tracing::info!(%address, processes = count, "coordinator listens");
        Ok(Coordinator { shared, address })
    }

    /// Fails all waiting requests with this reason.
    pub(super) fn fail(&self, why: &str) {
        self.shared.update(|table| table.fail(why));
    }

    /// Waits until all processes have closed their connections: until then, some may not have
    /// read the coordinator's last message.
    pub(super) fn wait_until_alone(&self, longest: Duration) {
        let connected = |_: &mut Table| lock(&self.shared.connections).iter().any(Option::is_some);
        let table = lock(&self.shared.table);
        drop(
            self.shared
                .changed
                .wait_timeout_while(table, longest, connected),
        );
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        self.shared.changed.notify_all();
        for connection in lock(&self.shared.connections).iter().flatten() {
            let _ = connection.shutdown(Shutdown::Both);
        }
        // Connects once to wake up the listening thread.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.into()).spawn(work)?;
    Ok(())
}

impl Shared {
    /// Changes the table, and sends the resulting replies.
    fn update<R>(&self, change: impl FnOnce(&mut Table) -> R) -> R {
        let (result, replies) = {
            let mut table = lock(&self.table);
            (change(&mut table), table.take_replies())
        };
        self.changed.notify_all();
        for (process, reply) in replies {
            let connection = lock(&self.connections)[process].clone();
            if let Some(connection) = connection {
                self.send(process, &connection, &reply);
            }
        }
        result
    }

    fn send(&self, process: usize, connection: &TcpStream, reply: &Reply) {
        let _turn = lock(&self.writing[process]);
        if write_frame(connection, &reply.encode()).is_err() {
            // The thread that reads from the connection notices, and reports the loss.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    fn accept(self: Arc<Shared>, listener: &TcpListener) {
        loop {
            let accepted = listener.accept();
            if self.ended.load(Ordering::Acquire) {
                return;
            }
            match accepted {
                Ok((stream, from)) => {
                    let shared = self.clone();
                    let served = spawn("ramie coordinator's peer", move || {
                        shared.serve(stream, from);
                    });
                    if let Err(error) = served {
                        tracing::error!(%error, "coordinator cannot serve a process");
                    }
                }
                // The process has no free file handles, or the connection was closed immediately.
                Err(error) => {
                    tracing::warn!(%error, "coordinator cannot accept a connection");
                    thread::sleep(Duration::from_millis(100));
                }
            }
        }
    }

    /// Serves one process until its connection ends.
    fn serve(&self, stream: TcpStream, from: SocketAddr) {
        let stream = Arc::new(stream);
        let process = match self.introduce(&stream, from) {
            Ok(Some(process)) => process,
            Ok(None) => return,
            Err(error) => {
                tracing::debug!(%from, %error, "rejected a connection that is not from a process \
                                                of the program");
                return;
            }
        };
        let why = loop {
            let request = read_frame(&*stream, LONGEST)
                .and_then(|message| Request::decode(&message).map_err(io::Error::from));
            match request {
                Ok(request) => self.update(|table| table.request(process, request, Instant::now())),
                Err(error) => break describe(&error),
            }
        };
        if self.ended.load(Ordering::Acquire) {
            return;
        }
        let mut connections = lock(&self.connections);
        let current = connections[process]
            .as_ref()
            .is_some_and(|c| Arc::ptr_eq(c, &stream));
        if current {
            connections[process] = None;
            drop(connections);
            self.update(|table| table.lost(process, &why));
        }
    }

    /// Reads the first message of a connection, and accepts or rejects the process.
    fn introduce(&self, stream: &Arc<TcpStream>, from: SocketAddr) -> io::Result<Option<usize>> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(self.heartbeat_timeout))?;
        stream.set_read_timeout(Some(INTRODUCTION))?;
        let hello = Request::decode(&read_frame(&**stream, LONGEST_HELLO)?)?;
        stream.set_read_timeout(None)?;
        let Request::Hello {
            process,
            count,
            timeout_ms,
            ..
        } = hello
        else {
            return Err(super::protocol::Malformed.into());
        };
        let timeout = Duration::from_millis(timeout_ms);
        let joined = self.update(|table| {
            let joined = table.join(process, count, &from.to_string(), timeout, Instant::now());
            // Must happen before the table's replies are sent, since one may be for this process.
            if let Ok(process) = joined {
                lock(&self.connections)[process] = Some(stream.clone());
            }
            joined
        });
        match joined {
            Ok(process) => Ok(Some(process)),
            Err(message) => {
                let kind = FailureKind::Refused;
                let refusal = Reply::Refused { kind, message };
                write_frame(&**stream, &refusal.encode())?;
                Ok(None)
            }
        }
    }

    fn keep_time(&self) {
        while !self.ended.load(Ordering::Acquire) {
            self.update(|table| table.expire(Instant::now()));
            let table = lock(&self.table);
            let now = Instant::now();
            let pause = table.next_deadline().map_or(LOOK, |at| {
                at.saturating_duration_since(now)
                    .clamp(Duration::from_millis(1), LOOK)
            });
            drop(self.changed.wait_timeout(table, pause));
        }
    }
}

/// Describes the end of a connection.
pub(super) fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => {
            "its connection was closed; it exited without calling `shutdown`, or was killed".into()
        }
        _ => format!("its connection failed: {error}"),
    }
}
