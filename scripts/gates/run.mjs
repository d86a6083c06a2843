// Runs the gates: `npm run gates` all of them, `npm run gates -- walls limits` some.
// Each gate first proves itself: it passes a sound tree and catches every planted violation, all in temporary folders.
import { apiReports } from "./api.mjs";
import { changesets } from "./changesets.mjs";
import { installs } from "./installs.mjs";
import { limits } from "./limits.mjs";
import { lint } from "./lint.mjs";
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

let built = false;

/** Builds the workspace, once, for the gates that look at what is published. */
function build() {
  if (built) return;
  const run = tool("turbo", ["run", "build", "--output-logs=errors-only"], home);
  if (run.code !== 0) throw new Error(`The build fails:\n${run.output}`);
  built = true;
}

async function verdict(gate) {
  try {
    if (gate.needsBuild) build();
    const wrong = await selfTest(gate);
    const { problems, warnings = [], seen } = await gate.check(home);
    return { problems: [...wrong, ...problems], warnings, seen };
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)], warnings: [], seen: "nothing" };
  }
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !gates.some((gate) => gate.name === name));
if (unknown.length > 0) {
  console.error(`No gate named ${unknown.join(", ")}. There are: ${gates.map((gate) => gate.name).join(", ")}.`);
  process.exit(2);
}

let passed = 0;
let failed = 0;
for (const gate of gates.filter(({ name }) => asked.length === 0 || asked.includes(name))) {
  const started = performance.now();
  const { problems, warnings, seen } = await verdict(gate);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const fine = problems.length === 0;
  if (fine) passed++;
  else failed++;
  for (const warning of warnings) console.log(`  warning: ${warning}`);
  for (const problem of problems) console.log(`  ${problem}`);
  const proof = `${gate.planted.length} planted violation${gate.planted.length === 1 ? "" : "s"}`;
  console.log(`gate ${gate.name}: ${fine ? "passed" : "FAILED"} (${seen}, ${proof}, ${seconds} s)`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
