import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentTool, createAgent, createSession, execute } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { sqliteStore } from "@loopwright/store-sqlite";
import { expect, onTestFinished, test } from "vitest";
import { emptyDirectory, run, runAll, runEach, start } from "./run-binary.ts";

const idIn = (text: string): string => /(?:--resume |"sessionId":")([a-z0-9]+)/.exec(text)?.[1] ?? "";

test.concurrent("sessions are listed, searched, shown and deleted", async () => {
  const cwd = await emptyDirectory();
  const asked = await runAll(
    [
      ["ask", "the invoice of October"],
      ["ask", "what is 6 * 7?"],
    ],
    { cwd },
  );
  const [one = "", two = ""] = asked.map(({ stderr }) => idIn(stderr));
  const shared = two.slice(
    0,
    Array.from(two).findIndex((letter, at) => letter !== one[at]),
  );
  const [listed, asJson, shown, messages, found, refused, removed, gone, kept, none, idle, waiting] = await runAll(
    [
      ["sessions", "list"],
      ["sessions", "list", "--json", "--limit", "1"],
      ["sessions", "show", two],
      ["sessions", "show", two, "--json"],
      ["sessions", "search", "INVOICE"],
      ["sessions", "rm", shared],
      ["sessions", "rm", one.slice(0, shared.length + 1)],
      ["sessions", "show", one],
      ["sessions", "list"],
      ["sessions", "search", "INVOICE"],
      ["sessions", "list", "--of-agent", "assistant", "--status", "idle"],
      ["sessions", "list", "--status", "waiting"],
    ],
    { cwd },
  );
  expect([asJson?.stderr, listed?.stderr]).toEqual(["There are more than these 1: a larger --limit lists them.\n", ""]);
  expect([idle?.stdout.includes(two), waiting?.stdout, waiting?.stderr]).toEqual([true, "", "No session is like that.\n"]);
  expect(listed?.stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([two, one, ""]);
  expect(listed?.stdout).toContain("the invoice of October");
  expect(JSON.parse(asJson?.stdout ?? "")).toMatchObject({ id: two, status: "idle" });
  expect(shown?.stdout).toMatch(/> what is 6 \* 7\?[\s\S]*● [\s\S]*└ .*42/);
  const roles = messages?.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).role);
  expect(roles).toEqual(["user", "assistant", "tool_result", "assistant"]);
  expect([found?.stdout.includes(one), found?.stdout.includes(two)]).toEqual([true, false]);
  expect([refused?.code, refused?.stderr]).toEqual([2, expect.stringContaining(`ids of 2 sessions: \`${two}\`, \`${one}\`.`)]);
  expect(removed).toEqual({ code: 0, stdout: "", stderr: `Deleted ${one}.\n` });
  expect([gone?.code, kept?.stdout.includes(one), none?.stdout]).toEqual([1, false, ""]);
});

