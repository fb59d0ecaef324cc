//! Multi-process programs, whose devices are on several hosts.
//!
//! Each host runs the same program. [`initialize`] connects the processes before the first array
//! is created; from then on XLA's client knows the devices of all of them, and compiled programs
//! use XLA's own collectives between hosts (NCCL for NVIDIA GPUs, the interconnect for TPUs). The
//! CPU plugin supports only one process: with it, each process has its own devices, and only this
//! module's host functions work across processes.
//!
//! ```no_run
//! use ramie_core::distributed;
//!
//! // The same in all processes, except for the last number.
//! distributed::initialize("10.0.0.1:8476", 2, 0)?;
//! println!("process {} of {}", distributed::process_index(), distributed::process_count());
//! // …
//! distributed::shutdown()?;
//! # Ok::<(), ramie_core::Error>(())
//! ```
//!
//! Under Slurm, Open MPI, Kubernetes and GKE with TPUs, [`initialize_with`] detects the address
//! and the numbers; see [`Cluster`].
//!
//! The coordinator is a thread of process 0. It checks that all processes are alive, and stores a
//! small table of values ([`key_value_store`]) through which plugins exchange addresses. It does
//! not authenticate connections, so it must run on a trusted network. If the coordinator's
//! address is a loopback address, it listens only on the loopback interface.

mod cluster;
mod connection;
mod coordinator;
mod host;
mod protocol;
mod store;
mod table;
#[cfg(test)]
mod table_tests;

use crate::base::lock::lock;
use crate::{Device, Error, Result};
use cluster::Surroundings;
use connection::{Connection, ProcessConfig, failed};
use coordinator::Coordinator;
use ramie_pjrt::{Client, ClientOptions, Plugin};
use ramie_plugins::Platform;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, ToSocketAddrs};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use crate::base::error::FailureKind;
pub use cluster::Cluster;
pub use host::{
    broadcast_bytes_one_to_all, broadcast_one_to_all, process_allgather, process_allgather_bytes,
    sync_global_devices,
};
pub use store::KeyValueStore;

/// The reaction of a process to the failure of another process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PeerFailure {
    /// Prints the reason and aborts, as JAX does. A collective that waits for a lost process
    /// never ends, so the process would hang.
    #[default]
    Abort,
    /// Continues; functions of this module then fail with the reason.
    Report,
}

/// Options of [`initialize_with`].
///
/// Fields that are `None` are taken from the cluster; see [`Cluster`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistributedOptions {
    /// Host and port of process 0, such as `10.0.0.1:8476`, reachable from all processes. The
    /// port must be free on that host.
    pub coordinator: Option<String>,
    /// Number of processes.
    pub num_processes: Option<usize>,
    /// Index of this process, from 0.
    pub process_id: Option<usize>,
    /// GPUs that this process uses, by their number on the host. Defaults to all, and under Slurm
    /// and Open MPI to the one with the process's index on the host.
    pub local_device_ids: Option<Vec<i64>>,
    /// Cluster environment to use. Defaults to the first one that is detected.
    pub cluster: Option<Cluster>,
    /// Address on which process 0 listens. Defaults to all interfaces, or to the loopback
    /// interface if `coordinator` is a loopback address.
    pub coordinator_bind_address: Option<String>,
    /// Number of the group of hosts that the fastest network connects, if the CUDA plugin does
    /// not detect it. Set it in all processes or in none.
    pub partition_index: Option<i64>,
    /// Maximum time that processes wait for each other at startup.
    pub initialization_timeout: Duration,
    /// Maximum time that a process may be silent before it is considered lost.
    pub heartbeat_timeout: Duration,
    /// Maximum time that processes wait for each other at shutdown.
    pub shutdown_timeout: Duration,
    /// Reaction to the failure of another process.
    pub peer_failure: PeerFailure,
}

