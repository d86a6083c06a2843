// The properties of the loop must be able to fail: each of these defects, planted in a copy, has to be noticed by them.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SEEDS = 400;

/** What is broken, in which file of core/src, and how. */
const MUTANTS = [
  ["results stand in the order in which they came", "loop/transcript.ts", "group.sort((a, b) => a.order - b.order);", ""],
  [
    "an aborted call gets no result",
    "loop/plan-abort.ts",
    'if (call.state === "done" || (call.state === "running" && !call.inDoubt)) continue;',
    'if (call.state !== "running" || !call.inDoubt) continue;',
  ],
  ["a retry uses the attempt again", "loop/plan-next-turn.ts", "callModel(run, turn, attempt + 1)", "callModel(run, turn, attempt)"],
  [
    "the next turn begins before all calls are settled",
    "loop/plan.ts",
    'if (run.calls.some((call) => call.state !== "done")) return planCalls(run, now);',
    'if (run.calls.length > 0 && run.calls.every((call) => call.state !== "done")) return planCalls(run, now);',
  ],
  ["a fact with an old number is folded", "loop/fold.ts", "if (fact.seq !== state.seq + 1) return state;", ""],
  ["randomness in the fold", "loop/fold-turns.ts", "toolCallCount: 0,", "toolCallCount: Math.floor(Math.random() * 3),"],
  [
    "the fold changes its input",
    "loop/fold-inputs.ts",
    "steered: [...joins.steered, input]",
    "steered: ((joins.steered as QueuedInput[]).push(input), joins.steered)",
  ],
  ["a class once tool runs again after a crash", "loop/retry/may-run-tool-again.ts", ' || policy.replay === "once"', ""],
  ["the tools of a model call are taken for those of the run", "loop/fold-turns.ts", "{ shown: fact.tools }", "{}"],
  ["a list of tools holds for the model calls after its own", "loop/fold-turns.ts", "shown: ____, ", ""],
  ["a call in doubt is forgotten", "loop/fold-turns.ts", "{ ...call, inDoubt: true }", "call"],
  ["a model call in doubt is forgotten", "loop/fold-turns.ts", "{ ...run.open, inDoubt: true }", "run.open"],
  [
    "a steered input is dropped when the run ends",
    "loop/fold-turns.ts",
    'run.steered.length > 0 ? withInputs(state.inputs, run.steered, "first") : state.inputs',
    "state.inputs",
  ],
  [
    "a steered input is not said",
    "loop/fold-turns.ts",
    "if (input.message) next = appendToRun(next, next.run, { id: String(input.seq), message: input.message, at: fact.at });",
    "",
  ],
  ["an input is accepted twice", "loop/fold-inputs.ts", " || lastWithKey(state.known, fact.inputId, idOfInput) !== undefined", ""],
  [
    "the turn limit is off by one",
    "loop/reached-limit.ts",
    "next === turnsMax && (next > 1 || hasTools) : next > turnsMax",
    "next === turnsMax + 1 && (next > 1 || hasTools) : next > turnsMax + 1",
  ],
  ["the concurrency cap is ignored", "loop/calls-to-start.ts", "underWay.length >= run.limits.parallelMax || ", ""],
  ["a Map in the state", "loop/state.ts", "inputs: [],", "inputs: [], extra: new Map([[1, 2]]) as never,"],
  ["a fork of the history writes over its sibling", "loop/append-list.ts", "if (!isNewest) {", "if (false as boolean) {"],
  [
    "a tool starts after an abort",
    "loop/plan.ts",
    "if (run.abort) return planAbort(run);",
    'if (run.abort && !run.calls.some((call) => call.state === "pending")) return planAbort(run);',
  ],
  [
    "a missing result is not made up",
    "prompt/valid-history.ts",
    "if (!found) return { result: missingResult(call), from: -1 };",
    'if (!found) return { result: { role: "tool_result", toolCallId: "", content: "" } as const, from: -1 };',
  ],
  [
    "an answer that was cut off keeps its end open",
    "prompt/valid-history.ts",
    'if (message.role === "assistant" && last?.role === "assistant") this.#add(proceed, undefined);',
    "",
  ],
  [
    "the request ends with an answer",
    "prompt/valid-history.ts",
    'messages.at(-1)?.role === "assistant" ? [...messages, proceed] : messages',
    "messages",
  ],
  [
    "the builder does not notice another branch",
    "loop/transcript.ts",
    "entry !== transcript.last) {\n    transcript.generation++;",
    "entry !== transcript.last && false) {\n    transcript.generation++;",
  ],
  ["a message is told twice", "loop/kinds/run-kinds.ts", "return [...start, ...joined,", "return [...start, ...joined, ...joined,"],
  ["a message is told with the wrong one before it", "loop/kinds/run-kinds.ts", "tip = id;", ""],
  ["an attempt that came to nothing was free", "loop/kinds/run-kinds.ts", ", cost: fact.cost }),", " }),"],
  [
    "the end of a run is forgotten when the next one ends",
    "loop/fold-turns.ts",
    "append(state.ended, lastRun)",
    "append({ length: 0, chunks: [] }, lastRun)",
  ],
  ["a denied call runs", "loop/calls-to-start.ts", 'if (call.approval?.decision === "deny") {', "if (false as boolean) {"],
  [
    "a second decision counts",
    "loop/fold-calls.ts",
    'return call?.state === "awaiting_approval" ? call : undefined;',
    'return call?.state === "awaiting_approval" || call?.approval ? call : undefined;',
  ],
  ["a call is asked about again", "loop/fold-calls.ts", '{ state: "pending", approval, ...', '{ state: "pending", ...'],
  [
    "a decision is forgotten",
    "loop/fold-calls.ts",
    "append(state.decisions ?? emptyList<KnownDecision>(), known)",
    "emptyList<KnownDecision>()",
  ],
  [
    "a run that failed goes on",
    "loop/plan.ts",
    "run.failure ? planFailure(run, run.failure, now) : planNextTurn(run, now)",
    "planNextTurn(run, now)",
  ],
];

