//! Detection of process counts and indices from the cluster's launcher.

use std::fmt;

/// A cluster environment: how processes are started, and which environment variables identify
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cluster {
    /// `RAMIE_COORDINATOR_ADDRESS`, `RAMIE_NUM_PROCESSES` and `RAMIE_PROCESS_ID`, set manually or
    /// by a script.
    Variables,
    /// Open MPI's `mpirun`: `OMPI_COMM_WORLD_SIZE`, `OMPI_COMM_WORLD_RANK` and
    /// `OMPI_COMM_WORLD_LOCAL_RANK`. Open MPI 4 also provides the address of the host of `mpirun`
    /// (`OMPI_MCA_orte_hnp_uri`), where process 0 must run; with Open MPI 5 on several hosts, the
    /// coordinator must be set.
    OpenMpi,
    /// Slurm's `srun`: `SLURM_JOB_ID`, `SLURM_STEP_NODELIST`, `SLURM_NTASKS`,
    /// `SLURM_PROCID` and `SLURM_LOCALID`.
    Slurm,
    /// Cloud TPUs under GKE: `TPU_WORKER_ID` and `TPU_PROCESS_ADDRESSES` or
    /// `TPU_WORKER_HOSTNAMES`; with several slices `MEGASCALE_COORDINATOR_ADDRESS`,
    /// `MEGASCALE_NUM_SLICES` and `MEGASCALE_SLICE_ID`.
    GkeTpu,
    /// An indexed Job of Kubernetes with a headless service: `JOB_COMPLETION_INDEX`, and this
    /// pod's full name from `/etc/hosts`. A pod does not know the number of processes: it must be
    /// passed, or set as `RAMIE_NUM_PROCESSES`.
    Kubernetes,
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cluster::Variables => "the variables RAMIE_*",
            Cluster::OpenMpi => "Open MPI",
            Cluster::Slurm => "Slurm",
            Cluster::GkeTpu => "GKE with TPUs",
            Cluster::Kubernetes => "Kubernetes",
        })
    }
}

/// Default port of the coordinator, for clusters that suggest none. It is arbitrary, but must be
/// the same on all hosts.
const PORT: u16 = 8476;

/// Returns the port of a job. Jobs on one host use different ports among the last 4096.
fn port_of_job(number: u64) -> u16 {
    61440 + (number % 4096) as u16
}

/// The environment of a process, from which a cluster is detected.
pub(super) struct Surroundings<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the contents of `/etc/hosts`.
    pub hosts: &'a dyn Fn() -> String,
}

