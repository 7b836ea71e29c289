//! Where reports go and in which format: the options, standard output and files.
//!
//! It must never know: what a report says.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::report::Report;
use super::threshold::Threshold;
use super::{csv, html, json, summary};

/// The options of a report.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReportOptions {
    /// What is printed at the end [default: summary]; the summary too if a file of this format is asked for
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Write the report to a file; .txt .json .csv or .html says its format, else --format; repeatable
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,

    /// Exit with 99 if this holds, as p99>50ms, rate<1000, errors>1%, wrong>0; repeatable
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Threshold>,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for a terminal
    Summary,
    /// All figures
    Json,
    /// A row for each interval of the run
    Csv,
    /// A page with plots
    Html,
}

/// Where a report goes.
#[derive(Debug)]
pub(crate) struct Outputs {
    printed: Format,
    files: Vec<(PathBuf, Format)>,
}

impl ReportOptions {
    /// Where the report is to go. Every file is opened, since an hour's report must not fail for a mistyped folder.
    ///
    /// # Errors
    /// Which file has no format, or can't be written.
    pub(crate) fn outputs(&self) -> Result<Outputs, String> {
        let file = |path: &PathBuf| {
            let format = Format::of(path).or(self.format).ok_or_else(|| {
                let path = path.display();
                format!(
                    "--output {path}: the name must end in .txt, .json, .csv or .html, or --format be given"
                )
            })?;
            let opened = OpenOptions::new().create(true).append(true).open(path);
            opened.map_err(|error| format!("--output {}: {error}", path.display()))?;
            Ok((path.clone(), format))
        };
        let files = self.output.iter().map(file).collect::<Result<Vec<_>, String>>()?;
        let format = self.format.unwrap_or(Format::Summary);
        let taken = files.iter().any(|&(_, taken)| taken == format);
        Ok(Outputs { printed: if taken { Format::Summary } else { format }, files })
    }
}

impl Format {
    /// The format that a file's name says.
    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "txt" => Some(Self::Summary),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }

    fn render(self, report: &Report) -> String {
        match self {
            Self::Summary => summary::render(report),
            Self::Json => json::render(report),
            Self::Csv => csv::render(report),
            Self::Html => html::render(report),
        }
    }
}

impl Outputs {
    /// Writes the report wherever it is to go, and returns what could not be written; one failure does not keep
    /// the report from the other places.
    pub(crate) fn write(&self, report: &Report) -> Vec<String> {
        self.write_and_print(report, &mut io::stdout().lock())
    }

    fn write_and_print(&self, report: &Report, out: &mut impl Write) -> Vec<String> {
        let mut failures = Vec::new();
        for (path, format) in &self.files {
            if let Err(error) = fs::write(path, format.render(report)) {
                failures.push(format!("can't write {}: {error}", path.display()));
            }
        }
        match out.write_all(self.printed.render(report).as_bytes()).and_then(|()| out.flush()) {
            // A reader that has enough is no error.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                failures.push(format!("can't write: {error}"));
            }
            _ => {}
        }
        failures
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::synthetic;
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        options: ReportOptions,
    }

    fn outputs(line: &str) -> Result<Outputs, String> {
        Line::try_parse_from(line.split(' ')).map_err(|e| e.to_string())?.options.outputs()
    }

    #[test]
    fn a_file_has_the_format_of_its_name_or_the_one_that_is_given() {
        let folder = std::env::temp_dir().join(format!("taquin-outputs-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let at = |name: &str| folder.join(name).display().to_string();
        let formats = |line: &str| {
            let outputs = outputs(line).unwrap();
            (outputs.printed, outputs.files.iter().map(|file| file.1).collect::<Vec<_>>())
        };
        assert_eq!(formats("c"), (Format::Summary, vec![]));
        assert_eq!(formats("c --format json"), (Format::Json, vec![]));
        let both = format!("c -o {} --output {}", at("a.HTML"), at("b.json"));
        assert_eq!(formats(&both), (Format::Summary, vec![Format::Html, Format::Json]));
        assert_eq!(formats(&format!("{both} --format csv")).0, Format::Csv);
        assert_eq!(
            formats(&format!("c --format csv -o {}", at("plain"))),
            (Format::Summary, vec![Format::Csv])
        );
        let unnamed = outputs(&format!("c -o {}", at("plain"))).unwrap_err();
        assert!(unnamed.contains(".html") && unnamed.contains("plain"), "{unnamed}");
        let nowhere = outputs(&format!("c -o {}", at("missing/a.json"))).unwrap_err();
        assert!(nowhere.contains("missing/a.json"), "{nowhere}");
        assert!(outputs("c --format xml").unwrap_err().contains("summary"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn an_older_report_is_replaced_whole() {
        let path = std::env::temp_dir().join(format!("taquin-older-{}.csv", std::process::id()));
        fs::write(&path, "older".repeat(100_000)).unwrap();
        let outputs = Outputs { printed: Format::Csv, files: vec![(path.clone(), Format::Csv)] };
        let mut printed = Vec::new();
        assert!(outputs.write_and_print(&synthetic::frozen(), &mut printed).is_empty());
        let written = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(written, csv::render(&synthetic::frozen()));
        assert_eq!(written.as_bytes(), printed);
    }
}