test.concurrent("a session is forked at a message and exported as Markdown and JSON", async () => {
  const cwd = await emptyDirectory();
  const [asked] = await runAll([["ask", "what is 6 * 7?"]], { cwd });
  const id = idIn(asked?.stderr ?? "");
  const [shown] = await runAll([["sessions", "show", id, "--json"]], { cwd });
  const [question = ""] = (shown?.stdout ?? "").split("\n");
  const [whole, part, absent, markdown, json] = await runAll(
    [
      ["sessions", "fork", id, "--title", "Another way"],
      ["sessions", "fork", id, "--at", JSON.parse(question).id, "--json"],
      ["sessions", "fork", id, "--at", "99"],
      ["sessions", "export", id],
      ["sessions", "export", id, "--format", "json"],
    ],
    { cwd },
  );
  const fork = whole?.stdout.trim() ?? "";
  expect(whole?.stderr).toContain(`chat --resume ${fork}`);
  expect([absent?.code, absent?.stderr]).toEqual([2, expect.stringContaining("The session has no message `99`.")]);
  expect(markdown?.stdout).toMatch(/^# what is 6 \* 7\?[\s\S]*## User[\s\S]*### Result of[\s\S]*42/);
  expect(JSON.parse(json?.stdout ?? "")).toMatchObject({ format: "loopwright-session", version: 1, session: { sessionId: id } });
  const [listed, all, one] = await runAll(
    [
      ["sessions", "list"],
      ["sessions", "show", fork, "--json"],
      ["sessions", "show", JSON.parse(part?.stdout ?? "{}").id, "--json"],
    ],
    { cwd },
  );
  expect(listed?.stdout).toContain("Another way");
  expect(all?.stdout.trim().split("\n")).toHaveLength(4);
  expect(one?.stdout.trim().split("\n")).toHaveLength(1);
});

test.concurrent("B44: a list leaves the sessions of other agents out; `--children-of` lists them, and they are deleted with their parent", async () => {
  const cwd = await emptyDirectory();
  const path = join(cwd, ".loopwright", "sessions.db");
  const store = sqliteStore({ path });
  const clerk = createAgent({ name: "clerk", provider: scripted([{ text: "Found." }]) });
  const calls = [{ name: "clerk", args: { task: "Find it." } }];
  const agent = createAgent({
    name: "lawyer",
    provider: scripted([{ calls }, { text: "It is void." }]),
    tools: [agentTool({ agent: clerk })],
  });
  await execute(createSession({ agent, store, id: "case" }), "is the contract valid?").result();
  await store.close();
  const [all, below, none, , after] = await runAll(
    [
      ["sessions", "list"],
      ["sessions", "list", "--children-of", "case", "--json"],
      ["sessions", "list", "--children-of", "nothing"],
      ["sessions", "rm", "case"],
      ["sessions", "list"],
    ],
    { cwd },
  );
  expect(all?.stdout.split("\n").map((line) => line.split(" ")[0])).toEqual(["case", ""]);
  expect(JSON.parse(below?.stdout ?? "")).toMatchObject({ agent: "clerk", parent: "case" });
  expect([none?.code, after?.stdout]).toEqual([1, ""]);
  const kept = sqliteStore({ path });
  expect(await kept.log.read({ scope: "local", session: JSON.parse(below?.stdout ?? "").id })).toEqual([]);
  await kept.close();
});

test.concurrent("a session that another program began is shown, and refused when it would continue under another agent", async () => {
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
    expect(stderr).toMatch(/try: Name the agent that it began with by `--agent`.* `loopwright sessions show case` shows it\./);
  }
  const again = sqliteStore({ path: join(cwd, ".loopwright", "sessions.db") });
  expect((await again.log.head({ scope: "local", session: "case" })).lastSeq).toBe(lastSeq);
  await again.close();
});

test.concurrent("looking makes no file", async () => {
  const cwd = await emptyDirectory();
  const [listed] = await runAll([["sessions", "list"], ["doctor"], ["ask", "--provider", "openai", "no key"]], { cwd });
  expect(listed).toMatchObject({ code: 0, stdout: "" });
  expect(existsSync(join(cwd, ".loopwright"))).toBe(false);
});

test.concurrent("titles cannot touch the terminal", async () => {
  const cwd = await emptyDirectory();
  await run(["ask", "-"], { cwd, input: "\u001b]52;c;ZXZpbA==\u0007 \u202e title" });
  const listed = await run(["sessions", "list"], { cwd });
  expect(listed.stdout).toContain("␛]52;c;ZXZpbA==␇ � title");
  expect(listed.stdout).not.toContain("\u001b");
});

