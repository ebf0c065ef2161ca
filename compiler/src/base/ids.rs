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

            /// Every id, ascending: to be zipped with what they number. It ends, where an open range would overflow one
            /// past its last number.
            pub fn every() -> impl Iterator<Item = Self> {
                (0..=<$inner>::MAX).map(Self)
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

/// The numbers of an app's workloads, of which there are at most 65,535: to be zipped with them.
pub fn workload_numbers() -> impl Iterator<Item = u16> {
    0..=u16::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_there_may_be_can_be_numbered() {
        let most = vec![(); usize::from(u16::MAX)];
        assert_eq!(ClusterId::every().zip(&most).last().map(|(id, ())| id), Some(ClusterId(65_534)));
        assert_eq!(PoolId::every().zip(most.iter().chain([&()])).last().map(|(id, ())| id), Some(PoolId(u16::MAX)));
        assert_eq!(workload_numbers().zip(&most).count(), 65_535);
    }
}
