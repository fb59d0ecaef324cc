//! Clients, which manage one plugin's devices in this process.

use crate::client_options::ClientOptions;
use crate::device::{Device, DeviceInner};
use crate::error::{Result, borrowed, owned_string};
use crate::key_value::{self, KeyValueStore, Shared};
use crate::launches::Launches;
use crate::plugin::Plugin;
use crate::sys::{self, Api, RawClient, RawDevice};
use crate::under_way::{UnderWay, wait_at_exit};
use ramie_base::clock::Instant;
use std::fmt;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// A client: the devices of one plugin, and everything created on them.
///
/// This is a copyable handle. A client lives until the process ends: devices, buffers and
/// executables refer to it without reference counts, and destroying a client while it has running
/// work can crash plugins.
#[derive(Clone, Copy)]
pub struct Client(pub(crate) &'static ClientInner);

pub(crate) struct ClientInner {
    pub raw: NonNull<RawClient>,
    pub api: Api,
    plugin: Plugin,
    platform_name: String,
    /// Whether device memory is host memory.
    pub is_cpu: bool,
    /// Whether the backend is linked into the program: its launches and transfers end before they return.
    pub is_linked: bool,
    platform_version: String,
    process_index: i32,
    /// All devices. Set right after creation, because devices refer back to this struct.
    devices: OnceLock<Box<[Device]>>,
    addressable: OnceLock<Box<[Device]>>,
    /// State of launches on several devices.
    pub launches: Launches,
    /// Work that the plugin has not finished.
    pub under_way: UnderWay,
    /// Whether programs can call functions of this process.
    pub callbacks: OnceLock<Result<()>>,
}

// SAFETY: PJRT clients may be used from any thread, and everything else here is immutable or
// locked.
unsafe impl Send for ClientInner {}
// SAFETY: as above.
unsafe impl Sync for ClientInner {}

impl Client {
    /// Creates a client.
    ///
    /// # Errors
    /// Returns [`Error::ClientOption`](crate::Error::ClientOption) for options that the plugin
    /// would ignore or abort on, or the plugin's error, for example if its hardware is missing.
    pub fn new(plugin: &Plugin, options: &ClientOptions) -> Result<Client> {
        Client::create(plugin, options, None)
    }

    /// Creates the client of one of several processes, which discover each other's devices
    /// through a shared key-value store.
    ///
    /// The options identify this process; for CUDA, they are `node_id` and `num_nodes`. The call
    /// returns when all processes have created their clients. Plugins that support a single
    /// process only, such as the CPU plugin, ignore the store. The store lives until the process
    /// ends, because plugins use it again when devices first communicate.
    ///
    /// # Errors
    /// Returns the same errors as [`new`](Client::new), and those of the store, for example if a
    /// process did not join in time.
    pub fn with_key_value_store(
        plugin: &Plugin,
        options: &ClientOptions,
        store: impl KeyValueStore,
    ) -> Result<Client> {
        Client::create(plugin, options, Some(key_value::leak(store)))
    }

    fn create(
        plugin: &Plugin,
        options: &ClientOptions,
        store: Option<&'static Shared>,
    ) -> Result<Client> {
        options.check()?;
        let start = Instant::now();
        let api = plugin.api();
        let raw = ClientInner::create(api, options, store)?;
        let mut name = sys::zeroed::<sys::ClientPlatformName>();
        name.client = raw.as_ptr();
        let mut version = sys::zeroed::<sys::ClientPlatformVersion>();
        version.client = raw.as_ptr();
        let mut process = sys::zeroed::<sys::ClientProcessIndex>();
        process.client = raw.as_ptr();
        // SAFETY: the client is live; the strings live as long as it does.
        let (platform_name, platform_version) = unsafe {
            api.call(&mut name)?;
            api.call(&mut version)?;
            api.call(&mut process)?;
            (
                owned_string(name.name.cast(), name.name_size),
                owned_string(version.version.cast(), version.version_size),
            )
        };
        let inner: &'static ClientInner = Box::leak(Box::new(ClientInner {
            raw,
            api,
            plugin: plugin.clone(),
            is_cpu: platform_name == "cpu",
            is_linked: plugin.is_linked(),
            platform_name,
            platform_version,
            process_index: process.process_index,
            devices: OnceLock::new(),
            addressable: OnceLock::new(),
            launches: Launches::default(),
            under_way: UnderWay::new(api),
            callbacks: OnceLock::new(),
        }));
        inner.read_devices()?;
        wait_at_exit(&inner.under_way);
        let client = Client(inner);
        tracing::debug!(
            platform = client.platform_name(),
            devices = client.addressable_devices().len(),
            elapsed = ?start.elapsed(),
            "created client"
        );
        Ok(client)
    }

    /// Returns the plugin that the client was created from.
    pub fn plugin(self) -> &'static Plugin {
        &self.0.plugin
    }

    /// Returns the name of the platform: `cpu`, `cuda`, `tpu`, …
    pub fn platform_name(self) -> &'static str {
        &self.0.platform_name
    }

    /// Returns the version of the platform, as reported by the plugin.
    pub fn platform_version(self) -> &'static str {
        &self.0.platform_version
    }

    /// Returns the number of this process among those that share the devices.
    pub fn process_index(self) -> i32 {
        self.0.process_index
    }

    /// Returns all devices, including those of other processes.
    pub fn devices(self) -> &'static [Device] {
        self.0.devices.get().map_or(&[], |d| d)
    }

    /// Returns the devices that this process can use.
    pub fn addressable_devices(self) -> &'static [Device] {
        self.0.addressable.get().map_or(&[], |d| d)
    }

    /// Blocks until all work launched so far has ended, successfully or not.
    pub fn wait(self) {
        self.0.under_way.wait();
    }

    /// Returns the device with this id, if there is one.
    pub fn device(self, id: i32) -> Option<Device> {
        self.devices()
            .iter()
            .copied()
            .find(|device| device.id() == id)
    }
}

