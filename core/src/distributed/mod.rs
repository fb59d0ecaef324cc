//! More than one process: programs whose devices are on several hosts.
//!
//! Each host runs the same program. [`initialize`] lets the processes find each other
//! before the first array; from then on XLA's client knows the devices of all of
//! them, and compiled programs use XLA's own collectives between hosts (NCCL for
//! NVIDIA's GPUs, the interconnect for TPUs). The plugin for the CPU knows one process
//! only: there, each process has its own devices, and only what this module does on
//! the hosts works across processes.
//!
//! ```no_run
//! use ramie_core::distributed;
//!
//! // The same in all processes, but for the last number.
//! distributed::initialize("10.0.0.1:8476", 2, 0)?;
//! println!("process {} of {}", distributed::process_index(), distributed::process_count());
//! // …
//! distributed::shutdown()?;
//! # Ok::<(), ramie_core::Error>(())
//! ```
//!
//! Under Slurm, Open MPI, Kubernetes and GKE with TPUs, [`initialize_with`] finds
//! address and numbers by itself; see [`Cluster`].
//!
//! The coordinator is a thread of process 0. It checks that all processes live, and
//! holds a small table of values ([`key_value_store`]) by which plugins exchange
//! addresses. It does not ask who connects: it belongs on a network that is closed to
//! strangers. An address of the loopback interface is served on that interface only.

mod cluster;
mod connection;
mod coordinator;
mod host;
mod protocol;
mod store;
mod table;
#[cfg(test)]
mod table_tests;

use crate::lock::lock;
use crate::{Device, Error, Result};
use cluster::Surroundings;
use connection::{Connection, Place, failed};
use coordinator::Coordinator;
use ramie_pjrt::discover::Platform;
use ramie_pjrt::{Client, ClientOptions, Plugin};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, ToSocketAddrs};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use cluster::Cluster;
pub use host::{
    broadcast_bytes_one_to_all, broadcast_one_to_all, process_allgather, process_allgather_bytes,
    sync_global_devices,
};
pub use store::KeyValueStore;

/// Why processes could not work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// A process or a value did not come in time.
    Timeout,
    /// A key has a value already.
    AlreadyExists,
    /// A process, or the coordinator, is gone.
    PeerLost,
    /// The processes contradict each other: wrong numbers, unlike trees.
    Refused,
    /// [`initialize`] has not been called.
    NotInitialized,
    /// Anything else, such as an address that cannot be listened on.
    Other,
}

impl FailureKind {
    const ALL: [FailureKind; 6] = [
        FailureKind::Timeout,
        FailureKind::AlreadyExists,
        FailureKind::PeerLost,
        FailureKind::Refused,
        FailureKind::NotInitialized,
        FailureKind::Other,
    ];

    /// Its number in messages between processes.
    fn code(self) -> u8 {
        FailureKind::ALL
            .iter()
            .position(|k| *k == self)
            .unwrap_or_default() as u8
    }

    fn from_code(code: u8) -> Option<FailureKind> {
        FailureKind::ALL.get(usize::from(code)).copied()
    }
}

/// What a process does when another one dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PeerFailure {
    /// It prints why and aborts, as in JAX. A collective that waits for a process that
    /// is gone never ends, so that the process would hang.
    #[default]
    Abort,
    /// It goes on; functions of this module fail from then on with the reason.
    Report,
}

/// How [`initialize_with`] finds the other processes.
///
/// What is `None` is taken from the cluster; see [`Cluster`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistributedOptions {
    /// Host and port of process 0, such as `10.0.0.1:8476`, as all processes reach it.
    /// The port must be free there.
    pub coordinator: Option<String>,
    /// Number of processes.
    pub num_processes: Option<usize>,
    /// This process's number, from 0.
    pub process_id: Option<usize>,
    /// GPUs that this process uses, by their number on the host; by default all, and
    /// under Slurm and Open MPI the one with the process's number on the host.
    pub local_device_ids: Option<Vec<i64>>,
    /// The cluster to ask; by default the first that is recognised.
    pub cluster: Option<Cluster>,
    /// Address that process 0 listens on; by default all of its interfaces, or the
    /// loopback interface if `coordinator` is an address of it.
    pub coordinator_bind_address: Option<String>,
    /// A number for the hosts that are connected by the fastest network, where CUDA's
    /// plugin does not find it out; either all processes set it or none.
    pub partition_index: Option<i64>,
    /// How long processes wait for each other at the start.
    pub initialization_timeout: Duration,
    /// A process of which nothing is heard for so long is taken for dead.
    pub heartbeat_timeout: Duration,
    /// How long processes wait for each other at the end.
    pub shutdown_timeout: Duration,
    /// What to do when another process dies.
    pub peer_failure: PeerFailure,
}

