//! What the compiler makes of whole repositories, against answers that others gave.

mod deployed;
mod emission;
mod manifests;
mod real;
