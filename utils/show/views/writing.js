function draw({ temperatures, starts, rests }) {
  const state = { start: 0, temperature: 0 };
  const begun = make("strong");
  const written = make("span");

  function show() {
    begun.textContent = starts[state.start];
    written.textContent = rests[state.start][state.temperature];
  }

  const controls = [
    choice("Beginning", starts, 0, (start) => { state.start = start; show(); }),
    choice("Temperature", temperatures.map(String), 0, (temperature) => { state.temperature = temperature; show(); }),
  ];
  controls[0].classList.add("view-lines");
  show();
  return [...controls, make("div", { class: "view-answer view-text", "aria-live": "polite" }, begun, written)];
}
