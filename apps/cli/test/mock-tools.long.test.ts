import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyDirectory } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

/** An agent that calls a tool of its own, then one that a hook brings, both of which write a file; one needs an approval. */
const agents = `import { writeFileSync } from "node:fs";
export const agents = ({ createAgent, defineTool, provider }) => {
  const touch = (name, more) => defineTool({ name, description: "x", parameters: { type: "object" }, execute: () => writeFileSync(name, "") ?? "done", ...more });
  const brought = touch("brought", { approval: true });
  return [createAgent({
    name: "toucher",
    tools: [touch("own")],
    hooks: [{ name: "bringer", prepare: ({ tools }) => ({ tools: [...tools, brought] }) }],
    provider: {
      ...provider,
      async *stream({ messages }) {
        const results = messages.filter(({ role }) => role === "tool_result").length;
        const name = ["own", "brought"][results];
        if (name) yield [{ type: "call-start", index: 0, id: "c" + results, name }, { type: "call-args", index: 0, delta: "{}" }, { type: "call-end", index: 0 }, { type: "end", stopReason: "tool_calls" }];
        else yield [{ type: "text", index: 0, delta: "Done." }, { type: "end", stopReason: "stop" }];
      },
    },
  })];
};`;

/** What a run answers, which files its tools wrote, and what the server printed. */
async function ran(flags: readonly string[]): Promise<{
  readonly text: string;
  readonly status: string;
  readonly written: readonly boolean[];
  readonly stderr: string;
  readonly kept: string;
}> {
  const cwd = await emptyDirectory();
  await writeFile(join(cwd, "agents.mjs"), agents);
  const server = await startServer({ cwd, flags: ["--agents", "agents.mjs", "--agent", "toucher", ...flags] });
  const stream = server.client.execute("Go.", { context: {} });
  const { text, status } = await stream.result();
  const kept = JSON.stringify(await server.client.sessions.get(stream.sessionId));
  server.child.kill("SIGTERM");
  const { stderr } = await server.ended;
  return { text, status, written: ["own", "brought"].map((name) => existsSync(join(cwd, name))), stderr, kept };
}

test("C36: with --mock-tools no tool runs, the run completes without an approval, the model reads of it, and the start warns", async () => {
  const mocked = await ran(["--mock-tools"]);
  expect(mocked).toMatchObject({ text: "Done.", status: "completed", written: [false, false] });
  expect(mocked.stderr).toContain("WARNING: tools are mocked");
  for (const name of ["own", "brought"]) expect(mocked.kept).toContain(`\`${name}\` was not run`);
  const real = await ran([]);
  expect(real).toMatchObject({ status: "awaiting_tool_execution", written: [true, false] });
  expect(real.stderr).not.toContain("mocked");
});