impl Default for DistributedOptions {
    /// Takes everything from the cluster. Timeouts are 5 minutes for startup and shutdown, and
    /// 100 seconds for heartbeats, as in JAX.
    fn default() -> DistributedOptions {
        DistributedOptions {
            coordinator: None,
            num_processes: None,
            process_id: None,
            local_device_ids: None,
            cluster: None,
            coordinator_bind_address: None,
            partition_index: None,
            initialization_timeout: Duration::from_secs(300),
            heartbeat_timeout: Duration::from_secs(100),
            shutdown_timeout: Duration::from_secs(300),
            peer_failure: PeerFailure::default(),
        }
    }
}

/// The group of processes, as seen by this process.
struct Group {
    connection: Arc<Connection>,
    coordinator: Option<Coordinator>,
    local_device_ids: Option<Vec<i64>>,
    partition_index: Option<i64>,
    shutdown_timeout: Duration,
}

static GROUP: Mutex<Option<Arc<Group>>> = Mutex::new(None);
/// Index and number of processes; kept after shutdown.
static PROCESS: Mutex<(usize, usize)> = Mutex::new((0, 1));

fn current() -> Option<Arc<Group>> {
    lock(&GROUP).clone()
}

/// Connects this process to the others: `num_processes` is their number, `process_id` the index
/// of this process, and `coordinator` the address of process 0.
///
/// Every process calls this once, before its first array; it returns when all processes have
/// called it. Before a process ends it must call [`shutdown`]; otherwise the others consider it
/// lost. Corresponds to `jax.distributed.initialize`.
///
/// # Errors
/// Returns an error if the runtime is already in use, if the address cannot be reached or bound,
/// if the numbers do not match those of the other processes, or if not all processes connect
/// within 5 minutes; the message names the missing processes.
pub fn initialize(coordinator: &str, num_processes: usize, process_id: usize) -> Result<()> {
    initialize_with(&DistributedOptions {
        coordinator: Some(coordinator.into()),
        num_processes: Some(num_processes),
        process_id: Some(process_id),
        ..DistributedOptions::default()
    })
}

/// Connects this process like [`initialize`], with options. Takes fields that are not set from
/// the cluster.
///
/// # Errors
/// Returns an error in the same cases as [`initialize`], and if a field is neither set nor
/// provided by the cluster.
///
/// ```no_run
/// use ramie_core::distributed::{self, DistributedOptions};
/// // In each task of `srun`, or each pod of an indexed Job.
/// distributed::initialize_with(&DistributedOptions::default())?;
/// # Ok::<(), ramie_core::Error>(())
/// ```
pub fn initialize_with(options: &DistributedOptions) -> Result<()> {
    crate::client::set_create_client(create_client);
    let mut group = lock(&GROUP);
    if group.is_some() {
        return Err(Error::Configuration(
            "distributed::initialize: it has been called already".into(),
        ));
    }
    if crate::client::started().is_some() {
        return Err(Error::Configuration(
            "distributed::initialize: the runtime is already in use, with only the devices of this \
             process\n  help: call it at the start of `main`, before the first array"
                .into(),
        ));
    }
    let (config, local_device_ids) = settle(options)?;
    let coordinator = if config.process == 0 {
        let listener = listen(
            &config.coordinator,
            options.coordinator_bind_address.as_deref(),
        )?;
        let started = Coordinator::start(listener, config.count, config.heartbeat_timeout);
        Some(started.map_err(|e| failed(FailureKind::Other, format!("the coordinator: {e}")))?)
    } else {
        None
    };
    let position = (config.process, config.count);
    let connection = Connection::open(config).inspect_err(|error| {
        if let Some(coordinator) = &coordinator {
            coordinator.fail(&format!("process 0 gave up: {error}"));
        }
    })?;
    tracing::info!(
        process = position.0,
        of = position.1,
        "connected to the other processes"
    );
    *lock(&PROCESS) = position;
    *group = Some(Arc::new(Group {
        connection,
        coordinator,
        local_device_ids,
        partition_index: options.partition_index,
        shutdown_timeout: options.shutdown_timeout,
    }));
    Ok(())
}

