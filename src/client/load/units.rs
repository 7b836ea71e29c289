//! Counts, rates, times and bytes in writing.
//!
//! It must never know: what they are of.

use std::time::Duration;

/// A count as a number to reckon with.
#[expect(clippy::cast_precision_loss, reason = "counts above 2^53 would take centuries")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// A part of a whole, from 0 to 1; nothing of nothing is 0.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

/// So many a second; none in no time.
pub(crate) fn per_second(count: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { float(count) / time.as_secs_f64() }
}

/// Whole nanoseconds.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A count with its thousands apart: `1,234,567`.
pub(crate) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its thousands apart, and decimals as far as they mean something: `1,234,567`, `12.34`.
pub(crate) fn number(value: f64) -> String {
    let decimals = if value >= 1000.0 {
        0
    } else if value >= 100.0 {
        1
    } else {
        2
    };
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some(_) => text,
        None => text.parse().map_or(text, count),
    }
}

/// A time in the unit that suits it, four digits long: `823 ns`, `12.34 µs`, `1.234 ms`, `5.000 s`.
pub(crate) fn time(time: Duration) -> String {
    let nanoseconds = nanoseconds(time);
    let (unit, of) = match nanoseconds {
        0..1_000 => return format!("{nanoseconds} ns"),
        1_000..1_000_000 => ("µs", 1e3),
        1_000_000..1_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let value = float(nanoseconds) / of;
    let decimals = if value < 10.0 {
        3
    } else if value < 100.0 {
        2
    } else {
        1
    };
    format!("{value:.decimals$} {unit}")
}

/// A time as short as it is exact, for what was set rather than measured: `10 s`, `250 ms`.
pub(crate) fn round_time(time: Duration) -> String {
    let nanoseconds = nanoseconds(time);
    let (unit, of) = match nanoseconds {
        0..1_000 => ("ns", 1.0),
        1_000..1_000_000 => ("µs", 1e3),
        1_000_000..1_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    format!("{} {unit}", float(nanoseconds) / of)
}

/// Bytes in the unit that suits them: `512 B`, `12.3 KiB`, `1.2 MiB`.
pub(crate) fn bytes(bytes: f64) -> String {
    let mut value = bytes;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    if unit == "B" { format!("{value:.0} B") } else { format!("{value:.1} {unit}") }
}

/// A share as a percentage, of which the smallest is not rounded to nothing: `0.01 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.01 { "< 0.01 %".into() } else { format!("{percent:.2} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0.0, 12.345, 123.45, 1234.5, 999.96].map(number),
            ["0.00", "12.35", "123.5", "1,234", "1000.0"]
        );
        let times = [823, 12_340, 1_234_000, 99_999_000, 5_000_000_000].map(Duration::from_nanos);
        assert_eq!(times.map(time), ["823 ns", "12.34 µs", "1.234 ms", "100.00 ms", "5.000 s"]);
        assert_eq!(times.map(round_time)[1..], ["12.34 µs", "1.234 ms", "99.999 ms", "5 s"]);
        assert_eq!([0.0, 1023.0, 1536.0, 3e6].map(bytes), ["0 B", "1023 B", "1.5 KiB", "2.9 MiB"]);
        assert_eq!([0.0, 0.000_01, 0.5, 1.0].map(percent), ["0.00 %", "< 0.01 %", "50.00 %", "100.00 %"]);
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        assert_eq!((share(0, 0), per_second(5, Duration::ZERO)), (0.0, 0.0));
        assert_eq!((share(1, 4), per_second(5, Duration::from_secs(2))), (0.25, 2.5));
    }
}
