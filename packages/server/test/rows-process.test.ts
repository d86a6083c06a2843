import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createAgent, defineTool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import type { DurableEvent } from "@loopwright/core/protocol";
import { listen } from "@loopwright/server/node";
import { sqliteStore } from "@loopwright/store-sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { until } from "../../host/test/turn-of-loop.ts";
import { historyOf } from "./busy-cuts.ts";
import { type Watching, watchStream } from "./commanded-scene.ts";
import { connectOverPort } from "./connect-over-port.ts";
import { type Connect, textOfAnswer } from "./connection.ts";
import { openStreamDoor } from "./stream-door.ts";

/*
 * Rows 8, 13, 19 and 20 of docs/recovery.md with a process that is really killed: `rows-child.ts`, on a file that another server continues.
 */
const sessions = ["tell", "pay", "pick"] as const;

interface Child {
  readonly url: string;
  /** What it sent since. */
  readonly lines: readonly string[];
  kill(): Promise<void>;
}

async function startChild(file: string): Promise<Child> {
  const program = fileURLToPath(new URL("rows-child.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", program, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => (line.startsWith("http") ? resolve(line) : void lines.push(line)));
    void ended.then(() => reject(new Error("The server ended before it listened.")));
  });
  return { url, lines, kill };
}

/** Sends as JSON, and gives the status and what comes back. */
async function post(
  connect: Connect,
  path: string,
  body: object,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const connection = await connect({ path, method: "POST", headers: { "Idempotency-Key": `${path}:${JSON.stringify(body)}` }, body });
  if (!connection) throw new Error("There was no answer.");
  return { status: connection.status, body: JSON.parse(await textOfAnswer(connection)) };
}

/** Three sessions on a server that is killed while one is answered, one runs a tool, and one waits; and the server that continues them. */
async function killedInMidWork() {
  const folder = await mkdtemp(join(tmpdir(), "rows-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "sessions.db");
  const child = await startChild(file);
  const connect = connectOverPort(child.url);
  const before: Watching[] = [];
  for (const id of sessions) {
    await post(connect, "/api/sessions", { id });
    before.push(await watchStream(connect, { path: `/api/sessions/${id}/events?after=` }));
    await post(connect, `/api/sessions/${id}/messages`, { message: id });
  }
  await before[0]?.got("text_delta");
  await before[2]?.got("awaiting_tool_execution");
  await until(() => child.lines.length > 0, "the tool runs", 1_000_000);
  await child.kill();
  for (const watching of before) await watching.ended();

  const store = sqliteStore({ path: file });
  onTestFinished(() => store.close());
  const starts: string[] = [];
  const parameters = { type: "object" } as const;
  const pay = defineTool({
    ...{ name: "pay", description: "Pays.", parameters },
    execute(_, { callKey }) {
      starts.push(callKey);
      return "paid";
    },
  });
  const pick = defineTool({ name: "pick", description: "Asks the user.", parameters });
  const provider = scripted(() => ({ text: "Done." }));
  const door = openStreamDoor({ agents: [createAgent({ name: "helper", provider, tools: [pay, pick] })], store });
  onTestFinished(() => door.close());
  const listening = await listen(door, { limits: { graceMs: 0 } });
  onTestFinished(() => listening.close());
  const heir = connectOverPort(listening.url);
  const after: Watching[] = [];
  for (const [place, id] of sessions.entries())
    after.push(await watchStream(heir, { path: `/api/sessions/${id}/events?after=${before[place]?.reader.cursor}` }));
  return { child, before, after, store, provider, starts, heir };
}

describe("a server that is killed", () => {
  it("rows 8, 13, 19 and 20: is followed at once by another one on its file, with an answer, a tool and a wait; readers see each event once", async () => {
    const { child, before, after, store, provider, starts, heir } = await killedInMidWork();
    const results = { results: [{ role: "tool_result", toolCallId: "pick", content: "blue" }] };
    expect(await post(heir, "/api/sessions/pick/tool-results", results)).toMatchObject({ status: 202 });
    expect(await post(heir, "/api/sessions/pick/tool-results", results)).toMatchObject({ status: 200, body: { replayed: true } });
    for (const watching of after) await until(() => watching.reader.durable.at(-1)?.type === "run_end", "the run ends", 1_000_000);
    const notified: (readonly DurableEvent[])[] = [];
    for (const [place, id] of sessions.entries()) {
      const readers = [before[place]?.reader, after[place]?.reader];
      expect(readers.flatMap((reader) => reader?.flaws)).toEqual([]);
      notified.push(readers.flatMap((reader) => reader?.durable ?? []));
      expect(notified[place], id).toEqual(await historyOf(store, id));
    }
    const outcomesOf = (events: readonly DurableEvent[] = []): readonly unknown[] =>
      events.flatMap((event) => (event.type === "message_end" && event.message.role === "tool_result" ? [event.message.outcome] : []));
    expect(notified[0]?.filter(({ type }) => type === "attempt_discarded")).toMatchObject([{ code: "CRASHED", willRetry: true }]);
    expect([outcomesOf(notified[1]), outcomesOf(notified[2])]).toEqual([["interrupted"], ["ok"]]);
    // The tool was started once, by the dead process; each session cost one more model call.
    expect([child.lines.length, starts, provider.requests.length]).toEqual([1, [], 3]);
    for (const { connection } of after) await connection.cut();
  });
});
