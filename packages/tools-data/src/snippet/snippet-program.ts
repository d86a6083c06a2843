/**
 * What the thread of a snippet runs: QuickJS with limits, given the tables as JSON text and a `console.log` that keeps text, and nothing else. It is text, so
 * that it runs the same from sources and from a build.
 */
export const snippetProgram = `
const { parentPort, workerData } = require("node:worker_threads");
const { code, tables, limits, modules } = workerData;
// The engine counts no sizes of blocks in WebAssembly: its memory as a whole is what can be bounded.
const grow = WebAssembly.Memory.prototype.grow;
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + pages * 65536 > limits.memoryBytesMax) throw new RangeError("The memory of the engine is used up.");
  return grow.call(this, pages);
};
(async () => {
  const { newQuickJSWASMModuleFromVariant } = require(modules.core);
  const variant = require(modules.engine);
  const engine = await newQuickJSWASMModuleFromVariant(variant.default ?? variant);
  const runtime = engine.newRuntime();
  runtime.setMaxStackSize(limits.stackBytesMax);
  const until = performance.now() + limits.deadlineMs;
  runtime.setInterruptHandler(() => performance.now() > until);
  const context = runtime.newContext();
  let printed = "";
  let isCut = false;
  const bounded = (text, max) => {
    if (text.length <= max) return text;
    isCut = true;
    return text.slice(0, Math.max(0, max));
  };
  const print = context.newFunction("print", (text) => {
    printed += bounded(context.getString(text) + "\\n", limits.outputCharactersMax - printed.length);
  });
  context.setProp(context.global, "__print", print);
  context.setProp(context.global, "__tables", context.newString(tables));
  const setup = context.evalCode(
    "(() => { const print = globalThis.__print, text = globalThis.__tables; delete globalThis.__print; delete globalThis.__tables;" +
      "const shown = (value) => { if (typeof value === 'string') return value; try { return JSON.stringify(value) ?? String(value); } catch { return String(value); } };" +
      "globalThis.tables = JSON.parse(text);" +
      "globalThis.console = { log: (...values) => { print(values.map(shown).join(' ')); } }; })()",
  );
  if (setup.error) throw new Error("The tables do not fit into the memory of the engine.");
  const messageOf = (handle) => {
    const error = context.dump(handle);
    return String(typeof error === "object" && error !== null ? (error.name ?? "Error") + ": " + error.message : error).slice(0, 1000);
  };
  const result = context.evalCode(code, "snippet.js");
  if (result.error) return { error: messageOf(result.error), printed };
  const jobs = runtime.executePendingJobs();
  if (jobs.error) return { error: messageOf(jobs.error), printed };
  let value = result.value;
  const state = context.getPromiseState(value);
  if (state.type === "rejected") return { error: messageOf(state.error), printed };
  if (state.type === "pending") return { error: "Error: The promise of the snippet is never settled.", printed };
  if (!state.notAPromise) value = state.value;
  if (context.typeof(value) === "undefined") return { printed, isCut };
  const json = context.getProp(context.global, "JSON");
  const text = context.callFunction(context.getProp(json, "stringify"), json, value);
  if (text.error) return { error: messageOf(text.error), printed };
  const shown = context.typeof(text.value) === "string" ? context.getString(text.value) : context.typeof(value);
  return { printed, value: bounded(shown, limits.outputCharactersMax), isCut };
})().then(
  (answer) => parentPort.postMessage(answer),
  (error) => parentPort.postMessage({ error: String(error && error.message).slice(0, 1000), printed: "" }),
);
`;
