//! Pictures, by the properties of their pixels and of their SVG.

use ndarray::{Array2, Array3, Array4, s};
use ramie_core::{Array, DType};
use ramie_plot::{Color, Colormap, Drawing, Error, HeatMap, Images, Legend, Plot, write_image};
use ramie_testing::panic_message;
use std::path::Path;

fn decoded(path: &Path) -> (png::OutputInfo, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("the picture"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG file");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    pixels.truncate(info.buffer_size());
    (info, pixels)
}

/// The positions of pixels with this color, as `(row, column)`.
fn places(rgb: &Array3<u8>, color: Color) -> Vec<(usize, usize)> {
    let width = rgb.dim().1;
    let pixels = rgb.as_slice().expect("rows").chunks_exact(3).enumerate();
    let equal = pixels.filter(|(_, p)| **p == [color.red, color.green, color.blue]);
    equal.map(|(i, _)| (i / width, i % width)).collect()
}

/// The number of dark pixels of a part.
fn ink(rgb: &Array3<u8>, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> usize {
    let part = rgb.slice(s![rows, columns, 0]);
    part.iter().filter(|value| **value < 128).count()
}

/// The polylines of a color in an SVG, as their numbers of points.
fn lines(svg: &str, color: &str) -> Vec<usize> {
    let lines = svg.lines().filter(|l| l.starts_with("<polyline"));
    let colored = lines.filter(|l| l.contains(&format!("stroke=\"{color}\"")));
    let count = |line: &str| {
        let (_, points) = line.split_once("points=\"").expect("points");
        let (points, _) = points.split_once('"').expect("the end of the points");
        points.split(' ').count()
    };
    colored.map(count).collect()
}

const BLUE: &str = "#1f77b4";

#[test]
fn a_plot_has_its_title_labels_and_series_where_they_belong() {
    let plot = Plot::new()
        .title("The title")
        .x_label("step")
        .y_label("loss")
        .line("train loss", [(0, 1.0), (10, 0.0)])
        .dots("test loss", [(5, 0.9)])
        .legend(Legend::LowerLeft);
    let rgb = plot.drawing().to_rgb();
    assert_eq!(rgb.dim(), (480, 800, 3));
    assert!(ink(&rgb, 10..32, 350..480) > 100, "the title is at the top");
    assert!(
        ink(&rgb, 460..478, 380..450) > 30,
        "the x label is at the bottom"
    );
    assert!(
        ink(&rgb, 200..260, 5..22) > 30,
        "the y label is at the left"
    );
    assert_eq!(ink(&rgb, 0..480, 0..5), 0, "nothing reaches the edge");
    let blue = places(&rgb, Color::BLUE);
    let (first, last) = (blue.first().expect("a line"), blue.last().expect("a line"));
    assert!(first.1 < last.1, "the line falls to the right");
    let orange = places(&rgb, Color::ORANGE);
    assert!(orange.len() > 20 && orange.iter().any(|(y, _)| *y < 150));
    let svg = plot.drawing().to_svg();
    for text in [
        "The title",
        "step",
        "loss",
        "train loss",
        "test loss",
        "0.6",
    ] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
}

#[test]
fn points_without_a_position_interrupt_a_line() {
    let values = [1.0, 2.0, f32::NAN, 3.0, 4.0, 5.0, f32::INFINITY, 6.0];
    let svg = Plot::new().line("", values).drawing().to_svg();
    assert_eq!(lines(&svg, BLUE), [2, 3]);
    assert_eq!(svg.matches("<circle").count(), 1, "the last point is a dot");
    let svg = Plot::new().log_y().line("", [1.0, 0.1, 0.0, 0.01, -1.0]);
    assert_eq!(lines(&svg.drawing().to_svg(), BLUE), [2]);
}

#[test]
fn data_that_cannot_be_drawn_give_a_picture_that_says_so() {
    let nothing: [f64; 0] = [];
    let svg = |plot: Plot| plot.drawing().to_svg();
    assert!(svg(Plot::new()).contains("no data"));
    assert!(svg(Plot::new().line("empty", nothing)).contains("no data"));
    assert!(svg(Plot::new().bars("", [f64::NAN])).contains("no data"));
    let negative = svg(Plot::new().log_y().line("", [-1.0, 0.0]));
    assert!(negative.contains("no positive values"), "{negative}");
    for values in [
        [5.0; 3],
        [0.0; 3],
        [-1e-30; 3],
        [1e300; 3],
        [-1e308, 1e308, 0.0],
    ] {
        for plot in [
            Plot::new().line("", values),
            Plot::new().log_y().bars("", values),
        ] {
            let rgb = plot.drawing().to_rgb();
            assert_eq!(rgb.dim(), (480, 800, 3), "{values:?}");
        }
    }
    let one = Plot::new().line("", [7]).drawing().to_rgb();
    assert!(
        places(&one, Color::BLUE).len() > 10,
        "a single point is a dot"
    );
}

#[test]
fn bars_stand_on_zero_and_share_their_place() {
    let plot = Plot::new()
        .bars("a", [3, 1])
        .bars("b", [2, 2])
        .x_names(["left", "right"])
        .horizontal_line("mean", 1.5)
        .color(Color::RED)
        .legend(Legend::Hidden);
    let rgb = plot.drawing().to_rgb();
    let lowest = |color| places(&rgb, color).last().expect("a bar").0;
    assert_eq!(lowest(Color::BLUE), lowest(Color::ORANGE));
    let columns = |color| -> Vec<usize> {
        let mut columns: Vec<usize> = places(&rgb, color).iter().map(|p| p.1).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    };
    let (a, b) = (columns(Color::BLUE), columns(Color::ORANGE));
    assert!(a.iter().all(|x| !b.contains(x)), "bars do not overlap");
    assert!(columns(Color::RED).len() > 600, "the line spans the axis");
    let svg = plot.drawing().to_svg();
    assert!(svg.contains(">left</text>") && svg.contains(">right</text>"));
    assert!(!svg.contains(">mean</text>"), "the legend is hidden");
}

#[test]
fn bars_on_a_logarithmic_axis_are_equally_wide() {
    // Zero has no position on the axis.
    let plot = Plot::new()
        .log_x()
        .bars("", [(0, 1.0), (1, 3.0), (10, 2.0), (100, 1.0)])
        .x_names(["zero", "one"]);
    let svg = plot.drawing().to_svg();
    assert!(!svg.contains("NaN"), "{svg}");
    assert!(svg.contains(">one</text>") && !svg.contains(">zero</text>"));
    let blue = places(&plot.drawing().to_rgb(), Color::BLUE);
    let row = blue.last().expect("a bar").0 - 5;
    let columns: Vec<usize> = blue.iter().filter(|p| p.0 == row).map(|p| p.1).collect();
    let bars = columns.chunk_by(|a, b| b - a == 1);
    let widths: Vec<usize> = bars.map(<[usize]>::len).collect();
    assert_eq!(widths.len(), 3, "{widths:?}");
    let (least, most) = (widths.iter().min(), widths.iter().max());
    assert!(least > Some(&100) && most < Some(&250), "{widths:?}");
    let single = Plot::new().log_x().bars("", [(5, 1.0)]).drawing();
    assert!(!places(&single.to_rgb(), Color::BLUE).is_empty());
}

#[test]
fn ranges_cut_what_is_outside() {
    let plot = Plot::new()
        .line("", [0.0, 100.0, 0.0])
        .y_range(0.0..1.0)
        .x_range(0.0..2.0);
    let rgb = plot.drawing().to_rgb();
    let above = places(&rgb, Color::BLUE)
        .iter()
        .filter(|p| p.0 < 14)
        .count();
    assert_eq!(above, 0);
    assert!(plot.drawing().to_svg().contains("clip-path"));
}

#[test]
fn the_legend_avoids_the_data() {
    let falling: Vec<f64> = (0..500).map(|i| (-f64::from(i) / 30.0).exp()).collect();
    // A peak in each upper corner.
    let rising = [1.0, 0.9, 0.0, 0.9, 1.0];
    let place = |values: &[f64]| {
        let rgb = Plot::new().line("name", values).drawing().to_rgb();
        // The background of the legend.
        places(&rgb, Color::rgb(253, 253, 253))[0]
    };
    let (of_falling, of_rising) = (place(&falling), place(&rising));
    assert!(of_falling.1 > 400 && of_falling.0 < 100, "{of_falling:?}");
    assert!(of_rising.0 > 300, "{of_rising:?}");
}

#[test]
fn images_have_their_pixels_captions_and_colors() {
    let images = Array3::from_shape_fn((3, 8, 8), |(n, ..)| n as f32 / 2.0);
    let grid = Images::new(&images)
        .columns(2)
        .captions(["zero", "one", "two"]);
    let drawing = grid.clone().correct([true, false]).drawing();
    let rgb = drawing.to_rgb();
    for (count, color) in [
        (56 * 56, Color::BLACK),
        (56 * 56, Color::rgb(128, 128, 128)),
        (2 * 60, Color::GREEN),
        (2 * 60, Color::RED),
    ] {
        let found = places(&rgb, color).len();
        assert!(found >= count && found < count + 500, "{color:?}: {found}");
    }
    let green = places(&rgb, Color::GREEN)[0];
    assert!(places(&rgb, Color::RED).iter().all(|p| p.1 > green.1));
    let svg = drawing.to_svg();
    assert_eq!(svg.matches("data:image/png;base64,").count(), 3);
    assert!(
        ["zero", "one", "two"]
            .iter()
            .all(|t| svg.contains(&format!(">{t}</text>")))
    );
    // White paper.
    let inverted = grid.colormap(Colormap::Greys).drawing().to_rgb();
    assert!(places(&inverted, Color::BLACK).len() >= 56 * 56);
}

#[test]
fn color_images_keep_their_colors() {
    let mut images = Array4::<u8>::zeros((2, 4, 4, 3));
    images.slice_mut(s![0, .., .., 0]).fill(255);
    images.slice_mut(s![1, .., .., 2]).fill(255);
    let rgb = Images::new(&images).drawing().to_rgb();
    let (red, blue) = (Color::rgb(255, 0, 0), Color::rgb(0, 0, 255));
    assert_eq!(places(&rgb, red).len(), 56 * 56);
    assert_eq!(places(&rgb, blue).len(), 56 * 56);
    assert!(places(&rgb, red)[0].1 < places(&rgb, blue)[0].1);
    let empty = Images::new(Array3::<f32>::zeros((0, 4, 4))).drawing();
    assert!(empty.width() > 0);
}

#[test]
fn heat_maps_color_their_cells_and_write_values() {
    let matrix = ndarray::array![[0, 10], [5, 10]];
    let map = HeatMap::new(&matrix)
        .title("counts")
        .x_label("predicted")
        .y_label("label")
        .names(["cat", "dog"])
        .colormap(Colormap::Gray);
    let rgb = map.drawing().to_rgb();
    let cells = places(&rgb, Color::rgb(128, 128, 128));
    assert!(cells.len() >= 47 * 47, "one gray cell: {}", cells.len());
    let black = places(&rgb, Color::BLACK).len();
    assert!(black >= 47 * 47);
    let svg = map.values().drawing().to_svg();
    for text in ["counts", "predicted", "label", "cat", "dog", "0", "5", "10"] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
    assert_eq!(svg.matches(">cat</text>").count(), 2);
    // Constant and missing elements.
    let odd = Array2::from_elem((300, 2), 0.25).mapv(|v| if v > 1.0 { 0.0 } else { v });
    assert!(HeatMap::new(&odd).drawing().height() > 300);
    let missing = HeatMap::new(&ndarray::array![[f64::NAN, 1.0], [f64::INFINITY, 0.0]]);
    assert!(places(&missing.drawing().to_rgb(), Color::rgb(200, 200, 200)).len() >= 2 * 47 * 47);
}

#[test]
fn a_large_matrix_is_drawn_in_linear_time() {
    // A search for the extremes at each element would take minutes.
    let matrix = Array2::from_shape_fn((700, 700), |(i, j)| (i + j) as f32);
    let map = HeatMap::new(&matrix).colormap(Colormap::Gray);
    let rgb = map.drawing().to_rgb();
    assert!(rgb.dim().0 > 700 && rgb.dim().1 > 700);
    assert!(!places(&rgb, Color::BLACK).is_empty());
}

#[test]
fn arrays_are_read_from_the_device() {
    let x = Array::linspace(0.0, 1.0, 2 * 4 * 4).reshape(&[2, 4, 4]);
    let expected = Images::new(x.to_ndarray::<f32>()).drawing().to_rgb();
    for dtype in [DType::F32, DType::F64] {
        assert_eq!(
            Images::new(x.astype(dtype)).drawing().to_rgb(),
            expected,
            "{dtype}"
        );
    }
    let bytes = (&x * 255.0).round().astype(DType::U8);
    assert_eq!(Images::new(&bytes).drawing().to_rgb(), expected);
    let half = Images::new(x.astype(DType::BF16)).drawing().to_rgb();
    let apart = half
        .iter()
        .zip(&expected)
        .map(|(a, b)| a.abs_diff(*b))
        .max();
    assert!(apart < Some(3), "{apart:?}");
    let causal = Array::ones(&[4, 4], DType::F32).tril(0).gt(0.0);
    assert!(HeatMap::new(&causal).drawing().width() > 100);
}

#[test]
fn wide_integers_do_not_wrap() {
    let signed = Array::from([[0i64, 1 << 33], [1 << 34, -(1 << 33)]]);
    let unsigned = Array::from([[0u32, 1 << 30], [1 << 31, u32::MAX]]);
    let long = Array::from([[0u64, 1 << 33], [1 << 63, u64::MAX]]);
    let drawn = |map: HeatMap| map.drawing().to_rgb();
    assert_eq!(
        drawn(HeatMap::new(&signed)),
        drawn(HeatMap::new(signed.to_ndarray::<i64>()))
    );
    assert_eq!(
        drawn(HeatMap::new(&unsigned)),
        drawn(HeatMap::new(unsigned.to_ndarray::<u32>()))
    );
    assert_eq!(
        drawn(HeatMap::new(&long)),
        drawn(HeatMap::new(long.to_ndarray::<u64>()))
    );
}

#[test]
fn single_images_are_written_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("image.png");
    let gray = ndarray::array![[0.0f32, 0.5, 1.0], [2.0, -1.0, f32::NAN]];
    write_image(&path, &gray).expect("written");
    let (info, pixels) = decoded(&path);
    assert_eq!(
        (info.width, info.height, info.color_type),
        (3, 2, png::ColorType::Grayscale)
    );
    assert_eq!(pixels, [0, 128, 255, 255, 0, 0]);
    for (channels, kind) in [(3, png::ColorType::Rgb), (4, png::ColorType::Rgba)] {
        let image =
            Array3::from_shape_fn((2, 5, channels), |(y, x, c)| (y * 100 + x * 10 + c) as u8);
        write_image(&path, &image).expect("written");
        let (info, pixels) = decoded(&path);
        assert_eq!((info.width, info.height, info.color_type), (5, 2, kind));
        assert_eq!(pixels, image.into_raw_vec_and_offset().0);
    }
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let plot = Plot::new().line("", [1, 2]);
    let missing = folder.path().join("missing/loss.png");
    let error = plot.save(&missing).expect_err("there is no folder");
    assert!(matches!(error, Error::Write { .. }));
    assert!(error.to_string().contains("missing/loss.png: "), "{error}");
    let error = plot
        .save(folder.path().join("loss.jpg"))
        .expect_err("no JPEG");
    assert!(
        error.to_string().ends_with("must end in .png or .svg"),
        "{error}"
    );
    let error = write_image("a.svg", Array2::<u8>::zeros((2, 2))).expect_err("no SVG");
    assert!(error.to_string().starts_with("a.svg: "), "{error}");
    // Endings in capitals are the same formats.
    plot.save(folder.path().join("LOSS.PNG")).expect("written");
    let (info, _) = decoded(&folder.path().join("LOSS.PNG"));
    assert_eq!((info.width, info.height), (800, 480));
}

#[test]
fn svg_texts_are_escaped() {
    let svg = Plot::new().title("a < b & \"c\"").drawing().to_svg();
    assert!(svg.contains("a &lt; b &amp; &quot;c&quot;"), "{svg}");
}

#[test]
fn mistakes_panic_with_a_remedy() {
    for (message, part) in [
        (
            panic_message(|| drop(Images::new(Array2::<f32>::zeros((2, 2))))),
            "[2, 2] is not a batch",
        ),
        (
            panic_message(|| drop(HeatMap::new(Array3::<f32>::zeros((2, 2, 2))))),
            "is not a matrix",
        ),
        (
            panic_message(|| drop(write_image("a.png", Array4::<u8>::zeros((1, 2, 2, 3))))),
            "is not an image",
        ),
        (
            panic_message(|| drop(Plot::new().color(Color::RED))),
            "has no series",
        ),
        (
            panic_message(|| drop(Plot::new().y_range(1.0..1.0))),
            "y_range",
        ),
        (
            panic_message(|| drop(Plot::new().smooth_line("", [1], 1.0))),
            "weight 1",
        ),
        (panic_message(|| drop(Drawing::new(0, 5))), "0 x 5 pixels"),
    ] {
        assert!(
            message.contains(part) && message.contains("help: "),
            "{message}"
        );
    }
}

/// A program that is killed while it writes a picture leaves the old one.
#[test]
fn a_picture_is_replaced_and_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["loss.png", "loss.svg", "image.png"] {
        let save = |values: [f32; 2]| match name {
            "image.png" => write_image(folder.path().join(name), Array2::from(vec![values])),
            _ => Plot::new()
                .line("loss", values)
                .save(folder.path().join(name)),
        };
        save([0.0, 1.0]).expect("a picture");
        let [path, link] = [name, "link"].map(|name| folder.path().join(name));
        let old = std::fs::read(&path).expect("the picture");
        std::fs::hard_link(&path, &link).expect("a second name");
        save([1.0, 0.5]).expect("a picture");
        assert!(
            std::fs::read(&link).expect("the old picture") == old,
            "{name}"
        );
        assert!(
            std::fs::read(&path).expect("the new picture") != old,
            "{name}"
        );
        std::fs::remove_file(link).expect("removed");
    }
}
