//! Reads the protobuf bodies of typed clients: an envelope that names the kind, and the object in it
//! (`k8s.io/apimachinery/pkg/runtime/serializer/protobuf`).

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{
    of_kind,
    table::{Kind, Scalar, Type, types},
};

/// What every protobuf body begins with.
const MAGIC: &[u8] = b"k8s\0";

/// How deep messages may nest: as deep as objects may.
const MAX_DEPTH: usize = crate::json::MAX_DEPTH;

/// Reads a body into JSON; nothing where it is no envelope, of a kind that is not known, or broken.
pub(crate) fn message(body: &[u8]) -> Option<Value> {
    let mut api_version = String::new();
    let mut kind = String::new();
    let mut raw: &[u8] = &[];
    for part in parts(body.strip_prefix(MAGIC)?) {
        match part? {
            (1, Part::Bytes(meta)) => {
                for part in parts(meta) {
                    match part? {
                        (1, Part::Bytes(text)) => api_version = utf8(text)?,
                        (2, Part::Bytes(text)) => kind = utf8(text)?,
                        _ => {}
                    }
                }
            }
            (2, Part::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let mut fields = object(of_kind(group, &kind)?, raw, 0)?;
    fields.insert("apiVersion".to_owned(), json!(api_version));
    fields.insert("kind".to_owned(), json!(kind));
    Some(Value::Object(fields))
}

/// One field on the wire.
enum Part<'a> {
    Number(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

/// Splits a message into its fields; an item is nothing where the message is broken there.
fn parts(mut rest: &[u8]) -> impl Iterator<Item = Option<(u32, Part<'_>)>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let part = next(&mut rest);
        if part.is_none() {
            rest = &[];
        }
        Some(part)
    })
}

fn next<'a>(rest: &mut &'a [u8]) -> Option<(u32, Part<'a>)> {
    let key = varint(rest)?;
    let number = u32::try_from(key >> 3).ok()?;
    let part = match key & 7 {
        0 => Part::Number(varint(rest)?),
        1 => Part::Fixed(u64::from_le_bytes(take(rest, 8)?.try_into().ok()?)),
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            Part::Bytes(take(rest, length)?)
        }
        5 => Part::Fixed(u64::from(u32::from_le_bytes(
            take(rest, 4)?.try_into().ok()?,
        ))),
        _ => return None,
    };
    Some((number, part))
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(count)?;
    *rest = tail;
    Some(head)
}

fn utf8(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

fn object(of: &Type, bytes: &[u8], depth: usize) -> Option<Map<String, Value>> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut map = Map::new();
    for part in parts(bytes) {
        let (number, part) = part?;
        // A field of a newer client is dropped, as by any typed server.
        let Some(field) = of.wire.iter().find(|field| field.number == number) else {
            continue;
        };
        match (&field.kind, part) {
            (Kind::Struct(at), Part::Bytes(bytes)) if field.name == "~" => {
                map.extend(object(types().at(*at), bytes, depth + 1)?);
            }
            (Kind::List(item), part) => {
                let slot = map.entry(field.name).or_insert_with(|| json!([]));
                let value = value(item, part, depth)?;
                slot.as_array_mut()?.push(value);
            }
            (Kind::Map(item), Part::Bytes(bytes)) => {
                let (key, value) = entry(item, bytes, depth)?;
                let slot = map.entry(field.name).or_insert_with(|| json!({}));
                slot.as_object_mut()?.insert(key, value);
            }
            (kind, part) => {
                let value = value(kind, part, depth)?;
                // Go writes the empty values of fields that are no pointers, too.
                if field.pointer || !is_empty(&value) {
                    map.insert(field.name.to_owned(), value);
                }
            }
        }
    }
    Some(map)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Array(_) | Value::Object(_) => false,
    }
}

