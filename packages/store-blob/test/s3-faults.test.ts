import { createServer } from "node:http";
import { type AgentError, isAgentError } from "@loopwright/core";
import { manualClock, seededRandom } from "@loopwright/core/memory";
import type { AppendOutcome } from "@loopwright/core/ports";
import { describe, expect, it, onTestFinished } from "vitest";
import { blobStore, s3Blobs } from "../src/index.ts";
import { type FakeS3, fakeS3Place, type S3Fault, startFakeS3 } from "./fake-s3.ts";
import { noteBatch, ref, titlesOf, writeNotes } from "./notes.ts";
import { skippingClock } from "./skipping-clock.ts";

const rounds = Number(process.env["LOOPWRIGHT_S3_FAULTS"] ?? 2);
async function server(): Promise<FakeS3> {
  const fake = await startFakeS3(manualClock());
  onTestFinished(() => fake.close());
  return fake;
}

/** A node whose deadlines pass when a request hangs, and not for the machine's being busy. */
function nodeOn(fake: FakeS3, deadlineMs = 20_000) {
  const clock = skippingClock();
  fake.hung = () => clock.skip();
  const blobs = s3Blobs({ ...fakeS3Place, endpoint: fake.endpoint, deadlineMs, clock });
  const store = blobStore({ blobs, deadlineMs, compactAfter: 6, clock });
  onTestFinished(() => store.close());
  return store;
}

const slowDown: S3Fault = { type: "status", status: 503, code: "SlowDown" };
const isSlot = (key: string): boolean => key.includes("/slots/");

/** Once, for the first request that fits. */
function once(fault: S3Fault, fits: (key: string, method: string) => boolean): FakeS3["faultOf"] {
  let isLeft = true;
  return ({ method, key }) => {
    if (!isLeft || !fits(key, method)) return undefined;
    isLeft = false;
    return fault;
  };
}

describe("an append", () => {
  const onPut = (key: string, method: string): boolean => method === "PUT" && isSlot(key);
  const cases: readonly (readonly [string, S3Fault])[] = [
    ["throttled with 503 SlowDown", slowDown],
    ["answered 500", { type: "status", status: 500, code: "InternalError" }],
    ["whose connection is cut before it is done", { type: "cut" }],
    ["whose connection is cut after it was done, so that its own retry is refused with 412", { type: "cut-after" }],
    ["that is never answered, though done", { type: "hang", done: true }],
    ["that is never answered, and not done", { type: "hang", done: false }],
    ["refused with 409 while nothing is there", { type: "status", status: 409, code: "ConditionalRequestConflict" }],
    ["refused with 304 while nothing is there", { type: "status", status: 304, code: "NotModified" }],
  ];
  for (const [name, fault] of cases)
    it(`${name} is made good within the deadline, and written once`, async () => {
      const fake = await server();
      const { log } = nodeOn(fake);
      await writeNotes(log, 1);
      fake.faultOf = once(fault, onPut);
      expect(await log.append(ref, noteBatch("b2", 1))).toEqual({ type: "ok", lastSeq: 2 });
      expect(await titlesOf(nodeOn(fake).log)).toEqual(["b1.0", "b2.0"]);
    });

  for (const done of [true, false])
    it(`that gets no answer within the deadline, ${done ? "done" : "not done"}, is \`unknown\`; the same batch again gives the outcome`, async () => {
      const fake = await server();
      const { log } = nodeOn(fake);
      await writeNotes(log, 1);
      fake.faultOf = ({ method, key }) => (method === "PUT" && isSlot(key) ? { type: "hang", done } : undefined);
      expect(await log.append(ref, noteBatch("b2", 1))).toEqual({ type: "unknown" });
      fake.faultOf = () => undefined;
      // A request that was given up may still arrive, after the server has come to itself.
      expect(await log.append(ref, noteBatch("b2", 1))).toEqual({ type: done ? "dup" : expect.stringMatching(/^(ok|dup)$/), lastSeq: 2 });
      expect(await titlesOf(nodeOn(fake).log)).toEqual(["b1.0", "b2.0"]);
    });

  it("that meets another's batch is a conflict, whether the server answers 412, 409 or 304", async () => {
    for (const status of [412, 409, 304]) {
      const fake = await server();
      const [one, other] = [nodeOn(fake).log, nodeOn(fake).log];
      await writeNotes(one, 1);
      await other.head(ref);
      await one.append(ref, noteBatch("b2", 1));
      if (status !== 412) fake.faultOf = once({ type: "status", status, code: "Conflict" }, onPut);
      expect(await other.append(ref, noteBatch("c2", 1))).toEqual({ type: "conflict", actualSeq: 2 });
    }
  });

  it("on a server without space answers `full`, and heals", async () => {
    const fake = await server();
    const { log } = nodeOn(fake);
    await writeNotes(log, 1);
    fake.faultOf = ({ method }) => (method === "PUT" ? { type: "status", status: 507, code: "XMinioStorageFull" } : undefined);
    expect(await log.append(ref, noteBatch("b2", 1))).toEqual({ type: "full" });
    fake.faultOf = () => undefined;
    expect(await log.append(ref, noteBatch("b2", 1))).toEqual({ type: "ok", lastSeq: 2 });
  });
});

