//! Amounts as people read them, in one form everywhere: CPU in cores, bytes in Gi, or where they are less in the
//! largest of Mi and Ki that they fill, both with at most three decimals; all else as a number.
//!
//! Invariants: what is shown is a quantity that Kubernetes takes; digits that are left out are cut off, so that nothing looks
//! larger than it is. Where it has to be enough, [`amount_at_least`] rounds up. Two amounts that differ and are compared in
//! one sentence differ in their texts as well: [`plain_pair`].
//! What is written into files is [`super::amount_text`], which is exact.

use super::{Family, base_resource};

/// Decimals of an amount.
const DECIMALS: u32 = 3;
/// Decimals beyond which two amounts are no longer told apart.
const MOST_DECIMALS: u32 = 12;

/// Units of bytes, largest first. None above Gi: what a node has and what a cluster has are read side by side.
const BYTES: [(&str, i128); 3] = [("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];

#[derive(Clone, Copy)]
enum Rounding {
    Down,
    Up,
}

/// An amount for people, in the unit in which the resource is booked (CPU: thousandths of a core).
#[must_use]
pub fn plain_amount(resource: &str, amount: i128) -> String {
    text(resource, amount, DECIMALS, Rounding::Down)
}

/// The same, never less than the amount: for what has to be enough.
#[must_use]
pub fn amount_at_least(resource: &str, amount: i128) -> String {
    text(resource, amount, DECIMALS, Rounding::Up)
}

/// Two amounts of one resource that are compared: with as many decimals as tell them apart.
#[must_use]
pub fn plain_pair(resource: &str, a: i128, b: i128) -> (String, String) {
    let pair = |decimals| (text(resource, a, decimals, Rounding::Down), text(resource, b, decimals, Rounding::Down));
    let tells = |decimals: &u32| {
        let (a, b) = pair(*decimals);
        a != b
    };
    pair((DECIMALS..=MOST_DECIMALS).find(tells).filter(|_| a != b).unwrap_or(DECIMALS))
}

fn text(resource: &str, amount: i128, decimals: u32, rounding: Rounding) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    let magnitude = i128::try_from(amount.unsigned_abs()).unwrap_or(i128::MAX);
    let (suffix, unit) = match family(resource) {
        Some(Family::DecimalSi) => ("", 1000),
        Some(Family::BinarySi) => BYTES.into_iter().find(|(_, unit)| magnitude >= *unit).unwrap_or(("", 1)),
        Some(Family::DecimalExponent) | None => ("", 1),
    };
    let scale = 10_i128.pow(decimals);
    let (whole, rest) = (magnitude / unit, (magnitude % unit).saturating_mul(scale));
    let up = match rounding {
        Rounding::Down => false,
        // away from zero would make a negative amount less than it is
        Rounding::Up => amount > 0 && rest % unit != 0,
    };
    let fraction = rest / unit + i128::from(up);
    let (whole, fraction) = (whole.saturating_add(fraction / scale), fraction % scale);
    let fraction = format!("{fraction:0>width$}", width = decimals as usize);
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{whole}{suffix}"),
        fraction => format!("{sign}{whole}.{fraction}{suffix}"),
    }
}

/// How amounts of a resource are written; none for plain numbers. The last part of a quota's name is what it limits.
fn family(resource: &str) -> Option<Family> {
    let of_quota = resource.rsplit('.').next().filter(|last| matches!(*last, "cpu" | "memory" | "storage"));
    match of_quota.unwrap_or_else(|| base_resource(resource)) {
        "cpu" => Some(Family::DecimalSi),
        "memory" | "storage" | "ephemeral-storage" => Some(Family::BinarySi),
        name if name.starts_with("hugepages-") => Some(Family::BinarySi),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GI: i128 = 1 << 30;

    #[test]
    fn one_form_for_each_resource() {
        for (resource, amount, expected) in [
            ("cpu", 500, "0.5"),
            ("requests.cpu", -1250, "-1.25"),
            ("cpu", 12_000, "12"),
            ("memory", 0, "0"),
            ("memory", 512, "512"),
            ("memory", 1536, "1.5Ki"),
            ("memory", GI, "1Gi"),
            ("memory", 1536 << 20, "1.5Gi"),
            ("limits.memory", 512 << 20, "512Mi"),
            // a node's memory as the kubelet tells it
            ("memory", 16_267_896 << 10, "15.514Gi"),
            ("memory", 40 << 40, "40960Gi"),
            ("memory", 1100 * GI, "1100Gi"),
            ("memory", -3 * GI, "-3Gi"),
            ("requests.storage", 10 * GI, "10Gi"),
            ("gold.storageclass.storage.k8s.io/requests.storage", 10 * GI, "10Gi"),
            ("hugepages-2Mi", 4 << 20, "4Mi"),
            ("nvidia.com/gpu", 8, "8"),
            ("pods", 110, "110"),
        ] {
            assert_eq!(plain_amount(resource, amount), expected, "{resource} {amount}");
        }
        assert!(plain_amount("memory", i128::MAX).ends_with("Gi"));
    }

    #[test]
    fn enough_is_never_less() {
        for (amount, expected) in [
            (GI, "1Gi"),
            (GI + 1, "1.001Gi"),
            (2 * GI - 1, "2Gi"),
            (-GI - 1, "-1Gi"),
            (1023, "1023"),
            (1025, "1.001Ki"),
        ] {
            assert_eq!(amount_at_least("memory", amount), expected, "{amount}");
        }
    }

    #[test]
    fn what_is_compared_differs_where_it_does() {
        let of = |a, b| plain_pair("memory", a, b);
        assert_eq!(of(8 * GI, 8 * GI), ("8Gi".to_owned(), "8Gi".to_owned()));
        assert_eq!(of(8 * GI, 8 * GI - (1 << 20)), ("8Gi".to_owned(), "7.999Gi".to_owned()));
        assert_eq!(of(8 * GI + 1, 8 * GI), ("8.0000000009Gi".to_owned(), "8Gi".to_owned()));
        assert_eq!(plain_pair("cpu", 1000, 999), ("1".to_owned(), "0.999".to_owned()));
    }
}
