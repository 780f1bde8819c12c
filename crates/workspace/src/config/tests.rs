use super::*;

fn mistake(text: &str) -> (usize, String) {
    let Mistake { line, what } = Config::parse(text).unwrap_err();
    (line, what)
}

#[test]
fn a_new_workspace_has_the_defaults() {
    assert_eq!(Config::parse(INITIAL), Ok(Config::default()));
    assert_eq!(Config::parse(""), Ok(Config::default()));
    assert_eq!(
        Config::parse("# language = \"German\"\n"),
        Ok(Config::default())
    );
}

#[test]
fn everything_can_be_set() {
    let text = "language = 'C#' # prose\nbudget = 4_000\n[checks]\ntest = \"cargo test\"\nlint = 'a # b'\n";
    let config = Config::parse(text).unwrap();
    assert_eq!(
        (config.language.as_str(), config.budget.tokens()),
        ("C#", 4000)
    );
    let checks: Vec<_> = config
        .checks
        .iter()
        .map(|check| (check.name.as_str(), check.command.as_str()))
        .collect();
    assert_eq!(checks, [("lint", "a # b"), ("test", "cargo test")]);
    assert_eq!(config.notices, []);
}

#[test]
fn a_mistake_is_told_by_its_line() {
    assert_eq!(mistake("\nlanguage = true\n").0, 2);
    assert_eq!(mistake("\nlanguage = a\"b\n").0, 2);
    assert_eq!(mistake("language = Turkish\nbudget = x\n").0, 2);
    assert_eq!(mistake("budget = 1\n\nbudget = 2\n").0, 3);
    let cases = [
        ("\n\nlanguage = 3", 3, "`language` is a text in quotes"),
        (
            "language = \"a\\nb\"",
            1,
            "'\\n' cannot stand in the name of a language",
        ),
        (
            "\nbudget = -1",
            2,
            "`budget` is a number of tokens from 200 to 1000000",
        ),
        (
            "budget = 1.5",
            1,
            "`budget` is a number of tokens from 200 to 1000000",
        ),
        (
            "checks = []",
            1,
            "`checks` is a table of names and commands",
        ),
        ("[checks]\nt = 1", 2, "`t` is a text in quotes"),
    ];
    for (text, line, what) in cases {
        assert_eq!(mistake(text), (line, what.to_owned()), "{text}");
    }
    for command in [
        "\"\"\"true # x\ntouch y\"\"\"",
        r#""a\rb""#,
        r#""a\u202eb""#,
        r#""a\tb""#,
    ] {
        let text = format!("[checks]\n\nt = {command}\n");
        assert_eq!(mistake(&text), (3, format!("`t`: {ONE_LINE}")), "{text}");
    }
    let (line, what) = mistake("[checks]\n\n\"a b\" = 'x'");
    assert!(line == 3 && what.contains("' '"), "{what}");
}

#[test]
fn the_language_may_lack_its_quotes_and_nothing_else_may() {
    for line in [
        "language = Turkish",
        "language=Brazilian Portuguese # ours\r",
    ] {
        let config = Config::parse(&format!("budget = 300\n{line}\n")).unwrap();
        assert!(["Turkish", "Brazilian Portuguese"].contains(&config.language.as_str()));
        assert_eq!(config.notices, [Notice::Unquoted { line: 2 }]);
    }
    assert_eq!(mistake("[checks]\nlanguage = make test\n").0, 2);
}

#[test]
fn the_file_of_another_tool_is_told_from_a_slip() {
    let foreign = Config::parse("[project]\nname = 'x'\n[mcp]\nport = 1\n").unwrap();
    assert_eq!(foreign.notices, [Notice::Foreign]);
    let slip = Config::parse("language = 'German'\n\nbudgett = 3\n").unwrap();
    let (line, key) = (3, "budgett".to_owned());
    assert_eq!(slip.notices, [Notice::Unknown { line, key }]);
}
