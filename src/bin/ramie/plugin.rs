//! The command `ramie plugin`.

use std::error::Error;
use std::io::{self, Write};

use ramie_plugins::{Environment, Origin, Platform, XLA_CPU};

pub(crate) fn install(platform: Platform, again: bool) -> Result<(), Box<dyn Error>> {
    let env = Environment::from_process();
    let plugin = if again {
        env.reinstall(platform)?
    } else {
        env.install(platform)?
    };
    if plugin.origin == Origin::Cache {
        eprintln!("ramie: the {platform} plugin is already installed");
    }
    writeln!(io::stdout(), "{}", plugin.path.display())?;
    if platform == Platform::Cpu {
        eprintln!("ramie: RAMIE_PJRT_PLUGIN={XLA_CPU} uses it");
    }
    Ok(())
}

pub(crate) fn list() -> Result<(), Box<dyn Error>> {
    let env = Environment::from_process();
    let mut out = io::stdout().lock();
    if let Some(path) = std::env::var_os("RAMIE_PJRT_PLUGIN").filter(|path| !path.is_empty()) {
        let path = path.to_string_lossy();
        writeln!(
            out,
            "RAMIE_PJRT_PLUGIN is set and takes precedence: {path}\n"
        )?;
    }
    writeln!(out, "PLATFORM  DEVICE   {:<WIDTH$}  PLUGIN", "PACKAGE")?;
    for platform in Platform::ALL {
        let device = if env.device_visible(platform) {
            "visible"
        } else {
            "none"
        };
        let used = env.installed(platform);
        let mut row = |package: &str, plugin: &str| {
            writeln!(
                out,
                "{platform:<8}  {device:<7}  {package:<WIDTH$}  {plugin}"
            )
        };
        match &used {
            Some(plugin) => {
                let version = plugin.version.as_deref().unwrap_or("unknown");
                let name = plugin.package.unwrap_or("unknown");
                let (origin, path) = (plugin.origin, plugin.path.display());
                row(&format!("{name} {version}"), &format!("{path} ({origin})"))?;
            }
            None => row("-", &remedy(&env, platform))?,
        }
        // The others that are pinned, in the order in which an installation tries them.
        for release in env.releases(platform) {
            let package = release.package();
            let is_used = used.as_ref().and_then(|u| u.package) == Some(package.name);
            if env.releases(platform).count() > 1 && !is_used {
                row(
                    &package.to_string(),
                    &format!("not used: {}", release.about),
                )?;
            }
        }
    }
    Ok(())
}

/// The width of the column of packages.
const WIDTH: usize = 32;

/// Returns a suggestion for a platform without a plugin.
pub(crate) fn remedy(env: &Environment, platform: Platform) -> String {
    match env.release(platform) {
        Ok(release) => format!(
            "not installed: `ramie plugin install {platform}` downloads {:.0} MB",
            release.bytes() as f64 / 1e6
        ),
        Err(_) => "not installed, and no plugin is published for this machine".to_owned(),
    }
}