impl Default for DistributedOptions {
    /// Everything from the cluster; 5 minutes for start and end, and 100 seconds of
    /// silence, as in JAX.
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

/// The processes of a program, as this one sees them.
struct Group {
    connection: Arc<Connection>,
    coordinator: Option<Coordinator>,
    local_device_ids: Option<Vec<i64>>,
    partition_index: Option<i64>,
    shutdown_timeout: Duration,
}

static GROUP: Mutex<Option<Arc<Group>>> = Mutex::new(None);
/// Index and number of processes; they remain after the end.
static PLACE: Mutex<(usize, usize)> = Mutex::new((0, 1));

fn current() -> Option<Arc<Group>> {
    lock(&GROUP).clone()
}

/// Joins the other processes: `num_processes` in all, of which this is number
/// `process_id`, and number 0 is at the address `coordinator`.
///
/// Every process calls it once, before its first array, and it returns when all have.
/// Before a process ends it calls [`shutdown`]; one that ends without is taken for
/// dead. JAX's `distributed.initialize`.
///
/// # Errors
/// If the runtime is in use already, the address cannot be reached or listened on,
/// the numbers do not fit those of the other processes, or not all of them come within
/// 5 minutes; the message names those that are missing.
pub fn initialize(coordinator: &str, num_processes: usize, process_id: usize) -> Result<()> {
    initialize_with(&DistributedOptions {
        coordinator: Some(coordinator.into()),
        num_processes: Some(num_processes),
        process_id: Some(process_id),
        ..DistributedOptions::default()
    })
}

/// [`initialize`] with options, and with what they leave open taken from the cluster.
///
/// # Errors
/// As [`initialize`]; also if something is neither given nor told by the cluster.
///
/// ```no_run
/// use ramie_core::distributed::{self, DistributedOptions};
/// // In each task of `srun`, or each pod of an indexed Job.
/// distributed::initialize_with(&DistributedOptions::default())?;
/// # Ok::<(), ramie_core::Error>(())
/// ```
pub fn initialize_with(options: &DistributedOptions) -> Result<()> {
    let mut group = lock(&GROUP);
    if group.is_some() {
        return Err(Error::Configuration(
            "distributed::initialize: it has been called already".into(),
        ));
    }
    if crate::runtime::started().is_some() {
        return Err(Error::Configuration(
            "distributed::initialize: the runtime is already in use, with the devices of this \
             process only\n  help: call it at the start of `main`, before the first array"
                .into(),
        ));
    }
    let (place, local_device_ids) = settle(options)?;
    let coordinator = if place.process == 0 {
        let listener = listen(
            &place.coordinator,
            options.coordinator_bind_address.as_deref(),
        )?;
        let started = Coordinator::start(listener, place.count, place.heartbeat_timeout);
        Some(started.map_err(|e| failed(FailureKind::Other, format!("the coordinator: {e}")))?)
    } else {
        None
    };
    let position = (place.process, place.count);
    let connection = Connection::open(place).inspect_err(|error| {
        if let Some(coordinator) = &coordinator {
            coordinator.fail(&format!("process 0 gave up: {error}"));
        }
    })?;
    tracing::info!(
        process = position.0,
        of = position.1,
        "joined the other processes"
    );
    *lock(&PLACE) = position;
    *group = Some(Arc::new(Group {
        connection,
        coordinator,
        local_device_ids,
        partition_index: options.partition_index,
        shutdown_timeout: options.shutdown_timeout,
    }));
    Ok(())
}

/// Completes the options from the cluster, and checks them.
fn settle(options: &DistributedOptions) -> Result<(Place, Option<Vec<i64>>)> {
    ramie_pjrt::settings::check()?;
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
    /// What is given, else what the cluster says.
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
                "`{name}` is not given, and no cluster is recognised\n  help: give it, or set \
                 RAMIE_COORDINATOR_ADDRESS, RAMIE_NUM_PROCESSES and RAMIE_PROCESS_ID; clusters \
                 that are recognised are Slurm, Open MPI, Kubernetes and GKE with TPUs"
            )),
        }
    }
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
            "process_id {process} of num_processes {count}; the ids go from 0 to num_processes - 1"
        )));
    }
    let port = coordinator
        .rsplit_once(':')
        .map(|(_, port)| port.parse::<u16>());
    if !matches!(port, Some(Ok(1..))) {
        return Err(refuse(format!(
            "the coordinator's address is {coordinator:?}, not a host and a port, as `10.0.0.1:8476`"
        )));
    }
    let mut local_device_ids = options.local_device_ids.clone();
    // Where all is given, the launcher is not asked for anything.
    if local_device_ids.is_none() && options.process_id.is_none() {
        let local = cluster
            .map_or(Ok(None), |c| around.local(c))
            .map_err(refuse)?;
        local_device_ids = local.map(|id| vec![id as i64]);
    }
    let place = Place {
        coordinator,
        process,
        count,
        join_timeout: options.initialization_timeout,
        heartbeat_timeout: options.heartbeat_timeout,
        peer_failure: options.peer_failure,
    };
    Ok((place, local_device_ids))
}

