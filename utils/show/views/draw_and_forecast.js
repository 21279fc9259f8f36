function draw({ model, methods, series, S, T, season, most }) {
  const LOW = -15, HIGH = most + 15; // seen; one draws from 0 to `most`
  const WAIT = 300, COMES = 900; // milliseconds: before it is told what changed, and until forecasts are unrolled
  const named = (at) => `the ${methods[at]}${at < 3 ? " forecast" : ""}`; // the networks are nouns
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const days = [...Array(S).keys()], middle = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  let network = null, drawn = days.map(() => null), came = null, forecasts = null, chosen = methods.length - 1;
  let day = S - 1, last = null, busy = false, late = false, timer;

  // Every day gets a value: days between two that were drawn lie on a line, and the ends repeat the nearest.
  function filled() {
    const known = days.filter((t) => drawn[t] !== null);
    return days.map((t) => {
      const before = known.findLast((k) => k <= t) ?? known[0], after = known.find((k) => k >= t) ?? before;
      return drawn[before] + (after > before ? (t - before) / (after - before) : 0) * (drawn[after] - drawn[before]);
    });
  }

  // What is seen -------------------------------------------------------------------------------------

  const point = (t, value) => `${t + 0.5} ${(HIGH - value).toFixed(2)}`;
  const lineOf = (values, from) => `M${values.map((value, i) => point(from + i, value)).join("L")}`;
  const path = (name, d, own) => {
    const made = make("path", { class: `view-${name}`, d });
    if (own !== undefined) made.style.setProperty("--own", `var(--method-${own})`);
    return made;
  };
  const ground = () => [...Array((S + T) / season + 1).keys()].map((week) => path("week", `M${season * week} 0V${HIGH - LOW}`))
    .concat(path("week", `M0 ${HIGH}H${S + T}`), path("now", `M${S} 0V${HIGH - LOW}`));

  // From the last day on, so that a forecast begins where the past ends.
  const gone = (at, k, now) => [now, ...forecasts[at].map((quantiles) => quantiles[k])];
  const band = (at, now) => path("band", `${lineOf(gone(at, 0, now), S - 1)}L${lineOf(gone(at, 2, now), S - 1).slice(1).split("L").reverse().join("L")}Z`, at);
  const median = (at, now) => path("median", lineOf(gone(at, 1, now), S - 1), at);
  const truth = (now) => (came ? [path("came", lineOf([now, ...came], S - 1))] : []);

  const box = (from) => make("svg", { viewBox: `${from} 0 ${S + T - from} ${HIGH - LOW}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const [below, above] = [box(0), box(0)];
  const pad = make("div", { class: "view-series", role: "slider", tabindex: "0", "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": most,
    "aria-label": `Your series of ${S} days: arrow keys left and right choose a day, up and down change its value` }, below, above);
  pad.dataset.lmSuppressShortcuts = "true";
  const told = make("p"), seen = make("p"), size = make("p", { class: "view-label" }), fit = make("p", { class: "view-label" });
  const answer = make("div", { class: "view-answer", "aria-live": "polite" }, told, seen);
  const panels = methods.map((name, at) => {
    const plot = box(S - T), value = make("span");
    const choose = make("button", { type: "button", onclick: () => { chosen = at; show(); if (!busy) tell(); } }, make("strong", {}, name), plot, value);
    choose.style.setProperty("--own", `var(--method-${at})`);
    return { plot, value, choose };
  });

  const off = (at) => middle(came.map((value, t) => Math.abs(value - forecasts[at][t][1])));
  const whole = (value) => score(value, 0);
  const between = ([low, , high]) => `${whole(low)} to ${whole(high)}`;

  function show() {
    const n = drawn.filter((value) => value !== null).length, past = n ? filled() : [], now = past.at(-1);
    const dots = days.filter((t) => drawn[t] !== null).map((t) => `M${point(t, drawn[t])}h0`).join("");
    below.replaceChildren(...ground(), ...(n ? [path("line", lineOf(past, 0)), path("dots", dots)] : []),
      path("day", `M${day + 0.5} 0V${HIGH - LOW}`));
    const order = [...methods.keys()].filter((at) => at !== chosen).concat(chosen);
    above.replaceChildren(...(forecasts ? [band(chosen, now), ...order.map((at) => median(at, now)), ...truth(now)] : []));
    above.children[order.length]?.setAttribute("data-chosen", "");
    panels.forEach(({ plot, value, choose }, at) => {
      plot.replaceChildren(...ground(), ...(n ? [path("line", lineOf(past, 0))] : []), ...(forecasts ? [band(at, now), median(at, now), ...truth(now)] : []));
      value.textContent = !forecasts ? "" : came ? `off by ${score(off(at), 1)}` : between(forecasts[at].at(-1));
      choose.setAttribute("aria-pressed", at === chosen);
    });
    fit.textContent = came ? "Each method’s median and its interval of 80%; dashed, what came. Below: how far the median is off a day, on average."
      : "Each method’s median and its interval of 80%. Below: the interval on the last day.";
    const value = n ? past[day] : most / 2;
    pad.setAttribute("aria-valuenow", whole(value));
    pad.setAttribute("aria-valuetext", `day ${day + 1} of ${S}: ${drawn[day] === null ? "not drawn" : whole(value)}`);
  }

  function tell() {
    const n = drawn.filter((value) => value !== null).length;
    answer.setAttribute("aria-busy", false);
    seen.textContent = "";
    if (!forecasts) {
      told.textContent = n ? "Every day is the same, and a constant has no scale that a network could read: draw a line that goes up or down."
        : "Draw a series, or take one.";
      return;
    }
    const part = n < S ? `You drew ${n} of ${S} days: days between them lie on straight lines, and the ends repeat the nearest day. ` : "";
    const held = came && came.filter((value, t) => value >= forecasts[chosen][t][0] && value <= forecasts[chosen][t][2]).length;
    const order = came && ranked(methods.map((_, at) => -off(at)));
    told.textContent = part + (came
      ? `Of the five, ${named(order[0])} comes closest: it is off by ${score(off(order[0]), 1)} a day, on average. The worst, ` +
        `${named(order.at(-1))}, is off by ${score(off(order.at(-1)), 1)}. The interval of ${named(chosen)} contains ${held} of ${T} days.`
      : `Over the next ${T} days, ${named(chosen)} averages ${whole(middle(forecasts[chosen].map((quantiles) => quantiles[1])))} a day.`);
    seen.textContent = `On the last day: ${methods.map((name, at) => `${name} ${whole(forecasts[at].at(-1)[1])} (${between(forecasts[at].at(-1))})`).join(", ")}.`;
  }

  // What is asked ------------------------------------------------------------------------------------

  // Forecasts follow the pen at once; what is told waits until it rests.
  function ask() {
    clearTimeout(timer);
    answer.setAttribute("aria-busy", true);
    if (new Set(filled()).size === 1) { // also if nothing was drawn
      network.stop();
      [busy, forecasts] = [false, null];
      timer = setTimeout(tell, WAIT);
    } else if (busy) late = true;
    else forecast();
    show();
  }

  function forecast() {
    [busy, late] = [true, false];
    network.run({ past: filled() }, 0, (found) => {
      const first = !forecasts;
      ({ forecasts } = found);
      show();
      if (first && !still) unroll();
    }, () => {
      busy = false;
      if (late) forecast();
      else timer = setTimeout(tell, WAIT);
    });
  }

  function unroll() {
    for (const [node, share] of [[above, T / (S + T)], ...panels.map(({ plot }) => [plot, 1 / 2])]) {
      node.animate({ clipPath: [`inset(0 ${wholePercent(share)} 0 0)`, "inset(0)"] }, COMES);
    }
  }

  function take(values) {
    [drawn, came, forecasts] = [values.slice(0, S), values.slice(S), null];
    ask();
  }

  function clear() {
    [drawn, came] = [days.map(() => null), null];
    ask();
  }

  // Also the days between two points of a stroke.
  function put([from, start], [to, end]) {
    for (let t = Math.min(from, to); t <= Math.max(from, to); t++) {
      drawn[t] = from === to ? end : start + (t - from) / (to - from) * (end - start);
    }
    [day, came] = [to, null];
    ask();
  }

  const clamp = (value, high) => Math.min(high, Math.max(0, value));
  function place(event) {
    const { left, top, width, height } = pad.getBoundingClientRect();
    const t = Math.floor((event.clientX - left) / width * (S + T)), value = HIGH - (event.clientY - top) / height * (HIGH - LOW);
    return [clamp(t, S - 1), Math.round(clamp(value, most)), t < S];
  }

  pad.addEventListener("pointerdown", (event) => {
    const [t, value, inside] = place(event);
    if (!network || !inside) return;
    event.preventDefault();
    pad.focus({ preventScroll: true });
    pad.setPointerCapture(event.pointerId);
    last = [t, value];
    put(last, last);
  });
  pad.addEventListener("pointermove", (event) => {
    if (!last || !pad.hasPointerCapture(event.pointerId)) return;
    const next = place(event);
    put(last, next);
    last = next;
  });
  pad.addEventListener("lostpointercapture", () => { last = null; });

  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], Home: [-S, 0], End: [S, 0], ArrowUp: [0, 2], ArrowDown: [0, -2], PageUp: [0, 10], PageDown: [0, -10] };
  pad.addEventListener("keydown", (event) => {
    if (!network || !Object.hasOwn(ways, event.key)) return;
    event.preventDefault();
    const [across, up] = ways[event.key];
    if (up) {
      const value = drawn.some((one) => one !== null) ? filled()[day] : most / 2;
      const there = [day, clamp(Math.round(value) + up, most)];
      put(there, there);
    } else {
      day = Math.min(S - 1, Math.max(0, day + across));
      show();
    }
  });

  const ready = series.map(({ name, values }) => make("button", { type: "button", disabled: "", onclick: () => take(values) }, name));
  const wipe = make("button", { type: "button", disabled: "", onclick: clear }, "Clear");

  load([model], pad, told, (found) => {
    network = awake(forecasters, found);
    size.textContent = `${weighed(found)}. Two methods have none: naive repeats the last day, seasonal naive the last ${season} days.`;
    for (const one of [...ready, wipe]) one.disabled = false;
    take(series[0].values);
  });
  show();
  return [make("p", { class: "view-label" }, `Draw ${S} days with a mouse, a finger or arrow keys; five methods go on for ${T} more. Lines separate the weeks.`),
    pad, make("div", { class: "view-moves-back", role: "group", "aria-label": "Take a series" }, ...ready, wipe),
    fit, make("ul", { class: "view-panels", "aria-label": "All methods" }, ...panels.map(({ choose }) => make("li", {}, choose))), answer, size];
}
