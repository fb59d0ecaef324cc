//! Several processes of one program, on the loopback interface.
//!
//! Each test starts this program several times with the name of a part to play, and
//! looks at what the processes print.

use ramie_core::distributed::{self, Cluster, DistributedOptions, FailureKind, PeerFailure};
use ramie_core::options::RuntimeOptions;
use ramie_core::{Array, DType, Error, configure, jit, runtime};
use ramie_testing::processes::{Program, joining, number, say, variable};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

/// What the other processes of these tests run; alone it does nothing.
#[test]
fn child() {
    let Ok(part) = std::env::var("RAMIE_TEST_PART") else {
        return;
    };
    let (count, process) = (number("RAMIE_TEST_COUNT"), number("RAMIE_TEST_PROCESS"));
    let options = DistributedOptions {
        peer_failure: PeerFailure::Report,
        ..joining(20 * SECOND)
    };
    match &*part {
        "everything" => everything(options, count, process),
        "join" => say(join(options, 20)),
        "join now" => say(join(options, 2)),
        "join soon" => say(join(options, 6)),
        "die" => die(options, process),
        "die and abort" => die(
            DistributedOptions {
                peer_failure: PeerFailure::Abort,
                ..options
            },
            process,
        ),
        "freeze" => freeze(options, process),
        "unlike" => unlike(options, process),
        "plugin" => plugin(options),
        "late" => late(options),
        "leave" => leave(options, process),
        "detect" => detect(),
        other => panic!("no part {other}"),
    }
}

/// `ok`, or the kind of failure and its words.
fn outcome<T>(result: ramie_core::Result<T>) -> String {
    match result {
        Ok(_) => "ok".into(),
        Err(Error::Distributed { kind, message }) => format!("{kind:?}: {message}"),
        Err(other) => format!("other: {other}"),
    }
}

fn join(options: DistributedOptions, seconds: u32) -> String {
    let result = distributed::initialize_with(&DistributedOptions {
        initialization_timeout: seconds * SECOND,
        ..options
    });
    let text = outcome(result);
    if text == "ok" {
        distributed::shutdown().expect("all leave");
    }
    text
}

fn everything(options: DistributedOptions, count: usize, process: usize) {
    assert!(!distributed::is_initialized());
    let before = distributed::key_value_store().unwrap_err();
    assert!(matches!(
        before,
        Error::Distributed {
            kind: FailureKind::NotInitialized,
            ..
        }
    ));
    configure(RuntimeOptions {
        cpu_devices: Some(2),
        ..Default::default()
    })
    .expect("not in use yet");
    distributed::initialize_with(&options).expect("all join");
    assert!(distributed::is_initialized());
    assert_eq!(distributed::process_index(), process);
    assert_eq!(distributed::process_count(), count);
    let again = distributed::initialize_with(&options).unwrap_err();
    assert!(again.to_string().contains("called already"), "{again}");

    values(count, process);
    exchanges(count, process);

    // The CPU plugin's devices are those of one process.
    assert_eq!(distributed::local_devices().len(), 2);
    let square = jit(|x: Array| x.square());
    let x = Array::from_slice(&[process as f32], &[1]);
    assert_eq!(square(x).to_vec::<f32>(), [(process * process) as f32]);
    distributed::sync_global_devices("computed").expect("all are there");

    distributed::shutdown().expect("all leave");
    assert!(!distributed::is_initialized());
    assert_eq!(distributed::process_index(), process);
    distributed::shutdown().expect("nothing to do");
    say("done");
}

