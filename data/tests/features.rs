//! Files that are read with features: images, Parquet and Arrow, tokenizers.

#![cfg(any(feature = "images", feature = "parquet", feature = "tokenizers"))]

mod common;

/// The message of an error, which begins with the file's name.
#[allow(dead_code)]
#[track_caller]
fn said<T>(result: ramie_data::Result<T>, name: &str) -> String {
    let message = result.err().expect("a damaged file").to_string();
    let (before, rest) = message.split_once(name).expect("the name of the file");
    assert!(before.is_empty() || before.ends_with('/'), "{message}");
    rest.to_string()
}

/// Two classes, each with two images and another file.
#[cfg(feature = "images")]
fn image_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let [png, jpeg] = common::images().try_into().unwrap();
    for class in ["dog", "cat"] {
        let class = folder.path().join(class);
        std::fs::create_dir(&class).unwrap();
        std::fs::write(class.join("b.jpg"), &jpeg).unwrap();
        std::fs::write(class.join("a.PNG"), &png).unwrap();
        std::fs::write(class.join("notes.txt"), "no image").unwrap();
    }
    folder
}

#[cfg(feature = "images")]
#[test]
fn folders_of_images() {
    use ramie_data::readers::images::{ImageFolder, decode};
    use ramie_data::{Augment, DataLoader, Source, SourceExt};

    let folder = image_folder();
    let images = ImageFolder::open(folder.path()).unwrap();
    assert_eq!(
        (images.classes(), images.len()),
        (&["cat".to_string(), "dog".into()][..], 4)
    );
    let (image, label) = images.get(2).unwrap();
    assert_eq!((image.dim(), label), ((2, 3, 3), 1));
    assert_eq!(
        image.iter().copied().take(6).collect::<Vec<_>>(),
        [0, 0, 30, 10, 0, 30]
    );
    let (photo, _) = images.get(3).unwrap();
    let near = photo.iter().zip(&image).all(|(a, b)| a.abs_diff(*b) < 24);
    assert!(near, "{photo:?}");
    let augment = Augment::new().random_crop(2, 2, 1).random_flip(0.5);
    let source = images.seed(0).apply(augment);
    let loader = DataLoader::new(source).batch_size(4).workers(2);
    let (x, y) = loader.iter().next().unwrap().unwrap();
    assert_eq!((x.dim(), y.to_vec()), ((4, 2, 2, 3), vec![0, 0, 1, 1]));

    let png = common::images().swap_remove(0);
    let half = decode("half.png", &png[..png.len() / 2]);
    assert!(said(half, "half.png").starts_with(": cannot be decoded as an image: "));
    assert!(
        said(decode("x.png", b"none"), "x.png").starts_with(": cannot be decoded as an image: ")
    );
    // A picture of a million by a million pixels, it says.
    let mut huge = png;
    huge[16..24].copy_from_slice(&[0, 15, 66, 64, 0, 15, 66, 64]);
    assert!(decode("huge.png", &huge).is_err());
    let help = "pass a directory that has one directory of .png or .jpg files per class";
    let none = folder.path().join("none");
    assert_eq!(
        said(ImageFolder::open(&none), "none"),
        format!(": is not a directory\n  help: {help}")
    );
    std::fs::create_dir(&none).unwrap();
    assert_eq!(
        said(ImageFolder::open(&none), "none"),
        format!(": has no images\n  help: {help}")
    );
    // Fewer classes than in training keep their numbers.
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join("dog")).unwrap();
    std::fs::write(other.path().join("dog/a.png"), &common::images()[0]).unwrap();
    let label = |folder: ImageFolder| folder.get(0).unwrap().1;
    assert_eq!(label(ImageFolder::open(other.path()).unwrap()), 0);
    let known = ImageFolder::open_with(other.path(), &["cat", "dog"]).unwrap();
    assert_eq!(known.classes(), ["cat", "dog"]);
    assert_eq!(label(known), 1);
    assert_eq!(
        said(ImageFolder::open_with(other.path(), &["cat", "cow"]), "dog"),
        ": is not among the known classes cat, cow\n  help: rename or remove the directory, or train with data \
         that contains this class"
    );
    assert_eq!(
        said(ImageFolder::open(folder.path()), "none"),
        ": has no .png or .jpg files\n  help: add images of this class, or remove the directory"
    );
    // Formats that torchvision reads are not skipped silently.
    std::fs::write(other.path().join("dog/b.webp"), "RIFF").unwrap();
    assert_eq!(
        said(ImageFolder::open(other.path()), "dog/b.webp"),
        ": is an image of a format that is not supported\n  help: convert it to PNG or JPEG, or remove it"
    );
}

