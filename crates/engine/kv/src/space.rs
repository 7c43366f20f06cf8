//! Spaces: the ordered key spaces of a store, described by data.
//!
//! A model declares the spaces that it needs as [`SpaceSpec`] values. The process adds up those of all its models in
//! one [`SpaceSet`] and opens the engine with it. An engine arranges its files from the specs alone and knows no space by
//! name, so a new kind of data needs no change here.
//!
//! Invariants: ids are never stored, names are; a name is never used for anything else later.

/// A handle of a space. Ids are small, and unique among the models of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Space(u8);

/// The space with the store's own rows, such as the tip; their keys begin with a zero byte. Models keep small rows in it
/// that are read all the time: definitions, counters, jobs.
pub const META: Space = Space::new(0);

impl Space {
    /// Spaces in one store. They are few and shared, because each costs the engine a memtable and a set of files.
    pub const COUNT_MAX: usize = 16;

    pub const fn new(id: u8) -> Self {
        assert!((id as usize) < Self::COUNT_MAX, "ids of spaces are below Space::COUNT_MAX");
        Self(id)
    }

    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a model asks of one of its spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceSpec {
    pub space: Space,
    /// Its name on disk.
    pub name: &'static str,
    pub layout: Layout,
    pub memtable: Memtable,
    pub cache: CachePolicy,
    pub compression: Compression,
    /// Target size of a block in a file.
    pub block_bytes: u32,
    /// Files in level 0 before they are compacted. More of them make writes cheaper and reads dearer.
    pub level_0_files: u8,
    /// Whether its rows are users' data: a transaction that stores any does not count as one that makes room.
    pub is_user_data: bool,
}

/// In which order rows are written and found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// By keys that the model makes.
    ByKey,
    /// By commit, in streams: an append-only log of entries chained by checksums, see [`LogRecord`](crate::LogRecord).
    Log,
    /// By commit: out-of-line values, each written once, see [`overflow_key`](crate::overflow_key).
    Overflow,
}

impl Layout {
    /// Where a key has the LSN of the commit that wrote it, 8 bytes big-endian, if rows are ordered by commit. Rows with
    /// the same bytes before it are in the order of their commits. Such a space is kept in segments, and trimmed by them.
    pub const fn lsn_at(self) -> Option<usize> {
        match self {
            Layout::ByKey => None,
            Layout::Log => Some(8),
            Layout::Overflow => Some(0),
        }
    }
}

/// Where rows are before they are in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memtable {
    /// In the engine's usual memtable.
    Standard,
    /// In sorted runs, one per commit: for many small rows per commit. `name` is where they are on disk until then.
    SortedRuns { name: &'static str },
}

/// What the read cache keeps of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePolicy {
    Nothing,
    Rows,
    /// Rows, and keys that were not found.
    RowsAndAbsence,
}

/// Which levels of files are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Those to which rows come late.
    LowerLevels,
    /// All: for files that are moved down without being rewritten.
    AllLevels,
}

impl SpaceSpec {
    /// A space of rows in key order, as most are.
    pub const fn by_key(space: Space, name: &'static str) -> Self {
        Self {
            space,
            name,
            layout: Layout::ByKey,
            memtable: Memtable::Standard,
            cache: CachePolicy::Rows,
            compression: Compression::LowerLevels,
            block_bytes: 4 * 1024,
            level_0_files: 4,
            is_user_data: false,
        }
    }

    /// A log. It is read from its end, usually once, so nothing of it is cached.
    pub const fn log(space: Space, name: &'static str) -> Self {
        let rows = Self::by_key(space, name);
        Self { layout: Layout::Log, cache: CachePolicy::Nothing, ..rows }
    }

    /// Out-of-line values.
    pub const fn overflow(space: Space, name: &'static str) -> Self {
        let rows = Self::by_key(space, name);
        Self { layout: Layout::Overflow, compression: Compression::AllLevels, is_user_data: true, ..rows }
    }

    const META: Self = {
        let rows = Self::by_key(META, "meta");
        // Every query asks whether background work is under way, and usually none is. Elsewhere, a missing row is usually
        // about to be written.
        Self { cache: CachePolicy::RowsAndAbsence, ..rows }
    };
}

/// The spaces of a store.
#[derive(Clone, Debug)]
pub struct SpaceSet {
    specs: [Option<SpaceSpec>; Space::COUNT_MAX],
}

impl SpaceSet {
    /// `meta`, and the spaces of these models.
    pub const fn new(models: &[&[SpaceSpec]]) -> Self {
        let mut specs = [None; Space::COUNT_MAX];
        specs[META.index()] = Some(SpaceSpec::META);
        let mut model = 0;
        while model < models.len() {
            let mut at = 0;
            while at < models[model].len() {
                let spec = models[model][at];
                assert!(specs[spec.space.index()].is_none(), "no two spaces have one id");
                specs[spec.space.index()] = Some(spec);
                at += 1;
            }
            model += 1;
        }
        Self { specs }
    }

    pub fn get(&self, space: Space) -> Option<&SpaceSpec> {
        self.specs[space.index()].as_ref()
    }

    /// The name of a space, for messages.
    pub fn name(&self, space: Space) -> &'static str {
        self.get(space).map_or("undeclared", |spec| spec.name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &SpaceSpec> {
        self.specs.iter().flatten()
    }

    /// The spaces with a layout.
    pub(crate) fn with_layout(&self, layout: Layout) -> impl Iterator<Item = Space> {
        self.iter().filter(move |spec| spec.layout == layout).map(|spec| spec.space)
    }

    /// Something for each space, by its index.
    pub(crate) fn each<T>(&self, of: impl Fn(Option<&SpaceSpec>) -> T) -> [T; Space::COUNT_MAX] {
        std::array::from_fn(|index| of(self.specs[index].as_ref()))
    }

    pub(crate) fn is_user_data(&self, space: Space) -> bool {
        self.get(space).is_some_and(|spec| spec.is_user_data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_meta_and_what_its_models_declare() {
        const ONE: &[SpaceSpec] = &[SpaceSpec::by_key(Space::new(3), "one")];
        const TWO: &[SpaceSpec] = &[SpaceSpec::log(Space::new(1), "two")];
        static SPACES: SpaceSet = SpaceSet::new(&[ONE, TWO]);
        assert_eq!(SPACES.iter().map(|spec| spec.name).collect::<Vec<_>>(), ["meta", "two", "one"]);
        assert_eq!(SPACES.get(Space::new(2)), None);
        assert_eq!(SPACES.with_layout(Layout::Log).collect::<Vec<_>>(), [Space::new(1)]);
    }

    #[test]
    #[should_panic(expected = "no two spaces have one id")]
    fn two_models_cannot_have_one_id() {
        let one = [SpaceSpec::by_key(Space::new(3), "one")];
        let other = [SpaceSpec::by_key(Space::new(3), "other")];
        SpaceSet::new(&[&one, &other]);
    }
}
