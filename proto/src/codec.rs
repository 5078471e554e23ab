//! The codec that the generated client and server speak through: prost's, with buffers of the
//! size of our messages instead of eight kibibytes, of which each stream would hold two.

use std::fmt;
use std::marker::PhantomData;

use prost::Message;
use tonic::codec::{BufferSettings, Codec};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};

/// Bytes that a buffer begins with: more than most messages have; it grows where one has more.
const BUFFER_BYTES: usize = 256;
/// Bytes of messages that go to the transport in one piece.
const YIELD_BYTES: usize = 512;

/// Encodes `T` and decodes `U`.
pub struct SmallCodec<T, U>(PhantomData<fn() -> (T, U)>);

impl<T, U> Default for SmallCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> fmt::Debug for SmallCodec<T, U> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SmallCodec").finish()
    }
}

impl<T, U> Codec for SmallCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = ProstDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstCodec::<T, U>::raw_encoder(BufferSettings::new(BUFFER_BYTES, YIELD_BYTES))
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstCodec::<T, U>::raw_decoder(BufferSettings::new(BUFFER_BYTES, YIELD_BYTES))
    }
}
