//! Tests of the coordinator's table.

use super::FailureKind;
use super::protocol::{Reply, Request};
use super::table::{Table, processes};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

struct Test {
    table: Table,
    now: Instant,
}

impl Test {
    fn new(count: usize) -> Test {
        Test {
            table: Table::new(count, 100 * SECOND),
            now: Instant::now(),
        }
    }

    /// Returns a table in which all processes have joined.
    fn started(count: usize) -> Test {
        let mut test = Test::new(count);
        for process in 0..count {
            test.join(process as u32, count as u32).unwrap();
        }
        assert_eq!(test.replies().len(), count);
        test
    }

    fn join(&mut self, process: u32, count: u32) -> Result<usize, String> {
        let from = format!("host{process}");
        self.table.join(process, count, &from, 3 * SECOND, self.now)
    }

    fn ask(&mut self, process: usize, request: Request) -> Vec<(usize, Reply)> {
        self.table.request(process, request, self.now);
        self.replies()
    }

    fn barrier(
        &mut self,
        process: usize,
        id: u64,
        name: &str,
        seconds: u64,
    ) -> Vec<(usize, Reply)> {
        let timeout_ms = seconds * 1000;
        let name = name.into();
        self.ask(
            process,
            Request::Barrier {
                id,
                name,
                timeout_ms,
            },
        )
    }

    fn get(&mut self, process: usize, id: u64, key: &str) -> Vec<(usize, Reply)> {
        let key = key.into();
        self.ask(
            process,
            Request::Get {
                id,
                key,
                timeout_ms: 2000,
            },
        )
    }

    fn put(&mut self, process: usize, id: u64, key: &str, value: &[u8]) -> Vec<(usize, Reply)> {
        let (key, value) = (key.into(), value.into());
        self.ask(
            process,
            Request::Put {
                id,
                key,
                value,
                overwrite: false,
            },
        )
    }

    fn goodbye(&mut self, process: usize) -> Vec<(usize, Reply)> {
        self.ask(
            process,
            Request::Goodbye {
                id: 9,
                timeout_ms: 5000,
            },
        )
    }

    fn after(&mut self, seconds: u64) -> Vec<(usize, Reply)> {
        self.now += Duration::from_secs(seconds);
        self.table.expire(self.now);
        self.replies()
    }

    fn replies(&mut self) -> Vec<(usize, Reply)> {
        self.table.take_replies()
    }
}

/// Returns the process, kind and message of each failure.
fn failures(replies: Vec<(usize, Reply)>) -> Vec<(usize, FailureKind, String)> {
    let failure = |(process, reply)| match reply {
        Reply::Failed { kind, message, .. } | Reply::Refused { kind, message } => {
            (process, kind, message)
        }
        other => panic!("{other:?}"),
    };
    replies.into_iter().map(failure).collect()
}

#[test]
fn processes_are_welcome_when_all_are_there() {
    let mut test = Test::new(3);
    test.join(2, 3).unwrap();
    test.join(0, 3).unwrap();
    assert_eq!(test.replies(), []);
    test.join(1, 3).unwrap();
    let welcome: Vec<_> = (0..3).map(|p| (p, Reply::Welcome)).collect();
    assert_eq!(test.replies(), welcome);
}

#[test]
fn wrong_numbers_are_told_apart() {
    let mut test = Test::new(2);
    test.join(0, 2).unwrap();
    let error = test.join(1, 3).unwrap_err();
    assert!(
        error.contains("expects 3 processes") && error.contains("expects 2"),
        "{error}"
    );
    let error = test.join(2, 2).unwrap_err();
    assert!(
        error.contains("2 is not less than the number of processes, 2"),
        "{error}"
    );
    let error = test.join(0, 2).unwrap_err();
    assert!(
        error.contains("process id 0 is already used by a process at host0"),
        "{error}"
    );
    test.join(1, 2).unwrap();
    let error = test.join(1, 2).unwrap_err();
    assert!(error.contains("used by a process at host1"), "{error}");
}

#[test]
fn missing_processes_are_named_and_may_come_again() {
    let mut test = Test::new(4);
    test.join(1, 4).unwrap();
    assert_eq!(test.after(2), []);
    let late = failures(test.after(1));
    let expected = "processes 0, 2 and 3 of 4 did not join within 3.0s";
    assert_eq!(late, [(1, FailureKind::Timeout, expected.into())]);
    // A process that disconnects before the start can be replaced.
    test.join(2, 4).unwrap();
    test.table.lost(2, "closed");
    for process in [0, 1, 3, 2] {
        test.join(process, 4).unwrap();
    }
    assert_eq!(test.replies().len(), 4);
}

#[test]
fn values_are_waited_for() {
    let mut test = Test::started(3);
    assert_eq!(test.get(1, 5, "a"), []);
    assert_eq!(test.get(2, 6, "a"), []);
    assert_eq!(test.get(2, 7, "b"), []);
    let value = |p, id| {
        (
            p,
            Reply::Value {
                id,
                value: vec![1, 2],
            },
        )
    };
    let done = (0, Reply::Done { id: 1 });
    assert_eq!(
        test.put(0, 1, "a", &[1, 2]),
        [value(1, 5), value(2, 6), done]
    );
    assert_eq!(test.get(0, 2, "a"), [value(0, 2)]);
    let again = failures(test.put(1, 8, "a", &[]));
    assert_eq!(again[0].1, FailureKind::AlreadyExists);
    let late = failures(test.after(2));
    let words = "no process has set the key `b` within 2.0s";
    assert_eq!(late, [(2, FailureKind::Timeout, words.into())]);
}

