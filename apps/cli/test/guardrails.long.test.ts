import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { emptyDirectory, run } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const token = `ghp_${"wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"}`;
/** An agent whose one tool gives a secret, and which repeats it. */
const agents = `export const agents = ({ createAgent, defineTool, provider }) => [createAgent({
  name: "keeper",
  tools: [defineTool({ name: "fetch", description: "x", parameters: { type: "object" }, execute: () => "the token is ${token}" })],
  provider: {
    ...provider,
    async *stream({ messages }) {
      const last = messages.at(-1);
      if (last.role === "user") yield [{ type: "call-start", index: 0, id: "c1", name: "fetch" }, { type: "call-args", index: 0, delta: "{}" }, { type: "call-end", index: 0 }, { type: "end", stopReason: "tool_calls" }];
      else {
        for (const delta of "I saw ${token}, ok?") yield [{ type: "text", index: 0, delta }];
        yield [{ type: "end", stopReason: "stop" }];
      }
    },
  },
})];`;

/** What a run shows, and what its store keeps, with these flags. */
async function ran(
  flags: readonly string[],
  policy?: string,
): Promise<{ readonly events: string; readonly stderr: string; readonly cwd: string }> {
  const cwd = await emptyDirectory();
  await writeFile(join(cwd, "agents.mjs"), agents);
  if (policy !== undefined) await writeFile(join(cwd, "guardrails.json"), policy);
  const server = await startServer({ cwd, flags: ["--agents", "agents.mjs", "--agent", "keeper", ...flags] });
  const events: unknown[] = [];
  const stream = server.client.execute("Go.", { context: {} });
  for await (const event of stream) events.push(event);
  const kept = await server.client.sessions.get(stream.sessionId);
  server.child.kill("SIGTERM");
  const { stderr } = await server.ended;
  return { events: JSON.stringify([events, kept]), stderr, cwd };
}

describe("the guardrails of `run`", () => {
  test("C39: a secret in a tool result is redacted by default, and a verdict is recorded", async () => {
    const { events, stderr } = await ran([]);
    expect(events).not.toContain(token);
    expect(events).toContain("the token is [redacted:github]");
    expect(events).toContain("tool_output of fetch: github");
    expect(stderr).not.toContain("WARNING");
  });

  test("C39: with --enforce-guardrails=false it passes unchanged, the verdict is recorded, and the start warns", async () => {
    const { events, stderr, cwd } = await ran(["--enforce-guardrails=false"]);
    expect(events).toContain(`the token is ${token}`);
    expect(events).toContain("would_redact");
    expect(stderr).toContain("WARNING: guardrails evaluate and record, and change nothing");
    const { stdout, stderr: sum, code } = await run(["guardrails", "backtest"], { cwd });
    expect([code, sum]).toEqual([0, "2 verdicts on 5 texts (1 messages, 2 answers, 1 calls, 1 outputs) of 1 sessions.\n"]);
    expect(stdout).toMatch(/would_redact {2}tool_output of fetch: github\n[\s\S]*would_redact {2}output: github\n/);
    expect(stdout).not.toContain(token);
  });

  test("C39: with --no-guardrails it passes unchanged, no verdict is recorded, and the start warns", async () => {
    const { events, stderr } = await ran(["--no-guardrails"]);
    expect(events).toContain(`the token is ${token}`);
    expect(events).not.toContain('"verdict"');
    expect(stderr).toContain("WARNING: no guardrail is evaluated");
  });

  test("follow a policy that is kept in SQLite, and refuse a start with a policy that cannot be used", async () => {
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, "policy.json"), '{"version": 1, "rules": [{"id": "a", "pattern": "x", "mode": "shadow"}]}');
    await writeFile(join(cwd, "broken.json"), '{"version": 1, "secretz": false}');
    const put = await run(["guardrails", "put", "sqlite:config.db", "policy.json"], { cwd });
    expect([put.code, put.stderr]).toEqual([0, ""]);
    const checked = await run(["guardrails", "check", "sqlite:config.db"], { cwd });
    expect(checked.stdout).toContain("rule a: redact (shadow)");
    const refused = await run(["run", "--offline", "--port", "0", "--guardrails", "broken.json"], { cwd });
    expect([refused.code, refused.stderr]).toEqual([
      3,
      expect.stringMatching(/^There is no option `secretz` of .*\(CONFIG_INVALID\)\nwhy: .+\ntry: Did you mean `secrets`\?\n$/),
    ]);
    const wrong = await run(["run", "--offline", "--port", "0", "--enforce-guardrails=maybe"], { cwd });
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining("`--enforce-guardrails` is `maybe`, and it is a switch")]);
  });
});
