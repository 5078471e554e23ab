//! A map of texts to values, as CEL sees it.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use cel::ExecutionError;
use cel::common::traits::{self, Container, Indexer, Iterable, Sizer};
use cel::common::types::{CelInt, CelString, MAP_TYPE, Type};
use cel::common::value::{CowVal, StaticVal, Val};

static TABLE: Type = MAP_TYPE;

/// Values by name. Clones share what they hold.
#[derive(Debug, Clone)]
pub(super) struct Table(Arc<Entries>);

#[derive(Debug)]
struct Entries {
    values: BTreeMap<Arc<str>, Box<dyn Val>>,
    /// What is found under a name that is not there; it is not there all the same.
    fallback: Option<Box<dyn Val>>,
    /// The names as values, for loops over them.
    names: Vec<CelString<'static>>,
}

struct Names<'t> {
    names: std::slice::Iter<'t, CelString<'static>>,
}

// === impl Table ===

impl Table {
    /// A map that fails on names that are not there.
    pub(super) fn new(values: BTreeMap<Arc<str>, Box<dyn Val>>) -> Self {
        Self::with(values, None)
    }

    /// A map that has an empty map under every name that is not there.
    pub(super) fn of_tables(values: BTreeMap<Arc<str>, Box<dyn Val>>) -> Self {
        let empty: Box<dyn Val> = Box::new(Self::new(BTreeMap::new()));
        Self::with(values, Some(empty))
    }

    fn with(values: BTreeMap<Arc<str>, Box<dyn Val>>, fallback: Option<Box<dyn Val>>) -> Self {
        let names = values.keys().map(|name| CelString::from(name.to_string()));
        let names = names.collect();
        Self(Arc::new(Entries {
            values,
            fallback,
            names,
        }))
    }

    fn find(&self, name: &dyn Val) -> Result<&(dyn Val + 'static), ExecutionError> {
        let name = name_of(name)?;
        let found = self.0.values.get(name).or(self.0.fallback.as_ref());
        let found = found.ok_or_else(|| ExecutionError::no_such_key(name))?;
        Ok(found.as_ref())
    }
}

fn name_of(value: &dyn Val) -> Result<&str, ExecutionError> {
    let text = value.downcast_ref::<CelString<'_>>().map(CelString::inner);
    text.ok_or_else(|| ExecutionError::UnexpectedType {
        got: value.get_type().name().to_owned(),
        want: "string".to_owned(),
    })
}

impl Val for Table {
    fn get_type(&self) -> &Type {
        &TABLE
    }

    fn cel_type() -> &'static Type {
        &TABLE
    }

    fn as_container(&self) -> Option<&dyn Container> {
        Some(self)
    }

    fn as_indexer<'b, 'v>(&'b self) -> Option<&'b (dyn Indexer + 'v)>
    where
        Self: 'v,
    {
        Some(self)
    }

    fn as_iterable<'b, 'v>(&'b self) -> Option<&'b (dyn Iterable + 'v)>
    where
        Self: 'v,
    {
        Some(self)
    }

    fn as_sizer(&self) -> Option<&dyn Sizer> {
        Some(self)
    }

    fn equals(&self, other: &dyn Val) -> bool {
        let Some(other) = other.downcast_ref::<Self>() else {
            return false;
        };
        let (mine, theirs) = (&self.0.values, &other.0.values);
        let mut pairs = mine.iter().zip(theirs);
        mine.len() == theirs.len()
            && pairs.all(|(one, other)| one.0 == other.0 && one.1.equals(other.1.as_ref()))
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl StaticVal for Table {}

impl Container for Table {
    fn contains(&self, value: &dyn Val) -> Result<bool, ExecutionError> {
        Ok(self.0.values.contains_key(name_of(value)?))
    }
}

impl Indexer for Table {
    fn get<'b, 'v>(&'b self, name: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
    where
        Self: 'v,
    {
        self.find(name).map(CowVal::Borrowed)
    }

    fn steal<'v>(self: Box<Self>, name: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
    where
        Self: 'v,
    {
        self.find(name).map(Val::clone_as_boxed)
    }
}

impl Iterable for Table {
    fn iter<'b, 'v>(&'b self) -> Box<dyn traits::Iterator<'b, 'v> + 'b>
    where
        Self: 'v,
    {
        Box::new(Names {
            names: self.0.names.iter(),
        })
    }
}

impl<'b, 'v> traits::Iterator<'b, 'v> for Names<'b> {
    fn next(&mut self) -> Option<&'b (dyn Val + 'v)> {
        self.names.next().map(|name| name as &(dyn Val + 'v))
    }
}

impl Sizer for Table {
    fn size(&self) -> CelInt {
        CelInt::from(i64::try_from(self.0.values.len()).unwrap_or(i64::MAX))
    }
}
