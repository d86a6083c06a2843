import type { FactDraft } from "@loopwright/core";
import { manualClock, seededRandom } from "@loopwright/core/memory";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import { describe, expect, it, onTestFinished } from "vitest";
import { blobStore, type ConditionalBlobs } from "../src/index.ts";
import { dying } from "./dying-blobs.ts";
import { type MemoryBlobs, memoryBlobs } from "./memory-blobs.ts";

const clock = manualClock();
const refOf = (session: string): SessionRef => ({ scope: "local", session });

function open(blobs: ConditionalBlobs): SessionStore {
  const store = blobStore({ blobs, clock });
  onTestFinished(() => store.close());
  return store;
}

/** Names a session behind fact `expectedSeq`. */
async function entitle(store: SessionStore, session: string, [expectedSeq, title, at]: readonly [number, string, number]): Promise<void> {
  const fact: FactDraft = { type: "session.changed", title, at, v: 1 };
  const outcome = await store.log.append(refOf(session), { expectedSeq, batchId: `${title}-${at}`, facts: [fact] });
  expect(outcome.type).toBe("ok");
}

/** Waits until every summary is settled. */
async function rest(blobs: MemoryBlobs): Promise<void> {
  await expect.poll(() => [...blobs.objects.keys()].filter((key) => key.includes("/writing/"))).toEqual([]);
}

async function titles(store: SessionStore): Promise<readonly string[]> {
  return (await store.index.list("local")).map(({ title }) => title ?? "");
}

describe("a list where many processes may write", () => {
  it("shows what a process wrote after another one had written and settled behind it", async () => {
    const blobs = memoryBlobs({ clock });
    const [one, other, reader] = [open(blobs), open(blobs), open(blobs)];
    const input = { role: "user", content: [{ type: "text", text: "apples" }] };
    const begun = [
      { type: "session.opened", agent: "helper", at: 1, v: 1 },
      { type: "input.accepted", message: input, at: 1, v: 1 },
      { type: "run.started", runId: "r1", at: 1, v: 1 },
    ] as unknown as readonly FactDraft[];
    await one.log.append(refOf("s"), { expectedSeq: 0, batchId: "b", facts: begun });
    await other.log.append(refOf("s"), {
      expectedSeq: 3,
      batchId: "c",
      facts: [{ type: "run.finished", runId: "r1", status: "failed", reason: "error", at: 2, v: 1 } as unknown as FactDraft],
    });
    await entitle(other, "s", [4, "other", 3]);
    await other.close();
    expect(await titles(reader)).toEqual(["other"]);
    await entitle(one, "s", [5, "one", 4]);
    expect(await titles(reader)).toEqual(["one"]);
  });

  it("asks for as many names with 30 sessions as with 120, where a page of names has 10", async () => {
    const counts: number[] = [];
    for (const sessions of [30, 120]) {
      const blobs = memoryBlobs({ clock });
      const writer = open(blobs);
      for (let at = 0; at < sessions; at++) await entitle(writer, `s${at}`, [0, `t${at}`, at]);
      await rest(blobs);
      let asked = 0;
      const reader = open({
        ...blobs,
        list: (prefix, { after, limit = 10 } = {}) => {
          asked++;
          return blobs.list(prefix, { ...(after === undefined ? {} : { after }), limit: Math.min(limit, 10) });
        },
      });
      expect((await reader.index.list("local", { limit: 5 })).map(({ id }) => id)).toEqual(
        [1, 2, 3, 4, 5].map((back) => `s${sessions - back}`),
      );
      const before = { updatedAt: 20, id: "s20" };
      expect((await reader.index.list("local", { limit: 2, before })).map(({ id }) => id)).toEqual(["s19", "s18"]);
      counts.push(asked);
    }
    expect(counts[1]).toBe(counts[0]);
  });

  it("gives each session once in pages of any size, also sessions of one moment", async () => {
    const blobs = memoryBlobs({ clock });
    const writer = open(blobs);
    for (let at = 0; at < 40; at++) await entitle(writer, `s${at}`, [0, `t${at}`, Math.floor(at / 15)]);
    await rest(blobs);
    const reader = open(blobs);
    const whole = await reader.index.list("local");
    expect(new Set(whole.map(({ id }) => id)).size).toBe(40);
    for (const limit of [1, 3, 7, 40]) {
      const found: string[] = [];
      for (let page = await reader.index.list("local", { limit }); page.length > 0; ) {
        found.push(...page.map(({ id }) => id));
        const last = page.at(-1);
        page = last ? await reader.index.list("local", { limit, before: last }) : [];
      }
      expect(found, `pages of ${limit}`).toEqual(whole.map(({ id }) => id));
    }
  });

  it("needs no summary that it has read before", async () => {
    const blobs = memoryBlobs({ clock });
    const writer = open(blobs);
    for (let at = 0; at < 8; at++) await entitle(writer, `s${at}`, [0, `t${at}`, at]);
    await rest(blobs);
    const gets: string[] = [];
    const reader = open({
      ...blobs,
      get(key) {
        gets.push(key);
        return blobs.get(key);
      },
    });
    await reader.index.list("local");
    expect(gets).toHaveLength(8);
    clock.advance(1_000);
    await entitle(writer, "s3", [1, "again", 9]);
    await rest(blobs);
    gets.length = 0;
    expect((await reader.index.list("local"))[0]?.title).toBe("again");
    expect(gets).toEqual(["summaries/local/s3"]);
  });
});

