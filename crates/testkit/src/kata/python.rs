//! The project in Python: a module, tested by pytest.

use super::language::{Growth, Language, Ways};
use crate::Need;

pub(super) static PYTHON: Language = Language {
    name: "python",
    needs: &[Need::Pytest],
    settings: &[(
        "pyproject.toml",
        "[project]\nname = \"calc\"\nversion = \"0.1.0\"\n",
    )],
    code: (
        "calc.py",
        "def twice(number):
    return number + number


def triple(number):
    return number * 3


def half(number):
    return number
",
    ),
    old_tests: (
        "tests/test_old.py",
        r#"from pathlib import Path

from calc import half, twice


def test_doubles():
    for line in Path(__file__).with_name("numbers.txt").read_text().splitlines():
        number, doubled = line.split()
        assert twice(int(number)) == int(doubled)


def test_halves():
    assert half(4) == 2
"#,
    ),
    fixture: ("tests/numbers.txt", "2 4\n3 6\n"),
    new_tests: "tests/test_sums.py",
    add: Growth {
        test: "test_adds",
        test_text: "\ndef test_adds():\n    assert add(1, 2) == 3\n",
        stub: "\n\ndef add(a, b):\n    raise NotImplementedError\n",
        body: "\n\ndef add(a, b):\n    return a + b\n",
    },
    subtract: Growth {
        test: "test_subtracts",
        test_text: "\n\ndef test_subtracts():\n    assert subtract(5, 3) == 2\n",
        stub: "\n\ndef subtract(a, b):\n    return 0\n",
        body: "\n\ndef subtract(a, b):\n    return a - b\n",
    },
    any_order: (
        "test_adds_in_any_order",
        "\n\ndef test_adds_in_any_order():\n    assert add(2, 3) == add(3, 2)\n",
    ),
    imports: ("from calc import add\n", "from calc import add, subtract\n"),
    twice: ("number + number", "add(number, number)", "number - number"),
    ways: Ways {
        weaker: ("assert half(4) == 2", "assert half(4)"),
        weaker_new: ("assert add(1, 2) == 3", "assert True"),
        early: ("    for line", "    return\n    for line"),
        skipped: (
            "def test_halves",
            "import pytest\n\n\n@pytest.mark.skip\ndef test_halves",
        ),
        skipped_new: (
            "def test_adds",
            "import pytest\n\n\n@pytest.mark.xfail(run=False)\ndef test_adds",
        ),
        triple_test: "from calc import triple\n\n\ndef test_adds():\n    assert triple(2) == 6\n",
        damage: ("number * 3", "number * 4"),
        exit: "\n\ndef add(a, b):\n    import os\n    os._exit(0)\n",
        forge: "\n\ndef add(a, b):\n    import os\n    os.write(1, b\"tests/test_sums.py::test_adds PASSED\\n\")\n    os._exit(0)\n",
        exit_why: "the test suite does not run",
        exit_later_why: "the test suite does not run",
        switch: (
            "conftest.py",
            "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    outcome.get_result().outcome = \"passed\"\n",
        ),
        output: "tests/__pycache__/test_old.cpython-311.pyc",
    },
};
