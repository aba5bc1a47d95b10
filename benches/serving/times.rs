//! Times, their statistics, and rows of results. Not here: formatting (`table`, `picture`).

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Outcome;

/// Times of one measurement, in order.
#[derive(Default)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns a percentile by nearest rank, in milliseconds; 0 is the minimum.
    pub fn at(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(rank).map_or(f64::NAN, |took| took.as_secs_f64() * 1e3)
    }
}

/// The file of results. Each row is written at once, so that an interrupted run keeps its results.
pub struct Results {
    file: PathBuf,
}

/// One row: named cells in order.
pub type Row = Map<String, Value>;

impl Results {
    pub fn at(file: &Path) -> Self {
        Self { file: file.to_owned() }
    }

    pub fn row(&self, part: &str, cells: &Value) -> Outcome<()> {
        let mut row = Row::new();
        row.insert("part".to_owned(), part.into());
        row.extend(cells.as_object().cloned().unwrap_or_default());
        let line = format!("{}\n", Value::Object(row));
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file)?;
        file.write_all(line.as_bytes())?;
        std::io::stderr().write_all(line.as_bytes())?;
        Ok(())
    }

    /// Adds a row of times, with the ratio of the median to that of a floor of the same run.
    pub fn times(&self, part: &str, cells: &Value, times: &Times, floor: &Times) -> Outcome<()> {
        let mut cells = cells.as_object().cloned().unwrap_or_default();
        let numbers = json!({
            "count": times.count(),
            "min ms": rounded(times.at(0)),
            "p50 ms": rounded(times.at(50)),
            "p99 ms": rounded(times.at(99)),
            "p50 / floor": rounded(times.at(50) / floor.at(50)),
        });
        cells.extend(numbers.as_object().cloned().unwrap_or_default());
        self.row(part, &Value::Object(cells))
    }
}

/// Rounds to three decimals, so that milliseconds show microseconds.
pub fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
