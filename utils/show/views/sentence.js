// The words of a sentence as utils.data.libraries has them: small letters, no punctuation, names and
// numbers masked.
const ASK = "Type a sentence of plain words, without formulas.";
const NAME = "<name>", NUMBER = "<number>", LETTER = "[\\p{L}\\p{N}_]";
const MARKED = new RegExp(`(:[:\\p{L}\\p{N}_]+:)?\`+[^\`]*\`+_*|\\*+${LETTER}+\\*+|"[^"]*"|` +
  `(?<!${LETTER})'[^' ]*'(?!${LETTER})|[.\\p{L}\\p{N}_]+[(][)]`, "gu");

function masked(text, names) {
  const plain = text.replaceAll("e.g.", "eg").replaceAll("i.e.", "ie").replace(MARKED, " ` ");
  if (/[=[\]{}<>|^~@#$%&+*:\\]/.test(plain)) return [];
  const found = [];
  for (const piece of plain.split(/[\s/]+|--/)) {
    const word = mask(piece.replace(/^[.,;!?()"']+|[.,;!?()"']+$/g, ""), found.length ? 0 : 1, names);
    if (word && !(word === NAME && found.at(-1) === NAME)) found.push(word);
  }
  return found;
}

function mask(piece, first, names) {
  if (/^[A-Za-z]+(?:['-][A-Za-z]+)*$/.test(piece)) {
    const small = piece.toLowerCase();
    return piece.slice(first) !== small.slice(first) || small.split("-").some((part) => names.includes(part)) ? NAME : small;
  }
  if (/^[-+]?\p{Nd}/u.test(piece)) return NUMBER;
  return piece === "`" || /[\p{L}\p{N}_]/u.test(piece) ? NAME : "";
}
