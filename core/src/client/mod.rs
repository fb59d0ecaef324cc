//! The process's XLA client: its plugin and devices, compilation, and transfers of elements to
//! devices and back. Uses only `functions` and the folders before it.

pub(crate) mod assemble;
mod cache;
mod compile;
mod dump;
mod fingerprint;
pub(crate) mod host;
mod make_mesh;
pub(crate) mod ordered;
pub(crate) mod put;
pub(crate) mod sharded;
pub(crate) mod shards;

use crate::base::lock::lock;
use crate::base::scoped;
use crate::dtypes::Literal;
use crate::program::array::DeviceArray;
use crate::sharding::Sharding;
use crate::{Array, Aval, Error, Result};
use fingerprint::Surroundings;
use ramie_pjrt::{
    AlignedBytes, Buffer, Callback, Client, ClientOptions, Device, HostData, Plugin,
    check_host_memory,
};
use ramie_plugins::settings;
use ramie_plugins::{Platform, PluginLocation};
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::{Arc, Mutex, OnceLock};

pub(crate) use compile::{
    Cache, ModuleBytes, Origin, Program, compile, compile_module, compile_or_load,
};
pub use compile::{CompilationStats, compilation_stats};
pub use make_mesh::{create_hybrid_device_mesh, make_mesh, make_mesh_with};

/// Options of the process's client. Set them before the first array is created; see
/// [`configure`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeOptions {
    /// Platform to use. Defaults to `RAMIE_PLATFORM`, or else to the best one available.
    pub platform: Option<Platform>,
    /// Number of devices of a CPU client. Defaults to `RAMIE_NUM_CPU_DEVICES`, or else to 1.
    pub cpu_devices: Option<usize>,
    /// Whether the persistent compilation cache is enabled. By default it is, in the user's cache
    /// directory or the directory `RAMIE_COMPILATION_CACHE`, unless that is `off`.
    pub compilation_cache: Option<bool>,
}

/// The XLA client of this process.
pub struct Runtime {
    client: Client,
    location: PluginLocation,
    cache: Option<Cache>,
    surroundings: Surroundings,
    fingerprint: OnceLock<String>,
}

/// The options, and whether a client is created with them.
static OPTIONS: Mutex<(RuntimeOptions, bool)> = Mutex::new((
    RuntimeOptions {
        platform: None,
        cpu_devices: None,
        compilation_cache: None,
    },
    false,
));
static RUNTIME: OnceLock<Result<Runtime>> = OnceLock::new();

/// Creates a client with the devices of all processes.
pub(crate) type CreateClient = fn(&Plugin, Platform, ClientOptions) -> Result<Client>;
static CREATE_CLIENT: OnceLock<CreateClient> = OnceLock::new();

/// Sets the function that creates the client, for programs of several processes.
pub(crate) fn set_create_client(create: CreateClient) {
    let _ = CREATE_CLIENT.set(create);
}

thread_local! { static DEFAULT: Cell<Option<Device>> = const { Cell::new(None) }; }

/// Sets the options with which the client will be created.
///
/// # Errors
/// Returns an error if the client already exists with other options.
///
/// ```no_run
/// use ramie_core::options::RuntimeOptions;
/// use ramie_core::configure;
/// configure(RuntimeOptions { cpu_devices: Some(8), ..Default::default() })?;
/// # Ok::<(), ramie_core::Error>(())
/// ```
pub fn configure(options: RuntimeOptions) -> Result<()> {
    let mut guard = lock(&OPTIONS);
    let (current, in_use) = &mut *guard;
    if *in_use && *current != options {
        return Err(Error::Configuration(
            "configure: the runtime is already in use with other options\n  help: call `configure` \
             at the start of `main`, before the first array"
                .into(),
        ));
    }
    *current = options;
    Ok(())
}

/// Returns the client, which the first call creates.
///
/// # Errors
/// Returns an error if no plugin can be found, loaded or started. The error reports what was tried and
/// what to do.
pub fn runtime() -> Result<&'static Runtime> {
    RUNTIME
        .get_or_init(|| {
            let options = {
                let mut guard = lock(&OPTIONS);
                guard.1 = true;
                guard.0.clone()
            };
            Runtime::start(&options)
        })
        .as_ref()
        .map_err(Clone::clone)
}

/// Returns the platform of this process, if there is a working plugin.
pub(crate) fn platform() -> Option<Platform> {
    Some(runtime().ok()?.plugin().platform)
}

/// A plugin of another platform than the one that the user asked for.
fn another(plugin: &PluginLocation, wanted: Platform, reported: Platform) -> Error {
    let path = plugin.path.display();
    Error::Plugin(format!(
        "the plugin `{path}` is for {reported}, but the program asks for {wanted}\n  help: unset RAMIE_PLATFORM, or \
         set RAMIE_PJRT_PLUGIN to a plugin for {wanted}"
    ))
}

/// Returns the client, if it has been created.
pub(crate) fn started() -> Option<&'static Runtime> {
    RUNTIME.get()?.as_ref().ok()
}

