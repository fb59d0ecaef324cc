//! Detection of programs that the plugin runs synchronously, inside the launch.
//!
//! The CPU plugin hands programs to another thread, except tiny ones: those with fewer than a
//! thousand operations by its own count. When a launch of a tiny program returns, the program has
//! finished, so its completion need not be tracked. The observation that a program *had* finished
//! when its launch returned proves less: a fast thread may have run it, and may still be about to
//! release donated inputs.

use crate::executable::Inner;
use crate::value::Value;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of consecutive launches that had finished when they returned, after which the
/// plugin is asked for the size of the program. The query takes some microseconds.
const SURE: u32 = 16;

/// Programs with fewer operations run inside the launch.
const TINY: f32 = 1000.0;

/// Observations about one program.
#[derive(Default)]
pub(crate) struct AtOnce {
    /// The number of consecutive launches that had finished when they returned.
    over: AtomicU32,
    /// Whether the program is tiny; queried once.
    tiny: OnceLock<bool>,
}

impl Inner {
    /// Returns `true` if a launch now finishes before it returns. The plugin does not run a
    /// program inside the launch while its inputs are still being computed. The linked backend runs
    /// each program inside the launch.
    #[inline]
    pub(crate) fn ends_at_once(&self) -> bool {
        self.client.is_linked || self.is_seen_to_end_at_once()
    }

    #[inline]
    fn is_seen_to_end_at_once(&self) -> bool {
        self.at_once.over.load(Ordering::Relaxed) >= SURE
            && self.devices.len() == 1
            && !self.signature.outputs.is_empty()
            && *self.at_once.tiny.get_or_init(|| self.is_tiny())
            && self.client.under_way.is_idle()
    }

    /// Records whether a tracked launch had finished when it returned.
    #[inline]
    pub(crate) fn observe(&self, over: bool) {
        let before = self.at_once.over.load(Ordering::Relaxed);
        let now = if over { SURE.min(before + 1) } else { 0 };
        if now != before {
            self.at_once.over.store(now, Ordering::Relaxed);
        }
    }

    fn is_tiny(&self) -> bool {
        let costs = match self.client.is_cpu {
            true => self.unloaded.cost_analysis().unwrap_or_default(),
            false => return false,
        };
        let mut operations = costs.iter().filter(|(name, _)| name == "flops");
        matches!(operations.next(), Some((_, Value::F32(n))) if *n < TINY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::{Platform, find};
    use crate::{BufferType, Client, ClientOptions, ElementType, Executable, Plugin};

    fn compiled(client: Client, n: i64) -> Executable {
        let ty = format!("tensor<{n}xf32>");
        let text = format!(
            "module @sum {{ func.func public @main(%x: {ty}) -> {ty} {{\n\
             %y = stablehlo.add %x, %x : {ty}\n return %y : {ty} }} }}"
        );
        let inputs = [BufferType::new(ElementType::F32, &[n])];
        client
            .compile(&text, &Default::default(), &inputs, &[])
            .unwrap()
    }

    #[test]
    fn only_what_is_tiny_is_taken_to_end_in_the_launch() {
        let plugin = Plugin::load(find(Some(Platform::Cpu)).unwrap().path).unwrap();
        let client = Client::new(&plugin, &ClientOptions::new().cpu_device_count(1)).unwrap();
        for (n, tiny) in [(8, true), (4096, false)] {
            let program = compiled(client, n).0;
            let always = program.client.is_linked;
            assert_eq!(program.ends_at_once(), always, "of {n}, before any launch");
            // Simulates a fast thread that finishes first each time.
            (0..SURE).for_each(|_| program.observe(true));
            let expected = always || tiny;
            assert_eq!(program.ends_at_once(), expected, "of {n} operations");
            program.observe(false);
            assert_eq!(
                program.ends_at_once(),
                always,
                "of {n}, after one that was not over"
            );
        }
    }
}