/// The key-value store and its barriers.
fn values(count: usize, process: usize) {
    let store = distributed::key_value_store().expect("initialised");
    let next = (process + 1) % count;
    // Waits for what is put later.
    let waiting = store.clone();
    let waiter = std::thread::spawn(move || waiting.get(&format!("late/{next}"), 20 * SECOND));
    store.barrier("waiting", 20 * SECOND).expect("all come");
    let value = vec![process as u8; 1 << 20];
    store.put(&format!("late/{process}"), &value).expect("new");
    let got = waiter.join().expect("no panic").expect("it comes");
    assert_eq!(got, vec![next as u8; 1 << 20]);
    let exists = outcome(store.put(&format!("late/{process}"), &[]));
    assert!(
        exists.starts_with("AlreadyExists: the key `late/"),
        "{exists}"
    );
    store
        .put_overwrite(&format!("late/{process}"), b"new")
        .expect("allowed");
    assert_eq!(store.try_get("absent").expect("asked"), None);
    let timeout = outcome(store.get("absent", SECOND / 5));
    let words = "Timeout: no process has set the key `absent` within ";
    assert!(timeout.starts_with(words), "{timeout}");
    for _ in 0..50 {
        store.barrier("again", 20 * SECOND).expect("all come");
    }
    let at = store.try_get(&format!("late/{next}")).expect("asked");
    assert_eq!(at.as_deref(), Some(&b"new"[..]));
    store.barrier("read", 20 * SECOND).expect("all come");
    if process == 0 {
        store.delete("late").expect("deleted");
    }
    store.barrier("deleted", 20 * SECOND).expect("all come");
    assert_eq!(store.try_get(&format!("late/{next}")).expect("asked"), None);
}

fn exchanges(count: usize, process: usize) {
    for round in 0..5 {
        let ours = (
            Array::from_slice(&[process as f32, round as f32], &[2]),
            vec![
                Array::from(process as i32),
                Array::zeros(&[0, 3], DType::F32),
            ],
        );
        let (first, rest) = distributed::broadcast_one_to_all(ours.clone()).expect("all come");
        assert_eq!(first.to_vec::<f32>(), [0.0, round as f32]);
        assert_eq!(rest[0].item::<i32>(), 0);
        let (first, rest) = distributed::process_allgather(ours).expect("all come");
        assert_eq!(first.shape(), [count, 2]);
        let expected: Vec<f32> = (0..count).flat_map(|p| [p as f32, round as f32]).collect();
        assert_eq!(first.to_vec::<f32>(), expected);
        let indices: Vec<i32> = (0..count as i32).collect();
        assert_eq!(rest[0].to_vec::<i32>(), indices);
        assert_eq!(rest[1].shape(), [count, 0, 3]);
    }
    let bytes = vec![process as u8; process * 1000];
    let all = distributed::process_allgather_bytes(&bytes).expect("all come");
    for (p, bytes) in all.iter().enumerate() {
        assert_eq!(*bytes, vec![p as u8; p * 1000]);
    }
    let same = distributed::broadcast_bytes_one_to_all(&[process as u8]).expect("all come");
    assert_eq!(same, [0]);
}

/// The process that the test names dies; the others wait for it.
fn die(options: DistributedOptions, process: usize) {
    distributed::initialize_with(&options).expect("all join");
    distributed::sync_global_devices("all here").expect("all come");
    let store = distributed::key_value_store().expect("initialised");
    if variable("RAMIE_TEST_DIES") == process.to_string() {
        // Not before the others have seen the barrier open.
        for other in (0..options.num_processes.unwrap_or(0)).filter(|p| *p != process) {
            let ready = store.get(&format!("ready/{other}"), 20 * SECOND);
            ready.expect("they are alive");
        }
        std::process::abort();
    }
    // The coordinator may be gone before it has answered.
    let _ = store.put(&format!("ready/{process}"), &[]);
    let barrier = outcome(distributed::sync_global_devices("never"));
    let later = outcome(store.put("k", &[]));
    assert_eq!(later, barrier, "all fails from then on");
    say(barrier);
    // Leaving works without the dead, unless it was the coordinator.
    let _ = distributed::shutdown();
}

/// Process 1 tells its number to the test, which stops it.
fn freeze(options: DistributedOptions, process: usize) {
    distributed::initialize_with(&DistributedOptions {
        heartbeat_timeout: 3 * SECOND,
        ..options
    })
    .expect("all join");
    say("joined");
    if process == 0 {
        say(outcome(distributed::sync_global_devices("never")));
    } else {
        std::thread::sleep(60 * SECOND);
    }
}

