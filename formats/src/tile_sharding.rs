//! The shardings of a partitioned program's inputs and outputs, read from the compiled module.
//!
//! Field numbers are those of XLA's `HloModuleProto` and `OpSharding`.

use crate::proto::{Field, fields};

/// An upper bound of the number of devices; a larger number means that the data is corrupt.
const MOST_DEVICES: usize = 1 << 20;

/// The sharding of an array over the partitions of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TileSharding {
    /// The whole array is on every device.
    Replicated,
    /// The array is divided into equal tiles, each on one device or, if there are more devices
    /// than tiles, on several.
    Tiled {
        /// Number of tiles along each dimension of the array.
        tiles: Vec<usize>,
        /// For each partition, in the order of the device assignment, the coordinates of its
        /// tile: an index below `tiles[d]` for each dimension `d`.
        coordinates: Vec<Vec<usize>>,
    },
    /// Any other sharding, such as the whole array on a single device, as a description.
    Other(String),
}

/// Shardings and per-device shapes of a compiled module's inputs and outputs.
#[derive(Debug, Default, PartialEq)]
pub struct Layouts {
    /// Shardings of the inputs; empty if the module was not partitioned.
    pub inputs: Vec<TileSharding>,
    /// Shardings of the outputs; empty if the module was not partitioned.
    pub outputs: Vec<TileSharding>,
    /// Dimensions of the inputs on one device.
    pub input_dims: Vec<Vec<i64>>,
}

/// Reads the shardings from a module (`HloModuleProto`).
///
/// # Errors
/// Returns a description of the part of the module that is damaged.
pub fn of_module(module: &[u8]) -> Result<Layouts, String> {
    let damaged = |part: &str| format!("the {part} is not well-formed");
    let mut layouts = Layouts::default();
    for (field, value) in fields(module).ok_or_else(|| damaged("module"))? {
        match field {
            4 => {
                layouts.input_dims =
                    parameter_dims(value.bytes()).ok_or_else(|| damaged("program's shape"))?;
            }
            12 => layouts.outputs = parse_each(value.bytes())?,
            14 => layouts.inputs.push(parse(value.bytes())?),
            _ => {}
        }
    }
    Ok(layouts)
}

/// Returns the dimensions of the parameters of a `ProgramShapeProto`.
fn parameter_dims(code: &[u8]) -> Option<Vec<Vec<i64>>> {
    let mut all = Vec::new();
    for (field, shape) in fields(code)? {
        if field == 1 {
            let mut dims = Vec::new();
            for (field, value) in fields(shape.bytes())? {
                if field == 3 {
                    value.all_ints_into(&mut dims)?;
                }
            }
            all.push(dims);
        }
    }
    Some(all)
}

/// The fields of an `OpSharding` that determine the location of elements.
#[derive(Default)]
struct OpSharding<'a> {
    kind: i64,
    tile_dims: Vec<i64>,
    devices: Vec<i64>,
    parts: Vec<&'a [u8]>,
    replicate_on_last: bool,
    last_tile_dims: Vec<i64>,
    iota_dims: Vec<i64>,
    iota_perm: Vec<i64>,
}

const REPLICATED: i64 = 0;
const TUPLE: i64 = 2;
const TILED: i64 = 3;

