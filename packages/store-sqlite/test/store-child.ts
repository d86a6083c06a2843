/** What the tests run as another process: works on the store at `path` and says what it did, one line of JSON each. */
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

switch (task) {
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
    const [facts, listed, hits] = [
      await store.log.read({ scope: "local", session: name }),
      await store.index.list("local"),
      await store.index.search("local", "second"),
    ];
    say({ factCount: facts.length, listed: listed.map(({ id }) => id).sort(), found: hits.map(({ session }) => session.id) });
    await append(1).catch(sayError);
    await store.blobs.put("local", "x", { bytes: new Uint8Array(1) }).catch(sayError);
    break;
  }
  default:
    throw new Error(`There is no task ${task}.`);
}