fn unlike(options: DistributedOptions, process: usize) {
    distributed::initialize_with(&options).expect("all join");
    let tree = Array::zeros(&[2 + process], DType::F32);
    let gathered = outcome(distributed::process_allgather(tree.clone()));
    let sent = outcome(distributed::broadcast_one_to_all(tree));
    say(format!("{gathered}; {sent}"));
    distributed::shutdown().expect("all leave");
}

/// A plugin that exchanges values when its client is created.
fn plugin(options: DistributedOptions) {
    distributed::initialize_with(&options).expect("all join");
    match runtime() {
        Ok(_) => say("a client"),
        Err(error) => say(error),
    }
    distributed::shutdown().expect("all leave");
}

fn late(options: DistributedOptions) {
    Array::from([1.0f32]).to_vec::<f32>();
    say(outcome(distributed::initialize_with(&options)));
}

/// Process 1 leaves without the others knowing when.
fn leave(options: DistributedOptions, process: usize) {
    distributed::initialize_with(&DistributedOptions {
        shutdown_timeout: 2 * SECOND,
        ..options
    })
    .expect("all join");
    if process == 1 {
        say(outcome(distributed::shutdown()));
    } else {
        // Longer than process 1 waits.
        std::thread::sleep(4 * SECOND);
        say(outcome(distributed::sync_global_devices("more")));
    }
}

/// Takes everything from the variables that the test has set.
fn detect() {
    distributed::initialize_with(&DistributedOptions {
        initialization_timeout: 20 * SECOND,
        ..DistributedOptions::default()
    })
    .expect("all join");
    let sum = distributed::process_allgather(Array::from([distributed::process_index() as i32]));
    say(format!("{:?}", sum.expect("all come").to_vec::<i32>()));
    distributed::shutdown().expect("all leave");
}

#[test]
fn processes_find_each_other_and_exchange_values() {
    let program = Program::of("everything", 3, &[]);
    // Strangers do no harm.
    let deadline = Instant::now() + 10 * SECOND;
    while Instant::now() < deadline {
        if let Ok(mut stranger) = TcpStream::connect(program.address) {
            let _ = stranger.write_all(b"GET / HTTP/1.1\r\n\r\n");
            break;
        }
    }
    assert_eq!(program.says(), ["done", "done", "done"]);
}

#[test]
fn one_process_is_a_program_too() {
    assert_eq!(Program::of("everything", 1, &[]).says(), ["done"]);
}

#[test]
fn missing_processes_are_named() {
    let mut program = Program::at_own_address();
    program.start("join soon", 4, 0, &[]);
    program.start("join", 4, 2, &[]);
    let [first, other] = &program.says()[..] else {
        panic!("two processes")
    };
    let words = "Timeout: distributed::initialize: process 0 of 4: processes 1 and 3 of 4 did not \
                 join within ";
    assert!(first.starts_with(words), "{first}");
    let words = "PeerLost: distributed::initialize: process 2 of 4: process 0 gave up: ";
    assert!(
        other.starts_with(words) && other.contains("1 and 3"),
        "{other}"
    );
}

#[test]
fn a_coordinator_that_is_not_there_is_named() {
    let mut program = Program::at_own_address();
    program.start("join now", 2, 1, &[]);
    let address = program.address.to_string();
    let says = program.says().remove(0);
    let words = format!(
        "Timeout: distributed::initialize: process 1 of 2 could not reach the coordinator at {address} \
         within 2.0s: "
    );
    assert!(says.starts_with(&words), "{says}");
    assert!(
        says.contains("help: process 0 must run at that address"),
        "{says}"
    );
}

