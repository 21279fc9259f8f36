// A model that lives in a page: its weights come by a script, and a worker computes, so that the page
// goes on answering. In the worker: `model(runtime(), stored)` makes a function whose generator yields
// what a run finds, piece by piece; a new run ends the one before.
function serve(model) {
  const { port1, port2 } = new MessageChannel(); // setTimeout would wait for 4 ms
  const pause = (ms) => new Promise((go) => {
    if (ms) setTimeout(go, ms);
    else {
      port1.onmessage = go;
      port2.postMessage(null);
    }
  });
  let run, latest;
  onmessage = async ({ data: { load, id, input, pace } }) => {
    if (load) {
      run = model(runtime(), load);
      return;
    }
    latest = id;
    if (input === undefined) return;
    for (const found of run(input)) {
      postMessage({ id, found });
      await pause(pace);
      if (latest !== id) return;
    }
    postMessage({ id, done: true });
  };
}

// A worker with a stored model, or with several by name. run: for each piece `take` is called, at the end `done`; at most one
// piece comes in `pace` milliseconds. stop: nothing of a run comes any more.
function awake(model, stored) {
  const source = `"use strict";\n${runtime}\n${model}\n(${serve})(${model.name});`;
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const now = { id: 0 };
  worker.onmessage = ({ data: { id, found, done } }) => {
    if (id !== now.id) return;
    if (done) now.done();
    else now.take(found);
  };
  worker.postMessage({ load: stored });
  return {
    run(input, pace, take, done) {
      Object.assign(now, { id: now.id + 1, take, done });
      worker.postMessage({ id: now.id, input, pace });
    },
    stop() {
      worker.postMessage({ id: ++now.id });
    },
  };
}

// When something on the page comes near to what the visitor sees.
const near = (node) => new Promise((come) => {
  const observer = new IntersectionObserver((seen) => {
    if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    come();
  }, { rootMargin: "800px" });
  observer.observe(node);
});

// A stored model: in JupyterLab the cell has handed it over when it was run, a built page has a file.
function stored({ name, sha256 }) {
  const held = () => [globalThis.bookModels?.[name]].find((model) => model?.sha256 === sha256);
  const root = document.documentElement.dataset.content_root;
  return new Promise((found, missing) => {
    if (held()) found(held());
    else if (root === undefined) missing("The model is not in a saved notebook: run this cell to open it.");
    else {
      const lacks = () => missing("The model's file is missing or damaged: load this page again.");
      const src = `${root}_static/models/${name}.js?v=${sha256.slice(0, 8)}`;
      document.head.append(make("script", { src, onerror: lacks, onload: () => (held() ? found(held()) : lacks()) }));
    }
  });
}

// Once a place on the page comes near, `wake` gets the stored models; until then, and where one is
// missing, `told` says so.
function load(models, place, told, wake) {
  told.textContent = models.length > 1 ? "The models are being loaded." : "The model is being loaded.";
  near(place).then(() => Promise.all(models.map(stored))).then((found) => wake(...found))
    .catch((problem) => { told.textContent = `${problem}`; });
}

function weighed({ weights }) {
  const n = weights.reduce((sum, [, rows, columns = 1]) => sum + rows * columns, 0);
  return `${count(n)} weights, most of one byte, run in this page`;
}

const numbered = (n) => Array.from({ length: n }, (_, i) => `${i + 1}`);
