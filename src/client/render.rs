//! Reply → text: the formats of the output and the notations of a move.
//!
//! It must never know: where the text goes, what else was asked.

use std::fmt::Write;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::answer::{Failure, Outcome, Reply};
use super::board::{Board, Layout};
use super::input::Place;
use super::judge::{Judge, Print};
use super::replay::{Course, Step, follow};

/// What is printed of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line a board: its distance and its path, as in `4 ULDR`
    Path,
    /// One line a board: its distance
    Distance,
    /// One line a board: its path, empty if it is solved already
    Moves,
    /// One JSON object a line
    Json,
    /// Every position along the path, in a form that can be read again as boards
    Board,
}

/// How a move is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Notation {
    /// Letters U D L R for the way of the blank; on a graph the vertex that the blank enters
    Blank,
    /// Letters U D L R for the way of the tile: the opposite; on a graph the vertex that the tile
    /// enters, which the blank leaves
    Tile,
    /// The number of the tile that moves
    Number,
}

/// Whose output is written.
#[derive(Debug, Clone)]
pub(crate) enum Style {
    /// The client's own.
    Own(Renderer),
    /// A judge's.
    Judged(&'static Judge),
}

impl Style {
    /// The text of a reply, line end included; none if the judge knows no answer, and then it must have no more.
    pub(crate) fn text(&self, reply: &Reply) -> Option<String> {
        match self {
            Self::Own(renderer) => Some(renderer.render(reply)),
            Self::Judged(judge) => judged(judge, reply.item.index, &reply.outcome),
        }
    }

    /// Whether a board without a path is as good an answer as any.
    pub(crate) fn is_judged(&self) -> bool {
        matches!(self, Self::Judged(_))
    }
}

/// Writes replies in one format.
#[derive(Debug, Clone)]
pub(crate) struct Renderer {
    pub(crate) format: Format,
    pub(crate) notation: Notation,
}

impl Renderer {
    /// The text of a reply, line end included.
    pub(crate) fn render(&self, reply: &Reply) -> String {
        match self.format {
            Format::Json => format!("{}\n", self.json(reply)),
            Format::Board => self.drawn(reply),
            Format::Path | Format::Distance | Format::Moves => format!("{}\n", self.line(reply)),
        }
    }

    fn line(&self, reply: &Reply) -> String {
        let Some(steps) = path(&reply.outcome) else { return verdict(&reply.outcome) };
        let mut words = Vec::new();
        if !matches!(reply.outcome, Outcome::Solved(_)) {
            words.push(verdict(&reply.outcome));
        }
        if self.format != Format::Moves {
            words.push(steps.len().to_string());
        }
        if self.format != Format::Distance && !steps.is_empty() {
            words.push(self.moves(steps));
        }
        words.join(" ")
    }

    fn word(&self, step: Step) -> String {
        match self.notation {
            Notation::Blank => step.blank.to_string(),
            Notation::Tile => step.blank.opposite().to_string(),
            Notation::Number => step.tile.to_string(),
        }
    }

    fn moves(&self, steps: &[Step]) -> String {
        let letters = self.notation != Notation::Number
            && steps.iter().all(|step| matches!(step.blank, Course::Way(_)));
        let between = if letters { "" } else { " " };
        steps.iter().map(|&step| self.word(step)).collect::<Vec<_>>().join(between)
    }

