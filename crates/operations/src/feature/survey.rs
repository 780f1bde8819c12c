//! Everything that is known of a feature, looked at once: what `status` shows and `continue` tells.

use handoff_core::tree::{Freshness, Ignorance, Relation};
use handoff_core::{Digest, FeatureRecord, Rest};
use handoff_git::Status;
use handoff_workspace::briefing::{CodeNow, Facts, Knowledge, Memory};
use handoff_workspace::config::Config;
use handoff_workspace::essence::essence;
use handoff_workspace::notebook::Notebook;
use handoff_workspace::workspace::FOLDER;
use handoff_workspace::{Document, Feature, Plan};

use super::clerk::known_at;
use super::feature_ref::FeatureRef;
use super::pen::read;
use super::site::{FeatureSite, seen};
use crate::failure::Failure;
use crate::project::Project;
use crate::workplace::Workplace;

/// So many commits since the record are named.
const COMMITS: u32 = 12;

/// Everything that is known of a feature.
pub struct Survey {
    pub feature: Feature,
    /// Its folder, from the root of the repository.
    pub path: String,
    pub config: Config,
    pub plan: Plan,
    pub record: Option<FeatureRecord>,
    pub code: Option<Status>,
    pub freshness: Freshness,
    /// What keeps ready tasks of the project waiting.
    pub rests: Vec<Rest>,
    /// What could not be found out; the rest is told all the same.
    pub warnings: Vec<String>,
    /// The ledger, for whoever wants to know more of it; none if there is nothing in it, or it cannot be read.
    pub project: Option<Project>,
    plan_digest: Option<Digest>,
    goal: String,
    memory: Memory,
    commits: Vec<String>,
}

impl Survey {
    /// Git takes longer than everything else together, so it looks at the tree while we read.
    pub fn take(
        site: &FeatureSite,
        choice: &FeatureRef,
        here: &Workplace,
    ) -> Result<Self, Failure> {
        let look = site.begin_look(here)?;
        let mut survey = Self::read(site, choice, here)?;
        survey.code = look.map(seen).transpose()?;
        survey.compare(site, here);
        Ok(survey)
    }

    /// What the documents and the ledger say.
    fn read(site: &FeatureSite, choice: &FeatureRef, here: &Workplace) -> Result<Self, Failure> {
        let feature = choice.find(site)?;
        let state = read(&feature, Document::State)?;
        let text = |document| Ok::<_, Failure>(read(&feature, document)?.unwrap_or_default());
        let mut survey = Self {
            path: format!("{FOLDER}/features/{}", feature.name),
            config: site.config()?,
            plan: Plan::parse(state.as_deref().unwrap_or_default()),
            plan_digest: state.map(|state| Digest::of(state.as_bytes())),
            goal: essence(Document::Feature, &text(Document::Feature)?),
            memory: Notebook::parse(&text(Document::Session)?).memory("SESSION.md"),
            code: None,
            record: None,
            freshness: Freshness::unknown(Ignorance::NoGit),
            rests: vec![],
            warnings: vec![],
            project: None,
            commits: vec![],
            feature,
        };
        if site.repository.is_some() {
            survey.ask_ledger(here);
        }
        Ok(survey)
    }

    /// A ledger that cannot be read must not keep anybody from going on: what it knows is then unknown, and that is said.
    fn ask_ledger(&mut self, here: &Workplace) {
        match self.read_ledger(here) {
            Ok(()) => self.freshness = Freshness::unknown(Ignorance::NotRecorded),
            Err(failure) => {
                self.freshness = Freshness::unknown(Ignorance::LedgerUnreadable);
                let warning = format!("the ledger cannot be read: {}", failure.message);
                self.warnings.push(warning);
            }
        }
    }

    /// What it knows of the feature, and what rests in its project.
    fn read_ledger(&mut self, here: &Workplace) -> Result<(), Failure> {
        self.project = Project::peek(here)?;
        if let Some(project) = &mut self.project {
            self.record = known_at(project, &self.feature)?;
            self.rests = project.rests(here.config()?.worker.agent.as_ref())?;
        }
        Ok(())
    }

    fn compare(&mut self, site: &FeatureSite, here: &Workplace) {
        let (Some(code), Some(repository)) = (&self.code, &site.repository) else {
            return;
        };
        let marked = self.record.as_ref().and_then(|record| record.mark.as_ref());
        let Some(written) = marked.map(|marked| &marked.mark.tree) else {
            return;
        };
        let git = site.git(here);
        let relate = || match &written.commit {
            Some(commit) => git.relation(repository, commit),
            None => Ok(Relation::Missing),
        };
        self.freshness = Freshness::of(written, &code.tree, relate).unwrap_or_else(|error| {
            let warning = format!("the commits cannot be compared: {error}");
            self.warnings.push(warning);
            Freshness::unknown(Ignorance::NotCompared)
        });
        if let Some(commit) = &written.commit
            && self.freshness.has_new_commits()
        {
            // Only names for what is counted already.
            self.commits = git
                .subjects_since(repository, commit, COMMITS)
                .unwrap_or_default();
        }
    }

    /// What keeps the work from going on, besides blocked steps.
    pub fn blockers(&self) -> Vec<String> {
        let blockers = self.memory.blockers.iter();
        blockers.map(|entry| entry.text.clone()).collect()
    }

    pub fn facts(&self) -> Facts<'_> {
        Facts {
            name: &self.feature.name,
            path: &self.path,
            goal: &self.goal,
            plan: &self.plan,
            memory: &self.memory,
            checks: &self.config.checks,
            knowledge: Knowledge {
                record: self.record.as_ref(),
                code: self.code.as_ref().map(|code| CodeNow {
                    tree: &code.tree,
                    edited: &code.edited,
                    commits: &self.commits,
                }),
                freshness: &self.freshness,
                plan: self.plan_digest.as_ref(),
                warnings: &self.warnings,
            },
        }
    }
}