impl OpSharding<'_> {
    fn read(code: &[u8]) -> Option<OpSharding<'_>> {
        let mut this = OpSharding::default();
        for (field, value) in fields(code)? {
            match field {
                1 => this.kind = value.int(),
                3 => value.all_ints_into(&mut this.tile_dims)?,
                4 => value.all_ints_into(&mut this.devices)?,
                5 => match value {
                    Field::Bytes(part) => this.parts.push(part),
                    _ => return None,
                },
                6 => this.replicate_on_last = value.int() != 0,
                8 => value.all_ints_into(&mut this.last_tile_dims)?,
                9 => value.all_ints_into(&mut this.iota_dims)?,
                10 => value.all_ints_into(&mut this.iota_perm)?,
                _ => {}
            }
        }
        Some(this)
    }

    /// Returns the sharding of an array.
    fn layout(&self) -> Result<TileSharding, String> {
        let name = match self.kind {
            REPLICATED => return Ok(TileSharding::Replicated),
            TILED => return self.tiled(),
            1 => return Ok(TileSharding::Other(format!("on device {:?}", self.devices))),
            TUPLE => "a tuple inside a tuple".into(),
            4 => "manual".into(),
            5 => "unknown".into(),
            6 => "unreduced".into(),
            other => format!("kind {other}"),
        };
        Ok(TileSharding::Other(name))
    }

    fn tiled(&self) -> Result<TileSharding, String> {
        let all = sizes(&self.tile_dims).ok_or("its tile dimensions are invalid")?;
        let count: usize = all.iter().product();
        let devices = self.assignment(count)?;
        // The array's dimensions are followed by groups of devices with the same tile.
        let groups = match (&self.last_tile_dims[..], self.replicate_on_last) {
            ([], replicated) => usize::from(replicated),
            (kinds, false) => {
                if kinds.iter().any(|kind| *kind != REPLICATED) {
                    let words = format!("tiles {all:?} with subgroups of kinds {kinds:?}");
                    return Ok(TileSharding::Other(words));
                }
                kinds.len()
            }
            _ => return Err("it specifies its last tile dimensions twice".into()),
        };
        let rank = all
            .len()
            .checked_sub(groups)
            .ok_or("it has fewer tile dimensions than groups of devices")?;
        let mut coordinates = vec![Vec::new(); count];
        for (position, &device) in devices.iter().enumerate() {
            let mut coordinate = vec![0; all.len()];
            let mut rest = position;
            for (at, size) in coordinate.iter_mut().zip(&all).rev() {
                *at = rest % size;
                rest /= size;
            }
            coordinate.truncate(rank);
            coordinates[device] = coordinate;
        }
        let tiles = all[..rank].to_vec();
        Ok(if tiles.iter().all(|&n| n == 1) {
            TileSharding::Replicated
        } else {
            TileSharding::Tiled { tiles, coordinates }
        })
    }

    /// Returns the device of each tile, in row-major order of the tiles, which is a permutation.
    fn assignment(&self, count: usize) -> Result<Vec<usize>, String> {
        let devices: Vec<usize> = if self.iota_dims.is_empty() {
            let known = |&d: &i64| usize::try_from(d).ok().filter(|d| *d < count);
            self.devices.iter().map(known).collect::<Option<_>>()
        } else {
            self.iota()
        }
        .ok_or("its devices are invalid")?;
        let mut seen = vec![false; count];
        for &device in &devices {
            let first = seen
                .get_mut(device)
                .is_some_and(|s| !std::mem::replace(s, true));
            if !first {
                return Err(format!("its tiles do not have one device each: {device}"));
            }
        }
        if devices.len() == count {
            Ok(devices)
        } else {
            Err(format!("{count} tiles have {} devices", devices.len()))
        }
    }

    /// Returns `arange(n).reshape(iota_dims).transpose(iota_perm)`, flattened.
    fn iota(&self) -> Option<Vec<usize>> {
        let dims = sizes(&self.iota_dims)?;
        let rank = dims.len();
        let perm: Vec<usize> = match &self.iota_perm[..] {
            [] => (0..rank).collect(),
            perm => perm
                .iter()
                .map(|&p| usize::try_from(p).ok().filter(|p| *p < rank))
                .collect::<Option<_>>()?,
        };
        if perm.len() != rank || (0..rank).any(|d| !perm.contains(&d)) {
            return None;
        }
        let stride = |d: usize| dims[d + 1..].iter().product::<usize>();
        let mut list = vec![0];
        for &d in &perm {
            let step = stride(d);
            let along = |start: &usize| {
                let start = *start;
                (0..dims[d]).map(move |i| start + i * step)
            };
            list = list.iter().flat_map(along).collect();
        }
        Some(list)
    }
}

