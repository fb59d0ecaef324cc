//! Text files as other programs write them.

use ramie_data::readers::jsonl::JsonLines;
use ramie_data::readers::text::Lines;
use ramie_data::readers::{csv, text};
use ramie_data::{Result, Source, Stream};
use serde::Deserialize;
use std::fs;

/// The message of an error without the path of the file.
fn said<T>(result: Result<T>) -> String {
    let message = result.err().expect("an error").to_string();
    let (_, rest) = message.split_once("t.txt").expect("the name of the file");
    rest.to_string()
}

/// huggingface/datasets#8241: programs on Windows begin text files with a byte order mark.
#[test]
fn a_byte_order_mark_is_no_text() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Row {
        a: i32,
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.txt");
    let written = |bytes: &[u8]| fs::write(&path, bytes).unwrap();
    let headless = csv::Options {
        header: false,
        ..csv::Options::default()
    };
    for mark in ["", "\u{feff}"] {
        written(format!("{mark}{{\"a\": 1}}\r\n\r\n{{\"a\": 2}}").as_bytes());
        let rows: JsonLines<Row> = JsonLines::open(&path).unwrap();
        let rows: Vec<Row> = rows.iter().collect::<Result<_>>().unwrap();
        assert_eq!(rows, [Row { a: 1 }, Row { a: 2 }]);

        written(format!("{mark}one\n\u{feff}two").as_bytes());
        let lines: Vec<String> = Lines::open(&path)
            .unwrap()
            .iter()
            .collect::<Result<_>>()
            .unwrap();
        assert_eq!(lines, ["one", "\u{feff}two"]);
        assert_eq!(text::load(&path).unwrap(), "one\n\u{feff}two");

        written(format!("{mark}a,b\n1,2\n").as_bytes());
        let table = csv::load(&path, &csv::Options::default()).unwrap();
        assert_eq!((table.names()[0].as_str(), table.len()), ("a", 1));
        assert_eq!(
            csv::load(&path, &headless).unwrap().get(0).unwrap(),
            ["a", "b"]
        );
        let mut rows = csv::stream(&path, &headless);
        assert_eq!(rows.next().unwrap().unwrap(), ["a", "b"]);
        written(mark.as_bytes());
        assert_eq!(Lines::open(&path).unwrap().len(), 0);
        assert_eq!(text::load(&path).unwrap(), "");
        assert_eq!(csv::load(&path, &headless).unwrap().len(), 0);
    }
    for utf16 in [
        b"\xff\xfea\0,\0b\0\n\0".as_slice(),
        b"\xfe\xff\0a\0,\0b\0\n",
    ] {
        written(utf16);
        let messages = [
            said(JsonLines::<Row>::open(&path)),
            said(Lines::open(&path)),
            said(text::load(&path)),
            said(csv::load(&path, &headless)),
            said(csv::stream(&path, &headless).next().unwrap()),
        ];
        for message in messages {
            assert_eq!(
                message,
                ": begins with the byte order mark of UTF-16, expected UTF-8\n  help: convert the file, for \
                 example with `iconv -f UTF-16 -t UTF-8`"
            );
        }
    }
}

fn table(text: &str) -> Result<csv::Table> {
    csv::parse("t.txt", text.as_bytes(), &csv::Options::default())
}

/// BurntSushi/rust-csv#159, medialab/xan#887: an empty line of a table of one column was skipped, so that
/// its rows no longer belonged to those of other files.
#[test]
fn an_empty_line_of_one_column_is_not_skipped() {
    for text in ["name\nAnna\n\nBen\n", "name\r\nAnna\r\n\r\nBen\r\n"] {
        let message = said(table(text));
        assert!(
            message.starts_with(", row 3: the line is empty"),
            "{message}"
        );
    }
    let quoted = table("name\nAnna\n\"\"\n\"two\nlines\"\nBen").unwrap();
    assert_eq!(
        quoted.texts("name").unwrap(),
        ["Anna", "", "two\nlines", "Ben"]
    );
    // In a table of several columns it has no fields.
    let two = table("a,b\n1,2\n\n3,4\n").unwrap();
    assert_eq!(two.column::<i32>("b").unwrap().to_vec(), [2, 4]);
}

/// mholt/PapaParse#129, pandas-dev/pandas#9424: the second of two columns of one name could not be read.
#[test]
fn two_columns_of_one_name_are_refused() {
    let message = said(table("id,score,score\n1,0.5,70\n"));
    assert!(
        message.contains("two columns are named \"score\""),
        "{message}"
    );
}

#[test]
fn class_names_are_trimmed_like_numbers() {
    let parsed = table("a,kind\n1,cat\n2, cat\n3,dog \n").unwrap();
    let (labels, names) = parsed.classes("kind").unwrap();
    assert_eq!(
        (labels.to_vec(), &names[..]),
        (vec![0, 0, 1], &["cat".into(), "dog".into()][..])
    );
    assert_eq!(parsed.codes("kind", &names).unwrap().to_vec(), [0, 0, 1]);
}
