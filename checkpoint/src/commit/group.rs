//! Agreement between the processes that save together.

use super::Process;
use crate::{Error, Result};
use ramie_core::distributed::{self, FailureKind, KeyValueStore};
use ramie_core::lock::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

/// How the processes that save together find each other:
/// `orbax.checkpoint.options.MultiprocessingOptions`.
#[derive(Clone, Debug, Default)]
pub struct MultiprocessingOptions {
    /// The process that commits, and writes what there is once.
    pub primary_host: usize,
    /// The processes that save together, the primary one among them; all, if nothing
    /// is said.
    pub active_processes: Option<BTreeSet<usize>>,
    /// A name that sets the meetings of these processes apart from those of others
    /// that save into the same folder.
    pub barrier_sync_key_prefix: Option<String>,
}

/// The processes that save together, as one of them sees them: a chain of points at
/// which all of them meet and learn whether any of them has failed.
///
/// Every process comes to the same points in the same order. A failure is returned to
/// all of them at the same point, so that they leave the chain together.
pub(crate) struct Group {
    process: Process,
    members: Vec<usize>,
    store: Option<KeyValueStore>,
    timeout: Duration,
    prefix: String,
    /// The number of the next point.
    next: Mutex<u64>,
}

/// How often a group of each name was made: its points must not be those of another.
static MADE: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

impl Group {
    /// The group of the processes that call this. Those that work together have the
    /// same name, and are made in the same order in every process.
    ///
    /// # Panics
    /// If this process or the primary one is not among those that are said to be active.
    #[track_caller]
    pub fn new(name: &str, options: &MultiprocessingOptions, timeout: Duration) -> Result<Group> {
        let process = match distributed::is_initialized() {
            true => Process::current().with_primary(options.primary_host),
            false => Process::alone(),
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
                "MultiprocessingOptions: {what}, number {member}, is not among the active processes \
                 {members:?}\n  help: only active processes save, and the primary one is one of them"
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

    /// The other processes.
    pub fn others(&self) -> impl Iterator<Item = usize> {
        let me = self.process.index();
        self.members.iter().copied().filter(move |i| *i != me)
    }

    /// Which process this is.
    pub fn process(&self) -> Process {
        self.process
    }

    /// Waits until every process is here. If any of them brings a failure, all get
    /// it; what `what` names is then what they were about.
    pub fn agree<T>(&self, what: &str, mine: Result<T>) -> Result<T> {
        let Some(store) = &self.store else {
            return mine;
        };
        let text = mine.as_ref().err().map(ToString::to_string);
        let report = text.map_or(Vec::new(), String::into_bytes);
        let verdict = self.meet(store, what, &report, |reports| {
            // The first failure, with the number of its process in front.
            let failed = reports.iter().position(|report| !report.is_empty());
            failed.map_or(Vec::new(), |i| {
                let mut verdict = format!("{}\n", self.members[i]).into_bytes();
                verdict.extend(&reports[i]);
                verdict
            })
        });
        // One's own failure says more than what is left of it here.
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

    /// What the primary process says, in all of them.
    pub fn broadcast(&self, what: &str, value: &[u8]) -> Result<Vec<u8>> {
        match &self.store {
            None => Ok(value.to_vec()),
            Some(store) => self.meet(store, what, &[], |_| value.to_vec()),
        }
    }

    /// The same processes for a thread that does not come to the points of the chain;
    /// nothing, if there is one process.
    pub fn meeting(&self) -> Option<Meeting> {
        Some(Meeting {
            store: self.store.clone()?,
            prefix: format!("{}/meeting", self.prefix),
            members: self.members.clone(),
            index: self.process.index(),
            timeout: self.timeout,
        })
    }

    /// Brings the reports of all processes to the primary one, and its verdict to all.
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
        // Who is here has left the point before.
        if point > 1 {
            store.delete(&at(point - 1))?;
        }
        let verdict = judge(reports);
        store.put(&key("verdict"), &verdict)?;
        Ok(verdict)
    }
}

/// Words between processes outside of the chain of a [`Group`].
pub(crate) struct Meeting {
    store: KeyValueStore,
    prefix: String,
    members: Vec<usize>,
    index: usize,
    timeout: Duration,
}

impl Meeting {
    /// Says a word to all.
    pub fn tell(&self, word: &str) -> Result<()> {
        Ok(self
            .store
            .put_overwrite(&format!("{}/{word}", self.prefix), b"")?)
    }

    /// Whether somebody has said a word, or says it within a time.
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

    /// A number of each process.
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
