//! Cases of primitives that are programs: those of random numbers, against the
//! published vectors of their hash, and `jit`.

use ramie_core::extend::bind;
use ramie_core::prim::Primitive;
use ramie_core::prim::random::{
    KeyLayout, RandomBits, RandomFoldIn, RandomSeed, RandomSplit, Threefry2x32,
};
use ramie_core::{Array, DType, jit};
use ramie_testing::apply::of;
use ramie_testing::case::Case;
use ramie_testing::numbers::Draw;

/// What the hash makes of zeros under the key of zeros.
const ZEROS: [u32; 2] = [0x6b20_0159, 0x99ba_4efe];

/// All of them.
pub fn cases() -> Vec<Case> {
    let mut cases = random();
    cases.extend(nested());
    cases
}

fn case<P: Primitive + Clone>(primitive: P, detail: &str, inputs: &[Array]) -> Case {
    let name = primitive.name();
    let apply = of(primitive).expect("an operation");
    Case::new(name, detail, inputs.to_vec(), apply)
}

fn random() -> Vec<Case> {
    let mut cases = Vec::new();
    // The vectors that its authors published for 20 rounds.
    let vectors: [[u32; 6]; 3] = [
        [0, 0, 0, 0, ZEROS[0], ZEROS[1]],
        [!0, !0, !0, !0, 0x1cb9_96fc, 0xbb00_2be7],
        [
            0x1319_8a2e,
            0x0370_7344,
            0x243f_6a88,
            0x85a3_08d3,
            0xc492_3a9c,
            0x483d_f7a0,
        ],
    ];
    let column = |i: usize| Array::from(vectors.map(|v| v[i]));
    let words: Vec<Array> = (0..4).map(column).collect();
    cases.push(case(Threefry2x32, "published", &words).gives(vec![column(4), column(5)]));
    let single: Vec<Array> = vectors[2].map(Array::from).to_vec();
    cases.push(case(Threefry2x32, "words", &single[..4]).gives(single[4..].to_vec()));
    let empty = Array::zeros(&[0], DType::U32);
    let key = [single[0].clone(), single[1].clone()];
    let inputs = [&key[..], &[empty.clone(), empty.clone()]].concat();
    cases.push(case(Threefry2x32, "nothing", &inputs).gives(vec![empty.clone(), empty]));

    let integers = DType::COMMON.into_iter().filter(|d| d.is_integer());
    for d in integers {
        let seeds = Array::from([[7i32, 100]]).astype(d);
        let keys = Array::from([0u32, 7, 0, 100]).reshape(&[1, 2, 2]);
        cases.push(case(RandomSeed, &format!("small {d}"), &[seeds]).gives(vec![keys]));
    }
    let wide = Array::from([-1i64, (3 << 32) + 5]);
    let keys = Array::from([[!0u32, !0], [3, 5]]);
    cases.push(case(RandomSeed, "wide", &[wide]).gives(vec![keys]));
    let negative = [Array::from(-1i32)];
    cases.push(case(RandomSeed, "negative", &negative).gives(vec![Array::from([0, !0u32])]));
    let none = Array::zeros(&[0], DType::I32);
    cases.push(case(RandomSeed, "nothing", &[none]).gives(vec![Array::zeros(&[0, 2], DType::U32)]));

    let zero = Array::zeros(&[2], DType::U32);
    let other = Array::from([[1u32, 2], [3, 4]]);
    let hashed = Array::from(ZEROS);
    let inputs = [zero.clone(), Array::from(0u32)];
    cases.push(case(RandomFoldIn, "zero", &inputs).gives(vec![hashed.clone()]));
    let inputs = [other.clone(), Array::from([5u32, 6])];
    cases.push(case(RandomFoldIn, "several", &inputs));
    let no_keys = Array::zeros(&[0, 2], DType::U32);
    let inputs = [no_keys.clone(), Array::zeros(&[0], DType::U32)];
    cases.push(case(RandomFoldIn, "nothing", &inputs).gives(vec![no_keys.clone()]));
    for layout in [KeyLayout::Partitionable, KeyLayout::Original] {
        let split = |shape: &[usize]| RandomSplit {
            shape: shape.into(),
            layout,
        };
        cases.push(case(split(&[3]), "", std::slice::from_ref(&zero)));
        cases.push(case(
            split(&[2, 2]),
            "several",
            std::slice::from_ref(&other),
        ));
        let nothing = vec![no_keys.clone()];
        cases.push(case(split(&[0]), "nothing", std::slice::from_ref(&zero)).gives(nothing));
        for bit_width in [8, 16, 32, 64] {
            let bits = |shape: &[usize]| RandomBits {
                bit_width,
                shape: shape.into(),
                layout,
            };
            let label = format!("{bit_width}");
            cases.push(case(bits(&[5]), &label, std::slice::from_ref(&other)));
            let nothing = bind(bits(&[2, 0]), &[&zero]).into_vec();
            let dtype = nothing[0].dtype();
            assert_eq!(dtype.bits(), bit_width);
            let known = vec![Array::zeros(&[2, 0], dtype)];
            cases.push(case(bits(&[2, 0]), &label, std::slice::from_ref(&zero)).gives(known));
        }
    }
    let first = RandomSplit {
        shape: [1].as_slice().into(),
        layout: KeyLayout::Partitionable,
    };
    let split = hashed.reshape(&[1, 2]);
    cases.push(case(first, "zero", std::slice::from_ref(&zero)).gives(vec![split]));
    let word = RandomBits {
        bit_width: 32,
        shape: [1].as_slice().into(),
        layout: KeyLayout::Partitionable,
    };
    let known = Array::from([ZEROS[0] ^ ZEROS[1]]);
    cases.push(case(word, "zero", &[zero]).gives(vec![known]));
    cases
}

fn nested() -> Vec<Case> {
    let mut cases = Vec::new();
    for d in DType::COMMON {
        let two = Array::from([1.0f64, 0.0, 2.0]).astype(d);
        let known = Array::from([2.0f64, 0.0, 4.0]).astype(d);
        let doubled = jit(|x: Array| &x + &x);
        let f = move |a: &[Array]| vec![doubled(a[0].clone())];
        let one = Case::new("jit", &format!("sum {d}"), vec![two], Box::new(f));
        cases.push(one.gives(vec![known]));
    }
    let mut draw = Draw::new(24);
    for shape in [&[2, 3][..], &[], &[0]] {
        let x = draw.array(shape, DType::F64, 0.5, 1.5);
        let y = draw.array(shape, DType::F64, 0.5, 1.5);
        let both = jit(|x: Array, y: Array| (x.sin() * &y, y.exp(), x));
        let f = move |a: &[Array]| {
            let (p, q, r) = both(a[0].clone(), a[1].clone());
            vec![p, q, r]
        };
        let label = format!("several {shape:?}");
        cases.push(Case::new("jit", &label, vec![x, y], Box::new(f)).smooth());
    }
    cases
}