/** Two processes name three sessions in turns, each title with its own date; stops where the place is dead. */
async function play(stores: readonly SessionStore[], seed: number): Promise<void> {
  const random = seededRandom(seed);
  const seqs = new Map<string, number>();
  for (let at = 1; at <= 8; at++) {
    const store = stores[Math.floor(random() * stores.length)];
    const session = `s${Math.floor(random() * 3)}`;
    const seq = seqs.get(session) ?? 0;
    await store?.log.append(refOf(session), {
      expectedSeq: seq,
      batchId: `b${at}`,
      facts: [{ type: "session.changed", title: `t${at}`, at, v: 1 }],
    });
    seqs.set(session, seq + 1);
    if (random() < 0.4) await store?.index.list("local");
    // Titles are settled at most once a second.
    if (random() < 0.5) clock.advance(1_000);
  }
}

it("after a death at any request, lists of another process match the logs, and leave no mark behind once all is at rest", async () => {
  let points = 0;
  for (const seed of [1, 2, 3])
    for (let dies = 1; ; dies++) {
      const blobs = memoryBlobs({ clock });
      const place = dying(blobs, dies);
      const stores = [blobStore({ blobs: place, clock }), blobStore({ blobs: place, clock })];
      const wasWhole = await play(stores, seed).then(
        () => true,
        () => false,
      );
      for (const store of stores) await store.close().catch(() => undefined);
      const fresh = open(blobs);
      const truth: string[] = [];
      for (const session of ["s0", "s1", "s2"]) {
        const last = (await fresh.log.read(refOf(session))).at(-1) as { readonly at: number; readonly title: string } | undefined;
        if (last) truth.push(`${String(last.at).padStart(4, "0")} ${session} ${last.title}`);
      }
      const listed = await fresh.index.list("local");
      expect(
        listed.map(({ id, title, updatedAt }) => `${String(updatedAt).padStart(4, "0")} ${id} ${title}`),
        `seed ${seed}, request ${dies}`,
      ).toEqual(truth.sort().reverse());
      for (const id of ["s0", "s1", "s2"])
        await entitle(fresh, id, [listed.find((summary) => summary.id === id)?.lastSeq ?? 0, `last ${id}`, 100]);
      await fresh.close();
      const after = open(blobs);
      // The first list finds writing marks that are left over, the second one resting marks of these sessions.
      for (let list = 0; list < 2; list++) await after.index.list("local");
      const marks = [...blobs.objects.keys()].filter((key) => key.startsWith("lists/"));
      expect(marks, `seed ${seed}, request ${dies}`).toHaveLength(3);
      points++;
      if (wasWhole) break;
    }
  console.info(`Deaths while sessions were listed: ${points} points.`);
  expect(points).toBeGreaterThan(100);
});