/// Returns positive sizes whose product is a possible number of devices.
fn sizes(dims: &[i64]) -> Option<Vec<usize>> {
    let sizes: Vec<usize> = dims
        .iter()
        .map(|&d| usize::try_from(d).ok().filter(|d| *d > 0))
        .collect::<Option<_>>()?;
    let count = sizes.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
    (count <= MOST_DEVICES).then_some(sizes)
}

/// Parses the sharding of an array.
fn parse(code: &[u8]) -> Result<TileSharding, String> {
    let sharding = OpSharding::read(code).ok_or("a sharding is not well-formed")?;
    let layout = sharding.layout();
    layout.map_err(|reason| format!("a sharding contradicts itself: {reason}"))
}

/// Parses the shardings of a tuple's parts, or of a single array.
fn parse_each(code: &[u8]) -> Result<Vec<TileSharding>, String> {
    let sharding = OpSharding::read(code).ok_or("a sharding is not well-formed")?;
    if sharding.kind == TUPLE {
        sharding.parts.iter().map(|part| parse(part)).collect()
    } else {
        Ok(vec![parse(code)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Writer;

    fn packed(writer: &mut Writer, field: u32, values: &[i64]) {
        if !values.is_empty() {
            let mut inner = Writer::default();
            for value in values {
                inner.varint(*value as u64);
            }
            writer.bytes(field, &inner.0);
        }
    }

    /// Encodes a tiled sharding with these values of its fields 3, 4, 8, 9, 10 and 6.
    fn tiled(lists: [&[i64]; 5], replicate_on_last: bool) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.int(1, TILED);
        for (field, list) in [3, 4, 8, 9, 10].into_iter().zip(lists) {
            packed(&mut writer, field, list);
        }
        if replicate_on_last {
            writer.int(6, 1);
        }
        writer.0
    }

    fn tiling(sharding: TileSharding) -> (Vec<usize>, Vec<Vec<usize>>) {
        match sharding {
            TileSharding::Tiled { tiles, coordinates } => (tiles, coordinates),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn listed_and_iota_devices_say_the_same() {
        // [[0, 4], [1, 5], [2, 6], [3, 7]]: XLA's `devices=[4,2]<=[2,4]T(1,0)`.
        let listed = tiled([&[4, 2], &[0, 4, 1, 5, 2, 6, 3, 7], &[], &[], &[]], false);
        let iota = tiled([&[4, 2], &[], &[], &[2, 4], &[1, 0]], false);
        let (tiles, at) = tiling(parse(&listed).unwrap());
        assert_eq!(tiles, [4, 2]);
        let expected: Vec<Vec<usize>> = (0..8).map(|d| vec![d % 4, d / 4]).collect();
        assert_eq!(at, expected);
        assert_eq!(parse(&listed), parse(&iota));
    }

    #[test]
    fn three_dimensions_of_devices_are_transposed_as_xla_does() {
        // `devices=[2,2,2]<=[2,2,2]T(2,0,1)` lists 0, 2, 4, 6, 1, 3, 5, 7.
        let iota = tiled([&[2, 2, 2], &[], &[], &[2, 2, 2], &[2, 0, 1]], false);
        let listed = tiled(
            [&[2, 2, 2], &[0, 2, 4, 6, 1, 3, 5, 7], &[], &[], &[]],
            false,
        );
        assert_eq!(parse(&iota), parse(&listed));
    }

    #[test]
    fn groups_of_devices_share_a_tile() {
        let flag = tiled([&[1, 2, 4], &[], &[], &[8], &[0]], true);
        let list = tiled([&[1, 2, 2, 2], &[], &[0, 0], &[8], &[]], false);
        let (tiles, at) = tiling(parse(&flag).unwrap());
        assert_eq!(tiles, [1, 2]);
        assert_eq!((&at[3], &at[4]), (&vec![0, 0], &vec![0, 1]));
        assert_eq!(parse(&flag), parse(&list));
        let whole = tiled([&[1, 1, 8], &[], &[], &[8], &[0]], true);
        assert_eq!(parse(&whole).unwrap(), TileSharding::Replicated);
    }

    #[test]
    fn other_layouts_are_told_in_words() {
        let kind = |kind| {
            let mut writer = Writer::default();
            writer.int(1, kind);
            packed(&mut writer, 4, &[5]);
            parse(&writer.0).unwrap()
        };
        assert_eq!(kind(0), TileSharding::Replicated);
        assert_eq!(kind(1), TileSharding::Other("on device [5]".into()));
        assert_eq!(kind(4), TileSharding::Other("manual".into()));
        let manual = tiled([&[2, 2], &[], &[4], &[4], &[]], false);
        assert!(matches!(parse(&manual), Ok(TileSharding::Other(_))));
    }

    #[test]
    fn contradictions_are_errors() {
        for (bad, reason) in [
            (
                tiled([&[2], &[0, 0], &[], &[], &[]], false),
                "one device each",
            ),
            (tiled([&[2], &[0], &[], &[], &[]], false), "2 tiles have 1"),
            (
                tiled([&[2], &[0, 9], &[], &[], &[]], false),
                "devices are invalid",
            ),
            (
                tiled([&[0], &[], &[], &[], &[]], false),
                "dimensions are invalid",
            ),
            (
                tiled([&[1 << 40, 1 << 40], &[], &[], &[], &[]], false),
                "dimensions are",
            ),
            (
                tiled([&[4], &[], &[], &[2, 2], &[0, 0]], false),
                "devices are invalid",
            ),
            (tiled([&[4], &[], &[], &[2], &[]], false), "4 tiles have 2"),
            (
                tiled([&[], &[0], &[0, 0], &[], &[]], false),
                "fewer tile dimensions",
            ),
            (
                tiled([&[2], &[0, 1], &[0], &[], &[]], true),
                "its last tile dimensions twice",
            ),
        ] {
            let error = parse(&bad).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    /// Encodes a module with two inputs and two outputs.
    fn module() -> Vec<u8> {
        let sharding = tiled([&[2, 2], &[], &[], &[2, 2], &[1, 0]], false);
        let mut module = Writer::default();
        module.bytes(1, b"name");
        module.message(4, |shape| {
            for dims in [[2, 300], [1, 8]] {
                shape.message(1, |input| packed(input, 3, &dims));
            }
        });
        module.message(12, |tuple| {
            tuple.int(1, TUPLE);
            tuple.bytes(5, &[]);
            tuple.bytes(5, &sharding);
        });
        module.bytes(14, &sharding);
        module.bytes(14, &[]);
        module.0
    }

    #[test]
    fn a_module_has_layouts_of_inputs_and_outputs() {
        let layouts = of_module(&module()).unwrap();
        assert_eq!(layouts.input_dims, [[2, 300], [1, 8]]);
        assert_eq!(layouts.outputs[0], TileSharding::Replicated);
        assert_eq!(layouts.inputs[1], TileSharding::Replicated);
        assert_eq!(layouts.inputs[0], layouts.outputs[1]);
    }

    #[test]
    fn damaged_modules_are_errors_or_other_layouts_and_never_panic() {
        let module = module();
        let whole = of_module(&module).unwrap();
        for cut in 0..module.len() {
            // A cut between two fields yields a shorter module; any other cut is an error.
            match of_module(&module[..cut]) {
                Ok(fewer) => {
                    let fields = fields(&module[..cut]).unwrap().len();
                    assert!(fields < 5 && fewer.inputs.len() == fields.saturating_sub(3));
                }
                Err(error) => assert!(error.contains("well-formed"), "{error}"),
            }
        }
        let mut state = 1u64;
        let mut random = move |below: usize| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let mut refused = 0;
        for _ in 0..50_000 {
            let mut bytes = module.clone();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                bytes[at] = random(256) as u8;
            }
            let read = of_module(&bytes);
            refused += usize::from(read.is_err());
            assert!(read.is_err() || read == Ok(of_module(&bytes).unwrap()));
        }
        assert!(refused > 10_000, "{refused} of 50000 were refused");
        assert!(whole.outputs.len() == 2);
    }
}
