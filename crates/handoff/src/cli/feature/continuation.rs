//! `handoff continue`: the prompt from which a fresh session goes on, with the state in it.

use handoff_api::ExitCode;
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_operations::feature::advice::advice;
use handoff_operations::feature::plan_view::standing;
use handoff_operations::feature::survey::Survey;
use handoff_workspace::briefing::{briefing, freshness_verdict, tokens};
use handoff_workspace::config::Budget;
use handoff_workspace::plan::Verdict;
use handoff_workspace::{Rendered, Template, Templates, Values, Variable};

use super::choice::FeatureArg;
use super::delivery::{Delivery, DeliveryArgs, deliver};
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    delivery: DeliveryArgs,
    /// How long the prompt may become, in tokens: four ASCII characters or one other make one.
    #[arg(long, value_name = "TOKENS", value_parser = budget)]
    budget: Option<Budget>,
    #[command(flatten)]
    feature: FeatureArg,
}

fn budget(text: &str) -> Result<Budget, String> {
    let tokens = text.parse().ok().and_then(Budget::new);
    tokens.ok_or_else(|| {
        let range = Budget::RANGE;
        format!("a number from {} to {}", range.start(), range.end())
    })
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find(ctx)?;
    let survey = Survey::take(&site, &args.feature.choice(), ctx)?;
    guard(&site, &survey)?;
    tell(&site, &survey, args, ctx)
}

/// The same without asking whether there is anything to continue.
pub(super) fn unguarded(delivery: DeliveryArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find(ctx)?;
    let args = Args {
        delivery,
        budget: None,
        feature: FeatureArg { feature: None },
    };
    let survey = Survey::take(&site, &args.feature.choice(), ctx)?;
    tell(&site, &survey, &args, ctx)
}

/// Refuses to continue what cannot be continued, with the reason and what to do about it.
fn guard(site: &FeatureSite, survey: &Survey) -> Result<(), Failure> {
    let name = &survey.feature.name;
    let refuse = |message: String| Err(Failure::new(ExitCode::Conflict, message));
    match survey.plan.verdict() {
        Verdict::Ready { .. } => Ok(()),
        Verdict::NotInitialised => {
            let action = advice(site, &survey.feature, &survey.plan)?;
            let hint = match action.command {
                Some(command) => format!("begin it: `{command}`"),
                None => "see what comes first: `handoff next`".to_owned(),
            };
            refuse(format!("the feature `{name}` has no plan to continue"))
                .map_err(|failure| failure.hint(hint))
        }
        Verdict::NothingRemaining => {
            refuse(format!("every step of `{name}` is done")).map_err(|failure| {
                failure
                    .hint("prove it: `handoff verify --run`; more to do: `handoff step add TEXT`")
                    .hint(format!(
                        "put it away when it is finished: `handoff archive {name}`"
                    ))
            })
        }
        Verdict::Blocked => {
            refuse(format!("only blocked steps of `{name}` remain")).map_err(|failure| {
                failure
                    .hint("see what is missing: `handoff status`; then `handoff step start STEP`")
                    .hint("the prompt anyway: `handoff prompt continue`")
            })
        }
        Verdict::Invalid => Err(invalid(survey)),
    }
}

fn invalid(survey: &Survey) -> Failure {
    let message = format!(
        "the plan of `{}` cannot be followed as it is",
        survey.feature.name
    );
    let mut failure = Failure::new(ExitCode::Conflict, message);
    let problems = survey.plan.errors();
    failure
        .causes
        .extend(problems.map(|problem| format!("STATE.md:{}: {}", problem.line, problem.fault)));
    failure.hint("see all of it: `handoff validate`")
}

fn tell(
    site: &FeatureSite,
    survey: &Survey,
    args: &Args,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let templates = Templates::open(&site.workspace()?)?;
    let rendered = render(
        &templates,
        survey,
        args.budget.unwrap_or(survey.config.budget),
    )?;
    let tree = survey.code.as_ref().map(|code| &code.tree);
    let mut view = vec![
        ("plan", standing(&survey.plan)),
        ("fresh", freshness_verdict(&survey.freshness, tree)),
        ("length", format!("about {} tokens", tokens(&rendered.text))),
    ];
    view.extend(
        survey
            .warnings
            .iter()
            .map(|warning| ("warning", warning.clone())),
    );
    let delivery = Delivery {
        purpose: "continue",
        feature: Some(&survey.feature.name),
        rendered: &rendered,
        view,
        notices: &survey.config.notices,
        next: "paste the prompt into a fresh session of any assistant.".to_owned(),
    };
    deliver(&delivery, &args.delivery, ctx)
}

/// The template's own text counts too: what is left of the budget is the briefing's.
fn render(templates: &Templates, survey: &Survey, budget: Budget) -> Result<Rendered, Failure> {
    let values = || {
        Values::new(&survey.feature.name, &survey.config.language)
            .with(Variable::FeaturePath, &survey.path)
    };
    let frame = templates.render(
        Template::ContinuePrompt,
        &values().with(Variable::Briefing, ""),
    )?;
    let left = budget.tokens().saturating_sub(tokens(&frame.text));
    let left = Budget::new(left.max(*Budget::RANGE.start())).unwrap_or(budget);
    let told = briefing(&survey.facts(), left);
    Ok(templates.render(
        Template::ContinuePrompt,
        &values().with(Variable::Briefing, told),
    )?)
}