fn entry(item: &Kind, bytes: &[u8], depth: usize) -> Option<(String, Value)> {
    let (mut key, mut found) = (String::new(), None);
    for part in parts(bytes) {
        match part? {
            (1, Part::Bytes(text)) => key = utf8(text)?,
            (2, part) => found = Some(value(item, part, depth)?),
            _ => {}
        }
    }
    let absent = || match item {
        Kind::Plain(Scalar::Text | Scalar::Bytes) => Some(json!("")),
        _ => None,
    };
    Some((key, found.or_else(absent)?))
}

fn value(kind: &Kind, part: Part<'_>, depth: usize) -> Option<Value> {
    Some(match (kind, part) {
        (Kind::Struct(at), Part::Bytes(bytes)) => {
            Value::Object(object(types().at(*at), bytes, depth + 1)?)
        }
        (Kind::Plain(scalar), part) => plain(*scalar, part)?,
        // A list as the value of a map is a message with one repeated field.
        (Kind::List(item), Part::Bytes(bytes)) => {
            let items = parts(bytes).map(|part| value(item, part?.1, depth));
            Value::Array(items.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn plain(scalar: Scalar, part: Part<'_>) -> Option<Value> {
    Some(match (scalar, part) {
        (Scalar::Text, Part::Bytes(bytes)) => json!(utf8(bytes)?),
        (Scalar::Flag, Part::Number(number)) => json!(number != 0),
        // Negative numbers of 32 bits stand on the wire with 64.
        (Scalar::Int32 | Scalar::Int64, Part::Number(number)) => json!(number as i64),
        (Scalar::Float, Part::Fixed(bits)) => json!(f64::from_bits(bits)),
        (Scalar::Bytes, Part::Bytes(bytes)) => json!(base64(bytes)),
        (Scalar::Quantity, Part::Bytes(bytes)) => json!(text_at(1, bytes)?),
        (Scalar::IntOrText, Part::Bytes(bytes)) => int_or_text(bytes)?,
        (Scalar::Time | Scalar::MicroTime, Part::Bytes(bytes)) => time(scalar, bytes)?,
        (Scalar::Raw | Scalar::Fields, Part::Bytes(bytes)) => {
            let raw = parts(bytes).find_map(|part| match part? {
                (1, Part::Bytes(raw)) => Some(raw),
                _ => None,
            });
            serde_json::from_slice(raw?).ok()?
        }
        _ => return None,
    })
}

fn text_at(number: u32, bytes: &[u8]) -> Option<String> {
    for part in parts(bytes) {
        match part? {
            (at, Part::Bytes(text)) if at == number => return utf8(text),
            _ => {}
        }
    }
    Some(String::new())
}

fn int_or_text(bytes: &[u8]) -> Option<Value> {
    let (mut is_text, mut number) = (false, 0);
    for part in parts(bytes) {
        match part? {
            (1, Part::Number(kind)) => is_text = kind == 1,
            (2, Part::Number(value)) => number = value as i64,
            _ => {}
        }
    }
    Some(if is_text {
        json!(text_at(3, bytes)?)
    } else {
        json!(number)
    })
}

fn time(scalar: Scalar, bytes: &[u8]) -> Option<Value> {
    let (mut seconds, mut nanos) = (None, 0);
    for part in parts(bytes) {
        match part? {
            (1, Part::Number(value)) => seconds = Some(value as i64),
            (2, Part::Number(value)) => nanos = i32::try_from(value).ok()?,
            _ => {}
        }
    }
    let Some(seconds) = seconds else {
        return Some(Value::Null);
    };
    if scalar == Scalar::Time {
        return Some(json!(Timestamp::from_second(seconds).ok()?.to_string()));
    }
    let micros = nanos / 1_000;
    let time = Timestamp::new(seconds, micros * 1_000).ok()?;
    let whole = Timestamp::from_second(time.as_second()).ok()?.to_string();
    Some(json!(format!(
        "{}.{micros:06}Z",
        whole.trim_end_matches('Z')
    )))
}

/// Writes bytes as JSON has them (RFC 4648, with padding).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            if at > chunk.len() {
                out.push('=');
            } else {
                let letter = (group >> (18 - 6 * at)) & 63;
                out.push(char::from(LETTERS[letter as usize]));
            }
        }
    }
    out
}
