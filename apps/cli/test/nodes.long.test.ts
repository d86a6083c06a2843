import { readFile } from "node:fs/promises";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import { isAgentError } from "@loopwright/core";
import { freePort, redisMissing, startRedis } from "@loopwright/simulator/node";
import { describe, expect, test } from "vitest";
import { emptyDirectory, type Running, type RunOptions, run, start } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const three = /^.+ \([A-Z_]+\)\nwhy: .+\ntry: .+\n$/;

interface NodeOptions extends RunOptions {
  readonly onEnd: (end: () => Promise<void>) => void;
}

/** A process of the command line, killed when the test is over. */
function startNode(words: readonly string[], { onEnd, ...options }: NodeOptions): Running {
  const running = start(words, options);
  onEnd(async () => {
    running.child.kill("SIGKILL");
    await running.ended;
  });
  return running;
}

async function stopped(running: Running): Promise<readonly [number | null, string]> {
  running.child.kill("SIGTERM");
  const { code, stdout, stderr } = await running.ended;
  return [code, stdout + stderr];
}

/** The deltas of the answer to a message, as one server streams them, whichever node runs it. */
async function deltasOf(
  client: LoopwrightClient,
  session: string,
): Promise<{ readonly deltas: number; readonly text: string; readonly end: string }> {
  let [deltas, text] = [0, ""];
  for await (const batch of client.follow(session, { after: "" }))
    for (const event of batch) {
      if (event.type === "text_delta") deltas += 1;
      if (event.type === "message_end" && event.message.role === "assistant") text = JSON.stringify(event.message.content);
      if (event.type === "run_end") return { deltas, text, end: event.status };
    }
  throw new Error("The stream ended before the run.");
}

/** Asks until it is there: on a busy machine the first answer, for which the store starts, may come later than a server waits for it. */
async function begin(client: LoopwrightClient, id: string): Promise<void> {
  for (;;)
    try {
      await client.sessions.create({ id });
      return;
    } catch (error) {
      // What came too late was begun all the same.
      if (isAgentError(error, "SESSION_EXISTS")) return;
      if (!isAgentError(error, "STORE_UNAVAILABLE")) throw error;
    }
}

const missing = redisMissing();
if (missing) console.log(`several nodes: skipped, ${missing}`);

