//! Ages as people read them in `kubectl get` (`k8s.io/apimachinery/pkg/util/duration`).

use jiff::Timestamp;

/// Gives the time since an RFC 3339 instant, such as `45s`, `3m5s`, `4h`, `12d`; `<unknown>` without one.
pub(super) fn since(instant: Option<&str>, now: Timestamp) -> String {
    let instant: Option<Timestamp> = instant.and_then(|text| text.parse().ok());
    let Some(instant) = instant else {
        return "<unknown>".to_owned();
    };
    let seconds = now.as_second().saturating_sub(instant.as_second()).max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}

fn two(large: i64, large_unit: char, small: i64, small_unit: char) -> String {
    match small {
        0 => format!("{large}{large_unit}"),
        _ => format!("{large}{large_unit}{small}{small_unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_as_coarse_as_it_is_old() {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        for (instant, expected) in [
            ("2026-11-30T12:00:05Z", "0s"),
            ("2026-11-30T11:58:01Z", "119s"),
            ("2026-11-30T11:57:00Z", "3m"),
            ("2026-11-30T11:56:55Z", "3m5s"),
            ("2026-11-30T10:30:00Z", "90m"),
            ("2026-11-30T07:30:00Z", "4h30m"),
            ("2026-11-29T02:00:00Z", "34h"),
            ("2026-11-27T09:00:00Z", "3d3h"),
            ("2026-10-01T12:00:00Z", "60d"),
            ("2023-11-30T12:00:00Z", "3y1d"),
            ("2010-11-30T12:00:00Z", "16y"),
            ("never", "<unknown>"),
        ] {
            assert_eq!(since(Some(instant), now), expected, "{instant}");
        }
        assert_eq!(since(None, now), "<unknown>");
    }
}
