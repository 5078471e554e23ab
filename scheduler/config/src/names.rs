//! The name that somebody probably meant.

/// Shortest text for which "one contains the other" says something.
const CONTAINED_MIN: usize = 4;
/// One wrong letter is forgiven per this many.
const LETTERS_PER_TYPO: usize = 4;

/// The candidate most like `name`, if any is like it at all: one that contains it (or is
/// contained), or one that is a few typing errors away. Case does not count.
pub(crate) fn nearest<'n>(
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let wanted = name.to_lowercase();
    let typos_max = (wanted.len() / LETTERS_PER_TYPO).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let offered = candidate.to_lowercase();
        let typos = strsim::osa_distance(&wanted, &offered);
        let contained = wanted.len().min(offered.len()) >= CONTAINED_MIN
            && (offered.contains(&wanted) || wanted.contains(&offered));
        if (typos <= typos_max || contained) && best.is_none_or(|(least, _)| typos < least) {
            best = Some((typos, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_name_finds_the_one_that_was_meant() {
        let plugins = [
            "NodeResourcesFit",
            "NodeResourcesBalancedAllocation",
            "NodeName",
            "NodePorts",
        ];
        for (typed, meant) in [
            (
                "BalancedAllocation",
                Some("NodeResourcesBalancedAllocation"),
            ),
            ("NodeResourceFit", Some("NodeResourcesFit")),
            ("noderesourcesfit", Some("NodeResourcesFit")),
            ("NodeResourcesFitArgs", Some("NodeResourcesFit")),
            ("NodePort", Some("NodePorts")),
            ("GpuTopology", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, plugins), meant, "{typed}");
        }
    }
}
