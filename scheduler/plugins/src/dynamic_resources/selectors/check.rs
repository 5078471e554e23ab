//! What an expression may cost: depth, so that it cannot use up the stack, and work.
//!
//! Takes a parsed expression, gives the reason to refuse it. The API server estimates the
//! worst cost of each expression when its object is stored; this is the scheduler's own
//! line of defence.

use cel::IdedExpr;
use cel::common::ast::{EntryExpr, Expr, operators};

/// Deepest expression that is run: each level takes some 2 KiB of stack, some 10 KiB in an
/// unoptimised build. People write a dozen; each macro adds four.
const DEPTH_MAX: usize = 100;
/// Most steps that an expression may take on one device: a second of work at the very
/// worst. kube-scheduler's limit, 1,000,000, counts in larger units.
const STEPS_MAX: u64 = 10_000_000;
/// Elements of a range that is no literal: a device has at most 32 attributes and
/// capacities (`ResourceSliceMaxAttributesAndCapacitiesPerDevice`); a text of 64 characters
/// can be split.
const RANGE_LEN: u64 = 64;

/// Why the expression is not to be run.
pub(super) fn refusal(expression: &IdedExpr) -> Option<&'static str> {
    if !is_shallow(expression) {
        return Some("it nests too deeply");
    }
    (steps(expression) > STEPS_MAX).then_some("it may cost too much")
}

/// Whether no part lies deeper than may be. Does not recurse.
fn is_shallow(expression: &IdedExpr) -> bool {
    let mut open = vec![(expression, 1)];
    while let Some((part, depth)) = open.pop() {
        if depth > DEPTH_MAX || matches!(part.expr, Expr::Unspecified) {
            return false;
        }
        each_part(part, &mut |inner| open.push((inner, depth + 1)));
    }
    true
}

/// The most steps that it may take.
fn steps(expression: &IdedExpr) -> u64 {
    if let Expr::Comprehension(fold) = &expression.expr {
        let inner = steps(&fold.loop_cond).saturating_add(steps(&fold.loop_step));
        let loops = inner.saturating_mul(elements(&fold.iter_range));
        return [&fold.iter_range, &fold.accu_init, &fold.result]
            .into_iter()
            .fold(loops, |sum, part| sum.saturating_add(steps(part)));
    }
    let mut sum: u64 = 1;
    each_part(expression, &mut |part| {
        sum = sum.saturating_add(steps(part));
    });
    sum
}

/// The most elements that it may have when it is iterated over.
fn elements(range: &IdedExpr) -> u64 {
    match &range.expr {
        Expr::List(list) => list.elements.len() as u64,
        Expr::Map(map) => map.entries.len() as u64,
        Expr::Comprehension(fold) => elements(&fold.iter_range),
        Expr::Call(call) if call.func_name == operators::ADD => {
            let parts = call.args.iter().map(elements);
            parts.fold(0, u64::saturating_add)
        }
        Expr::Call(call) if call.func_name == "range" => u64::MAX,
        _ => RANGE_LEN,
    }
}

fn each_part<'e>(expression: &'e IdedExpr, visit: &mut dyn FnMut(&'e IdedExpr)) {
    match &expression.expr {
        Expr::Call(call) => {
            call.target.iter().for_each(|target| visit(target));
            call.args.iter().for_each(visit);
        }
        Expr::Comprehension(fold) => {
            let parts = [
                &fold.iter_range,
                &fold.accu_init,
                &fold.loop_cond,
                &fold.loop_step,
                &fold.result,
            ];
            parts.into_iter().for_each(visit);
        }
        Expr::List(list) => list.elements.iter().for_each(visit),
        Expr::Select(select) => visit(&select.operand),
        Expr::Map(map) => map
            .entries
            .iter()
            .for_each(|entry| each_value(&entry.expr, visit)),
        Expr::Struct(made) => made
            .entries
            .iter()
            .for_each(|entry| each_value(&entry.expr, visit)),
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
    }
}

fn each_value<'e>(entry: &'e EntryExpr, visit: &mut dyn FnMut(&'e IdedExpr)) {
    match entry {
        EntryExpr::MapEntry(entry) => {
            visit(&entry.key);
            visit(&entry.value);
        }
        EntryExpr::StructField(field) => visit(&field.value),
    }
}
