// Runs the gates: `npm run gates` all of them, `npm run gates -- walls limits` some.
// Each gate first proves itself: it passes a sound tree and catches every planted violation, all in temporary folders.
// Gates that pack what is published and all others run in a process each, side by side: the first mostly wait for npm, the others compute.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { apiReports } from "./api.mjs";
import { changesets } from "./changesets.mjs";
import { installs } from "./installs.mjs";
import { limits } from "./limits.mjs";
import { lint } from "./lint.mjs";
import { mentions } from "./mentions.mjs";
import { mutants } from "./mutants.mjs";
import { packages } from "./packages.mjs";
import { prose } from "./prose.mjs";
import { purity } from "./purity.mjs";
import { sizes } from "./sizes.mjs";
import { templates } from "./templates.mjs";
import { text } from "./text.mjs";
import { home, inTemporaryTree, tool } from "./tree.mjs";
import { types } from "./types.mjs";
import { unused } from "./unused.mjs";
import { walls } from "./walls.mjs";

const gates = [
  walls,
  limits,
  purity,
  lint,
  types,
  unused,
  text,
  prose,
  mentions,
  mutants,
  changesets,
  apiReports,
  packages,
  sizes,
  installs,
  templates,
];

/** What the gate gets wrong about trees whose answer is known. */
async function selfTest(gate) {
  const sound = await inTemporaryTree(gate.sound, (root) => gate.check(root));
  const wrong = sound.problems.map((problem) => `false alarm on the sound tree: ${problem}`);
  const files = Object.assign({ ...gate.sound }, ...gate.planted.map((violation) => violation.files));
  const planted = await inTemporaryTree(files, (root) => gate.check(root));
  for (const { title, expects } of gate.planted)
    if (!planted.problems.some((problem) => expects.test(problem)))
      wrong.push(`planted violation not caught: ${title}\n    it said: ${planted.problems.join("\n             ") || "nothing"}`);
  return wrong;
}

/** Builds the workspace for the gates that look at builds. Gives what went wrong. */
function build() {
  const run = tool("node", [join(home, "scripts/build-packages.mjs"), "--declarations"], home);
  return run.code === 0 ? [] : [`The build fails:\n${run.output}`];
}

async function verdict(gate) {
  try {
    const wrong = await selfTest(gate);
    const { problems, warnings = [], seen } = await gate.check(home);
    return { problems: [...wrong, ...problems], warnings, seen };
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)], warnings: [], seen: "nothing" };
  }
}

/** Runs the gates one after another, and reports each. */
async function runAll(some, report) {
  for (const gate of some) {
    const started = performance.now();
    const found = await verdict(gate);
    report({ name: gate.name, ...found, seconds: (performance.now() - started) / 1000 });
  }
}

/** The same in a process of its own. */
async function runBeside(some, report) {
  const open = new Set(some.map(({ name }) => name));
  const child = fork(fileURLToPath(import.meta.url), [beside, ...open]);
  child.on("message", (one) => {
    open.delete(one.name);
    report(one);
  });
  await once(child, "exit");
  for (const name of open)
    report({ name, problems: ["the process of this gate ended before it"], warnings: [], seen: "nothing", seconds: 0 });
}

/** The first argument of a process that reports to the one that has started it. */
const beside = "--beside";
const isBeside = process.argv[2] === beside;

const asked = process.argv.slice(isBeside ? 3 : 2);
const unknown = asked.filter((name) => !gates.some((gate) => gate.name === name));
if (unknown.length > 0) {
  console.error(`No gate named ${unknown.join(", ")}. There are: ${gates.map((gate) => gate.name).join(", ")}.`);
  process.exit(2);
}
const wanted = gates.filter(({ name }) => asked.length === 0 || asked.includes(name));

let passed = 0;
let failed = 0;
function print({ name, problems, warnings, seen, seconds }) {
  if (problems.length === 0) passed++;
  else failed++;
  for (const warning of warnings) console.log(`  warning: ${warning}`);
  for (const problem of problems) console.log(`  ${problem}`);
  const { length } = gates.find((gate) => gate.name === name).planted;
  const proof = `${length} planted violation${length === 1 ? "" : "s"}`;
  console.log(`gate ${name}: ${problems.length === 0 ? "passed" : "FAILED"} (${seen}, ${proof}, ${seconds.toFixed(1)} s)`);
}

async function runHere() {
  const failures = wanted.some(({ needsBuild }) => needsBuild) ? build() : [];
  const isPossible = ({ needsBuild }) => failures.length === 0 || !needsBuild;
  for (const { name } of wanted.filter((gate) => !isPossible(gate)))
    print({ name, problems: failures, warnings: [], seen: "nothing", seconds: 0 });
  const possible = wanted.filter(isPossible);
  const groups = [possible.filter(({ packs }) => packs), possible.filter(({ packs }) => !packs)].filter(({ length }) => length > 0);
  if (groups.length > 1) await Promise.all(groups.map((group) => runBeside(group, print)));
  else for (const group of groups) await runAll(group, print);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

if (isBeside) await runAll(wanted, (one) => process.send(one));
else await runHere();
