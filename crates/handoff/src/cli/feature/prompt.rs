//! `handoff start`, `spec`, `design`, `tasks`, and `handoff prompt`, which makes them without asking whether they make sense.

mod refusal;

use clap::ValueEnum;
use handoff_api::ExitCode;
use handoff_operations::Failure;
use handoff_operations::feature::{FeatureSite, clerk};
use handoff_workspace::prompt::{self, Material, Purpose};
use handoff_workspace::{
    Config, ContextScan, Current, Document, Rendered, Templates, Verdict, Workspace,
};

use super::continuation;
use super::delivery::{Delivery, DeliveryArgs, deliver};
use crate::context::Context;
use crate::output::plain;
use refusal::refused;

/// What a feature is called in a prompt when there is none.
const NAMELESS: &str = "current";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which one.
    #[arg(value_enum)]
    kind: Kind,
    #[command(flatten)]
    delivery: DeliveryArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Plan what is not planned, and begin.
    Start,
    /// Write `SPEC.md`.
    Spec,
    /// Write `DESIGN.md`.
    Design,
    /// Write the plan.
    Tasks,
    /// Go on from where the last session stopped.
    Continue,
    /// Write all planning documents, and stop.
    Generate,
    /// Improve README and AGENTS.
    Context,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let purpose = match args.kind {
        Kind::Start => Purpose::Start,
        Kind::Spec => Purpose::Spec,
        Kind::Design => Purpose::Design,
        Kind::Tasks => Purpose::Tasks,
        Kind::Generate => Purpose::Generate,
        Kind::Continue => return continuation::unguarded(args.delivery.clone(), ctx),
        Kind::Context => return context(&args.delivery, ctx),
    };
    let site = FeatureSite::find(ctx)?;
    let setting = Setting::open(&site)?;
    let material = setting.material_if_any(&site)?;
    make(purpose, &material, &setting, &args.delivery, ctx)
}

/// Makes a prompt if it makes sense now.
pub(super) fn guarded(
    purpose: Purpose,
    args: &DeliveryArgs,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find(ctx)?;
    let feature = site.feature()?;
    let setting = Setting::open(&site)?;
    let material = Material::collect(&feature, &setting.templates, &setting.config, &site.root)?;
    material.guard(purpose).map_err(|refusal| {
        let path = site.root.join(material.path_of(Document::Feature));
        refused(refusal, purpose, &site.shown(&path, ctx))
    })?;
    let code = make(purpose, &material, &setting, args, ctx)?;
    if purpose == Purpose::Start
        && let Err(failure) = clerk::begin(&site, ctx, &feature)
    {
        // The prompt is made; only how fresh it is will not be known later.
        ctx.out
            .note(format!("warning: {}", plain(&failure.message)))?;
    }
    Ok(code)
}

/// What prompts are made with, whether there is a feature or not.
struct Setting {
    workspace: Option<Workspace>,
    templates: Templates,
    config: Config,
}

impl Setting {
    fn open(site: &FeatureSite) -> Result<Self, Failure> {
        let workspace = Workspace::open(&site.root)?;
        let (templates, config) = match &workspace {
            Some(workspace) => (Templates::open(workspace)?, Config::load(workspace)?),
            None => (Templates::embedded(), Config::default()),
        };
        Ok(Self {
            workspace,
            templates,
            config,
        })
    }

    /// The documents of the current feature; nothing at all where there is none.
    fn material_if_any(&self, site: &FeatureSite) -> Result<Material, Failure> {
        let nameless = NAMELESS.parse().expect("the name is a plain word");
        let Some(workspace) = &self.workspace else {
            return Ok(Material::empty(nameless, &self.config, &site.root));
        };
        let name = match workspace.current()? {
            Current::Feature(name) => name,
            Current::None | Current::Unknown(_) => nameless,
        };
        match workspace.feature(&name)? {
            Some(feature) => Ok(Material::collect(
                &feature,
                &self.templates,
                &self.config,
                &site.root,
            )?),
            None => Ok(Material::empty(name, &self.config, &site.root)),
        }
    }
}

fn make(
    purpose: Purpose,
    material: &Material,
    setting: &Setting,
    args: &DeliveryArgs,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let rendered = prompt::render(purpose, material, &setting.templates)?;
    let rows = material.artifacts.iter();
    let rows = rows.map(|it| (it.document.file_name(), it.in_words(&material.plan)));
    let delivery = Delivery {
        purpose: word(purpose),
        feature: Some(&material.name),
        rendered: &rendered,
        view: rows.collect(),
        notices: &setting.config.notices,
        next: next(purpose, material).to_owned(),
    };
    deliver(&delivery, args, ctx)
}

fn context(args: &DeliveryArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find(ctx)?;
    let setting = Setting::open(&site)?;
    let scan = ContextScan::of(&site.root);
    let rendered: Rendered =
        prompt::render_context(&setting.config.language, &scan, &setting.templates)?;
    let delivery = Delivery {
        purpose: "context",
        feature: None,
        rendered: &rendered,
        view: vec![],
        notices: &setting.config.notices,
        next: "paste the prompt into your assistant.".to_owned(),
    };
    deliver(&delivery, args, ctx)
}

const fn word(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Start => "start",
        Purpose::Spec => "spec",
        Purpose::Design => "design",
        Purpose::Tasks => "tasks",
        Purpose::Generate => "generate",
    }
}

fn next(purpose: Purpose, material: &Material) -> &'static str {
    match purpose {
        Purpose::Spec => {
            "paste the prompt into your assistant; then `handoff design` or `handoff tasks`."
        }
        Purpose::Design => "paste the prompt into your assistant; then `handoff tasks`.",
        Purpose::Tasks | Purpose::Generate => {
            "paste the prompt into your assistant; then `handoff start`."
        }
        Purpose::Start if has_begun(material) => {
            "work has begun: `handoff continue` also tells what the last session knew and what is proved."
        }
        Purpose::Start => {
            "paste the prompt into your assistant; in each session after that, `handoff continue`."
        }
    }
}

fn has_begun(material: &Material) -> bool {
    matches!(material.plan.verdict(), Verdict::Ready { .. }) && material.plan.done() > 0
}
