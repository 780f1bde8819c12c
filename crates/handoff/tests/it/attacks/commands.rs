//! Places from which the person's later programs take commands, and what a session in the sandbox tries there.

/// What it is, and where, for a shell: `$HOME` is the person's, `$COMMON` git's own directory, `$MAIN` the main tree.
pub(crate) const PLACES: [(&str, &str); 29] = [
    ("settings of Claude Code", "$HOME/.claude/settings.json"),
    (
        "what Claude Code trusts, and its MCP servers",
        "$HOME/.claude.json",
    ),
    ("skills of Claude Code", "$HOME/.claude/skills/s/SKILL.md"),
    ("hooks of Claude Code", "$HOME/.claude/hooks/stop.sh"),
    ("plugins of Claude Code", "$HOME/.claude/plugins/p/p.json"),
    (
        "settings and MCP servers of Codex",
        "$HOME/.codex/config.toml",
    ),
    ("hooks of Codex", "$HOME/.codex/hooks.json"),
    ("programs of cargo", "$HOME/.cargo/bin/cargo"),
    ("settings of cargo", "$HOME/.cargo/config.toml"),
    (
        "sources that cargo has unpacked",
        "$HOME/.cargo/registry/src/i/a-1/build.rs",
    ),
    ("programs of the user", "$HOME/.local/bin/tool"),
    (
        "packages of Python",
        "$HOME/.local/lib/python3/site-packages/a.pth",
    ),
    ("start-up file of bash", "$HOME/.bashrc"),
    ("start-up file of login shells", "$HOME/.profile"),
    ("start-up file of zsh", "$HOME/.zshenv"),
    ("settings of npm", "$HOME/.npmrc"),
    ("cache of npm", "$HOME/.npm/_cacache/index"),
    ("settings of pip", "$HOME/.config/pip/pip.conf"),
    ("cache of pip", "$HOME/.cache/pip/wheel"),
    ("settings of git", "$HOME/.gitconfig"),
    ("settings of ssh", "$HOME/.ssh/config"),
    (
        "services of the user",
        "$HOME/.config/systemd/user/a.service",
    ),
    (
        "what the desktop starts",
        "$HOME/.config/autostart/a.desktop",
    ),
    (
        "settings of handoff",
        "$XDG_CONFIG_HOME/handoff/config.toml",
    ),
    ("what a person trusts", "$HANDOFF_HOME/trust/all"),
    ("a branch, as a file", "$COMMON/refs/heads/stolen"),
    ("hooks of the repository", "$COMMON/hooks/pre-commit"),
    ("settings of the repository", "$COMMON/config"),
    ("the main tree", "$MAIN/README.md"),
];

/// For the agent of a session: tries each place in three ways, and leaves the names of those that it could change in its tree, with
/// what honest work it could not do.
pub(crate) fn script() -> String {
    let places: Vec<_> = PLACES
        .iter()
        .map(|(_, path)| format!("\"{path}\""))
        .collect();
    format!(
        "COMMON=$(git rev-parse --path-format=absolute --git-common-dir); MAIN=${{COMMON%/.git}}
mkdir -p \"own/$HANDOFF_TASK\"; cd \"own/$HANDOFF_TASK\"; : > broken; : > failed
look() {{ cat \"$1\" 2>&1; ls -i \"$1\" 2>&1; }}
compare() {{ [ \"$before\" = \"$(look \"$place\")\" ] || echo \"$1 $place\" >> broken; }}
for place in {places}; do
  before=$(look \"$place\")
  mkdir -p \"${{place%/*}}\" 2> /dev/null
  (echo evil >> \"$place\") 2> /dev/null; compare appended
  echo evil > evil; mv evil \"$place\" 2> /dev/null; compare moved
  ln -sf /bin/true \"$place\" 2> /dev/null; compare linked
  rm -f \"$place\" 2> /dev/null; compare removed
done
honest() {{ \"$@\" > /dev/null 2> said || {{ echo \"$*\"; cat said; }} >> failed; }}
honest git status --short
honest git diff
honest git log -1
honest sh -c 'echo text > written && mv written moved && chmod 755 moved && ln -s moved linked'
honest sh -c 'mktemp -d && mktemp'
honest sh -c 'echo x > /dev/null'
rm -f evil said linked
cd ../..; [ -z \"$HONEST\" ] || . \"$HONEST\"
",
        places = places.join(" ")
    )
}
