use super::*;
use handoff_core::JsonText;

/// Put together at run time, so that no scanner takes this file for a leak.
fn planted() -> Vec<(&'static str, String)> {
    let hex = |count: usize| {
        "0123456789abcdef"
            .repeat(count)
            .chars()
            .take(count)
            .collect::<String>()
    };
    let mixed = |count: usize| {
        "aB3dE5gH7jK9"
            .repeat(count)
            .chars()
            .take(count)
            .collect::<String>()
    };
    let upper = |count: usize| {
        "A1B2C3D4"
            .repeat(count)
            .chars()
            .take(count)
            .collect::<String>()
    };
    vec![
        ("AWS access key", format!("AKIA{}", upper(16))),
        ("GitHub token", format!("ghp_{}", mixed(36))),
        ("GitHub token", format!("github_pat_{}", mixed(60))),
        ("GitLab token", format!("glpat-{}", mixed(20))),
        ("Slack token", format!("xoxb-{}", mixed(30))),
        (
            "Slack webhook",
            format!("hooks.slack.com/services/T0/B0/{}", mixed(24)),
        ),
        ("Anthropic key", format!("sk-ant-{}", mixed(40))),
        ("OpenAI key", format!("sk-proj-{}", mixed(48))),
        ("Stripe key", format!("sk_live_{}", mixed(24))),
        ("Google key", format!("AIza{}", mixed(35))),
        ("Google client secret", format!("GOCSPX-{}", mixed(28))),
        ("npm token", format!("npm_{}", mixed(36))),
        ("PyPI token", format!("pypi-AgE{}", mixed(60))),
        ("SendGrid key", format!("SG.{}.{}", mixed(22), mixed(43))),
        ("Twilio key", format!("SK{}", hex(32))),
        ("DigitalOcean token", format!("dop_v1_{}", hex(64))),
        ("Hugging Face token", format!("hf_{}", mixed(34))),
        ("Docker token", format!("dckr_pat_{}", mixed(27))),
        ("Shopify token", format!("shpat_{}", hex(32))),
        ("Databricks token", format!("dapi{}", hex(32))),
        ("Telegram bot token", format!("123456789:AA{}", mixed(33))),
        ("Azure storage key", format!("AccountKey={}==", mixed(86))),
        (
            "JSON web token",
            format!("eyJ{}.eyJ{}.{}", mixed(20), mixed(20), mixed(20)),
        ),
        ("age secret key", format!("AGE-SECRET-KEY-1{}", upper(58))),
        ("handoff secret key", format!("ed25519 secret {}", hex(64))),
        (
            "private key",
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
                mixed(64)
            ),
        ),
        (
            "password in an address",
            format!("postgres://me:{}@db/x", mixed(12)),
        ),
        (
            "password of a netrc",
            format!("machine h login me password {}", mixed(12)),
        ),
        ("assigned secret", format!("DB_PASSWORD={}", mixed(12))),
        ("assigned secret", format!("\"api_key\": \"{}\"", mixed(24))),
        (
            "assigned secret",
            format!("Authorization: Bearer {}", mixed(24)),
        ),
    ]
}

#[test]
fn each_planted_secret_is_found_by_kind_and_line_and_never_told() {
    for (kind, secret) in planted() {
        let text = format!("first line\nsecond {secret} end");
        let found = scan(&text, "the summary");
        assert_eq!(found.len(), 1, "{kind}: {found:?}");
        assert_eq!((found[0].kind, found[0].line), (kind, 2));
        let told = format!("{} {:?}", found[0], found[0]);
        let value = secret.rsplit([' ', '=', ':', '/']).next().unwrap();
        assert!(value.is_empty() || !told.contains(value), "{kind}");
    }
}

#[test]
fn nothing_is_left_of_a_redacted_secret() {
    for (kind, secret) in planted() {
        let clean = redact(&format!("before {secret} behind"));
        assert!(scan(&clean, "x").is_empty(), "{kind}: {clean}");
        assert!(
            clean.starts_with("before ") && clean.contains(kind),
            "{clean}"
        );
    }
}

#[test]
fn a_secret_behind_escapes_is_found_and_the_rest_keeps_its_spelling() {
    let source = r#"{"n": 9007199254740993, "k": "x gh\u0070_aB3dE5gH7jK9aB3dE5gH7jK9aB3dE5gH y", "f": 1.0}"#;
    let value = JsonText::parse(source).unwrap();
    assert_eq!(scan_json(&value, "x")[0].kind, "GitHub token");
    assert_eq!(
        redact_json(&value).as_str(),
        r#"{"n": 9007199254740993, "k": "x [redacted: GitHub token] y", "f": 1.0}"#
    );
    let paired = JsonText::parse(r#"{"password":"aB3dE5gH7jK9"}"#).unwrap();
    assert_eq!(scan_json(&paired, "x").len(), 1);
    assert_eq!(
        redact_json(&paired).as_str(),
        r#"{"password":"[redacted: assigned secret]"}"#
    );
}

#[test]
fn a_title_that_is_cut_in_the_middle_of_a_letter_is_looked_at_all_the_same() {
    let title = format!("-----BEGIN {}", "é".repeat(50));
    assert_eq!(scan(&title, "x"), vec![]);
}

#[test]
fn a_text_without_escapes_is_found_as_one_that_was_understood() {
    for (kind, secret) in planted() {
        if secret.contains(['\n', '"']) {
            continue;
        }
        let value = JsonText::of_text(&format!("before {secret} behind")).unwrap();
        assert_eq!(scan(value.as_str(), "x"), scan_json(&value, "x"), "{kind}");
    }
}

#[test]
fn ordinary_text_is_left_alone() {
    for text in [
        "The token is read from $TOKEN; password = os.environ[\"X1\"]",
        "see https://example.com/a:b@c and commit 0123456789012345678901234567890123456789",
        "fn secret_name(token: Token1) -> Secret",
        "task-sk-12 keeps risk-taking-behaviour-in-check-for-all-of-us",
        "password: <your password>",
        "let api_key = config.get(\"key1234\")",
        "-----BEGIN CERTIFICATE-----",
        "ssh://git@github.com/x/y",
        "secret=hunter",
    ] {
        assert_eq!(scan(text, "x"), vec![], "{text}");
    }
}

#[test]
fn a_secret_across_two_windows_is_found_once() {
    let secret = format!("ghp_{}", "aB3dE5gH7jK9".repeat(3));
    let mut content = vec![b'\n'; 1024 * 1024 - 20];
    content.extend(secret.as_bytes());
    content.extend(vec![b' '; 3 * 1024 * 1024]);
    let found = scan_stream("log.txt", &mut content.as_slice()).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].line, 1024 * 1024 - 19);
}

#[test]
fn files_that_hold_secrets_are_known_by_their_names() {
    for name in [
        ".env",
        "a/.env.local",
        "~/.netrc",
        "id_ed25519",
        "x.PEM",
        ".git-credentials",
    ] {
        assert!(kind_by_name(name).is_some(), "{name}");
    }
    for name in ["env.rs", ".env.example", "key.rs", "id_generator.py"] {
        assert_eq!(kind_by_name(name), None, "{name}");
    }
}
