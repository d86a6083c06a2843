/* The first day of an operator, at a terminal: one process in the background, one chat, one death, and no secret where it does not belong. */
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fakeTelegram } from "@loopwright/chat-telegram/testing";
import { createClient } from "@loopwright/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { atTerminal } from "./at-terminal.ts";
import { type Artefact, filesIn, leaksIn } from "./canaries.ts";
import { type Ended, emptyDirectory, run } from "./run-binary.ts";

/** With characters that encodings change. */
const [ofVendor, ofBot, ofSkill, ofOthers, ofCallers, ofServices] = [
  "sk-CANARY-vendor+0123/456",
  "4200:AACANARY-bot-5f3c2d1e0f9a8b7c6d5e4",
  "CANARY-acme-token+0123/456",
  "CANARY-garden-token+987/654",
  "CANARY-callers-token+55/66",
  "CANARY-services-token+77/88",
];
const passphrase = "CANARY five random words of a test";
const secrets = [ofVendor, ofBot, ofSkill, ofOthers, ofCallers, ofServices, passphrase];
const patience = { timeout: 90_000, interval: 50 };
const anne = { id: 11, name: "Anne" };

/** What a script was given: the names of its variables, and its arguments. */
const stockScript = `
import { createHash } from "node:crypto";
const { plant } = JSON.parse(process.argv[2]);
const token = createHash("sha256").update(process.env.ACME_API_TOKEN ?? "").digest("hex").slice(0, 16);
console.log(JSON.stringify({ plant, pots: 7, token, variables: Object.keys(process.env).sort(), arguments: process.argv.slice(2) }));
`;
const stockSkill = `---
name: stock
description: Looks up how many pots of a plant there are.
metadata:
  loopwright:
    variables: { required: [ACME_API_TOKEN] }
---

Call \`check_stock\`.

## Tool: check_stock

Looks up a plant.

| name | type | required | description |
|---|---|---|---|
| plant | string | yes | its name |
`;
/** Of the skill that \`init\` has made: it prints what it was given, and asks for nothing. */
const nosyScript = `console.log(JSON.stringify({ words: 3, variables: Object.keys(process.env).sort() }));`;

interface Sent {
  readonly role: string;
  readonly content?: unknown;
}

