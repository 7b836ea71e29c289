//! Report → one page that stands alone: no script, no font, no link, no request.
//!
//! It must never know: where it goes. Whatever text it is given may come from a hostile server.

use std::fmt::{self, Display, Write as _};
use std::time::Duration;

use prost_types::Timestamp;

use super::plot::{Axis, Line, Plot, Stretch};
use super::record::Share;
use super::report::{Distribution, Ending, Interval, Latency, PERCENTS, Report, Verdict};
use super::units::{count, number, per_second, percent, share, time};
use super::words;

/// How the page looks.
const STYLE: &str = include_str!("report.css");
/// Nothing but the page's own style is ever fetched or run, whatever a text in it might contain.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// A text in which nothing is markup.
struct Safe<'a>(&'a str);

impl Display for Safe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            _ if c.is_control() => f.write_char(char::REPLACEMENT_CHARACTER),
            _ => f.write_char(c),
        })
    }
}

/// A line's name in the legend, and its class.
type Key = (&'static str, &'static str);

/// A line over time: its key, and the boards that it counts.
type Counted = (Key, fn(&Interval) -> u64);

/// The report as a page.
pub(crate) fn render(report: &Report) -> String {
    let headline = words::headline(&report.settings);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>taquin load report: {title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header><h1>taquin load report</h1><p>{title}</p><p>{started}, {endpoints}</p></header>\n",
        title = Safe(&headline),
        started = started(report),
        endpoints = Safe(&report.settings.endpoints.join(", ")),
    );
    tiles(report, &mut page);
    notes(report, &mut page);
    by_percentile(report, &mut page);
    if !report.intervals.is_empty() {
        throughput(report, &mut page);
        over_time(report, &mut page);
    }
    tables(report, &mut page);
    let _ = writeln!(page, "<footer>taquin-client {}</footer>", env!("CARGO_PKG_VERSION"));
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

/// When the run was, in UTC, to the second.
fn started(report: &Report) -> String {
    let stamp = Timestamp { nanos: 0, ..Timestamp::from(report.started) };
    stamp.to_string().replace('T', " ").replace('Z', " UTC")
}

fn tiles(report: &Report, page: &mut String) {
    page.push_str("<div class=\"tiles\">\n");
    let offered = report.offered_rate().map(|rate| format!("of {} offered", number(rate)));
    let boards = format!("{} boards", count(report.boards.succeeded));
    tile(page, "Boards a second", &number(report.rate()), &offered.unwrap_or(boards), false);
    if let Some(Latency { corrected, uncorrected }) = &report.succeeded {
        let beside = |percent, otherwise| match uncorrected {
            Some(times) => format!("{} since sent", time(times.percentile(percent))),
            None => otherwise,
        };
        let (mean, tail) = (time(corrected.mean()), time(corrected.percentile(99.9)));
        let fastest = format!("fastest {}", time(corrected.fastest()));
        let rows = [
            ("Median latency", 50.0, format!("average {mean}")),
            ("p99", 99.0, format!("p99.9 {tail}")),
            ("Slowest", 100.0, fastest),
        ];
        for (name, percent, otherwise) in rows {
            tile(page, name, &time(corrected.percentile(percent)), &beside(percent, otherwise), false);
        }
    }
    let failed = report.boards.failed;
    tile(page, "Errors", &percent(report.error_share()), &format!("{} boards", count(failed)), failed > 0);
    let wrong = report.wrongs();
    tile(
        page,
        "Wrong answers",
        &count(wrong),
        &format!("check: {}", Safe(&report.settings.check)),
        wrong > 0,
    );
    page.push_str("</div>\n");
}

fn tile(page: &mut String, name: &str, value: &str, below: &str, bad: bool) {
    let bad = if bad { " bad" } else { "" };
    let _ = writeln!(
        page,
        "<div class=\"card tile{bad}\"><span>{name}</span><strong>{value}</strong><small>{below}</small></div>"
    );
}

fn notes(report: &Report, page: &mut String) {
    let grave = report.wrongs() > 0 || matches!(report.ending, Ending::Failed(_));
    let warnings = words::warnings(report).into_iter().map(|text| (if grave { "bad" } else { "warn" }, text));
    let verdicts = report.verdicts.iter().map(|verdict| {
        let Verdict { condition, measured, holds } = verdict;
        let (class, said) = if *holds { ("bad", "Failed") } else { ("good", "Passed") };
        let holds = if *holds { "holds" } else { "does not hold" };
        (class, format!("{said}: {condition} {holds}, measured: {measured}"))
    });
    let notes: Vec<_> = warnings.chain(verdicts).collect();
    if notes.is_empty() {
        return;
    }
    page.push_str("<ul class=\"notes\">\n");
    for (class, text) in notes {
        let _ = writeln!(page, "<li class=\"{class}\">{}</li>", Safe(&text));
    }
    page.push_str("</ul>\n");
}

fn figure(page: &mut String, id: &str, title: &str, keys: &[Key], plot: &Plot<'_>) {
    let _ = writeln!(page, "<figure class=\"card\" id=\"{id}\">\n<figcaption><h2>{title}</h2>");
    for (name, class) in keys {
        let _ = writeln!(page, "<span class=\"key {class}\">{name}</span>");
    }
    let _ = write!(page, "</figcaption>\n{}</figure>\n", plot.svg());
}

/// Latency by percentile, failures too if there are any.
fn by_percentile(report: &Report, page: &mut String) {
    let mut curves: Vec<(Key, &Distribution)> = Vec::new();
    if let Some(Latency { corrected, uncorrected }) = &report.succeeded {
        match uncorrected {
            Some(uncorrected) => {
                curves.push((("since due (corrected)", "blue"), corrected));
                curves.push((("since sent", "amber dashed"), uncorrected));
            }
            None => curves.push((("boards", "blue"), corrected)),
        }
    }
    curves.extend(report.failed.as_ref().map(|latency| (("failures", "red"), &latency.corrected)));
    let points: Vec<Vec<(f64, f64)>> = curves.iter().map(|(_, times)| curve(times)).collect();
    let Some(first) = points.first() else { return };
    let most = curves.iter().map(|(_, times)| times.boards()).max().unwrap_or_default();
    let stretches = first.windows(2).map(|pair| {
        let (from, to) = (pair[0].0, pair[1].0);
        let at = |(key, times): &(Key, &Distribution)| {
            format!("{}: {}", key.0, time(times.percentile(to * 100.0)))
        };
        let texts: Vec<_> = curves.iter().map(at).collect();
        Stretch { from, to, text: format!("{} of boards within\n{}", percent_of(to), texts.join("\n")) }
    });
    let stretches = stretches.collect();
    let plot = Plot {
        label: "Latency by percentile",
        x: Axis::nines("share of boards", most),
        y: Axis::times("latency", points.iter().flatten().map(|point| point.1)),
        lines: curves
            .iter()
            .zip(&points)
            .map(|((key, _), points)| Line {
                class: key.1,
                shaded: false,
                points: points.iter().copied().map(Some).collect(),
            })
            .collect(),
        stretches,
    };
    let keys: Vec<_> = curves.iter().map(|(key, _)| *key).collect();
    figure(page, "percentiles", "Latency by percentile", &keys, &plot);
}

/// The points of a distribution's curve, the last one where the slowest of its boards is.
fn curve(times: &Distribution) -> Vec<(f64, f64)> {
    let last = 1.0 - 1.0 / super::units::float(times.boards().max(1));
    let mut points: Vec<_> =
        times.curve().into_iter().map(|(share, time)| (share.min(last), time.as_secs_f64())).collect();
    // From nothing on: the fastest board.
    points.insert(0, (0.0, times.fastest().as_secs_f64()));
    points
}

/// A share with as many decimals as it has nines.
fn percent_of(share: f64) -> String {
    let text = format!("{:.5}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

fn middle(interval: &Interval) -> f64 {
    (interval.start + interval.length / 2).as_secs_f64()
}

fn stretches(report: &Report, text: impl Fn(&Interval) -> String) -> Vec<Stretch> {
    let stretch = |interval: &Interval| {
        let (from, to) = (interval.start, interval.start + interval.length);
        let text = format!("{} to {}\n{}", time(from), time(to), text(interval));
        Stretch { from: from.as_secs_f64(), to: to.as_secs_f64(), text }
    };
    report.intervals.iter().map(stretch).collect()
}

/// The time that the plots over time span.
fn span(report: &Report) -> f64 {
    let last = report.intervals.last().map_or(Duration::ZERO, |interval| interval.start + interval.length);
    last.as_secs_f64()
}

/// Boards a second over time: those that succeeded, failed, and in an open loop those that were due.
fn throughput(report: &Report, page: &mut String) {
    let mut lines: Vec<Counted> = vec![(("succeeded", "blue"), |interval| interval.succeeded)];
    if report.settings.is_open_loop() {
        lines.push((("due", "grey dashed"), |interval| interval.planned));
    }
    if report.boards.failed > 0 {
        lines.push((("failed", "red"), |interval| interval.failed));
    }
    let rate = |of: fn(&Interval) -> u64, interval: &Interval| per_second(of(interval), interval.length);
    let rates = lines.iter().flat_map(|(_, of)| report.intervals.iter().map(|interval| rate(*of, interval)));
    let text = |interval: &Interval| {
        let each = |(key, of): &Counted| format!("{}: {}/s", key.0, number(rate(*of, interval)));
        lines.iter().map(each).collect::<Vec<_>>().join("\n")
    };
    let plot = Plot {
        label: "Throughput over time",
        x: Axis::run("time since the start", span(report)),
        y: Axis::rates("boards a second", rates),
        lines: lines
            .iter()
            .map(|(key, of)| Line {
                class: key.1,
                shaded: key.1 == "blue",
                points: report.intervals.iter().map(|i| Some((middle(i), rate(*of, i)))).collect(),
            })
            .collect(),
        stretches: stretches(report, text),
    };
    let keys: Vec<_> = lines.iter().map(|(key, _)| *key).collect();
    figure(page, "throughput", "Throughput over time", &keys, &plot);
}

/// Latency over time, by the time of the answer.
fn over_time(report: &Report, page: &mut String) {
    const KEYS: [Key; 3] = [("median", "teal"), ("p99", "blue"), ("slowest", "grey")];
    let times = report.intervals.iter().filter_map(|interval| interval.times);
    let text = |interval: &Interval| match interval.times {
        None => "no answer".to_owned(),
        Some(times) => KEYS
            .iter()
            .zip(times)
            .map(|(key, t)| format!("{}: {}", key.0, time(t)))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    let line = |index: usize| Line {
        class: KEYS[index].1,
        shaded: false,
        points: report
            .intervals
            .iter()
            .map(|interval| Some((middle(interval), interval.times?[index].as_secs_f64())))
            .collect(),
    };
    let plot = Plot {
        label: "Latency over time",
        x: Axis::run("time since the start", span(report)),
        y: Axis::times("latency", times.flatten().map(|time| time.as_secs_f64())),
        // The median is drawn last, over the others.
        lines: (0..KEYS.len()).rev().map(line).collect(),
        stretches: stretches(report, text),
    };
    figure(page, "latency", "Latency over time", &KEYS, &plot);
}

fn tables(report: &Report, page: &mut String) {
    page.push_str("<div class=\"tables\">\n");
    distribution_table(report, page);
    if let Some(latency) = &report.succeeded {
        histogram("Response times", &latency.corrected, page);
    }
    pairs("Summary", words::figures(report).into_iter(), page);
    let of =
        |rows: &[(&'static str, u64)]| rows.iter().map(|&(name, n)| (name.to_owned(), n)).collect::<Vec<_>>();
    counts("Outcomes", "outcome", &of(&report.outcomes), page);
    counts("Sources of the answers", "source", &of(&report.sources), page);
    counts("Status codes of boards", "code", &report.codes, page);
    counts("Status codes of calls", "code", &report.calls, page);
    workers(&report.workers, page);
    counts("Errors", "text", &report.errors, page);
    pairs("Settings", words::settings(&report.settings).into_iter(), page);
    page.push_str("</div>\n");
}

fn distribution_table(report: &Report, page: &mut String) {
    let mut columns: Vec<(&str, &Distribution)> = Vec::new();
    if let Some(Latency { corrected, uncorrected }) = &report.succeeded {
        columns.push((if uncorrected.is_some() { "since due" } else { "boards" }, corrected));
        columns.extend(uncorrected.as_ref().map(|times| ("since sent", times)));
    }
    columns.extend(report.failed.as_ref().map(|latency| ("failures", &latency.corrected)));
    if columns.is_empty() {
        return;
    }
    let heads: Vec<_> = columns.iter().map(|(name, _)| format!("<th class=\"n\">{name}</th>")).collect();
    open(page, "Latency distribution", &format!("<th>within</th>{}", heads.concat()));
    let mut row = |name: &str, of: &dyn Fn(&Distribution) -> Duration| {
        let cells = columns.iter().map(|(_, times)| format!("<td class=\"n\">{}</td>", time(of(times))));
        let _ = writeln!(page, "<tr><th>{name}</th>{}</tr>", cells.collect::<Vec<_>>().concat());
    };
    row("fastest", &Distribution::fastest);
    for percent in PERCENTS.into_iter().filter(|&percent| percent < 100.0) {
        row(&format!("{percent} %"), &|times| times.percentile(percent));
    }
    row("slowest", &Distribution::slowest);
    row("average", &Distribution::mean);
    row("standard deviation", &Distribution::deviation);
    close(page);
}

fn histogram(title: &str, times: &Distribution, page: &mut String) {
    let bars = times.bars();
    let most = bars.iter().map(|bar| bar.boards).max().unwrap_or_default();
    open(page, title, "<th>up to</th><th class=\"n\">boards</th><th></th>");
    for bar in bars {
        let width = share(bar.boards, most) * 100.0;
        let shown =
            if bar.boards > 0 { format!("<i style=\"width:{width:.1}%\"></i>") } else { String::new() };
        let _ = writeln!(
            page,
            "<tr><th>{}</th><td class=\"n\">{}</td><td class=\"bar\">{shown}</td></tr>",
            time(bar.up_to),
            count(bar.boards)
        );
    }
    close(page);
}

fn pairs(title: &str, rows: impl Iterator<Item = words::Row>, page: &mut String) {
    open(page, title, "");
    for (name, value) in rows {
        let _ = writeln!(page, "<tr><th>{}</th><td class=\"n\">{}</td></tr>", Safe(name), Safe(&value));
    }
    close(page);
}

/// Names and their counts, as far as there are any.
fn counts(title: &str, head: &str, rows: &[(String, u64)], page: &mut String) {
    let rows: Vec<_> = rows.iter().filter(|row| row.1 > 0).collect();
    let total: u64 = rows.iter().map(|row| row.1).sum();
    if rows.is_empty() {
        return;
    }
    open(page, title, &format!("<th>{head}</th><th class=\"n\">count</th><th class=\"n\">share</th>"));
    for (name, n) in rows {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            Safe(name),
            count(*n),
            percent(share(*n, total))
        );
    }
    close(page);
}

fn workers(workers: &[(String, Share)], page: &mut String) {
    open(page, "Workers", "<th>address</th><th class=\"n\">succeeded</th><th class=\"n\">failed</th>");
    for (address, share) in workers {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            Safe(address),
            count(share.succeeded),
            count(share.failed)
        );
    }
    close(page);
}

fn open(page: &mut String, title: &str, head: &str) {
    let head = if head.is_empty() { String::new() } else { format!("<thead><tr>{head}</tr></thead>\n") };
    let _ = write!(page, "<section class=\"card\"><h2>{title}</h2>\n<table>\n{head}<tbody>\n");
}

fn close(page: &mut String) {
    page.push_str("</tbody>\n</table></section>\n");
}
