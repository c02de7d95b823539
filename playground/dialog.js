// A question that is answered before anything else goes on.
import { h } from "./dom.js";

/** Shows a dialog of that title, which is taken away once it is closed; then `onClose` is called. */
export function openDialog(title, content, onClose = () => {}) {
  const heading = h("h2", { id: "dialog-title", tabIndex: -1 }, title);
  const dialog = h("dialog", { "aria-labelledby": heading.id }, heading, ...content);
  dialog.onclose = () => {
    dialog.remove();
    onClose();
  };
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