test.concurrent("a killed answer continues when its session is resumed at once: nothing accepted is lost, and the attempt is shown as discarded", async () => {
  const cwd = await emptyDirectory();
  const running = start(["ask", "--json", "what is 6 * 7? think, then answer"], { cwd, env: { LOOPWRIGHT_OFFLINE_PACE: "60" } });
  const id = idIn(await running.prints('"type":"tool_execution_end"'));
  await running.prints('"turn":2');
  running.child.kill("SIGKILL");
  await running.ended;

  const cut = await run(["sessions", "show", id], { cwd });
  expect(cut.stdout).toContain("> what is 6 * 7?");
  expect(cut.stderr).toContain(`loopwright chat --resume ${id}`);

  const { code, stdout } = await run(["chat", "--resume", id, "--offline"], { cwd });
  const notified = stdout.replace(/\s+/g, " ");
  expect(code).toBe(0);
  expect(notified).toContain("The last run was interrupted.");
  expect(notified).toMatch(/Attempt 1 was thrown away: the process that made it died \(CRASHED\)\. It is made again\./);
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
  const id = idIn(await running.prints("begun"));
  running.child.kill("SIGKILL");
  await running.ended;

  const { code, stdout } = await run(["chat", "--resume", id, "--offline", "--tools", "tools.mjs"], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatch(/✗ .+\n {2}└ interrupted: /);
  expect(await readFile(letters, "utf8")).toBe("sent\n");
});

test.concurrent("why the last run failed is shown behind its transcript, and no longer when a later one did well", async () => {
  const cwd = await emptyDirectory();
  const store = sqliteStore({ path: join(cwd, ".loopwright", "sessions.db") });
  const agent = createAgent({
    name: "assistant",
    provider: scripted([{ error: "MODEL_AUTH" }, { error: "MODEL_AUTH" }, { text: "Good." }]),
  });
  for (const [id, inputs] of Object.entries({ bad1: ["One?"], good1: ["One?", "Two?"] }))
    for (const input of inputs) await execute(createSession({ agent, id, store }), input).result();
  await store.close();
  const [bad, good] = await runAll(
    [
      ["sessions", "show", "bad1"],
      ["sessions", "show", "good1"],
    ],
    { cwd },
  );
  expect([bad?.code, bad?.stdout]).toEqual([0, expect.stringContaining("One?")]);
  expect(bad?.stderr).toMatch(/^\nIts last run failed: .+ \(MODEL_AUTH\)\n$/);
  expect([good?.code, good?.stderr]).toEqual([0, ""]);
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
  const [, checked, bare, away, wrong] = await runEach(
    [
      { words: ["ask", "hello"] },
      { words: ["doctor"], env: { ANTHROPIC_API_KEY: "sk-ant-very-secret" } },
      { words: ["doctor"] },
      // Nothing listens on this port.
      { words: ["doctor", "--provider", "ollama"], env: { OLLAMA_HOST: ":9" } },
      { words: ["doctor"], env: { OLLAMA_HOST: "a b" } },
    ],
    { cwd },
  );
  expect(checked?.code).toBe(0);
  expect(checked?.stdout).toMatch(/ok {3}store .*sessions\.db: 1 sessions/);
  expect(checked?.stdout).toMatch(/anthropic +default model \S+ · ANTHROPIC_API_KEY set/);
  expect(checked?.stdout).toMatch(/- {4}openai +default model \S+ · OPENAI_API_KEY not set/);
  expect(checked?.stdout).toMatch(/chosen +anthropic .*\(by ANTHROPIC_API_KEY\)/);
  expect(checked?.stdout).not.toContain("secret");
  expect(bare?.stdout).toMatch(/chosen +offline .*\(no key is set/);
  expect(away?.stdout).toMatch(/- {4}ollama .*OLLAMA_HOST set · no server answers at http:\/\/127\.0\.0\.1:9$/m);
  expect(away?.stdout).toMatch(/BAD {2}chosen +ollama: no server answers at http:\/\/127\.0\.0\.1:9$/m);
  expect(away?.code).toBe(1);
  expect(wrong?.stdout).toMatch(/- {4}ollama +OLLAMA_HOST is not an address\./m);
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

test.concurrent("C63: skills of a folder are listed, checked and built, and one that lacks something is named at the start", async () => {
  const cwd = await emptyDirectory();
  await mkdir(join(cwd, "skills/orders"), { recursive: true });
  const needs = "metadata: { loopwright: { variables: { required: [NO_SUCH_VARIABLE] } } }";
  await writeFile(join(cwd, "skills/orders/SKILL.md"), `---\nname: orders\ndescription: Finds orders.\n${needs}\n---\nLook.\n`);
  const [list, check, build, ask, none] = await runAll(
    [
      ["skills", "list"],
      ["skills", "check"],
      ["skills", "build"],
      ["ask", "--skills", "skills", "hi"],
      ["skills", "list", "none"],
    ],
    { cwd },
  );
  expect([list?.code, list?.stdout]).toEqual([0, "orders  left out  Finds orders.\n"]);
  expect([check?.code, check?.stdout]).toEqual([1, "BAD  orders\n     The variable `NO_SUCH_VARIABLE` is not set.\n"]);
  expect([build?.code, JSON.parse(await readFile(join(cwd, "skills/skills.json"), "utf8")).skills.length]).toEqual([0, 1]);
  expect([ask?.code, ask?.stderr]).toEqual([0, expect.stringContaining("The skill orders is left out.")]);
  expect([none?.code, none?.stderr]).toEqual([3, expect.stringContaining("cannot be read (ENOENT)")]);
});

test.concurrent("a session is given schedules, which are listed, refused where they cannot be used, and removed", async () => {
  const cwd = await emptyDirectory();
  const [asked] = await runAll([["ask", "what is 6 * 7?"]], { cwd });
  const id = idIn(asked?.stderr ?? "");
  const daily = ["sessions", "schedule", id, "daily", "Write", "the", "report."];
  const [set, listed, past, duration, cron, noCron, history, removed, again, none] = await runAll(
    [
      [...daily, "--at", "2030-03-01T09:00", "--time-zone", "Europe/Berlin", "--every", "1d"],
      ["sessions", "schedules", id, "--json"],
      [...daily, "--at", "2001-03-01T09:00Z"],
      [...daily, "--every", "soon"],
      [
        "sessions",
        "schedule",
        id,
        "weekdays",
        "--cron",
        "0 9 * * 1-5",
        "--time-zone",
        "Europe/Berlin",
        "--skip-missed",
        "--json",
        "Report.",
      ],
      ["sessions", "schedule", id, "never", "--cron", "0 9 * *", "Report."],
      ["sessions", "schedules", id, "--history"],
      ["sessions", "unschedule", id, "daily"],
      ["sessions", "unschedule", id, "daily"],
      ["sessions", "schedules", id],
    ],
    { cwd },
  );
  expect(set).toEqual({ code: 0, stdout: "daily  2030-03-01T08:00:00.000Z  every 86400 s  Write the report.\n", stderr: "" });
  expect(JSON.parse(listed?.stdout ?? "")).toMatchObject({ name: "daily", everyMs: 86_400_000, message: { content: "Write the report." } });
  expect([past?.code, past?.stderr]).toEqual([2, expect.stringContaining("2001-03-01T09:00:00.000Z has passed")]);
  expect([duration?.code, duration?.stderr]).toEqual([2, expect.stringContaining("`soon` cannot be read")]);
  const weekdays = JSON.parse(cron?.stdout ?? "");
  expect(weekdays).toMatchObject({ cron: "0 9 * * 1-5", timeZone: "Europe/Berlin", missed: "skip" });
  const shown = new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Berlin", weekday: "long", hour: "2-digit", minute: "2-digit" });
  expect(shown.format(weekdays.due)).toMatch(/^(Mon|Tues|Wednes|Thurs|Fri)day.* 09:00$/);
  expect([noCron?.code, noCron?.stderr]).toEqual([2, expect.stringContaining("cannot be read")]);
  expect([history?.code, history?.stderr]).toEqual([0, "No schedule of the session has fired yet.\n"]);
  expect([removed?.code, again?.code]).toEqual([0, 1]);
  expect(none?.stdout).toMatch(/^weekdays {2}\S+ {2}0 9 \* \* 1-5 Europe\/Berlin {2}Report\.\n$/);
});

/** Mounts a disk of 600 KiB; a sentence where this may not be done. */
async function mountSmallDisk(place: string): Promise<string | undefined> {
  await mkdir(place);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=600k", "tmpfs", place], { stdio: "ignore" });
  return status === 0 ? undefined : "A disk of 600 KiB cannot be mounted here.";
}

test("sessions are listed and shown on a disk that is full, and on one that cannot be written; a question is refused with the reason", async ({
  skip,
}) => {
  const cwd = await emptyDirectory();
  const disk = join(cwd, "disk");
  const missing = await mountSmallDisk(disk);
  if (missing !== undefined) return skip(missing);
  onTestFinished(() => void spawnSync("umount", ["-l", disk]));
  const store = ["--store", join(disk, "s.db")];
  const id = idIn((await run(["ask", ...store, "the invoice of October"], { cwd })).stderr);
  // Without a free byte.
  spawnSync("dd", ["if=/dev/zero", `of=${join(disk, "filler")}`, "bs=4k"], { stdio: "ignore" });
  const words = [
    ["sessions", "list"],
    ["sessions", "show", id],
    ["ask", "Anything else?"],
  ];
  const onDisk = () =>
    runAll(
      words.map((line) => [...line, ...store]),
      { cwd },
    );
  const [listed, shown, full] = await onDisk();
  expect([listed?.code, listed?.stdout]).toEqual([0, expect.stringContaining(id)]);
  expect([shown?.code, shown?.stdout]).toEqual([0, expect.stringContaining("the invoice of October")]);
  expect([full?.code, full?.stderr]).toEqual([1, expect.stringContaining("STORE_FULL")]);
  expect(spawnSync("mount", ["-o", "remount,ro", disk]).status).toBe(0);
  const [again, seen, readOnly] = await onDisk();
  expect([again?.code, again?.stdout]).toEqual([0, listed?.stdout]);
  expect(seen?.stdout).toBe(shown?.stdout);
  expect([readOnly?.code, readOnly?.stderr]).toEqual([1, expect.stringContaining("STORE_READ_ONLY")]);
});
