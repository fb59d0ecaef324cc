//! The command `ramie doctor`: checks everything that a program needs, in the order of use.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use ramie_pjrt::{BufferType, Client, ClientOptions, CompileOptions, ElementType, Plugin};
use ramie_plugins::{Environment, Origin, Platform, PluginLocation, settings};

use crate::fix;
use crate::plugin::remedy;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

pub(crate) fn run(platform: Option<Platform>) -> Outcome {
    let env = Environment::from_process();
    line("Ramie", env!("CARGO_PKG_VERSION"))?;
    cache(&env)?;
    let start = Instant::now();
    let found = env.find(platform);
    let found = found.map_err(|e| format!("{e}\nfix: {}", fix::of_search(&env, platform, &e)))?;
    let elapsed = milliseconds(start);
    check(&env, platform, &found, &elapsed)
        .map_err(|e| format!("{e}\nfix: {}", fix::of_plugin(&found, &*e)).into())
}

/// Checks a plugin, which was found in a time.
fn check(
    env: &Environment,
    platform: Option<Platform>,
    found: &PluginLocation,
    elapsed: &str,
) -> Outcome {
    describe(env, platform, found, elapsed)?;
    let start = Instant::now();
    let plugin = Plugin::load(&found.path)?;
    let loading = milliseconds(start);
    let (major, minor) = plugin.api_version();
    line("PJRT API", &format!("{major}.{minor}"))?;

    let options = match found.platform {
        Platform::Cpu => ClientOptions::new().cpu_device_count(1),
        // A check must not reserve most of the GPU's memory, which running programs may need.
        Platform::Cuda | Platform::Rocm | Platform::OneApi => {
            ClientOptions::new().set("preallocate", false)
        }
        Platform::Tpu | Platform::Metal | Platform::Other(_) => ClientOptions::new(),
    };
    let start = Instant::now();
    let client = Client::new(&plugin, &options)?;
    let creating = milliseconds(start);
    line(
        "runtime",
        &runtime(client.platform_name(), client.platform_version()),
    )?;
    let reported = Platform::reported(client.platform_name());
    if reported != found.platform {
        let asked = found.platform;
        line(
            "note",
            &format!("the plugin is for {reported}, not for {asked}: programs use it as such"),
        )?;
    }
    for device in client.addressable_devices() {
        line(
            "device",
            &format!("{} ({})", device.description(), device.kind()),
        )?;
    }
    line("load", &loading)?;
    line("client", &creating)?;
    smoke_test(client)?;
    line("result", "everything works")
}

/// Prints where a plugin is and which one it is, and compares its files with those that were
/// installed.
fn describe(
    env: &Environment,
    platform: Option<Platform>,
    found: &PluginLocation,
    elapsed: &str,
) -> Outcome {
    line("platform", &choice(env, platform, found))?;
    line("plugin", &found.path.display().to_string())?;
    line("", &format!("found in: {} ({elapsed})", found.origin))?;
    for text in package(env, found) {
        line("", &text)?;
    }
    if found.origin == Origin::Cache {
        let start = Instant::now();
        env.verify(found.platform)?;
        let elapsed = milliseconds(start);
        line(
            "",
            &format!("files: unchanged since installation, by SHA-256 ({elapsed})"),
        )?;
    }
    for other in [Platform::Cuda, Platform::Tpu, Platform::Rocm] {
        if other != found.platform && env.device_visible(other) && env.installed(other).is_none() {
            let advice = remedy(env, other);
            line(
                "note",
                &format!("a {other} device is visible, but its plugin is {advice}"),
            )?;
        }
    }
    Ok(())
}

/// Returns the chosen platform and the reason for the choice.
fn choice(env: &Environment, asked: Option<Platform>, found: &PluginLocation) -> String {
    let reason = match (asked, env.platform_variable()) {
        (Some(_), _) => "set by --platform",
        (None, Ok(Some(_))) => "RAMIE_PLATFORM",
        _ if found.origin == Origin::Variable => "by the name of the plugin's file",
        _ if matches!(settings::PJRT_PLUGIN.get(), Ok(Some(_))) => "RAMIE_PJRT_PLUGIN",
        _ => "the best available; use RAMIE_PLATFORM or --platform to choose another",
    };
    format!("{} ({reason})", found.platform)
}

/// Returns lines about the plugin's package and its contents.
fn package(env: &Environment, found: &PluginLocation) -> Vec<String> {
    let version = found.version.as_deref().unwrap_or("of unknown version");
    let Some(name) = found.package else {
        return Vec::new();
    };
    let mut texts = vec![format!("package: {name} {version}")];
    let mut releases = env.releases(found.platform);
    if let Some(release) = releases.find(|release| release.package().name == name) {
        texts.push(format!("about: {}", release.about));
    }
    texts
}

fn cache(env: &Environment) -> Outcome {
    let folder = env.cache_dir();
    line("cache", &folder.display().to_string())?;
    for (part, content) in [("plugins", "plugins"), ("compiled", "compiled programs")] {
        let (files, bytes) = size(&folder.join(part));
        line(
            "",
            &format!("{content}: {:.1} MB in {files} files", bytes as f64 / 1e6),
        )?;
    }
    Ok(())
}

/// Returns the number and total size of all files below `folder`, skipping unreadable entries.
fn size(folder: &Path) -> (u64, u64) {
    let mut total = (0, 0);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (files, bytes) = match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => (1, meta.len()),
            Err(_) => (0, 0),
        };
        total = (total.0 + files, total.1 + bytes);
    }
    total
}

/// Compiles and runs a matrix product with a known result.
fn smoke_test(client: Client) -> Outcome {
    const PROGRAM: &str = "func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}";
    let matrix = BufferType::new(ElementType::F32, &[2, 2]);
    let start = Instant::now();
    let program = client.compile(PROGRAM, &CompileOptions::default(), &[matrix], &[])?;
    line("compile", &milliseconds(start))?;

    let device = *client
        .addressable_devices()
        .first()
        .ok_or("the plugin has no devices")?;
    let bytes: Vec<u8> = [1f32, 2.0, 3.0, 4.0]
        .iter()
        .flat_map(|x| x.to_ne_bytes())
        .collect();
    let start = Instant::now();
    let x = client.buffer_from_host(&bytes, matrix, device)?;
    let mut results = Vec::new();
    program.execute(&[&x], &[], &mut results)?;
    let mut bytes = [0; 16];
    results[0].copy_to_host(&mut bytes)?;
    line("run", &milliseconds(start))?;
    let (numbers, _) = bytes.as_chunks::<4>();
    let product: Vec<f32> = numbers.iter().map(|x| f32::from_ne_bytes(*x)).collect();
    if product != [7.0, 10.0, 15.0, 22.0] {
        return Err(format!(
            "the compiled program is wrong: [[1, 2], [3, 4]] squared gave {product:?}, \
             expected [7, 10, 15, 22]"
        )
        .into());
    }
    Ok(())
}

fn milliseconds(start: Instant) -> String {
    format!("{:.2} ms", start.elapsed().as_secs_f64() * 1e3)
}

/// Returns the runtime's name and the first line of its version, unless that only repeats the
/// name.
fn runtime(name: &str, version: &str) -> String {
    match version.lines().next() {
        Some(version) if version != name => format!("{name} {version}"),
        _ => name.to_owned(),
    }
}

fn line(label: &str, text: &str) -> Outcome {
    writeln!(io::stdout(), "{label:<10}{text}")?;
    Ok(())
}