impl ClientInner {
    fn create(
        api: Api,
        options: &ClientOptions,
        store: Option<&'static Shared>,
    ) -> Result<NonNull<RawClient>> {
        let raw_options = options.to_raw();
        let mut args = sys::zeroed::<sys::ClientCreate>();
        args.options = raw_options.as_ptr();
        args.num_options = raw_options.len();
        if let Some(store) = store {
            store.hand_over(&mut args);
        }
        // SAFETY: the options borrow `options`, which outlives the call; the store is never
        // freed.
        unsafe { api.call(&mut args) }.map_err(|e| e.during("creating a client"))?;
        Ok(NonNull::new(args.client).expect("a created client is not null"))
    }

    fn read_devices(&'static self) -> Result<()> {
        let mut all = sys::zeroed::<sys::ClientDevices>();
        all.client = self.raw.as_ptr();
        let mut addressable = sys::zeroed::<sys::ClientAddressableDevices>();
        addressable.client = self.raw.as_ptr();
        // SAFETY: the client is live; the lists live as long as it does.
        let (all, addressable): (&[*mut RawDevice], &[*mut RawDevice]) = unsafe {
            self.api.call(&mut all)?;
            self.api.call(&mut addressable)?;
            (
                borrowed(all.devices, all.num_devices),
                borrowed(addressable.devices, addressable.num_devices),
            )
        };
        let mut devices = Vec::with_capacity(all.len());
        for &raw in all {
            let raw = NonNull::new(raw).expect("a listed device is not null");
            // SAFETY: a device of this client, which lives forever.
            let inner = unsafe { DeviceInner::read(self, raw) }?;
            devices.push(Device(Box::leak(Box::new(inner))));
        }
        let find =
            |raw: &*mut RawDevice| devices.iter().copied().find(|d| d.0.raw.as_ptr() == *raw);
        let addressable: Box<[Device]> = addressable.iter().filter_map(find).collect();
        self.addressable.get_or_init(|| addressable);
        self.devices.get_or_init(|| devices.into());
        Ok(())
    }

    /// Returns the device of a raw pointer.
    pub fn device_of(&'static self, raw: *mut RawDevice) -> Option<Device> {
        Client(self)
            .devices()
            .iter()
            .copied()
            .find(|d| d.0.raw.as_ptr() == raw)
    }
}

impl PartialEq for Client {
    fn eq(&self, other: &Client) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Client {}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Client({}, {} devices)",
            self.platform_name(),
            self.devices().len()
        )
    }
}
