//! Lines over axes as SVG, drawn once and needing no script: hover shows the figures of a stretch.
//!
//! It must never know: what a report is, which figures are worth a plot.

use std::fmt::Write as _;
use std::time::Duration;

use super::units;

/// The drawing, in its own units, and the frame of the lines within it.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = WIDTH - 24.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = HEIGHT - 42.0;

/// The most steps of an axis with equal steps.
const MAX_STEPS: f64 = 6.0;
/// Times that differ by more are drawn over powers of ten.
const WIDE: f64 = 20.0;
/// Powers of ten up to which 2 and 5 times each are named too.
const FEW_POWERS: f64 = 2.5;
/// Powers of ten up to which 2 or 5 times one has a name if it is an end of the axis.
const MANY_POWERS: f64 = 5.0;

/// Lines over two axes.
pub(super) struct Plot<'a> {
    /// What it shows, for those who can't see it.
    pub(super) label: &'a str,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    pub(super) stretches: Vec<Stretch>,
}

/// An axis: where values lie on it, and which of them are named.
pub(super) struct Axis {
    name: &'static str,
    scale: Scale,
    /// The values at its ends, as the scale has them.
    from: f64,
    to: f64,
    ticks: Vec<(f64, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    Equal,
    Powers,
    /// Shares of a whole, of which each nine takes as much room as the one before.
    Nines,
}

/// A line, broken where nothing is known.
pub(super) struct Line {
    /// The class by which the page colours it.
    pub(super) class: &'static str,
    /// Whether what is below it is shaded.
    pub(super) shaded: bool,
    pub(super) points: Vec<Option<(f64, f64)>>,
}

/// A stretch of the x axis, and what is said of it when the mouse is there.
pub(super) struct Stretch {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) text: String,
}

