//! The command `ramie new`: writes a project that builds and trains at once.
//!
//! It is a crate of its own, so that it builds in seconds, before anything of Ramie.
#![forbid(unsafe_code)]

mod dependency;
mod name;
mod project;
mod template;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use template::Template;

/// Options of the command.
#[derive(Args)]
pub struct Options {
    /// Folder to create; its last part is the name of the crate.
    path: PathBuf,
    /// Program to start from.
    #[arg(long, value_enum, default_value_t = Template::Mlp)]
    template: Template,
    /// Ramie's sources: a path, a git URL or a version; defaults to the checkout that this tool was
    /// built from, else to this tool's version.
    #[arg(long, value_name = "PATH_OR_GIT_URL_OR_VERSION")]
    ramie: Option<String>,
    /// Do not initialize a git repository.
    #[arg(long)]
    no_git: bool,
}

/// Writes the project, and prints its files and the command that trains it.
///
/// # Errors
/// If the folder is not a new one or cannot be written, or an option is wrong; the message says what to do.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let name = name::of(&options.path)?;
    let dependency = dependency::choose(options.ramie.as_deref())?;
    let files = project::files(&name, options.template, &dependency, &options.path);
    project::write(&options.path, &files)?;
    if !options.no_git {
        project::git_init(&options.path);
    }
    let mut out = io::stdout().lock();
    let folder = options.path.display();
    writeln!(
        out,
        "Created {folder} with the template {}:",
        options.template.name()
    )?;
    for (file, _) in &files {
        writeln!(out, "  {file}")?;
    }
    writeln!(out, "Ramie: {}", dependency.line())?;
    writeln!(out, "Train it with:\n  cd {folder}\n  cargo run")?;
    Ok(())
}
