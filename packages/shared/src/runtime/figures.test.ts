import { expect, test } from "vitest";
import { Counter, figuresText, gauge, LabelledCounter } from "./figures.ts";

test("figures are written with their help and type, a labelled one with every value from the beginning", () => {
  const goals = new Counter({ name: "goals_total", help: "Goals" });
  const letters = new LabelledCounter({ name: "letters_total", help: "Letters" }, "reason", ["not_json", "too_large"]);
  goals.add(3);
  goals.add();
  letters.add("too_large");
  letters.add("too_large");
  expect(figuresText([goals.family(), letters.family(), gauge({ name: "open", help: "Open now" }, 7)])).toBe([
    "# HELP goals_total Goals\n# TYPE goals_total counter\ngoals_total 4\n",
    '# HELP letters_total Letters\n# TYPE letters_total counter\nletters_total{reason="not_json"} 0\nletters_total{reason="too_large"} 2\n',
    "# HELP open Open now\n# TYPE open gauge\nopen 7\n",
  ].join(""));
});

test("a label's text keeps to its line and its quotes", () => {
  expect(figuresText([gauge({ name: "x", help: "X" }, [{ labels: { name: 'a"b\\c\nd' }, value: 1 }])])).toContain('x{name="a\\"b\\\\c\\nd"} 1\n');
});