impl Axis {
    /// Times, in seconds, that lie among these; over powers of ten if they differ much.
    pub(super) fn times(name: &'static str, values: impl Iterator<Item = f64>) -> Self {
        let (least, most) = ends(values.filter(|&value| value > 0.0));
        let (least, most) = if most > 0.0 { (least, most) } else { (1e-3, 1e-3) };
        if most / least < WIDE {
            return Self::equal(name, most, time);
        }
        let (from, to) = (round_down(least), round_up(most));
        let few = (to / from).log10() <= FEW_POWERS;
        let powers = int(from.log10().floor())..=int(to.log10().ceil());
        let steps: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let values = powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        let within = values.filter(|value| (from * 0.999..=to * 1.001).contains(value));
        // Where there is room, the ends have names too, which are 1, 2 or 5 times a power.
        let named = (!few && (to / from).log10() <= MANY_POWERS).then_some([from, to]);
        let mut values: Vec<_> = within.chain(named.into_iter().flatten()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup_by(|a, b| *a < *b * 1.001);
        let ticks = values.into_iter().map(|value| (value.log10(), time(value))).collect();
        Self { name, scale: Scale::Powers, from: from.log10(), to: to.log10(), ticks }
    }

    /// Boards a second, from none.
    pub(super) fn rates(name: &'static str, values: impl Iterator<Item = f64>) -> Self {
        Self::equal(name, ends(values).1, rate)
    }

    /// The run, from its beginning, in seconds.
    pub(super) fn run(name: &'static str, length: f64) -> Self {
        let axis = Self::equal(name, length, time);
        // It ends where the run does.
        let ticks = axis.ticks.into_iter().filter(|(value, _)| *value <= length * 1.001).collect();
        Self { to: length.max(f64::MIN_POSITIVE), ticks, ..axis }
    }

    /// Shares of so many boards, each nine as wide as the one before.
    pub(super) fn nines(name: &'static str, boards: u64) -> Self {
        let to = units::float(boards).log10().max(1.0);
        let named = [
            (0.0, "0 %"),
            (0.5, "50 %"),
            (0.75, "75 %"),
            (0.9, "90 %"),
            (0.95, "95 %"),
            (0.99, "99 %"),
            (0.999, "99.9 %"),
            (0.9999, "99.99 %"),
            (0.99999, "99.999 %"),
            (0.999_999, "99.9999 %"),
            (0.999_999_9, "99.99999 %"),
        ];
        let ticks = named.into_iter().map(|(share, text)| (nines(share), text.to_owned()));
        let ticks = ticks.filter(|(place, _)| *place <= to * 1.001).collect();
        Self { name, scale: Scale::Nines, from: 0.0, to, ticks }
    }

    /// Values from none up to at least this one, in round and equal steps.
    fn equal(name: &'static str, most: f64, show: fn(f64) -> String) -> Self {
        let most = if most > 0.0 { most } else { 1.0 };
        let step = round_up(most / MAX_STEPS);
        let steps = int((most / step).ceil());
        let ticks: Vec<_> = (0..=steps).map(|n| f64::from(n) * step).map(|v| (v, show(v))).collect();
        Self { name, scale: Scale::Equal, from: 0.0, to: f64::from(steps) * step, ticks }
    }

    /// Where a value lies, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let scaled = match self.scale {
            Scale::Equal => value,
            Scale::Powers => value.max(f64::MIN_POSITIVE).log10(),
            Scale::Nines => nines(value),
        };
        self.part(scaled)
    }

    fn part(&self, scaled: f64) -> f64 {
        ((scaled - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }
}

impl Plot<'_> {
    /// The plot as an SVG element.
    pub(super) fn svg(&self) -> String {
        let mut svg =
            format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n", self.label);
        self.axes(&mut svg);
        for line in &self.lines {
            self.line(line, &mut svg);
        }
        for Stretch { from, to, text } in &self.stretches {
            let (from, to) = (self.x(*from), self.x(*to));
            let (width, height) = ((to - from).max(0.5), BOTTOM - TOP);
            let _ = writeln!(
                svg,
                "<rect class=\"hit\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height}\">\
                 <title>{text}</title></rect>"
            );
        }
        svg + "</svg>\n"
    }

    fn axes(&self, svg: &mut String) {
        for (value, text) in &self.y.ticks {
            let y = vertical(self.y.part(*value));
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>\
                 <text class=\"tick\" x=\"{x}\" y=\"{baseline:.1}\" text-anchor=\"end\">{text}</text>",
                x = LEFT - 9.0,
                baseline = y + 4.0
            );
        }
        for (value, text) in &self.x.ticks {
            let x = horizontal(self.x.part(*value));
            let _ = writeln!(
                svg,
                "<path class=\"mark\" d=\"M{x:.1} {BOTTOM}v5\"/>\
                 <text class=\"tick\" x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>",
                y = BOTTOM + 19.0
            );
        }
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>\
             <text class=\"name\" x=\"0\" y=\"12\">{}</text>\
             <text class=\"name\" x=\"{RIGHT}\" y=\"{y}\" text-anchor=\"end\">{}</text>",
            self.y.name,
            self.x.name,
            y = HEIGHT - 4.0
        );
    }

    fn line(&self, line: &Line, svg: &mut String) {
        let class = line.class;
        for piece in line.points.split(Option::is_none) {
            let points: Vec<_> =
                piece.iter().flatten().map(|&(x, y)| (self.x(x), vertical(self.y.place(y)))).collect();
            let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
            if points.len() == 1 {
                let _ = writeln!(
                    svg,
                    "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"/>",
                    first.0, first.1
                );
                continue;
            }
            let mut path = String::new();
            for (x, y) in &points {
                let _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { 'M' } else { 'L' });
            }
            if line.shaded {
                let (from, to) = (first.0, last.0);
                let _ = writeln!(
                    svg,
                    "<path class=\"{class} shade\" d=\"{path}L{to:.1} {BOTTOM}L{from:.1} {BOTTOM}Z\"/>"
                );
            }
            let _ = writeln!(svg, "<path class=\"{class} line\" d=\"{path}\"/>");
        }
    }

    fn x(&self, value: f64) -> f64 {
        horizontal(self.x.place(value))
    }
}