    fn json(&self, reply: &Reply) -> Value {
        let board = reply.item.board.as_ref().ok();
        let goal =
            board.map(|board| reply.item.goal.as_deref().cloned().unwrap_or_else(|| board.ordered()).tiles);
        let (shape, graph) = match board.map(|board| &board.layout) {
            Some(Layout::Grid(shape)) => (Some(shape), None),
            Some(Layout::Graph(graph)) => (None, Some(graph)),
            None => (None, None),
        };
        let steps = path(&reply.outcome);
        let (limit, lower_bound) = match &reply.outcome {
            Outcome::Limit { limit, lower_bound, .. } => (Some(limit), Some(lower_bound)),
            Outcome::Suboptimal { lower_bound, .. } => (None, Some(lower_bound)),
            _ => (None, None),
        };
        let (argument, line) = match reply.item.place {
            Place::Argument(n) => (Some(n), None),
            Place::Line(n) => (None, Some(n)),
        };
        json!({
            "index": reply.item.index,
            "argument": argument,
            "line": line,
            "rows": shape.map(|shape| shape.rows),
            "columns": shape.map(|shape| shape.columns),
            "edges": graph.map(|graph| &graph.edges),
            "start": board.map(|board| &board.tiles),
            "goal": goal,
            "outcome": name(&reply.outcome),
            "distance": steps.map(Vec::len),
            "moves": steps.map(|steps| self.moves(steps)),
            "notation": notation_name(self.notation),
            "reason": if let Outcome::Unsolvable(reason) = &reply.outcome { Some(reason) } else { None },
            "limit": limit,
            "lower_bound": lower_bound,
            "source": reply.source,
            "statistics": reply.statistics.map(|cost| json!({
                "queue_time_us": cost.queue_time_us,
                "solve_time_us": cost.solve_time_us,
                "expanded": cost.expanded,
                "generated": cost.generated,
            })),
            "error": if let Outcome::Failed(failure) = &reply.outcome { Some(error(failure)) } else { None },
        })
    }

    /// Each position as rows with a comment above and an empty line below.
    fn drawn(&self, reply: &Reply) -> String {
        let (Some(steps), Ok(start)) = (path(&reply.outcome), &reply.item.board) else {
            return format!(
                "# board {}, {}: {}\n\n",
                reply.item.index,
                reply.item.place,
                verdict(&reply.outcome)
            );
        };
        let moves = if steps.len() == 1 { "move" } else { "moves" };
        let said = match &reply.outcome {
            Outcome::Solved(_) => String::new(),
            unproven => format!("{}, ", verdict(unproven)),
        };
        let (index, place) = (reply.item.index, &reply.item.place);
        let mut text = format!("# board {index}, {place}: {said}{} {moves}\n", steps.len());
        let mut board = start.clone();
        draw(&mut text, &board);
        for (number, &step) in (1..).zip(steps) {
            follow(&mut board, step);
            // Writing to a String never fails.
            let _ = writeln!(text, "# step {number}: {}", self.word(step));
            draw(&mut text, &board);
        }
        text
    }
}

/// What a judge wants of the outcome of the board with this number, from 1: a line, the last one too with its end.
fn judged(judge: &Judge, index: u64, outcome: &Outcome) -> Option<String> {
    let line = match outcome {
        Outcome::Solved(steps) => match judge.print {
            Print::Count => steps.len().to_string(),
            Print::Letters => steps.iter().map(|step| step.blank.to_string().to_lowercase()).collect(),
        },
        Outcome::Unsolvable(_) => judge.unsolvable?.to_owned(),
        Outcome::Suboptimal { .. } | Outcome::Limit { .. } | Outcome::Cancelled | Outcome::Failed(_) => {
            return None;
        }
    };
    let between = if index > 1 { judge.between } else { "" };
    Some(format!("{between}{line}\n"))
}

fn draw(text: &mut String, board: &Board) {
    let width = board.tiles.iter().max().map_or(1, |tile| tile.to_string().len());
    for row in board.rows() {
        let cell = |&tile: &u32| if tile == 0 { ".".to_owned() } else { tile.to_string() };
        let cells: Vec<_> = row.iter().map(|tile| format!("{:>width$}", cell(tile))).collect();
        text.push_str(&cells.join(" "));
        text.push('\n');
    }
    text.push('\n');
}

/// The path that is known, shortest or not.
fn path(outcome: &Outcome) -> Option<&Vec<Step>> {
    match outcome {
        Outcome::Solved(steps) | Outcome::Suboptimal { steps, .. } => Some(steps),
        Outcome::Limit { best, .. } => best.as_ref(),
        Outcome::Unsolvable(_) | Outcome::Cancelled | Outcome::Failed(_) => None,
    }
}

/// What stands in the place of a distance where there is none, and before one that is not proven.
pub(super) fn verdict(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Limit { lower_bound, .. } | Outcome::Suboptimal { lower_bound, .. } => {
            format!("{}>={lower_bound}", name(outcome))
        }
        other => name(other).to_owned(),
    }
}

fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Solved(_) => "solved",
        Outcome::Unsolvable(_) => "unsolvable",
        Outcome::Suboptimal { .. } => "suboptimal",
        Outcome::Limit { .. } => "limit",
        Outcome::Cancelled => "cancelled",
        Outcome::Failed(_) => "error",
    }
}

fn notation_name(notation: Notation) -> &'static str {
    match notation {
        Notation::Blank => "blank",
        Notation::Tile => "tile",
        Notation::Number => "number",
    }
}

fn error(failure: &Failure) -> Value {
    let violations: Vec<_> =
        failure.violations.iter().map(|v| json!({"field": v.field, "description": v.description})).collect();
    json!({
        "code": failure.code(),
        "message": failure.message,
        "violations": violations,
        "retry_after_ms": failure.retry_after.map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::gather::{Gather, one};
    use super::super::input::Item;
    use super::super::replay::{replay, replay_on_graph};
    use super::super::text::TextError;
    use super::*;

    fn reply(board: &str, outcome: Outcome) -> Reply {
        let item = Item { index: 3, place: Place::Line(7), offset: 0, board: one(board, None), goal: None };
        Reply { item, outcome, source: Some("search".into()), statistics: None }
    }

    fn solved(board: &str, moves: &str) -> Reply {
        let start = one(board, None).unwrap();
        let distance = u32::try_from(moves.len()).unwrap();
        reply(board, Outcome::Solved(replay(&start, &start.ordered(), distance, moves).unwrap()))
    }

    fn text(format: Format, notation: Notation, reply: &Reply) -> String {
        Renderer { format, notation }.render(reply)
    }

    #[test]
    fn the_three_notations() {
        let reply = solved("1 2 3/4 0 5/7 8 6", "RD");
        assert_eq!(text(Format::Path, Notation::Blank, &reply), "2 RD\n");
        assert_eq!(text(Format::Moves, Notation::Tile, &reply), "LU\n");
        assert_eq!(text(Format::Path, Notation::Number, &reply), "2 5 6\n");
        assert_eq!(text(Format::Distance, Notation::Number, &reply), "2\n");
    }

    #[test]
    fn a_solved_board_has_an_empty_path() {
        let reply = solved("123456780", "");
        assert_eq!(text(Format::Path, Notation::Blank, &reply), "0\n");
        assert_eq!(text(Format::Moves, Notation::Blank, &reply), "\n");
    }

    #[test]
    fn other_outcomes_are_words() {
        let limit = Outcome::Limit { limit: "nodes".into(), lower_bound: 12, best: None };
        for format in [Format::Path, Format::Distance, Format::Moves] {
            let word = |outcome| text(format, Notation::Blank, &reply("123456870", outcome));
            assert_eq!(word(Outcome::Unsolvable("parity".into())), "unsolvable\n");
            assert_eq!(word(limit.clone()), "limit>=12\n");
            assert_eq!(word(Outcome::Cancelled), "cancelled\n");
        }
        let lost = Reply::lost(reply("123456870", Outcome::Cancelled).item);
        assert_eq!(text(Format::Distance, Notation::Blank, &lost), "error\n");
    }

    #[test]
    fn on_a_graph_moves_are_vertices() {
        let layout = Layout::Graph(Arc::new("1-2,2-3".parse().unwrap()));
        let board = one("0 1 2", Some(&layout)).unwrap();
        let steps = replay_on_graph(&board, &board.ordered(), 2, &[2, 3]).unwrap();
        let item = Item { index: 1, place: Place::Line(1), offset: 0, board: Ok(board), goal: None };
        let outcome = Outcome::Solved(steps);
        let reply = Reply { item, outcome, source: Some("table".into()), statistics: None };
        assert_eq!(text(Format::Path, Notation::Blank, &reply), "2 2 3\n");
        assert_eq!(text(Format::Moves, Notation::Tile, &reply), "1 2\n");
        assert_eq!(text(Format::Moves, Notation::Number, &reply), "1 2\n");
        let drawn = "# board 1, line 1: 2 moves\n. 1 2\n\n# step 1: 2\n1 . 2\n\n# step 2: 3\n1 2 .\n\n";
        assert_eq!(text(Format::Board, Notation::Blank, &reply), drawn);
        let json: Value = serde_json::from_str(&text(Format::Json, Notation::Blank, &reply)).unwrap();
        assert_eq!((&json["rows"], &json["edges"]), (&Value::Null, &json!([[1, 2], [2, 3]])));
        assert_eq!((&json["moves"], &json["source"]), (&json!("2 3"), &json!("table")));
    }

    #[test]
    fn a_judge_is_answered_to_the_byte() {
        let solved = solved("1 2 3/4 0 5/7 8 6", "RD").outcome;
        let none = Outcome::Unsolvable("parity".into());
        let answer = |name, index, outcome: &Outcome| judged(Judge::named(name).unwrap(), index, outcome);
        assert_eq!(answer("acwing-845", 1, &solved).unwrap(), "2\n");
        assert_eq!(answer("acwing-845", 1, &none).unwrap(), "-1\n");
        assert_eq!(answer("hdu-1043", 2, &solved).unwrap(), "rd\n");
        assert_eq!(answer("uva-652", 1, &none).unwrap(), "unsolvable\n");
        assert_eq!(answer("uva-652", 2, &Outcome::Solved(vec![])).unwrap(), "\n\n");
        assert_eq!(answer("luogu-p1379", 1, &none), None);
        let limit = Outcome::Limit { limit: "time".into(), lower_bound: 3, best: None };
        assert_eq!(answer("acwing-845", 1, &limit), None);
    }

    #[test]
    fn drawn_boards_can_be_read_again() {
        let drawn = text(Format::Board, Notation::Tile, &solved("1 2 3/4 0 5/7 8 6", "RD"));
        let head = "# board 3, line 7: 2 moves\n1 2 3\n4 . 5\n7 8 6\n\n# step 1: L\n1 2 3\n4 5 .\n7 8 6\n\n";
        assert!(drawn.starts_with(head), "{drawn}");
        let mut gather = Gather::new(None);
        (1..).zip(drawn.lines()).for_each(|(number, line)| gather.line(number, line));
        gather.end();
        let last = std::iter::from_fn(|| gather.pop()).last().unwrap();
        assert_eq!(last.board.unwrap().tiles, [1, 2, 3, 4, 5, 6, 7, 8, 0]);
        let drawn =
            text(Format::Board, Notation::Tile, &reply("123456870", Outcome::Unsolvable("parity".into())));
        assert_eq!(drawn, "# board 3, line 7: unsolvable\n\n");
    }

    #[test]
    fn json_has_always_the_same_fields() {
        let json = |reply: &Reply| -> Value {
            serde_json::from_str(&text(Format::Json, Notation::Number, reply)).unwrap()
        };
        let solved = json(&solved("1 2 3/4 5 6/7 0 8", "R"));
        assert_eq!(solved["moves"], "8");
        assert_eq!(solved["notation"], "number");
        assert_eq!(solved["goal"], json!([1, 2, 3, 4, 5, 6, 7, 8, 0]));
        assert_eq!(
            (&solved["distance"], &solved["line"], &solved["error"]),
            (&json!(1), &json!(7), &Value::Null)
        );
        let board = Err(TextError::NoRows { got: 4 });
        let item = Item { index: 1, place: Place::Argument(1), offset: 0, board, goal: None };
        let malformed = json(&Reply::malformed(item, &TextError::NoRows { got: 4 }));
        assert_eq!(malformed["error"]["code"], "MALFORMED_TEXT");
        assert_eq!((&malformed["start"], &malformed["outcome"]), (&Value::Null, &json!("error")));
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&solved), keys(&malformed));
    }
}
