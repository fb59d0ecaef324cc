//! The coordinator's state: processes, values, and waiting requests. It performs no input or
//! output: it receives events and returns replies.

use super::FailureKind;
use super::protocol::{Reply, Request};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The coordinator's state.
pub(super) struct Table {
    members: Vec<Member>,
    /// Whether all processes have connected.
    started: bool,
    heartbeat_timeout: Duration,
    values: BTreeMap<String, Vec<u8>>,
    getters: Vec<Waiter>,
    barriers: BTreeMap<String, Vec<Waiter>>,
    /// The failure that ended the program, if any.
    failure: Option<String>,
    /// Replies to send, each with its process.
    outbox: Vec<(usize, Reply)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Member {
    /// Has not connected yet.
    Awaited,
    /// Has joined, and waits for the others.
    Joined {
        from: String,
        since: Instant,
        deadline: Instant,
    },
    /// Takes part in the program.
    Here { from: String, heard: Instant },
    /// Has shut down.
    Left,
    /// Has failed.
    Lost,
}

/// A request whose reply is pending.
struct Waiter {
    process: usize,
    id: u64,
    /// The key; empty for barriers, which are identified by their name.
    key: String,
    since: Instant,
    deadline: Instant,
}

/// Name of the barrier at shutdown.
const GOODBYE: &str = "\0goodbye";

impl Table {
    pub(super) fn new(count: usize, heartbeat_timeout: Duration) -> Table {
        Table {
            members: vec![Member::Awaited; count],
            started: false,
            heartbeat_timeout,
            values: BTreeMap::new(),
            getters: Vec::new(),
            barriers: BTreeMap::new(),
            failure: None,
            outbox: Vec::new(),
        }
    }

    /// Returns the replies since the last call.
    pub(super) fn take_replies(&mut self) -> Vec<(usize, Reply)> {
        std::mem::take(&mut self.outbox)
    }

    /// Registers a process that connects.
    ///
    /// # Errors
    /// Returns an error if the process is rejected.
    pub(super) fn join(
        &mut self,
        process: u32,
        count: u32,
        from: &str,
        timeout: Duration,
        now: Instant,
    ) -> Result<usize, String> {
        let known = self.members.len();
        if count as usize != known {
            return Err(format!(
                "process {process} expects {count} processes, but process 0 expects {known}\n  help: \
                 pass the same `num_processes` in all processes"
            ));
        }
        let process = process as usize;
        if process >= known {
            return Err(format!(
                "process id {process} is not less than the number of processes, {known}"
            ));
        }
        match &self.members[process] {
            Member::Awaited => {}
            Member::Joined { from, .. } | Member::Here { from, .. } => {
                return Err(format!(
                    "process id {process} is already used by a process at {from}\n  help: pass a \
                     different `process_id` in each process, from 0 to {}",
                    known - 1
                ));
            }
            Member::Left | Member::Lost => {
                return Err(format!(
                    "process {process} has already left; it cannot join the running program \
                     again\n  help: restart all processes"
                ));
            }
        }
        self.members[process] = Member::Joined {
            from: from.into(),
            since: now,
            deadline: now + timeout.min(Duration::from_millis(FAR_MS)),
        };
        if !self.members.contains(&Member::Awaited) {
            self.started = true;
            for (process, member) in self.members.iter_mut().enumerate() {
                if let Member::Joined { from, .. } = member {
                    let from = std::mem::take(from);
                    *member = Member::Here { from, heard: now };
                    self.outbox.push((process, Reply::Welcome));
                }
            }
        }
        Ok(process)
    }

    /// Handles a request of a process.
    pub(super) fn request(&mut self, process: usize, request: Request, now: Instant) {
        self.heard(process, now);
        let reply = match self.failure.clone() {
            Some(why) => self.after_failure(process, request, why),
            None => self.reply(process, request, now),
        };
        self.outbox.extend(reply.map(|reply| (process, reply)));
    }

    /// Handles a request after another process has failed.
    fn after_failure(&mut self, process: usize, request: Request, why: String) -> Option<Reply> {
        match request {
            Request::Heartbeat => Some(Reply::Alive),
            Request::Hello { .. } => self.second_hello(process),
            // Shutting down succeeds although another process has failed.
            Request::Goodbye { id, .. } => {
                self.members[process] = Member::Left;
                Some(Reply::Done { id })
            }
            Request::Put { id, .. }
            | Request::Get { id, .. }
            | Request::TryGet { id, .. }
            | Request::Delete { id, .. }
            | Request::Barrier { id, .. } => Some(Reply::Failed {
                id,
                kind: FailureKind::PeerLost,
                message: why,
            }),
        }
    }