fn horizontal(part: f64) -> f64 {
    LEFT + part * (RIGHT - LEFT)
}

fn vertical(part: f64) -> f64 {
    BOTTOM - part * (BOTTOM - TOP)
}

/// How many nines a share has: 0.99 has two.
fn nines(share: f64) -> f64 {
    -(1.0 - share).max(f64::MIN_POSITIVE).log10()
}

/// The least and the most of some values; 0 if there are none.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.map(|value| (value, value)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default()
}

/// The least of 1, 2 and 5 times a power of ten that is not less.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|step| step * power)
        .find(|&round| round >= value * 0.999_999)
        .unwrap_or(10.0 * power)
}

/// The most of 1, 2 and 5 times a power of ten that is not more.
fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0]
        .into_iter()
        .map(|step| step * power)
        .find(|&round| round <= value * 1.000_001)
        .unwrap_or(power)
}

/// A small whole number, as powers and steps of an axis are.
#[expect(clippy::cast_possible_truncation, reason = "it saturates, far beyond any axis")]
fn int(value: f64) -> i32 {
    value as i32
}

fn time(seconds: f64) -> String {
    if seconds == 0.0 { "0".into() } else { units::round_time(rounded(seconds)) }
}

/// A time without the traces of reckoning in binary.
fn rounded(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn rate(value: f64) -> String {
    match value {
        1e6.. => format!("{} M", short(value / 1e6)),
        1e4..1e6 => format!("{} k", short(value / 1e3)),
        _ => short(value),
    }
}

/// At most three decimals, and no zeros at their end.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn axes_have_round_ticks() {
        assert_eq!(named(&Axis::rates("", [3.0, 97.0].into_iter())), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(named(&Axis::rates("", [1.1e6].into_iter())).last(), Some(&"1.2 M"));
        assert_eq!(
            named(&Axis::times("", [0.012, 0.02].into_iter())),
            ["0", "5 ms", "10 ms", "15 ms", "20 ms"]
        );
        let wide = Axis::times("", [0.000_13, 4.0].into_iter());
        assert_eq!(named(&wide), ["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "5 s"]);
        assert!(wide.place(0.000_13) > 0.0 && wide.place(4.0) < 1.0);
        assert_eq!(named(&Axis::times("", [0.001, 0.1].into_iter())).len(), 7);
        assert_eq!(named(&Axis::nines("", 2000)), ["0 %", "50 %", "75 %", "90 %", "95 %", "99 %", "99.9 %"]);
        assert_eq!(named(&Axis::run("", 20.1)).last(), Some(&"20 s"));
    }

    #[test]
    fn nothing_and_one_point_are_drawn_too() {
        for values in [vec![], vec![0.0], vec![f64::MAX]] {
            let axes = [Axis::rates("", values.iter().copied()), Axis::times("", values.iter().copied())];
            assert!(axes.iter().all(|axis| axis.place(0.5).is_finite() && axis.ticks.len() < 1000));
        }
        let plot = |points| Plot {
            label: "",
            x: Axis::run("", 0.0),
            y: Axis::rates("", [].into_iter()),
            lines: vec![Line { class: "red", shaded: true, points }],
            stretches: vec![],
        };
        assert!(plot(vec![Some((0.0, 1.0)), None]).svg().contains("<circle"));
        assert!(!plot(vec![]).svg().contains("red"));
        let svg =
            plot(vec![Some((0.0, 1.0)), Some((1.0, 1.0)), None, Some((2.0, 0.0)), Some((3.0, 0.0))]).svg();
        assert_eq!(svg.matches("class=\"red line\"").count(), 2);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
