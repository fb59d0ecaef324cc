//! One client with 8 CPU devices for all tests of a binary.
#![allow(dead_code)]

use ramie_pjrt::{
    Buffer, BufferType, Client, ClientOptions, CompileOptions, Device, ElementType, Executable,
    Plugin,
};
use ramie_plugins::Platform;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The CPU plugin's path: `RAMIE_PJRT_PLUGIN`, or where it is installed.
pub fn plugin_path() -> PathBuf {
    let found = ramie_plugins::find(Some(Platform::Cpu));
    found.expect("the CPU plugin is found").path
}

/// Whether the tests use the CPU backend that is linked into the program, not XLA's plugin.
pub fn is_linked() -> bool {
    ramie_plugins::find(Some(Platform::Cpu)).is_ok_and(|found| found.is_linked())
}

/// The client.
pub fn client() -> Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    *CLIENT.get_or_init(|| {
        let plugin = Plugin::load(plugin_path()).expect("the CPU plugin loads");
        Client::new(&plugin, &ClientOptions::new().cpu_device_count(8))
            .expect("the CPU client starts")
    })
}

/// Device number `i`.
pub fn device(i: usize) -> Device {
    client().addressable_devices()[i]
}

/// The type of an `f32` array.
pub fn f32s(dims: &[i64]) -> BufferType {
    BufferType::new(ElementType::F32, dims)
}

/// An `f32` array on a device.
pub fn put(data: &[f32], dims: &[i64], device: Device) -> Buffer {
    let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_ne_bytes()).collect();
    client()
        .buffer_from_host(&bytes, f32s(dims), device)
        .unwrap()
}

/// The contents of an `f32` array.
pub fn get(buffer: &Buffer) -> Vec<f32> {
    let mut bytes = vec![0; buffer.size_bytes()];
    buffer.copy_to_host(&mut bytes).unwrap();
    bytes
        .chunks_exact(4)
        .map(|b| f32::from_ne_bytes(b.try_into().unwrap()))
        .collect()
}

/// A program for one device.
pub fn compile(program: &str, inputs: &[BufferType], donated: &[bool]) -> Executable {
    client()
        .compile(program, &CompileOptions::default(), inputs, donated)
        .unwrap()
}

/// Runs and returns the results.
pub fn run(executable: &Executable, args: &[&Buffer]) -> ramie_pjrt::Result<Vec<Buffer>> {
    let mut outputs = Vec::new();
    executable.execute(args, &[], &mut outputs)?;
    Ok(outputs)
}

/// Builds a shared library from this source.
pub fn library(folder: &Path, name: &str, source: &str) -> PathBuf {
    let (from, to) = (
        folder.join(format!("{name}.rs")),
        folder.join(format!("{name}.so")),
    );
    std::fs::write(&from, source).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .args([
            "--edition=2024",
            "--crate-type=cdylib",
            "-Cpanic=abort",
            "-o",
        ])
        .args([&to, &from])
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    to
}
