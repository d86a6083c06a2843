import { AgentError, createAgent } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import { offline } from "@loopwright/providers-scripted";
import { expect, test } from "vitest";
import { localPlace } from "../src/chat/local-place.ts";
import { plainChat } from "../src/chat/plain-chat.ts";
import { createAssistant } from "../src/compose/create-assistant.ts";
import { modelsOf } from "../src/compose/create-provider.ts";
import { resolveSettings } from "../src/settings/settings.ts";
import { createStyle } from "../src/terminal/style.ts";
import { FakeInput, FakeScreen } from "./fake-terminal.ts";
import { emptyDirectory } from "./run-binary.ts";

test("a plain chat appends only: no byte that moves the cursor or erases", async () => {
  const settings = resolveSettings({ offline: true }, {}, await emptyDirectory());
  const provider = offline({ pace: 0 });
  const agent = createAssistant({ model: modelsOf([provider]), filesDirectory: settings.filesDirectory, isAttended: true, ownTools: [] });
  const workplace = { settings, provider, agent, store: memoryStore() };
  const place = localPlace(workplace);
  const session = await place.open(undefined);
  const input = new FakeInput();
  const output = new FakeScreen();
  const ended = plainChat({ place, session, style: createStyle(false), input, output });
  const prompts = (text: string, prompt: string): Promise<readonly string[]> =>
    output.until((lines) => lines.some((line) => line.includes(text)) && lines.at(-1) === prompt);
  await prompts("/help", "> ");
  input.write("what is 6 * 7?\n");
  await prompts("says: 42", "> ");
  input.write("client tool\n");
  await prompts("? client tool", "? ");
  input.write("Ada\n");
  await prompts("says: Ada", "> ");
  input.write("/budget\n");
  await prompts("Used so far, children included: ~", "> ");
  await prompts("There is no limit of tokens or money.", "> ");
  input.write("/quit\n");
  await ended;
  const lines = await output.terminal.lines();
  expect(lines.join("\n")).toMatch(/● .+\n {2}└ .*42/);
  expect(lines.at(-1)).toContain(`Resume: loopwright chat --resume ${session.id}`);
  expect(output.terminal.written.join("")).not.toContain("\u001b");
});

test("a chat in this process shows the vendor's sentence about a call that it refused", async () => {
  const settings = resolveSettings({ offline: true }, {}, await emptyDirectory());
  const whole = offline({ pace: 0 });
  const refusal = { message: "The vendor answered 404.", vendorMessage: "No such model.", retryable: false };
  const provider: typeof whole = {
    ...whole,
    async *stream(): AsyncGenerator<never> {
      yield* [];
      throw new AgentError("MODEL_NOT_FOUND", refusal);
    },
  };
  const agent = createAssistant({ model: modelsOf([provider]), filesDirectory: settings.filesDirectory, isAttended: true, ownTools: [] });
  const place = localPlace({ settings, provider, agent, store: memoryStore() });
  const input = new FakeInput();
  const output = new FakeScreen();
  const ended = plainChat({ place, session: await place.open(undefined), style: createStyle(false), input, output });
  await output.until((lines) => lines.at(-1) === "> ");
  input.write("hello\n");
  await output.until((lines) => lines.some((line) => line.includes("Its message: No such model.")));
  input.write("/quit\n");
  await ended;
});

test("a chat shows what a hook changed, with its name, the point and the reason", async () => {
  const settings = resolveSettings({ offline: true }, {}, await emptyDirectory());
  const provider = offline({ pace: 0 });
  const assistant = createAssistant({
    model: modelsOf([provider]),
    filesDirectory: settings.filesDirectory,
    isAttended: true,
    ownTools: [],
  });
  const gate = () => ({ action: "deny", reason: "no sums today" }) as const;
  const agent = createAgent({ ...assistant, hooks: [...assistant.hooks, { name: "strict", gate }] });
  const place = localPlace({ settings, provider, agent, store: memoryStore() });
  const input = new FakeInput();
  const output = new FakeScreen();
  const ended = plainChat({ place, session: await place.open(undefined), style: createStyle(false), input, output });
  await output.until((lines) => lines.at(-1) === "> ");
  input.write("what is 6 * 7?\n");
  await output.until((lines) => lines.some((line) => line.includes("strict (gate): deny, no sums today")));
  input.write("/quit\n");
  await ended;
});
