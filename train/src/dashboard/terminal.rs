//! The dashboard on a terminal.

use super::{Memory, View, draw};
use crate::{Progress, Status};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use signal_hook::consts::SIGINT;
use std::io::{self, IsTerminal};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A display that fills the terminal: loss curves, metrics, rates, memory and messages.
///
/// [`Trainer::dashboard`](crate::Trainer::dashboard) uses it. A thread draws it five times per
/// second. The terminal is restored when the run ends or the program panics.
pub struct Dashboard {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// The messages, which are printed when the terminal is restored.
    messages: Vec<String>,
}

/// State that the thread and the run share.
struct Shared {
    view: Mutex<View>,
    /// Locked while the thread uses the terminal.
    screen: Mutex<()>,
    ends: AtomicBool,
    /// Whether another thread restores the terminal. A second time would move the cursor back over
    /// text that was printed since.
    is_restored: AtomicBool,
    start: Instant,
}

impl Shared {
    /// Changes or reads the view. A panic elsewhere leaves it usable.
    fn view<R>(&self, f: impl FnOnce(&mut View) -> R) -> R {
        f(&mut self.view.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the thread's use of the terminal, which the caller then restores. Waits until the
    /// thread is no longer drawing, but not forever, because the caller may be that thread.
    fn end(&self) {
        self.is_restored.store(true, Ordering::SeqCst);
        self.ends.store(true, Ordering::SeqCst);
        for _ in 0..100 {
            if !matches!(self.screen.try_lock(), Err(TryLockError::WouldBlock)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Time between two pictures.
const FRAME: Duration = Duration::from_millis(200);
/// Time between two measurements of memory.
const MEASURE: Duration = Duration::from_secs(1);

impl Dashboard {
    /// Creates a dashboard, which appears at the start of the run, or returns `None` if stdout or
    /// stdin is not a terminal that it can use.
    pub fn new() -> Option<Dashboard> {
        let capable = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
        (terminal && capable).then(|| Dashboard {
            shared: Arc::new(Shared {
                view: Mutex::default(),
                screen: Mutex::default(),
                ends: AtomicBool::new(false),
                is_restored: AtomicBool::new(false),
                start: Instant::now(),
            }),
            thread: None,
            messages: Vec::new(),
        })
    }

    /// Restores the terminal and prints the messages.
    fn close(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.shared.ends.store(true, Ordering::SeqCst);
        // The thread restores the terminal, also if it panics.
        let _ = thread.join();
        for text in self.messages.drain(..) {
            println!("{text}");
        }
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.close();
    }
}

impl Progress for Dashboard {
    fn start(&mut self, status: &Status) {
        self.shared.view(|view| view.status.clone_from(status));
        if self.thread.is_some() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        match ratatui::try_init() {
            Ok(terminal) => {
                end_on_panic(&shared);
                self.thread = Some(thread::spawn(move || show(terminal, &shared)));
            }
            Err(error) => eprintln!("warning: the dashboard cannot use this terminal: {error}"),
        }
    }

    fn step(&mut self, status: &Status) {
        self.shared.view(|view| view.step(status));
    }

    fn checkpoint(&mut self, status: &Status) {
        self.shared.view(|view| view.status.clone_from(status));
    }

    fn evaluated(&mut self, status: &Status, metrics: &[(String, f64)]) {
        let shown = metrics
            .iter()
            .map(|(name, value)| format!("{name} {value:.4}"));
        let shown = shown.collect::<Vec<_>>().join("  ");
        let (epoch, step) = (status.epoch + 1, status.step);
        self.shared.view(|view| view.evaluated(status, metrics));
        self.message(&format!("Epoch {epoch}, step {step}: {shown}"));
    }

    fn message(&mut self, text: &str) {
        self.shared.view(|view| view.message(text));
        match &self.thread {
            Some(_) => self.messages.push(text.to_string()),
            // Before the start of the dashboard.
            None => println!("{text}"),
        }
    }

    fn finish(&mut self) {
        self.close();
    }
}

/// Keeps the thread from drawing over the message of a panic. The hook of ratatui, which runs next,
/// restores the terminal.
fn end_on_panic(shared: &Arc<Shared>) {
    let shared = Arc::downgrade(shared);
    let next = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if let Some(shared) = shared.upgrade() {
            shared.end();
        }
        next(info);
    }));
}

/// Restores the terminal at the end of the thread.
struct Restore<'a>(&'a Shared);

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        if !self.0.is_restored.load(Ordering::SeqCst) {
            ratatui::restore();
        }
    }
}

/// Draws the view and reads keys until the run ends.
fn show(mut terminal: DefaultTerminal, shared: &Shared) {
    let _restore = Restore(shared);
    let mut measured = None;
    while !shared.ends.load(Ordering::SeqCst) {
        if measured.is_none_or(|time: Instant| time.elapsed() >= MEASURE) {
            let memory = Memory::now();
            shared.view(|view| view.memory = memory);
            measured = Some(Instant::now());
        }
        // Drawing takes longer than copying, and a step must not wait for it.
        let view = shared.view(|view| {
            view.elapsed = shared.start.elapsed();
            view.clone()
        });
        let drawn = {
            let _screen = shared.screen.lock().unwrap_or_else(PoisonError::into_inner);
            if shared.ends.load(Ordering::SeqCst) {
                return;
            }
            terminal.draw(|frame| draw(&view, frame)).is_ok()
        };
        if !drawn || !handle_keys(&mut terminal, shared) {
            return;
        }
    }
}

/// Waits until the next picture is due and handles keys. Returns whether the terminal is usable.
fn handle_keys(terminal: &mut DefaultTerminal, shared: &Shared) -> bool {
    let due = Instant::now() + FRAME;
    loop {
        let wait = due.saturating_duration_since(Instant::now());
        let pressed = match event::poll(wait) {
            Ok(false) => return true,
            Ok(true) => event::read(),
            Err(_) => return false,
        };
        let key = match pressed {
            Ok(Event::Key(key)) if key.kind == KeyEventKind::Press => key,
            Ok(_) => continue,
            Err(_) => return false,
        };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, control) {
            (KeyCode::Char('q'), false) | (KeyCode::Char('c'), true) => stop(shared),
            (KeyCode::Char('l'), true) => drop(terminal.clear()),
            _ => continue,
        }
        return true;
    }
}

/// Sends the signal of Ctrl-C to this process, which the terminal no longer does.
fn stop(shared: &Shared) {
    let saves = shared.view(|view| {
        let first = !std::mem::replace(&mut view.is_stopping, true);
        first && view.status.folder.is_some()
    });
    // Without a folder, or the second time, the signal ends the process.
    if !saves {
        shared.end();
        ratatui::restore();
    }
    // The number of the signal is valid, so this does not fail.
    let _ = signal_hook::low_level::raise(SIGINT);
}
