//! The file `_sharding`: placement of the arrays of a saved tree.

use super::json::{from_base64, to_base64};
use crate::{Error, Result};
use ramie_core::sharding::{AbstractMesh, AxisName, AxisType, Sharding, SpecEntry};
use ramie_core::{Device, Mesh, NamedSharding, PartitionSpec, runtime};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Name of the file in a tree's directory.
pub(super) const FILE: &str = "_sharding";

/// Returns the sharding, or the default device if there is none.
pub(super) fn or_default(sharding: Option<Sharding>) -> Result<Sharding> {
    match sharding {
        Some(sharding) => Ok(sharding),
        None => Ok(runtime()?.default_device().into()),
    }
}

/// Serializes shardings by dotted array name.
pub(super) fn to_json<'a>(shardings: impl IntoIterator<Item = (&'a str, Sharding)>) -> Vec<u8> {
    let entries = shardings.into_iter().map(|(name, sharding)| {
        let text = Value::String(describe(sharding).to_string());
        (to_base64(name.as_bytes()), text)
    });
    let map: Map<String, Value> = entries.collect();
    Value::Object(map).to_string().into_bytes()
}

/// Parses the descriptions of shardings by dotted array name.
pub(super) fn from_json(path: &Path, bytes: &[u8]) -> Result<BTreeMap<String, Value>> {
    let wrong =
        |what: String| Error::format(path, format!("is not a valid list of shardings: {what}"));
    let map: BTreeMap<String, String> =
        serde_json::from_slice(bytes).map_err(|e| wrong(e.to_string()))?;
    let mut out = BTreeMap::new();
    for (code, text) in map {
        let name = from_base64(&code).and_then(|name| String::from_utf8(name).ok());
        let name = name.ok_or_else(|| wrong(format!("{code:?} is not a name in base64")))?;
        let value = serde_json::from_str(&text).map_err(|e| wrong(format!("`{name}`: {e}")))?;
        out.insert(name, value);
    }
    Ok(out)
}

/// Describes a sharding in Orbax's format.
fn describe(sharding: Sharding) -> Value {
    let named = match sharding.named() {
        Some(named) => named,
        None => {
            let device = sharding.devices().first();
            let name = device.map_or(String::new(), |d| name_of(*d));
            return json!({"sharding_type": "SingleDeviceSharding", "device_str": name});
        }
    };
    let mesh = named.mesh();
    let names: Vec<&str> = mesh.axis_names().iter().map(|n| n.as_str()).collect();
    let types: Vec<String> = mesh
        .axis_types()
        .iter()
        .map(|t| format!("AxisType.{t:?}"))
        .collect();
    // Like JAX's specs: `None`, a name, or a list of names.
    let entry = |entry: &SpecEntry| match entry.axes() {
        [] => Value::Null,
        [one] => json!(one.as_str()),
        many => many.iter().map(|n| json!(n.as_str())).collect(),
    };
    let spec: Vec<Value> = named.spec().entries().iter().map(entry).collect();
    let ids: Vec<Value> = mesh
        .devices()
        .iter()
        .map(|d| json!({"id": d.id()}))
        .collect();
    json!({
        "sharding_type": "NamedSharding",
        "shape": mesh.axis_sizes(),
        "axis_names": names,
        "axis_types": types,
        "partition_spec": spec,
        "device_mesh": {"mesh": nested(ids, mesh.axis_sizes())},
    })
}

/// Returns JAX's name of a device.
fn name_of(device: Device) -> String {
    format!("{}:{}", device.client().platform_name(), device.id())
}

/// Reshapes a list into nested lists.
fn nested(mut items: Vec<Value>, sizes: &[usize]) -> Value {
    // Group the innermost axis first: of sizes `[2, 3]`, six items become two lists of three.
    for size in sizes.iter().skip(1).rev() {
        items = items.chunks((*size).max(1)).map(|c| c.into()).collect();
    }
    items.into()
}

/// Flattens nested lists.
fn flat(value: &Value, out: &mut Vec<Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flat(item, out)),
        item => out.push(item.clone()),
    }
}

