//! Where the outcomes of a phase lead, as they stand in a file.

use std::collections::BTreeMap;

use super::Reader;
use crate::workflow::draft::{FanOutDraft, NextDraft, WayDraft};
use crate::workflow::fault::Fault;
use crate::workflow::next::{FanOut, Goal, ManifestSource, Next, Outcome};

impl Reader<'_> {
    pub(super) fn next(&mut self, draft: NextDraft) -> Option<BTreeMap<Outcome, Next>> {
        let ways = match draft {
            NextDraft::One(next) => BTreeMap::from([("done".to_owned(), WayDraft::To(next))]),
            NextDraft::ByOutcome(ways) => ways,
        };
        let read = ways.into_iter().map(|(outcome, way)| {
            let next = self.way(way);
            Some((self.name("next", &outcome)?, next?))
        });
        // To the end, so that each mistake is told.
        let read: Vec<_> = read.collect();
        read.into_iter().collect()
    }

    fn way(&mut self, draft: WayDraft) -> Option<Next> {
        match draft {
            WayDraft::To(goal) => self.goal(&goal).map(Next::Goal),
            WayDraft::FanOut(draft) => self.fan_out(draft).map(Next::FanOut),
        }
    }

    fn goal(&mut self, text: &str) -> Option<Goal> {
        match text {
            Goal::END => Some(Goal::End),
            name => self.name("next", name).map(|phase| Goal::Phase { phase }),
        }
    }

    fn fan_out(&mut self, draft: FanOutDraft) -> Option<FanOut> {
        for name in draft.unknown.into_keys() {
            self.wrong("next", Fault::UnknownField(name));
        }
        let manifest = self.demanded("fan_out", draft.fan_out);
        let manifest = manifest.and_then(|it| self.manifest_source(&it));
        let join = self.demanded("join", draft.join);
        let join = join.and_then(|it| self.goal(&it));
        let degraded = draft.degraded.map(|it| self.goal(&it));
        Some(FanOut {
            manifest: manifest?,
            join: join?,
            degraded: super::lifted(degraded)?,
        })
    }

    /// A field that stands within `next`.
    fn demanded(&mut self, field: &'static str, found: Option<String>) -> Option<String> {
        if found.is_none() {
            self.wrong("next", Fault::Missing(field));
        }
        found
    }

    fn manifest_source(&mut self, text: &str) -> Option<ManifestSource> {
        if text == ManifestSource::RESULT {
            return Some(ManifestSource::Result);
        }
        let Some(path) = text.strip_prefix(ManifestSource::FILE) else {
            self.wrong("next", Fault::ManifestSource(text.to_owned()));
            return None;
        };
        let field = "next";
        let read = path.parse().map_err(|cause| Fault::Path { field, cause });
        let path = self.kept(field, read)?;
        Some(ManifestSource::File { path })
    }
}
