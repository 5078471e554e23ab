//! A tick on this machine's own `/proc` and `/sys` allocates nothing once the buffers have
//! their size: the sampler and the windows both.

use std::time::Duration;

use plimsoll_agent::sample::{HostRoot, NodeSampler};
use plimsoll_agent::usage::Source;
use plimsoll_agent::window::Window;

const PERIOD: Duration = Duration::from_secs(1);

#[test]
fn a_tick_after_warm_up_allocates_nothing() {
    let mut sampler = NodeSampler::open(HostRoot::default(), PERIOD);
    let mut window = Window::new(PERIOD);
    let mut at = Duration::ZERO;
    let mut tick = || {
        at += PERIOD;
        window.push(sampler.sample(at)).figures.len()
    };
    for _ in 0..3 {
        tick();
    }
    let mut figures = 0;
    let counted = allocation_counter::measure(|| {
        for _ in 0..400 {
            figures = tick();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    assert!(figures > 0, "nothing was measured");
}
