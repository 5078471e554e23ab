//! A history of the wire: takes it with the machine's limits, gives the points that can be.

use std::time::Duration;

use plimsoll_load::Meter;
use plimsoll_proto::telemetry::v1::{History, HistoryPoint};

use super::figure::Limits;
use super::{MAX_AGE, Omissions, ReportError};
use crate::metrics::{Reason, What};
use crate::slots::{MAX_POINTS, Point};

/// Reads a history that arrived at `now`; points that cannot be are left out.
///
/// # Errors
/// More points than any agent keeps.
pub(super) fn take(
    history: &History,
    now: Duration,
    limits: &Limits,
    omissions: &mut Omissions,
) -> Result<Vec<Point>, ReportError> {
    if history.points.len() > MAX_POINTS {
        return Err(ReportError::Malformed);
    }
    let mut points = Vec::with_capacity(history.points.len());
    for point in &history.points {
        match take_point(point, now, limits) {
            Ok(point) => points.push(point),
            Err(reason) => omissions.add(What::History, reason),
        }
    }
    Ok(points)
}

fn take_point(point: &HistoryPoint, now: Duration, limits: &Limits) -> Result<Point, Reason> {
    let age = Duration::from_millis(point.age_ms.into());
    if age > MAX_AGE {
        return Err(Reason::Age);
    }
    let figures = [
        (Meter::Cpu, point.cpu.map(f64::from)),
        (Meter::Memory, point.memory),
        (Meter::Rx, point.rx),
        (Meter::Tx, point.tx),
    ];
    for (meter, value) in figures {
        let Some(value) = value else { continue };
        limits.check(meter, value)?;
    }
    Ok(Point::new(now, age, figures.map(|(_, value)| value)))
}
