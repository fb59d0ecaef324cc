//! Plugins that reach a key-value store.

mod common;
use common::*;
use ramie_pjrt::{Client, ClientOptions, ErrorCode, KeyValueError, KeyValueStore, Plugin};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A store that the threads of this process share.
#[derive(Clone, Default)]
struct Shared(Arc<(Mutex<HashMap<String, Vec<u8>>>, Condvar, AtomicUsize)>);

impl KeyValueStore for Shared {
    fn get(&self, key: &str, timeout: Duration) -> Result<Vec<u8>, KeyValueError> {
        self.0.2.fetch_add(1, Ordering::Relaxed);
        let (values, changed, _) = &*self.0;
        let absent = |values: &mut HashMap<String, Vec<u8>>| !values.contains_key(key);
        let guard = values.lock().unwrap();
        let (values, _) = changed.wait_timeout_while(guard, timeout, absent).unwrap();
        values.get(key).cloned().ok_or_else(|| KeyValueError {
            code: ErrorCode::DeadlineExceeded,
            message: format!("nobody has put `{key}` in {timeout:?}"),
        })
    }

    fn try_get(&self, key: &str) -> Result<Option<Vec<u8>>, KeyValueError> {
        self.0.2.fetch_add(1, Ordering::Relaxed);
        Ok(self.0.0.lock().unwrap().get(key).cloned())
    }

    fn put(&self, key: &str, value: &[u8]) -> Result<(), KeyValueError> {
        self.0.2.fetch_add(1, Ordering::Relaxed);
        self.0.0.lock().unwrap().insert(key.into(), value.into());
        self.0.1.notify_all();
        Ok(())
    }
}

fn node(id: i64, of: i64) -> ClientOptions {
    ClientOptions::new().set("node_id", id).set("num_nodes", of)
}

#[test]
fn plugins_of_several_nodes_find_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let source = include_str!("plugins/exchange.rs");
    let plugin = Plugin::load(library(folder.path(), "exchange", source)).unwrap();
    let store = Shared::default();
    let create = |id| Client::with_key_value_store(&plugin, &node(id, 3), store.clone());
    let errors: Vec<String> = std::thread::scope(|scope| {
        let nodes: Vec<_> = (0..3).map(|id| scope.spawn(move || create(id))).collect();
        nodes
            .into_iter()
            .map(|n| n.join().unwrap().unwrap_err().message())
            .collect()
    });
    for (id, error) in errors.iter().enumerate() {
        let expected = format!(
            "node {id} of 3 has read: devices of 0, devices of 1, devices of 2; nothing: 5"
        );
        assert_eq!(*error, expected);
    }
    let alone = Client::new(&plugin, &node(0, 1)).unwrap_err();
    assert_eq!(alone.message(), "one process, no store");
}

#[test]
fn a_node_that_does_not_come_is_an_error_in_the_store_s_words() {
    let folder = tempfile::tempdir().unwrap();
    let source = include_str!("plugins/exchange.rs");
    let plugin = Plugin::load(library(folder.path(), "exchange", source)).unwrap();
    let error = Client::with_key_value_store(&plugin, &node(0, 2), Shared::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::DeadlineExceeded);
    assert_eq!(error.message(), "nobody has put `topology:1` in 5s");
}

/// The pinned CPU plugin has devices of one process only. Should a later one have more,
/// this fails, and `docs/scaling.md` says something that is no longer true.
#[test]
fn the_cpu_plugin_knows_one_process() {
    let plugin = Plugin::load(plugin_path()).unwrap();
    let store = Shared::default();
    let options = node(1, 2).cpu_device_count(2);
    let client = Client::with_key_value_store(&plugin, &options, store.clone()).unwrap();
    assert_eq!(client.process_index(), 0);
    assert_eq!(client.devices().len(), 2);
    assert_eq!(client.addressable_devices().len(), 2);
    assert_eq!(
        store.0.2.load(Ordering::Relaxed),
        0,
        "it does not look at the store"
    );
}