/// Takes the coordinator's port: on the loopback interface for an address of it, else
/// on all interfaces.
fn listen(coordinator: &str, bind: Option<&str>) -> Result<TcpListener> {
    let refuse = |address: &str, error: std::io::Error| {
        failed(
            FailureKind::Other,
            format!(
                "distributed::initialize: process 0 cannot listen at {address}: {error}\n  help: the \
                 address must be one of this host, and its port be free"
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

/// Leaves the other processes: waits until all have called this, so that none is taken
/// for dead, and ends the coordinator. It does nothing without [`initialize`].
///
/// # Errors
/// If not all processes come in time; the message names those that are missing. The
/// process has left in any case.
pub fn shutdown() -> Result<()> {
    let Some(group) = lock(&GROUP).take() else {
        return Ok(());
    };
    if let Some(runtime) = crate::runtime::started() {
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

/// Whether this process has joined others, and has not left them.
pub fn is_initialized() -> bool {
    lock(&GROUP).is_some()
}

/// This process's number: 0 without [`initialize`].
pub fn process_index() -> usize {
    lock(&PLACE).0
}

/// The number of processes: 1 without [`initialize`].
pub fn process_count() -> usize {
    lock(&PLACE).1
}

/// The devices of this process, whose elements it can read.
///
/// # Panics
/// If there is no working plugin.
#[track_caller]
pub fn local_devices() -> &'static [Device] {
    match crate::runtime::runtime() {
        Ok(runtime) => runtime.devices(),
        Err(e) => panic!("local_devices: {e}"),
    }
}

/// The table of values that the processes share.
///
/// # Errors
/// Without [`initialize`].
pub fn key_value_store() -> Result<KeyValueStore> {
    match current() {
        Some(group) => Ok(KeyValueStore::new(group.connection.clone(), "user")),
        None => Err(failed(
            FailureKind::NotInitialized,
            "distributed::key_value_store: there is one process only\n  help: call \
             `distributed::initialize` first",
        )),
    }
}

/// Makes the client: one that knows the devices of all processes, where the plugin can.
pub(crate) fn create_client(
    plugin: &Plugin,
    platform: Platform,
    options: ClientOptions,
) -> Result<Client> {
    let Some(group) = current() else {
        return Ok(Client::new(plugin, &options)?);
    };
    let place = group.connection.place();
    Ok(match platform {
        Platform::Cuda => {
            let mut options = options
                .set("node_id", place.process as i64)
                .set("num_nodes", place.count as i64);
            if let Some(ids) = &group.local_device_ids {
                options = options.set("visible_devices", ids.clone());
            }
            if let Some(partition) = group.partition_index {
                options = options.set("partition_index", partition);
            }
            let store = KeyValueStore::new(group.connection.clone(), "plugin");
            Client::with_key_value_store(plugin, &options, store)?
        }
        // TPUs find each other through their own runtime, which reads the variables of
        // the hosts.
        Platform::Tpu => Client::new(plugin, &options)?,
        Platform::Cpu => {
            tracing::warn!(
                "the CPU plugin knows one process only: each of the {} processes computes on its own \
                 devices",
                place.count
            );
            Client::new(plugin, &options)?
        }
    })
}
