//! Numbers as short texts.

pub(super) use ramie_core::text::grouped as count;
use std::time::Duration;

/// Formats a metric with four digits.
pub(super) fn metric(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => value.to_string(),
        0.0 => "0".to_string(),
        size if size < 1e-3 => format!("{value:.2e}"),
        size if size < 10.0 => format!("{value:.4}"),
        size if size < 1000.0 => format!("{value:.1}"),
        size if size < 1e15 => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", count(size as u64))
        }
        _ => format!("{value:.2e}"),
    }
}

/// Formats a time as hours, minutes and seconds.
pub(super) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    match days {
        0 => format!("{hours}:{minutes:02}:{seconds:02}"),
        1 => format!("1 day {hours}:{minutes:02}:{seconds:02}"),
        days => format!("{} days {hours}:{minutes:02}:{seconds:02}", count(days)),
    }
}

/// Formats a number of bytes.
pub(super) fn bytes(bytes: u64) -> String {
    let gib = bytes as f64 / (1u64 << 30) as f64;
    match bytes >> 20 {
        0..1024 => format!("{} MiB", bytes >> 20),
        _ => format!("{gib:.1} GiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
        let values = [0.0, 1.5e-5, 0.123_456, 123.456, 54_321.7, -2e20, f64::NAN];
        let texts = [
            "0", "1.50e-5", "0.1235", "123.5", "54,321", "-2.00e20", "NaN",
        ];
        assert_eq!(values.map(metric), texts);
        let times = [0, 59, 3_725, 86_400, 200_000].map(|s| duration(Duration::from_secs(s)));
        let texts = [
            "0:00:00",
            "0:00:59",
            "1:02:05",
            "1 day 0:00:00",
            "2 days 7:33:20",
        ];
        assert_eq!(times, texts);
        assert_eq!([1 << 20, 3 << 29].map(bytes), ["1 MiB", "1.5 GiB"]);
    }
}
