// A field in which the reader begins a text, of which a model in the page reads what it has letters for.
// typed: called after each change. read: the beginning as the model reads it, other letters as spaces.
function typedText(beginning, longest, typed) {
  let characters = "";
  const field = make("textarea", { rows: 2, maxlength: longest, autocomplete: "off", spellcheck: "false", disabled: "", oninput: typed });
  field.dataset.lmSuppressShortcuts = "true"; // keys of JupyterLab
  field.value = beginning;
  const strange = make("p", { class: "view-label" });

  function read() {
    const plain = field.value.replace(/[‘’]/g, "'").replace(/[–—]/g, "-").replace(/\r/g, "");
    const others = [...new Set([...plain].filter((letter) => !characters.includes(letter)))];
    strange.textContent = others.length ? `It has never seen ${others.map(quote).join(", ")} and reads a space there.`
      : plain ? "" : "An empty beginning is read as the beginning of a line.";
    return [...plain].map((letter) => (others.includes(letter) ? " " : letter)).join("") || "\n";
  }

  function wake(known) {
    characters = known;
    field.disabled = false;
  }

  const label = make("label", { class: "view-typed" }, make("span", {}, "Begin a text"), field);
  return { nodes: [label, strange], read, wake };
}
