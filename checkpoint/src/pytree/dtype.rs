//! Dtypes in the metadata of zarr arrays.

use super::zarr::Endian;
use ramie_core::DType;

/// Returns the dtype's name in `.zarray`: NumPy's code, or TensorStore's extended name for dtypes
/// that NumPy lacks. Returns `None` for the two dtypes that have no name.
pub(super) fn zarr2_name(dtype: DType) -> Option<&'static str> {
    use DType::*;
    Some(match dtype {
        Bool => "|b1",
        I8 => "|i1",
        I16 => "<i2",
        I32 => "<i4",
        I64 => "<i8",
        U8 => "|u1",
        U16 => "<u2",
        U32 => "<u4",
        U64 => "<u8",
        F16 => "<f2",
        F32 => "<f4",
        F64 => "<f8",
        C64 => "<c8",
        C128 => "<c16",
        U4 | U2 => return None,
        other => other.numpy_name(),
    })
}

/// Returns the dtype's name in `zarr.json`.
pub(super) fn zarr3_name(dtype: DType) -> Option<&'static str> {
    (!matches!(dtype, DType::U4 | DType::U2)).then(|| dtype.numpy_name())
}

/// Parses a dtype and its byte order in `.zarray`.
pub(super) fn from_zarr2(name: &str) -> Option<(DType, Endian)> {
    let endian = if name.starts_with('>') {
        Endian::Big
    } else {
        Endian::Little
    };
    let little = match name.split_at_checked(1) {
        Some(("<" | ">" | "|", code)) if code.ends_with('1') => format!("|{code}"),
        Some(("<" | ">", code)) => format!("<{code}"),
        _ => name.to_owned(),
    };
    let found = DType::ALL
        .into_iter()
        .find(|d| zarr2_name(*d) == Some(&little))?;
    Some((found, endian))
}

/// Parses a dtype in `zarr.json`.
pub(super) fn from_zarr3(name: &str) -> Option<DType> {
    DType::ALL
        .into_iter()
        .find(|d| zarr3_name(*d) == Some(name))
}

/// Converts elements narrower than eight bits from host to file format by clearing the unused high
/// bits.
pub(super) fn to_stored(dtype: DType, bytes: &mut [u8]) {
    if dtype.bits() < 8 {
        let mask = (1u8 << dtype.bits()) - 1;
        bytes.iter_mut().for_each(|b| *b &= mask);
    }
}

/// Converts elements from file to host format: signed integers narrower than eight bits are
/// sign-extended. Returns an error for invalid bytes.
pub(super) fn from_stored(dtype: DType, bytes: &mut [u8]) -> Result<(), String> {
    match dtype {
        DType::Bool => match bytes.iter().position(|b| *b > 1) {
            Some(i) => Err(format!(
                "element {i} is {}, but a boolean is 0 or 1",
                bytes[i]
            )),
            None => Ok(()),
        },
        DType::I4 | DType::I2 => {
            let shift = 8 - dtype.bits();
            for b in bytes {
                *b = ((*b << shift) as i8 >> shift) as u8;
            }
            Ok(())
        }
        DType::U4 | DType::U2 | DType::F4E2M1Fn => {
            to_stored(dtype, bytes);
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back() {
        for dtype in DType::ALL {
            if let Some(name) = zarr2_name(dtype) {
                assert_eq!(from_zarr2(name), Some((dtype, Endian::Little)), "{name}");
            }
            if let Some(name) = zarr3_name(dtype) {
                assert_eq!(from_zarr3(name), Some(dtype), "{name}");
            }
        }
        assert_eq!(from_zarr2(">f4"), Some((DType::F32, Endian::Big)));
        assert_eq!(from_zarr2(">u1"), Some((DType::U8, Endian::Big)));
        for wrong in ["", "<", "f4", "<f3", "|S4", "<M8[ns]", "é"] {
            assert_eq!(from_zarr2(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn small_integers_keep_their_sign() {
        let mut bytes = [0xf8, 0x0f, 0, 7];
        to_stored(DType::I4, &mut bytes);
        assert_eq!(bytes, [8, 15, 0, 7]);
        from_stored(DType::I4, &mut bytes).unwrap();
        assert_eq!(bytes.map(|b| b as i8), [-8, -1, 0, 7]);
        assert!(from_stored(DType::Bool, &mut [0, 2]).is_err());
    }
}
