//! `cel.bind(name, value, expression)` (cel-go `ext.Bindings`).

use cel::common::ast::{ComprehensionExpr, Expr, ListExpr, LiteralValue};
use cel::common::types::CelBool;
use cel::parser::{Macro, MacroExprHelper};
use cel::{DeclarationError, Env, IdedExpr, ParseError};

/// The variable of a loop that never runs.
const UNUSED: &str = "#unused";

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_macro(Macro::receiver("bind", 3, expand))
}

/// A loop over nothing whose result is the expression, with the value as its start.
fn expand(
    helper: &mut MacroExprHelper<'_>,
    target: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
) -> Result<Option<IdedExpr>, ParseError> {
    let is_cel = |target: &IdedExpr| matches!(&target.expr, Expr::Ident(name) if name == "cel");
    if !target.as_ref().is_some_and(is_cel) {
        return Ok(None);
    }
    let Some(Expr::Ident(name)) = args.first().map(|arg| arg.expr.clone()) else {
        let id = args.first().map_or(0, |arg| arg.id);
        return Err(helper.new_error(id, "cel.bind() variable names must be simple identifiers"));
    };
    let mut args = std::mem::take(args).into_iter().skip(1);
    let (Some(value), Some(result)) = (args.next(), args.next()) else {
        return Ok(None);
    };
    let bound = ComprehensionExpr {
        iter_range: helper.next_expr(Expr::List(ListExpr::new(Vec::new()))),
        iter_var: UNUSED.to_owned(),
        iter_var2: None,
        accu_var: name.clone(),
        accu_init: value,
        loop_cond: helper.next_expr(Expr::Literal(LiteralValue::Boolean(CelBool::from(false)))),
        loop_step: helper.next_expr(Expr::Ident(name)),
        result,
    };
    Ok(Some(helper.next_expr(Expr::Comprehension(Box::new(bound)))))
}
