//! Results as Markdown tables, one per part. Not here: measuring, drawing.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Outcome;
use super::times::Row;

/// Returns all rows of a file of results, in order.
pub fn rows(file: &Path) -> Outcome<Vec<Row>> {
    let text = fs::read_to_string(file)?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Formats the tables. A column exists if any row of its part has it; other rows show `-`.
pub fn tables(rows: &[Row]) -> Outcome<String> {
    let mut parts: Vec<&str> = Vec::new();
    for row in rows {
        let part = row.get("part").and_then(Value::as_str).unwrap_or_default();
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let mut text = String::new();
    for part in parts {
        let of_part: Vec<&Row> =
            rows.iter().filter(|row| row.get("part").is_some_and(|is| is == part)).collect();
        let mut columns: Vec<&str> = Vec::new();
        for name in of_part.iter().flat_map(|row| row.keys()).filter(|name| *name != "part") {
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
        writeln!(text, "## {part}\n\n| {} |", columns.join(" | "))?;
        writeln!(text, "|---|{}", "---:|".repeat(columns.len().saturating_sub(1)))?;
        for row in of_part {
            let cells: Vec<String> =
                columns.iter().map(|name| row.get(*name).map_or("-".to_owned(), shown)).collect();
            writeln!(text, "| {} |", cells.join(" | "))?;
        }
        text.push('\n');
    }
    Ok(text)
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}
