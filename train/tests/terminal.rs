//! The dashboard on a terminal: it appears, ends the run on a key, and restores the terminal.
#![cfg(all(unix, feature = "dashboard"))]

mod common;

use common::{points, squared_error};
use ramie_data::DataLoader;
use ramie_nn::{Linear, Rngs};
use ramie_optim::adam;
use ramie_train::{Error, Trainer, Training};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// Set in a child process: the folder of its run.
const FOLDER: &str = "RAMIE_TEST_DASHBOARD_FOLDER";
/// A file in that folder, which makes the run panic.
const PANIC: &str = "panic";
/// Control sequences that turn to the alternate screen and back.
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

/// The part of a child process: a run that does not end by itself.
fn train(folder: &Path) {
    let mut state = Training::new(Linear::new(2, 1, &mut Rngs::new(0)), adam(1e-3));
    let panic = folder.join(PANIC);
    let result = Trainer::new(squared_error)
        .steps(1_000_000_000)
        .validate(DataLoader::new(points(1 << 13)).batch_size(1 << 13))
        .folder(folder.join("run"))
        .checkpoint_every(100_000)
        .dashboard()
        .every(100, move |context| {
            assert!(!panic.exists(), "a panic of the run");
            if context.status.step == 100 {
                context.message("a message of the run");
            }
            Ok(())
        })
        .fit(&mut state, DataLoader::new(points(1 << 17)).batch_size(8));
    match result {
        Err(Error::Stopped(stopped)) => println!("{stopped}"),
        other => panic!("{:?}", other.map(|_| ())),
    }
}

/// A terminal of 80 by 24 characters with a run in it.
struct Screen {
    keyboard: File,
    /// The side of the process, which stays open, so that its settings can be read.
    line: File,
    output: Receiver<Vec<u8>>,
    text: String,
    process: Child,
}

impl Screen {
    fn start(test: &str, folder: &Path) -> Screen {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let path = Path::new(OsStr::from_bytes(name.as_bytes()));
        let line = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&line, size).unwrap();
        let process = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(FOLDER, folder)
            .env("TERM", "xterm-256color")
            .stdin(line.try_clone().unwrap())
            .stdout(line.try_clone().unwrap())
            .stderr(line.try_clone().unwrap())
            .spawn()
            .unwrap();
        let keyboard = File::from(master);
        let mut screen = keyboard.try_clone().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = screen.read(&mut bytes) {
                if sender.send(bytes[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        Screen {
            keyboard,
            line,
            output,
            text: String::new(),
            process,
        }
    }

    fn settings(&self) -> Termios {
        tcgetattr(&self.line).unwrap()
    }

    /// Waits until the condition holds for the text that the process has written.
    fn wait_until(&mut self, what: &str, is_met: impl Fn(&str) -> bool) {
        while !is_met(&self.text) {
            match self.output.recv_timeout(Duration::from_secs(300)) {
                Ok(bytes) => self.text += &String::from_utf8_lossy(&bytes),
                Err(e) => panic!("no {what} ({e}) in\n{}", shown(&self.text)),
            }
        }
    }

    /// Waits until the process has written the text.
    fn wait_for(&mut self, part: &str) {
        self.wait_until(part, |text| text.contains(part));
    }

    /// Waits until the screen shows the text.
    fn wait_for_shown(&mut self, part: &str) {
        self.wait_until(part, |text| shown(text).contains(part));
    }

    fn press(&mut self, key: u8) {
        self.keyboard.write_all(&[key]).unwrap();
    }

    /// The text after the dashboard, which leaves its screen once.
    fn rest(&self) -> &str {
        let (_, rest) = self.text.split_once(LEAVE).expect("the first screen");
        assert!(!rest.contains(LEAVE), "{rest:?}");
        rest
    }
}

impl Drop for Screen {
    /// Ends the run of a failed test.
    fn drop(&mut self) {
        let _ = self.process.kill();
    }
}

/// The characters of the screen after this text.
fn shown(text: &str) -> String {
    let mut screen = [[' '; 80]; 24];
    let (mut row, mut column) = (0, 0);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\x1b' => {
                // A control sequence: `[`, parameters, and a letter that names it.
                let mut parameters = String::new();
                let name = rest
                    .by_ref()
                    .skip(1)
                    .inspect(|&c| parameters.push(c))
                    .find(char::is_ascii_alphabetic);
                let numbers = parameters[..parameters.len().saturating_sub(1)].split_once(';');
                if let (Some('H'), Some((r, c))) = (name, numbers) {
                    row = r.parse::<usize>().unwrap() - 1;
                    column = c.parse::<usize>().unwrap() - 1;
                }
            }
            '\r' => column = 0,
            '\n' => row += 1,
            _ => {
                if let Some(cell) = screen.get_mut(row).and_then(|row| row.get_mut(column)) {
                    *cell = c;
                }
                column += 1;
            }
        }
    }
    let rows = screen.map(String::from_iter);
    rows.join("\n")
}

/// The settings of a terminal that a dashboard changes.
fn modes(settings: &Termios) -> [u64; 3] {
    [
        settings.local_modes.bits() as u64,
        settings.input_modes.bits() as u64,
        settings.output_modes.bits() as u64,
    ]
}

#[test]
fn a_key_saves_and_ends_the_run() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return train(Path::new(&folder));
    }
    const CONTROL_C: u8 = 3;
    for key in [b'q', CONTROL_C] {
        let folder = tempfile::tempdir().unwrap();
        let mut screen = Screen::start("a_key_saves_and_ends_the_run", folder.path());
        let before = modes(&screen.settings());
        screen.wait_for(ENTER);
        for part in ["steps/s", "val_loss", "a message of the run"] {
            screen.wait_for_shown(part);
        }
        assert_ne!(modes(&screen.settings()), before);
        screen.press(key);
        screen.wait_for(LEAVE);
        screen.wait_for("a resumed run continues from there");
        screen.wait_for("test result: ok");
        assert_eq!(modes(&screen.settings()), before);
        let rest = screen.rest();
        assert!(rest.contains("a message of the run"), "{rest}");
        let (_, stopped) = rest.split_once("Stopped and saved after step ").unwrap();
        let step = stopped.split(' ').next().unwrap();
        let saved = folder.path().join("run/checkpoints").join(step);
        assert!(saved.is_dir(), "{rest}");
        assert!(screen.process.wait().unwrap().success());
    }
}

#[test]
fn a_panic_restores_the_terminal() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return train(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut screen = Screen::start("a_panic_restores_the_terminal", folder.path());
    let before = modes(&screen.settings());
    screen.wait_for_shown("a message of the run");
    std::fs::write(folder.path().join(PANIC), "").unwrap();
    screen.wait_for("test result: FAILED");
    assert!(
        screen.rest().contains("a panic of the run"),
        "{}",
        screen.rest()
    );
    assert_eq!(modes(&screen.settings()), before);
    assert!(!screen.process.wait().unwrap().success());
}
