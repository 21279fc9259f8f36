// The order of what a search finds: lessons first, the reference after them. An entry of the
// reference comes first only if it is called exactly what was asked for.
var Scorer = {
  objNameMatch: 40,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, , , , score]) => (page.startsWith("reference/") && score < 40 ? score - 30 : score),
};
