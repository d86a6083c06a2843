import { contextEngine } from "@loopwright/context";
import { agentTool, createAgent, createSession } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { offline } from "@loopwright/providers-scripted";
import { expect, onTestFinished, test } from "vitest";
import { localPlace } from "../src/chat/local-place.ts";
import { terminalChat } from "../src/chat/terminal-chat.ts";
import { createAssistant } from "../src/compose/create-assistant.ts";
import { modelsOf } from "../src/compose/create-provider.ts";
import type { Workplace } from "../src/compose/workplace.ts";
import { resolveSettings } from "../src/settings/settings.ts";
import { createStyle } from "../src/terminal/style.ts";
import { FakeInput, FakeScreen } from "./fake-terminal.ts";
import { emptyDirectory } from "./run-binary.ts";

interface Chat {
  readonly input: FakeInput;
  readonly screen: FakeScreen;
  readonly workplace: Omit<Workplace, "agents" | "approvals" | "modes" | "chatbots" | "knowledge" | "skills" | "close">;
  readonly sessionId: string;
  readonly ended: Promise<void>;
  type(text: string): void;
}

/** A chat on an emulated terminal, with the real runtime behind it. */
async function open(
  options: {
    readonly pace?: number;
    readonly workplace?: Omit<Workplace, "agents" | "approvals" | "modes" | "chatbots" | "knowledge" | "skills" | "close">;
    readonly sessionId?: string;
  } = {},
): Promise<Chat> {
  const settings = resolveSettings({ offline: true }, {}, await emptyDirectory());
  const provider = offline({ pace: options.pace ?? 0 });
  const agent = createAssistant({ model: modelsOf([provider]), filesDirectory: settings.filesDirectory, isAttended: true, ownTools: [] });
  const workplace = options.workplace ?? { settings, provider, agent, store: memoryStore() };
  const place = localPlace(workplace);
  const session = await place.open(options.sessionId);
  const input = new FakeInput();
  const screen = new FakeScreen();
  const ended = terminalChat({ place, session, style: createStyle(false), input, output: screen });
  onTestFinished(async () => {
    input.write("\u0003\u0003\u0003");
    await ended;
  });
  await screen.shows("Enter sends");
  return { input, screen, workplace, sessionId: session.id, ended, type: (text) => void input.write(text) };
}

test("a question is answered with Markdown, and the footer shows what it took", async () => {
  const { screen, type } = await open();
  type("what is 6 * 7?\r");
  const lines = await screen.until(
    (seen) => seen.some((line) => line.includes("says")) && seen.some((line) => line.includes("Enter sends")),
  );
  expect(lines[0]).toBe("Loopwright");
  expect(lines).toContain("> what is 6 * 7?");
  expect(lines.join("\n")).toMatch(/● .+\n {2}└ .*42/);
  expect(lines.at(-1)).toMatch(/^offline offline-demo · ~\d+.* in · ~\d+ out · context \d+ %$/);
});

test("Esc stops the answer, keeps what was written, and gives the prompt back", async () => {
  const { screen, type, workplace, sessionId } = await open({ pace: 5 });
  type("long answer\r");
  await screen.shows("What a session is");
  type("\u001b");
  await screen.shows("Stopped. What was written so far is kept.");
  await screen.shows("Enter sends");
  type("still here");
  await screen.shows("> still here");
  const kept = await createSession({ agent: workplace.agent, store: workplace.store, id: sessionId }).ready();
  expect(kept.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "aborted" });
});

test("a client tool asks the person, and the answer goes back to the agent", async () => {
  const { screen, type } = await open();
  type("client tool\r");
  await screen.shows("waits for your answer");
  type("Ada\r");
  const lines = await screen.until((seen) => seen.some((line) => /says: .*Ada/.test(line)));
  expect(lines.join("\n")).toMatch(/● ask_user .*\n {2}└ Ada/);
});

test("words sent while the agent works join its run", async () => {
  const { screen, type, workplace, sessionId } = await open({ pace: 2 });
  type("what is 6 * 7?\r");
  await screen.shows("Enter steers");
  type("and what time is it?\r");
  await screen.shows("joins before the next model call");
  await screen.until((lines) => lines.includes("> and what time is it?") && lines.some((line) => line.includes("`current_time` says")));
  const kept = await createSession({ agent: workplace.agent, store: workplace.store, id: sessionId }).ready();
  expect(kept.messages.filter((message) => message.role === "user")).toHaveLength(2);
});

test("Ctrl+C clears the line, and twice on an empty one leaves with the command to come back", async () => {
  const { screen, type, ended, input, sessionId } = await open();
  type("hello\r");
  await screen.shows("offline demo model");
  type("never sent\u0003");
  await screen.until((lines) => !lines.some((line) => line.includes("never sent")));
  type("\u0003");
  await screen.shows("Ctrl+C again quits");
  type("\u0003");
  await ended;
  expect((await screen.terminal.lines()).at(-1)).toBe(`Resume: loopwright chat --resume ${sessionId}`);
  expect(input.isRaw).toBe(false);
});

