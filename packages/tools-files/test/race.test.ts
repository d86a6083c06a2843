import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeScratch, type Scratch, secret } from "./scratch.ts";

const rounds = Number(process.env["LOOPWRIGHT_RACE_ROUNDS"] ?? 150);

/** Swaps `root/d` for a link to the folder outside and back, and `root/f` for a link, a FIFO and back, as fast as it can. */
const attack = `
const { renameSync, rmSync, symlinkSync } = require("node:fs");
const { workerData, parentPort } = require("node:worker_threads");
const { root, outside, flags } = workerData;
const state = new Int32Array(flags);
// The tools may make the name anew while it is away: then it is in the way.
const putBack = (at, away) => {
  for (;;) {
    try {
      rmSync(at, { recursive: true, force: true });
      return renameSync(away, at);
    } catch {}
  }
};
const swap = (name, target) => {
  const at = root + "/" + name;
  renameSync(at, at + ".away");
  try {
    symlinkSync(target, at);
  } catch {}
  putBack(at, at + ".away");
};
parentPort.postMessage("started");
while (Atomics.load(state, 0) === 0) {
  swap("d", outside);
  swap("f", outside + "/secret.txt");
  renameSync(root + "/fifo", root + "/f.fifo");
  renameSync(root + "/f", root + "/f.away");
  renameSync(root + "/f.fifo", root + "/f");
  renameSync(root + "/f", root + "/fifo");
  renameSync(root + "/f.away", root + "/f");
  Atomics.add(state, 1, 1);
}
parentPort.postMessage("stopped");
`;

interface Attacker {
  readonly swaps: () => number;
  stop(): Promise<void>;
}

async function startAttacker(scratch: Scratch): Promise<Attacker> {
  const flags = new SharedArrayBuffer(8);
  const state = new Int32Array(flags);
  const worker = new Worker(attack, { eval: true, workerData: { root: scratch.root, outside: scratch.outside, flags } });
  const failed = new Promise<never>((_, reject) => worker.once("error", reject));
  failed.catch(() => {});
  const next = (): Promise<unknown> => Promise.race([failed, new Promise((resolve) => worker.once("message", resolve))]);
  await next();
  onTestFinished(async () => void (await worker.terminate()));
  return {
    swaps: () => Atomics.load(state, 1),
    async stop() {
      const stopped = next();
      Atomics.store(state, 0, 1);
      await stopped;
    },
  };
}

async function makeArena(): Promise<Scratch> {
  const scratch = await makeScratch();
  await mkdir(join(scratch.root, "d"));
  await writeFile(join(scratch.root, "d", "secret.txt"), "harmless");
  await writeFile(join(scratch.root, "f"), "harmless");
  execFileSync("env", ["mkfifo", join(scratch.root, "fifo")]);
  return scratch;
}

// Elsewhere nothing like `openat` can be had from Node.js; see `folder.ts`.
describe.skipIf(process.platform !== "linux")("P05 folders and files swapped for links while they are used:", () => {
  it("no read and no write escapes", async () => {
    const scratch = await makeArena();
    const attacker = await startAttacker(scratch);
    const outcomes = { ok: 0, refused: 0 };
    const codes = new Set<string | undefined>();
    const planted = "written inside";
    for (let round = 0; round < rounds; round++) {
      const trials = await Promise.all([
        scratch.call("file_read", { path: "d/secret.txt" }),
        scratch.call("file_read", { path: "f" }),
        scratch.call("file_create", { path: `d/new-${round % 5}.txt`, content: `${planted} ${round}`, overwrite: true }),
      ]);
      for (const { result, text } of trials) {
        expect(text).not.toContain(secret);
        outcomes[result.outcome === "ok" ? "ok" : "refused"]++;
        codes.add(result.failure?.code);
      }
    }
    const swaps = attacker.swaps();
    await attacker.stop();
    expect(outcomes.ok).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
    const expected: readonly (string | undefined)[] = [undefined, "INVALID_PATH", "NOT_REGULAR", "FILE_NOT_FOUND"];
    expect([...codes].filter((code) => !expected.includes(code))).toEqual([]);
    expect(swaps).toBeGreaterThan(0);
    expect(await readFile(join(scratch.outside, "secret.txt"), "utf8")).toBe(secret);
    expect(await readdir(scratch.outside)).toEqual(["secret.txt"]);
    if (process.env["LOOPWRIGHT_RACE_ROUNDS"]) console.log({ rounds, swaps, outcomes });
  });

  it("the attack is real: a plain read by path escapes", async () => {
    const scratch = await makeArena();
    const attacker = await startAttacker(scratch);
    let escaped = false;
    for (let round = 0; round < 100_000 && !escaped; round++) {
      const text = await readFile(join(scratch.root, "d", "secret.txt"), "utf8").catch(() => "");
      escaped = text === secret;
    }
    await attacker.stop();
    expect(escaped).toBe(true);
  });
});