impl Surroundings<'_> {
    fn get(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|text| !text.is_empty())
    }

    fn number(&self, name: &str) -> Result<usize, String> {
        let text = self.get(name).ok_or_else(|| format!("{name} is not set"))?;
        text.trim()
            .parse()
            .map_err(|_| format!("{name} is {text:?}, not a number"))
    }

    fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.get(name).is_some())
    }

    /// Returns the cluster environment in which this process runs.
    pub(super) fn detect(&self) -> Option<Cluster> {
        // The first match wins, so `RAMIE_*` overrides what a launcher sets.
        const ALL: [Cluster; 5] = [
            Cluster::Variables,
            Cluster::OpenMpi,
            Cluster::Slurm,
            Cluster::GkeTpu,
            Cluster::Kubernetes,
        ];
        ALL.into_iter().find(|cluster| self.is_in(*cluster))
    }

    pub(super) fn is_in(&self, cluster: Cluster) -> bool {
        match cluster {
            Cluster::Variables => self.has(&["RAMIE_COORDINATOR_ADDRESS"]),
            Cluster::OpenMpi => self.has(&["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"]),
            Cluster::Slurm => self.has(&[
                "SLURM_JOB_ID",
                "SLURM_STEP_NODELIST",
                "SLURM_NTASKS",
                "SLURM_PROCID",
                "SLURM_LOCALID",
            ]),
            Cluster::GkeTpu => self.get("TPU_WORKER_ID").is_some() && self.workers().is_some(),
            Cluster::Kubernetes => self.has(&["KUBERNETES_SERVICE_HOST", "JOB_COMPLETION_INDEX"]),
        }
    }

    /// Returns the coordinator's address: host and port.
    pub(super) fn coordinator(&self, cluster: Cluster) -> Result<String, String> {
        if let Some(address) = self.get("RAMIE_COORDINATOR_ADDRESS") {
            return Ok(address);
        }
        let (host, port) = match cluster {
            Cluster::Variables => return Err("RAMIE_COORDINATOR_ADDRESS is not set".into()),
            Cluster::OpenMpi => self.launcher()?,
            Cluster::Slurm => {
                let nodes = self.get("SLURM_STEP_NODELIST").unwrap_or_default();
                let job = self.number("SLURM_JOB_ID")?;
                (first_node(&nodes)?, port_of_job(job as u64))
            }
            Cluster::GkeTpu => {
                let of_slices = self.get("MEGASCALE_COORDINATOR_ADDRESS");
                let first = || self.workers().and_then(|w| w.into_iter().next());
                let address = of_slices.or_else(first).ok_or("no worker is listed")?;
                (without_port(&address), PORT)
            }
            Cluster::Kubernetes => (self.first_pod()?, PORT),
        };
        let port = match self.get("RAMIE_COORDINATOR_PORT") {
            None => port,
            Some(text) => text
                .parse()
                .map_err(|_| format!("RAMIE_COORDINATOR_PORT is {text:?}, not a port"))?,
        };
        // An IPv6 address needs brackets before the port.
        Ok(if host.contains(':') {
            format!("[{host}]:{port}")
        } else {
            format!("{host}:{port}")
        })
    }

    /// Returns the number of processes.
    pub(super) fn count(&self, cluster: Cluster) -> Result<usize, String> {
        if self.get("RAMIE_NUM_PROCESSES").is_some() {
            return self.number("RAMIE_NUM_PROCESSES");
        }
        match cluster {
            Cluster::Variables => self.number("RAMIE_NUM_PROCESSES"),
            Cluster::OpenMpi => self.number("OMPI_COMM_WORLD_SIZE"),
            Cluster::Slurm => self.number("SLURM_NTASKS"),
            Cluster::GkeTpu => {
                let in_slice = self.workers().map_or(0, |w| w.len());
                Ok(in_slice * self.or("MEGASCALE_NUM_SLICES", 1)?)
            }
            Cluster::Kubernetes => Err(
                "Kubernetes does not provide the number of pods; set RAMIE_NUM_PROCESSES in the \
                 Job to the same number as `completions`"
                    .into(),
            ),
        }
    }

    /// Returns the index of this process.
    pub(super) fn process(&self, cluster: Cluster) -> Result<usize, String> {
        if self.get("RAMIE_PROCESS_ID").is_some() {
            return self.number("RAMIE_PROCESS_ID");
        }
        match cluster {
            Cluster::Variables => self.number("RAMIE_PROCESS_ID"),
            Cluster::OpenMpi => self.number("OMPI_COMM_WORLD_RANK"),
            Cluster::Slurm => self.number("SLURM_PROCID"),
            Cluster::GkeTpu => {
                let in_slice = self.workers().map_or(0, |w| w.len());
                let before = self.or("MEGASCALE_SLICE_ID", 0)? * in_slice;
                Ok(before + self.number("TPU_WORKER_ID")?)
            }
            Cluster::Kubernetes => self.number("JOB_COMPLETION_INDEX"),
        }
    }

    /// Returns the index of this process on its host, if the launcher starts one process for each
    /// device.
    pub(super) fn local(&self, cluster: Cluster) -> Result<Option<usize>, String> {
        match cluster {
            Cluster::OpenMpi => self.number("OMPI_COMM_WORLD_LOCAL_RANK").map(Some),
            Cluster::Slurm => self.number("SLURM_LOCALID").map(Some),
            Cluster::Variables | Cluster::GkeTpu | Cluster::Kubernetes => Ok(None),
        }
    }

    fn or(&self, name: &str, default: usize) -> Result<usize, String> {
        match self.get(name) {
            Some(_) => self.number(name),
            None => Ok(default),
        }
    }

    fn workers(&self) -> Option<Vec<String>> {
        let list = self
            .get("TPU_PROCESS_ADDRESSES")
            .or_else(|| self.get("TPU_WORKER_HOSTNAMES"))?;
        Some(list.split(',').map(|w| w.trim().to_string()).collect())
    }

    /// Returns the host of `mpirun` and the coordinator's port.
    fn launcher(&self) -> Result<(String, u16), String> {
        let Some(uri) = self.get("OMPI_MCA_orte_hnp_uri") else {
            let size = self.number("OMPI_COMM_WORLD_SIZE")?;
            // All processes are on this host if as many as in the whole program are local.
            return if self.number("OMPI_COMM_WORLD_LOCAL_SIZE") == Ok(size) {
                Ok(("127.0.0.1".into(), PORT))
            } else {
                Err(
                    "this version of Open MPI does not provide the address of process 0; set \
                     RAMIE_COORDINATOR_ADDRESS (mpirun -x RAMIE_COORDINATOR_ADDRESS=host:port)"
                        .into(),
                )
            };
        };
        let unreadable = || format!("OMPI_MCA_orte_hnp_uri is {uri:?}");
        // `1531576320.0;tcp://10.96.0.1,10.148.0.1:34911`, or `tcp6://[fe80::1,…]:43370`
        let (job, rest) = uri.split_once('.').ok_or_else(unreadable)?;
        let job: u64 = job.parse().map_err(|_| unreadable())?;
        let (_, hosts) = rest.split_once("://").ok_or_else(unreadable)?;
        let host = match hosts.strip_prefix('[') {
            Some(v6) => v6.split([',', ']']).next(),
            None => hosts.split([',', ':']).next(),
        };
        let host = host.filter(|h| !h.is_empty()).ok_or_else(unreadable)?;
        // Job numbers are multiples of 4096.
        Ok((host.to_string(), port_of_job(job / 4096)))
    }

    /// Returns the full name of the pod with index 0, derived from this pod's.
    fn first_pod(&self) -> Result<String, String> {
        let index = self.number("JOB_COMPLETION_INDEX")?;
        let host = self.get("HOSTNAME").ok_or("HOSTNAME is not set")?;
        let ending = format!("-{index}");
        let full = (self.hosts)().lines().find_map(|line| {
            // A line contains an address, its names, and perhaps a comment.
            let names = line.split('#').next().unwrap_or_default();
            let mut names = names.split_whitespace().skip(1);
            names
                .find(|name| {
                    name.strip_prefix(&*host)
                        .is_some_and(|r| r.starts_with('.'))
                })
                .map(str::to_string)
        });
        let full = full.ok_or_else(|| {
            format!(
                "/etc/hosts has no full name of {host}; pods of a Job find each other only with a \
                 headless service, named as the `subdomain` of the Job's pods"
            )
        })?;
        let stem = host
            .strip_suffix(&*ending)
            .ok_or_else(|| format!("HOSTNAME is {host:?}, and does not end with {ending:?}"))?;
        // `train-3.pods.ml` has the first pod `train-0.pods.ml`.
        Ok(format!("{stem}-0{}", &full[host.len()..]))
    }
}

