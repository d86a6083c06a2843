import { type Agent, createAgent, defineTool } from "@loopwright/core";
import { memoryStore, type ScriptedStep, scripted, silentLogger } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { expect, onTestFinished, test } from "vitest";
import type { ChatPlace } from "../src/chat/chat-place.ts";
import { localPlace } from "../src/chat/local-place.ts";
import { plainChat } from "../src/chat/plain-chat.ts";
import { terminalChat } from "../src/chat/terminal-chat.ts";
import { askUserTool } from "../src/compose/ask-user-tool.ts";
import { remotePlace } from "../src/remote/remote-place.ts";
import { resolveSettings } from "../src/settings/settings.ts";
import { createStyle } from "../src/terminal/style.ts";
import { FakeInput, FakeScreen } from "./fake-terminal.ts";
import { emptyDirectory, run } from "./run-binary.ts";

const removes = (path: string, id: string): { readonly name: string; readonly args: { readonly path: string }; readonly id: string } => ({
  name: "remove",
  args: { path },
  id,
});
const script: readonly ScriptedStep[] = [{ text: "These can go.", calls: [removes("a", "c1"), removes("b", "c2")] }, { text: "So be it." }];

/** An agent that asks before it removes anything, and what it has removed. */
function careful(steps: readonly ScriptedStep[] = script): {
  readonly agent: Agent;
  readonly ran: unknown[];
  readonly provider: ReturnType<typeof scripted>;
} {
  const ran: unknown[] = [];
  const remove = defineTool({
    name: "remove",
    description: "Removes a file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    execute: (args) => `removed ${ran.push(args)}`,
  });
  const provider = scripted(steps);
  const gate = ({ call }: { readonly call: { readonly name: string } }) =>
    call.name === "remove" ? ({ action: "ask", reason: "It is gone for good." } as const) : undefined;
  return { agent: createAgent({ name: "careful", provider, tools: [remove], hooks: [{ name: "approve", gate }] }), ran, provider };
}

async function here(agent: Agent): Promise<ChatPlace> {
  const settings = resolveSettings({ offline: true }, {}, await emptyDirectory());
  return localPlace({ settings, provider: agent.provider, agent, store: memoryStore() });
}

async function there(agent: Agent): Promise<{ readonly place: ChatPlace; readonly url: string }> {
  const server = createServer({ runtime: createRuntime({ agents: [agent], logger: silentLogger }) });
  const listening = await listen(server);
  onTestFinished(async () => {
    await server.close();
    await listening.close();
  });
  const { url } = listening;
  return { place: await remotePlace({ url, token: undefined }), url };
}

async function chatAt(place: ChatPlace, id?: string) {
  const session = await place.open(id);
  const [input, output] = [new FakeInput(), new FakeScreen()];
  const ended = plainChat({ place, session, style: createStyle(false), input, output });
  const shows = (text: string, prompt: string): Promise<readonly string[]> =>
    output.until((lines) => lines.some((line) => line.includes(text)) && lines.at(-1) === prompt);
  return { shows, ended, output, id: session.id, type: (text: string) => void input.write(`${text}\n`) };
}

test.each(["here", "on a server"])(
  "a chat %s asks before a call runs, takes y or n with a note, and continues when all calls are decided",
  async (where) => {
    const { agent, ran, provider } = careful();
    const { shows, type, ended, output } = await chatAt(where === "here" ? await here(agent) : (await there(agent)).place);
    await shows("/help", "> ");
    type("tidy up");
    const asked = await shows("Run remove? It is gone for good.", "? ");
    expect(asked.join("\n")).toContain('"path": "a"');
    type("perhaps");
    await output.until((lines) => lines.filter((line) => line.includes("Run remove?")).length === 2 && lines.at(-1) === "? ");
    type("y");
    await shows('"path": "b"', "? ");
    expect(ran).toEqual([]);
    type("n keep that one");
    await shows("So be it.", "> ");
    expect(ran).toEqual([{ path: "a" }]);
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("Denied. keep that one");
    type("/quit");
    await ended;
  },
);

