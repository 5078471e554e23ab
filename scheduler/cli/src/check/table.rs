//! What is in effect, as a table per profile: point, plugin, weight, args.

use std::collections::BTreeSet;

use plimsoll_config::{NodesToScore, Profile, SchedulerConfig};
use plimsoll_framework::{Args, Point};

use super::text::add;

/// The columns before the last.
type Row = [String; 3];

/// The tables of all profiles.
pub(super) fn render(config: &SchedulerConfig) -> String {
    let mut text = String::new();
    for profile in &config.profiles {
        add(
            &mut text,
            format_args!(
                "profile {}: looks at {}\n",
                profile.scheduler_name,
                nodes(profile.percentage_of_nodes_to_score)
            ),
        );
        rows(profile, &mut text);
        text.push('\n');
    }
    text
}

fn rows(profile: &Profile, text: &mut String) {
    let mut rows: Vec<(Row, String)> = Vec::new();
    let header = ["point", "plugin", "weight"].map(str::to_owned);
    rows.push((header, "args".to_owned()));
    let mut told = BTreeSet::new();
    for (point, plugins) in profile.points.iter() {
        let total: i64 = plugins.iter().map(|plugin| plugin.weight).sum();
        for (i, plugin) in plugins.iter().enumerate() {
            let name = plugin.spec.name;
            let at = if i == 0 { point.as_str() } else { "" };
            let weight = match point {
                Point::Score => share(plugin.weight, total),
                _ => String::new(),
            };
            // Args are the same at every point: they are told once.
            let args = if told.insert(name) {
                args(profile, name)
            } else {
                String::new()
            };
            rows.push(([at.to_owned(), name.to_owned(), weight], args));
        }
    }
    let mut widths = [0; 3];
    for (row, _) in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let [first, second, third] = widths;
    for ([point, plugin, weight], args) in &rows {
        let line = format!("  {point:first$}  {plugin:second$}  {weight:third$}  {args}");
        add(text, format_args!("{}\n", line.trim_end()));
    }
}

/// A weight and its part of all, where all are positive.
fn share(weight: i64, total: i64) -> String {
    if weight < 0 || total <= 0 {
        return weight.to_string();
    }
    let percent = weight as f64 * 100.0 / total as f64;
    format!("{weight} ({percent:.0} %)")
}

fn args(profile: &Profile, name: &str) -> String {
    match profile.args.get(name).map(Args::effective) {
        Some(args) if !args.is_null() => args.to_string(),
        _ => String::new(),
    }
}

fn nodes(percentage: NodesToScore) -> String {
    match percentage {
        NodesToScore::All => "all nodes".to_owned(),
        NodesToScore::Adaptive => {
            "as many feasible nodes as kube-scheduler (5 to 50 % of a large cluster)".to_owned()
        }
        NodesToScore::Percent(percent) => {
            format!("nodes until {percent} % of all are found feasible")
        }
    }
}
