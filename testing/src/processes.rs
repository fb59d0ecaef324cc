//! Several processes of one program on the loopback interface: a test starts its own program several
//! times with the name of a part, and compares what the processes print.

use ramie_core::distributed::DistributedOptions;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Returns an environment variable that the test sets for a process.
pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is set"))
}

/// Returns the number in an environment variable that the test sets for a process.
pub fn number(name: &str) -> usize {
    variable(name).parse().expect("a number")
}

/// Returns the options by which a process joins the others, waiting for `wait` at each point.
pub fn joining(wait: Duration) -> DistributedOptions {
    DistributedOptions {
        coordinator: Some(variable("RAMIE_TEST_ADDRESS")),
        num_processes: Some(number("RAMIE_TEST_COUNT")),
        process_id: Some(number("RAMIE_TEST_PROCESS")),
        initialization_timeout: wait,
        heartbeat_timeout: wait,
        shutdown_timeout: wait,
        ..DistributedOptions::default()
    }
}

/// Prints one line for the test.
pub fn say(words: impl std::fmt::Display) {
    let text = format!("\nSAYS {}\n", words.to_string().replace('\n', " "));
    std::io::stdout()
        .write_all(text.as_bytes())
        .expect("output");
}

/// The processes of one test.
pub struct Program {
    /// The test of this program that is each of the processes. Defaults to `child`.
    pub test: &'static str,
    /// The address of the coordinator.
    pub address: SocketAddr,
    /// The processes, in the order in which they were started.
    pub children: Vec<Child>,
}

impl Program {
    /// Picks a random address and a random port outside the range of outgoing connections.
    ///
    /// The port itself is not tried: if another thread started a process meanwhile, that process
    /// would hold the port until it runs its own program.
    pub fn at_own_address() -> Program {
        let random = RandomState::new().build_hasher().finish().to_le_bytes();
        let [a, b, c, low, high, ..] = random;
        let own = Ipv4Addr::new(127, a, b, c.clamp(1, 254));
        // Some systems have only one loopback address.
        let host = match TcpListener::bind((own, 0)) {
            Ok(_) => own,
            Err(_) => Ipv4Addr::LOCALHOST,
        };
        let port = 10_000 + u16::from_le_bytes([low, high]) % 20_000;
        Program {
            test: "child",
            address: SocketAddr::from((host, port)),
            children: Vec::new(),
        }
    }

    /// Starts a process.
    pub fn start(&mut self, part: &str, count: usize, process: usize, variables: &[(&str, &str)]) {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", self.test, "--nocapture"])
            .env("RAMIE_TEST_PART", part)
            .env("RAMIE_TEST_ADDRESS", self.address.to_string())
            .env("RAMIE_TEST_COUNT", count.to_string())
            .env("RAMIE_TEST_PROCESS", process.to_string())
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process");
        self.children.push(child);
    }

    /// Starts all processes of a program.
    pub fn of(part: &str, count: usize, variables: &[(&str, &str)]) -> Program {
        let mut program = Program::at_own_address();
        for process in 0..count {
            program.start(part, count, process, variables);
        }
        program
    }

    /// Waits for all processes and returns their output.
    pub fn finish(self) -> Vec<Output> {
        let wait = |child: Child| child.wait_with_output().expect("it ends");
        self.children.into_iter().map(wait).collect()
    }

    /// Waits for all processes and returns the last line of [`say`] of each.
    pub fn says(self) -> Vec<String> {
        let says = |output: Output| {
            let text = String::from_utf8_lossy(&output.stdout);
            let last = text
                .lines()
                .rev()
                .find_map(|line| line.strip_prefix("SAYS "));
            last.map(str::to_string).unwrap_or_else(|| {
                panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
            })
        };
        self.finish().into_iter().map(says).collect()
    }
}
