// Shows README.md, or the page of docs/ in the address, by RapiDoc: it formats Markdown and lists the headings.

const MISSING = "\nThis server does not have this page. It is in the folder `docs` of Antiphon's repository.";
const [page] = /^[\w-]+\.md$/.exec(new URLSearchParams(location.search).get("page")) ?? ["README.md"];

/** Links pages to each other here. Other files of the repository are named without a link. */
const withLinks = (text) =>
  text
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replaceAll(/\]\((?:docs\/|\.\.\/)?([\w-]+\.md)(?:#[\w-]*)?\)/g, "](/documentation?page=$1)")
    .replaceAll(/\[([^\]]*)\]\((?!https?:|[#/])[^)]*\)/g, "$1");

const reply = await fetch(`/documentation/${page}`);
const [heading, ...lines] = reply.ok ? (await reply.text()).split("\n") : [`# ${page}`, MISSING];
const title = heading.replace(/^# /, "");
document.title = `${title} · Antiphon documentation`;
const info = { title, version: "", description: withLinks(lines.join("\n")) };
await customElements.whenDefined("rapi-doc");
await document.querySelector("rapi-doc").loadSpec({ openapi: "3.1.0", info, paths: {} });
