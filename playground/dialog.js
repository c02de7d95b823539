// Modal dialogs.
import { h } from "./dom.js";

/** Shows a dialog, which is removed when it closes. Then `onClose` is called. */
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
