//! From samples to figures: means, quantiles, missing samples, untrusted nodes.

use std::time::Duration;

use plimsoll_kernel::Kernel;

use super::{TAU, Window};
use crate::usage::{NodeSample, NodeUsage, Pressure, Resource, Untrusted, UsageFigure};

const PERIOD: Duration = Duration::from_secs(1);
const MEAN: Kernel = Kernel::Ewma { tau: TAU };

fn sample(second: u32, cpu: Option<f64>) -> NodeSample {
    NodeSample {
        taken_at: PERIOD * second,
        interval: if second == 0 { Duration::ZERO } else { PERIOD },
        cpu_millicores: cpu,
        memory_bytes: Some(1 << 30),
        ..NodeSample::default()
    }
}

fn figure(usage: &NodeUsage, resource: Resource, kernel: Kernel) -> Option<UsageFigure> {
    let mut found = usage.figures.iter().copied();
    found.find(|figure| figure.resource == resource && figure.kernel == kernel)
}

fn cpu(usage: &NodeUsage) -> Option<UsageFigure> {
    figure(usage, Resource::Cpu, MEAN)
}

fn p95(width: Duration) -> Kernel {
    Kernel::Quantile { q: 0.95, width }
}

#[test]
fn the_first_sample_of_a_source_has_no_figures() {
    let mut window = Window::new(PERIOD);
    assert_eq!(window.push(&sample(0, Some(500.0))).figures, []);
}

#[test]
fn a_steady_load_is_shown_in_full_from_the_second_sample_on() {
    let mut window = Window::new(PERIOD);
    for second in 0..5 {
        window.push(&sample(second, Some(500.0)));
    }
    let found = cpu(window.usage()).unwrap();
    assert!((found.value - 500.0).abs() < 1e-9);
    assert_eq!((found.window_age, found.samples), (4 * PERIOD, 4));
}

#[test]
fn a_step_shows_what_its_kernel_promises() {
    let mut window = Window::new(PERIOD);
    for second in 0..=20 {
        let load = if second > 15 { 1_000.0 } else { 0.0 };
        window.push(&sample(second, Some(load)));
    }
    let found = cpu(window.usage()).unwrap();
    let promised = MEAN.visible(5 * PERIOD, found.window_age);
    assert!((found.value - 1_000.0 * promised).abs() < 1e-9);
}

#[test]
fn a_resource_without_a_sample_is_absent() {
    let mut window = Window::new(PERIOD);
    window.push(&sample(0, None));
    let usage = window.push(&sample(1, None));
    let found: Vec<_> = usage.figures.iter().map(|figure| figure.resource).collect();
    assert_eq!(found, [Resource::Memory; 3]);
}

#[test]
fn memory_is_its_last_value() {
    let mut window = Window::new(PERIOD);
    window.push(&sample(0, None));
    window.push(&sample(1, None));
    let mut low = sample(2, None);
    low.memory_bytes = Some(5);
    let found = figure(window.push(&low), Resource::Memory, Kernel::Instant).unwrap();
    assert_eq!((found.value, found.samples), (5.0, 1));
}

#[test]
fn a_missing_sample_weighs_as_much_as_the_time_it_took() {
    let mut window = Window::new(PERIOD);
    for second in 0..=10 {
        window.push(&sample(second, Some(0.0)));
    }
    window.push(&sample(11, None));
    let held = cpu(window.usage()).unwrap();
    assert_eq!((held.value, held.samples), (0.0, 10));
    window.push(&sample(12, Some(1_000.0)));
    let found = cpu(window.usage()).unwrap();
    let promised = MEAN.visible(2 * PERIOD, 12 * PERIOD);
    assert!((found.value - 1_000.0 * promised).abs() < 1e-9);
    assert_eq!(found.window_age, 12 * PERIOD);
}

#[test]
fn after_more_than_three_missing_samples_the_figure_is_absent_and_begins_anew() {
    let mut window = Window::new(PERIOD);
    for second in 0..=10 {
        window.push(&sample(second, Some(0.0)));
    }
    for second in 11..=13 {
        assert!(
            cpu(window.push(&sample(second, None))).is_some(),
            "{second}"
        );
    }
    assert_eq!(cpu(window.push(&sample(14, None))), None);
    let found = cpu(window.push(&sample(15, Some(700.0)))).unwrap();
    assert!((found.value - 700.0).abs() < 1e-9);
    assert_eq!((found.window_age, found.samples), (PERIOD, 1));
}

#[test]
fn an_untrusted_node_has_no_figures_and_begins_anew() {
    let mut window = Window::new(PERIOD);
    for second in 0..=10 {
        window.push(&sample(second, Some(100.0)));
    }
    let mut untrusted = sample(11, None);
    untrusted.untrusted = Some(Untrusted::CpuLines {
        stat: 32,
        online: 5,
    });
    let usage = window.push(&untrusted);
    assert_eq!(
        (usage.figures.len(), usage.untrusted),
        (0, untrusted.untrusted)
    );
    let usage = window.push(&sample(12, Some(300.0)));
    assert_eq!(usage.untrusted, None);
    let found = cpu(usage).unwrap();
    assert!((found.value - 300.0).abs() < 1e-9);
    assert_eq!(found.samples, 1);
}

#[test]
fn quantiles_cover_one_and_five_minutes() {
    let mut window = Window::new(PERIOD);
    for second in 0..=400 {
        let load = if second <= 340 {
            1_000.0
        } else {
            f64::from(second)
        };
        window.push(&sample(second, Some(load)));
    }
    let minute = figure(window.usage(), Resource::Cpu, p95(60 * PERIOD)).unwrap();
    assert_eq!((minute.value, minute.samples), (397.0, 60));
    assert_eq!(minute.window_age, 60 * PERIOD);
    let five = figure(window.usage(), Resource::Cpu, p95(300 * PERIOD)).unwrap();
    assert_eq!((five.value, five.samples), (1_000.0, 300));
}

#[test]
fn a_young_window_says_so() {
    let mut window = Window::new(PERIOD);
    for second in 0..=3 {
        window.push(&sample(second, Some(1.0)));
    }
    let found = figure(window.usage(), Resource::Cpu, p95(300 * PERIOD)).unwrap();
    assert_eq!((found.window_age, found.samples), (3 * PERIOD, 3));
}

#[test]
fn pressure_and_steal_are_smoothed_like_the_load() {
    let mut window = Window::new(PERIOD);
    window.push(&sample(0, None));
    let mut pressed = sample(1, None);
    pressed.pressure = Pressure {
        cpu: Some(0.5),
        memory: None,
        io: Some(0.25),
    };
    pressed.steal = Some(0.125);
    let usage = window.push(&pressed);
    assert_eq!(usage.steal, Some(0.125));
    assert_eq!(figure(usage, Resource::PsiCpu, MEAN).unwrap().value, 0.5);
    assert_eq!(figure(usage, Resource::PsiIo, MEAN).unwrap().value, 0.25);
    assert_eq!(figure(usage, Resource::PsiMemory, MEAN), None);
}
