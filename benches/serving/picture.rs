//! Draws growth curves as SVG: time and memory by the number of events, with logarithmic axes. Not here:
//! measuring.

use std::fmt::Write;

use serde_json::Value;

use super::Outcome;
use super::times::Row;

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 62.0;
const TOP: f64 = 40.0;
const INNER_WIDTH: f64 = 380.0;
const INNER_HEIGHT: f64 = 180.0;
/// These colours can also be distinguished by people who do not see red and green.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];

/// A curve: its name, and its values by number of events.
struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
}

/// A panel: the rows it shows, and which of their cells.
struct Panel {
    title: &'static str,
    part: &'static str,
    cells: &'static [(&'static str, &'static str)],
}

const PANELS: [Panel; 4] = [
    Panel {
        title: "search through MCP, ms",
        part: "search",
        cells: &[("p50", "p50 ms"), ("p99", "p99 ms")],
    },
    Panel { title: "killed to the right answer, ms", part: "restart", cells: &[("", "p50 ms")] },
    Panel {
        title: "memory of the retriever, MB",
        part: "footprint",
        cells: &[("RSS", "retriever RSS MB")],
    },
    Panel { title: "beside peers: query p50, ms", part: "beside", cells: &[("", "query p50 ms")] },
];

/// Draws everything that was measured at two sizes or more.
pub fn svg(rows: &[Row]) -> Outcome<String> {
    let mut panels = Vec::new();
    for panel in &PANELS {
        let curves = curves(rows, panel);
        if !curves.is_empty() {
            panels.push((panel.title, curves));
        }
    }
    let down = panels.len().div_ceil(2) as f64;
    let mut svg = String::new();
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"11\">",
        2.0 * WIDTH,
        down * HEIGHT
    )?;
    writeln!(svg, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>")?;
    for (at, (title, curves)) in panels.iter().enumerate() {
        let (x, y) = ((at % 2) as f64 * WIDTH, (at / 2) as f64 * HEIGHT);
        writeln!(svg, "<g transform=\"translate({x},{y})\">")?;
        draw(&mut svg, title, curves)?;
        writeln!(svg, "</g>")?;
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

fn curves(rows: &[Row], panel: &Panel) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for row in rows.iter().filter(|row| row.get("part").is_some_and(|part| part == panel.part)) {
        let number = |name: &str| row.get(name).and_then(Value::as_f64);
        let many = number("clients").filter(|&clients| clients > 1.0 && panel.part == "search");
        let what = row.get("what").and_then(Value::as_str).unwrap_or_default();
        for (suffix, cell) in panel.cells {
            let (Some(events), Some(value)) = (number("events"), number(cell)) else { continue };
            if events < 1.0 || value <= 0.0 {
                continue;
            }
            let clients = many.map_or(String::new(), |clients| format!(" {clients} clients"));
            let name =
                format!("{}{clients} {suffix}", what.trim_start_matches("agent-knowledge, "));
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push((events, value)),
                None => curves.push(Curve { name, points: vec![(events, value)] }),
            }
        }
    }
    curves.retain_mut(|curve| {
        curve.points.sort_by(|one, other| one.0.total_cmp(&other.0));
        curve.points.len() > 1
    });
    curves
}

/// Returns the powers of ten that enclose all values.
fn decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (least, most) =
        values.map(f64::log10).fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
    let (least, most) = (least.floor(), most.ceil());
    (least, most.max(least + 1.0))
}

fn draw(svg: &mut String, title: &str, curves: &[Curve]) -> Outcome<()> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let (x_least, x_most) = decades(points().map(|point| point.0));
    let (y_least, y_most) = decades(points().map(|point| point.1));
    let x = |events: f64| LEFT + INNER_WIDTH * (events.log10() - x_least) / (x_most - x_least);
    let y = |value: f64| TOP + INNER_HEIGHT * (y_most - value.log10()) / (y_most - y_least);
    writeln!(svg, "<text x=\"{LEFT}\" y=\"22\" font-size=\"14\">{title}</text>")?;
    let mut tick = y_least;
    while tick <= y_most {
        let (value, at) = (10_f64.powf(tick), y(10_f64.powf(tick)));
        writeln!(svg, "<path d=\"M{LEFT} {at:.1}h{INNER_WIDTH}\" stroke=\"#ddd\"/>")?;
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            LEFT - 6.0,
            at + 4.0
        )?;
        tick += 1.0;
    }
    let mut tick = x_least;
    while tick <= x_most {
        let (value, at) = (10_f64.powf(tick), x(10_f64.powf(tick)));
        let (bottom, below) = (TOP + INNER_HEIGHT, TOP + INNER_HEIGHT + 15.0);
        writeln!(svg, "<path d=\"M{at:.1} {TOP}V{bottom}\" stroke=\"#eee\"/>")?;
        writeln!(svg, "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{value}</text>")?;
        tick += 1.0;
    }
    for ((at, curve), colour) in curves.iter().enumerate().zip(COLOURS.iter().cycle()) {
        let path: Vec<String> =
            curve.points.iter().map(|&(e, v)| format!("{:.1},{:.1}", x(e), y(v))).collect();
        let dash = if at >= COLOURS.len() { " stroke-dasharray=\"5 3\"" } else { "" };
        writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
            path.join(" ")
        )?;
        for &(events, value) in &curve.points {
            writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>",
                x(events),
                y(value)
            )?;
        }
        let (key_x, key_y) =
            (LEFT + (at % 3) as f64 * 132.0, TOP + INNER_HEIGHT + 34.0 + (at / 3) as f64 * 15.0);
        writeln!(
            svg,
            "<path d=\"M{key_x} {:.1}h14\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
            key_y - 4.0
        )?;
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{key_y}\" font-size=\"10\">{}</text>",
            key_x + 18.0,
            curve.name
        )?;
    }
    Ok(())
}