it("a read whose body stops half-way begins anew within its deadline", async () => {
  const fake = await server();
  await writeNotes(nodeOn(fake).log, 2);
  fake.faultOf = once({ type: "slow-body" }, (key, method) => method === "GET" && isSlot(key));
  expect(await titlesOf(nodeOn(fake).log)).toEqual(["b1.0", "b2.0"]);
});

it("a server that is away is STORE_UNAVAILABLE within the deadline, without a word of secrets or content", async () => {
  const fake = await server();
  const { log, index } = nodeOn(fake, 1_000);
  await writeNotes(log, 1);
  const faults: readonly S3Fault[] = [slowDown, { type: "cut" }, { type: "status", status: 403, code: "AccessDenied" }];
  for (const fault of faults) {
    fake.faultOf = () => fault;
    for (const call of [() => log.head(ref), () => index.list("local"), () => nodeOn(fake, 1_000).log.read(ref)]) {
      const error: unknown = await call().catch((reason: unknown) => reason);
      expect(isAgentError(error)).toBe(true);
      const { code, message, fix, stack = "", cause } = error as AgentError;
      expect(code).toMatch(/^STORE_(UNAVAILABLE|READ_ONLY)$/);
      for (const secret of [fakeS3Place.secretAccessKey, fakeS3Place.accessKeyId, "AWS4-HMAC", "b1.0"])
        expect(`${message}${fix}${stack}${String(cause)}`).not.toContain(secret);
    }
  }
});

it("what was written and is not seen yet by reads and lists is never written over, and seen in the end", async () => {
  const fake = await server();
  const [one, other] = [nodeOn(fake).log, nodeOn(fake).log];
  fake.lateness = ({ key }) => (isSlot(key) ? { reads: 2, lists: 3 } : { reads: 0, lists: 0 });
  await writeNotes(one, 3);
  let seq = 0;
  for (let tries = 0; ; tries++) {
    const outcome = await other.append(ref, noteBatch("late", seq));
    if (outcome.type === "ok") break;
    expect(outcome.type === "conflict" || outcome.type === "unknown", outcome.type).toBe(true);
    expect(tries).toBeLessThan(12);
    if (outcome.type === "conflict") seq = outcome.actualSeq;
  }
  fake.lateness = () => ({ reads: 0, lists: 0 });
  for (const object of fake.objects.values()) Object.assign(object, { hiddenReads: 0, hiddenLists: 0 });
  expect(await titlesOf(nodeOn(fake).log)).toEqual(["b1.0", "b2.0", "b3.0", "late.0"]);
});

