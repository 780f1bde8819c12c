//! What speaks against receiving a package, each in words of its own.

use handoff_api::{SignerDocument, VerificationDocument};
use handoff_core::ContextKey;
use handoff_core::package::{Origin, PackageStanding, PipelineVersion, SKEW};
use handoff_engine::depot::{Acceptance, Stored};
use handoff_operations::{Failure, Project};
use handoff_package::KeyStanding;
use handoff_package::keyring::KnownKey;
use handoff_package::resumption::{Resolution, resolve};

use super::probe::Prober;
use super::surroundings::surroundings;
use crate::cli::keys::signer_of;
use crate::context::Context;

/// What is known about a package before anything of it is used.
pub(super) struct Grounds {
    pub(super) acceptance: Acceptance,
    /// The keys that this machine's configuration asks for, and that are not in it.
    missing: Vec<ContextKey>,
    resolution: Resolution,
    /// The version of the pipeline that it comes from and the one here, if both are known and differ.
    versions: Option<(PipelineVersion, PipelineVersion)>,
}

impl Grounds {
    pub(super) fn find(
        stored: &Stored,
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<Self, Failure> {
        let settings = ctx.config()?.package;
        let (label, payload) = (&stored.record.label, &stored.opened.package.payload);
        let phase = label.target_phase.as_ref();
        let wanted = settings.required.of(label.kind, phase);
        let is_there = |key: &ContextKey| payload.context.entries.iter().any(|it| it.key == *key);
        let missing = wanted.into_iter().filter(|key| !is_there(key)).collect();
        let theirs = payload.metadata.pipeline_version.clone();
        let versions = theirs.zip(settings.pipeline_version.clone());
        let here = surroundings(&stored.opened.package, settings, desk)?;
        Ok(Self {
            acceptance: desk.depot().acceptance(stored)?,
            missing,
            // A run brings its own phases with it.
            resolution: match &payload.run {
                Some(_) => Resolution::Resolved,
                None => resolve(payload.checkpoint.as_ref(), &here),
            },
            versions: versions.filter(|(theirs, ours)| theirs != ours),
        })
    }

    /// As if the versions of the two pipelines were the same.
    pub(super) fn whatever_the_version(self) -> Self {
        Self {
            versions: None,
            ..self
        }
    }

    /// What speaks against it, whatever the ledger says about it, if its signer and its way here are worth this much.
    pub(super) fn of_content(&self, stored: &Stored, acceptance: &Acceptance) -> Vec<String> {
        let (label, signer) = (&stored.record.label, stored.opened.signer.id());
        let by_signer = match &acceptance.signer {
            KeyStanding::Own | KeyStanding::Trusted(_) => None,
            KeyStanding::Revoked => Some(format!("it is signed by {signer}, which was revoked")),
            KeyStanding::Unknown => Some(format!(
                "it is sound, but signed by {signer}, which nobody trusts here"
            )),
        };
        let for_others = (!acceptance.is_for_us).then(|| {
            let names: Vec<_> = label.audience.iter().map(ToString::to_string).collect();
            format!("it is for others: {}", names.join(", "))
        });
        let unsealed = (acceptance.origin == Origin::Unsealed).then(|| {
            format!(
                "nobody vouches for what it says: {}",
                origin_in_words(stored)
            )
        });
        let lacking = (!self.missing.is_empty()).then(|| {
            let keys: Vec<_> = self.missing.iter().map(|key| format!("`{key}`")).collect();
            format!(
                "its context lacks {}, which is required here",
                keys.join(", ")
            )
        });
        let nowhere = match &self.resolution {
            Resolution::Impossible(why) => Some(format!("it cannot be gone on with: {why}")),
            Resolution::Resolved | Resolution::Words(_) => None,
        };
        let foreign = self.versions.as_ref().map(|(theirs, ours)| {
            format!("it comes from version {theirs} of the pipeline, and here is {ours}")
        });
        [by_signer, for_others, unsealed, lacking, nowhere, foreign]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Everything that was found out, before anything is used.
    pub(super) fn verification(
        &self,
        stored: &Stored,
        prober: &Prober<'_>,
    ) -> VerificationDocument {
        let payload = &stored.opened.package.payload;
        let objections = self.objections(stored);
        let checkpoint = payload.checkpoint.as_ref();
        let (resolution, unresolved) = match &self.resolution {
            Resolution::Resolved => ("resolved", None),
            Resolution::Words(why) | Resolution::Impossible(why) => {
                ("unresolved", Some(why.to_string()))
            }
        };
        VerificationDocument {
            id: stored.record.label.id.to_string(),
            is_acceptable: objections.is_empty(),
            objections,
            state: stored.standing,
            signer: signer(stored, &self.acceptance),
            origin: stored.origin(),
            provenance: stored.record.label.provenance.clone(),
            drift: prober.drift(payload),
            claims: prober.all(payload),
            resume_point: checkpoint.map(|it| it.resume_point.to_string()),
            resolution,
            unresolved,
        }
    }

    /// What speaks against it. Empty if nothing does.
    pub(super) fn objections(&self, stored: &Stored) -> Vec<String> {
        let mut objections = self.of_content(stored, &self.acceptance);
        objections.extend(of_ledger(stored));
        objections
    }
}

/// What its state and its time say against it.
fn of_ledger(stored: &Stored) -> impl Iterator<Item = String> {
    let gone = match stored.standing {
        PackageStanding::Created => None,
        PackageStanding::Claimed => Some("somebody is receiving it".to_owned()),
        PackageStanding::Consumed => Some("it was received already".to_owned()),
        PackageStanding::Transferred => Some("it was transferred".to_owned()),
        PackageStanding::Cancelled => Some("it was deleted".to_owned()),
        PackageStanding::Expired => Some("it has expired".to_owned()),
    };
    let created_at = stored.record.label.created_at;
    let early = created_at.duration_since(stored.judged_at);
    let is_early = early.as_secs() > i64::try_from(SKEW.as_secs()).unwrap_or(i64::MAX);
    let from_future =
        is_early.then(|| "it was made in the future; one of the two clocks is wrong".to_owned());
    [gone, from_future].into_iter().flatten()
}

/// Where its content comes from.
pub(super) fn origin_in_words(stored: &Stored) -> String {
    let provenance = stored.record.label.provenance.as_ref();
    match (stored.origin(), provenance) {
        (Origin::Made, _) => "it was made here".to_owned(),
        (Origin::Imported, _) => {
            format!("it was imported as {} sealed it", stored.opened.signer.id())
        }
        (Origin::Unsealed, Some(provenance)) => {
            format!("it comes from a file without a seal: {provenance}")
        }
        (Origin::Unsealed, None) => "it comes from a file without a seal".to_owned(),
    }
}

pub(super) fn signer(stored: &Stored, acceptance: &Acceptance) -> SignerDocument {
    signer_of(&KnownKey {
        key: stored.opened.signer,
        standing: acceptance.signer.clone(),
    })
}
