//! Go's names of Unicode properties, `\p{…}`: general categories, their aliases and scripts, and no other. The sets
//! behind the names come from the tables of `regex-syntax`, which itself knows many more names than Go does.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use super::class;
use crate::go::unicode::{self, Ranges};

/// The code points of the property that Go calls `name`, with case folding applied where `fold` asks for it; `None`
/// for a name that Go does not know.
///
/// Case, spaces, `_` and `-` in a name do not matter, as since Go 1.25. Each set is made once, when it is first asked
/// for: a contract can name properties a hundred thousand times.
pub(super) fn find(name: &str, fold: bool) -> Option<&'static [(u32, u32)]> {
    static PROPERTIES: LazyLock<HashMap<String, Property>> = LazyLock::new(properties);
    let property = PROPERTIES.get(&key_of(name))?;
    let plain = property.plain.get_or_init(|| property.source.ranges());
    Some(if fold && property.folds { property.folded.get_or_init(|| class::folded(plain)) } else { plain })
}

/// What two spellings of one name have in common.
fn key_of(name: &str) -> String {
    name.chars()
        .filter(|character| !matches!(character, '_' | '-' | ' '))
        .map(|character| character.to_ascii_lowercase())
        .collect()
}

/// A property under one of its names.
struct Property {
    source: Source,
    /// Whether Go has further members for it under `(?i)`.
    folds: bool,
    plain: OnceLock<Ranges>,
    folded: OnceLock<Ranges>,
}

/// Where a property's code points come from.
#[derive(Clone, Copy)]
enum Source {
    Any,
    Ascii,
    Assigned,
    Category(&'static str),
    Script(&'static str),
}

impl Source {
    fn ranges(self) -> Ranges {
        // The tables are of scalar values, and the surrogates are none.
        let surrogates = (0xD800, 0xDFFF);
        match self {
            Self::Any => class::ANY.to_vec(),
            Self::Ascii => vec![(0x00, 0x7F)],
            Self::Assigned => class::negated(&unicode::ranges_of(r"\p{gc=Cn}")),
            Self::Category("Cs") => vec![surrogates],
            Self::Category("C") => {
                let mut ranges = unicode::ranges_of(r"\p{gc=C}");
                ranges.push(surrogates);
                class::normalized(ranges)
            }
            Self::Category(short) => unicode::ranges_of(&format!(r"\p{{gc={short}}}")),
            Self::Script(name) => unicode::ranges_of(&format!(r"\p{{sc={name}}}")),
        }
    }
}

/// Every property by the key of each of its names.
fn properties() -> HashMap<String, Property> {
    let special = [("Any", Source::Any), ("ASCII", Source::Ascii), ("Assigned", Source::Assigned)];
    let categories = CATEGORIES
        .iter()
        .flat_map(|(short, long)| [(*short, Source::Category(short)), (*long, Source::Category(short))]);
    let scripts = SCRIPTS.split_ascii_whitespace().map(|name| (name, Source::Script(name)));
    let named = categories.chain(scripts).chain(special);
    named
        .map(|(name, source)| {
            let property =
                Property { source, folds: folds(source), plain: OnceLock::new(), folded: OnceLock::new() };
            (key_of(name), property)
        })
        .collect()
}

/// Whether Go has further members for a property under `(?i)`. It has none for cased letters (LC), so `(?i)\p{LC}` is
/// not folded there; for every other property that is not listed here, folding adds nothing.
fn folds(source: Source) -> bool {
    match source {
        Source::Ascii => true,
        Source::Any | Source::Assigned => false,
        Source::Category(short) => matches!(short, "L" | "Ll" | "Lt" | "Lu" | "M" | "Mn"),
        Source::Script(name) => matches!(name, "Common" | "Greek" | "Inherited"),
    }
}

/// The general categories, each with one further name; those with two stand twice.
const CATEGORIES: &[(&str, &str)] = &[
    ("C", "Other"),
    ("Cc", "Control"),
    ("Cc", "cntrl"),
    ("Cf", "Format"),
    ("Cn", "Unassigned"),
    ("Co", "Private_Use"),
    ("Cs", "Surrogate"),
    ("L", "Letter"),
    ("LC", "Cased_Letter"),
    ("Ll", "Lowercase_Letter"),
    ("Lm", "Modifier_Letter"),
    ("Lo", "Other_Letter"),
    ("Lt", "Titlecase_Letter"),
    ("Lu", "Uppercase_Letter"),
    ("M", "Mark"),
    ("M", "Combining_Mark"),
    ("Mc", "Spacing_Mark"),
    ("Me", "Enclosing_Mark"),
    ("Mn", "Nonspacing_Mark"),
    ("N", "Number"),
    ("Nd", "Decimal_Number"),
    ("Nd", "digit"),
    ("Nl", "Letter_Number"),
    ("No", "Other_Number"),
    ("P", "Punctuation"),
    ("P", "punct"),
    ("Pc", "Connector_Punctuation"),
    ("Pd", "Dash_Punctuation"),
    ("Pe", "Close_Punctuation"),
    ("Pf", "Final_Punctuation"),
    ("Pi", "Initial_Punctuation"),
    ("Po", "Other_Punctuation"),
    ("Ps", "Open_Punctuation"),
    ("S", "Symbol"),
    ("Sc", "Currency_Symbol"),
    ("Sk", "Modifier_Symbol"),
    ("Sm", "Math_Symbol"),
    ("So", "Other_Symbol"),
    ("Z", "Separator"),
    ("Zl", "Line_Separator"),
    ("Zp", "Paragraph_Separator"),
    ("Zs", "Space_Separator"),
];

/// The scripts of Unicode 16 by their long names. Go 1.27 has four more, from Unicode 17.
const SCRIPTS: &str = "\
    Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki \
    Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee \
    Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan \
    Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek Gujarati \
    Gunjala_Gondi Gurmukhi Gurung_Khema Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic \
    Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi \
    Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian \
    Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui \
    Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari \
    New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic \
    Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya \
    Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada \
    Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog \
    Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri \
    Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_has_code_points() {
        for name in SCRIPTS.split_ascii_whitespace() {
            assert!(find(name, false).is_some_and(|ranges| !ranges.is_empty()), "{name}");
        }
        for (short, long) in CATEGORIES {
            assert!(find(short, false).is_some_and(|ranges| !ranges.is_empty()), "{short}");
            assert_eq!(find(short, true), find(long, true), "{short} {long}");
        }
        assert_eq!(SCRIPTS.split_ascii_whitespace().count(), 170);
    }

