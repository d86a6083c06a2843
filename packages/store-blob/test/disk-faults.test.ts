import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAgentError } from "@loopwright/core";
import { manualClock, seededRandom } from "@loopwright/core/memory";
import type { SessionRef } from "@loopwright/core/ports";
import { expect, it, onTestFinished } from "vitest";
import { blobStore, fileBlobs } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";
import { noteBatch, ref, titlesOf } from "./notes.ts";
import { type SimulatedDisk, simulatedDisk } from "./simulated-disk.ts";

const crashes = Number(process.env["LOOPWRIGHT_CRASHES"] ?? 40);
const firstSeed = Number(process.env["LOOPWRIGHT_SEED"] ?? 1);
const root = freshFolder();
let count = 0;

/** The answers to each batch of a writer. */
interface Notified {
  readonly acknowledged: Map<string, number>;
  readonly sent: Set<string>;
}

function open(disk: SimulatedDisk, folder: string) {
  return blobStore({ blobs: fileBlobs({ folder, clock: manualClock(), files: disk.files }), compactAfter: 5, deadlineMs: 200 });
}

/** Appends in several sessions at once, each batch again until it has a clear answer, until the test stops it. */
async function write(
  store: ReturnType<typeof open>,
  notified: ReadonlyMap<SessionRef, Notified>,
  mayProceed: () => boolean,
): Promise<void> {
  await Promise.all(
    [...notified].map(async ([session, { acknowledged, sent }]) => {
      for (let next = sent.size; mayProceed(); next++) {
        const batchId = `b${next}`;
        sent.add(batchId);
        for (let isOpen = true; isOpen && mayProceed(); ) {
          try {
            const { lastSeq } = await store.log.head(session);
            const outcome = await store.log.append(
              session,
              noteBatch(batchId, lastSeq, { count: 1 + (next % 3), due: next % 2 ? 0 : null }),
            );
            if (outcome.type !== "ok" && outcome.type !== "dup") continue;
            acknowledged.set(batchId, outcome.lastSeq);
            isOpen = false;
          } catch (error) {
            if (!isAgentError(error)) throw error;
          }
        }
      }
    }),
  );
}

/** Everything acknowledged is there, once, at the acknowledged seq; and nothing that was never sent. */
async function check(store: ReturnType<typeof open>, notified: ReadonlyMap<SessionRef, Notified>, where: string): Promise<number> {
  let acked = 0;
  for (const [session, { acknowledged, sent }] of notified) {
    const titles = await titlesOf(store.log, session);
    for (const [batchId, lastSeq] of acknowledged) {
      expect(titles[lastSeq - 1]?.split(".")[0], `${where}: ${batchId} at ${lastSeq} of ${titles.length}`).toBe(batchId);
      expect(titles.filter((title) => title === `${batchId}.0`).length, where).toBe(1);
      acked++;
    }
    // A session without a batch in doubt is due as its last one recorded.
    const isClear = acknowledged.size === sent.size && sent.size > 0;
    const isDue = (await store.log.due({ now: 1 })).some(({ ref: one }) => one.session === session.session);
    if (isClear && (sent.size - 1) % 2) expect(isDue, where).toBe(true);
    for (const title of titles) expect(sent.has(title.split(".")[0] ?? ""), `${where}: ${title}`).toBe(true);
  }
  return acked;
}

