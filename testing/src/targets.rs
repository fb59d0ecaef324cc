//! Targets of ahead-of-time compilation.

use ramie_pjrt::Target;
use ramie_plugins::Environment;

/// Selects the targets whose plugin is installed, and prints the others.
pub fn installed(names: &[&str]) -> Vec<Target> {
    let environment = Environment::from_process();
    let targets = names.iter().map(|name| name.parse::<Target>().unwrap());
    let there = targets.filter(|target| {
        let there = environment.installed(target.platform()).is_some();
        if !there {
            println!("skipped {target}: its plugin is not installed");
        }
        there
    });
    there.collect()
}
