use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Quantity {
    text.parse().unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[test]
fn reads_and_writes_as_kubernetes_does() {
    // text, canonical, value, milli
    let rows = [
        ("0", "0", 0, 0),
        ("-0", "0", 0, 0),
        ("0Gi", "0", 0, 0),
        ("M", "0", 0, 0),
        (".", "0", 0, 0),
        ("1", "1", 1, 1_000),
        ("+3", "+3", 3, 3_000),
        (".5", "500m", 1, 500),
        ("5.", "5.", 5, 5_000),
        ("00.5", "500m", 1, 500),
        ("01k", "01k", 1_000, 1_000_000),
        ("1.T", "1.T", 1_000_000_000_000, 1_000_000_000_000_000),
        ("1000M", "1G", 1_000_000_000, 1_000_000_000_000),
        ("1000m", "1", 1, 1_000),
        ("0.1", "100m", 1, 100),
        ("1e3", "1e3", 1_000, 1_000_000),
        ("1E3", "1E3", 1_000, 1_000_000),
        ("12e03", "12e03", 12_000, 12_000_000),
        ("129e6", "129e6", 129_000_000, 129_000_000_000),
        ("1.5E3", "1500", 1_500, 1_500_000),
        ("1e+2", "100", 100, 100_000),
        ("0.5e-3", "500e-6", 1, 1),
        ("1.123456789123e-3", "1123457e-9", 1, 2),
        ("1E", "1E", 1_000_000_000_000_000_000, 1_000_000_000_000_000_000_000),
        ("1Ei", "1Ei", 1 << 60, 1_000 << 60),
        ("3072Mi", "3Gi", 3 << 30, 3_000 << 30),
        ("1.5Gi", "1536Mi", 1_610_612_736, 1_610_612_736_000),
        ("0.5Ki", "512", 512, 512_000),
        ("0.1Ki", "102400m", 103, 102_400),
        ("1.123456789123Gi", "1206302541938113381n", 1_206_302_542, 1_206_302_541_939),
        ("0.0001u", "1n", 1, 1),
        ("1.5n", "2n", 1, 1),
        ("-1", "-1", -1, -1_000),
        ("-0.5", "-500m", -1, -500),
        ("-1u", "-1u", -1, -1),
        ("100Ei", "9223372036854775807", i128::from(i64::MAX), i128::from(i64::MAX) * 1_000),
        (
            "12345678901234567890P",
            "12345678901234567890P",
            12_345_678_901_234_567_890 * 10_i128.pow(15),
            12_345_678_901_234_567_890 * 10_i128.pow(18),
        ),
    ];
    for (text, canonical, value, milli) in rows {
        let quantity = read(text);
        assert_eq!(
            (quantity.canonical().as_str(), quantity.value(), quantity.milli_value()),
            (canonical, value, milli),
            "{text:?}"
        );
        assert_eq!(read(canonical), quantity, "{text:?}: the canonical text has another value");
    }
}

#[test]
fn says_what_was_expected() {
    let rows = [
        ("", QuantityError::NotANumber),
        (" 1", QuantityError::NotANumber),
        ("--1", QuantityError::NotANumber),
        ("1.2.3", QuantityError::NotANumber),
        ("Ei", QuantityError::NotANumber),
        ("NaN", QuantityError::NotANumber),
        ("1e", QuantityError::UnknownSuffix),
        ("1e-7Ti", QuantityError::UnknownSuffix),
        ("1K", QuantityError::UnknownSuffix),
        ("1ki", QuantityError::UnknownSuffix),
        ("1mi", QuantityError::UnknownSuffix),
        ("1m1", QuantityError::UnknownSuffix),
        ("1.5MB", QuantityError::UnknownSuffix),
        ("1GB", QuantityError::UnknownSuffix),
        ("0x10", QuantityError::UnknownSuffix),
        ("1_000", QuantityError::NotANumber),
        ("1e9999999999", QuantityError::OutOfRange),
        ("123456789012345678901234567890123456789", QuantityError::TooManyDigits),
    ];
    for (text, error) in rows {
        assert_eq!(text.parse::<Quantity>().err(), Some(error), "{text:?}");
    }
}

#[test]
fn equal_values_are_equal_however_written() {
    for group in
        [&["1", "1000m", "1.0", "1e0"][..], &["0.1", "100m"], &["3Gi", "3072Mi"], &["1.5Gi", "1536Mi", "1610612736"]]
    {
        for text in group {
            assert_eq!(read(text), read(group[0]), "{text}");
            assert_eq!(read(text).cmp(&read(group[0])), Ordering::Equal, "{text}");
        }
    }
}

#[test]
fn orders_by_value() {
    let ascending = [
        "-1E",
        "-1e30",
        "-5",
        "-1m",
        "-1n",
        "0",
        "1n",
        "999u",
        "1m",
        "1",
        "1k",
        "1Ki",
        "8Ei",
        "1000E",
        "1e99",
        "1e999999999",
    ];
    let mut sorted: Vec<_> = ascending.iter().map(|text| read(text)).collect();
    sorted.sort();
    let mut expected: Vec<_> = ascending.iter().map(|text| read(text)).collect();
    expected.swap(0, 1);
    assert_eq!(sorted, expected);
}

#[test]
fn adds_in_fixed_point() {
    let sum = ["1Ki", "1k", "0.5Gi", "1.5"].iter().try_fold(read("0"), |sum, text| sum.checked_add(&read(text)));
    assert_eq!(sum.map(|sum| sum.canonical()).as_deref(), Some("536872937500m"));
    assert_eq!(read("512Mi").checked_add(&read("0.5Gi")).map(|sum| sum.canonical()).as_deref(), Some("1Gi"));
    assert_eq!(read("1e999999999").checked_add(&read("1")), None);
}

#[test]
fn beyond_int64_kubernetes_is_wrong_and_files_are_refused() {
    // What Value() answers there.
    let rows = [
        ("12345678901234567890P", -5_686_023_380_783_529_984),
        ("12345678901234567890E", -4_426_206_080_988_086_272),
        ("9223372036854775808M", 0),
        ("100E", 0),
        ("9999999999999M", -8_446_744_073_710_551_616),
        ("-1Pi", -2_882_303_760),
        ("-1Ei", 0),
        ("-8Ei", -i64::MAX),
        ("9E", 9_000_000_000_000_000_000),
    ];
    for (text, value) in rows {
        assert_eq!(read(text).int64_value(), value, "{text}");
    }
    assert_eq!(read("100E").in_range(), Err(QuantityError::OutOfRange));
    for capped in ["8Ei", "16Ei", "-8Ei", "99999999999999999999Ki", "9007199254740991.9999Ki"] {
        assert_eq!(read(capped).value().abs(), i128::from(i64::MAX), "{capped}");
        assert_eq!(read(capped).in_range(), Err(QuantityError::OutOfRange), "{capped}: capped by reading");
    }
    for most in ["9223372036854775807", "7Ei", "-7Ei", "9007199254740991.9990234375Ki"] {
        assert!(read(most).in_range().is_ok(), "{most}");
    }
    assert_eq!(read("1e2000000000").value(), i128::MAX);
    assert_eq!(read("-1e2000000000").milli_value(), i128::MIN);
}

#[test]
fn is_read_from_strings_and_numbers() {
    let rows = [
        ("1", "1"),
        ("\"1\"", "1"),
        ("0.1", "100m"),
        ("\" 2Gi \"", "2Gi"),
        ("1e3", "1k"),
        ("-1", "-1"),
        ("1.5", "1500m"),
    ];
    for (json, canonical) in rows {
        let quantity: Quantity = serde_json::from_str(json).unwrap();
        assert_eq!(quantity.canonical(), canonical, "{json}");
        assert_eq!(serde_json::to_string(&quantity).unwrap(), format!("\"{canonical}\""));
    }
    let error = |json: &str| serde_json::from_str::<Quantity>(json).unwrap_err().to_string();
    assert!(error("\"1GB\"").contains("invalid quantity \"1GB\": unknown suffix"), "{}", error("\"1GB\""));
    assert!(error("\"100E\"").contains("2^63-1"));
    assert!(error("true").contains("a quantity like 500m"));
}

#[test]
fn amounts_are_in_the_unit_of_their_resource() {
    // resource, quantity, amount, text
    let rows = [
        ("cpu", "1.5", 1_500, "1500m"),
        ("cpu", "2", 2_000, "2"),
        ("cpu", "1u", 1, "1m"),
        ("requests.cpu", "600", 600_000, "600"),
        ("memory", "1.5Gi", 1_610_612_736, "1536Mi"),
        ("limits.memory", "8Gi", 8 << 30, "8Gi"),
        ("memory", "1e9", 1_000_000_000, "1000000000"),
        ("memory", "100m", 1, "1"),
        ("hugepages-2Mi", "4Mi", 4 << 20, "4Mi"),
        ("pods", "110", 110, "110"),
        ("nvidia.com/gpu", "8", 8, "8"),
        ("nvidia.com/gpu", "2048", 2048, "2048"),
        ("cpu", "1E", i128::from(i64::MAX), "9223372036854775807m"),
    ];
    for (resource, text, expected, written) in rows {
        let counted = amount(resource, &read(text));
        assert_eq!((counted, amount_text(resource, counted).as_str()), (expected, written), "{resource} {text}");
    }
}

/// What is refused is refused of every resource, in the unit that it is counted in.
#[test]
fn what_kubernetes_does_not_count_is_refused() {
    // resource, quantity, amount
    let rows = [
        ("memory", "7Ei", Ok(7 << 60)),
        ("memory", "9223372036854775807", Ok(i128::from(i64::MAX))),
        ("memory", "8Ei", Err(QuantityError::OutOfRange)),
        ("requests.memory", "16Ei", Err(QuantityError::OutOfRange)),
        ("nvidia.com/gpu", "16Ei", Err(QuantityError::OutOfRange)),
        ("pods", "9223372036854775808", Err(QuantityError::OutOfRange)),
        ("cpu", "9223372036854775807m", Ok(i128::from(i64::MAX))),
        ("cpu", "9223372036854775808m", Err(QuantityError::CpuOutOfRange)),
        ("limits.cpu", "1E", Err(QuantityError::CpuOutOfRange)),
        ("cpu", "16Ei", Err(QuantityError::CpuOutOfRange)),
        ("cpu", "-1E", Err(QuantityError::CpuOutOfRange)),
    ];
    for (resource, text, expected) in rows {
        assert_eq!(counted(resource, &read(text)), expected, "{resource} {text}");
    }
    let said = read_counted("cpu", &serde_json::json!("1E")).unwrap_err();
    assert!(said.starts_with("invalid quantity \"1E\": expected at most 2^63-1 thousandths of a CPU"), "{said}");
    let said = read_counted("memory", &serde_json::json!("16Ei")).unwrap_err();
    assert!(said.starts_with("invalid quantity \"16Ei\": expected at most 2^63-1 (9223372036854775807"), "{said}");
}

/// affinity-06: room by amounts; an over-full cluster is short of room by a number, not by a wrapped one.
#[test]
fn amounts_subtract_below_zero() {
    // resource, allocatable, allocated, request, how often it fits
    let rows = [
        ("cpu", "10", "7900m", "250m", 8),
        ("memory", "20Gi", "17Gi", "512Mi", 6),
        ("pods", "110", "107", "1", 3),
        ("pods", "110", "112", "1", -2),
    ];
    for (resource, allocatable, allocated, request, fits) in rows {
        let [allocatable, allocated, request] =
            [allocatable, allocated, request].map(|text| amount(resource, &read(text)));
        assert_eq!((allocatable - allocated) / request, fits, "{resource}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn whatever_is_read_is_written_and_read_again(text in r"[+-]?[0-9]{0,14}(\.[0-9]{0,12})?([numkMGTP]|[KMGTPE]i|[eE][+-]?[0-9])?") {
        if let Ok(quantity) = text.parse::<Quantity>() {
            let again = read(&quantity.canonical());
            prop_assert_eq!(&again, &quantity);
            prop_assert_eq!(again.canonical(), quantity.canonical());
            // Rounding goes away from zero, by less than one.
            let (value, milli) = (quantity.value(), quantity.milli_value());
            prop_assert!(value.abs() * 1000 >= milli.abs() && (value.abs() - 1) * 1000 < milli.abs());
        }
    }

    #[test]
    fn no_text_breaks_the_reader(text in ".{0,40}") {
        let _ = text.parse::<Quantity>();
    }

    #[test]
    fn the_order_is_that_of_the_numbers(a in -5_000_000_i64..5_000_000, b in -5_000_000_i64..5_000_000) {
        let [in_milli, in_nano] = [format!("{a}m").parse::<Quantity>().unwrap(), format!("{b}n").parse::<Quantity>().unwrap()];
        prop_assert_eq!(in_milli.cmp(&in_nano), (i128::from(a) * 1_000_000).cmp(&i128::from(b)));
        prop_assert_eq!(in_milli == in_nano, i128::from(a) * 1_000_000 == i128::from(b));
    }
}
