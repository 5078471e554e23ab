//! Free ports of the loopback, known before a program is started: takes nothing, gives a
//! port that nothing else is likely to take.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::bail;

/// Below the ports that Linux gives to outgoing connections (32768 and up), so that none of
/// these takes one between the look and the use.
const FIRST: u16 = 15_000;
const COUNT: u16 = 16_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port that is free on 127.0.0.1 and that this process has not been given before. Two
/// processes begin at different places.
///
/// # Errors
/// None is free.
pub fn free_port() -> anyhow::Result<u16> {
    // Neighbouring process numbers are far apart.
    let begin = u64::from(std::process::id()).wrapping_mul(7919) % u64::from(COUNT);
    for _ in 0..COUNT {
        let step = u64::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = FIRST + ((begin + step) % u64::from(COUNT)) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port from {FIRST} to {} is free", FIRST + COUNT);
}
