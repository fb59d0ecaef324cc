//! Synchronization of the processes that save together.

use super::Process;
use crate::{Error, Result};
use ramie_core::distributed::{self, FailureKind, KeyValueStore};
use ramie_core::lock::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

/// Options of multi-process saves: `orbax.checkpoint.options.MultiprocessingOptions`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MultiprocessingOptions {
    /// Index of the process that commits and writes shared files.
    pub primary_host: usize,
    /// Processes that save together, including the primary one. Defaults to all.
    pub active_processes: Option<BTreeSet<usize>>,
    /// Key prefix that separates the barriers of these processes from those of others that save
    /// into the same directory.
    pub barrier_sync_key_prefix: Option<String>,
}

/// Processes that save together, as one of them sees them: a sequence of barriers at which each
/// process learns whether any of them has failed.
///
/// Every process reaches the same barriers in the same order. An error is returned to all of them
/// at the same barrier, so that they stop together.
pub(crate) struct Group {
    process: Process,
    members: Vec<usize>,
    store: Option<KeyValueStore>,
    timeout: Duration,
    prefix: String,
    /// Number of the next barrier.
    next: Mutex<u64>,
}

/// Number of groups created per name; it keeps their barriers apart.
static MADE: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

impl Group {
    /// Creates the group of the processes that call this. Groups that work together have the same
    /// name and are created in the same order in every process.
    ///
    /// # Panics
    /// Panics if this process or the primary one is not among the active processes.
    #[track_caller]
    pub fn new(name: &str, options: &MultiprocessingOptions, timeout: Duration) -> Result<Group> {
        let process = if distributed::is_initialized() {
            Process::current().with_primary(options.primary_host)
        } else {
            Process::alone()
        };
        let members: Vec<usize> = match &options.active_processes {
            Some(active) if process.count() > 1 => active.iter().copied().collect(),
            _ => (0..process.count()).collect(),
        };
        for (what, member) in [
            ("this process", process.index()),
            ("primary_host", process.primary()),
        ] {
            assert!(
                members.contains(&member),
                "MultiprocessingOptions: {what} has index {member}, which is not among the active \
                 processes {members:?}\n  help: add it to `active_processes`; only active \
                 processes save"
            );
        }
        let mut group = Group {
            process,
            members,
            store: None,
            timeout,
            prefix: String::new(),
            next: Mutex::new(0),
        };
        if group.members.len() > 1 {
            group.store = Some(distributed::key_value_store()?);
            let prefix = options.barrier_sync_key_prefix.as_deref();
            let name = format!("{}/{name}", prefix.unwrap_or_default());
            let mut made = lock(&MADE);
            let number = made.entry(name.clone()).or_default();
            *number += 1;
            group.prefix = format!("checkpoint/{name}/{number}");
        }
        Ok(group)
    }

    /// Returns the indices of the other processes.
    pub fn others(&self) -> impl Iterator<Item = usize> {
        let me = self.process.index();
        self.members.iter().copied().filter(move |i| *i != me)
    }

    /// Returns the current process.
    pub fn process(&self) -> Process {
        self.process
    }

    /// Waits until every process reaches this barrier. If any of them passes an error, all of them
    /// return it. `what` names the barrier.
    pub fn agree<T>(&self, what: &str, mine: Result<T>) -> Result<T> {
        let Some(store) = &self.store else {
            return mine;
        };
        let text = mine.as_ref().err().map(ToString::to_string);
        let report = text.map_or(Vec::new(), String::into_bytes);
        let verdict = self.meet(store, what, &report, |reports| {
            // Contains the first error, preceded by the index of its process.
            let failed = reports.iter().position(|report| !report.is_empty());
            failed.map_or(Vec::new(), |i| {
                let mut verdict = format!("{}\n", self.members[i]).into_bytes();
                verdict.extend(&reports[i]);
                verdict
            })
        });
        // This process's own error has more detail than its text.
        let value = mine?;
        let verdict = String::from_utf8_lossy(&verdict?).into_owned();
        match verdict.split_once('\n') {
            None => Ok(value),
            Some((process, message)) => Err(Error::Process {
                process: process.parse().unwrap_or_default(),
                message: message.into(),
            }),
        }
    }

    /// Returns the primary process's value in all processes.
    pub fn broadcast(&self, what: &str, value: &[u8]) -> Result<Vec<u8>> {
        match &self.store {
            None => Ok(value.to_vec()),
            Some(store) => self.meet(store, what, &[], |_| value.to_vec()),
        }
    }

    /// Returns the same processes for a thread that does not take part in the barriers, or `None`
    /// if there is only one process.
    pub fn meeting(&self) -> Option<Meeting> {
        Some(Meeting {
            store: self.store.clone()?,
            prefix: format!("{}/meeting", self.prefix),
            members: self.members.clone(),
            index: self.process.index(),
            timeout: self.timeout,
        })
    }

    /// Sends the reports of all processes to the primary one, and its verdict to all.
    fn meet(
        &self,
        store: &KeyValueStore,
        what: &str,
        report: &[u8],
        judge: impl FnOnce(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Result<Vec<u8>> {
        let point = {
            let mut next = lock(&self.next);
            *next += 1;
            *next
        };
        let at = |point: u64| format!("{}/{point}", self.prefix);
        let key = |part: &str| format!("{}/{what}/{part}", at(point));
        let index = self.process.index();
        if !self.process.is_primary() {
            store.put(&key(&index.to_string()), report)?;
            return Ok(store.get(&key("verdict"), self.timeout)?);
        }
        let of = |i: &usize| match *i {
            i if i == index => Ok(report.to_vec()),
            i => store.get(&key(&i.to_string()), self.timeout),
        };
        let reports = self.members.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        // All processes have left the previous barrier.
        if point > 1 {
            store.delete(&at(point - 1))?;
        }
        let verdict = judge(reports);
        store.put(&key("verdict"), &verdict)?;
        Ok(verdict)
    }
}

/// Messages between processes outside the barriers of a [`Group`].
pub(crate) struct Meeting {
    store: KeyValueStore,
    prefix: String,
    members: Vec<usize>,
    index: usize,
    timeout: Duration,
}

impl Meeting {
    /// Broadcasts a word to all processes.
    pub fn tell(&self, word: &str) -> Result<()> {
        Ok(self
            .store
            .put_overwrite(&format!("{}/{word}", self.prefix), b"")?)
    }

    /// Waits up to `within` for any process to broadcast `word`; returns whether one did.
    pub fn is_told(&self, word: &str, within: Duration) -> Result<bool> {
        match self.store.get(&format!("{}/{word}", self.prefix), within) {
            Ok(_) => Ok(true),
            Err(ramie_core::Error::Distributed {
                kind: FailureKind::Timeout,
                ..
            }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Exchanges one number per process and returns all of them.
    pub fn exchange(&self, what: &str, mine: u64) -> Result<Vec<u64>> {
        let key = |i: usize| format!("{}/{what}/{i}", self.prefix);
        self.store.put(&key(self.index), &mine.to_le_bytes())?;
        let number = |i: &usize| {
            let bytes = self.store.get(&key(*i), self.timeout)?;
            Ok(bytes.try_into().map_or(0, u64::from_le_bytes))
        };
        self.members.iter().map(number).collect()
    }
}
