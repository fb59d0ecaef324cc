//! Agreement between the processes that save together.

use super::Process;
use crate::{Error, Result};
use ramie_core::distributed::{self, KeyValueStore};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The processes that save together, as one of them sees them: a chain of points at
/// which all of them meet and learn whether any of them has failed.
///
/// Every process comes to the same points in the same order. A failure is returned to
/// all of them at the same point, so that they leave the chain together.
pub(crate) struct Group {
    process: Process,
    store: Option<KeyValueStore>,
    timeout: Duration,
    prefix: String,
    /// The number of the next point.
    next: Mutex<u64>,
}

/// How often a group of each name was made: its points must not be those of another.
static MADE: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

impl Group {
    /// The group of all processes. Those that work together have the same name, and
    /// are made in the same order in every process.
    pub fn new(name: &str, timeout: Duration) -> Result<Group> {
        let store = match distributed::is_initialized() {
            true => Some(distributed::key_value_store()?),
            false => None,
        };
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let number = made.entry(name.to_owned()).or_default();
        *number += 1;
        Ok(Group {
            process: match store {
                Some(_) => Process::current(),
                None => Process::alone(),
            },
            store,
            timeout,
            prefix: format!("checkpoint/{name}/{number}"),
            next: Mutex::new(0),
        })
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
                let mut verdict = format!("{i}\n").into_bytes();
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

    /// Brings the reports of all processes to the primary one, and its verdict to all.
    fn meet(
        &self,
        store: &KeyValueStore,
        what: &str,
        report: &[u8],
        judge: impl FnOnce(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Result<Vec<u8>> {
        let point = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            *next += 1;
            *next
        };
        let at = |point: u64| format!("{}/{point}", self.prefix);
        let key = |part: &str| format!("{}/{what}/{part}", at(point));
        let (index, count) = (self.process.index(), self.process.count());
        if !self.process.is_primary() {
            store.put(&key(&index.to_string()), report)?;
            return Ok(store.get(&key("verdict"), self.timeout)?);
        }
        let others = (0..count).map(|i| match i {
            i if i == index => Ok(report.to_vec()),
            i => store.get(&key(&i.to_string()), self.timeout),
        });
        let reports = others.collect::<Result<Vec<_>, _>>()?;
        // Who is here has left the point before.
        if point > 1 {
            store.delete(&at(point - 1))?;
        }
        let verdict = judge(reports);
        store.put(&key("verdict"), &verdict)?;
        Ok(verdict)
    }
}
