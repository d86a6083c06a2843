// The other half of each pair: what a tool does in this page. The user sees every step, and what is the user's own is refused.
import { createClient } from "@loopwright/client";
import { runClientTools } from "@loopwright/client/tools";

const at = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const modules = all("[data-module]").map(({ dataset }) => dataset.module);
const shown = () => modules.find((id) => !at(`#${id}`).hidden);

/** Elements of the module that is open; what is in another one cannot be worked with, since the user does not see it. */
const here = (selector) => at(`#${shown()} ${selector}`);
const known = (element, what) => {
  if (!element) throw new Error(`The module ${shown()} has no ${what}. Look at the page again.`);
  return element;
};

/** Shows the user where the assistant works. */
function touch(element) {
  for (const before of all("[data-touched]")) delete before.dataset.touched;
  element.dataset.touched = "";
  element.scrollIntoView({ block: "nearest" });
}

function open(module) {
  for (const id of modules) {
    at(`#${id}`).hidden = id !== module;
    if (id === module) at(`[data-module="${id}"]`).setAttribute("aria-current", "page");
    else at(`[data-module="${id}"]`).removeAttribute("aria-current");
  }
}

function select(row) {
  for (const each of all("[data-row]")) each.setAttribute("aria-selected", String(each === row));
  at("#customer").textContent = row.dataset.row;
}

const actions = {
  inspect_page: () => ({
    module: shown(),
    modules,
    fields: all(`#${shown()} [name]`).map(({ name, value, type }) => ({ name, ...(type === "password" ? {} : { value }) })),
    buttons: all(`#${shown()} [data-button]`).map(({ dataset }) => dataset.button),
    rows: all(`#${shown()} [data-row]`).map(({ dataset }) => dataset.row),
  }),
  set_field({ field, value }) {
    const input = known(here(`[name="${CSS.escape(field)}"]`), `field ${field}`);
    touch(input);
    input.value = value;
    // As if the user had typed: the page's own code gets the events, and what a field does not take is not there.
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.dispatchEvent(new Event("change", { bubbles: true }));
    if (input.value !== value || !input.checkValidity()) throw new Error(`The field ${field} does not take ${value}.`);
    return `The field ${field} has ${input.value}.`;
  },
  click_button({ button }) {
    const found = known(here(`[data-button="${CSS.escape(button)}"]`), `button ${button}`);
    touch(found);
    found.click();
    return at("#state").textContent || "Clicked.";
  },
  navigate({ module }) {
    const link = known(modules.includes(module) ? at(`[data-module="${module}"]`) : undefined, `way to ${module}`);
    touch(link);
    open(module);
    return `The user sees ${module}.`;
  },
  select_row({ row }) {
    const found = known(here(`[data-row="${CSS.escape(row)}"]`), `row ${row}`);
    touch(found);
    select(found);
    return `Selected ${row}.`;
  },
};

/** The user types codes and pays: the model reads why it may not. */
function authorise({ toolName, args }) {
  if (toolName === "set_field" && here(`[name="${CSS.escape(args.field)}"]`)?.type === "password") return { deny: "The user types codes." };
  if (toolName === "click_button" && args.button === "Pay") return { deny: "The user pays." };
  return true;
}

// What the user does by hand.
for (const link of all("[data-module]")) link.addEventListener("click", () => open(link.dataset.module));
for (const row of all("[data-row]")) row.addEventListener("click", () => select(row));
at('[data-button="Check"]').addEventListener("click", () => {
  const { count, flower, city } = Object.fromEntries(new FormData(at("#order form")));
  at("#state").textContent = `Ready: ${count} ${flower} for ${at("#customer").textContent} in ${city}.`;
});
at('[data-button="Pay"]').addEventListener("click", () => {
  at("#state").textContent = "Paid.";
});

const client = createClient({ url: "" });
const declared = await (await fetch("ui-tools.json")).json();
const tools = declared.map((tool) => ({ ...tool, execute: (args) => actions[tool.name](args) }));
let leaving = new AbortController();

/** One line for each call, with its outcome. */
function step({ callKey, toolName, args }, words) {
  const id = `step-${callKey}`;
  const line = document.getElementById(id) ?? at("#steps").appendChild(Object.assign(document.createElement("li"), { id }));
  const label = declared.find(({ name }) => name === toolName)?.label ?? toolName;
  line.textContent = `${label} ${Object.values(args).join(": ")} (${words})`;
}

const textOf = ({ content }) =>
  typeof content === "string" ? content : content.flatMap((part) => (part.type === "text" ? part.text : [])).join("");

/** Shows the calls of the session and its answer. */
function show({ path, status }) {
  const calls = path.flatMap(({ message }) =>
    Array.isArray(message.content) ? message.content.filter(({ type }) => type === "tool_call") : [],
  );
  for (const { message } of path) {
    if (message.role !== "tool_result") continue;
    const call = calls.find(({ callKey }) => callKey === message.callKey);
    if (call) step({ ...call, toolName: call.name }, message.outcome === "ok" ? "done" : textOf(message).slice(0, 120));
  }
  const last = path.at(-1)?.message;
  if (last?.role === "assistant") at("#answer").textContent = textOf(last);
  at("#stop").disabled = status !== "running" && status !== "waiting";
}

let sessionId;
at("#ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { words, surface } = Object.fromEntries(new FormData(event.target));
  leaving.abort();
  leaving = new AbortController();
  at("#steps").replaceChildren();
  at("#answer").textContent = "";
  try {
    ({ sessionId } = await client.sessions.create());
    const watched = runClientTools(client, {
      sessionId,
      tools,
      authorise,
      signal: leaving.signal,
      onView: show,
      onChange: (running) => {
        for (const { call, state } of running) step(call, state);
      },
    });
    watched.catch((error) => error.name !== "AbortError" && fail(error));
    await client.sessions.submit(sessionId, words, { labels: { surface } });
  } catch (error) {
    fail(error);
  }
});
at("#stop").addEventListener("click", () => client.sessions.abort(sessionId).catch(fail));

function fail({ message, fix = "" }) {
  at("#answer").textContent = `${message} ${fix}`;
}
