//! `handoff recipes`: ways of working with sessions that have proved themselves.

use handoff_api::{ExitCode, RecipeDocument, RecipesDocument};
use handoff_operations::Failure;

use super::guide;
use crate::context::Context;
use crate::output::{Table, Tone};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List them.
    List,
    /// Show one, by its number, its name or the beginning of that.
    Show {
        /// `1`, `01` or `fire`.
        name: String,
    },
}

/// A way of working.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) name: &'static str,
    summary: &'static str,
    pub(super) text: &'static str,
}

/// All of them, by number.
pub(super) const RECIPES: [Recipe; 3] = [
    Recipe {
        name: "fire-and-watch",
        summary: "one piece of work, one fresh session, one look at the result",
        text: include_str!("../../../texts/recipes/01-fire-and-watch.md"),
    },
    Recipe {
        name: "chain",
        summary: "plan, implement, review, fix: a fresh session for each",
        text: include_str!("../../../texts/recipes/02-chain.md"),
    },
    Recipe {
        name: "buddy",
        summary: "a second session that looks on and speaks up",
        text: include_str!("../../../texts/recipes/03-buddy.md"),
    },
];

pub(crate) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match &args.command {
        None | Some(Command::List) => list(ctx),
        Some(Command::Show { name }) => {
            let recipe = find(name)?;
            guide::show(recipe.name, recipe.text, ctx)
        }
    }
}

fn list(ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        let recipes = RECIPES
            .iter()
            .zip(1..)
            .map(|(recipe, number)| RecipeDocument {
                number,
                name: recipe.name,
                summary: recipe.summary,
            });
        let recipes = recipes.collect();
        ctx.out
            .document(RecipesDocument::SCHEMA, RecipesDocument { recipes })?;
        return Ok(ExitCode::Done);
    }
    let mut table = Table::new(&["NO", "NAME", "WHAT"]);
    for (recipe, number) in RECIPES.iter().zip(1..) {
        table.row([
            (Tone::Faint, format!("{number:02}")),
            (Tone::Strong, recipe.name.to_owned()),
            (Tone::Plain, recipe.summary.to_owned()),
        ]);
    }
    ctx.out.table(&table)?;
    ctx.out.note("Read one: `handoff recipes show 1`.")?;
    Ok(ExitCode::Done)
}

fn find(text: &str) -> Result<Recipe, Failure> {
    let by_number = text
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_sub(1));
    let by_number = by_number.and_then(|index| RECIPES.get(index));
    let by_name = || {
        RECIPES
            .iter()
            .find(|recipe| !text.is_empty() && recipe.name.starts_with(text))
    };
    by_number.or_else(by_name).copied().ok_or_else(|| {
        Failure::new(ExitCode::NotFound, format!("there is no recipe {text:?}"))
            .hint("see what there is: `handoff recipes`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_is_found_by_number_name_or_beginning() {
        for text in ["2", "02", "chain", "ch"] {
            assert_eq!(find(text).unwrap(), RECIPES[1], "{text}");
        }
        for text in ["", "0", "4", "hain", "-1"] {
            assert!(find(text).is_err(), "{text}");
        }
    }
}
