// Shows that `npm test` does not depend on luck or on where it runs:
//   npm run repeat-tests -- 20         runs it twenty times in a row, beside a process that keeps one core busy
//   npm run repeat-tests -- --places   runs it once as root and once as a user without rights, in folders of mode 0700 and 0755, in a fresh clone whose path has a space
//                                      and an umlaut; a caller that is not root runs only their own two
// Each run has a log, whose path is printed. Ends with 0 only when all runs passed.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, createWriteStream, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What the arguments ask for: a number of runs, the places, or what is wrong with them. */
export function wishesOf(args, uid) {
  const [first, ...more] = args;
  if (more.length > 0) return { problem: `\`${more.join(" ")}\` is one argument too many. Give a number of runs, or --places.` };
  if (first === "--places") return { places: placesOf(uid) };
  const count = Number(first ?? "20");
  if (Number.isSafeInteger(count) && count > 0) return { count };
  return { problem: `\`${first}\` is neither a number of runs nor --places.` };
}

/** Users and modes of the folder: root can run as a user without rights too. */
function placesOf(uid) {
  const users = uid === 0 ? ["root", "nobody"] : ["this user"];
  return users.flatMap((user) => [0o700, 0o755].map((mode) => ({ user, mode })));
}

/** The lines that give what failed. */
export const failuresIn = (text) => [...new Set(text.split("\n").filter((line) => /^\s*FAIL |^loopwright: |Unhandled/.test(line)))];

/** Runs `npm test` to its end, with all that it prints in the log. Gives whether it passed. */
async function runOnce({ title, folder, log, options = {} }) {
  const begun = performance.now();
  const child = spawn("npm", ["test", "--", "--no-color"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"], ...options });
  const file = createWriteStream(log);
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes) => {
      file.write(bytes);
      text += bytes;
    });
  const code = await new Promise((resolve) => child.once("close", resolve));
  file.end();
  const isGood = code === 0;
  console.log(`${isGood ? "passed" : "FAILED"}: ${title} (${Math.round((performance.now() - begun) / 1000)} s), ${log}`);
  if (!isGood) for (const line of failuresIn(text)) console.log(`  ${line.trim()}`);
  return isGood;
}

/** A clone for that user, in a folder of that mode: the folders above it let everybody through. */
function cloneFor({ user, mode }, parent) {
  const place = join(parent, `${user} ${mode.toString(8)}`);
  const folder = join(place, "grüne Wiese");
  mkdirSync(place);
  const cloning = spawnSync("git", ["clone", "--quiet", "--no-hardlinks", root, folder], { stdio: "inherit" });
  if (cloning.status !== 0) throw new Error("The workspace could not be cloned.");
  const options = { env: { ...process.env } };
  if (user === "nobody") {
    const { uid, gid } = unprivilegedIds();
    // Its own: it may not write to the folders of the user that runs this.
    const home = join(place, "home");
    mkdirSync(home);
    Object.assign(options, { uid, gid, env: { ...process.env, HOME: home, USER: user, npm_config_cache: join(home, ".npm") } });
    spawnSync("chown", ["-R", `${uid}:${gid}`, place]);
  }
  chmodSync(place, mode);
  return { folder, options };
}

function unprivilegedIds() {
  const idOf = (flag) => Number(spawnSync("id", [flag, "nobody"], { encoding: "utf8" }).stdout);
  return { uid: idOf("-u"), gid: idOf("-g") };
}

async function runPlaces(places, logs) {
  const parent = mkdtempSync(join(tmpdir(), "loopwright-places-"));
  chmodSync(parent, 0o755);
  const verdicts = [];
  try {
    for (const place of places) {
      const title = `as ${place.user} in a folder of mode 0${place.mode.toString(8)}`;
      const log = join(logs, `${place.user.replace(" ", "-")}-0${place.mode.toString(8)}.log`);
      verdicts.push(await runOnce({ title, log, ...cloneFor(place, parent) }));
    }
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
  return verdicts;
}

async function runInARow(count, logs) {
  const busy = spawn(process.execPath, ["--eval", "for (;;);"], { stdio: "ignore" });
  const verdicts = [];
  try {
    for (let run = 1; run <= count; run++)
      verdicts.push(await runOnce({ title: `run ${run} of ${count}`, folder: root, log: join(logs, `run-${run}.log`) }));
  } finally {
    busy.kill();
  }
  return verdicts;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wishes = wishesOf(process.argv.slice(2), process.getuid?.());
  if (wishes.problem) {
    console.error(wishes.problem);
    process.exit(2);
  }
  const logs = mkdtempSync(join(tmpdir(), "loopwright-repeated-"));
  const verdicts = wishes.places ? await runPlaces(wishes.places, logs) : await runInARow(wishes.count, logs);
  const passed = verdicts.filter(Boolean).length;
  console.log(`${passed} of ${verdicts.length} runs passed`);
  process.exitCode = passed === verdicts.length ? 0 : 1;
}
