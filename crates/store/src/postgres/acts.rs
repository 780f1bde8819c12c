//! Several statements in one message.

use crate::sql::{Act, Value};

/// Statements as parts of one, which answers with the number of rows that each has changed.
pub(super) fn together(acts: &[Act]) -> (String, Vec<Value>) {
    let (mut parts, mut counts, mut values) = (vec![], vec![], vec![]);
    for (place, act) in acts.iter().enumerate() {
        let sql = renumbered(&act.sql, values.len());
        parts.push(format!("act{place} AS ({sql} RETURNING 1)"));
        counts.push(format!("(SELECT count(*) FROM act{place})"));
        values.extend(act.values.iter().cloned());
    }
    let sql = format!("WITH {} SELECT {}", parts.join(", "), counts.join(", "));
    (sql, values)
}

/// The same statement with `shift` parameters before its own.
fn renumbered(sql: &str, shift: usize) -> String {
    let mut pieces = sql.split('$');
    let first = pieces.next().unwrap_or_default().to_owned();
    let others = pieces.map(|piece| {
        let end = piece
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(piece.len());
        let number: usize = piece[..end].parse().expect("a parameter has a number");
        format!("${}{}", number + shift, &piece[end..])
    });
    std::iter::once(first).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_together_keep_their_own_parameters() {
        let act = |sql: &str, values: &[i64]| Act {
            sql: sql.to_owned(),
            values: values.iter().map(|it| Value::Int(*it)).collect(),
        };
        let (sql, values) = together(&[
            act("UPDATE t SET a = $1 WHERE b = $2", &[1, 2]),
            act("INSERT INTO u VALUES ($1, $2, $1)", &[3, 4]),
        ]);
        assert_eq!(
            sql,
            "WITH act0 AS (UPDATE t SET a = $1 WHERE b = $2 RETURNING 1), \
             act1 AS (INSERT INTO u VALUES ($3, $4, $3) RETURNING 1) \
             SELECT (SELECT count(*) FROM act0), (SELECT count(*) FROM act1)"
        );
        assert_eq!(values, [1, 2, 3, 4].map(Value::Int));
    }
}