/// Returns the given value, or else asks the cluster for it.
fn or<T>(
    given: Option<T>,
    name: &str,
    cluster: Option<Cluster>,
    ask: impl FnOnce(Cluster) -> Result<T, String>,
) -> Result<T, String> {
    match (given, cluster) {
        (Some(given), _) => Ok(given),
        (None, Some(cluster)) => ask(cluster).map_err(|e| format!("{cluster}: {e}")),
        (None, None) => Err(format!(
            "`{name}` is not set, and no cluster was detected\n  help: set it, or set \
             RAMIE_COORDINATOR_ADDRESS, RAMIE_NUM_PROCESSES and RAMIE_PROCESS_ID; Slurm, Open \
             MPI, Kubernetes and GKE with TPUs are detected"
        )),
    }
}

/// Completes the options from the cluster, and checks them.
fn settle(options: &DistributedOptions) -> Result<(ProcessConfig, Option<Vec<i64>>)> {
    ramie_plugins::settings::check()?;
    let around = Surroundings {
        variable: &|name| std::env::var(name).ok(),
        hosts: &|| std::fs::read_to_string("/etc/hosts").unwrap_or_default(),
    };
    let refuse =
        |message: String| Error::Configuration(format!("distributed::initialize: {message}"));
    let cluster = match options.cluster {
        Some(cluster) if !around.is_in(cluster) => {
            return Err(refuse(format!("this process was not started by {cluster}")));
        }
        Some(cluster) => Some(cluster),
        None => around.detect(),
    };
    let ask = |c| around.coordinator(c);
    let coordinator =
        or(options.coordinator.clone(), "coordinator", cluster, ask).map_err(refuse)?;
    let count = or(options.num_processes, "num_processes", cluster, |c| {
        around.count(c)
    })
    .map_err(refuse)?;
    let process = or(options.process_id, "process_id", cluster, |c| {
        around.process(c)
    })
    .map_err(refuse)?;
    if count == 0 || process >= count || u32::try_from(count).is_err() {
        return Err(refuse(format!(
            "process_id {process} is out of range for num_processes {count}; the ids go from 0 to \
             num_processes - 1"
        )));
    }
    let port = coordinator
        .rsplit_once(':')
        .map(|(_, port)| port.parse::<u16>());
    if !matches!(port, Some(Ok(1..))) {
        return Err(refuse(format!(
            "the coordinator's address is {coordinator:?}, expected a host and a port, such as \
             `10.0.0.1:8476`"
        )));
    }
    let mut local_device_ids = options.local_device_ids.clone();
    // If all fields are set, the launcher is not consulted.
    if local_device_ids.is_none() && options.process_id.is_none() {
        let local = cluster
            .map_or(Ok(None), |c| around.local(c))
            .map_err(refuse)?;
        local_device_ids = local.map(|id| vec![id as i64]);
    }
    let config = ProcessConfig {
        coordinator,
        process,
        count,
        join_timeout: options.initialization_timeout,
        heartbeat_timeout: options.heartbeat_timeout,
        peer_failure: options.peer_failure,
    };
    Ok((config, local_device_ids))
}

/// Binds the coordinator's port: on the loopback interface for a loopback address, otherwise on
/// all interfaces.
fn listen(coordinator: &str, bind: Option<&str>) -> Result<TcpListener> {
    let refuse = |address: &str, error: std::io::Error| {
        failed(
            FailureKind::Other,
            format!(
                "distributed::initialize: process 0 cannot listen at {address}: {error}\n  help: \
                 the address must be an address of this host, and its port must be free"
            ),
        )
    };
    if let Some(address) = bind {
        return TcpListener::bind(address).map_err(|e| refuse(address, e));
    }
    let resolved: Vec<_> = coordinator
        .to_socket_addrs()
        .map_err(|e| refuse(coordinator, e))?
        .collect();
    if !resolved.is_empty() && resolved.iter().all(|a| a.ip().is_loopback()) {
        return TcpListener::bind(&resolved[..]).map_err(|e| refuse(coordinator, e));
    }
    let port = resolved.first().map_or(0, |a| a.port());
    let v6 = TcpListener::bind((IpAddr::V6(Ipv6Addr::UNSPECIFIED), port));
    v6.or_else(|_| TcpListener::bind((IpAddr::V4(Ipv4Addr::UNSPECIFIED), port)))
        .map_err(|e| refuse(coordinator, e))
}