describe.concurrent("several processes", () => {
  test("a server and a worker over one file: an input to the one is answered by the other", async ({ onTestFinished: onEnd }) => {
    const cwd = await emptyDirectory();
    const server = await startServer({ cwd, flags: ["--role", "server"], onEnd });
    await begin(server.client, "s");
    await server.client.sessions.submit("s", "what is 6 * 7?");
    const worker = startNode(["run", "--offline", "--role", "worker"], { cwd, onEnd });
    await worker.prints("Loopwright runs the sessions that servers record\n");
    expect(await deltasOf(server.client, "s")).toMatchObject({ text: expect.stringContaining("42"), end: "completed" });
    const [[workerCode, workerWritten], [code, written]] = await Promise.all([stopped(worker), stopped(server)]);
    expect([workerCode, code]).toEqual([0, 0]);
    expect(workerWritten).toMatch(/Stopping\.\nStopped\.\n/);
    expect([workerWritten, written].map((text) => text.includes("its event channel reaches none of the others"))).toEqual([true, true]);
  });

  test("a worker with a port reports its health there, and nothing else", async ({ onTestFinished: onEnd }) => {
    const port = await freePort();
    const worker = startNode(["run", "--offline", "--role", "worker", "--port", `${port}`], { cwd: await emptyDirectory(), onEnd });
    await worker.prints(`/healthz, /readyz and /metrics are at http://127.0.0.1:${port}`);
    await worker.prints("Ctrl+C");
    const statuses = ["healthz", "readyz", "metrics", "api/sessions", ""].map(
      async (path) => (await fetch(`http://127.0.0.1:${port}/${path}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 404, 404]);
    expect((await stopped(worker))[0]).toBe(0);
  });

  describe("what cannot be", () => {
    test.each([
      ["another role", ["--role", "boss"], "CONFIG_INVALID"],
      ["a worker on a folder that one process has for itself", ["--role", "worker", "--store", "file:kept"], "CONFIG_INVALID"],
      ["a queue that is none", ["--queue", "amqp://user:hunter2@host"], "CONFIG_INVALID"],
      ["a Redis that is not there", ["--redis", "redis://user:hunter2@127.0.0.1:1"], "STORE_UNAVAILABLE"],
    ])("is refused in three lines: %s", async (_, flags, code) => {
      const { code: exit, stdout, stderr } = await run(["run", "--offline", "--port", "0", ...flags], { cwd: await emptyDirectory() });
      expect(stderr.split("\n").slice(-4).join("\n")).toMatch(three);
      expect([exit, stderr.includes(`(${code})`)]).toEqual([code === "CONFIG_INVALID" ? 3 : 1, true]);
      expect(stdout + stderr).not.toContain("hunter2");
    });
  });

  describe.skipIf(missing !== undefined)("with a Redis", () => {
    test("the commands of the page work: two servers and a worker, word by word, and a second worker that takes over", async ({
      onTestFinished: onEnd,
    }) => {
      const redis = await startRedis({ args: ["--requirepass", "hunter2"] });
      onEnd(() => redis.stop());
      const page = await readFile(new URL("../../../docs/several-nodes.md", import.meta.url), "utf8");
      const commands = [...page.matchAll(/^npx loopwright (run .*--redis redis:\S+)$/gm)].map(([, words = ""]) => words.split(" "));
      expect(commands.map((words) => words[2])).toEqual(["server", "server", "worker"]);
      const ports: Readonly<Record<string, number>> = { "8081": await freePort(), "8082": await freePort() };
      const url = redis.url.replace("redis://", "redis://:hunter2@");
      const own = (words: readonly string[]): readonly string[] =>
        words.map((word) => (word.startsWith("redis:") ? url : `${ports[word] ?? word}`));
      const cwd = await emptyDirectory();
      const slow = { LOOPWRIGHT_OFFLINE_PACE: "30" };
      const [a, b, worker] = commands.map((words) =>
        startNode([...own(words), "--offline", "--shutdown-timeout", "0"], { cwd, env: slow, onEnd }),
      );
      await Promise.all([a, b, worker].map((node) => node?.prints("Ctrl+C stops it")));
      const [one, other] = [ports["8081"], ports["8082"]].map((port) => createClient({ url: `http://127.0.0.1:${port}` }));
      if (!one || !other || !worker || !a || !b) throw new Error("A node is missing.");
      await begin(one, "trip");
      const notified = deltasOf(other, "trip");
      await one.sessions.submit("trip", "long answer");
      // The answer is being streamed; then its worker is stopped.
      for await (const batch of other.follow("trip", { after: "" })) if (batch.some(({ type }) => type === "text_delta")) break;
      const second = startNode([...own(commands[2] ?? []), "--offline"], { cwd, onEnd });
      await second.prints("Ctrl+C stops it");
      const [code, written] = await stopped(worker);
      expect([code, written.includes("1 run will continue at another node.")]).toEqual([0, true]);
      const { deltas, end } = await notified;
      expect([end, deltas > 3]).toEqual(["completed", true]);
      const { events } = await one.sessions.events("trip");
      expect(events.filter(({ type }) => type === "attempt_discarded")).toMatchObject([{ code: "HANDED_OVER" }]);
      const all = [written, ...(await Promise.all([a, b, second].map(stopped))).map(([, text]) => text)];
      expect(all.join("")).not.toContain("hunter2");
    });

    test("doctor reports the health of store, channel and queue", async ({ onTestFinished: onEnd }) => {
      const redis = await startRedis();
      onEnd(() => redis.stop());
      const cwd = await emptyDirectory();
      const well = await run(["doctor", "--offline", "--json", "--redis", redis.url], { cwd });
      const stateOf = ({ stdout }: { readonly stdout: string }): readonly string[] => {
        const { findings } = JSON.parse(stdout) as { readonly findings: readonly { readonly what: string; readonly state: string }[] };
        return findings.filter(({ what }) => ["store", "channel", "queue"].includes(what)).map(({ what, state }) => `${what} ${state}`);
      };
      expect([well.code, stateOf(well)]).toEqual([0, ["store ok", "channel ok", "queue ok"]]);
      await redis.stop();
      const ill = await run(["doctor", "--offline", "--json", "--redis", redis.url], { cwd });
      expect([ill.code, stateOf(ill)]).toEqual([1, ["store bad", "channel bad", "queue bad"]]);
    });
  });
});
