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

/// Those that are known by their own shape, in one line.
fn tokens() -> Vec<(&'static str, String)> {
    let is_token = |kind: &str| {
        !matches!(
            kind,
            "private key" | "password in an address" | "password of a netrc" | "assigned secret"
        )
    };
    planted()
        .into_iter()
        .filter(|(kind, _)| is_token(kind))
        .collect()
}

/// Checks that nothing of a token is left but, at most, so few characters that they could be anything.
fn assert_gone(kind: &str, placed: &str, secret: &str) {
    let clean = redact(placed);
    assert!(
        clean.contains("[redacted: "),
        "{kind} in {placed:?}: {clean:?}"
    );
    let read: String = clean.chars().filter(char::is_ascii_alphanumeric).collect();
    let secret: String = secret.chars().filter(char::is_ascii_alphanumeric).collect();
    let tail = &secret[secret.len() - 8..];
    assert!(!read.contains(tail), "{kind} in {placed:?}: {clean:?}");
}

#[test]
fn a_token_that_is_wrapped_at_any_column_is_found() {
    for (kind, secret) in tokens() {
        for column in 1..secret.len() {
            let (first, second) = secret.split_at(column);
            for (end, begin) in [
                ("\n", ""),
                ("\r\n", ""),
                ("  \n", "   "),
                (" │\n", "│ "),
                ("\n", "+"),
                ("\n", "-"),
                ("\u{1b}[0m\u{1b}[K\r\n", "\u{1b}[2m> "),
            ] {
                let placed = format!("see {first}{end}{begin}{second} .");
                assert_gone(kind, &placed, &secret);
            }
        }
    }
}

#[test]
fn a_token_over_three_lines_with_words_behind_it_is_found() {
    for (kind, secret) in tokens() {
        let (first, rest) = secret.split_at(secret.len() / 3);
        let (second, third) = rest.split_at(rest.len() / 2);
        let placed = format!("+ {first}\n+{second}\n+{third}\n+ABC0 more\n");
        assert_gone(kind, &placed, &secret);
    }
}

#[test]
fn colours_and_invisible_characters_hide_no_secret() {
    for (kind, secret) in planted() {
        if secret.contains('\n') {
            continue;
        }
        for place in 1..secret.len() {
            let (first, second) = secret.split_at(place);
            for hidden in [
                "\u{1b}[31m",
                "\u{1b}[38;5;1m\u{1b}[1m",
                "\u{9b}0m",
                "\u{1b}]8;;http://x\u{7}",
                "\u{1b}(B",
                "\r",
                "\u{200b}",
                "\u{feff}",
                "\u{ad}",
            ] {
                let placed = format!("see {first}{hidden}{second} .");
                assert_gone(kind, &placed, &secret);
            }
        }
    }
}

#[test]
fn a_token_within_a_word_is_found() {
    for (kind, secret) in tokens() {
        for before in [
            "a",
            "Z",
            "9",
            "_",
            "=",
            "key_",
            "x=",
            "+",
            "-",
            "é",
            "\u{1b}[1mA",
        ] {
            if kind == "Telegram bot token" && before.ends_with('9') {
                continue;
            }
            assert_gone(kind, &format!("see {before}{secret} ."), &secret);
        }
    }
}

#[test]
fn ordinary_lines_are_not_taken_for_a_wrapped_token() {
    for text in [
        "one line\nand risk-\ntaking-behaviour-in-check-for-all-of-us\n",
        "the api_key is\nsomewhere1234 else, password:\nhunter2hunter2x y",
        "\u{1b}[1mbold\u{1b}[0m and é\u{200b} text\n│ in a box │\n│ of lines │",
        "+let token = config.token1()\n-let secret = 1234\n",
        "SK\nbuild\nASIA\nPACIFIC\n",
    ] {
        assert_eq!(scan(text, "x"), vec![], "{text:?}");
    }
}
