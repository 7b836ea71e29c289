//! What a panic has said, for the log. It knows nothing of who panicked.

use std::any::Any;

/// The message of a panic, if it is text.
pub(super) fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