impl Runtime {
    fn start(options: &RuntimeOptions) -> Result<Runtime> {
        settings::check()?;
        ramie_pjrt::fail_writes_beyond_limit();
        let surroundings = Surroundings::read();
        let mut location =
            ramie_plugins::find(options.platform).map_err(|e| Error::Plugin(e.to_string()))?;
        let plugin = Plugin::load(&location.path)?;
        let mut client_options = ClientOptions::default();
        let asked = options.cpu_devices.or(settings::NUM_CPU_DEVICES.get()?);
        // A plugin of an unknown platform gets the number only if the user asks for one.
        let devices = match location.platform {
            Platform::Cpu => Some(asked.unwrap_or(1)),
            Platform::Other(_) => asked,
            _ => None,
        };
        if let Some(devices) = devices {
            client_options = client_options.cpu_device_count(devices as i64);
        }
        let client = match CREATE_CLIENT.get() {
            Some(create) => create(&plugin, location.platform, client_options)?,
            None => Client::new(&plugin, &client_options)?,
        };
        let reported = Platform::reported(client.platform_name());
        match options.platform.or(settings::PLATFORM.get()?) {
            Some(wanted) if wanted != reported => return Err(another(&location, wanted, reported)),
            _ => location.platform = reported,
        }
        let cache = match options.compilation_cache {
            Some(false) => None,
            // Compiling takes little longer than reading a file.
            _ if location.is_linked() => None,
            _ => Cache::from_environment()?,
        };
        Ok(Runtime {
            client,
            location,
            cache,
            surroundings,
            fingerprint: OnceLock::new(),
        })
    }

    /// Returns the PJRT client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the plugin, and how it was found.
    pub fn plugin(&self) -> &PluginLocation {
        &self.location
    }

    pub(crate) fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// Returns a string that differs whenever compiled code may differ for the same program and
    /// options.
    pub(crate) fn fingerprint(&self) -> &str {
        self.fingerprint.get_or_init(|| {
            fingerprint::fingerprint(&self.client, &self.location, &self.surroundings)
        })
    }

    /// Returns the devices of this process.
    pub fn devices(&self) -> &[Device] {
        self.client.addressable_devices()
    }

    /// Returns the device of arrays created without a device or sharding.
    pub fn default_device(&self) -> Device {
        DEFAULT.get().unwrap_or(self.devices()[0])
    }
}

/// Returns all devices, including those of other processes;
/// [`local_devices`](crate::services::distributed::local_devices) returns this process's own.
///
/// # Panics
/// Panics if there is no working plugin.
#[doc(alias = "device_count")]
#[track_caller]
pub fn devices() -> &'static [Device] {
    match runtime() {
        Ok(r) => r.client.devices(),
        Err(e) => panic!("devices: {e}"),
    }
}

/// Runs `f` with `device` as the default device of new arrays and eager operations.
#[doc(alias = "jax_default_device")]
pub fn with_default_device<R>(device: Device, f: impl FnOnce() -> R) -> R {
    scoped::with(&DEFAULT, Some(device), f)
}

/// Copies elements to a device.
pub(crate) fn put(bytes: &[u8], aval: Aval, device: Device) -> Result<Array> {
    let buffer = put_buffer(bytes, aval, device)?;
    Ok(Array::from_device(
        aval,
        buffer,
        Sharding::SingleDevice(device),
    ))
}

/// Same as [`put`], but returns a buffer.
pub(crate) fn put_buffer(bytes: &[u8], aval: Aval, device: Device) -> Result<Buffer> {
    let runtime = runtime()?;
    // Avoids a second copy of large arrays: the device uses these bytes.
    const LARGE: usize = 1 << 16;
    let client = runtime.client;
    if bytes.len() >= LARGE && runtime.location.platform == Platform::Cpu {
        check_host_memory(format_args!("copying {aval} to the device"), bytes.len())?;
        let owned = AlignedBytes::from(bytes);
        return Ok(client.buffer_from_owned(owned, aval.buffer_type(), device)?);
    }
    Ok(client.buffer_from_host(bytes, aval.buffer_type(), device)?)
}

/// Moves elements to a device: it shares their memory if possible, and copies them otherwise.
pub(crate) fn put_owned<T: HostData>(data: T, aval: Aval, device: Device) -> Result<Array> {
    let buffer = put_owned_buffer(data, aval, device)?;
    Ok(Array::from_device(
        aval,
        buffer,
        Sharding::SingleDevice(device),
    ))
}

/// Same as [`put_owned`], but returns a buffer.
pub(crate) fn put_owned_buffer<T: HostData>(data: T, aval: Aval, device: Device) -> Result<Buffer> {
    if Callback::is_running() {
        // An asynchronous transfer may need the thread on which the callback runs.
        return put_buffer(data.as_bytes(), aval, device);
    }
    let client = runtime()?.client;
    Ok(client.buffer_from_owned(data, aval.buffer_type(), device)?)
}

pub(crate) fn put_scalar(literal: Literal) -> Result<Arc<DeviceArray>> {
    let runtime = runtime()?;
    put_scalar_on(literal, runtime.default_device())
}

pub(crate) fn put_scalar_on(literal: Literal, device: Device) -> Result<Arc<DeviceArray>> {
    let aval = literal.aval();
    let bytes = literal.value().to_bytes(aval.dtype());
    let buffer = runtime()?
        .client
        .buffer_from_host(&bytes, aval.buffer_type(), device)?;
    Ok(Arc::new(DeviceArray {
        aval,
        buffers: SmallVec::from_buf([buffer]),
        sharding: Sharding::SingleDevice(device),
    }))
}
