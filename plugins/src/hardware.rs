//! Detection of a platform's hardware on this machine. It only uses the file system, because it
//! runs at every process start, and loads no driver.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// The PCI vendor id of TPU chips. Virtual network cards of the same vendor share it.
const GOOGLE: &str = "0x1ae0";
/// The PCI device ids of TPU chips, from v2/v3 to v7.
const TPU_CHIPS: [&str; 7] = [
    "0x0027", "0x0056", "0x005e", "0x0062", "0x0063", "0x006f", "0x0076",
];

/// Returns `true` if an NVIDIA driver offers a device below `root` (`/`, except in tests).
pub(crate) fn nvidia_device(root: &Path, visible_devices: Option<&OsStr>) -> bool {
    // CUDA hides all devices if the list is empty or begins with -1.
    if visible_devices.is_some_and(|list| list.is_empty() || list.as_encoded_bytes() == b"-1") {
        return false;
    }
    let windows_subsystem =
        || root.join("dev/dxg").exists() && root.join("usr/lib/wsl/lib/libcuda.so.1").exists();
    numbered_node(&root.join("dev"), "nvidia") || windows_subsystem()
}

/// Returns `true` if this machine has access to a TPU chip: an `accel` node, or (v5e and later) a
/// `vfio` group together with a TPU chip on the bus.
pub(crate) fn tpu_device(root: &Path) -> bool {
    numbered_node(&root.join("dev"), "accel")
        || (numbered_node(&root.join("dev/vfio"), "")
            && tpu_on_bus(&root.join("sys/bus/pci/devices")))
}

/// Returns `true` if `folder` contains a node named `prefix` followed only by digits.
fn numbered_node(folder: &Path, prefix: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|entry| {
        entry
            .file_name()
            .to_str()
            .and_then(|name| name.strip_prefix(prefix))
            .is_some_and(|digits| {
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            })
    })
}

fn tpu_on_bus(devices: &Path) -> bool {
    let Ok(entries) = fs::read_dir(devices) else {
        return false;
    };
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    entries.flatten().any(|entry| {
        read(&entry.path().join("vendor")).trim() == GOOGLE
            && TPU_CHIPS.contains(&read(&entry.path().join("device")).trim())
    })
}
