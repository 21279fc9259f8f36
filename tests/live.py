"""What tests of views whose model runs in the page share: what it computes there."""

import json

from utils.show.views import frame, models

RUN = """([given, held, parts, name]) => {
    const make = new Function(`${parts} return ${name}(runtime(), arguments[0]);`);
    const plain = (x) => ArrayBuffer.isView(x) ? [...x] : Array.isArray(x) ? x.map(plain)
        : x && typeof x === "object"
        ? Object.fromEntries(Object.entries(x).map(([key, value]) => [key, plain(value)])) : x;
    return plain([...make(held)(given)]);
}"""


def computed(chromium, model: str, name: str, parts: list[str], **given) -> list[dict]:
    """What the function of that name yields for a stored model, in the page."""
    script = (models.FOLDER / f"{model}.js").read_text("ascii")
    held = json.loads(script.partition("] = ")[2].removesuffix(";\n"))
    code = "\n".join((frame.HERE / f"{part}.js").read_text("utf-8") for part in parts)
    tab = chromium.new_page()
    found = tab.evaluate(RUN, [given, held, code, name])
    tab.close()
    return found
