//! Reads `types.txt` once, and gives each type with its fields, those of embedded types included.

use std::{collections::BTreeMap, sync::LazyLock};

/// The table's text.
const TEXT: &str = include_str!("types.txt");

static TYPES: LazyLock<Types> = LazyLock::new(|| Types::parse(TEXT));

/// Gives the table.
pub(crate) fn types() -> &'static Types {
    &TYPES
}

/// All types of the table.
#[derive(Debug, Default)]
pub(crate) struct Types {
    types: Vec<Type>,
    names: BTreeMap<&'static str, usize>,
}

/// One type with its fields.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: &'static str,
    /// As they stand on the protobuf wire; an embedded type is one field.
    pub(crate) wire: Vec<Field>,
    /// As they stand in JSON, by name.
    json: BTreeMap<&'static str, Field>,
}

/// One field of a type.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) number: u32,
    /// The name in JSON, `~` for an embedded type.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Whether absent and empty are two things: the Go field is a pointer.
    pub(crate) pointer: bool,
    /// Whether an empty value is left out.
    pub(crate) omit: bool,
    /// Whether a value of a struct type is left out, too, where it is empty.
    pub(crate) omit_zero: bool,
    /// How a strategic merge patch merges a list.
    pub(crate) merge: Merge,
    /// How server-side apply takes the value apart.
    pub(crate) list: ListType,
}

/// How a strategic merge patch merges a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merge {
    /// The patch's list replaces the present one.
    Replace,
    /// Items with the same value of this field are merged.
    ByKey(&'static str),
    /// Values that are missing are added.
    Union,
}

/// How server-side apply takes a value apart: into what is owned, and merged, on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListType {
    /// Not at all.
    Atomic,
    /// Field by field, or key by key: objects and maps.
    Granular,
    /// Value by value.
    Set,
    /// Items, which these fields tell apart.
    Map(Vec<&'static str>),
}

/// The type of a field's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain(Scalar),
    /// Another type, by its place in the table.
    Struct(usize),
    List(Box<Kind>),
    /// Values by text.
    Map(Box<Kind>),
}

/// A value without parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    Text,
    Flag,
    Int32,
    Int64,
    Float,
    Bytes,
    Quantity,
    IntOrText,
    Time,
    MicroTime,
    /// Any JSON.
    Raw,
    /// A set of fields in its JSON form.
    Fields,
}

impl Type {
    /// Gives a field by its JSON name.
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.json.get(name)
    }

    /// Gives the fields in the order of their JSON names.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.json.values()
    }

    /// Gives the name without the package, as Go says it.
    pub(crate) fn go_name(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }
}

impl Types {
    /// Gives a type by its name.
    pub(crate) fn named(&self, name: &str) -> Option<&Type> {
        self.names.get(name).map(|at| &self.types[*at])
    }

    /// Gives the type that a [`Kind::Struct`] means.
    pub(crate) fn at(&self, at: usize) -> &Type {
        &self.types[at]
    }

    fn parse(text: &'static str) -> Self {
        let lines = || text.lines().filter(|line| !line.starts_with('#'));
        let mut table = Self::default();
        for name in lines().filter(|line| !line.starts_with(' ')) {
            table.names.insert(name, table.types.len());
            table.types.push(Type {
                name,
                wire: Vec::new(),
                json: BTreeMap::new(),
            });
        }
        let mut current = None;
        for line in lines() {
            match line.strip_prefix(' ') {
                None => current = table.names.get(line).copied(),
                Some(field) => {
                    let field = table.field(field);
                    if let (Some(at), Some(field)) = (current, field) {
                        table.types[at].wire.push(field);
                    }
                }
            }
        }
        for at in 0..table.types.len() {
            table.types[at].json = table.flat(at);
        }
        table
    }

    fn field(&self, line: &'static str) -> Option<Field> {
        let mut words = line.split(' ');
        let number = words.next()?.parse().ok()?;
        let name = words.next()?;
        let text = words.next()?;
        let tags: Vec<&'static str> = words.collect();
        let tag = |name: &str| tags.iter().find_map(|tag| tag.strip_prefix(name));
        let kind = self.kind(text.trim_start_matches('*'))?;
        let list = match (tag("list="), &kind) {
            (Some("atomic"), _) | (None, Kind::List(_)) => ListType::Atomic,
            (Some("set"), _) => ListType::Set,
            (Some(list), _) => match list.strip_prefix("map:") {
                Some(keys) => ListType::Map(keys.split('+').collect()),
                None => ListType::Granular,
            },
            (None, _) => ListType::Granular,
        };
        Some(Field {
            number,
            name,
            kind,
            list,
            pointer: text.starts_with('*'),
            omit: tags.contains(&"omit"),
            omit_zero: tags.contains(&"zero"),
            merge: match tag("by=") {
                Some(key) => Merge::ByKey(key),
                None if tags.contains(&"union") => Merge::Union,
                None => Merge::Replace,
            },
        })
    }

    fn kind(&self, text: &str) -> Option<Kind> {
        if let Some(item) = text.strip_prefix("[]") {
            return Some(Kind::List(Box::new(self.kind(item)?)));
        }
        if let Some(item) = text.strip_prefix("{}") {
            return Some(Kind::Map(Box::new(self.kind(item)?)));
        }
        let scalar = match text {
            "string" => Scalar::Text,
            "bool" => Scalar::Flag,
            "int32" => Scalar::Int32,
            "int64" => Scalar::Int64,
            "float64" => Scalar::Float,
            "bytes" => Scalar::Bytes,
            "Quantity" => Scalar::Quantity,
            "IntOrString" => Scalar::IntOrText,
            "Time" => Scalar::Time,
            "MicroTime" => Scalar::MicroTime,
            "Raw" => Scalar::Raw,
            "Fields" => Scalar::Fields,
            name => return self.names.get(name).copied().map(Kind::Struct),
        };
        Some(Kind::Plain(scalar))
    }

    /// Gives the fields of a type as JSON has them: those of embedded types among its own.
    fn flat(&self, at: usize) -> BTreeMap<&'static str, Field> {
        let mut fields = BTreeMap::new();
        for field in &self.types[at].wire {
            match field.kind {
                Kind::Struct(inner) if field.name == "~" => fields.extend(self.flat(inner)),
                _ => {
                    fields.insert(field.name, field.clone());
                }
            }
        }
        fields
    }
}
