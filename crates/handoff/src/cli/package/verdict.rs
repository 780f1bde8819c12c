//! What speaks against receiving a package, each in words of its own.

use handoff_api::{SignerDocument, VerificationDocument};
use handoff_core::package::{Origin, PackageStanding, SKEW};
use handoff_engine::depot::{Acceptance, Stored};
use handoff_package::KeyStanding;
use handoff_package::keyring::KnownKey;

use super::probe::Prober;
use crate::cli::keys::signer_of;

/// What speaks against it. Empty if nothing does.
pub(super) fn objections(stored: &Stored, acceptance: &Acceptance) -> Vec<String> {
    let label = &stored.record.label;
    let signer = stored.opened.signer.id();
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
    let unsealed = (acceptance.origin == Origin::Unsealed)
        .then(|| "it came here without a seal: nobody vouches for what it says".to_owned());
    let gone = match stored.standing {
        PackageStanding::Created => None,
        PackageStanding::Claimed => Some("somebody is receiving it".to_owned()),
        PackageStanding::Consumed => Some("it was received already".to_owned()),
        PackageStanding::Transferred => Some("it was transferred".to_owned()),
        PackageStanding::Cancelled => Some("it was deleted".to_owned()),
        PackageStanding::Expired => Some("it has expired".to_owned()),
    };
    let early = label.created_at.duration_since(stored.judged_at);
    let is_early = early.as_secs() > i64::try_from(SKEW.as_secs()).unwrap_or(i64::MAX);
    let from_future =
        is_early.then(|| "it was made in the future; one of the two clocks is wrong".to_owned());
    [by_signer, for_others, unsealed, gone, from_future]
        .into_iter()
        .flatten()
        .collect()
}

/// Everything that was found out, before anything is used.
pub(super) fn verification(
    stored: &Stored,
    acceptance: &Acceptance,
    prober: &Prober<'_>,
) -> VerificationDocument {
    let payload = &stored.opened.package.payload;
    let objections = objections(stored, acceptance);
    let checkpoint = payload.checkpoint.as_ref();
    VerificationDocument {
        id: stored.record.label.id.to_string(),
        is_acceptable: objections.is_empty(),
        objections,
        state: stored.standing,
        signer: signer(stored, acceptance),
        drift: prober.drift(payload),
        claims: prober.all(payload),
        resume_point: checkpoint.map(|it| it.resume_point.to_string()),
    }
}

pub(super) fn signer(stored: &Stored, acceptance: &Acceptance) -> SignerDocument {
    signer_of(&KnownKey {
        key: stored.opened.signer,
        standing: acceptance.signer.clone(),
    })
}
