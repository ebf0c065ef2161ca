//! Dense ids. Each is an index into the vector of one [`Fleet`](crate::model::Fleet) and ascends with the name it
//! stands for, so that ordering by id is ordering by name. An id never outlives its fleet and is never written to a file.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub $inner);

        impl $name {
            /// The id as an index.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// An App: ascends by (team, app).
    AppId(u32)
);
id!(
    /// A Cluster: ascends by name.
    ClusterId(u16)
);
id!(
    /// A Team: ascends by name.
    TeamId(u32)
);
id!(
    /// A file that was read: ascends by path.
    FileId(u32)
);
id!(
    /// A node pool inside its cluster, in the order of the Cluster file.
    PoolId(u16)
);
