//! What is searched: one puzzle a module, each a
//! [`StateSpace`](crate::space::StateSpace). It knows no wire, no cache and no algorithm.

pub mod sliding;
