pub const OPS: &[crate::asked::Op] = &[];
