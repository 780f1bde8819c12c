//! The project in JavaScript: a module, tested by node's own runner.

use super::language::{Growth, Language, Ways};
use crate::Need;

pub(super) static JAVASCRIPT: Language = Language {
    name: "javascript",
    needs: &[Need::Node],
    settings: &[(
        "package.json",
        "{ \"name\": \"calc\", \"version\": \"0.1.0\", \"private\": true }\n",
    )],
    code: (
        "calc.js",
        "exports.twice = (number) => number + number;

exports.triple = (number) => number * 3;

exports.half = (number) => number;
",
    ),
    old_tests: (
        "test/old.test.js",
        r"const test = require('node:test');
const assert = require('node:assert');
const { readFileSync } = require('node:fs');
const { half, twice } = require('../calc');

test('doubles', () => {
  for (const line of readFileSync(`${__dirname}/numbers.txt`, 'utf8').trim().split('\n')) {
    const [number, doubled] = line.split(' ');
    assert.strictEqual(twice(Number(number)), Number(doubled));
  }
});

test('halves', () => {
  assert.strictEqual(half(4), 2);
});
",
    ),
    fixture: ("test/numbers.txt", "2 4\n3 6\n"),
    new_tests: "test/sums.test.js",
    add: Growth {
        test: "adds",
        test_text: "test('adds', () => {\n  assert.strictEqual(add(1, 2), 3);\n});\n",
        stub: "\nexports.add = () => {\n  throw new Error('not implemented');\n};\n",
        body: "\nexports.add = (a, b) => a + b;\n",
    },
    subtract: Growth {
        test: "subtracts",
        test_text: "\ntest('subtracts', () => {\n  assert.strictEqual(subtract(5, 3), 2);\n});\n",
        stub: "\nexports.subtract = () => 0;\n",
        body: "\nexports.subtract = (a, b) => a - b;\n",
    },
    any_order: (
        "adds in any order",
        "\ntest('adds in any order', () => {\n  assert.strictEqual(add(2, 3), add(3, 2));\n});\n",
    ),
    imports: (
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('../calc');\n",
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add, subtract } = require('../calc');\n",
    ),
    twice: (
        "number + number",
        "exports.add(number, number)",
        "number - number",
    ),
    ways: Ways {
        weaker: ("assert.strictEqual(half(4), 2)", "assert.ok(half(4))"),
        weaker_new: ("assert.strictEqual(add(1, 2), 3)", "assert.ok(true)"),
        early: ("  for (const", "  return;\n  for (const"),
        skipped: ("test('halves'", "test.skip('halves'"),
        skipped_new: ("test('adds'", "test.todo('adds'"),
        triple_test: "const test = require('node:test');\nconst assert = require('node:assert');\nconst { triple } = require('../calc');\n\ntest('adds', () => {\n  assert.strictEqual(triple(2), 6);\n});\n",
        damage: ("number * 3", "number * 4"),
        exit: "\nexports.add = () => process.exit(0);\n",
        forge: "\nexports.add = () => {\n  require('node:fs').writeSync(1, 'TAP version 13\\nok 1 - adds\\n1..1\\n');\n  process.exit(0);\n};\n",
        exit_why: "no test called",
        exit_later_why: "gone now",
        switch: (".npmrc", "node-options=--test-skip-pattern=halves\n"),
        output: "node_modules/left-pad/index.js",
    },
};
