//! Merging the bytes of a word into tokens.

use super::bytes::to_char;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// The tokens of single bytes, and the pairs of tokens that are merged.
#[derive(Clone, Debug)]
pub(super) struct Merges {
    /// Token of each byte, if the vocabulary has one.
    bytes: Vec<Option<u32>>,
    /// Rank and merged token of each pair. The lowest rank is merged first.
    pairs: HashMap<(u32, u32), (u32, u32)>,
}

/// Index of no symbol.
const NONE: usize = usize::MAX;

/// A token of a word while it is merged, in a list linked in both directions.
struct Symbol {
    token: u32,
    previous: usize,
    next: usize,
}

impl Merges {
    /// Creates the merges from pairs of tokens, separated by a space, in the order of their ranks.
    /// Returns a description of the first invalid one as an error.
    pub fn new(ids: &HashMap<&str, u32>, merges: &[String]) -> Result<Merges, String> {
        let byte = |byte: u8| {
            ids.get(to_char(byte).encode_utf8(&mut [0; 4]) as &str)
                .copied()
        };
        let mut pairs = HashMap::with_capacity(merges.len());
        for (rank, merge) in (0..).zip(merges) {
            let parts = merge.split_once(' ');
            let (left, right) = parts.ok_or_else(|| {
                format!("has the merge `{merge}`, expected two tokens with a space between them")
            })?;
            let id = |token: &str| {
                let missing = || format!("has the merge `{merge}`, but no token `{token}`");
                ids.get(token).copied().ok_or_else(missing)
            };
            let merged = id(&format!("{left}{right}"))?;
            let pair = (id(left)?, id(right)?);
            pairs.entry(pair).or_insert((rank, merged));
        }
        Ok(Merges {
            bytes: (0..=255).map(byte).collect(),
            pairs,
        })
    }

    /// Calls `put` with the tokens of a word. Bytes without a token are omitted.
    pub fn encode(&self, word: &[u8], put: &mut impl FnMut(u32)) {
        let tokens = word
            .iter()
            .filter_map(|&byte| self.bytes[usize::from(byte)]);
        let mut symbols: Vec<Symbol> = (0..)
            .zip(tokens)
            .map(|(i, token)| Symbol {
                token,
                previous: usize::checked_sub(i, 1).unwrap_or(NONE),
                next: i + 1,
            })
            .collect();
        if let Some(last) = symbols.last_mut() {
            last.next = NONE;
        }
        // Ordered by rank, then by position.
        let mut queue = BinaryHeap::new();
        for at in 0..symbols.len() {
            queue.extend(self.candidate(&symbols, at));
        }
        while let Some(Reverse((rank, at))) = queue.pop() {
            // A merge of one of the two symbols makes an entry of the queue obsolete.
            let Some((found, merged)) = self.pair(&symbols, at) else {
                continue;
            };
            if found != rank {
                continue;
            }
            let removed = symbols[at].next;
            let after = symbols[removed].next;
            (symbols[at].token, symbols[at].next) = (merged, after);
            // A removed symbol has no next symbol, so it is part of no pair.
            symbols[removed].next = NONE;
            if let Some(after) = symbols.get_mut(after) {
                after.previous = at;
            }
            let previous = symbols[at].previous;
            queue.extend(self.candidate(&symbols, at));
            queue.extend(self.candidate(&symbols, previous));
        }
        let mut at = if symbols.is_empty() { NONE } else { 0 };
        while let Some(symbol) = symbols.get(at) {
            put(symbol.token);
            at = symbol.next;
        }
    }

    /// Returns the rank and the merged token of a symbol and its next symbol.
    fn pair(&self, symbols: &[Symbol], at: usize) -> Option<(u32, u32)> {
        let left = symbols.get(at)?;
        let right = symbols.get(left.next)?;
        self.pairs.get(&(left.token, right.token)).copied()
    }

    fn candidate(&self, symbols: &[Symbol], at: usize) -> Option<Reverse<(u32, usize)>> {
        let (rank, _) = self.pair(symbols, at)?;
        Some(Reverse((rank, at)))
    }
}
