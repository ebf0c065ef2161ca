//! What the compiler makes of whole repositories, against answers that others gave.

mod deployed;
mod manifests;
mod real;
