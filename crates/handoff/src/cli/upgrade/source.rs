//! Which address tells the newest release: the option, else the environment, else the configuration, else what was built in.

use handoff_operations::Failure;
use handoff_operations::config::Config;

use crate::context::Context;
use crate::upgrade::address::Address;

const VARIABLE: &str = "HANDOFF_RELEASE_URL";

/// Where the project lives, as its manifest says. Releases are looked for nowhere else by themselves.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

pub(super) fn address(given: Option<&str>, ctx: &Context) -> Result<Address, Failure> {
    if let Some(text) = given {
        return parsed(text, "`--release-url`");
    }
    if let Some(text) = ctx.ambient.text(VARIABLE) {
        return parsed(text, VARIABLE);
    }
    if let Some(path) = ctx.ambient.config_file()
        && let Some(text) = Config::load(&path)?.upgrade.url
    {
        return parsed(&text, &format!("`[upgrade] url` in `{}`", path.display()));
    }
    match built_in(REPOSITORY) {
        Some(text) => parsed(&text, "the built-in address"),
        None => Err(Failure::failed("this build does not know where its releases are").hint(
            "name the place with `--release-url`, HANDOFF_RELEASE_URL, or `[upgrade] url` in the configuration",
        )),
    }
}

fn parsed(text: &str, from: &str) -> Result<Address, Failure> {
    text.parse().map_err(|error| {
        Failure::usage(format!("{from} is not an address that can be used"))
            .because(&error)
            .hint("one that can is `https://api.github.com/repos/OWNER/NAME/releases/latest`")
    })
}

/// A repository on GitHub tells its newest release at a fixed place.
fn built_in(repository: &str) -> Option<String> {
    let path = repository.strip_prefix("https://github.com/")?;
    let path = path.trim_end_matches('/').trim_end_matches(".git");
    let (owner, name) = path.split_once('/')?;
    let is_plain = |it: &str| !it.is_empty() && !it.contains('/');
    (is_plain(owner) && is_plain(name))
        .then(|| format!("https://api.github.com/repos/{owner}/{name}/releases/latest"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_of_the_manifest_tells_where_releases_are() {
        let latest = "https://api.github.com/repos/me/handoff/releases/latest";
        for repository in [
            "https://github.com/me/handoff",
            "https://github.com/me/handoff/",
            "https://github.com/me/handoff.git",
        ] {
            assert_eq!(built_in(repository).as_deref(), Some(latest));
        }
        for repository in [
            "",
            "https://github.com/me",
            "https://example.org/me/handoff",
        ] {
            assert_eq!(built_in(repository), None);
        }
    }
}
