//! The `grpc-timeout` header, by the gRPC over HTTP/2 protocol: at most eight
//! digits and a unit. The transport bounds no stream by it, so we do.

use std::time::Duration;

/// The time a caller grants; `None` when the header is malformed.
pub(super) fn parse(header: &str) -> Option<Duration> {
    let (digits, unit) = header.split_at_checked(header.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(number * 3600)),
        "M" => Some(Duration::from_secs(number * 60)),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_unit_and_refuses_the_rest() {
        let cases = [("1H", 3_600_000_000_000), ("2M", 120_000_000_000), ("3S", 3_000_000_000)];
        let cases = cases.into_iter().chain([("99999999m", 99_999_999_000_000), ("5u", 5000), ("6n", 6)]);
        for (header, nanos) in cases {
            assert_eq!(parse(header), Some(Duration::from_nanos(nanos)), "{header}");
        }
        for header in ["", "S", "100000000S", "1", "-1S", "+1S", "1x", "1é", " 1S"] {
            assert_eq!(parse(header), None, "{header}");
        }
    }
}