/** Runs every property on the tree; the exit code states whether one broke. */
const RUNNER = `
import { loopProperties } from "./loop/loop-properties.ts";
for (let seed = 1; seed <= ${SEEDS}; seed++) for (const check of Object.values(loopProperties)) check(seed);
`;

/** The properties, and the random sessions that they are held to. */
const TESTING = "packages/testing";
const PROPERTIES = `${TESTING}/test/loop/loop-properties.ts`;

function run(dir) {
  const flags = ["--no-warnings", "--conditions=@loopwright/source"];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...flags, "run.ts"], {
      cwd: join(dir, TESTING, "test"),
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: join(dir, "compiled") },
      timeout: 300_000,
    });
    let written = "";
    child.stderr.on("data", (bytes) => {
      written = (written + bytes).slice(-2_000);
    });
    child.on("exit", (code) => resolve({ survived: code === 0, written }));
  });
}

/** Copies core and its kits, without what is installed in them: the kits find core where the copy is. */
function copyTree(root, dir) {
  for (const path of [
    "packages/core/package.json",
    "packages/core/src",
    `${TESTING}/package.json`,
    `${TESTING}/src`,
    `${TESTING}/test/loop`,
  ])
    cpSync(join(root, path), join(dir, path), { recursive: true });
  mkdirSync(join(dir, TESTING, "node_modules/@loopwright"), { recursive: true });
  symlinkSync("../../../core", join(dir, TESTING, "node_modules/@loopwright/core"));
  writeFileSync(join(dir, TESTING, "test/run.ts"), RUNNER);
}

/** Plants the defect in the copy, runs it, and takes the defect out again. */
async function tryMutant(dir, [title, file, good, bad]) {
  const path = join(dir, "packages/core/src", file);
  const text = readFileSync(path, "utf8");
  if (text.split(good).length !== 2)
    return `mutant "${title}": the code it changes stands ${text.split(good).length - 1} times in ${file}; bring the mutant up to date`;
  writeFileSync(
    path,
    text.replace(good, () => bad),
  );
  try {
    const { survived } = await run(dir);
    return survived ? `mutant survived ${SEEDS} seeds: ${title}` : undefined;
  } finally {
    writeFileSync(path, text);
  }
}

/** What is wrong with a mutant; without one, with the sound tree. */
async function problemOf(dir, mutant) {
  if (mutant) return tryMutant(dir, mutant);
  const { survived, written } = await run(dir);
  return survived ? undefined : `the properties fail on the sound tree: ${written}`;
}

async function check(root) {
  if (!existsSync(join(root, PROPERTIES))) return { problems: [], seen: "no loop" };
  const waiting = [undefined, ...MUTANTS];
  const problems = [];
  // Each has one copy for all its mutants: what Node.js compiled of the files that are the same is kept beside it.
  const worker = async () => {
    const dir = mkdtempSync(join(tmpdir(), "loopwright-mutant-"));
    try {
      copyTree(root, dir);
      while (waiting.length > 0) {
        const problem = await problemOf(dir, waiting.shift());
        if (problem) problems.push(problem);
      }
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  };
  await Promise.all([worker(), worker()]);
  return { problems, seen: `${MUTANTS.length} mutants, ${SEEDS} seeds each` };
}

/** @type {import("./tree.mjs").Gate} */
export const mutants = { name: "mutants", sound: {}, planted: [], check };