/// Returns the sharding of a description over these devices, or `None` if the description is
/// invalid or names other devices.
pub(super) fn of_description(value: &Value, devices: &[Device]) -> Option<Sharding> {
    if value["sharding_type"] == "SingleDeviceSharding" {
        // JAX's CPU devices are called `TFRT_CPU_0`; devices of other platforms, `cuda:0`.
        let name = value["device_str"].as_str()?.replace("TFRT_CPU_", "cpu:");
        let found = devices.iter().find(|d| name_of(**d) == name);
        return found.filter(|d| d.is_addressable()).map(|d| (*d).into());
    }
    if value["sharding_type"] != "NamedSharding" {
        return None;
    }
    let sizes: Vec<usize> = serde_json::from_value(value["shape"].clone()).ok()?;
    let names: Vec<String> = serde_json::from_value(value["axis_names"].clone()).ok()?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let types: Vec<AxisType> = match &value["axis_types"] {
        Value::Array(types) => types.iter().map(axis_type).collect::<Option<_>>()?,
        _ => vec![AxisType::Auto; sizes.len()],
    };
    if sizes.len() != names.len() || sizes.len() != types.len() || !distinct(&names) {
        return None;
    }
    // `Mesh::new` panics if sizes, devices and names do not fit, and a file must not cause that.
    let count = sizes.iter().try_fold(1usize, |n, size| {
        n.checked_mul(*size)
            .filter(|n| (1..=devices.len()).contains(n))
    })?;
    let chosen = mesh_devices(&value["device_mesh"]["mesh"], devices)?;
    if chosen.len() != count {
        return None;
    }
    let spec = spec_of(&value["partition_spec"], &names)?;
    let mesh = Mesh::new(
        &chosen,
        AbstractMesh::with_axis_types(&sizes, &names, &types),
    );
    Some(NamedSharding::new(mesh, spec).into())
}

/// Returns the devices with the ids in a description, if they exist and are distinct.
fn mesh_devices(mesh: &Value, devices: &[Device]) -> Option<Vec<Device>> {
    let mut ids = Vec::new();
    flat(mesh, &mut ids);
    let mut chosen: Vec<Device> = Vec::new();
    for id in &ids {
        let id = id["id"].as_i64()?;
        let device = devices.iter().find(|d| i64::from(d.id()) == id)?;
        if chosen.contains(device) {
            return None;
        }
        chosen.push(*device);
    }
    Some(chosen)
}

/// Returns the spec in a description, if it names axes of the mesh, each at most once.
fn spec_of(value: &Value, names: &[&str]) -> Option<PartitionSpec> {
    let mut used: Vec<String> = Vec::new();
    let mut spec = Vec::new();
    for entry in value.as_array()? {
        let axes: Vec<String> = match entry {
            Value::Null => Vec::new(),
            Value::String(one) => vec![one.clone()],
            many => serde_json::from_value(many.clone()).ok()?,
        };
        let known = |axis: &String| names.contains(&axis.as_str()) && !used.contains(axis);
        if !axes.iter().all(known) {
            return None;
        }
        used.extend(axes.iter().cloned());
        let axes: Vec<AxisName> = axes.iter().map(|a| AxisName::from(a.as_str())).collect();
        spec.push(SpecEntry::from(axes.as_slice()));
    }
    // `known` compares with earlier entries only; this also finds a name twice in one entry.
    distinct(&used).then(|| PartitionSpec::new(spec))
}

/// Returns whether no two items are equal.
fn distinct<T: PartialEq>(items: &[T]) -> bool {
    (1..items.len()).all(|i| !items[..i].contains(&items[i]))
}

fn axis_type(value: &Value) -> Option<AxisType> {
    match value.as_str()?.trim_start_matches("AxisType.") {
        "Auto" => Some(AxisType::Auto),
        "Explicit" => Some(AxisType::Explicit),
        "Manual" => Some(AxisType::Manual),
        _ => None,
    }
}
