//! The natural logarithm to the last bit of Go's `math.Log` on amd64.
//!
//! Libraries differ in the last bit, and a weight that differs in it can turn a rounded
//! score. The method is that of FreeBSD's `e_log.c`: `x = 2^k (1 + f)`, a polynomial in
//! `f / (2 + f)` for the rest.

/// Half the square root of 2: below it the fraction is doubled.
const SQRT2_HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// `ln 2`, upper and lower part.
const LN2: (f64, f64) = (
    f64::from_bits(0x3fe6_2e42_fee0_0000),
    f64::from_bits(0x3dea_39ef_3579_3c76),
);
/// Coefficients of the polynomial.
const L: [f64; 7] = [
    f64::from_bits(0x3fe5_5555_5555_5593),
    f64::from_bits(0x3fd9_9999_9997_fa04),
    f64::from_bits(0x3fd2_4924_9422_9359),
    f64::from_bits(0x3fcc_71c5_1d8e_78af),
    f64::from_bits(0x3fc7_4664_96cb_03de),
    f64::from_bits(0x3fc3_9a09_d078_c69f),
    f64::from_bits(0x3fc2_f112_df3e_5244),
];
/// Bits of a float's fraction, and the exponent of one in 0.5..1.
const FRACTION: u64 = (1 << 52) - 1;
const HALF_EXPONENT: u64 = 0x3fe;

/// The natural logarithm of a finite number of at least 1. Each step is rounded: nothing
/// may be fused.
pub(super) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut fraction = f64::from_bits((bits & FRACTION) | (HALF_EXPONENT << 52));
    let mut exponent = (bits >> 52) as f64 - HALF_EXPONENT as f64;
    if fraction < SQRT2_HALF {
        exponent -= 1.0;
        fraction *= 2.0;
    }
    let f = fraction - 1.0;
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let odd = s2 * (L[0] + s4 * (L[2] + s4 * (L[4] + s4 * L[6])));
    let even = s4 * (L[1] + s4 * (L[3] + s4 * L[5]));
    let half_square = 0.5 * f * f;
    let low = s * (half_square + (odd + even)) + exponent * LN2.1;
    exponent * LN2.0 - ((half_square - low) - f)
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn its_bits_are_those_of_go() {
        let bits = [
            (2.0, 0x3fe6_2e42_fefa_39ef),
            (3.0, 0x3ff1_93ea_7aad_030a),
            (5.0, 0x3ff9_c041_f7ed_8d33),
            (7.0, 0x3fff_2272_ae32_5a57),
            (12.0, 0x4003_e116_bcd3_9e7d),
            (102.0, 0x4012_7ff8_df87_c7bd),
            (1002.0, 0x401b_a396_5d40_5f5f),
            (5002.0, 0x4021_0901_f6dc_84b9),
        ];
        for (x, bits) in bits {
            assert_eq!(ln(x).to_bits(), bits, "{x}");
        }
        // FNV-1a over the bits of 1..=200,000, as a Go program prints it.
        let mixed = (1..=200_000_u32).fold(0xcbf2_9ce4_8422_2325_u64, |hash, n| {
            (hash ^ ln(f64::from(n)).to_bits()).wrapping_mul(0x100_0000_01b3)
        });
        assert_eq!(mixed, 0xb2c4_aab4_979f_2359);
    }

    #[test]
    fn it_is_the_logarithm() {
        for number in 1..100_000_u32 {
            let x = f64::from(number);
            let difference = (ln(x) - x.ln()).abs();
            assert!(
                difference <= x.ln() * f64::EPSILON,
                "{number}: {difference}"
            );
        }
    }
}