#[test]
fn wrong_numbers_are_refused() {
    let mut program = Program::at_own_address();
    program.start("join soon", 3, 0, &[]);
    program.start("join soon", 4, 1, &[]);
    program.start("join", 3, 2, &[]);
    program.start("join", 3, 2, &[]);
    let says = program.says();
    assert!(says[0].contains("process 1 of 3 did not join"), "{says:?}");
    let words = "Refused: distributed::initialize: process 1 of 4: process 1 expects 4 \
                 processes, but process 0 expects 3";
    assert!(says[1].starts_with(words), "{says:?}");
    let words = "Refused: distributed::initialize: process 2 of 3: process id 2 is already used by a process \
                 at 127.0.0.1:";
    let refused: Vec<_> = says[2..].iter().filter(|s| s.starts_with(words)).collect();
    assert_eq!(refused.len(), 1, "{says:?}");
}

#[test]
fn a_process_that_dies_is_named() {
    let says = Program::of("die", 3, &[("RAMIE_TEST_DIES", "1")]).finish();
    for survivor in [0, 2] {
        let text = String::from_utf8_lossy(&says[survivor].stdout);
        let words = "SAYS PeerLost: process 1 of 3 was lost: its connection was closed";
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_coordinator_that_dies_is_named() {
    let program = Program::of("die", 3, &[("RAMIE_TEST_DIES", "0")]);
    let address = program.address.to_string();
    for output in &program.finish()[1..] {
        let text = String::from_utf8_lossy(&output.stdout);
        let words = format!(
            "SAYS PeerLost: the coordinator at {address}, in process 0, was lost: its connection was closed"
        );
        assert!(text.contains(&words), "{text}");
    }
}

#[test]
fn processes_abort_when_another_dies_unless_told_otherwise() {
    let outputs = Program::of("die and abort", 3, &[("RAMIE_TEST_DIES", "2")]).finish();
    for (process, output) in outputs[..2].iter().enumerate() {
        assert_eq!(output.status.code(), None, "ended by a signal");
        let text = String::from_utf8_lossy(&output.stderr);
        let words = format!("process {process} of 3: process 2 of 3 was lost: its connection was");
        assert!(text.contains(&words), "{text}");
        assert!(text.contains("this process exits too"), "{text}");
    }
}

#[test]
fn a_process_that_is_silent_is_taken_for_dead() {
    let mut program = Program::of("freeze", 2, &[]);
    let frozen = program.children.remove(1);
    let mut frozen = frozen;
    wait_for("SAYS joined", frozen.stdout.as_mut().expect("piped"));
    let stopped = Command::new("kill")
        .args(["-STOP", &frozen.id().to_string()])
        .status()
        .expect("kill");
    assert!(stopped.success());
    let says = program.says().remove(0);
    frozen.kill().expect("it is there");
    frozen.wait().expect("it ends");
    let words = "PeerLost: process 1 of 2 was lost: no heartbeat for ";
    assert!(says.starts_with(words), "{says}");
}

/// Reads until this line.
fn wait_for(line: &str, from: &mut impl std::io::Read) {
    let mut text = String::new();
    let mut byte = [0];
    while !text.ends_with(line) {
        assert_eq!(from.read(&mut byte).expect("readable"), 1, "{text}");
        text.push(byte[0] as char);
    }
}

#[test]
fn unlike_trees_are_refused() {
    let says = Program::of("unlike", 2, &[]).says();
    let words = |other, theirs, ours| {
        format!(
            "Refused: the processes exchange different trees: process {other} has (f32[{theirs}]), this one (f32[{ours}])"
        )
    };
    // The source of a broadcast does not learn what the others have.
    let (first, sent) = says[0].split_once("; ").expect("two outcomes");
    assert!(
        first.starts_with(&words(1, 3, 2)) && sent == "ok",
        "{says:?}"
    );
    let (first, sent) = says[1].split_once("; ").expect("two outcomes");
    assert!(first.starts_with(&words(0, 2, 3)), "{says:?}");
    assert!(sent.starts_with(&words(0, 2, 3)), "{says:?}");
}

#[test]
fn processes_that_do_not_leave_are_named() {
    let says = Program::of("leave", 2, &[]).says();
    let words = "Timeout: shutdown: process 0 of 2 did not arrive within ";
    assert!(says[1].starts_with(words), "{says:?}");
    let words = "Refused: barrier `more`: process 1 called shutdown";
    assert_eq!(says[0], words);
}

#[test]
fn the_runtime_must_not_be_in_use() {
    let says = Program::of("late", 1, &[]).says();
    assert!(
        says[0].contains("the runtime is already in use"),
        "{says:?}"
    );
}

/// The same library as in the tests of the layer below: it publishes a value, reads
/// those of the other processes, and fails with what it has read.
#[test]
fn plugins_exchange_values_through_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, library) = (
        folder.path().join("exchange.rs"),
        folder.path().join("exchange.so"),
    );
    let text = include_str!("../../pjrt/tests/plugins/exchange.rs");
    std::fs::write(&source, text).expect("written");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .args([
            "--edition=2024",
            "--crate-type=cdylib",
            "-Cpanic=abort",
            "-o",
        ])
        .args([&library, &source])
        .output()
        .expect("rustc");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let path = library.to_str().expect("text");
    let variables = [("RAMIE_PJRT_PLUGIN", path), ("RAMIE_PLATFORM", "cuda")];
    let says = Program::of("plugin", 3, &variables).says();
    for (process, says) in says.iter().enumerate() {
        let words = format!(
            "node {process} of 3 has read: devices of 0, devices of 1, devices of 2; nothing: 5"
        );
        assert!(says.contains(&words), "{says}");
    }
}

