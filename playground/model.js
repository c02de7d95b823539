// The model that speaks, in every tab.
const watching = [];
let model = "";

/** Its public id; empty for the default one. */
export const modelNow = () => model;

/** Chooses a model by its id; empty for the default one. */
export function chooseModel(id) {
  if (id === model) return;
  model = id;
  for (const tell of watching) tell(id);
}

/** Calls `onModel` with the id of every model that is chosen. */
export function watchModel(onModel) {
  watching.push(onModel);
}