#[test]
fn a_key_is_removed_with_all_below_it() {
    let mut test = Test::started(1);
    for key in ["a", "a/b", "a/b/c", "ab"] {
        test.put(0, 0, key, &[]);
    }
    test.ask(
        0,
        Request::Delete {
            id: 1,
            key: "a".into(),
        },
    );
    for (key, there) in [("a", false), ("a/b", false), ("a/b/c", false), ("ab", true)] {
        let reply = test.ask(
            0,
            Request::TryGet {
                id: 2,
                key: key.into(),
            },
        );
        let absent = matches!(reply[0].1, Reply::Absent { .. });
        assert_eq!(absent, !there, "{key}");
    }
}

#[test]
fn a_barrier_opens_for_all_and_can_be_used_again() {
    let mut test = Test::started(3);
    for round in 0..3 {
        assert_eq!(test.barrier(2, round, "x", 5), []);
        assert_eq!(test.barrier(0, round, "x", 5), []);
        let open = test.barrier(1, round, "x", 5);
        let done: Vec<_> = [2, 0, 1].map(|p| (p, Reply::Done { id: round })).into();
        assert_eq!(open, done);
    }
}

#[test]
fn a_barrier_fails_for_all_that_are_there_and_says_where_the_others_are() {
    let mut test = Test::started(5);
    test.barrier(0, 1, "epoch", 5);
    test.after(1);
    test.barrier(3, 1, "epoch", 60);
    test.barrier(1, 1, "save", 60);
    test.barrier(2, 1, "save", 60);
    let late = failures(test.after(4));
    let words = |time| {
        format!(
            "barrier `epoch`: processes 1, 2 and 4 of 5 did not arrive within {time}; \
             processes 1 and 2 are waiting at the barrier `save`"
        )
    };
    let expected = [
        (0, FailureKind::Timeout, words("5.0s")),
        (3, FailureKind::Timeout, words("4.0s")),
    ];
    assert_eq!(late, expected);
    let twice = failures(test.barrier(1, 2, "save", 5));
    assert!(twice[0].2.contains("two threads of process 1"), "{twice:?}");
}

#[test]
fn when_a_process_dies_all_that_wait_are_told() {
    let mut test = Test::started(3);
    test.barrier(0, 1, "x", 60);
    test.get(1, 2, "k");
    test.table.lost(2, "its connection was closed");
    let why = "process 2 of 3 was lost: its connection was closed";
    let lost = |process| {
        (
            process,
            Reply::Lost {
                message: why.into(),
            },
        )
    };
    assert_eq!(
        test.replies(),
        [lost(1), lost(0)],
        "the coordinator's process last"
    );
    let again = failures(test.barrier(0, 3, "x", 60));
    assert_eq!(again, [(0, FailureKind::PeerLost, why.into())]);
    assert_eq!(test.ask(1, Request::Heartbeat), [(1, Reply::Alive)]);
    assert_eq!(
        test.goodbye(1),
        [(1, Reply::Done { id: 9 })],
        "it may leave"
    );
}

#[test]
fn a_silent_process_is_taken_for_dead() {
    let mut test = Test::started(2);
    for _ in 0..3 {
        assert_eq!(test.after(90), []);
        test.ask(0, Request::Heartbeat);
        test.ask(1, Request::Heartbeat);
    }
    test.after(90);
    test.ask(0, Request::Heartbeat);
    let told = test.after(11);
    let [(0, Reply::Lost { message })] = &told[..] else {
        panic!("{told:?}");
    };
    assert!(message.contains("process 1 of 2 was lost: no heartbeat for 101.0s"));
}

#[test]
fn processes_leave_together() {
    let mut test = Test::started(3);
    assert_eq!(test.goodbye(1), []);
    assert_eq!(test.goodbye(0), []);
    assert_eq!(test.goodbye(2).len(), 3);
    for process in 0..3 {
        test.table.lost(process, "closed");
    }
    assert_eq!(test.replies(), [], "nobody has died");
}

#[test]
fn a_process_that_does_not_leave_is_named() {
    let mut test = Test::started(2);
    test.goodbye(0);
    let late = failures(test.after(5));
    let words = "shutdown: process 1 of 2 did not arrive within 5.0s";
    assert_eq!(late, [(0, FailureKind::Timeout, words.into())]);
    let refused = failures(test.barrier(1, 4, "x", 5));
    assert_eq!(refused[0].2, "barrier `x`: process 0 called shutdown");
}

#[test]
fn the_clock_looks_at_the_next_deadline() {
    let mut test = Test::new(2);
    assert_eq!(test.table.next_deadline(), None);
    test.join(0, 2).unwrap();
    assert_eq!(test.table.next_deadline(), Some(test.now + 3 * SECOND));
    test.join(1, 2).unwrap();
    assert_eq!(test.table.next_deadline(), Some(test.now + 100 * SECOND));
    test.get(0, 1, "k");
    assert_eq!(test.table.next_deadline(), Some(test.now + 2 * SECOND));
    test.barrier(1, 1, "b", 1);
    assert_eq!(test.table.next_deadline(), Some(test.now + SECOND));
    let far = Request::Barrier {
        id: 3,
        name: "far".into(),
        timeout_ms: u64::MAX,
    };
    assert_eq!(test.ask(0, far), []);
}

#[test]
fn long_lists_of_processes_are_cut() {
    assert_eq!(processes(&[4]), "process 4");
    assert_eq!(processes(&[0, 2, 3]), "processes 0, 2 and 3");
    let many = processes(&(0..100).collect::<Vec<_>>());
    assert!(many.ends_with("14, 15 and 84 more"), "{many}");
}
