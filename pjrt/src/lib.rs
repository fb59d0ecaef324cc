//! A thin, safe wrapper of the PJRT C API, the interface of XLA plugins.
//!
//! A plugin is a shared library that contains a compiler and a runtime for one kind of device.
//! [`Plugin`] loads it, [`Client`] initializes it, [`Client::compile`] compiles StableHLO text to
//! an [`Executable`], and [`Executable::execute`] runs the executable on [`Buffer`]s:
//!
//! ```no_run
//! use ramie_pjrt::{BufferType, Client, ClientOptions, CompileOptions, ElementType, Plugin};
//!
//! # fn main() -> ramie_pjrt::Result<()> {
//! let plugin = Plugin::load("xla_cpu_pjrt.so")?;
//! let client = Client::new(&plugin, &ClientOptions::new().cpu_device_count(1))?;
//! let scalar = BufferType::new(ElementType::F32, &[]);
//! let program = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
//!   %y = stablehlo.add %x, %x : tensor<f32>
//!   return %y : tensor<f32>
//! }";
//! let double = client.compile(program, &CompileOptions::default(), &[scalar], &[])?;
//! let x = client.buffer_from_host(&1.5f32.to_ne_bytes(), scalar, client.addressable_devices()[0])?;
//! let mut outputs = Vec::new();
//! double.execute(&[&x], &[], &mut outputs)?;
//! let mut y = [0; 4];
//! outputs[0].copy_to_host(&mut y)?;
//! assert_eq!(f32::from_ne_bytes(y), 3.0);
//! # Ok(())
//! # }
//! ```
//!
//! `ramie_plugins` finds and installs the libraries. The bindings of the C ABI are handwritten (`sys`).
//! Beside the kernels of `ramie-cpu`, this is the only unsafe code of Ramie. One binary works with
//! plugins of PJRT API 0.81 and later.

mod aligned;
mod analysis;
mod buffer;
mod buffer_type;
mod callback;
mod client;
mod client_options;
mod compile_options;
mod compiler_thread;
mod device;
mod element_type;
#[cfg(not(target_family = "wasm"))]
mod elf;
mod error;
mod event;
mod executable;
mod execute;
mod exit;
mod features;
mod heap;
mod host;
mod host_calls;
mod host_view;
mod key_value;
mod launch;
mod launches;
#[cfg_attr(target_family = "wasm", path = "no_library.rs")]
mod library;
mod linked;
mod memory;
mod plugin;
mod profiler;
mod registry;
mod shardings;
mod signals;
mod sys;
mod target;
mod topology;
mod under_way;
mod unloaded;
mod value;

pub use aligned::AlignedBytes;
pub use analysis::MemoryAnalysis;
pub use buffer::{Buffer, HostCopy};
pub use buffer_type::BufferType;
pub use callback::Callback;
pub use client::Client;
pub use client_options::ClientOptions;
pub use compile_options::{CompileOptions, OptionOverride};
pub use device::{Device, Memory, MemoryStats};
pub use element_type::ElementType;
pub use error::{Error, ErrorCode, Result};
pub use executable::{Executable, Signature};
pub use exit::at_exit;
pub use host::HostData;
pub use host_view::HostView;
pub use key_value::{KeyValueError, KeyValueStore};
pub use memory::check_host_memory;
pub use plugin::{Extension, Plugin};
pub use profiler::Profiler;
pub use registry::{BufferMut, BufferView};
pub use signals::{end_when_pipe_closes, fail_writes_beyond_limit};
pub use sys::OLDEST_MINOR;
pub use target::{InvalidTarget, Target, TargetError};
pub use topology::Topology;
pub use unloaded::UnloadedExecutable;
pub use value::Value;
