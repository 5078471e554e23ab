//! A device as CEL sees it: the variable `device`.

use std::collections::BTreeMap;
use std::sync::Arc;

use cel::common::types::{CelBool, CelInt, CelString};
use cel::common::value::Val;
use plimsoll_objects::device::{Attribute, Device};

use super::amount::Amount;
use super::table::Table;
use super::version::Version;

/// The variable's name.
pub(super) const NAME: &str = "device";

/// Values by domain, then by name.
type Domains = BTreeMap<Arc<str>, BTreeMap<Arc<str>, Box<dyn Val>>>;

/// `device` of `driver`.
///
/// # Errors
/// An attribute has no value that can be understood.
pub(super) fn value(driver: &str, device: &Device) -> Result<Table, String> {
    let driver: Arc<str> = Arc::from(driver);
    let mut attributes = Domains::new();
    for (name, attribute) in &device.attributes {
        let value = attribute_value(attribute);
        let value = value.map_err(|problem| format!("attribute {name}: {problem}"))?;
        put(&mut attributes, &driver, name, value);
    }
    let mut capacity = Domains::new();
    for (name, amount) in &device.capacity {
        put(&mut capacity, &driver, name, Box::new(Amount(amount.value)));
    }
    let fields: [(&str, Box<dyn Val>); 4] = [
        ("driver", Box::new(CelString::from(driver.to_string()))),
        (
            "allowMultipleAllocations",
            Box::new(CelBool::from(device.shareable)),
        ),
        ("attributes", Box::new(by_domain(attributes))),
        ("capacity", Box::new(by_domain(capacity))),
    ];
    let fields = fields.into_iter();
    Ok(Table::new(
        fields
            .map(|(name, value)| (Arc::from(name), value))
            .collect(),
    ))
}

/// A name without domain is in the driver's.
fn put(domains: &mut Domains, driver: &Arc<str>, name: &str, value: Box<dyn Val>) {
    let (domain, id) = match name.split_once('/') {
        Some((domain, id)) => (Arc::from(domain), id),
        None => (Arc::clone(driver), name),
    };
    domains
        .entry(domain)
        .or_default()
        .insert(Arc::from(id), value);
}

fn by_domain(domains: Domains) -> Table {
    let tables = domains.into_iter().map(|(domain, values)| {
        let table: Box<dyn Val> = Box::new(Table::new(values));
        (domain, table)
    });
    Table::of_tables(tables.collect())
}

fn attribute_value(attribute: &Attribute) -> Result<Box<dyn Val>, String> {
    Ok(match attribute {
        Attribute::Int(int) => Box::new(CelInt::from(*int)),
        Attribute::Bool(bool) => Box::new(CelBool::from(*bool)),
        Attribute::Text(text) => Box::new(CelString::from(text.to_string())),
        Attribute::Version(text) => {
            let version = Version::parse(text);
            Box::new(version.map_err(|error| format!("parse semantic version: {error}"))?)
        }
        Attribute::Unknown => return Err("unsupported attribute value".to_owned()),
    })
}
