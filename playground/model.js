// Which model speaks, in either view.
const watching = [];
let model = "";

/** Its public id; empty for the default one. */
export const modelNow = () => model;

/** Has another one speak, by its id; empty for the default one. */
export function chooseModel(id) {
  if (id === model) return;
  model = id;
  for (const tell of watching) tell(id);
}

/** Has `onModel` called with the id of each that is chosen from now on. */
export function watchModel(onModel) {
  watching.push(onModel);
}
