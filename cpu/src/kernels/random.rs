//! Random bits: Threefry and Philox (J. K. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3",
//! 2011), with the order of numbers of XLA.

/// Returns the block of Threefry-2x32 with 20 rounds for a counter.
pub fn threefry(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD1_1BDA];
    let mut x = [
        counter[0].wrapping_add(keys[0]),
        counter[1].wrapping_add(keys[1]),
    ];
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            x[0] = x[0].wrapping_add(x[1]);
            x[1] = x[1].rotate_left(rotation) ^ x[0];
        }
        x[0] = x[0].wrapping_add(keys[(group + 1) % 3]);
        x[1] = x[1]
            .wrapping_add(keys[(group + 2) % 3])
            .wrapping_add(group as u32 + 1);
    }
    x
}

/// Returns the block of Philox-4x32 with 10 rounds for a counter.
pub fn philox(mut key: [u32; 2], mut x: [u32; 4]) -> [u32; 4] {
    for _ in 0..10 {
        let a = u64::from(x[0]) * 0xD251_1F53;
        let b = u64::from(x[2]) * 0xCD9E_8D57;
        x = [
            (b >> 32) as u32 ^ x[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ x[3] ^ key[1],
            a as u32,
        ];
        key = [
            key[0].wrapping_add(0x9E37_79B9),
            key[1].wrapping_add(0xBB67_AE85),
        ];
    }
    x
}

fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

fn joined([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Returns `count` numbers of 64 bits of Threefry and the counter after them.
pub fn threefry_64(key: u64, counter: u64, count: usize) -> (Vec<u64>, u64) {
    let block = |i: usize| {
        joined(threefry(
            halves(key),
            halves(counter.wrapping_add(i as u64)),
        ))
    };
    (
        (0..count).map(block).collect(),
        counter.wrapping_add(count as u64),
    )
}

/// Returns the numbers of 32 bits of Threefry for a shape, in row-major order, and the counter after them.
/// The two numbers of a block are neighbors along the first even axis, or the largest one.
pub fn threefry_32(key: u64, counter: u64, shape: &[usize]) -> (Vec<u32>, u64) {
    let largest = shape.iter().rev().max().copied().unwrap_or(1);
    let even = shape.iter().position(|n| n % 2 == 0);
    let axis = even
        .or(shape.iter().position(|n| *n == largest))
        .unwrap_or(0);
    let size = shape.get(axis).copied().unwrap_or(1);
    let outer: usize = shape.iter().take(axis).product();
    let inner: usize = shape.iter().skip(axis + 1).product();
    let pairs = size.div_ceil(2);
    let mut numbers = vec![0; outer * size * inner];
    for i in 0..outer * pairs * inner {
        let block = threefry(halves(key), halves(counter.wrapping_add(i as u64)));
        let (before, pair, after) = (i / inner / pairs, i / inner % pairs, i % inner);
        for (k, number) in block
            .into_iter()
            .enumerate()
            .filter(|(k, _)| 2 * pair + k < size)
        {
            numbers[(before * size + 2 * pair + k) * inner + after] = number;
        }
    }
    (
        numbers,
        counter.wrapping_add((outer * pairs * inner) as u64),
    )
}

/// Returns `count` numbers of 32 bits of Philox and the counter after them.
pub fn philox_32(key: u64, counter: u128, count: usize) -> (Vec<u32>, u128) {
    let mut numbers = Vec::with_capacity(count.next_multiple_of(4));
    let blocks = count.div_ceil(4);
    for i in 0..blocks {
        let at = counter.wrapping_add(i as u128);
        let ([a, b], [c, d]) = (halves(at as u64), halves((at >> 64) as u64));
        numbers.extend(philox(halves(key), [a, b, c, d]));
    }
    numbers.truncate(count);
    (numbers, counter.wrapping_add(blocks as u128))
}