    /// Handles a request while the program runs; returns the reply if it is not pending.
    fn reply(&mut self, process: usize, request: Request, now: Instant) -> Option<Reply> {
        let after = |ms: u64| now + Duration::from_millis(ms.min(FAR_MS));
        match request {
            Request::Heartbeat => Some(Reply::Alive),
            Request::Hello { .. } => self.second_hello(process),
            Request::Put {
                id,
                key,
                value,
                overwrite,
            } => Some(self.put(id, key, value, overwrite)),
            Request::TryGet { id, key } => {
                Some(self.value(id, &key).unwrap_or(Reply::Absent { id }))
            }
            Request::Delete { id, key } => {
                // Without the slash `ab` would be below `a`.
                let below = format!("{key}/");
                self.values
                    .retain(|k, _| *k != key && !k.starts_with(&below));
                Some(Reply::Done { id })
            }
            Request::Get {
                id,
                key,
                timeout_ms,
            } => {
                let value = self.value(id, &key);
                if value.is_none() {
                    self.getters.push(Waiter {
                        process,
                        id,
                        key,
                        since: now,
                        deadline: after(timeout_ms),
                    });
                }
                value
            }
            Request::Barrier {
                id,
                name,
                timeout_ms,
            } => self.arrive(process, id, name, now, after(timeout_ms)),
            Request::Goodbye { id, timeout_ms } => {
                self.arrive(process, id, GOODBYE.into(), now, after(timeout_ms))
            }
        }
    }

    fn second_hello(&mut self, process: usize) -> Option<Reply> {
        self.lost(process, "it sent its first message twice");
        None
    }

    /// Returns the reply with the value of a key, if it has one.
    fn value(&self, id: u64, key: &str) -> Option<Reply> {
        let value = self.values.get(key)?.clone();
        Some(Reply::Value { id, value })
    }

    fn heard(&mut self, process: usize, now: Instant) {
        if let Member::Here { heard, .. } = &mut self.members[process] {
            *heard = now;
        }
    }

    fn put(&mut self, id: u64, key: String, value: Vec<u8>, overwrite: bool) -> Reply {
        if !overwrite && self.values.contains_key(&key) {
            return Reply::Failed {
                id,
                kind: FailureKind::AlreadyExists,
                message: format!("the key `{}` already has a value", plain(&key)),
            };
        }
        // Processes wait for a key only until its first value.
        let (waiting, others) = std::mem::take(&mut self.getters)
            .into_iter()
            .partition(|w: &Waiter| w.key == key);
        self.getters = others;
        for waiter in waiting {
            let reply = Reply::Value {
                id: waiter.id,
                value: value.clone(),
            };
            self.outbox.push((waiter.process, reply));
        }
        self.values.insert(key, value);
        Reply::Done { id }
    }

    /// Adds a process to a barrier; returns the reply if the process cannot wait at it.
    fn arrive(
        &mut self,
        process: usize,
        id: u64,
        name: String,
        now: Instant,
        deadline: Instant,
    ) -> Option<Reply> {
        // A process that has left never arrives, so waiting for it would end in a timeout.
        let refusal = if self.members.contains(&Member::Left) {
            let left = self.which(|m| *m == Member::Left);
            Some(format!("{}: {left} called shutdown", title(&name)))
        } else {
            let at = self.barriers.get(&name);
            // The barrier counts requests, so a process must not be counted twice.
            let twice = at.is_some_and(|at| at.iter().any(|w| w.process == process));
            twice.then(|| {
                format!(
                    "{}: two threads of process {process} wait at it",
                    title(&name)
                )
            })
        };
        if let Some(message) = refusal {
            let kind = FailureKind::Refused;
            return Some(Reply::Failed { id, kind, message });
        }
        let arrived = self.barriers.entry(name.clone()).or_default();
        arrived.push(Waiter {
            process,
            id,
            key: String::new(),
            since: now,
            deadline,
        });
        if arrived.len() == self.members.len() {
            let all = self.barriers.remove(&name).unwrap_or_default();
            for waiter in all {
                if name == GOODBYE {
                    self.members[waiter.process] = Member::Left;
                }
                let done = Reply::Done { id: waiter.id };
                self.outbox.push((waiter.process, done));
            }
        }
        None
    }

    /// Handles the end of a process's connection.
    pub(super) fn lost(&mut self, process: usize, why: &str) {
        match self.members[process] {
            // It disconnected before the program started; another process may replace it.
            Member::Joined { .. } if !self.started => self.members[process] = Member::Awaited,
            Member::Joined { .. } | Member::Here { .. } => {
                self.members[process] = Member::Lost;
                let count = self.members.len();
                self.fail(&format!("process {process} of {count} was lost: {why}"));
            }
            Member::Awaited | Member::Left | Member::Lost => {}
        }
    }

    /// Ends the program for all processes: pending and later requests fail.
    pub(super) fn fail(&mut self, why: &str) {
        if self.failure.is_some() {
            return;
        }
        self.failure = Some(why.into());
        // `Lost` below answers all pending requests.
        self.barriers.clear();
        self.getters.clear();
        // Process 0 is last: it may abort immediately, and the coordinator with it.
        for (process, member) in self.members.iter().enumerate().rev() {
            if matches!(member, Member::Joined { .. } | Member::Here { .. }) {
                let message = why.into();
                self.outbox.push((process, Reply::Lost { message }));
            }
        }
    }

