//! Damaged programs.
use ramie_cpu::{Buffer, Program};
use std::panic::{AssertUnwindSafe, catch_unwind};
fn main() {
    std::panic::set_hook(Box::new(|i| {
        eprintln!("{i}");
    }));
    let mut seed = 0x9E3779B97F4A7C15u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let (mut all, mut compiled, mut ran, mut panics) = (0, 0, 0, 0);
    let count: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    for dir in std::fs::read_dir(std::env::args().nth(1).unwrap()).unwrap() {
        for f in std::fs::read_dir(dir.unwrap().path()).unwrap() {
            let f = f.unwrap().path();
            if f.extension().is_none_or(|e| e != "mlir") {
                continue;
            }
            let text = std::fs::read(&f).unwrap();
            if text.len() > 20000 {
                continue;
            }
            let digits: Vec<usize> = (0..text.len())
                .filter(|i| {
                    text[*i].is_ascii_digit()
                        && !(text[*i - 1] == b'i'
                            || text[*i - 1] == b'f'
                            || text[*i - 1] == b'%'
                            || text[*i - 1] == b'g')
                })
                .collect();
            if digits.is_empty() {
                continue;
            }
            for _ in 0..count {
                let mut t = text.clone();
                for _ in 0..1 + next() % 2 {
                    let i = digits[(next() % digits.len() as u64) as usize];
                    t[i] = b'0' + (next() % 10) as u8;
                    if next() % 8 == 0 {
                        t[i - 1] = b'-';
                    }
                }
                let Ok(t) = String::from_utf8(t) else {
                    continue;
                };
                all += 1;
                let r = catch_unwind(AssertUnwindSafe(|| {
                    let Ok(p) = Program::compile(&t) else {
                        return 0;
                    };
                    if t.contains("while") {
                        return 1;
                    }
                    let args: Option<Vec<Buffer>> = p
                        .parameters()
                        .iter()
                        .map(|ty| {
                            let n = ty.byte_size().unwrap();
                            if n > 1 << 20 {
                                return None;
                            };
                            let b: Vec<u8> = (0..n)
                                .map(|i| {
                                    if ty.element == ramie_cpu::ElementType::Bool {
                                        (i & 1) as u8
                                    } else {
                                        (i * 37 % 251) as u8
                                    }
                                })
                                .collect();
                            Buffer::from_bytes(ty.clone(), &b).ok()
                        })
                        .collect();
                    let Some(args) = args else { return 1 };
                    if p.results().iter().any(|r| r.byte_size().unwrap() > 1 << 22) {
                        return 1;
                    }
                    let _ = p.run(&args.iter().collect::<Vec<_>>());
                    2
                }));
                match r {
                    Ok(2) => {
                        compiled += 1;
                        ran += 1
                    }
                    Ok(1) => compiled += 1,
                    Ok(_) => {}
                    Err(_) => {
                        panics += 1;
                        if panics < 40 {
                            std::fs::write(format!("/tmp/fuzz_{panics}.mlir"), &t).unwrap();
                            eprintln!("   in {} -> /tmp/fuzz_{panics}.mlir", f.display());
                        }
                    }
                }
            }
        }
    }
    println!("{all} texts, {compiled} compiled, {ran} ran, {panics} panics");
}