/** A vendor of models that takes one key, calls the tools of skills, and can hold an answer back. */
async function vendor() {
  const held: ServerResponse[] = [];
  const state = { isHolding: false };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const key = (request.headers.authorization ?? "").replace("Bearer ", "");
    const { messages } = JSON.parse(Buffer.concat(pieces).toString()) as { readonly messages: readonly Sent[] };
    const words = String(messages.findLast(({ role }) => role === "user")?.content);
    if (key !== ofVendor || words.includes("wrong key"))
      return void response
        .writeHead(401, { "content-type": "application/json" })
        .end(JSON.stringify({ error: { message: `No such key: ${key}` } }));
    const results = messages.slice(messages.findLastIndex(({ role }) => role === "user")).filter(({ role }) => role === "tool");
    response.setHeader("content-type", "text/event-stream");
    const chunk = (delta: object, end: string | null = null): void =>
      void response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`);
    const call = (name: string, args: object): void => {
      chunk({
        tool_calls: [{ index: 0, id: `c${messages.length}`, type: "function", function: { name, arguments: JSON.stringify(args) } }],
      });
      chunk({}, "tool_calls");
      response.end("data: [DONE]\n\n");
    };
    const [skill, name, args] = words.includes("stock")
      ? ["stock", "check_stock", { plant: "roses" }]
      : ["word-count", "count_words", { text: "a b c" }];
    if (words.includes("tool") && results.length === 0) return call("read_skill", { skill });
    if (words.includes("tool") && results.length === 1) return call(String(name), args as object);
    chunk({ content: results.length > 0 ? `The script printed ${String(results.at(-1)?.content)}` : "Once upon a time" });
    if (state.isHolding) return void held.push(response);
    chunk({ content: " there was an end." });
    chunk({}, "stop");
    response.end("data: [DONE]\n\n");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, held, state };
}

/** Every step of one operator in one folder, of which all that was printed is kept. */
function operator(folder: () => string) {
  const printed: Artefact[] = [];
  const note = (name: string, text: string): void => void printed.push({ name, bytes: Buffer.from(text) });
  return {
    printed,
    note,
    async types(words: string, answers: Parameters<typeof atTerminal>[2]): Promise<string> {
      const { code, shown } = await atTerminal(words.split(" "), folder(), answers);
      note(words, shown);
      expect([words, code, shown]).toEqual([words, 0, shown]);
      return shown;
    },
    async enters(words: string, more: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {}): Promise<Ended> {
      const ended = await run(words.split(" "), { cwd: folder(), ...more });
      note(words, ended.stdout + ended.stderr);
      return ended;
    },
  };
}

test("an operator makes an agent with secrets and a skill, serves it to a chat that allows a call, finds it again after kill -9, and stops it, and no secret is where it was not asked for", {
  timeout: 300_000,
}, async () => {
  const [model, telegram, home] = [await vendor(), await fakeTelegram(ofBot), await emptyDirectory()];
  onTestFinished(() => telegram.close());
  const folder = join(home, "garden");
  let isMade = false;
  const { types, enters, printed, note } = operator(() => (isMade ? folder : home));
  const state = (): { readonly pid: number; readonly url: string } =>
    JSON.parse(readFileSync(join(folder, ".loopwright/serve.json"), "utf8"));
  onTestFinished(async () => {
    if (existsSync(join(folder, ".loopwright/serve.json"))) await run(["serve", "stop", "--timeout", "0"], { cwd: folder });
  });

  // The agent, after a provider that does not exist.
  expect(await enters("init garden --provider opnai --model m")).toMatchObject({ code: 3, stderr: expect.stringContaining("openai") });
  await types(`init garden --provider openai --model m --base-url ${model.url}`, [
    ["Key of OpenAI, kept encrypted [none now]: ", ofVendor],
    ["New passphrase of", passphrase],
    ["The same again: ", passphrase],
  ]);
  isMade = true;
  await types("secrets set ACME_API_TOKEN", [
    ["Passphrase of", passphrase],
    ["ACME_API_TOKEN", ofSkill],
  ]);
  const opened = { LOOPWRIGHT_SECRETS_PASSPHRASE: passphrase };
  const others = { TELEGRAM_BOT_TOKEN: ofBot, GARDEN_TOKEN: ofOthers, LOOPWRIGHT_TOKEN: ofCallers, LOOPWRIGHT_INTERNAL_TOKEN: ofServices };
  for (const [name, input] of Object.entries(others))
    expect(await enters(`secrets set ${name}`, { input, env: opened })).toMatchObject({ code: 0 });
  expect((await enters("secrets list", { env: opened })).stdout.split("\n")).toHaveLength(7);

  // A skill with a script, first without it.
  for (const path of ["skills/stock/scripts"]) mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, "skills/stock/SKILL.md"), stockSkill);
  expect(await enters("skills check", { env: opened })).toMatchObject({ code: 3, stderr: expect.stringContaining("check_stock") });
  writeFileSync(join(folder, "skills/stock/scripts/check_stock.mjs"), stockScript);
  writeFileSync(join(folder, "skills/word-count/scripts/count_words.mjs"), nosyScript);
  expect(await enters("skills check", { env: opened })).toMatchObject({ code: 0 });
  writeFileSync(join(folder, ".env"), `LOOPWRIGHT_TELEGRAM_URL=${telegram.url}\nLOOPWRIGHT_CHANNELS=telegram\n`);
  expect(await enters("config validate", { env: opened })).toMatchObject({ code: 0 });

  // In the background: refused where the passphrase is missing or wrong, or a flag is.
  expect(await enters("serve --port 0")).toMatchObject({ code: 3, stderr: expect.stringContaining("LOOPWRIGHT_SECRETS_PASSPHRASE_FILE") });
  expect((await enters("serve --port 0", { env: { LOOPWRIGHT_SECRETS_PASSPHRASE: `${passphrase} not` } })).code).not.toBe(0);
  expect(await enters("serve --prot 0", { env: opened })).toMatchObject({ code: 2, stderr: expect.stringContaining("--port") });
  await types("serve --port 0 --metrics", [["Passphrase of", passphrase]]);
  const first = state();
  expect(await enters("serve --port 0", { env: opened })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`process ${first.pid}`),
  });

  // A chat that needs an approval.
  const last = (): string => telegram.sent.at(-1)?.text ?? "";
  const linked = JSON.parse((await enters("link --json", { env: opened })).stdout) as { readonly code: string };
  telegram.say({ from: anne, text: `/link ${linked.code}` });
  await vi.waitFor(() => expect(telegram.sent.length).toBeGreaterThan(0), patience);
  telegram.say({ from: anne, text: "use the tool: are roses in stock?" });
  await vi.waitFor(() => expect(telegram.sent.some(({ buttons }) => buttons.length > 0)).toBe(true), patience);
  expect(last()).toContain("check_stock");
  telegram.press(anne, "Allow");
  await vi.waitFor(() => expect(last()).toMatch(/"pots":7/), patience);
  expect(last()).toContain('"variables":["ACME_API_TOKEN"');
  expect(last()).not.toMatch(/GARDEN_TOKEN|OPENAI_API_KEY|TELEGRAM|LOOPWRIGHT_(TOKEN|INTERNAL|SECRETS)/);
  telegram.say({ from: anne, text: "use the tool: how many words are these?" });
  await vi.waitFor(() => expect(last()).toContain("count_words"), patience);
  telegram.press(anne, "Allow");
  await vi.waitFor(() => expect(last()).toMatch(/"words":3/), patience);
  expect(last()).not.toMatch(/ACME|GARDEN|OPENAI_API_KEY|TELEGRAM|LOOPWRIGHT_(TOKEN|INTERNAL|SECRETS)/);
  telegram.say({ from: anne, text: "say it with the wrong key" });
  const answered = telegram.sent.length;
  await vi.waitFor(() => expect(telegram.sent.length).toBeGreaterThan(answered), patience);

  expect((await enters("serve status")).stdout).toContain("health: ready");
  expect((await enters("serve logs")).stdout).toContain("Loopwright serves");
  for (const path of ["cmdline", "environ"]) printed.push({ name: path, bytes: readFileSync(`/proc/${first.pid}/${path}`) });
  for (const path of ["metrics", "api/sessions", "api/agents"]) {
    const response = await fetch(new URL(path, first.url), { headers: { authorization: `Bearer ${ofCallers}` } });
    note(`GET /${path}`, `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`);
  }
  expect((await fetch(new URL("api/sessions", first.url))).status).toBe(401);

  // It dies in the middle of an answer, and another process gives the answer, once.
  model.state.isHolding = true;
  telegram.say({ from: anne, text: "tell me a story" });
  await vi.waitFor(() => expect(model.held.length).toBe(1), patience);
  process.kill(first.pid, "SIGKILL");
  await vi.waitFor(async () => expect(await enters("serve status")).toMatchObject({ code: 1 }), patience);
  model.state.isHolding = false;
  await types("serve --port 0 --metrics", [["Passphrase of", passphrase]]);
  const second = state();
  expect(second.pid).not.toBe(first.pid);
  await vi.waitFor(() => expect(last()).toBe("Once upon a time there was an end."), patience);

  // What everything reports about the session, and where the secrets are.
  const client = createClient({ url: second.url, token: ofCallers });
  const { sessions } = await client.sessions.list();
  const session = await client.sessions.get(sessions[0]?.id ?? "");
  note("the session", JSON.stringify([sessions, session]));
  const written = session.messages.filter(({ message }) => message.role === "user");
  expect([sessions.length, written.length]).toEqual([1, 4]);
  expect(telegram.sent.filter(({ text }) => text === "Once upon a time there was an end.")).toHaveLength(1);
  await enters("serve logs --lines 1000");
  for (const path of ["cmdline", "environ"]) printed.push({ name: path, bytes: readFileSync(`/proc/${second.pid}/${path}`) });
  expect(await enters("serve stop")).toMatchObject({ code: 0, stderr: `Stopped (process ${second.pid}).\n` });
  expect(await enters("serve status")).toMatchObject({ code: 1, stdout: "not running\n" });
  note("what the bot sent", JSON.stringify(telegram.sent));
  const files = filesIn(home);
  expect(files.map(({ name }) => name.split("/").at(-1))).toEqual(expect.arrayContaining(["sessions.db", "serve.log", "secrets.enc"]));
  expect(await leaksIn([...printed, ...files], secrets)).toEqual([]);
});