it("whatever was acknowledged survives the loss of everything that was not synced, also with a failing disk, again and again", async () => {
  let acked = 0;
  let lives = 0;
  for (let seed = firstSeed; lives < crashes; seed++) {
    const random = seededRandom(seed);
    let isFailing = false;
    let disk = simulatedDisk({ random, failing: () => (isFailing && seed % 3 === 0 ? 0.05 : 0) });
    const notified = new Map(
      [ref, { scope: "other", session: "second" }].map((session): [SessionRef, Notified] => [
        session,
        { acknowledged: new Map(), sent: new Set() },
      ]),
    );
    for (let life = 1; life <= 3; life++, lives++) {
      const folder = `/disk-${seed}`;
      const store = open(disk, folder);
      let steps = 20 + Math.floor(random() * 400);
      isFailing = true;
      const before = disk;
      // The machine stops in the middle of things: the disk is what it is at that step, whatever the process still does.
      let after: SimulatedDisk | undefined;
      let frozen: ReadonlyMap<SessionRef, Notified> = notified;
      const mayProceed = (): boolean => after === undefined;
      const stopping = (async () => {
        while (steps-- > 0) await new Promise<void>((resolve) => setImmediate(resolve));
        after = before.crash();
        frozen = new Map(
          [...notified].map(([session, { acknowledged, sent }]) => [session, { acknowledged: new Map(acknowledged), sent: new Set(sent) }]),
        );
      })();
      await Promise.all([write(store, notified, mayProceed), stopping]);
      isFailing = false;
      await store.close();
      disk = after ?? disk;
      // Another start of the machine: the process that held the folder is gone.
      await disk.files.remove(`${folder}/lock`);
      const found = open(disk, folder);
      acked += await check(found, frozen, `seed ${seed}, life ${life}`);
      // What the dead process did after the stop has never been.
      for (const [session, { acknowledged, sent }] of frozen)
        notified.set(session, { acknowledged: new Map(acknowledged), sent: new Set(sent) });
      await found.close();
    }
  }
  console.info(`Crashes with loss of un-synced writes: ${lives}, ${acked} acknowledged batches looked for.`);
  expect(acked).toBeGreaterThan(crashes);
});

it("an error at any one call before the first acknowledgement loses nothing once the machine stops", async () => {
  for (let failingCall = 0, isOver = false; !isOver; failingCall++) {
    let calls = 0;
    const disk = simulatedDisk({ random: () => 0, failing: () => (calls++ === failingCall ? 1 : -1) });
    const folder = "/made/by/the/store";
    const store = open(disk, folder);
    const notified: Notified = { acknowledged: new Map(), sent: new Set() };
    await write(store, new Map([[ref, notified]]), () => notified.acknowledged.size === 0);
    isOver = calls <= failingCall;
    const found = disk.crash();
    await store.close();
    await found.files.remove(`${folder}/lock`);
    const again = open(found, folder);
    await check(again, new Map([[ref, notified]]), `call ${failingCall}`);
    await again.close();
  }
});

it("a disk that is full at any byte of an append acknowledges nothing, keeps what was there, and heals without a restart", async ({
  skip,
}) => {
  const folder = join(root, String(count++));
  mkdirSync(folder);
  const mounted = mountSmallDisk(folder);
  if (mounted !== undefined) return skip(`no small disk here: ${mounted}`);
  onTestFinished(() => {
    execFileSync("umount", ["-l", folder]);
  });
  const store = blobStore({ blobs: fileBlobs({ folder: join(folder, "data") }) });
  onTestFinished(() => store.close());
  const facts = [{ type: "session.changed" as const, title: "x".repeat(40_000), at: 1, v: 1 }];
  expect(await store.log.append(ref, noteBatch("b1", 0))).toEqual({ type: "ok", lastSeq: 1 });
  let [lastSeq, fullCount] = [1, 0];
  for (let free = 0; free < 60_000; free += 4_096) {
    const filler = fillBut(folder, free);
    const outcome = await store.log.append(ref, { batchId: `free ${free}`, expectedSeq: lastSeq, facts });
    if (outcome.type === "ok") lastSeq = outcome.lastSeq;
    else {
      expect(outcome).toEqual({ type: "full" });
      fullCount++;
    }
    expect((await store.log.read(ref)).length).toBe(lastSeq);
    rmSync(filler);
  }
  expect(fullCount).toBeGreaterThan(3);
  expect(await store.log.append(ref, { batchId: "healed", expectedSeq: lastSeq, facts })).toMatchObject({ type: "ok" });
  await expect(store.blobs.put("local", "large", { bytes: new Uint8Array(3_000_000) })).rejects.toMatchObject({ code: "STORE_FULL" });
});

/** Why there is no disk of 1 MiB at the folder; `undefined` when there is one. */
function mountSmallDisk(folder: string): string | undefined {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "pipe" });
    return undefined;
  } catch {
    return "it cannot be mounted; on Linux root may, outside of a container without rights";
  }
}

/** Leaves so many bytes of the disk, in whole pages. */
function fillBut(folder: string, freeBytes: number): string {
  const filler = join(folder, "filler");
  let size = 1024 * 1024;
  for (;;) {
    try {
      writeFileSync(filler, Buffer.alloc(Math.max(0, size)));
      break;
    } catch {
      size -= 4_096;
    }
  }
  writeFileSync(filler, Buffer.alloc(Math.max(0, size - freeBytes)));
  return filler;
}
