//! Gives an object as a typed server writes it: fields that Go never leaves out are there, and those that
//! it leaves out when empty are not.

use serde_json::{Map, Value};

use super::table::{Field, Kind, Scalar, Type, types};

/// Brings an object of a type into the form that a typed server answers with.
pub(crate) fn fill(of: &Type, value: &mut Value) {
    if let Some(map) = value.as_object_mut() {
        fill_map(of, map);
    }
}

fn fill_map(of: &Type, map: &mut Map<String, Value>) {
    for field in of.fields() {
        match map.get_mut(field.name) {
            Some(Value::Null) | None => {
                if let Some(value) = always_there(field) {
                    map.insert(field.name.to_owned(), value);
                } else {
                    map.remove(field.name);
                }
            }
            Some(value) => {
                fill_value(&field.kind, value);
                if !field.omit && is_hollow(value) {
                    // Stored as protobuf, a list without items cannot be told from no list.
                    *value = Value::Null;
                }
                if is_left_out(field, value) {
                    map.remove(field.name);
                }
            }
        }
    }
}

fn fill_value(kind: &Kind, value: &mut Value) {
    match (kind, value) {
        (Kind::Struct(at), Value::Object(map)) => fill_map(types().at(*at), map),
        (Kind::List(item), Value::Array(items)) => {
            for value in items {
                fill_value(item, value);
            }
        }
        (Kind::Map(item), Value::Object(map)) => {
            for value in map.values_mut() {
                fill_value(item, value);
            }
        }
        _ => {}
    }
}

fn is_hollow(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

/// Gives what stands for an absent value, where Go writes one.
fn always_there(field: &Field) -> Option<Value> {
    if field.pointer || field.omit_zero {
        return (!field.omit && !field.omit_zero).then_some(Value::Null);
    }
    match &field.kind {
        Kind::Struct(at) => {
            let mut map = Map::new();
            fill_map(types().at(*at), &mut map);
            Some(Value::Object(map))
        }
        Kind::Plain(Scalar::Time | Scalar::MicroTime) => Some(Value::Null),
        _ if field.omit => None,
        Kind::List(_) | Kind::Map(_) => Some(Value::Null),
        Kind::Plain(scalar) => Some(match scalar {
            Scalar::Text => Value::from(""),
            Scalar::Flag => Value::from(false),
            Scalar::Int32 | Scalar::Int64 | Scalar::Float | Scalar::IntOrText => Value::from(0),
            Scalar::Quantity => Value::from("0"),
            Scalar::Time | Scalar::MicroTime | Scalar::Bytes | Scalar::Raw | Scalar::Fields => {
                Value::Null
            }
        }),
    }
}

/// Tells whether Go leaves a value out because it is empty.
fn is_left_out(field: &Field, value: &Value) -> bool {
    if !field.omit || field.pointer {
        return false;
    }
    match (&field.kind, value) {
        (Kind::Struct(_), _) => false,
        (_, Value::Array(items)) => items.is_empty(),
        (_, Value::Object(map)) => map.is_empty(),
        (Kind::Plain(Scalar::Quantity | Scalar::IntOrText), _) => false,
        (_, Value::String(text)) => text.is_empty(),
        (_, Value::Bool(flag)) => !flag,
        (_, Value::Number(number)) => number.as_f64() == Some(0.0),
        (_, Value::Null) => true,
    }
}
