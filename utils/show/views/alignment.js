function draw({ choose, examples }) {
  const { nodes, seen, begin, add, say } = looking();
  const verdict = make("p");

  const joined = (symbols) => {
    const parts = symbols.filter((symbol) => symbol !== "EOS");
    return parts.join(parts.some((part) => /[\u4e00-\u9fff]|^.$/.test(part)) ? "" : " ");
  };

  function lay({ source, written, right, looks }) {
    begin(source);
    written.forEach((symbol, at) => add(symbol, looks[at]));
    say();
    verdict.textContent = `It wrote ${quote(joined(written))}. ` +
      (written.join(" ") === right.join(" ") ? "✓ That is correct." : `✗ The correct answer is ${quote(joined(right))}.`);
  }

  const chosen = lines(choose, examples.map(({ name }) => name), 0, (example) => lay(examples[example]));
  lay(examples[0]);
  return [chosen, ...nodes, make("div", { class: "view-answer", "aria-live": "polite" }, seen, verdict)];
}
