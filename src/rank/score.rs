/// One signal's scores, by the number of the file in the pool; 0 says nothing.
pub(super) type Scores = Vec<f64>;

/// log2(1 + x) for x >= 0, by arithmetic that every machine rounds alike: the exponent exactly,
/// the fraction by a line between powers of two.
pub(super) fn log2_1p(x: f64) -> f64 {
    let mut value = 1.0 + x;
    let mut whole = 0.0;
    while value >= 2.0 {
        value *= 0.5;
        whole += 1.0;
    }
    whole + (value - 1.0)
}

/// 2^-x for x >= 0, in the same way.
pub(super) fn exp2_minus(x: f64) -> f64 {
    let mut left = x.min(60.0);
    let mut value = 1.0;
    while left >= 1.0 {
        value *= 0.5;
        left -= 1.0;
    }
    value * (1.0 - left * 0.5)
}

#[cfg(test)]
mod tests {
    use super::{exp2_minus, log2_1p};

    #[test]
    fn powers_of_two_are_exact_and_between_them_it_rises() {
        let bits = |values: [f64; 3]| values.map(f64::to_bits);
        assert_eq!(bits([0.0, 1.0, 7.0].map(log2_1p)), bits([0.0, 1.0, 3.0]));
        assert!(log2_1p(4.0) > 2.0 && log2_1p(4.0) < 3.0);
        assert_eq!(
            bits([0.0, 1.0, 3.0].map(exp2_minus)),
            bits([1.0, 0.5, 0.125])
        );
        assert!(exp2_minus(1.5) < 0.5 && exp2_minus(1.5) > 0.25);
        assert!(exp2_minus(1e300) >= 0.0);
    }
}
