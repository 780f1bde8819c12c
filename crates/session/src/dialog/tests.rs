//! Dialogs as real agents draw them.

use super::*;

fn read(text: &str) -> Option<Dialog> {
    let rows: Vec<String> = text.lines().map(str::to_owned).collect();
    let cursor_line = rows.last().cloned().unwrap_or_default();
    Dialog::read(&rows, &cursor_line, None)
}

fn labels(dialog: &Dialog) -> Vec<&str> {
    dialog.choices.iter().map(|it| it.label.as_str()).collect()
}

const CLAUDE: &str = "\
● Bash(touch /repo/x)
────────────────────────────────
 Bash command

 touch /repo/x

 Do you want to proceed?
 ❯ 1. Yes
   2. Yes, and always allow access to /work from this project
   3. Yes, and switch to auto mode · auto mode handles these prompts for you
   4. No

 Esc to cancel · Tab to amend
";

#[test]
fn numbered_choices_with_a_pointer() {
    let dialog = read(CLAUDE).unwrap();
    assert_eq!(dialog.choices.len(), 4);
    assert_eq!(dialog.pointed, Some(0));
    assert_eq!(dialog.question.last().unwrap(), "Do you want to proceed?");
    assert_eq!(dialog.question[0], "Bash command");
    assert_eq!(dialog.find(&"yes".into()), Ok(0));
    assert_eq!(dialog.find(&"no".into()), Ok(3));
    assert_eq!(dialog.find(&"2".into()), Ok(1));
    assert_eq!(dialog.find(&"auto mode".into()), Ok(2));
    assert_eq!(dialog.find(&"5".into()), Err(ChoiceError::NoNumber(5)));
    let several = dialog.find(&"and".into());
    assert!(matches!(several, Err(ChoiceError::Several(_))));
}

#[test]
fn a_question_about_something_else_is_another_one() {
    let long = |first: &str| {
        let rows: Vec<String> = (0..9).map(|row| format!(" line {row} of it")).collect();
        let rows = rows.join("\n");
        CLAUDE.replace(" touch /repo/x\n\n", &format!(" {first}\n{rows}\n\n"))
    };
    let (one, other) = (read(&long("rm one")), read(&long("rm two")));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(
        (&one.question, &one.choices),
        (&other.question, &other.choices)
    );
    assert!(!one.is_same(&other) && one.is_same(&one.clone()));
    let framed = |command: &str| {
        let frame = format!(
            "╭──────────────╮\n│ ╭──────────╮ │\n│ │ {command} │ │\n│ ╰──────────╯ │\n│ Run it? │\n\
             │ ❯ 1. Yes │\n│   2. No │\n│ esc to cancel │\n╰──────────────╯\n"
        );
        read(&frame).unwrap()
    };
    assert!(!framed("rm one").is_same(&framed("rm two")));
}

#[test]
fn choices_without_numbers() {
    let dialog = read(
        " Security guide\n\n ❯ No, exit\n   Yes, I trust this folder\n\n Enter to confirm · Esc to cancel\n",
    )
    .unwrap();
    assert_eq!(labels(&dialog), ["No, exit", "Yes, I trust this folder"]);
    assert_eq!((dialog.pointed, &dialog.choices[0].key), (Some(0), &None));
    assert_eq!(dialog.find(&Wish::Yes), Ok(1));
    let api = read("  Use this API key?\n\n    Yes\n  ❯ No (recommended)\n\n  Enter to confirm\n");
    let api = api.unwrap();
    assert_eq!(
        (labels(&api), api.pointed),
        (vec!["Yes", "No (recommended)"], Some(1))
    );
}

#[test]
fn what_codex_asks() {
    let dialog = read(
        "  Would you like to run the following command?\n\n  Reason: May I?\n\n  $ touch x\n\n\
         › 1. Yes, proceed (y)\n  2. Yes, and don't ask again for commands that start with `touch x` (p)\n  \
         3. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel\n",
    )
    .unwrap();
    assert_eq!(dialog.find(&Wish::Yes), Ok(0));
    assert_eq!(dialog.find(&Wish::No), Ok(2));
    let login = read(
        "  Choose how you want to use Codex.\n\n> 1. Sign in with ChatGPT\n     Usage included\n\n  \
         2. Sign in with Device Code\n     Sign in from another device\n\n  3. Use an API key\n     \
         Pay for what you use\n\n  Press enter to continue\n",
    );
    assert_eq!(login.unwrap().choices.len(), 3);
}

#[test]
fn a_list_to_be_answered_by_its_number() {
    let dialog = read("Allow this?\n  1. Yes\n  2. No\nAnswer (1-2): ").unwrap();
    assert_eq!((labels(&dialog), dialog.pointed), (vec!["Yes", "No"], None));
    assert_eq!(dialog.choices[1].key.as_deref(), Some("2"));
    assert_eq!(dialog.question, ["Allow this?"]);
}

#[test]
fn letters_in_the_line_with_the_cursor() {
    let dialog = read("Create new file? (Y)es/(N)o/(D)on't ask again [Yes]: ").unwrap();
    assert_eq!(labels(&dialog), ["Yes", "No", "Don't"]);
    assert_eq!(dialog.choices[0].key.as_deref(), Some("y"));
    assert_eq!(dialog.question, ["Create new file?"]);
    assert_eq!(dialog.find(&Wish::No), Ok(1));
}

#[test]
fn a_list_further_up_is_no_question() {
    let quoted = format!(
        "{CLAUDE}\n● I asked this before.\n\n\n\n\n\n\n────\n❯ \n────\n  ? for shortcuts\n"
    );
    assert_eq!(read(&quoted), None);
    let working = "● I will call Bash.\n\n● Fake shell call\n  ⎿  $ touch made-by-sh\n\n❯ \n  esc to interrupt\n";
    assert_eq!(read(working), None);
    assert_eq!(read("❯ hello\n  there\n"), None);
    assert_eq!(read("1. one\n2. two\n\n\n\n\n\n\n\n\n\n\n\n$ "), None);
    assert_eq!(read("$ ls (a) b\n$ "), None);
    assert_eq!(read(""), None);
}

#[test]
fn a_plain_yes_never_means_for_ever() {
    let lasting = [
        "Yes, and don't ask again",
        "Yes, and don\u{2019}t ask again",
        "Yes, permanently",
        "Allow forever",
        "Yes, from now on",
    ];
    for label in lasting {
        let dialog = read(&format!("Sure?\n❯ 1. {label}\n  2. Yes\n  3. No\n")).unwrap();
        assert_eq!(dialog.find(&Wish::Yes), Ok(1), "{label}");
    }
}

#[test]
fn choices_beside_each_other() {
    let rows = "  ┃  △ Permission required\n  ┃    # Shell command\n  ┃\n  ┃  $ touch x\n  ┃\n  ┃\n  \
                ┃   Allow once   Allow always   Reject        enter confirm\n";
    let rows: Vec<String> = rows.lines().map(str::to_owned).collect();
    let menu = Menu {
        row: 6,
        labels: ["Allow once", "Allow always", "Reject"]
            .map(str::to_owned)
            .to_vec(),
        lit: 0,
    };
    let dialog = Dialog::read(&rows, "", Some(menu)).unwrap();
    assert_eq!((dialog.pointed, dialog.order), (Some(0), Order::Beside));
    assert_eq!(
        dialog.question,
        ["△ Permission required", "# Shell command", "$ touch x"]
    );
    assert_eq!(dialog.find(&Wish::Yes), Ok(0));
    assert_eq!(dialog.find(&Wish::No), Ok(2));
}
