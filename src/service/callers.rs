//! Who asks: callers, known by their tokens, each with an allowance of its own, as a file
//! has them, which can be read again. It knows no RPC, and writes no token anywhere.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;

use subtle::{ConditionallySelectable, ConstantTimeEq};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::allowance::{Allowance, Quota};
use super::connection::{self, Connection};
use super::files::{FileError, NamedFile};
use super::status::ServiceError;
use crate::config::{MAX_CALLERS, MAX_TOKEN_BYTES, MIN_TOKEN_BYTES};
use crate::engine;

/// Bytes of a caller's name, which logs repeat.
const MAX_NAME_BYTES: usize = 64;
/// Bytes of the pieces in which tokens are compared.
const WORD: usize = size_of::<u64>();

/// A token, filled up with zeros: its length is not to be told from how long it takes to compare.
#[derive(Clone, Copy)]
struct Token([u64; MAX_TOKEN_BYTES / WORD]);

impl Token {
    /// The token in some bytes; none when they are too many for one.
    fn new(bytes: &[u8]) -> Option<Self> {
        let mut filled = [0; MAX_TOKEN_BYTES];
        filled.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let (words, _) = filled.as_chunks::<WORD>();
        let mut token = Self([0; MAX_TOKEN_BYTES / WORD]);
        token.0.iter_mut().zip(words).for_each(|(word, &bytes)| *word = u64::from_ne_bytes(bytes));
        Some(token)
    }
}

/// A caller of the file.
struct Known {
    name: String,
    token: Token,
    quota: Mutex<Quota>,
    /// Whom the engine takes him for when it serves callers in turn, whatever his connections.
    turn: engine::Caller,
    /// The file does not have it any more.
    revoked: CancellationToken,
}

impl Known {
    fn quota<T>(&self, look: impl FnOnce(&mut Quota) -> T) -> T {
        look(&mut self.quota.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Who asks; nobody in particular, by default, who may ask for all that anyone may.
#[derive(Clone, Default)]
pub(super) struct Caller(Option<Arc<Known>>);

/// The place of something in flight among its caller's; it is given back by its drop.
pub(super) struct Place(Option<Arc<Known>>);

impl Caller {
    /// His name, if he has one.
    pub(super) fn name(&self) -> Option<&str> {
        self.0.as_ref().map(|known| known.name.as_str())
    }

    /// Whom the engine takes him for; one without a name goes by his connection.
    pub(super) fn turn(&self, connection: &Connection) -> engine::Caller {
        self.0.as_ref().map_or(connection.caller, |known| known.turn)
    }

    /// A place for so many jobs that are sent as one.
    ///
    /// # Errors
    /// Which of his limits is reached.
    pub(super) fn take(&self, jobs: u32) -> Result<Place, ServiceError> {
        if let Some(known) = &self.0 {
            known.quota(|quota| quota.take(jobs, Instant::now()))?;
        }
        Ok(Place(self.0.clone()))
    }

    /// Waits until he is none any more.
    pub(super) fn revoked(&self) -> WaitForCancellationFutureOwned {
        let never = CancellationToken::new;
        self.0.as_ref().map_or_else(never, |known| known.revoked.clone()).cancelled_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(known) = &self.0 {
            known.quota(Quota::give_back);
        }
    }
}

/// See the module.
pub(super) struct Callers {
    file: NamedFile,
    known: RwLock<Vec<Arc<Known>>>,
}

impl Callers {
    /// The callers of a file.
    ///
    /// # Errors
    /// When it is not as it must be.
    pub(super) fn load(file: NamedFile) -> Result<Self, FileError> {
        let callers = Self { file, known: RwLock::default() };
        callers.reload()?;
        Ok(callers)
    }

    /// Reads the file again. Who has still the same name and token goes on, by a new allowance perhaps; who has
    /// not is revoked.
    ///
    /// # Errors
    /// When it is not as it must be; then all stays as it was.
    pub(super) fn reload(&self) -> Result<(), FileError> {
        let entries = parse(&self.file.read()?).map_err(|why| self.file.wrong(why))?;
        self.file.warn_if_public();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let new = entries.into_iter().map(|entry| {
            let is_same = |known: &&Arc<Known>| known.name == entry.name && known.token.0 == entry.token.0;
            match known.iter().find(is_same) {
                Some(same) => {
                    same.quota(|quota| quota.allowance = entry.allowance);
                    Arc::clone(same)
                }
                None => Arc::new(Known {
                    name: entry.name,
                    token: entry.token,
                    quota: Mutex::new(Quota::new(entry.allowance, Instant::now())),
                    turn: connection::next_caller(),
                    revoked: CancellationToken::new(),
                }),
            }
        });
        let new: Vec<_> = new.collect();
        let gone = |old: &&Arc<Known>| !new.iter().any(|known| Arc::ptr_eq(known, old));
        known.iter().filter(gone).for_each(|old| old.revoked.cancel());
        *known = new;
        Ok(())
    }

    /// Who shows this token, found in a time that does not depend on whose it is, nor on how much of one it is.
    pub(super) fn find(&self, token: &[u8]) -> Option<Caller> {
        let shown = Token::new(token)?;
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = u32::MAX;
        for (number, caller) in (0..).zip(&*known) {
            found.conditional_assign(&number, caller.token.0.ct_eq(&shown.0));
        }
        known.get(found as usize).map(|caller| Caller(Some(Arc::clone(caller))))
    }
}

/// A line of the file.
struct Entry {
    name: String,
    token: Token,
    allowance: Allowance,
}

/// Reads the file; what is wrong is said by its line alone, since what is in it may be part of a token.
fn parse(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8")?;
    let mut entries: Vec<Entry> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        let entry = entry(name, words).map_err(|why| format!("line {number}: {why}"))?;
        if entries.iter().any(|other| other.name == entry.name) {
            return Err(format!("line {number}: its name was given before, expected one of its own"));
        }
        if entries.iter().any(|other| other.token.0 == entry.token.0) {
            return Err(format!("line {number}: its token was given before, expected one of its own"));
        }
        if entries.len() == MAX_CALLERS {
            return Err(format!("line {number}: one caller more than the {MAX_CALLERS} that may be"));
        }
        entries.push(entry);
    }
    // A file that was cut off must not shut everyone out.
    if entries.is_empty() { Err("holds no token".into()) } else { Ok(entries) }
}

fn entry<'a>(name: &str, mut words: impl Iterator<Item = &'a str>) -> Result<Entry, String> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.len() > MAX_NAME_BYTES || !name.bytes().all(is_name) {
        return Err(format!("its name is none, expected at most {MAX_NAME_BYTES} letters, digits, - _ ."));
    }
    let token = words.next().ok_or("its token is missing, expected `name token`")?;
    // What RFC 6750 has tokens made of; nothing in it could be taken for anything else.
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if !(MIN_TOKEN_BYTES..=MAX_TOKEN_BYTES).contains(&token.len()) || !token.bytes().all(is_token) {
        return Err(format!(
            "its token is none, expected {MIN_TOKEN_BYTES} to {MAX_TOKEN_BYTES} letters, digits, - . _ ~ + / ="
        ));
    }
    let token = Token::new(token.as_bytes()).expect("its length was looked at");
    let mut allowance = Allowance::default();
    for word in words {
        let (place, number) = match word.split_once('=') {
            Some(("max_in_flight", number)) => (&mut allowance.max_in_flight, number),
            Some(("rate", number)) => (&mut allowance.rate, number),
            _ => return Err("more than is known, expected max_in_flight=N and rate=N at most".into()),
        };
        let number: NonZeroU32 =
            number.parse().map_err(|_| "max_in_flight or rate is no number, expected at least 1")?;
        if place.replace(number).is_some() {
            return Err("max_in_flight or rate is given twice".into());
        }
    }
    Ok(Entry { name: name.to_owned(), token, allowance })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "0123456789abcdef";

