//! IP addresses and blocks of them in CEL (`apiserver/pkg/cel/library/{ip,cidr}.go`).

use std::any::Any;
use std::net::IpAddr;

use cel::common::types::{CelBool, CelInt, CelString, Type};
use cel::common::value::{StaticVal, Val};
use cel::{DeclarationError, Env, ExecutionError, add_member_overload, add_overload};

static IP: Type = Type::new_unspecified_type("net.IP");
static CIDR: Type = Type::new_unspecified_type("net.CIDR");

/// An address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Address(IpAddr);

/// A block of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    address: IpAddr,
    prefix: u8,
}

/// Both are plain values that equal themselves.
macro_rules! plain_value {
    ($value:ty, $kind:ident) => {
        impl Val for $value {
            fn get_type(&self) -> &Type {
                &$kind
            }

            fn cel_type() -> &'static Type {
                &$kind
            }

            fn equals(&self, other: &dyn Val) -> bool {
                other.downcast_ref::<Self>() == Some(self)
            }

            fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
                Box::new(*self)
            }

            fn as_any(&self) -> Option<&dyn Any> {
                Some(self)
            }
        }

        impl StaticVal for $value {}
    };
}

plain_value!(Address, IP);
plain_value!(Block, CIDR);

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_type(IP.to_owned())?;
    env.add_type(CIDR.to_owned())?;
    add_overload!(env, fn ip: (CelString) -> Result<Address>)?;
    add_overload!(env, fn is_ip: (CelString) -> CelBool, name = "isIP")?;
    add_overload!(env, fn is_canonical: (CelString) -> Result<CelBool>, name = "ip.isCanonical")?;
    add_overload!(env, fn address_text: (Address) -> CelString, name = "string")?;
    add_member_overload!(env, fn family: (Address) -> CelInt)?;
    add_member_overload!(env, fn is_unspecified: (Address) -> CelBool)?;
    add_member_overload!(env, fn is_loopback: (Address) -> CelBool)?;
    add_member_overload!(env, fn is_link_local_multicast: (Address) -> CelBool)?;
    add_member_overload!(env, fn is_link_local_unicast: (Address) -> CelBool)?;
    add_member_overload!(env, fn is_global_unicast: (Address) -> CelBool)?;
    add_overload!(env, fn cidr: (CelString) -> Result<Block>)?;
    add_overload!(env, fn is_cidr: (CelString) -> CelBool, name = "isCIDR")?;
    add_overload!(env, fn block_text: (Block) -> CelString, name = "string")?;
    add_member_overload!(env, fn contains_ip: (Block, Address) -> CelBool, name = "containsIP")?;
    add_member_overload!(env, fn contains_text: (Block, CelString) -> Result<CelBool>, name = "containsIP")?;
    add_member_overload!(env, fn contains_block: (Block, Block) -> CelBool, name = "containsCIDR")?;
    add_member_overload!(env, fn contains_block_text: (Block, CelString) -> Result<CelBool>, name = "containsCIDR")?;
    add_member_overload!(env, fn block_ip: (Block) -> Address, name = "ip")?;
    add_member_overload!(env, fn masked: (Block) -> Block)?;
    add_member_overload!(env, fn prefix_length: (Block) -> CelInt)
}

/// An address; IPv4 in IPv6 is refused, as is a zone.
fn parse(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text.parse().map_err(|error| {
        format!("IP Address {text:?} parse error during conversion from string: {error}")
    })?;
    match address {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {text:?} is not allowed"))
        }
        _ => Ok(address),
    }
}

fn parse_block(text: &str) -> Result<Block, String> {
    let wrong = || format!("network address parse error during conversion from string: {text:?}");
    let (address, prefix) = text.split_once('/').ok_or_else(wrong)?;
    let address = parse(address)?;
    let is_plain = prefix.bytes().all(|b| b.is_ascii_digit())
        && !(prefix.len() > 1 && prefix.starts_with('0'));
    let prefix = prefix
        .parse()
        .ok()
        .filter(|bits| is_plain && *bits <= bits_of(address));
    let prefix = prefix.ok_or_else(wrong)?;
    Ok(Block { address, prefix })
}

