//! What many hold at once: some for good, the rest as long as anyone does. Holding what
//! is there for good counts nothing, so threads that do do not meet. It knows not what.

use std::ops::Deref;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub enum Shared<T: 'static> {
    /// There for good.
    Static(&'static T),
    /// As long as it is held.
    Counted(Arc<T>),
}

impl<T> Shared<T> {
    /// Kept for good: for what there are few of.
    pub(super) fn leaked(value: T) -> Self {
        Self::Static(Box::leak(Box::new(value)))
    }

    /// Kept as long as it is held.
    pub(super) fn counted(value: T) -> Self {
        Self::Counted(Arc::new(value))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Static(value) => Self::Static(value),
            Self::Counted(value) => Self::Counted(Arc::clone(value)),
        }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Static(value) => value,
            Self::Counted(value) => value,
        }
    }
}