    #[test]
    fn the_categories_cover_everything_once() {
        let parts: Ranges = ["L", "M", "N", "P", "S", "Z", "C"]
            .iter()
            .flat_map(|name| find(name, false).unwrap_or_default().to_vec())
            .collect();
        let held: u32 = parts.iter().map(|(low, high)| high - low + 1).sum();
        assert_eq!(held, class::MAX_CODE_POINT + 1);
        assert_eq!(class::normalized(parts), class::ANY);
    }

    #[test]
    fn names_match_loosely_but_only_gos_names() {
        for name in [
            "Greek",
            "greek",
            "GREEK",
            " gr-e_ek ",
            "Lu",
            "lu",
            "L U",
            "Uppercase_Letter",
            "uppercase letter",
        ] {
            assert!(find(name, false).is_some(), "{name}");
        }
        for name in
            ["Old_Italic", "olditalic", "OLD-ITALIC", "Signwriting", "any", "ASCII", "Assigned", "lc", "Cn"]
        {
            assert!(find(name, false).is_some(), "{name}");
        }
        let unknown =
            ["", "^", "Grek", "IsGreek", "gc=Lu", "sc=Greek", "Alphabetic", "Emoji", "Unknown", "Zzzz", "é"];
        for name in unknown {
            assert_eq!(find(name, false), None, "{name}");
        }
    }

    #[test]
    fn folding_is_asked_exactly_where_it_adds_something() {
        let names = CATEGORIES.iter().flat_map(|(short, long)| [*short, *long]);
        let properties = properties();
        for name in names.chain(SCRIPTS.split_ascii_whitespace()).chain(["Any", "ASCII", "Assigned"]) {
            let plain = find(name, false).unwrap_or_default();
            let adds = class::folded(plain) != plain;
            let folds = properties[&key_of(name)].folds;
            assert!(adds == folds || matches!(name, "LC" | "Cased_Letter"), "{name}: {adds} {folds}");
        }
    }

    #[test]
    fn surrogates_and_unassigned_belong_to_other() {
        assert_eq!(find("Cs", false), Some(&[(0xD800, 0xDFFF)][..]));
        let other = find("C", false).unwrap_or_default();
        assert!(
            unicode::contains(other, 0xD900)
                && unicode::contains(other, 0x378)
                && unicode::contains(other, 0)
        );
        let assigned = find("Assigned", false).unwrap_or_default();
        assert!(!unicode::contains(assigned, 0x378) && unicode::contains(assigned, 0x41));
    }
}
