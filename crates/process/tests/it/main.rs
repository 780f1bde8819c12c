//! Real clocks and real programs.

mod clock;
