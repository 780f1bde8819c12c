use super::*;
use crate::language::Language;

fn values() -> Values {
    let mut values = Values::new(&"login".parse().unwrap(), &Language::default());
    for template in Template::ALL {
        for variable in template.variables() {
            if values.get(*variable).is_none() {
                values = values.with(*variable, format!("<{}>", variable.name()));
            }
        }
    }
    values
}

/// A workspace with one override.
fn overridden(template: Template, text: &str) -> (tempfile::TempDir, Templates) {
    let place = tempfile::TempDir::new().unwrap();
    let folder = place.path().join(".handoff/templates");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(template.file_name()), text).unwrap();
    let workspace = Workspace::open(place.path()).unwrap().unwrap();
    let templates = Templates::open(&workspace).unwrap();
    (place, templates)
}

fn refusal(template: Template, text: &str) -> String {
    let (place, templates) = overridden(template, text);
    let error = templates.render(template, &values()).unwrap_err();
    error
        .to_string()
        .replace(place.path().to_str().unwrap(), "")
}

#[test]
fn every_default_says_only_what_it_may() {
    for template in Template::ALL {
        let rendered = Templates::embedded().render(*template, &values()).unwrap();
        assert!(!rendered.text.contains("{{"), "{}", rendered.text);
        assert!(rendered.text.ends_with('\n') && !rendered.text.ends_with("\n\n"));
        assert_eq!(rendered.provenance.origin, Origin::Embedded);
    }
}

#[test]
fn every_default_prompt_places_the_briefing() {
    for template in Template::ALL {
        if template.variables().contains(&Variable::Briefing) {
            let rendered = Templates::embedded().render(*template, &values()).unwrap();
            assert_eq!(
                rendered.text.matches("<briefing>").count(),
                1,
                "{template:?}"
            );
            assert!(!rendered.text.starts_with("<briefing>"), "{template:?}");
        }
    }
}

#[test]
fn an_override_is_used_and_named() {
    let text = "Build {{feature_name}}, in {{ language }}.\n{{ briefing }}\n";
    let (place, templates) = overridden(Template::SpecPrompt, text);
    let rendered = templates.render(Template::SpecPrompt, &values()).unwrap();
    assert!(
        rendered
            .text
            .starts_with("Build login, in English.\n<briefing>\n\n---\n")
    );
    let path = place
        .path()
        .join(".handoff/templates/default_spec_prompt.md");
    assert_eq!(rendered.provenance.origin, Origin::Customised(path));
    assert_eq!(rendered.provenance.digest.len(), 12);
}

#[test]
fn an_exported_default_is_no_customisation() {
    let template = Template::State;
    let (_place, templates) = overridden(template, template.default_text());
    assert_eq!(templates.check(template).unwrap().origin, Origin::Embedded);
}

#[test]
fn a_prompt_without_a_place_for_the_briefing_begins_with_it() {
    let (_place, templates) = overridden(Template::ContinuePrompt, "Go on.\n");
    let rendered = templates
        .render(Template::ContinuePrompt, &values())
        .unwrap();
    assert!(rendered.text.starts_with("<briefing>\n\nGo on.\n"));
    let notice = "which leaves out the briefing; handoff put it in front";
    assert!(rendered.text.contains(notice), "{}", rendered.text);
}

#[test]
fn a_condition_cannot_hide_the_briefing() {
    for text in [
        "Go on.\n{% if false %}{{ briefing }}{% endif %}",
        "Go on.\n{# {{ briefing }} #}",
        "Go on.\n{{ 'x' if briefing else briefing }}",
    ] {
        let (_place, templates) = overridden(Template::ContinuePrompt, text);
        let rendered = templates.render(Template::ContinuePrompt, &values());
        let rendered = rendered.unwrap();
        assert!(rendered.text.starts_with("<briefing>\n\nGo on.\n"));
        assert_eq!(rendered.provenance.briefing, Placing::InFront);
    }
}

#[test]
fn an_unknown_variable_is_told_by_its_line() {
    let known = "feature_name, language";
    assert_eq!(
        refusal(Template::Spec, "# Spec\n\n{{ featurename }}\n"),
        format!(
            "`/.handoff/templates/default_spec.md` line 3: `featurename` is not known here; known are {known}"
        )
    );
    // Also where it would never be reached, and where it is only asked for.
    for text in [
        "a\n{% if false %}\n{{ goal }}{% endif %}",
        "a\n\n{% if not goal %}{% endif %}",
        "goal\n\n{{ language if language == 'x' or goal else '' }}",
    ] {
        let refusal = refusal(Template::Spec, text);
        assert!(refusal.contains("line 3: `goal` is not known"), "{refusal}");
    }
}