/// Slurm's variables, and our own.
#[test]
fn processes_find_each_other_by_their_cluster() {
    let mut program = Program::at_own_address();
    let port = program.address.port().to_string();
    for process in 0..3 {
        let (rank, local) = (process.to_string(), (process % 2).to_string());
        let variables = [
            ("SLURM_JOB_ID", "77"),
            ("SLURM_STEP_NODELIST", "localhost"),
            ("SLURM_NTASKS", "3"),
            ("SLURM_PROCID", &*rank),
            ("SLURM_LOCALID", &*local),
            ("RAMIE_COORDINATOR_PORT", &*port),
        ];
        program.start("detect", 3, process, &variables);
    }
    assert_eq!(program.says(), ["[0, 1, 2]"; 3]);

    let mut program = Program::at_own_address();
    let address = program.address.to_string();
    for process in 0..2 {
        let id = process.to_string();
        let variables = [
            ("RAMIE_COORDINATOR_ADDRESS", &*address),
            ("RAMIE_NUM_PROCESSES", "2"),
            ("RAMIE_PROCESS_ID", &*id),
        ];
        program.start("detect", 2, process, &variables);
    }
    assert_eq!(program.says(), ["[0, 1]"; 2]);
}

#[test]
fn impossible_options_are_refused() {
    let refusal = |options: DistributedOptions| {
        let error = distributed::initialize_with(&options).unwrap_err();
        assert!(matches!(error, Error::Configuration(_)), "{error}");
        error.to_string()
    };
    let base = DistributedOptions {
        coordinator: Some("127.0.0.1:1".into()),
        num_processes: Some(2),
        process_id: Some(0),
        ..DistributedOptions::default()
    };
    let id = refusal(DistributedOptions {
        process_id: Some(2),
        ..base.clone()
    });
    assert!(
        id.contains("process_id 2 is out of range for num_processes 2"),
        "{id}"
    );
    for address in ["host", "host:", "host:port", "host:0"] {
        let text = refusal(DistributedOptions {
            coordinator: Some(address.into()),
            ..base.clone()
        });
        assert!(text.contains("expected a host and a port"), "{text}");
    }
    let nothing = refusal(DistributedOptions::default());
    assert!(
        nothing.contains("`coordinator` is not set, and no cluster"),
        "{nothing}"
    );
    let slurm = refusal(DistributedOptions {
        cluster: Some(Cluster::Slurm),
        ..base
    });
    assert!(slurm.contains("was not started by Slurm"), "{slurm}");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("bound").to_string();
    let error = distributed::initialize(&address, 2, 0)
        .unwrap_err()
        .to_string();
    let words = format!("process 0 cannot listen at {address}: ");
    assert!(
        error.contains(&words) && error.contains("its port must be free"),
        "{error}"
    );
}
