//! Recurrent layers: cells, which compute one step, and layers that run them over sequences.

mod bidirectional;
mod cell;
mod conv_lstm;
mod gru;
mod lstm;
mod mgu;
mod optimized_lstm;
mod rnn;
mod sequence;
mod simple;

pub use bidirectional::{Bidirectional, BidirectionalConfig, MergeFunction};
pub use cell::{CellFunction, RNNCell, RNNCellConfig};
pub use conv_lstm::{ConvLSTMCell, ConvLSTMCellConfig};
pub use gru::{GRUCell, GRUCellConfig};
pub use lstm::{LSTMCell, LSTMCellConfig};
pub use mgu::{MGUCell, MGUCellConfig};
pub use optimized_lstm::{OptimizedLSTMCell, OptimizedLSTMCellConfig};
pub use rnn::{RNN, RNNConfig, RNNInput, RNNOptions, ReturnCarry};
pub use sequence::flip_sequences;
pub use simple::{SimpleCell, SimpleCellConfig};