#[test]
fn what_is_no_template_is_told_by_its_line() {
    for text in [
        "a\n{{ feature_name \nb",
        "a\n{% if %}\n",
        "a\n{% include 'default_spec.md' %}",
        "a\n{{ feature_name|shout }}",
    ] {
        let refusal = refusal(Template::Spec, text);
        assert!(refusal.contains("default_spec.md` line "), "{refusal}");
        assert!(!refusal.contains("line 1:"), "{refusal}");
    }
}

#[test]
fn an_override_can_neither_move_a_cursor_nor_hide_anything() {
    for text in [
        "a\nb\u{1b}[2J",
        "a\nb\rc",
        "a\n\u{202e}b",
        "a\n\u{200b}",
        "a\n\u{e0041}",
        "a\nx\u{fe00}",
        "a\n\u{2060}b\u{ad}",
    ] {
        let refusal = refusal(Template::Spec, text);
        assert!(
            refusal.contains("line 2: there is a control character"),
            "{refusal}"
        );
    }
    let (_place, templates) = overridden(Template::Spec, "\u{feff}a\r\n\tb\n");
    assert_eq!(
        templates.render(Template::Spec, &values()).unwrap().text,
        "a\n\tb\n"
    );
}

#[test]
fn an_override_has_text_variables_and_conditions_and_nothing_that_grows() {
    let doubling = format!(
        "{{% set a = 'x' %}}\n{}",
        "{% set a = a ~ a %}\n".repeat(34)
    );
    for (text, what) in [
        (doubling.as_str(), "line 1: `set`"),
        ("\n{{ 'x' * 100000000 }}", "line 2: an operator"),
        ("\n{{ language ~ language }}", "line 2: an operator"),
        ("{{ language|upper }}", "line 1: a filter"),
        ("{{ range(9) }}", "line 1: a call"),
        ("{{ language is defined }}", "line 1: a test"),
        ("{{ language[0] }}", "line 1: a part"),
        ("{% for a in language %}x{% endfor %}", "line 1: a loop"),
        ("a\n\n{% with a = 1 %}x{% endwith %}", "line 3: `with`"),
        ("{% set a %}x{% endset %}", "line 1: `set`"),
        ("{% if [1] %}x{% endif %}", "line 1: a list"),
        ("{% macro a() %}x{% endmacro %}", "line 1: "),
    ] {
        let refusal = refusal(Template::Spec, text);
        assert!(refusal.contains(what), "{refusal}");
    }
    let text =
        "{% if language == 'English' and not false %}{{ feature_name }}{% else %}x{% endif %}\n";
    let (_place, templates) = overridden(Template::Spec, text);
    assert_eq!(
        templates.render(Template::Spec, &values()).unwrap().text,
        "login"
    );
}

#[test]
fn an_override_as_deep_as_it_is_long_is_refused() {
    let deep = |or: usize, elif: usize| {
        let (or, elif) = (" or 1".repeat(or), "{% elif 0 %}".repeat(elif));
        [
            format!("\n{{% if '%}}' or language{or} %}}{{% endif %}}"),
            format!("\n{{% if 0 %}}{elif}{{% endif %}}"),
        ]
    };
    for text in deep(40_000, 20_000) {
        assert!(refusal(Template::Spec, &text).contains("line 2: a template has at most 2000"));
    }
    for text in deep(990, 490) {
        let (_place, templates) = overridden(Template::Spec, &text);
        templates.check(Template::Spec).unwrap();
    }
}

#[test]
fn an_empty_or_unreadable_override_is_an_error() {
    assert_eq!(
        refusal(Template::Spec, " \n"),
        "`/.handoff/templates/default_spec.md` is empty"
    );
    let (place, templates) = overridden(Template::Spec, "x");
    let path = place.path().join(".handoff/templates/default_spec.md");
    std::fs::write(&path, [0xff]).unwrap();
    assert!(matches!(
        templates.check(Template::Spec),
        Err(TemplateError::Read(DirError::NotText(..)))
    ));
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
    assert!(matches!(
        templates.check(Template::Spec),
        Err(TemplateError::Read(DirError::NotBeneath(_)))
    ));
}

#[test]
fn a_template_is_found_by_its_file_or_by_its_word() {
    let expected = Some(Template::ContinuePrompt);
    assert_eq!(Template::named("default_continue_prompt.md"), expected);
    assert_eq!(Template::named("continue_prompt"), expected);
    assert_eq!(Template::named("continue"), None);
}
