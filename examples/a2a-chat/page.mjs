// A chat over three kinds of events: `status` (text that grows), `progress` (what tools do), `result` (the end).
const at = (selector) => document.querySelector(selector);
const element = (tag, properties = {}, children = []) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

/** The task that is shown, kept for a reload of the page. */
const kept = {
  get: () => JSON.parse(sessionStorage.getItem("task") ?? "{}"),
  set: (task) => sessionStorage.setItem("task", JSON.stringify({ ...kept.get(), ...task })),
};

function article(label, text = "") {
  const one = element("article", { ariaLabel: label }, [
    element("div", { className: "text", textContent: text }),
    element("ol", { ariaLabel: "Work" }),
    element("p", { className: "state" }),
  ]);
  at("#talk").append(one);
  return one;
}

/** The line of one call; a later event of the same call takes its place. */
function workLine(list, { callKey, toolName, title, state, output }) {
  const id = `call-${callKey ?? title}`;
  const line = [...list.children].find((one) => one.dataset.call === id) ?? list.appendChild(element("li"));
  line.dataset.call = id;
  const words = (output ?? []).flatMap((part) => (part.type === "text" ? part.text : [])).join("");
  line.textContent = `${toolName ?? title}: ${state}${words === "" ? "" : ` (${words})`}`;
}

function show(answer, event, { text = "", replace, state, note = "", data = [], ...ids }) {
  const [words, work, foot] = answer.children;
  kept.set({ taskId: ids.taskId, ...(ids.contextId ? { contextId: ids.contextId } : {}), state });
  if (event === "progress") {
    for (const one of data) workLine(work, one);
    if (text !== "") workLine(work, { title: text, state });
    return;
  }
  if (event === "status") words.textContent = replace ? text : words.textContent + text;
  if (event !== "result") return;
  words.textContent = text;
  foot.textContent = state === "completed" ? "" : `${state}: ${note}`;
}

/** The events of a response, each as soon as it has come. */
async function* eventsOf(response) {
  let rest = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + piece).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const [, event, data] = /^event: (\w+)\ndata: (.+)$/.exec(frame) ?? [];
      if (event) yield [event, JSON.parse(data)];
    }
  }
}

/** True once the task has its result. */
async function follow(answer, response) {
  if (!response.ok) throw new Error((await response.json()).error);
  for await (const [event, data] of eventsOf(response)) {
    if (event === "error") return false;
    show(answer, event, data);
    if (event === "result") return true;
  }
  return false;
}

const pauseMs = 1_000;
const attemptsMax = 20;

/** Shows an answer to its end. A stream that breaks is followed again from the task, whose text is sent whole. */
async function answerWith(answer, begin) {
  at("#stop").hidden = false;
  let ask = begin;
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    try {
      if (await follow(answer, await ask())) break;
    } catch (error) {
      if (kept.get().taskId === undefined || attempt === attemptsMax - 1) {
        answer.lastElementChild.textContent = error.message;
        answer.lastElementChild.role = "alert";
        break;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, attempt === 0 ? 0 : pauseMs));
    ask = () => {
      answer.firstElementChild.textContent = "";
      return fetch(`chat?task=${encodeURIComponent(kept.get().taskId)}`);
    };
  }
  at("#stop").hidden = true;
}

at("#ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = event.target.elements.text;
  const { taskId, contextId, state } = kept.get();
  const body = JSON.stringify({ text: field.value, contextId, ...(state === "input-required" ? { taskId } : {}) });
  article("You", field.value);
  field.value = "";
  if (state !== "input-required") kept.set({ taskId: undefined });
  kept.set({ state: "submitted" });
  await answerWith(article("Answer"), () => fetch("chat", { method: "POST", headers: { "Content-Type": "application/json" }, body }));
});

at("#stop").addEventListener("click", () => fetch(`chat?task=${encodeURIComponent(kept.get().taskId)}`, { method: "DELETE" }));

// A reload of the page: the task is shown again, at its end or while it runs.
const { taskId } = kept.get();
if (taskId !== undefined) await answerWith(article("Answer"), () => fetch(`chat?task=${encodeURIComponent(taskId)}`));
