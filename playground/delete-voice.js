// The dialog that deletes a custom voice.
import { openDialog } from "./dialog.js";
import { h, problemLine, showError } from "./dom.js";
import { fail, server } from "./server.js";
import { listVoices } from "./voices.js";

/** Asks whether to delete a voice, and deletes it. Calls `onDeleted` when it is gone from the page. */
export function askToDelete({ id, name }, onDeleted) {
  const leaving = new AbortController();
  const problem = problemLine();
  const remove = async () => {
    go.disabled = true;
    showError(null, problem);
    try {
      await server().deleteVoice(id, { signal: leaving.signal });
    } catch (error) {
      if (leaving.signal.aborted) return;
      fail(error, problem, "The voice was not deleted.");
      go.disabled = false;
      // Another page may have deleted it.
      if (error.status === 404) await listVoices().catch(() => {});
      return;
    }
    dialog.close();
    await listVoices().catch(fail);
    onDeleted();
  };
  const keep = h("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Cancel");
  const go = h("button", { type: "button", className: "alarming", onclick: () => void remove() }, "Delete");
  const said = h(
    "p",
    {},
    h("strong", { dir: "auto" }, name),
    " and its recording will be deleted permanently.",
  );
  const content = [said, problem, h("div", { className: "row ends" }, keep, go)];
  const dialog = openDialog("Delete this voice?", content, () => leaving.abort());
}
