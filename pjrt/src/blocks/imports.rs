//! The functions that a loaded library imports, from the tables of the ELF format.
//!
//! A library calls imported functions through addresses that the loader wrote where the library's
//! relocations specify. Writing another address there changes what this library calls, and no
//! other.

use libc::{Elf64_Ehdr, Elf64_Phdr, Elf64_Rela, Elf64_Sym};
use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An entry of the dynamic table, which locates the other tables.
#[repr(C)]
struct Dynamic {
    tag: u64,
    value: u64,
}

// Tags of these entries that the crate `libc` does not define.
const DT_NULL: u64 = 0;
const DT_PLTRELSZ: u64 = 2;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_JMPREL: u64 = 23;
const DT_RELACOUNT: u64 = 0x6fff_fff9;
/// Relocations that contain a symbol's address: 64-bit data, entries of the global table, and
/// functions.
#[cfg(target_arch = "x86_64")]
const ADDRESSES: [u64; 3] = [1, 6, 7];
#[cfg(target_arch = "aarch64")]
const ADDRESSES: [u64; 3] = [257, 1025, 1026];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ADDRESSES: [u64; 0] = [];

/// The tables of a library, which stay in place until it is unloaded.
pub struct Imports {
    base: usize,
    names: *const u8,
    symbols: *const Elf64_Sym,
    relocations: [&'static [Elf64_Rela]; 2],
    /// The range that the loader made read-only after relocation.
    read_only: std::ops::Range<usize>,
}

impl Imports {
    /// Returns the tables of the library that contains this address, if there is one. The library
    /// must never be unloaded.
    pub fn of(address: *const ()) -> Option<Imports> {
        // SAFETY: a struct of numbers and pointers.
        let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: searches the loaded libraries for the address.
        if unsafe { libc::dladdr(address.cast(), &mut info) } == 0 {
            return None;
        }
        let base = info.dli_fbase as usize;
        // SAFETY: the mapping of a library begins with its header.
        let header = unsafe { &*(base as *const Elf64_Ehdr) };
        if header.e_ident[..4] != *b"\x7fELF" {
            return None;
        }
        let segments = (base + header.e_phoff as usize) as *const Elf64_Phdr;
        // SAFETY: the header locates the descriptions of the segments.
        let segments = unsafe { std::slice::from_raw_parts(segments, header.e_phnum.into()) };
        let segment = |kind| segments.iter().find(|s| s.p_type == kind);
        let first = (base + segment(libc::PT_DYNAMIC)?.p_vaddr as usize) as *const Dynamic;
        let find = |tag: u64| {
            let entries = (0..).map(|i| first.wrapping_add(i));
            // SAFETY: reads entries up to the one that ends the table, and none beyond it.
            let mut entries = entries.map(|entry| unsafe { &*entry });
            let entry = entries.find(|e| e.tag == tag || e.tag == DT_NULL)?;
            (entry.tag == tag).then_some(entry.value as usize)
        };
        // Some loaders write the address of a table; others leave its offset in the file.
        let place = |tag| find(tag).map(|at| if at < base { base + at } else { at });
        let table = |at: Option<usize>, bytes: Option<usize>, skipped: usize| match (at, bytes) {
            (Some(at), Some(bytes)) => {
                let n = (bytes / size_of::<Elf64_Rela>()).saturating_sub(skipped);
                let first = (at as *const Elf64_Rela).wrapping_add(skipped);
                // SAFETY: a table of the library, of this size.
                unsafe { std::slice::from_raw_parts(first, n) }
            }
            _ => &[],
        };
        // Relative relocations, which have no symbol, come first.
        let relative = find(DT_RELACOUNT).unwrap_or(0);
        let read_only = segment(libc::PT_GNU_RELRO).map_or(0..0, |s| {
            let start = base + s.p_vaddr as usize;
            start..start + s.p_memsz as usize
        });
        Some(Imports {
            base,
            names: place(DT_STRTAB)? as *const u8,
            symbols: place(DT_SYMTAB)? as *const Elf64_Sym,
            relocations: [
                table(place(DT_JMPREL), find(DT_PLTRELSZ), 0),
                table(place(DT_RELA), find(DT_RELASZ), relative),
            ],
            read_only,
        })
    }

    /// Replaces the imported function of this name. Returns `false` if the library does not
    /// import it.
    ///
    /// The function must satisfy the contract of the imported one.
    pub fn replace(&self, name: &CStr, function: *const ()) -> bool {
        let mut found = false;
        for relocation in self.relocations.into_iter().flatten() {
            if self.is_address_of(relocation, name) {
                found |= self.write(self.base + relocation.r_offset as usize, function);
            }
        }
        found
    }

    /// Returns the imported function of this name, if the library imports it.
    pub fn address(&self, name: &CStr) -> Option<*const ()> {
        let mut all = self.relocations.into_iter().flatten();
        let found = all.find(|r| self.is_address_of(r, name))?;
        let place = (self.base + found.r_offset as usize) as *const usize;
        // SAFETY: the loader wrote an address there.
        Some(unsafe { place.read() } as *const ())
    }

    fn is_address_of(&self, relocation: &Elf64_Rela, name: &CStr) -> bool {
        let (kind, symbol) = (relocation.r_info & 0xffff_ffff, relocation.r_info >> 32);
        if symbol == 0 || relocation.r_addend != 0 || !ADDRESSES.contains(&kind) {
            return false;
        }
        // SAFETY: relocations refer to symbols in the library's table, whose names are
        // zero-terminated strings in the table of names.
        let own = unsafe {
            let symbol = &*self.symbols.add(symbol as usize);
            CStr::from_ptr(self.names.add(symbol.st_name as usize).cast())
        };
        own == name
    }

    /// Writes an address. Returns `false` if the page cannot be made writable.
    fn write(&self, at: usize, function: *const ()) -> bool {
        // SAFETY: queries a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let protect = |protection| {
            let start = at / page * page;
            // SAFETY: a page of the library's data that the loader made read-only after it had
            // written the addresses in it.
            unsafe { libc::mprotect(start as *mut _, page, protection) == 0 }
        };
        let read_only = self.read_only.contains(&at);
        if read_only && !protect(libc::PROT_READ | libc::PROT_WRITE) {
            return false;
        }
        // SAFETY: the location of an address, in an aligned word that other threads may read
        // while it is written.
        unsafe { AtomicUsize::from_ptr(at as *mut usize) }
            .store(function as usize, Ordering::Release);
        if read_only {
            protect(libc::PROT_READ);
        }
        true
    }
}
