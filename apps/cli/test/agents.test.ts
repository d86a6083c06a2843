import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { emptyDirectory, runEach } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

/** Two agents over a model of their own that answers with its instructions, and one of them knows a mode. */
const ownAgents = `
export const modes = ["LOUD", "SOFT"];
const echo = {
  name: "echo",
  defaultModel: "echo-1",
  capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false, contextTokens: 1000 }),
  async *stream({ system, model }) {
    const text = typeof system === "string" ? system : (system ?? []).map((part) => part.text).join("");
    yield [{ type: "text", index: 0, delta: text }, { type: "end", stopReason: "stop", raw: "stop", model }];
  },
};
export const agents = ({ createAgent, provider, tools }) => [
  createAgent({ name: "parrot", provider: echo, prompt: ({ labels }) => "modes: " + (labels.modes ?? "none") }),
  createAgent({ name: "pirate", provider, prompt: "Arr.", tools }),
];
`;

async function withAgents(): Promise<string> {
  const cwd = await emptyDirectory();
  await writeFile(join(cwd, "agents.mjs"), ownAgents);
  return cwd;
}

/** Chatbots beside the agents, in a folder with a knowledge base of one document. */
const chatbots = `
export const chatbots = { pilot: { description: "Knows ships.", prompt: "You are a pilot." } };
export const agents = ({ createAgent, provider }) => [createAgent({ name: "plain", provider })];
`;

const three = /^.+ \([A-Z_]+\)\nwhy: .+\ntry: .+\n$/;