/// Removes the port from `host:port`; accepts a host alone.
fn without_port(address: &str) -> String {
    match address.rsplit_once(':') {
        Some((host, _)) if !host.contains(':') => host.to_string(),
        _ => address.to_string(),
    }
}

/// Returns the first host of a Slurm node list: `node[001-015,020],other`, `a,b`, `a[1,3]-ib`.
fn first_node(list: &str) -> Result<String, String> {
    let unreadable = || format!("SLURM_STEP_NODELIST is {list:?}");
    let mut name = String::new();
    let mut rest = list;
    // The first host has the first entry of each range: `rack[2-3]n[04,06]` starts with `rack2n04`.
    while let Some(at) = rest.find(['[', ',']) {
        name += &rest[..at];
        if rest[at..].starts_with(',') {
            rest = "";
            break;
        }
        let (range, after) = rest[at + 1..].split_once(']').ok_or_else(unreadable)?;
        name += range.split(['-', ',']).next().unwrap_or_default();
        rest = after;
    }
    name += rest;
    if name.is_empty() {
        return Err(unreadable());
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Answers = (
        Option<Cluster>,
        Result<String, String>,
        Result<usize, String>,
        Result<usize, String>,
        Result<Option<usize>, String>,
    );

    /// Returns the results for these variables: `NAME=value`, separated by blanks.
    fn found(variables: &str, hosts: &str) -> Answers {
        let variable = |name: &str| {
            variables
                .split_whitespace()
                .find_map(|v| v.strip_prefix(name)?.strip_prefix('='))
                .map(str::to_string)
        };
        let around = Surroundings {
            variable: &variable,
            hosts: &|| hosts.to_string(),
        };
        let cluster = around.detect();
        let Some(c) = cluster else {
            let no = || Err(String::new());
            return (
                None,
                no().map(|()| String::new()),
                no().map(|()| 0),
                no().map(|()| 0),
                Ok(None),
            );
        };
        (
            cluster,
            around.coordinator(c),
            around.count(c),
            around.process(c),
            around.local(c),
        )
    }

    fn complete(variables: &str, hosts: &str) -> (Cluster, String, usize, usize, Option<usize>) {
        let (cluster, coordinator, count, process, local) = found(variables, hosts);
        (
            cluster.unwrap(),
            coordinator.unwrap(),
            count.unwrap(),
            process.unwrap(),
            local.unwrap(),
        )
    }

    #[test]
    fn no_cluster_is_no_cluster() {
        assert_eq!(found("PATH=/bin HOSTNAME=x SLURM_JOB_ID=4", "").0, None);
    }

    #[test]
    fn variables_of_our_own_come_first() {
        let ours = "RAMIE_COORDINATOR_ADDRESS=h:1 RAMIE_NUM_PROCESSES=3 RAMIE_PROCESS_ID=2";
        let expected = (Cluster::Variables, "h:1".to_string(), 3, 2, None);
        assert_eq!(complete(ours, ""), expected);
        let with_mpi = format!("{ours} OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_RANK=7");
        assert_eq!(complete(&with_mpi, ""), expected);
        let half = found("RAMIE_COORDINATOR_ADDRESS=h:1 RAMIE_PROCESS_ID=two", "");
        assert_eq!(half.2, Err("RAMIE_NUM_PROCESSES is not set".into()));
        assert_eq!(
            half.3,
            Err("RAMIE_PROCESS_ID is \"two\", not a number".into())
        );
    }

    #[test]
    fn slurm_lists_its_nodes() {
        for (list, first) in [
            ("node001", "node001"),
            ("node001,host2", "node001"),
            ("node[001-0015],host2", "node001"),
            ("node[001,007-015],host2", "node001"),
            ("rack[2-3]n[04,06]", "rack2n04"),
            ("node[3-5]-ib,other", "node3-ib"),
        ] {
            assert_eq!(first_node(list).unwrap(), first);
        }
        assert!(first_node("").is_err() && first_node("node[1").is_err());
        let step = "SLURM_JOB_ID=5000 SLURM_STEP_NODELIST=n[7-9] SLURM_NTASKS=24 SLURM_PROCID=17 \
                    SLURM_LOCALID=1";
        let port = 61440 + 5000 % 4096;
        assert_eq!(
            complete(step, ""),
            (Cluster::Slurm, format!("n7:{port}"), 24, 17, Some(1))
        );
        let other_port = format!("{step} RAMIE_COORDINATOR_PORT=99");
        assert_eq!(complete(&other_port, "").1, "n7:99");
    }

    #[test]
    fn open_mpi_tells_its_launcher() {
        let ranks = "OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_LOCAL_RANK=1";
        let port = 61440 + (1531576320u64 / 4096) % 4096;
        for (uri, address) in [
            (
                "1531576320.0;tcp://10.96.0.1,10.148.0.1,10.108.0.1:34911",
                format!("10.96.0.1:{port}"),
            ),
            (
                "1531576320.0;tcp6://[fe80::b9b:ac5d,2620:10d::2]:43370",
                format!("[fe80::b9b:ac5d]:{port}"),
            ),
        ] {
            let variables = format!("{ranks} OMPI_MCA_orte_hnp_uri={uri}");
            assert_eq!(
                complete(&variables, ""),
                (Cluster::OpenMpi, address, 4, 3, Some(1))
            );
        }
        let on_one_host = format!("{ranks} OMPI_COMM_WORLD_LOCAL_SIZE=4");
        assert_eq!(complete(&on_one_host, "").1, "127.0.0.1:8476");
        let on_two = found(&format!("{ranks} OMPI_COMM_WORLD_LOCAL_SIZE=2"), "");
        assert!(on_two.1.unwrap_err().contains("RAMIE_COORDINATOR_ADDRESS"));
        let odd = found(&format!("{ranks} OMPI_MCA_orte_hnp_uri=what"), "");
        assert!(odd.1.unwrap_err().contains("\"what\""));
    }

    #[test]
    fn gke_lists_the_workers_of_each_slice() {
        let slice = "TPU_WORKER_ID=1 TPU_WORKER_HOSTNAMES=t0.svc,t1.svc";
        assert_eq!(
            complete(slice, ""),
            (Cluster::GkeTpu, "t0.svc:8476".into(), 2, 1, None)
        );
        let slices = format!(
            "{slice} MEGASCALE_COORDINATOR_ADDRESS=s0:8080 MEGASCALE_NUM_SLICES=3 \
             MEGASCALE_SLICE_ID=2"
        );
        assert_eq!(
            complete(&slices, ""),
            (Cluster::GkeTpu, "s0:8476".into(), 6, 5, None)
        );
        let addresses = format!("{slice} TPU_PROCESS_ADDRESSES=p0:8471,p1:8471,p2:8471");
        assert_eq!(complete(&addresses, "").1, "p0:8476");
    }

    #[test]
    fn kubernetes_names_its_pods_by_index() {
        let pod = "KUBERNETES_SERVICE_HOST=10.0.0.1 JOB_COMPLETION_INDEX=3 HOSTNAME=train-3";
        let hosts = "127.0.0.1 localhost\n10.1.2.3\ttrain-3.pods.ml.svc.cluster.local\ttrain-3\n";
        let with_count = format!("{pod} RAMIE_NUM_PROCESSES=8");
        let address = "train-0.pods.ml.svc.cluster.local:8476";
        assert_eq!(
            complete(&with_count, hosts),
            (Cluster::Kubernetes, address.into(), 8, 3, None)
        );
        let count = found(pod, hosts).2.unwrap_err();
        assert!(count.contains("RAMIE_NUM_PROCESSES") && count.contains("completions"));
        let alone = found(pod, "10.1.2.3 train-3").1.unwrap_err();
        assert!(alone.contains("headless service"), "{alone}");
    }
}
