//! Report → text for a terminal, in the layout that users of ghz know.
//!
//! It must never know: where it goes.

use std::fmt::{self, Write as _};

use super::record::Share;
use super::report::{Distribution, Latency, PERCENTS, Report};
use super::units::{count, percent, share, time};
use super::words;

/// The longest bar of the histogram.
const BAR_WIDTH: u64 = 40;

/// The report as text, with a newline at its end.
pub(crate) fn render(report: &Report) -> String {
    let mut text = String::new();
    write(report, &mut text).expect("a string takes all that is written");
    text
}

fn write(report: &Report, out: &mut String) -> fmt::Result {
    writeln!(out, "{}", words::headline(&report.settings))?;
    list("\nSummary", &words::figures(report), out)?;
    if let Some(latency) = &report.succeeded {
        latencies("", latency, out)?;
    }
    if let Some(latency) = &report.failed {
        latencies(" of failures", latency, out)?;
    }
    let of = |pairs: &[(&'static str, u64)]| -> Vec<_> {
        pairs.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    };
    counts("Status code distribution", &report.codes, "board", out)?;
    counts("Calls", &report.calls, "call", out)?;
    counts("Outcomes", &of(&report.outcomes), "board", out)?;
    counts("Sources", &of(&report.sources), "board", out)?;
    workers(&report.workers, out)?;
    errors(&report.errors, out)?;
    warnings(report, out)?;
    verdicts(report, out)
}

fn list(title: &str, rows: &[words::Row], out: &mut String) -> fmt::Result {
    writeln!(out, "{title}:")?;
    rows.iter().try_for_each(|(name, value)| writeln!(out, "  {:<14}{value}", format!("{name}:")))
}

fn latencies(whose: &str, latency: &Latency, out: &mut String) -> fmt::Result {
    writeln!(out, "\nResponse time histogram{whose}:")?;
    histogram(&latency.corrected, out)?;
    let Latency { corrected, uncorrected } = latency;
    let columns = uncorrected.as_ref().map_or("", |_| " (since due, and since sent)");
    writeln!(out, "\nLatency distribution{whose}{columns}:")?;
    for percent in PERCENTS {
        let name = if percent < 100.0 { format!("{percent} %") } else { "max".into() };
        write!(out, "  {name:<7} in {:>10}", time(corrected.percentile(percent)))?;
        if let Some(times) = uncorrected {
            write!(out, "  {:>10}", time(times.percentile(percent)))?;
        }
        out.push('\n');
    }
    Ok(())
}

fn histogram(times: &Distribution, out: &mut String) -> fmt::Result {
    let bars = times.bars();
    let most = bars.iter().map(|bar| bar.boards).max().unwrap_or_default().max(1);
    let counts: Vec<_> = bars.iter().map(|bar| format!("[{}]", count(bar.boards))).collect();
    let width = counts.iter().map(String::len).max().unwrap_or_default();
    for (bar, boards) in bars.iter().zip(counts) {
        // Rounded up, so that a bar with any board at all is seen.
        let length = u128::from(bar.boards) * u128::from(BAR_WIDTH);
        let length = usize::try_from(length.div_ceil(u128::from(most))).unwrap_or_default();
        let line = format!("  {:>9} {boards:<width$} |{}", time(bar.up_to), "■".repeat(length));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Names and their counts, as far as there are any.
fn counts(title: &str, rows: &[(String, u64)], unit: &str, out: &mut String) -> fmt::Result {
    let rows: Vec<_> = rows.iter().filter(|row| row.1 > 0).collect();
    let total: u64 = rows.iter().map(|row| row.1).sum();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}:")?;
    let width = rows.iter().map(|(name, _)| name.len() + 2).max().unwrap_or_default();
    for (name, number) in rows {
        let part = percent(share(*number, total));
        let plural = if *number == 1 { "" } else { "s" };
        writeln!(out, "  {:<width$} {:>11} {unit}{plural} ({part})", format!("[{name}]"), count(*number))?;
    }
    Ok(())
}

fn workers(workers: &[(String, Share)], out: &mut String) -> fmt::Result {
    writeln!(out, "\nWorkers:")?;
    let width = workers.iter().map(|(address, _)| address.len() + 2).max().unwrap_or_default();
    for (address, share) in workers {
        let failed =
            if share.failed > 0 { format!(", {} failed", count(share.failed)) } else { String::new() };
        let address = format!("[{address}]");
        writeln!(out, "  {address:<width$} {:>11} boards{failed}", count(share.succeeded))?;
    }
    Ok(())
}

fn errors(errors: &[(String, u64)], out: &mut String) -> fmt::Result {
    if errors.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nError distribution:")?;
    let width = errors.iter().map(|(_, number)| count(*number).len() + 2).max().unwrap_or_default();
    errors
        .iter()
        .try_for_each(|(text, number)| writeln!(out, "  {:<width$} {text}", format!("[{}]", count(*number))))
}

fn warnings(report: &Report, out: &mut String) -> fmt::Result {
    let warnings = words::warnings(report);
    if warnings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWarnings:")?;
    warnings.iter().try_for_each(|warning| writeln!(out, "  {warning}"))
}

fn verdicts(report: &Report, out: &mut String) -> fmt::Result {
    if report.verdicts.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nFail if:")?;
    report.verdicts.iter().try_for_each(|verdict| writeln!(out, "  {verdict}"))
}