#[cfg(feature = "images")]
#[test]
fn loaders_of_images_resume() {
    use ramie_data::readers::images::ImageFolder;
    use ramie_data::{Augment, DataLoader, Result, SourceExt, testing};

    let folder = image_folder();
    let loader = |workers| {
        let images = ImageFolder::open(folder.path()).unwrap();
        let augment = Augment::new().random_crop(2, 2, 1).random_flip(0.5);
        let loader = DataLoader::new(images.seed(0).apply(augment)).batch_size(3);
        loader.shuffle(1).epochs(2).workers(workers)
    };
    let batches: Vec<_> = loader(0).iter().collect();
    assert_eq!(loader(2).iter().collect::<Vec<_>>(), batches);
    for workers in [0, 2] {
        let count = testing::assert_equal_output_after_checkpoint(&loader(workers), 4);
        assert_eq!(count, 4);
    }
    std::fs::write(folder.path().join("dog/a.PNG"), "damaged").unwrap();
    let errors: Vec<_> = loader(2).epoch(0).filter_map(Result::err).collect();
    let [error] = &errors[..] else {
        panic!("{errors:?}");
    };
    let message = error.to_string();
    assert!(message.starts_with("element 2: "), "{message}");
    assert!(
        message.contains("dog/a.PNG: cannot be decoded as an image: "),
        "{message}"
    );
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_and_arrow_tables() {
    use ndarray::array;
    use ramie_data::readers::parquet;
    use ramie_data::{Source, Stream};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.table");
    for bytes in common::parquet_and_arrow() {
        std::fs::write(&path, &bytes).unwrap();
        let table = parquet::load(&path).unwrap();
        assert_eq!(
            table.names().collect::<Vec<_>>(),
            ["id", "odd", "name", "note", "pair", "list"]
        );
        assert_eq!(table.rows(), 6);
        assert_eq!(
            table.column("id").unwrap().to_vec::<i64>().unwrap(),
            [0, 1, 2, 3, 4, 5]
        );
        assert_eq!(
            table.column("odd").unwrap().to_vec::<bool>().unwrap()[..2],
            [false, true]
        );
        assert_eq!(table.texts("name").unwrap()[5], "name 5");
        let pairs = table.column("pair").unwrap().to_ndarray::<f32>().unwrap();
        assert_eq!((pairs.shape(), pairs[[4, 0]]), (&[6, 2][..], 4.0));
        let lists = table.source("list").unwrap();
        assert_eq!(lists.get(3).unwrap().to_vec::<u8>().unwrap(), [3, 3, 3]);
        assert_eq!(
            lists
                .get_batch(&[5, 0], 0)
                .unwrap()
                .to_ndarray::<u8>()
                .unwrap(),
            array![[5, 5, 5], [0, 0, 0]].into_dyn()
        );
        assert_eq!(
            said(table.texts("note"), "t.table"),
            ", record 5: column \"note\" is null\n  help: replace null values before writing the file"
        );
        assert!(
            said(table.column("name"), "t.table").contains(
                "column \"name\" has the type Utf8, expected numbers\n  help: use `texts`"
            )
        );
        assert!(
            said(table.texts("id"), "t.table").contains(
                "column \"id\" has the type Int64, expected strings\n  help: use `column`"
            )
        );
        assert_eq!(
            said(table.column("none"), "t.table"),
            ": has no column \"none\"; its columns are note, id, odd, name, pair, list\n  help: use one of \
             these names"
        );
        let mut tables = parquet::stream(&path);
        let rows: usize = tables.iter().map(|t| t.unwrap().rows()).sum();
        assert_eq!(rows, 6);
        std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        let message = said(parquet::load(&path), "t.table");
        assert!(message.starts_with(": is not a"), "{message}");
        assert!(said(parquet::stream(&path).next().unwrap(), "t.table").starts_with(": is not a"));
    }
    std::fs::remove_file(&path).unwrap();
    assert!(said(parquet::load(&path), "t.table").starts_with(": cannot be read: "));
}

#[cfg(feature = "tokenizers")]
#[test]
fn tokenizers_of_hugging_face() {
    use ramie_data::readers::tokenizers::Tokenizer;

    let tokenizer = Tokenizer::parse("t", common::TOKENIZER.as_bytes()).unwrap();
    assert_eq!(tokenizer.len(), 3);
    assert_eq!(tokenizer.encode("Hello brave world").unwrap(), [1, 0, 2]);
    assert_eq!(tokenizer.decode(&[1, 2]).unwrap(), "hello world");
    let e = tokenizer.decode(&[1, 3]).unwrap_err().to_string();
    assert_eq!(
        e,
        "token 1 is 3, expected less than 3\n  help: pass tokens of this tokenizer, or of a model with its \
         vocabulary"
    );
    let damaged = common::TOKENIZER.replace("WordLevel", "WordLvl");
    let message = said(
        Tokenizer::parse("tokenizer.json", damaged.as_bytes()),
        "tokenizer.json",
    );
    assert!(message.starts_with(": is not a tokenizer: "), "{message}");
    assert!(message.ends_with(ramie_core::files::DAMAGED), "{message}");
    let padding = r#""padding":{"strategy":{"Fixed":4},"direction":"Right","pad_id":0,"pad_type_id":0,
        "pad_token":"[UNK]"}"#;
    let pads = common::TOKENIZER.replace(r#""padding":null"#, padding);
    let tokenizer = Tokenizer::parse("t", pads.as_bytes()).unwrap();
    assert_eq!(tokenizer.encode("hello").unwrap(), [1]);
}

#[cfg(feature = "tokenizers")]
#[test]
fn tokenizers_that_fail_name_a_remedy() {
    use ramie_data::readers::tokenizers::Tokenizer;

    let help = "\n  help: use the unmodified `tokenizer.json` of the model; its vocabulary must contain the \
                unknown token, and its truncation must have a stride less than the maximum length";
    let without_unknown =
        common::TOKENIZER.replace(r#""unk_token":"[UNK]""#, r#""unk_token":"[NONE]""#);
    // The ends of the text take two of four tokens.
    let ends = r#""post_processor":{"type":"BertProcessing","sep":["[UNK]",0],"cls":["[UNK]",0]}"#;
    let truncation =
        r#""truncation":{"direction":"Right","max_length":4,"strategy":"LongestFirst","stride":2}"#;
    let with_stride = common::TOKENIZER
        .replace(r#""post_processor":null"#, ends)
        .replace(r#""truncation":null"#, truncation);
    for (file, problem) in [
        (
            without_unknown,
            "WordLevel error: Missing [UNK] token from the vocabulary",
        ),
        (
            with_stride,
            "`stride` must be strictly less than `max_len=2` (note that `max_len` may be shorter than the max \
             length of the original model, as it subtracts the number of special characters",
        ),
    ] {
        let tokenizer = Tokenizer::parse("t", file.as_bytes()).unwrap();
        assert!(tokenizer.encode("hello").is_ok());
        let error = tokenizer.encode("hello brave world").unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot tokenize the text: {problem}{help}")
        );
    }
}

/// Rows of text that the workers of a loader tokenize.
#[cfg(all(feature = "parquet", feature = "tokenizers"))]
mod tokenizing {
    use ::parquet::arrow::ArrowWriter;
    use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
    use ndarray::{Array1, Array2, array};
    use ramie_data::readers::{jsonl::JsonLines, parquet, tokenizers::Tokenizer};
    use ramie_data::{DataLoader, IntoSource, Masked, Result, Source, SourceExt, collate, testing};
    use std::path::Path;
    use std::sync::Arc;
    use std::thread;

    type TokenBatch = (Array2<bool>, Array2<i32>, Array1<i32>);

    /// The rows of a JSON Lines file and of a Parquet file.
    const ROWS: [(&str, i32); 5] = [
        ("Hello world", 10),
        ("hello", 11),
        ("", 12),
        ("world hello world world", 13),
        ("Hello hello world", 14),
    ];

    fn rows_as_json_lines(path: &Path) {
        let line = |(text, label)| format!("{{\"text\": {text:?}, \"label\": {label}}}\n");
        std::fs::write(path, ROWS.map(line).concat()).unwrap();
    }

    fn rows_as_parquet(path: &Path) {
        let (texts, labels): (Vec<&str>, Vec<i32>) = ROWS.into_iter().unzip();
        let columns: [(&str, ArrayRef); 2] = [
            ("text", Arc::new(StringArray::from(texts))),
            ("label", Arc::new(Int32Array::from(labels))),
        ];
        let rows = RecordBatch::try_from_iter(columns).unwrap();
        let file = std::fs::File::create(path).unwrap();
        let mut writer = ArrowWriter::try_new(file, rows.schema(), None).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
    }

    /// A loader of tokens, their mask and labels, which checks that its workers tokenize.
    fn loader(
        rows: impl Source<Item = (String, i32)> + 'static,
        workers: usize,
    ) -> DataLoader<Masked<TokenBatch>> {
        let tokenizer = Tokenizer::parse("t", crate::common::TOKENIZER.as_bytes()).unwrap();
        let here = thread::current().id();
        let tokens = rows.try_map(move |(text, label)| {
            assert_eq!(thread::current().id() == here, workers == 0);
            Ok((tokenizer.encode(&text)?, label))
        });
        let pad = collate::padded(&[4], 0);
        let batch = move |items: Vec<(Vec<i32>, i32)>| {
            let (tokens, labels): (Vec<_>, Vec<_>) = items.into_iter().unzip();
            let tokens = pad(tokens)?;
            Ok((tokens.mask(), tokens.values, labels.into()))
        };
        let loader = DataLoader::with_collate(tokens, batch).batch_size(2);
        loader.masked().epochs(2).workers(workers)
    }

    #[test]
    fn workers_tokenize_rows_of_json_lines_and_parquet() {
        #[derive(serde::Deserialize)]
        struct Row {
            text: String,
            label: i32,
        }
        let folder = tempfile::tempdir().unwrap();
        let [lines, table] = ["rows.jsonl", "rows.parquet"].map(|name| folder.path().join(name));
        rows_as_json_lines(&lines);
        rows_as_parquet(&table);
        let from_lines = |workers| {
            let rows: JsonLines<Row> = JsonLines::open(&lines).unwrap();
            loader(rows.map(|row| (row.text, row.label)), workers)
        };
        let from_table = |workers| {
            let table = parquet::load(&table).unwrap();
            let labels = table.column("label").unwrap().to_vec::<i32>().unwrap();
            let rows = (table.texts("text").unwrap(), labels).into_source();
            loader(rows, workers)
        };
        let batches: Vec<_> = from_lines(0).iter().collect::<Result<_>>().unwrap();
        let (mask, tokens, labels) = &batches[0].batch;
        assert_eq!(tokens, array![[1, 2, 0, 0], [1, 0, 0, 0]]);
        assert_eq!(
            mask.map(|m| i32::from(*m)),
            array![[1, 1, 0, 0], [1, 0, 0, 0]]
        );
        assert_eq!(labels, array![10, 11]);
        assert_eq!(batches[2].mask, array![true, false]);
        assert!(batches.iter().all(|b| b.batch.1.dim() == (2, 4)));
        let shuffled: Vec<_> = from_lines(0).shuffle(7).iter().collect();
        for workers in [0, 2] {
            for loader in [from_lines(workers), from_table(workers)] {
                let loader = loader.shuffle(7);
                assert_eq!(loader.iter().collect::<Vec<_>>(), shuffled);
                let count = testing::assert_equal_output_after_checkpoint(&loader, 6);
                assert_eq!(count, 6);
            }
        }
        assert!(shuffled.iter().all(Result::is_ok));
    }
}
