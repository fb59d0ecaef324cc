//! The allocator of the CPU plugin under load: many threads, ending threads, blocks freed by other
//! threads, child processes, and other allocators loaded before it.
#![cfg(target_os = "linux")]

mod common;

use common::{client, compile, device, f32s, get, put, run};
use ramie_pjrt::{Buffer, Executable};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

const THREADS: usize = 64;
const ROUNDS: usize = 3;
/// Elements of the arrays: small blocks, blocks at the limits of both kinds, and large ones.
const SIZES: [usize; 6] = [3, 1 << 10, 1 << 17, (1 << 18) - 16, 1 << 18, 3 << 18];
/// Names the test that a process runs alone, with another allocator.
const ALONE: &str = "RAMIE_TEST_STRESS_ALONE";

fn doubling(n: usize) -> Executable {
    let program = format!(
        "func.func @main(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
           %0 = stablehlo.add %x, %x : tensor<{n}xf32>
           %1 = stablehlo.reverse %0, dims = [0] : tensor<{n}xf32>
           %2 = stablehlo.reverse %1, dims = [0] : tensor<{n}xf32>
           return %2 : tensor<{n}xf32>
         }}"
    );
    compile(&program, &[f32s(&[n as i64])], &[])
}

/// Creates arrays of all sizes, runs programs on them and passes the results to another thread,
/// while it checks and frees the arrays of a third one.
fn work(
    thread: usize,
    programs: &[Executable],
    to: &SyncSender<(Buffer, f32)>,
    from: &Receiver<(Buffer, f32)>,
) {
    for round in 0..ROUNDS {
        for (program, n) in programs.iter().zip(SIZES) {
            let value = (thread * ROUNDS + round) as f32;
            let x = put(&vec![value; n], &[n as i64], device(thread % 8));
            let result = match thread % 8 {
                0 => run(program, &[&x]).unwrap().pop().unwrap(),
                _ => x,
            };
            let expected = if thread.is_multiple_of(8) {
                2.0 * value
            } else {
                value
            };
            to.send((result, expected)).unwrap();
            let (other, expected) = from.recv().unwrap();
            let values = get(&other);
            assert!(
                values.iter().all(|x| *x == expected),
                "{expected}: {values:?}"
            );
        }
    }
}

/// Runs `THREADS` threads in a ring, all of which end.
fn ring(programs: &[Executable]) {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..THREADS).map(|_| sync_channel(1)).unzip();
    std::thread::scope(|scope| {
        let mut senders = senders.into_iter();
        let first = senders.next().expect("there are threads");
        let next = senders.chain([first]);
        for (thread, (to, from)) in next.zip(receivers).enumerate() {
            scope.spawn(move || work(thread, programs, &to, &from));
        }
    });
}

fn programs() -> Vec<Executable> {
    SIZES.iter().map(|n| doubling(*n)).collect()
}

#[test]
fn blocks_change_hands_between_many_threads_that_end() {
    let programs = programs();
    for _ in 0..2 {
        ring(&programs);
    }
}

#[test]
fn child_processes_start_while_blocks_change_hands() {
    if std::env::var_os(ALONE).is_some() {
        return;
    }
    let programs = programs();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let mut command = Command::new("true");
                // SAFETY: the function does nothing. It makes the standard library use `fork`, so
                // that the child starts with a copy of all blocks and locks.
                unsafe { command.pre_exec(|| Ok(())) };
                assert!(command.status().unwrap().success());
            }
        });
        ring(&programs);
        over.store(true, Ordering::Relaxed);
    });
}

/// Returns the libraries on this machine that replace or check the C library's allocator.
fn allocators() -> Vec<PathBuf> {
    let names = [
        "libc_malloc_debug.so.0",
        "libmimalloc.so.2",
        "libtcmalloc_minimal.so.4",
        "libjemalloc.so.2",
    ];
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
    ];
    let find = |name| {
        folders
            .iter()
            .map(|f| Path::new(f).join(name))
            .find(|p| p.exists())
    };
    names.into_iter().filter_map(find).collect()
}

#[test]
fn other_allocators_can_be_loaded_first() {
    if std::env::var_os(ALONE).is_some() {
        return;
    }
    client();
    for library in allocators() {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "blocks_change_hands_between_many_threads_that_end",
            ])
            .env(ALONE, "1")
            .env("LD_PRELOAD", &library)
            // The checking allocator of the C library ends the process at a wrong call.
            .env("MALLOC_CHECK_", "3")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{}: {}\n{said}\n{}",
            library.display(),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
