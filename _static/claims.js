/* The page of claims: its list of answers becomes a choice, which leaves the claims that got it. */
document.addEventListener("DOMContentLoaded", () => {
  const list = document.querySelector(".answers > ul");
  if (!list) return;
  const claims = [...document.querySelectorAll(".claim")];
  const answerOf = (claim) => claim.querySelector("strong").textContent.replace(/^It |\.$/g, "");
  const answers = new Map([...list.children].map((item) => {
    const [, number, answer] = item.textContent.trim().match(/^(\d+) (.*)$/);
    return [answer, number];
  }));

  const status = Object.assign(document.createElement("p"), { className: "answers-shown" });
  status.setAttribute("role", "status");
  const show = (answer) => {
    for (const claim of claims) claim.hidden = answer !== null && answerOf(claim) !== answer;
    for (const section of document.querySelectorAll("section:has(> .claim)")) {
      section.hidden = !section.querySelector(".claim:not([hidden])");
      const entry = document.querySelector(`.page-toc a[href="#${section.id}"]`)?.parentNode;
      if (entry) entry.hidden = section.hidden;
    }
    const seen = claims.filter((claim) => !claim.hidden).length;
    status.textContent = `${seen} of ${claims.length} claims are shown.`;
  };

  const choice = document.createElement("fieldset");
  choice.append(Object.assign(document.createElement("legend"), { textContent: "Show" }));
  for (const [answer, number] of [[null, claims.length], ...answers]) {
    const label = document.createElement("label");
    const radio = Object.assign(document.createElement("input"), { type: "radio", name: "answer" });
    radio.checked = answer === null;
    radio.addEventListener("change", () => show(answer));
    const text = document.createElement("span");
    text.textContent = `${number} ${answer ?? "in all"}`;
    label.append(radio, text);
    choice.append(label);
  }
  list.replaceWith(choice, status);
  show(null);
});