test("a chat that is resumed asks what waited, beside questions of the client's own", async () => {
  const calls = [removes("a", "c1"), { name: askUserTool.name, args: { question: "Which one?" }, id: "q1" }];
  const { agent, ran } = careful([{ calls }, { text: "Thank you." }]);
  const { place, url } = await there(agent);
  const first = await chatAt(place);
  await first.shows("/help", "> ");
  first.type("tidy up");
  // Which of the two comes first is open: the gate decides on its call beside the other one.
  await first.output.until((lines) => lines.at(-1) === "? ");
  const snapshot = async (): Promise<unknown> => (await fetch(`${url}/api/sessions/${first.id}`)).json();
  await expect.poll(snapshot).toMatchObject({ run: { pendingApprovals: [{}], pendingToolCalls: [{}] } });
  first.type("/quit");
  await first.ended;
  const second = await chatAt(place, first.id);
  await second.shows("Run remove?", "? ");
  second.type("yes");
  await second.shows("Which one?", "? ");
  second.type("this one");
  await second.shows("Thank you.", "> ");
  expect(ran).toEqual([{ path: "a" }]);
  second.type("/quit");
  await second.ended;
});

/** The last line of the arguments stands on the fourth page. */
const long = { path: "a", lines: Array.from({ length: 130 }, (_, at) => `line ${at}`) };
const longCall = [{ calls: [{ name: "remove", args: long, id: "c1" }] }, { text: "So be it." }];

test("a chat takes no leave before it has shown the last page of the arguments", async () => {
  const { agent, ran } = careful(longCall);
  const { shows, type, ended } = await chatAt(await here(agent));
  await shows("/help", "> ");
  type("tidy up");
  for (const page of [1, 2, 3]) {
    await shows(`page ${page} of 4`, "? ");
    type("y");
    await shows(`page ${page} of 4`, "? ");
    expect(ran).toEqual([]);
    type("m");
  }
  expect((await shows("y allows it", "? ")).join("\n")).toContain('"line 129"');
  type("y");
  await shows("So be it.", "> ");
  expect(ran).toEqual([long]);
  type("/quit");
  await ended;
});

test("a terminal of a few rows has all of the arguments in its scrollback before leave is taken", async () => {
  const { agent, ran } = careful(longCall);
  const place = await here(agent);
  const [input, screen] = [new FakeInput(), new FakeScreen()];
  const ended = terminalChat({ place, session: await place.open(undefined), style: createStyle(false), input, output: screen });
  await screen.shows("Enter sends");
  input.write("tidy up\r");
  for (const page of [1, 2, 3]) {
    await screen.shows(`page ${page} of 4`);
    input.write("y\rm\r");
  }
  const lines = await screen.until((seen) => seen.some((line) => line.includes("y allows it")));
  for (const at of [0, 60, 129]) expect(lines.filter((line) => line.trim().replace(",", "") === `"line ${at}"`)).toHaveLength(1);
  expect(ran).toEqual([]);
  input.write("y\r");
  await screen.shows("So be it.");
  expect(ran).toEqual([long]);
  input.write("\u0004");
  await ended;
});

test("`ask` shows what waits, `sessions list` for what, and `sessions show` asks for the decision", async () => {
  const { agent, ran } = careful();
  const { url } = await there(agent);
  const cwd = await emptyDirectory();
  const asked = await run(["ask", "tidy up", "--url", url], { cwd });
  expect([asked.code, asked.stderr]).toEqual([
    0,
    expect.stringContaining('Waits for approval: remove {"path":"a"}\nWaits for approval: remove {"path":"b"}'),
  ]);
  const id = /--resume (\S+)/.exec(asked.stderr)?.[1] ?? "";
  expect((await run(["sessions", "list", "--url", url], { cwd })).stdout).toMatch(/waiting .* tidy up {2}\(waits for approval\)$/m);
  const shown = await run(["sessions", "show", id, "--url", url], { cwd });
  expect(shown.stderr).toContain("? Run remove? It is gone for good.");
  expect(shown.stderr).toContain(`Answer: loopwright chat --url ${url} --resume ${id}`);
  expect(ran).toEqual([]);
});
