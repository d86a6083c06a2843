import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAgent, createSession, execute } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { sqliteStore } from "@loopwright/store-sqlite";
import { expect, test } from "vitest";
import { emptyDirectory, run, start } from "./run-binary.ts";

const idIn = (text: string): string => /(?:--resume |"sessionId":")([a-z0-9]+)/.exec(text)?.[1] ?? "";

test.concurrent("sessions are listed, searched, shown and deleted", async () => {
  const cwd = await emptyDirectory();
  const one = idIn((await run(["ask", "the invoice of October"], { cwd })).stderr);
  const two = idIn((await run(["ask", "what is 6 * 7?"], { cwd })).stderr);

  const listed = await run(["sessions", "list"], { cwd });
  expect(listed.stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([two, one, ""]);
  expect(listed.stdout).toContain("the invoice of October");
  const asJson = await run(["sessions", "list", "--json", "--limit", "1"], { cwd });
  expect(JSON.parse(asJson.stdout)).toMatchObject({ id: two, status: "idle" });

  const shown = await run(["sessions", "show", two], { cwd });
  expect(shown.stdout).toMatch(/> what is 6 \* 7\?[\s\S]*● [\s\S]*└ .*42/);
  const messages = (await run(["sessions", "show", two, "--json"], { cwd })).stdout.trim().split("\n");
  expect(messages.map((line) => JSON.parse(line).role)).toEqual(["user", "assistant", "tool_result", "assistant"]);

  const shared = two.slice(
    0,
    Array.from(two).findIndex((letter, at) => letter !== one[at]),
  );
  const refused = await run(["sessions", "rm", shared], { cwd });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`ids of 2 sessions: \`${two}\`, \`${one}\`.`)]);
  const beginning = one.slice(0, shared.length + 1);
  expect(await run(["sessions", "rm", beginning], { cwd })).toEqual({ code: 0, stdout: "", stderr: `Deleted ${one}.\n` });
  expect((await run(["sessions", "list"], { cwd })).stdout).not.toContain(one);
  expect((await run(["sessions", "show", one], { cwd })).code).toBe(1);
});

test.concurrent("a session is found by its words, and can be deleted after that", async () => {
  const cwd = await emptyDirectory();
  const one = idIn((await run(["ask", "the invoice of October"], { cwd })).stderr);
  const two = idIn((await run(["ask", "what is 6 * 7?"], { cwd })).stderr);
  const found = await run(["sessions", "search", "INVOICE"], { cwd });
  expect(found.stdout).toContain(one);
  expect(found.stdout).not.toContain(two);
  expect((await run(["sessions", "rm", one], { cwd })).stderr).toBe(`Deleted ${one}.\n`);
  expect((await run(["sessions", "search", "INVOICE"], { cwd })).stdout).toBe("");
});

test.concurrent("a session that another program began is shown, and refused where it would go on under another agent", async () => {
  const cwd = await emptyDirectory();
  const store = sqliteStore({ path: join(cwd, ".loopwright", "sessions.db") });
  const agent = createAgent({ name: "lawyer", provider: scripted([{ text: "It is void." }]) });
  const tools = [{ name: "sign", description: "Lets the person sign.", parameters: { type: "object" } }];
  await using session = createSession({ agent, store, id: "case", tools });
  await execute(session, "is the contract valid?").result();
  const { lastSeq } = session;
  await store.close();

  const shown = await run(["sessions", "show", "case"], { cwd });
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining("It is void.") });
  for (const command of [
    ["chat", "--resume", "case", "--offline"],
    ["ask", "--session", "case", "and now?"],
  ]) {
    const { code, stderr } = await run(command, { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain("The session `case` has the agent `lawyer`, not `assistant`");
    expect(stderr).toContain("(SESSION_AGENT_MISMATCH)");
    expect(stderr).toMatch(/try: Go on with it in the program that began it: .* `loopwright sessions show case` shows it\./);
  }
  const again = sqliteStore({ path: join(cwd, ".loopwright", "sessions.db") });
  expect((await again.log.head({ scope: "local", session: "case" })).lastSeq).toBe(lastSeq);
  await again.close();
});

test.concurrent("looking makes no file", async () => {
  const cwd = await emptyDirectory();
  const listed = await run(["sessions", "list"], { cwd });
  expect(listed).toMatchObject({ code: 0, stdout: "" });
  await run(["doctor"], { cwd });
  await run(["ask", "--provider", "openai", "no key"], { cwd });
  expect(existsSync(join(cwd, ".loopwright"))).toBe(false);
});

test.concurrent("titles cannot touch the terminal", async () => {
  const cwd = await emptyDirectory();
  await run(["ask", "-"], { cwd, input: "\u001b]52;c;ZXZpbA==\u0007 \u202e title" });
  const listed = await run(["sessions", "list"], { cwd });
  expect(listed.stdout).toContain("␛]52;c;ZXZpbA==␇ � title");
  expect(listed.stdout).not.toContain("\u001b");
});

