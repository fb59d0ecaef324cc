//! The number of bytes that a compiled program sends between devices, from its text.

use std::collections::BTreeMap;

/// The collectives of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// The kind, such as `all-gather`.
    pub collective: &'static str,
    /// The number of collectives that the program runs.
    pub count: usize,
    /// The number of bytes that each device receives through them in a run.
    pub bytes: usize,
}

const COLLECTIVES: [&str; 5] = [
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-permute",
    "reduce-scatter",
];

/// Returns the traffic of a program by kind of collective, without kinds that do not occur. All
/// collectives are assumed to be between groups of `n` devices, which the text does not contain.
/// A device then receives
///
/// - for an `all-gather` or `all-to-all` with a result of `b` bytes, `b·(n-1)/n`,
/// - for a `reduce-scatter` with a result of `b` bytes, `b·(n-1)`,
/// - for an `all-reduce`, both, as in a ring: `2·b·(n-1)/n`,
/// - for a `collective-permute`, its result.
///
/// # Errors
/// Returns an error if a collective is in a loop or a branch, whose number of iterations the text
/// does not contain, if it is asynchronous, or if the text cannot be parsed.
pub fn traffic(text: &str, n: usize) -> Result<Vec<Traffic>, String> {
    let functions = functions(text);
    let main = functions.keys().find(|name| name.starts_with(MAIN));
    let main = main.ok_or("the program has no entry computation")?;
    let mut out: Vec<Traffic> = Vec::new();
    for line in lines_run(&functions, main)? {
        let Some((result, collective)) = collective_of(line) else {
            continue;
        };
        let all = bytes_of(result)?;
        let bytes = match collective {
            "collective-permute" => all,
            "all-reduce" => 2 * all * (n - 1) / n,
            "reduce-scatter" => all * (n - 1),
            _ => all * (n - 1) / n,
        };
        match out.iter_mut().find(|t| t.collective == collective) {
            Some(known) => {
                known.count += 1;
                known.bytes += bytes;
            }
            None => out.push(Traffic {
                collective,
                count: 1,
                bytes,
            }),
        }
    }
    Ok(out)
}

/// The prefix of the entry computation.
const MAIN: &str = "ENTRY ";

/// Returns the lines of each computation, by name.
fn functions(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut out: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut inside = None;
    for line in text.lines() {
        if let Some(head) = line.strip_suffix(" {")
            && !line.starts_with(' ')
        {
            let (main, name) = match head.strip_prefix(MAIN) {
                Some(_) => (MAIN.len(), head),
                None => (0, head),
            };
            let end = name[main..].find(' ').map_or(name.len(), |at| main + at);
            inside = Some(name[..end].trim_start_matches('%'));
        } else if line.starts_with('}') {
            inside = None;
        } else if let Some(name) = inside {
            out.entry(name).or_default().push(line);
        }
    }
    out
}

/// Returns the computations that a line names after any of these words.
fn named<'a>(line: &'a str, words: &[&str]) -> Vec<&'a str> {
    let after = words.iter().flat_map(|w| line.split(w).skip(1));
    let names = |rest: &'a str| -> Vec<&'a str> {
        let list = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default(),
            None => rest.split([',', ' ']).next().unwrap_or_default(),
        };
        let each = list.split(',').map(|n| n.trim().trim_start_matches('%'));
        each.collect()
    };
    after.flat_map(names).collect()
}

/// Returns the lines that one run of a computation executes once each.
fn lines_run<'a>(
    functions: &BTreeMap<&'a str, Vec<&'a str>>,
    name: &str,
) -> Result<Vec<&'a str>, String> {
    let mut out = Vec::new();
    for line in functions.get(name).into_iter().flatten().copied() {
        out.push(line);
        for called in named(line, &["calls=", "to_apply="]) {
            out.extend(lines_run(functions, called)?);
        }
        let often = ["body=", "condition=", "computations=", "_computation="];
        for repeated in named(line, &often) {
            let inside = lines_run(functions, repeated)?;
            if let Some(found) = inside.iter().find(|l| collective_of(l).is_some()) {
                return Err(format!(
                    "cannot count a collective in a loop or a branch: {found}"
                ));
            }
        }
        let halves = |c: &&str| line.contains(&format!(" {c}-start("));
        if COLLECTIVES.iter().any(halves) {
            return Err(format!("cannot count an asynchronous collective: {line}"));
        }
    }
    Ok(out)
}

/// Returns the result's type and the kind from a line such as `x = f32[4,8]{1,0} all-gather(y),
/// dimensions={0}`.
fn collective_of(line: &str) -> Option<(&str, &'static str)> {
    let (_, value) = line.split_once(" = ")?;
    COLLECTIVES.iter().find_map(|name| {
        let at = value.find(&format!(" {name}("))?;
        Some((&value[..at], *name))
    })
}

/// Returns the size in bytes of a type, or of all types of a tuple.
fn bytes_of(types: &str) -> Result<usize, String> {
    let mut bytes = 0;
    for part in types.split_inclusive(']') {
        let Some((before, sizes)) = part.trim_end_matches(']').rsplit_once('[') else {
            continue;
        };
        let name: String = before
            .chars()
            .rev()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        let name: String = name.chars().rev().collect();
        let digits: String = name.chars().filter(char::is_ascii_digit).collect();
        let bits: usize = match &name[..] {
            "pred" => 8,
            _ => digits.parse().map_err(|_| format!("the type {types}"))?,
        };
        let sizes = sizes.split(',').filter(|s| !s.is_empty());
        let count: Result<usize, _> = sizes.map(str::parse::<usize>).product();
        bytes += bits * count.map_err(|_| format!("the type {types}"))? / 8;
    }
    match bytes {
        0 => Err(format!("the type {types}")),
        _ => Ok(bytes),
    }
}