fn failing<T>(function: &str, value: Result<T, String>) -> Result<T, ExecutionError> {
    value.map_err(|error| ExecutionError::function_error(function, error))
}

fn bits_of(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The address with only its first `prefix` bits.
fn mask(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let kept = u32::MAX
                .checked_shl(32 - u32::from(prefix.min(32)))
                .unwrap_or(0);
            IpAddr::from((u32::from(v4) & kept).to_be_bytes())
        }
        IpAddr::V6(v6) => {
            let kept = u128::MAX
                .checked_shl(128 - u32::from(prefix.min(128)))
                .unwrap_or(0);
            IpAddr::from((u128::from(v6) & kept).to_be_bytes())
        }
    }
}

fn ip(text: &CelString<'_>) -> Result<Address, ExecutionError> {
    failing("ip", parse(text.inner()).map(Address))
}

fn is_ip(text: &CelString<'_>) -> CelBool {
    CelBool::from(parse(text.inner()).is_ok())
}

fn is_canonical(text: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    let address = failing("ip.isCanonical", parse(text.inner()))?;
    Ok(CelBool::from(address.to_string() == text.inner()))
}

fn address_text(address: &Address) -> CelString<'static> {
    CelString::from(address.0.to_string())
}

fn family(address: &Address) -> CelInt {
    CelInt::from(if address.0.is_ipv4() { 4 } else { 6 })
}

fn is_unspecified(address: &Address) -> CelBool {
    CelBool::from(address.0.is_unspecified())
}

fn is_loopback(address: &Address) -> CelBool {
    CelBool::from(address.0.is_loopback())
}

fn is_link_local_multicast(address: &Address) -> CelBool {
    CelBool::from(match address.0 {
        IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
        IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
    })
}

fn is_link_local_unicast(address: &Address) -> CelBool {
    CelBool::from(link_local(address.0))
}

fn link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

/// Go's meaning: private addresses are global too.
fn is_global_unicast(address: &Address) -> CelBool {
    let ip = address.0;
    let is_broadcast = matches!(ip, IpAddr::V4(v4) if v4.is_broadcast());
    let special = ip.is_unspecified() || ip.is_loopback() || ip.is_multicast();
    CelBool::from(!is_broadcast && !special && !link_local(ip))
}

fn cidr(text: &CelString<'_>) -> Result<Block, ExecutionError> {
    failing("cidr", parse_block(text.inner()))
}

fn is_cidr(text: &CelString<'_>) -> CelBool {
    CelBool::from(parse_block(text.inner()).is_ok())
}

fn block_text(block: &Block) -> CelString<'static> {
    CelString::from(format!("{}/{}", block.address, block.prefix))
}

fn contains_ip(block: &Block, address: &Address) -> CelBool {
    CelBool::from(holds(*block, address.0))
}

fn contains_text(block: &Block, text: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    let address = failing("containsIP", parse(text.inner()))?;
    Ok(CelBool::from(holds(*block, address)))
}

fn contains_block(block: &Block, other: &Block) -> CelBool {
    let smaller = other.prefix >= block.prefix;
    CelBool::from(smaller && holds(*block, other.address))
}

fn contains_block_text(block: &Block, text: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    let other = failing("containsCIDR", parse_block(text.inner()))?;
    Ok(contains_block(block, &other))
}

fn holds(block: Block, address: IpAddr) -> bool {
    let same_family = block.address.is_ipv4() == address.is_ipv4();
    same_family && mask(block.address, block.prefix) == mask(address, block.prefix)
}

fn block_ip(block: &Block) -> Address {
    Address(block.address)
}

fn masked(block: &Block) -> Block {
    Block {
        address: mask(block.address, block.prefix),
        prefix: block.prefix,
    }
}

fn prefix_length(block: &Block) -> CelInt {
    CelInt::from(i64::from(block.prefix))
}