it("two nodes on a server that fails at random lose nothing and write nothing twice; claims are won once", async () => {
  let [acknowledged, unclear] = [0, 0];
  for (let seed = 1; seed <= rounds; seed++) {
    const random = seededRandom(seed);
    const fake = await startFakeS3(manualClock());
    const kinds: readonly S3Fault[] = [
      slowDown,
      { type: "status", status: 500, code: "InternalError" },
      { type: "status", status: 409, code: "ConditionalRequestConflict" },
      { type: "cut" },
      { type: "cut-after" },
    ];
    const nodes = [nodeOn(fake), nodeOn(fake)];
    await nodes[0]?.log.head(ref);
    await nodes[0]?.blobs.put("local", "probe", { bytes: new Uint8Array(1) });
    await nodes[1]?.blobs.put("local", "probe", { bytes: new Uint8Array(1) });
    fake.faultOf = ({ method }) => {
      if (random() > 0.12) return undefined;
      const fault = kinds[Math.floor(random() * kinds.length)];
      // Only a conditional write is refused with 409.
      return fault?.type === "status" && fault.status === 409 && method !== "PUT" ? undefined : fault;
    };
    const outcomes = new Map<string, AppendOutcome["type"]>();
    const epochs: number[] = [];
    await Promise.all(
      nodes.map(async ({ log }, node) => {
        for (let batch = 0; batch < 5; batch++) {
          const batchId = `n${node}b${batch}`;
          for (let tries = 0; tries < 20; tries++) {
            const outcome = await log
              .head(ref)
              .then(({ lastSeq }) => log.append(ref, noteBatch(batchId, lastSeq)))
              .catch((): AppendOutcome => ({ type: "unknown" }));
            outcomes.set(batchId, outcome.type);
            if (outcome.type === "ok" || outcome.type === "dup") break;
          }
          const claim = await log.claim(ref, { node: `n${node}`, leaseMs: 15_000 }).catch(() => undefined);
          if (claim?.type === "claimed") {
            epochs.push(claim.epoch);
            await log.release(ref, claim.epoch).catch(() => undefined);
          }
        }
      }),
    );
    fake.faultOf = () => undefined;
    const titles = await titlesOf(nodeOn(fake).log);
    for (const [batchId, type] of outcomes) {
      const times = titles.filter((title) => title === `${batchId}.0`).length;
      if (type === "ok" || type === "dup") {
        acknowledged++;
        expect(times, `seed ${seed}, ${batchId}`).toBe(1);
      } else {
        unclear++;
        expect(times, `seed ${seed}, ${batchId}: ${type}`).toBeLessThanOrEqual(1);
      }
    }
    expect(new Set(epochs).size, `seed ${seed}: epochs ${epochs}`).toBe(epochs.length);
    await fake.close();
  }
  console.info(`Rounds on a failing S3 server: ${rounds}, ${acknowledged} batches acknowledged, ${unclear} without a clear end.`);
  expect(acknowledged).toBeGreaterThan(rounds * 5);
});

it("a server that does not check conditions is refused before anything is written, and the fix names the option for a single writer", async () => {
  const fake = await server();
  const careless: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete("if-none-match");
    headers.delete("if-match");
    return fetch(input, { ...init, headers });
  };
  const store = blobStore({ blobs: s3Blobs({ ...fakeS3Place, endpoint: fake.endpoint, fetch: careless }) });
  await expect(store.log.append(ref, noteBatch("b1", 0))).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("does not check the conditions of writes"),
    fix: expect.stringContaining("singleWriter"),
  });
  expect([...fake.objects.keys()].filter((key) => !key.startsWith("probe/"))).toEqual([]);
  const alone = blobStore({ blobs: s3Blobs({ ...fakeS3Place, endpoint: fake.endpoint, fetch: careless, singleWriter: true }) });
  await writeNotes(alone.log, 3);
  expect(await alone.log.append(ref, noteBatch("late", 1))).toEqual({ type: "conflict", actualSeq: 3 });
  await alone.close();
});

it("a missing bucket, a missing option and wrong credentials are named in the error", async () => {
  const fake = await server();
  fake.faultOf = () => ({ type: "status", status: 404, code: "NoSuchBucket" });
  await expect(nodeOn(fake).log.head(ref)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    fix: "Make the bucket `sessions`, or name another.",
  });
  expect(() => s3Blobs({ ...fakeS3Place, bucket: "" })).toThrow("The object store has no bucket.");
  fake.faultOf = () => undefined;
  const wrong = blobStore({ blobs: s3Blobs({ ...fakeS3Place, endpoint: fake.endpoint, accessKeyId: "WRONG" }) });
  await expect(wrong.log.head(ref)).rejects.toMatchObject({ code: "STORE_READ_ONLY", fix: expect.stringContaining("credentials") });
});

it("an address that is none, or holds a secret, is refused without being repeated", () => {
  for (const endpoint of ["hunter2", "ftp://hunter2", "https://key:hunter2@s3.test", "https://s3.test/?token=hunter2"])
    expect(() => s3Blobs({ ...fakeS3Place, endpoint })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.not.stringContaining("hunter2") }),
    );
});

it("a page that a proxy redirects a write to is no acknowledgement", async () => {
  const portal = createServer((request, response) => {
    if (request.url === "/login") response.end("Please log in.");
    else response.writeHead(303, { location: "/login" }).end();
  });
  onTestFinished(() => void portal.close());
  await new Promise<void>((resolve) => portal.listen(0, "127.0.0.1", resolve));
  const address = portal.address();
  const endpoint = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const blobs = s3Blobs({ ...fakeS3Place, endpoint, singleWriter: true });
  await expect(blobs.put("k", new Uint8Array([1]))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await expect(blobs.get("k")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});
