//! The program as people and agents meet it: commands, exit codes, texts, JSON, files.
//!
//! Only the wiring is checked here; what a command decides is checked in `core`, what both stores
//! do alike in `store`.

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod background;
#[cfg(test)]
mod backup;
#[cfg(test)]
mod batch;
#[cfg(test)]
mod calling;
#[cfg(test)]
mod checkpoint;
#[cfg(test)]
mod checks;
#[cfg(test)]
mod completion;
#[cfg(test)]
mod confirmation;
#[cfg(test)]
mod continuation;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod dump;
#[cfg(test)]
mod events;
#[cfg(test)]
mod fan_out;
#[cfg(test)]
mod files;
#[cfg(test)]
mod gc;
#[cfg(test)]
mod git_guard;
#[cfg(test)]
mod help;
#[cfg(test)]
mod hold;
#[cfg(test)]
mod intrusion;
#[cfg(test)]
mod landing;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod note;
#[cfg(test)]
mod package;
#[cfg(test)]
mod project;
#[cfg(test)]
mod prompt;
#[cfg(test)]
mod pseudo_terminal;
#[cfg(test)]
mod queue;
#[cfg(test)]
mod ref_watch;
#[cfg(test)]
mod refusal;
#[cfg(test)]
mod release_server;
#[cfg(test)]
mod safe_commit;
#[cfg(test)]
mod server;
#[cfg(test)]
mod session;
#[cfg(test)]
mod skills;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod status;
#[cfg(test)]
mod step;
#[cfg(test)]
mod storm;
#[cfg(test)]
mod story;
#[cfg(test)]
mod switching;
#[cfg(test)]
mod tab;
#[cfg(test)]
mod task_sandbox;
#[cfg(test)]
mod tdd;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod trash;
#[cfg(test)]
mod unit;
#[cfg(test)]
mod upgrade;
#[cfg(test)]
mod validate;
#[cfg(test)]
mod verify;
#[cfg(test)]
mod waiting;
#[cfg(test)]
mod watchdog;
#[cfg(test)]
mod worker;
mod workflow;
#[cfg(test)]
mod workspace;
