//! Merges a configuration into an object as the types say: field by field, items of lists by their keys,
//! sets by value, everything else as a whole.

use serde_json::{Map, Value};

use super::paths::{is_at, step_of};
use crate::schema::{Field, Kind, ListType, Type, types};

/// Gives the object with the configuration in it.
pub(super) fn merged(of: &Type, live: &Value, config: &Value) -> Value {
    let mut object = live.clone();
    if let (Value::Object(map), Value::Object(config)) = (&mut object, config) {
        for name in ["apiVersion", "kind"] {
            if let Some(value) = config.get(name) {
                map.insert(name.to_owned(), value.clone());
            }
        }
        fields(of, map, config);
    }
    object
}

fn fields(of: &Type, map: &mut Map<String, Value>, config: &Map<String, Value>) {
    for (name, wanted) in config {
        let Some(field) = of.field(name).filter(|_| !wanted.is_null()) else {
            continue;
        };
        let slot = map.entry(name.as_str()).or_insert(Value::Null);
        inside(field, slot, wanted);
    }
}

fn inside(field: &Field, slot: &mut Value, wanted: &Value) {
    if field.list == ListType::Atomic || slot.is_null() {
        slot.clone_from(wanted);
        return;
    }
    match (&field.kind, &mut *slot, wanted) {
        (Kind::Struct(at), Value::Object(map), Value::Object(wanted)) => {
            fields(types().at(*at), map, wanted);
        }
        (Kind::Map(_), Value::Object(map), Value::Object(wanted)) => {
            map.extend(
                wanted
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
        }
        (Kind::List(item), Value::Array(items), Value::Array(wanted)) => {
            for value in wanted {
                let step = step_of(field, value);
                match items.iter_mut().find(|item| is_at(&step, item)) {
                    Some(present) => {
                        if let (Kind::Struct(at), Value::Object(map), Value::Object(value)) =
                            (&**item, present, value)
                        {
                            fields(types().at(*at), map, value);
                        }
                    }
                    None => items.push(value.clone()),
                }
            }
        }
        _ => slot.clone_from(wanted),
    }
}