    /// Answers requests whose deadline has passed, and detects silent processes.
    pub(super) fn expire(&mut self, now: Instant) {
        self.expire_joins(now);
        let (late, others) = std::mem::take(&mut self.getters)
            .into_iter()
            .partition(|w: &Waiter| w.deadline <= now);
        self.getters = others;
        for waiter in late {
            let time = now - waiter.since;
            self.time_out(
                waiter.process,
                waiter.id,
                format!(
                    "no process has set the key `{}` within {time:.1?}",
                    plain(&waiter.key)
                ),
            );
        }
        self.expire_barriers(now);
        for process in 0..self.members.len() {
            if let Member::Here { heard, .. } = &self.members[process] {
                let silence = now.saturating_duration_since(*heard);
                if silence > self.heartbeat_timeout {
                    self.lost(process, &format!("no heartbeat for {silence:.1?}"));
                }
            }
        }
    }

    fn time_out(&mut self, process: usize, id: u64, message: String) {
        let kind = FailureKind::Timeout;
        self.outbox
            .push((process, Reply::Failed { id, kind, message }));
    }

    fn expire_joins(&mut self, now: Instant) {
        for process in 0..self.members.len() {
            let Member::Joined {
                since, deadline, ..
            } = self.members[process]
            else {
                continue;
            };
            if deadline <= now {
                let missing = self.which(|m| *m == Member::Awaited);
                let message = format!(
                    "{missing} of {} did not join within {:.1?}",
                    self.members.len(),
                    now - since
                );
                let kind = FailureKind::Timeout;
                self.outbox
                    .push((process, Reply::Refused { kind, message }));
                // It may join again.
                self.members[process] = Member::Awaited;
            }
        }
    }

    /// Fails barriers with a request whose deadline has passed, for all processes at the barrier,
    /// so that they agree on the outcome.
    fn expire_barriers(&mut self, now: Instant) {
        let late: Vec<String> = self
            .barriers
            .iter()
            .filter(|(_, at)| at.iter().any(|w| w.deadline <= now))
            .map(|(name, _)| name.clone())
            .collect();
        for name in late {
            // The barrier is removed first, so that `elsewhere` reports only others.
            let Some(at) = self.barriers.remove(&name) else {
                continue;
            };
            let is_at = |p: usize| at.iter().any(|w| w.process == p);
            let missing: Vec<usize> = (0..self.members.len()).filter(|p| !is_at(*p)).collect();
            let elsewhere = self.elsewhere(&missing);
            for waiter in &at {
                let message = format!(
                    "{}: {} of {} did not arrive within {:.1?}{elsewhere}",
                    title(&name),
                    processes(&missing),
                    self.members.len(),
                    now - waiter.since
                );
                // A process whose shutdown timed out leaves without the others.
                if name == GOODBYE {
                    self.members[waiter.process] = Member::Left;
                }
                self.time_out(waiter.process, waiter.id, message);
            }
        }
    }

    /// Describes the barriers at which the missing processes wait instead.
    fn elsewhere(&self, missing: &[usize]) -> String {
        let mut text = String::new();
        for (name, at) in &self.barriers {
            let here: Vec<usize> = at.iter().map(|w| w.process).collect();
            let here: Vec<usize> = missing
                .iter()
                .copied()
                .filter(|p| here.contains(p))
                .collect();
            if !here.is_empty() {
                let are = if here.len() == 1 { "is" } else { "are" };
                text += &format!(
                    "; {} {are} waiting at the {}",
                    processes(&here),
                    title(name)
                );
            }
        }
        text
    }

    /// Formats the processes that satisfy a condition.
    fn which(&self, is: impl Fn(&Member) -> bool) -> String {
        let all = self.members.iter().enumerate();
        let these: Vec<usize> = all.filter(|(_, m)| is(m)).map(|(p, _)| p).collect();
        processes(&these)
    }

    /// Returns when [`expire`](Table::expire) must be called next.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let waiters = self.getters.iter().chain(self.barriers.values().flatten());
        let members = self.members.iter().filter_map(|m| match m {
            Member::Joined { deadline, .. } => Some(*deadline),
            Member::Here { heard, .. } => Some(*heard + self.heartbeat_timeout),
            _ => None,
        });
        waiters.map(|w| w.deadline).chain(members).min()
    }
}

/// The longest timeout: one year. Adding a longer one to a time could overflow.
const FAR_MS: u64 = 365 * 24 * 3600 * 1000;

/// Returns a key or name without the prefix of the table's user; see `KeyValueStore`.
fn plain(key: &str) -> &str {
    key.split_once('/').map_or(key, |(_, name)| name)
}

fn title(name: &str) -> String {
    match name {
        GOODBYE => "shutdown".into(),
        name => format!("barrier `{}`", plain(name)),
    }
}

/// Formats a list such as `process 3` or `processes 1 and 2`; truncates long lists.
pub(super) fn processes(ids: &[usize]) -> String {
    const SHOWN: usize = 16;
    let word = |ids: &[usize]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    match ids {
        [] => "no process".into(),
        [one] => format!("process {one}"),
        many if many.len() > SHOWN => {
            let shown = word(&many[..SHOWN]).join(", ");
            format!("processes {shown} and {} more", many.len() - SHOWN)
        }
        [first @ .., last] => format!("processes {} and {last}", word(first).join(", ")),
    }
}
