//! Reads an object as a typed server does (`sigs.k8s.io/json`): wrong types are refused, unknown fields
//! are dropped and told, quantities get their canonical form.

use serde_json::{Map, Value};

use super::table::{Kind, Scalar, Type, types};
use crate::quantity::{self, Quantity};

/// What happens to fields that a kind does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// They are dropped.
    Ignore,
    /// They are dropped, and the client is warned.
    Warn,
    /// The object is refused.
    Strict,
}

/// Reads an object in place. Gives the paths of unknown fields, in the words of kube-apiserver.
///
/// # Errors
/// A value is of the wrong type; says so in the words of Go's decoder.
pub(crate) fn read(of: &Type, value: &mut Value) -> Result<Vec<String>, String> {
    let mut reader = Reader {
        unknown: Vec::new(),
    };
    let place = Place {
        holder: of,
        field: "",
        path: "",
    };
    match value {
        Value::Object(map) => {
            for known in ["apiVersion", "kind"] {
                if let Some(other) = map.get(known).filter(|it| !it.is_string() && !it.is_null()) {
                    return Err(place.inside(known, "").misfit(other, "string"));
                }
            }
            reader.fields(of, map, &place, true)?;
        }
        other => return Err(place.misfit(other, &format!("v1.{}", of.go_name()))),
    }
    Ok(reader.unknown)
}

struct Reader {
    unknown: Vec<String>,
}

/// Where the reader stands.
struct Place<'a> {
    /// The type that holds the value.
    holder: &'a Type,
    /// The path as Go's decoder says it: without places in lists.
    field: &'a str,
    /// The path as strict decoding says it.
    path: &'a str,
}

/// A place with texts of its own.
struct Inner<'a> {
    holder: &'a Type,
    field: String,
    path: String,
}

impl<'a> Place<'a> {
    fn inside(&self, field: &str, path: &str) -> Inner<'a> {
        let join = |before: &str, name: &str| match before {
            "" => name.to_owned(),
            before => format!("{before}.{name}"),
        };
        Inner {
            holder: self.holder,
            field: join(self.field, field),
            path: join(self.path, path),
        }
    }

    fn misfit(&self, value: &Value, wanted: &str) -> String {
        let found = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(_) => "bool".to_owned(),
            Value::Number(number)
                if wanted == "string" || number.is_i64() && !wanted.starts_with("int") =>
            {
                "number".to_owned()
            }
            Value::Number(number) => format!("number {number}"),
            Value::String(_) => "string".to_owned(),
            Value::Array(_) => "array".to_owned(),
            Value::Object(_) => "object".to_owned(),
        };
        let place = match self.field {
            "" => "Go value".to_owned(),
            field => format!("Go struct field {}.{field}", self.holder.go_name()),
        };
        format!("json: cannot unmarshal {found} into {place} of type {wanted}")
    }
}

impl Inner<'_> {
    fn place(&self) -> Place<'_> {
        Place {
            holder: self.holder,
            field: &self.field,
            path: &self.path,
        }
    }

    fn misfit(&self, value: &Value, wanted: &str) -> String {
        self.place().misfit(value, wanted)
    }
}

impl Reader {
    fn fields(
        &mut self,
        of: &Type,
        map: &mut Map<String, Value>,
        place: &Place<'_>,
        top: bool,
    ) -> Result<(), String> {
        let mut unknown = Vec::new();
        let here = Place {
            holder: of,
            ..*place
        };
        for (name, value) in &mut *map {
            let Some(field) = of.field(name) else {
                if !(top && matches!(name.as_str(), "apiVersion" | "kind")) {
                    unknown.push(name.clone());
                    self.unknown
                        .push(format!("unknown field {:?}", here.inside(name, name).path));
                }
                continue;
            };
            if !value.is_null() {
                self.value(&field.kind, value, &here.inside(name, name).place())?;
            }
        }
        for name in unknown {
            map.remove(&name);
        }
        Ok(())
    }

    fn value(&mut self, kind: &Kind, value: &mut Value, place: &Place<'_>) -> Result<(), String> {
        match (kind, value) {
            (Kind::Plain(scalar), value) => plain(*scalar, value, place),
            (_, Value::Null) => Ok(()),
            (Kind::Struct(at), Value::Object(map)) => {
                self.fields(types().at(*at), map, place, false)
            }
            (Kind::List(item), Value::Array(items)) => {
                for (at, value) in items.iter_mut().enumerate() {
                    let path = format!("{}[{at}]", place.path);
                    let inner = Place {
                        path: &path,
                        ..*place
                    };
                    self.value(item, value, &inner)?;
                }
                Ok(())
            }
            (Kind::Map(item), Value::Object(map)) => {
                for (key, value) in map {
                    let path = format!("{}.{key}", place.path);
                    let inner = Place {
                        path: &path,
                        ..*place
                    };
                    self.value(item, value, &inner)?;
                }
                Ok(())
            }
            (kind, other) => Err(place.misfit(other, &go_type(kind))),
        }
    }
}

fn plain(scalar: Scalar, value: &mut Value, place: &Place<'_>) -> Result<(), String> {
    let fits = match (scalar, &*value) {
        (_, Value::Null) | (Scalar::Raw | Scalar::Fields, _) => true,
        (Scalar::Text | Scalar::Bytes, it) => it.is_string(),
        (Scalar::Time | Scalar::MicroTime, Value::String(text)) => {
            return check_time(text);
        }
        (Scalar::Time | Scalar::MicroTime, _) => false,
        (Scalar::Flag, it) => it.is_boolean(),
        (Scalar::Int32, it) => it.as_i64().is_some_and(|it| i32::try_from(it).is_ok()),
        (Scalar::Int64, it) => it.as_i64().is_some(),
        (Scalar::Float, it) => it.is_number(),
        (Scalar::IntOrText, it) => {
            it.is_string() || it.as_i64().is_some_and(|it| i32::try_from(it).is_ok())
        }
        (Scalar::Quantity, it) => {
            let text = match it {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => String::new(),
            };
            let Some(quantity) = Quantity::parse(&text) else {
                return Err(quantity::UNREADABLE.to_owned());
            };
            *value = Value::String(quantity.to_string());
            true
        }
    };
    if fits {
        return Ok(());
    }
    Err(place.misfit(value, &go_type(&Kind::Plain(scalar))))
}

fn check_time(text: &str) -> Result<(), String> {
    let parsed: Result<jiff::Timestamp, _> = text.parse();
    if parsed.is_ok() || text.is_empty() {
        return Ok(());
    }
    let layout = "2006-01-02T15:04:05Z07:00";
    Err(format!(
        "parsing time {text:?} as {layout:?}: cannot parse {text:?} as \"2006\""
    ))
}

/// Gives a type as Go names it.
fn go_type(kind: &Kind) -> String {
    match kind {
        Kind::Struct(at) => format!("v1.{}", types().at(*at).go_name()),
        Kind::List(item) => format!("[]{}", go_type(item)),
        Kind::Map(item) => format!("map[string]{}", go_type(item)),
        Kind::Plain(scalar) => match scalar {
            Scalar::Text | Scalar::Time | Scalar::MicroTime => "string",
            Scalar::Flag => "bool",
            Scalar::Int32 | Scalar::IntOrText => "int32",
            Scalar::Int64 => "int64",
            Scalar::Float => "float64",
            Scalar::Bytes => "[]uint8",
            Scalar::Quantity => "resource.Quantity",
            Scalar::Raw => "runtime.RawExtension",
            Scalar::Fields => "v1.FieldsV1",
        }
        .to_owned(),
    }
}