    fn refused(text: &str) -> String {
        parse(text.as_bytes()).err().unwrap_or_else(|| panic!("{text:?} is taken"))
    }

    #[test]
    fn lines_comments_and_allowances() {
        let text = format!("# callers\n\none {ONE} # no limit\r\n\ttwo x{ONE} rate=3 max_in_flight=5\n");
        let entries = parse(text.as_bytes()).unwrap();
        let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        let number = NonZeroU32::new;
        assert_eq!(entries[0].allowance, Allowance::default());
        assert_eq!(entries[1].allowance, Allowance { max_in_flight: number(5), rate: number(3) });
    }

    #[test]
    fn what_is_wrong_is_said_by_line_and_without_its_text() {
        let cases = [
            (String::new(), "holds no token"),
            ("# nothing\n".into(), "holds no token"),
            (format!("\nsecret! {ONE}"), "line 2: its name is none"),
            (format!("{} {ONE}", "n".repeat(65)), "line 1: its name is none"),
            ("secret".into(), "line 1: its token is missing"),
            ("one secret".into(), "line 1: its token is none"),
            (format!("one secret{}", "x".repeat(123)), "line 1: its token is none"),
            (format!("one secret{ONE}é"), "line 1: its token is none"),
            (format!("one {ONE} secret"), "line 1: more than is known"),
            (format!("one {ONE} rate=secret"), "line 1: max_in_flight or rate is no number"),
            (format!("one {ONE} rate=0"), "line 1: max_in_flight or rate is no number"),
            (format!("one {ONE} rate=1 rate=1"), "line 1: max_in_flight or rate is given twice"),
            (format!("secret {ONE}\nsecret {ONE}1"), "line 2: its name was given before"),
            (format!("one secret{ONE}\ntwo secret{ONE}"), "line 2: its token was given before"),
        ];
        for (text, said) in cases {
            let refusal = refused(&text);
            assert!(refusal.starts_with(said), "{text:?}: {refusal}");
            assert!(!refusal.contains("secret") && !refusal.contains(ONE), "{refusal}");
        }
        assert_eq!(parse(b"one \xff").err().unwrap(), "is not UTF-8");
    }

    #[test]
    fn tokens_and_callers_at_the_limit() {
        for length in [MIN_TOKEN_BYTES, MAX_TOKEN_BYTES] {
            assert!(parse(format!("one {}", "t".repeat(length)).as_bytes()).is_ok());
        }
        refused(&format!("one {}", "t".repeat(MIN_TOKEN_BYTES - 1)));
        refused(&format!("one {}", "t".repeat(MAX_TOKEN_BYTES + 1)));
        let file = |callers| (0..callers).map(|n| format!("c{n} {ONE}{n}")).collect::<Vec<_>>().join("\n");
        assert_eq!(parse(file(MAX_CALLERS).as_bytes()).unwrap().len(), MAX_CALLERS);
        assert!(refused(&file(MAX_CALLERS + 1)).starts_with("line 257: one caller more than the 256"));
    }
}