test("a resumed session shows its past", async () => {
  const first = await open();
  first.type("what is 6 * 7?\r");
  await first.screen.until((seen) => seen.some((line) => line.includes("says")) && seen.some((line) => line.includes("Enter sends")));
  first.type("\u0004");
  await first.ended;
  const { screen } = await open({ workplace: first.workplace, sessionId: first.sessionId });
  expect((await screen.shows("Enter sends")).join("\n")).toMatch(/> what is 6 \* 7\?[\s\S]*●[\s\S]*says[^\n]*42/);
});

test("slash commands answer without asking the model", async () => {
  const { screen, type, workplace } = await open();
  type("/help\r");
  await screen.shows("/sessions");
  type("/model other-model\r");
  await screen.shows("offline other-model from the next message on");
  type("/nonsense\r");
  await screen.shows("There is no command /nonsense.");
  expect(await workplace.store.index.list("local")).toEqual([]);
});

/** A lead that has a researcher work for it, on scripted models. */
async function leadWorkplace(): Promise<Omit<Workplace, "agents" | "approvals" | "modes" | "chatbots" | "knowledge" | "skills" | "close">> {
  const settings = resolveSettings({ offline: true }, {}, await emptyDirectory());
  const researcher = createAgent({
    name: "researcher",
    provider: scripted([{ text: "Lisbon has one.", usage: { input: 40, output: 4 } }]),
  });
  const provider = scripted(
    [
      { calls: [{ name: "researcher", args: { task: "Has Lisbon a port?" } }], usage: { input: 10, output: 2 } },
      { text: "Lisbon has a port.", usage: { input: 50, output: 5 } },
      { text: "It is a large one. ".repeat(80), usage: { input: 60, output: 80 } },
      { text: "Porto has one too.", usage: { input: 60, output: 5 } },
    ],
    { capabilities: { contextTokens: 4_000 } },
  );
  const agent = createAgent({ name: "lead", provider, tools: [agentTool({ agent: researcher })], context: contextEngine() });
  return { settings, provider, agent, store: memoryStore() };
}

test("/agents lists a child that worked, with what it spent, /compact has the next call begin with a summary, and both survive a restart", async () => {
  const { screen, type, workplace, sessionId, ended } = await open({ workplace: await leadWorkplace() });
  type("/agents\r");
  await screen.shows("No other agent has worked for this session.");
  type("Which ports?\r");
  await screen.shows("Lisbon has a port.");
  type("/agents\r");
  const listed = await screen.shows("researcher · ended");
  expect(listed.find((line) => line.includes("researcher · ended"))).toMatch(/^\s*researcher · ended · 40 in · 4 out ·/);
  type("How large is it?\r");
  await screen.shows("It is a large one.");
  type("/compact\r");
  await screen.shows("The older messages are summarised before the next answer");
  type("And Porto?\r");
  await screen.shows("Porto has one too.");
  expect((await screen.shows("Older messages were summarised")).join("\n")).toMatch(
    /summarised to make room: about \d+ tokens before, \d+\s+after/,
  );
  type("/budget\r");
  // 10 + 50 + 60 + 60 of its own and 40 of the child.
  await screen.shows("Used so far, children included: 220 in");
  type("\u0004");
  await ended;
  const again = await open({ workplace, sessionId });
  again.type("/agents\r");
  await again.screen.shows("researcher · ended · 40 in · 4 out");
});

test("an error is shown in three lines and the chat continues", async () => {
  const { screen, type } = await open();
  type("error\r");
  const lines = await screen.shows("try: ");
  expect(lines.join("\n")).toMatch(/! .*\(MODEL_BAD_REQUEST\)\n\s*why: .*\n\s*try: /);
  type("6 * 7\r");
  await screen.shows("says");
});

test("a terminal that becomes narrow and short keeps every line that was finished", async () => {
  const { screen, type } = await open();
  type("what is 6 * 7?\r");
  await screen.until((seen) => seen.some((line) => line.includes("says")) && seen.some((line) => line.includes("Enter sends")));
  await screen.terminal.resize(44, 12);
  screen.emit("resize");
  type("long answer\r");
  const lines = await screen.until(
    (seen) => seen.some((line) => line.includes("can be told")) && seen.some((line) => line.includes("Enter sends")),
  );
  const written = lines.join(" ");
  for (const words of ["Loopwright", "> what is 6 * 7?", "> long answer", "A long answer", "The end"])
    expect(written.split(words)).toHaveLength(words === "A long answer" ? 2 : written.split(words).length);
  expect(written).toContain("Text with bold words");
});