/// Disconnects from the other processes: waits until all have called this, so that none is
/// considered lost, and stops the coordinator. Does nothing without [`initialize`].
///
/// # Errors
/// Returns an error if not all processes call this in time; the message names the missing
/// processes. This process is disconnected in any case.
pub fn shutdown() -> Result<()> {
    let Some(group) = lock(&GROUP).take() else {
        return Ok(());
    };
    if let Some(runtime) = crate::client::started() {
        runtime.client().wait();
    }
    let timeout_ms = u64::try_from(group.shutdown_timeout.as_millis()).unwrap_or(u64::MAX);
    let goodbye = |id| protocol::Request::Goodbye { id, timeout_ms };
    let result = group.connection.demand(goodbye);
    group.connection.close();
    if let Some(coordinator) = &group.coordinator {
        coordinator.wait_until_alone(Duration::from_secs(5));
    }
    result.map(|_| ())
}

/// Returns whether this process is connected to others.
pub fn is_initialized() -> bool {
    lock(&GROUP).is_some()
}

/// Returns the index of this process; 0 without [`initialize`].
pub fn process_index() -> usize {
    lock(&PROCESS).0
}

/// Returns the number of processes; 1 without [`initialize`].
#[doc(alias = "process_indices")]
pub fn process_count() -> usize {
    lock(&PROCESS).1
}

/// Returns the devices of this process, whose elements it can read.
///
/// # Panics
/// Panics if there is no working plugin.
#[doc(alias = "local_device_count")]
#[track_caller]
pub fn local_devices() -> &'static [Device] {
    match crate::client::runtime() {
        Ok(runtime) => runtime.devices(),
        Err(e) => panic!("local_devices: {e}"),
    }
}

/// Returns the table of values that the processes share.
///
/// # Errors
/// Returns an error without [`initialize`].
pub fn key_value_store() -> Result<KeyValueStore> {
    match current() {
        Some(group) => Ok(KeyValueStore::new(group.connection.clone(), "user")),
        None => Err(failed(
            FailureKind::NotInitialized,
            "distributed::key_value_store: there is only one process\n  help: call \
             `distributed::initialize` first",
        )),
    }
}

/// Creates the client, which knows the devices of all processes if the plugin supports it.
fn create_client(plugin: &Plugin, platform: Platform, options: ClientOptions) -> Result<Client> {
    let Some(group) = current() else {
        return Ok(Client::new(plugin, &options)?);
    };
    let config = group.connection.config();
    Ok(match platform {
        // These three are the same plugin of XLA, built for the GPUs of three vendors.
        Platform::Cuda | Platform::Rocm | Platform::OneApi => {
            let mut options = options
                .set("node_id", config.process as i64)
                .set("num_nodes", config.count as i64);
            if let Some(ids) = &group.local_device_ids {
                options = options.set("visible_devices", ids.clone());
            }
            if let Some(partition) = group.partition_index {
                options = options.set("partition_index", partition);
            }
            let store = KeyValueStore::new(group.connection.clone(), "plugin");
            Client::with_key_value_store(plugin, &options, store)?
        }
        // TPU hosts find each other through their own runtime, which reads the hosts' environment
        // variables.
        Platform::Tpu => Client::new(plugin, &options)?,
        Platform::Cpu | Platform::Metal | Platform::Other(_) => {
            tracing::warn!(
                "the {platform} plugin supports only one process: each of the {} processes computes \
                 on its own devices",
                config.count
            );
            Client::new(plugin, &options)?
        }
    })
}
