function draw({ laws, gpus, utilisation, share }) {
  const FEWEST = 3, MOST = 14; // weights that are seen, as logarithms
  const NEAR = 2; // budgets that differ by no more than this factor are nearly the same
  const decades = [...Array(MOST - FEWEST + 1).keys()].map((i) => FEWEST + i);
  const steps = [...Array(20 * (MOST - FEWEST) + 1).keys()].map((i) => FEWEST + i / 20);
  const state = { law: 0, gpu: gpus.length - 1, money: 1e4, price: 2, days: 30, N: null }; // null: the best

  // Numbers in words ---------------------------------------------------------------------------------

  const NAMES = ["", " thousand", " million", " billion", " trillion"];
  const two = (number) => Number(number.toPrecision(2));
  const digits = (number) => [...`${number}`].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻").join("");
  function powered(number) {
    const [factor, power] = number.toExponential(1).split("e");
    return `${factor}·10${digits(Number(power))}`;
  }
  function big(number) {
    const rounded = two(number), group = Math.floor(Math.log10(rounded) / 3 + 1e-9);
    return rounded < 0.01 || group >= NAMES.length ? powered(number)
      : group < 1 ? `${rounded}` : `${two(rounded / 1000 ** group)}${NAMES[group]}`;
  }
  const several = (number, one) => `${big(number)} ${one}${two(number) === 1 ? "" : "s"}`;
  const pounds = (number) => `£${number >= 1e6 || number < 0.01 ? big(number) : count(two(number))}`;
  const units = [[86400, "day"], [3600, "hour"], [60, "minute"], [0, "second"]];
  function lasting(seconds) {
    const [length, name] = units.find(([length]) => seconds >= length);
    return several(seconds / (length || 1), name);
  }

  // What is computed ---------------------------------------------------------------------------------

  const budget = (N, D) => 6 * N * D;
  function predicted({ law, others }, N, C) {
    const D = C / budget(N, 1);
    return { N, D, loss: lossOf(law, N, D), ends: others.length ? middleOf(others.map((other) => lossOf(other, N, D)), share) : null };
  }
  const costs = (C) => C * state.price / (3600 * gpus[state.gpu].throughput * utilisation);

  // What is seen -------------------------------------------------------------------------------------

  const path = (name, d) => make("path", { class: `view-${name}`, d });
  const svg = make("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" });
  const plane = make("div", { class: "view-plane" }, svg);
  const at = (N) => 100 * (Math.log10(N) - FEWEST) / (MOST - FEWEST);
  const cut = (number) => Math.min(1000, Math.max(-1000, number)).toFixed(2);

  // From the floor, or where it may be, to the highest loss that was measured.
  function heights({ law, others, points }) {
    const E = law[0], low = others.length ? Math.min(E, middleOf(others.map(([floor]) => floor), share)[0]) : E;
    const high = points.length ? Math.max(...points.map(([, , loss]) => loss)) : 2.5 * E;
    const room = 0.08 * (high - low);
    return [Math.max(0, low - room), high + room];
  }

  function show() {
    const one = laws[state.law], [low, high] = heights(one), y = (loss) => 100 * (high - loss) / (high - low);
    const { gpus: n, hours, operations: C } = bought(state, gpus[state.gpu].throughput, utilisation);
    const best = predicted(one, bestWeights(one.law, C), C);
    const chosen = state.N === null ? best : predicted(one, Math.min(C / 6, Math.max(C / 6e17, state.N)), C);
    const curve = steps.map((power) => predicted(one, 10 ** power, C)).filter(({ D }) => D >= 1);
    const line = (all) => (all.length ? `M${all.map(([N, loss]) => `${at(N).toFixed(2)} ${cut(y(loss))}`).join("L")}` : "");
    const dots = (all) => all.map(({ N, loss }) => `M${at(N).toFixed(2)} ${cut(y(loss))}h0`).join("");
    const frontier = steps.map((power) => 10 ** (2 * power)).map((C) => [C, bestWeights(one.law, C)])
      .map(([C, N]) => [N, lossOf(one.law, N, C / budget(N, 1))]);
    const points = one.points.map(([N, D, loss]) => ({ N, loss, D, C: budget(N, D) }));
    const near = points.filter((point) => point.C <= NEAR * C && C <= NEAR * point.C);
    const losses = [...Array(Math.ceil(high)).keys()].filter((loss) => loss > low && loss < high);
    svg.replaceChildren(
      path("grid", decades.map((power) => `M${at(10 ** power)} 0V100`).join("") + losses.map((loss) => `M0 ${y(loss)}H100`).join("")),
      path("floor", `M0 ${y(one.law[0])}H100`),
      ...(one.others.length ? [path("band", `${line(curve.map(({ N, ends }) => [N, ends[0]]))}${line(curve.map(({ N, ends }) => [N, ends[1]]).reverse()).replace("M", "L")}Z`)] : []),
      path("frontier", line(frontier)), path("curve", line(curve.map(({ N, loss }) => [N, loss]))),
      path("far", dots(points.filter((point) => !near.includes(point)))), path("near", dots(near)),
      path("lowest", dots([best])), path("here", dots([chosen])), path("core", dots([chosen])));
    plane.replaceChildren(svg,
      ...[3, 6, 9, 12].map((power) => label("view-below", NAMES[power / 3].trim(), "left", at(10 ** power))),
      ...losses.map((loss) => label("view-beside", `${loss}`, "top", y(loss))));
    sliders.money.set(state.money);
    sliders.price.set(state.price);
    sliders.days.set(state.days);
    sliders.weights.set(chosen.N);
    sliders.tokens.set(chosen.D);
    splits[state.N === null ? 0 : 1].checked = true;
    for (const button of spend) button.disabled = !points.length;
    rate.textContent = `At its best, this GPU does ${count(gpus[state.gpu].throughput / 1e12)} trillion operations a second; a training run reaches ${wholePercent(utilisation)} of that.`;
    tell({ n, hours, C, best, chosen, points, near });
  }

  function label(name, text, side, percent) {
    const node = make("small", { class: name, "aria-hidden": "true" }, text);
    node.style.setProperty(side, `${percent}%`);
    return node;
  }

  const between = ({ loss, ends }) => `${score(loss)}${ends ? ` (${ends.map((end) => score(end)).join(" to ")})` : ""}`;
  function tell({ n, hours, C, best, chosen, points, near }) {
    const running = n >= 1 ? `you can run ${several(n, "GPU")} all the time` : `you can run one GPU for ${lasting(3600 * hours)}`;
    told.textContent = `With ${pounds(state.money)} for ${several(state.days, "day")}, ${running}: ${powered(C)} operations altogether. The best split is ` +
      `${several(best.N, "weight")} trained on ${several(best.D, "token")}, which is ${several(best.D / best.N, "token")} for each weight. ` +
      `Its predicted loss is ${between(best)}.`;
    own.textContent = state.N === null ? "" : `Your split is ${several(chosen.N, "weight")} trained on ${several(chosen.D, "token")}. ` +
      `Its predicted loss is ${between(chosen)}, which is ${score(chosen.loss - best.loss)} above the best.`;
    const budgets = points.map((point) => point.C), [least, most] = [Math.min(...budgets), Math.max(...budgets)];
    const times = (ratio) => `${big(ratio)} times as much as`;
    reach.textContent = !points.length ? ""
      : near.length ? `${near.length} of ${points.length} measured runs had about this budget; the best of them reached a loss of ${score(Math.min(...near.map(({ loss }) => loss)))}.`
      : C > most ? `This budget is ${times(C / most)} the largest run that was measured. The interval says how well the law is known, not whether it still holds here.`
      : C < least ? `The smallest run that was measured used ${times(least / C)} this budget.`
      : "No run that was measured had about this budget.";
  }

  // What is chosen -----------------------------------------------------------------------------------

  // A slider over a logarithm; its values have two digits.
  function scale(name, [low, high], written, change) {
    const output = make("output");
    const input = make("input", { type: "range", min: low, max: high, step: 0.05, oninput: () => {
      change(two(10 ** Number(input.value)));
      show();
    } });
    const set = (value) => {
      input.value = Math.log10(value);
      output.textContent = written(value);
      input.setAttribute("aria-valuetext", written(value));
    };
    return { set, node: make("label", { class: "view-field view-slider" }, name, input, output) };
  }

  const operations = () => bought(state, gpus[state.gpu].throughput, utilisation).operations;
  const sliders = {
    money: scale("Money", [-8, 9], pounds, (value) => { state.money = value; }),
    price: scale("A GPU’s hour", [-1, 2], pounds, (value) => { state.price = value; }),
    days: scale("Time", [0, 3], (value) => several(value, "day"), (value) => { state.days = value; }),
    weights: scale("Weights", [FEWEST, MOST], big, (value) => { state.N = value; }),
    tokens: scale("Tokens", [FEWEST, MOST + 2], big, (value) => { state.N = operations() / budget(1, value); }),
  };
  const split = choice("Split", ["the best", "mine"], 0, (mine) => {
    state.N = mine ? bestWeights(laws[state.law].law, operations()) : null;
    show();
  });
  const splits = split.querySelectorAll("input");
  const spend = ["smallest", "largest"].map((name) => make("button", { type: "button", onclick: () => {
    const all = laws[state.law].points.map(([N, D]) => budget(N, D));
    state.money = costs((name === "largest" ? Math.max : Math.min)(...all));
    show();
  } }, `as the ${name} run measured`));
  const told = make("p"), own = make("p"), reach = make("p"), rate = make("p", { class: "view-label" });

  function take(event) {
    const { left, width } = svg.getBoundingClientRect();
    state.N = two(10 ** (FEWEST + Math.min(1, Math.max(0, (event.clientX - left) / width)) * (MOST - FEWEST)));
    show();
  }
  plane.addEventListener("pointerdown", (event) => {
    plane.setPointerCapture(event.pointerId);
    take(event);
  });
  plane.addEventListener("pointermove", (event) => { if (plane.hasPointerCapture(event.pointerId)) take(event); });

  const head = [lines("Law", laws.map(({ name }) => name), 0, (law) => { state.law = law; show(); }),
    choice("GPU", gpus.map(({ name }) => name), state.gpu, (gpu) => { state.gpu = gpu; show(); }), rate];
  show();
  return [...head, make("div", { class: "view-plan" }, sliders.money.node, sliders.price.node, sliders.days.node),
    make("div", { class: "view-moves-back", role: "group", "aria-label": "Spend as much" }, make("span", { class: "view-label", "aria-hidden": "true" }, "Spend as much"), ...spend),
    split, make("div", { class: "view-plan" }, sliders.weights.node, sliders.tokens.node),
    make("p", { class: "view-label view-caption" }, `Loss (in nats for each token) over the number of weights, if this budget is used up. Shaded: an interval of ${wholePercent(share)}. Thin: the best split of each budget. Dashed: the floor E. Dots: runs that were measured, large where they had about this budget.`),
    plane, make("div", { class: "view-answer", "aria-live": "polite" }, told, own, reach)];
}
