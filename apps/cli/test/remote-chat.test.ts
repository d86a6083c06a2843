import { expect, onTestFinished, test } from "vitest";
import { terminalChat } from "../src/chat/terminal-chat.ts";
import { remotePlace } from "../src/remote/remote-place.ts";
import { createStyle } from "../src/terminal/style.ts";
import { FakeInput, FakeScreen } from "./fake-terminal.ts";
import { emptyDirectory, run } from "./run-binary.ts";
import { type RunningServer, startServer } from "./run-server.ts";

interface Chat {
  readonly screen: FakeScreen;
  readonly ended: Promise<void>;
  readonly sessionId: string;
  type(text: string): void;
}

/** A chat on an emulated terminal, with a server behind it. */
async function open({ url }: RunningServer, id?: string): Promise<Chat> {
  const place = await remotePlace({ url, token: undefined });
  const session = await place.open(id);
  const [input, screen] = [new FakeInput(), new FakeScreen()];
  const ended = terminalChat({ place, session, style: createStyle(false), input, output: screen });
  onTestFinished(async () => {
    input.write("\u0003\u0003\u0003");
    await ended;
  });
  await screen.shows("Loopwright");
  return { screen, ended, sessionId: session.id, type: (text) => void input.write(text) };
}

test("a question is answered by the server, a client tool asks in the terminal, and the session is found there", async () => {
  const server = await startServer({ cwd: await emptyDirectory() });
  const { screen, type, ended, sessionId } = await open(server);
  type("what is 6 * 7?\r");
  const lines = await screen.until(
    (seen) => seen.some((line) => /says:? .*42/.test(line)) && seen.some((line) => line.includes("Enter sends")),
  );
  expect(lines.filter((line) => line.includes("> what is 6 * 7?"))).toHaveLength(1);
  expect(lines.join("\n")).toMatch(/● .+\n {2}└ .*42/);
  type("client tool\r");
  await screen.shows("waits for your answer");
  type("Ada\r");
  const asked = await screen.until((seen) => seen.some((line) => /says: .*Ada/.test(line)));
  expect(asked.join("\n")).toMatch(/● ask_user .*\n {2}└ Ada/);
  await screen.shows("Enter sends");
  type("\u0004");
  await ended;
  const last = (await screen.terminal.lines()).at(-1);
  expect(last).toBe(`Resume: loopwright chat --url ${server.url} --resume ${sessionId}`);
  const cwd = await emptyDirectory();
  expect((await run(["sessions", "list", "--url", server.url], { cwd })).stdout).toContain(sessionId);
  expect((await run(["sessions", "show", sessionId, "--url", server.url], { cwd })).stdout).toMatch(/> client tool[\s\S]*Ada/);
  expect((await run(["sessions", "rm", sessionId, "--url", server.url], { cwd })).stderr).toBe(`Deleted ${sessionId}.\n`);
});

test("Esc stops the answer on the server and keeps what was written", async () => {
  const server = await startServer({ cwd: await emptyDirectory(), env: { LOOPWRIGHT_OFFLINE_PACE: "5" } });
  const { screen, type, sessionId } = await open(server);
  type("long answer\r");
  await screen.shows("What a session is");
  type("\u001b");
  await screen.shows("Stopped. What was written so far is kept.");
  const { messages } = await server.client.sessions.get(sessionId);
  expect(messages.at(-1)?.message).toMatchObject({ role: "assistant", stopReason: "aborted" });
});

test("a reader that joins in the middle of an answer sees all of it once, and leaving does not stop it", async () => {
  const server = await startServer({ cwd: await emptyDirectory(), env: { LOOPWRIGHT_OFFLINE_PACE: "3" } });
  const first = await open(server);
  first.type("long answer\r");
  await first.screen.shows("What a session is");
  first.type("\u0003");
  await first.screen.shows("Ctrl+C again quits");
  first.type("\u0003");
  await first.ended;
  const { screen } = await open(server, first.sessionId);
  await screen.shows("A run is under way.");
  const lines = await screen.until(
    (seen) => seen.some((line) => line.includes("The end")) && seen.some((line) => line.includes("Enter sends")),
  );
  for (const words of ["A long answer", "The end"]) expect(lines.filter((line) => line.includes(words))).toHaveLength(1);
});

test("the chat outlives its server: an answer cut off by kill -9 continues when the server is there again", async () => {
  const cwd = await emptyDirectory();
  const server = await startServer({ cwd, env: { LOOPWRIGHT_OFFLINE_PACE: "5" } });
  const { screen, type, sessionId } = await open(server);
  type("long answer\r");
  await screen.shows("What a session is");
  server.child.kill("SIGKILL");
  await server.ended;
  await screen.shows("The server does not answer.");
  const again = await startServer({ cwd, port: server.port });
  await screen.shows("The server is back.");
  await screen.until((seen) => seen.some((line) => line.includes("Enter sends")) && seen.some((line) => line.includes("The end")));
  const { messages } = await again.client.sessions.get(sessionId);
  expect(messages.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
});
