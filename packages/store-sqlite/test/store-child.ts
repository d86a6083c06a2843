/** What the tests run as another process: works on the store at `path` and prints what it did, one line of JSON each. */
import { createInterface } from "node:readline";
import { isAgentError } from "@loopwright/core";
import { sqliteStore } from "../src/index.ts";

const [task, path = "", name = ""] = process.argv.slice(2);
const store = sqliteStore(path);
const sayError = (error: unknown): void => say(isAgentError(error) ? { code: error.code, message: error.message } : String(error));
const ref = { scope: "local", session: "shared" };
const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

/** Appends as `name` for ever, or `count` times, trying again after each conflict. */
async function append(count: number): Promise<void> {
  let seq = 0;
  for (let done = 0; done < count; ) {
    const outcome = await store.log.append(ref, {
      expectedSeq: seq,
      batchId: `${name} ${done}`,
      facts: [
        { type: "session.changed", title: `${name} ${done}`, at: done, v: 1 },
        { type: "session.changed", title: "x".repeat(2_000), at: done, v: 1 },
      ],
    });
    if (outcome.type === "conflict") seq = outcome.actualSeq;
    else {
      done++;
      if ("lastSeq" in outcome) seq = outcome.lastSeq;
      say(outcome);
    }
  }
}

/** Appends to eight sessions at once for ever, and prints each answer, with the title. */
async function appendToMany(): Promise<void> {
  const writers = Array.from({ length: 8 }, async (_, index) => {
    const own = { scope: "local", session: `s${index}` };
    for (let seq = (await store.log.head(own)).lastSeq; ; seq++) {
      const title = `${name} ${index} ${seq} ${"x".repeat((seq * 997) % 5_000)}`;
      const facts = [{ type: "session.changed", title, at: seq, v: 1 }] as const;
      const outcome = await store.log.append(own, { expectedSeq: seq, batchId: `${name} ${seq}`, facts });
      say({ session: own.session, seq: seq + 1, title, outcome: outcome.type });
    }
  });
  await Promise.all(writers);
}

/** Appends after `from` until the disk refuses, asks again with the same batch id where it is not known what became of one, and prints all answers. */
async function appendUntilTrouble(from: number): Promise<void> {
  let doubts = 0;
  for (let seq = from; doubts < 4; ) {
    const facts = [{ type: "session.changed", title: `note ${seq + 1} ${"x".repeat(2_000)}`, at: seq, v: 1 }] as const;
    const outcome = await store.log.append(ref, { expectedSeq: seq, batchId: `note ${seq + 1}`, facts });
    say(outcome);
    if (outcome.type === "ok" || outcome.type === "dup") seq = outcome.lastSeq;
    else if (outcome.type === "unknown") doubts++;
    else return;
  }
}

/** Appends one batch for each line of input: after which number, and with which batch id. Prints the answer, or the code of the error. */
async function appendAsCommanded(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const [after = "", batchId = ""] = line.split(" ");
    const facts = [{ type: "session.changed", title: batchId, at: 1, v: 1 }] as const;
    await store.log.append(ref, { expectedSeq: Number(after), batchId, facts }).then(
      ({ type }) => say(type),
      (error: unknown) => say(isAgentError(error) ? error.code : String(error)),
    );
  }
}

switch (task) {
  case "as-told":
    await appendAsCommanded();
    break;
  case "many":
    await appendToMany();
    break;
  case "until-trouble":
    await appendUntilTrouble(Number(name)).catch(sayError);
    process.exit();
    break;
  case "append":
    await append(Number(name.split(":")[1] ?? Number.POSITIVE_INFINITY));
    break;
  case "claim":
    say(await store.log.claim(ref, { node: name, leaseMs: 600_000 }));
    // Lives, holding its lease, until it is killed or its input ends.
    process.stdin.resume();
    break;
  case "list":
    say((await store.index.list("local")).map(({ id }) => id));
    break;
  case "look": {
    const [facts, listed, hits, blobs] = [
      await store.log.read({ scope: "local", session: name }),
      await store.index.list("local"),
      await store.index.search("local", "second"),
      await store.blobs.list("local"),
    ];
    say({ factCount: facts.length, listed: listed.map(({ id }) => id).sort(), found: hits.map(({ session }) => session.id), blobs });
    await append(1).catch(sayError);
    await store.blobs.put("local", "x", { bytes: new Uint8Array(1) }).catch(sayError);
    break;
  }
  default:
    throw new Error(`There is no task ${task}.`);
}