test.concurrent("a killed answer goes on when its session is resumed at once: nothing accepted is lost, and the attempt is shown as thrown away", async () => {
  const cwd = await emptyDirectory();
  const running = start(["ask", "--json", "what is 6 * 7? think, then answer"], { cwd, env: { LOOPWRIGHT_OFFLINE_PACE: "5" } });
  const id = idIn(await running.says('"type":"tool_execution_end"'));
  await running.says('"turn":2');
  running.child.kill("SIGKILL");
  await running.ended;

  const cut = await run(["sessions", "show", id], { cwd });
  expect(cut.stdout).toContain("> what is 6 * 7?");
  expect(cut.stderr).toContain(`loopwright chat --resume ${id}`);

  const { code, stdout } = await run(["chat", "--resume", id, "--offline"], { cwd });
  const told = stdout.replace(/\s+/g, " ");
  expect(code).toBe(0);
  expect(told).toContain("The last run was cut off before it was done.");
  expect(told).toMatch(/Attempt 1 was thrown away: the process that made it died \(CRASHED\)\. It is made again\./);
  expect(stdout.split("> what is 6 * 7?")).toHaveLength(2);
  expect(stdout).toMatch(/says: .*42/);

  const whole = (await run(["sessions", "show", id, "--json"], { cwd })).stdout.trim().split("\n");
  expect(whole.map((line) => JSON.parse(line).role)).toEqual(["user", "assistant", "tool_result", "assistant"]);
});

test.concurrent("a tool that must run once is not started again after a kill in the middle of it", async () => {
  const cwd = await emptyDirectory();
  const letters = join(cwd, "letters.txt");
  await writeFile(
    join(cwd, "tools.mjs"),
    `import { appendFileSync } from "node:fs";
export const letter = {
  name: "send_letter",
  description: "Sends a letter.",
  parameters: { type: "object", properties: {} },
  async *execute() {
    appendFileSync(${JSON.stringify(letters)}, "sent\\n");
    yield { type: "delta", delta: "begun" };
    await new Promise((resolve) => setTimeout(resolve, 1_000_000));
  },
};
`,
  );
  const running = start(["ask", "--json", "--tools", "tools.mjs", "use send_letter"], { cwd });
  const id = idIn(await running.says("begun"));
  running.child.kill("SIGKILL");
  await running.ended;

  const { code, stdout } = await run(["chat", "--resume", id, "--offline", "--tools", "tools.mjs"], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatch(/✗ .+\n {2}└ interrupted: /);
  expect(await readFile(letters, "utf8")).toBe("sent\n");
});

test.concurrent("without a terminal chat is a short demonstration that ends with 0", async () => {
  const cwd = await emptyDirectory();
  const { code, stdout, stderr } = await run(["chat"], { cwd, env: { OPENAI_API_KEY: "sk-not-used" } });
  expect(code).toBe(0);
  expect(stderr).toBe("");
  for (const sign of ["> what is 6 * 7?", "∴ Thought", "● ", "was thrown away", "try: "]) expect(stdout).toContain(sign);
  expect((await run(["chat", "--continue", "--offline"], { cwd })).stdout).toContain(idIn(stdout));
});

test.concurrent("doctor names what is there and never shows a key", async () => {
  const cwd = await emptyDirectory();
  await run(["ask", "hello"], { cwd });
  const { code, stdout } = await run(["doctor"], { cwd, env: { ANTHROPIC_API_KEY: "sk-ant-very-secret" } });
  expect(code).toBe(0);
  expect(stdout).toMatch(/ok {3}store .*sessions\.db: 1 sessions/);
  expect(stdout).toMatch(/anthropic +default model \S+ · ANTHROPIC_API_KEY set/);
  expect(stdout).toMatch(/- {4}openai +default model \S+ · OPENAI_API_KEY not set/);
  expect(stdout).toMatch(/chosen +anthropic .*\(by ANTHROPIC_API_KEY\)/);
  expect(stdout).not.toContain("secret");
  expect((await run(["doctor"], { cwd })).stdout).toMatch(/chosen +offline .*\(no key is set/);
  // Nothing listens on this port.
  const away = await run(["doctor", "--provider", "ollama"], { cwd, env: { OLLAMA_HOST: "127.0.0.1:9" } });
  expect(away.stdout).toMatch(/- {4}ollama .*OLLAMA_HOST set · no server answers at http:\/\/127\.0\.0\.1:9$/m);
  expect(away.stdout).toMatch(/BAD {2}chosen +ollama: no server answers at http:\/\/127\.0\.0\.1:9$/m);
  expect(away.code).toBe(1);
});

test.concurrent("tools of the user's own are offered", async () => {
  const cwd = await emptyDirectory();
  await writeFile(
    join(cwd, "tools.mjs"),
    'export const lucky = { name: "lucky_number", description: "A lucky number.", parameters: { type: "object", properties: {} }, execute: () => "seventeen" };\n',
  );
  expect((await run(["ask", "--quiet", "--tools", "tools.mjs", "use lucky_number"], { cwd })).stdout).toContain("seventeen");
  expect((await run(["ask", "--tools", "gone.mjs", "hi"], { cwd })).stderr).toContain("CONFIG_INVALID");
});
