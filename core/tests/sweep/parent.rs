//! The process that hands cases to children and notices when one dies.

use super::report::Outcome;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long a case may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// The variable that makes the test binary a child.
pub const CHILD: &str = "RAMIE_SWEEP_CHILD";

/// A child, and what it writes.
pub struct Worker {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Worker {
    /// Starts this test binary as a child. Its programs are compiled at the
    /// lowest level, since many are compiled and each runs once.
    pub fn start() -> Worker {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args([
                "--exact",
                "every_operation_computes_or_refuses",
                "--nocapture",
            ])
            .env(CHILD, "1")
            .env("XLA_FLAGS", "--xla_backend_optimization_level=0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let errors = BufReader::new(child.stderr.take().expect("a pipe"));
        let (send, lines) = channel();
        let notes = send.clone();
        std::thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            lines.for_each(|line| drop(send.send(line)));
        });
        std::thread::spawn(move || {
            let lines = errors.lines().map_while(Result::ok);
            lines.for_each(|line| drop(notes.send(format!("stderr {line}"))));
        });
        Worker {
            child,
            input,
            lines,
        }
    }

    /// Runs a case; a worker whose child has died is replaced.
    pub fn run(&mut self, index: usize) -> Outcome {
        if writeln!(self.input, "{index}").is_err() {
            return self.replace("the pipe broke before the case began", String::new());
        }
        let mut errors = String::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    if let Some(outcome) = line.strip_prefix("SWEEP ") {
                        return Outcome::decode(outcome);
                    }
                    if let Some(error) = line.strip_prefix("stderr ") {
                        errors.push_str("\n  ");
                        errors.push_str(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return self.replace("it hangs", errors),
                Err(RecvTimeoutError::Disconnected) => return self.replace("it died", errors),
            }
        }
    }

    fn replace(&mut self, what: &str, errors: String) -> Outcome {
        let _ = self.child.kill();
        let status = self.child.wait().expect("a child that ended");
        *self = Worker::start();
        let signal = status
            .signal()
            .map_or(String::new(), |s| format!(", signal {s}"));
        Outcome::Died(format!("{what}{signal}{errors}"))
    }

    /// Ends the child.
    pub fn finish(self) {
        let Worker {
            mut child, input, ..
        } = self;
        drop(input);
        let _ = child.wait();
    }
}