describe.concurrent("agents of one's own", () => {
  test("B106: a module gives agents and modes: they answer by name, with the modes of the question and the tools of the assistant", async () => {
    const cwd = await withAgents();
    const ask = (...words: readonly string[]) => ({ words: ["ask", "--offline", "--quiet", "--agents", "agents.mjs", ...words] });
    const [quiet, loud, pirate, other, bare] = await runEach(
      [
        ask("--agent", "parrot", "hi"),
        ask("--agent", "parrot", "--modes", "LOUD, SOFT", "hi"),
        ask("--agent", "pirate", "6 * 7"),
        ask("--agent", "parrot", "--system-prompt", "Say nothing.", "hi"),
        ask("--without-tools", "6 * 7"),
      ],
      { cwd },
    );
    expect(quiet).toMatchObject({ code: 0, stdout: "modes: none\n" });
    expect(loud).toMatchObject({ code: 0, stdout: "modes: LOUD,SOFT\n" });
    expect(pirate).toMatchObject({ code: 0, stdout: expect.stringContaining("42") });
    expect(other).toMatchObject({ code: 0, stdout: "Say nothing.\n" });
    expect([bare?.code, bare?.stdout.includes("42")]).toEqual([0, false]);
  });

  test("a module without agents, one that fails, and names that are not there are refused in three lines", async () => {
    const cwd = await withAgents();
    await writeFile(join(cwd, "none.mjs"), "export const nothing = 1;");
    await writeFile(join(cwd, "bad.mjs"), 'throw new TypeError("a secret");');
    await writeFile(join(cwd, "half.mjs"), 'const key = "a secret";\nexport const half = ;');
    await writeFile(join(cwd, "imports.mjs"), 'import "no-such-package";');
    await writeFile(join(cwd, "throws.mjs"), 'export const agents = () => { throw new RangeError("a secret"); };');
    await writeFile(
      join(cwd, "twins.mjs"),
      "export const agents = ({ createAgent, provider }) => [1, 2].map(() => createAgent({ name: 'a', provider }));",
    );
    const cases = [
      [["--agents", "none.mjs"], 3, "exports no agent"],
      [["--agents", "bad.mjs"], 3, "cannot be loaded: its code threw TypeError"],
      [["--agents", "absent.mjs"], 3, `\`absent.mjs\` cannot be loaded: there is no file ${join(cwd, "absent.mjs")}`],
      [["--agents", "half.mjs"], 3, "it, or a module that it imports, is no valid JavaScript"],
      [["--agents", "imports.mjs"], 3, "it imports no-such-package, which is not there"],
      [["--agents", "throws.mjs"], 3, "failed: RangeError"],
      [["--agents", "twins.mjs"], 3, "two agents of the name `a`"],
      [["--agents", "agents.mjs", "--agent", "absent"], 3, "parrot, pirate, assistant"],
      [["--agents", "agents.mjs", "--modes", "WRONG"], 2, "No agent here knows the mode `WRONG`"],
      [["--agent", "researcher"], 3, "has no web to search"],
      [["--modes", "DEEP_RESEARCH"], 2, "knows DEEP_RESEARCH"],
      [["--system-prompt", " "], 2, "has no text"],
      [["--stream-version", "2"], 2, "--json --stream-version"],
      [["--json", "--stream-version", "3"], 2, "no stream version `3`"],
      [["--images", "crayons"], 3, "openai, gemini, drawn"],
      [["--images", "openai"], 3, "OPENAI_API_KEY is not set"],
    ] as const;
    const ends = await runEach(
      cases.map(([flags]) => ({ words: ["ask", "--offline", "hi", ...flags] })),
      { cwd },
    );
    for (const [at, [flags, code, words]] of cases.entries()) {
      expect([ends[at]?.code, ends[at]?.stderr], flags.join(" ")).toEqual([code, expect.stringContaining(words)]);
      expect(ends[at]?.stderr).toMatch(three);
      expect(ends[at]?.stderr).not.toContain("a secret");
    }
  });

  test("B106: a server offers them, its clients name agent, modes and stream version, and what it does not know is refused by its name", async ({
    onTestFinished: onEnd,
  }) => {
    const cwd = await withAgents();
    const server = await startServer({ onEnd, cwd, flags: ["--agents", "agents.mjs", "--artifacts"] });
    const { agents } = await server.client.agents();
    expect(agents.map(({ name }) => name)).toEqual(["assistant", "parrot", "pirate", "main-thread"]);
    const ask = (...words: readonly string[]) => ({ words: ["ask", "--url", server.url, "--quiet", ...words] });
    const [loud, first, bare, prompted, versioned, unknown, wrong, attached] = await runEach(
      [
        ask("--agent", "parrot", "--modes", "LOUD", "hi"),
        ask("6 * 7"),
        ask("--without-tools", "6 * 7"),
        ask("--agent", "parrot", "--system-prompt", "Say nothing.", "hi"),
        ask("--agent", "parrot", "--json", "--stream-version", "1", "hi"),
        ask("--agent", "absent", "hi"),
        ask("--agent", "parrot", "--modes", "WRONG", "hi"),
        ask("--json", "--attach", "agents.mjs", "hi"),
      ],
      { cwd },
    );
    expect(loud).toMatchObject({ code: 0, stdout: "modes: LOUD\n" });
    expect(attached).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/"name":"agents.mjs","source":\{"blob":"upload-\w+","sizeBytes":\d+\}/),
    });
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("42") });
    expect([bare?.code, bare?.stdout.includes("42")]).toEqual([0, false]);
    expect(prompted).toMatchObject({ code: 0, stdout: "Say nothing.\n" });
    const frames = (versioned?.stdout ?? "")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly type: string; readonly text?: string });
    // Guardrails hold parts of a text back, so that it may come in several frames.
    expect(frames.slice(0, -1).every(({ type }) => type === "text")).toBe(true);
    expect(frames.map(({ text = "" }) => text).join("")).toBe("modes: none");
    expect(frames.at(-1)).toEqual({ type: "end", status: "completed" });
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("assistant, parrot, pirate, main-thread") });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("The mode `WRONG`") });

    const execute = (body: object): Promise<Response> =>
      fetch(`${server.url}/api/agent/execute`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ context: {}, input: "hi", agent: "parrot", ...body }),
      });
    const stream = await (await execute({ streamVersion: 2, options: { modes: ["SOFT"] } })).text();
    const texts = [...stream.matchAll(/^event: text\ndata: \{"sessionId":"[^"]+","text":"([^"]*)","index":0\}$/gm)];
    expect(texts.map(([, text]) => text).join("")).toBe("modes: SOFT");
    const refused = await execute({ streamVersion: 3 });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("no stream version 3")]);
    const { sessions } = await server.client.sessions.list();
    expect(await (await fetch(`${server.url}/api/artifacts/${sessions[0]?.id}`)).json()).toEqual({ artifacts: [] });
  });

  test("B53, B102, B106: the mode RAG searches first, a chatbot of a module is asked first where a question names it, by the terminal and over HTTP, and an unknown one is refused by its name", async ({
    onTestFinished: onEnd,
  }) => {
    const cwd = await emptyDirectory();
    await writeFile(join(cwd, "agents.mjs"), chatbots);
    await writeFile(join(cwd, "bad.mjs"), "export const chatbots = { pilot: { prompt: 7 } };");
    await writeFile(join(cwd, "ships.txt"), "The Aurora is a ship with three masts.");
    const main = ["ask", "--offline", "--agents", "agents.mjs", "--agent", "main-thread"];
    const [learned, searched, asked, unknown, bad] = await runEach(
      [
        { words: ["knowledge", "add", "ships.txt"] },
        {
          words: [
            "ask",
            "--offline",
            "--knowledge",
            "--agent",
            "main-thread",
            "--modes",
            "RAG",
            "Say nothing that would search by itself.",
          ],
        },
        { words: [...main, "--chatbot", "pilot", "Which ships are there?"] },
        { words: [...main, "--chatbot", "absent", "hi"] },
        { words: ["ask", "--offline", "--agents", "bad.mjs", "hi"] },
      ],
      { cwd },
    );
    expect(learned?.code).toBe(0);
    // Search was forced: the offline model calls no tool for such words.
    expect(searched).toMatchObject({ code: 0, stderr: expect.stringContaining("Search knowledge") });
    expect(asked).toMatchObject({ code: 0, stderr: expect.stringContaining("chatbot") });
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no chatbot `absent`. (INPUT_INVALID)") });
    expect(bad).toMatchObject({ code: 3, stderr: expect.stringContaining("The chatbot `pilot` of `bad.mjs` is not usable.") });

    const server = await startServer({ onEnd, cwd, flags: ["--agents", "agents.mjs"] });
    const send = (options: object): Promise<Response> =>
      fetch(`${server.url}/api/agent/execute`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ context: {}, input: "Which ships are there?", agent: "main-thread", options }),
      });
    const forced = await (await send({ modes: ["CHATBOT"], chatbotId: "pilot" })).text();
    expect(forced).toMatch(/"toolName":"chatbot_tool"/);
    const refused = await send({ modes: ["CHATBOT"], chatbotId: "absent" });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("There is no chatbot `absent`.")]);
  });

  test("artifacts and pictures are tools where a flag asks for them, and not otherwise", async () => {
    const cwd = await emptyDirectory();
    const use = (tool: string, ...flags: readonly string[]) => ({ words: ["ask", "--offline", ...flags, `use ${tool}`] });
    const [craft, picture, none, main] = await runEach(
      [
        use("craft_tool", "--artifacts"),
        use("generate_image", "--images", "drawn"),
        use("craft_tool"),
        use("generate_image", "--images", "drawn", "--agent", "main-thread"),
      ],
      { cwd },
    );
    expect(craft?.stderr).toContain("craft_tool");
    for (const drawn of [picture, main]) {
      expect(drawn).toMatchObject({ code: 0, stderr: expect.stringContaining("Make a picture") });
      // What the model reads about what the user sees is not for people.
      expect(drawn?.stderr).not.toContain("already_shown");
    }
    expect(none?.stderr).not.toContain("craft_tool {");
  });
});
