import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentEvent, createAgent, createSession, execute } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { describe, expect, it, onTestFinished } from "vitest";
import { defaultFilesDirectory, fileTools } from "../src/index.ts";

describe("file tools in a session", () => {
  it("share the agent's files, stream a long one in three deltas or more, and answer a bad path without ending the run (C52-C54, D59)", async () => {
    const work = await mkdtemp(join(tmpdir(), "loopwright-session-"));
    onTestFinished(() => rm(work, { recursive: true, force: true }));
    const content = Array.from({ length: 4_000 }, (_, at) => `line ${at + 1}`).join("\n");
    const provider = scripted([
      { calls: [{ name: "file_create", args: { path: "long.txt", content } }] },
      {
        calls: [
          { name: "file_read", args: { path: "long.txt" } },
          { name: "file_read", args: { path: "../../etc/passwd" } },
          { name: "file_list", args: {} },
        ],
      },
      { text: "Done." },
    ]);
    const directory = defaultFilesDirectory(work);
    const agent = createAgent({ name: "clerk", provider, tools: fileTools(), files: { directory } });
    await using session = createSession({ agent });
    const stream = execute(session, "Write a long file and read it.");
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(await stream.result()).toMatchObject({ status: "completed", text: "Done." });

    expect(await readFile(join(work, ".loopwright", "files", "long.txt"), "utf8")).toBe(content);
    const deltas = events.filter((event) => event.type === "tool_execution_delta").map(({ delta }) => delta);
    expect(deltas.length).toBeGreaterThanOrEqual(3);
    expect(deltas.join("")).toBe(content);

    const results = provider.requests.at(-1)?.messages.slice(-3) ?? [];
    expect(results.map((message) => message.role === "tool_result" && message.outcome)).toEqual(["ok", "error", "ok"]);
    expect(results[0]).toMatchObject({ content: [{ type: "text", text: content }] });
    expect(JSON.stringify(results[1])).toContain("INVALID_PATH");
    expect(JSON.stringify(results[2])).toContain("long.txt");
    expect(JSON.stringify(results)).not.toContain(work);
  });
});
