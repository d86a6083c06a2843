import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAgent, createSession, execute, textOf as shownText } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { createSkills, loadSkills } from "@loopwright/skills";
import { describe, expect, onTestFinished, test } from "vitest";
import { KeptLogin } from "../src/login/kept-login.ts";
import { loginVariables } from "../src/login/login-variables.ts";
import { loginPlace } from "../src/login/openai-login.ts";
import { commandLine, emptyDirectory, run, start } from "./run-binary.ts";

const account = "account-1";
const idToken = [
  "e30",
  Buffer.from(JSON.stringify({ "https://api.openai.com/auth": { chatgpt_account_id: account } })).toString("base64url"),
  "s",
].join(".");

interface Vendor {
  readonly url: string;
  /** The forms that the token endpoint got. */
  readonly forms: readonly Readonly<Record<string, string>>[];
  /** Path, token, account and body of each call of the API. */
  readonly calls: readonly {
    readonly path: string;
    readonly token: string;
    readonly account: string;
    readonly body: { readonly stream?: boolean };
  }[];
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const part of request) text += part;
  return text;
};

const answer = [
  { type: "response.created", response: { id: "r", model: "m", status: "in_progress", output: [] } },
  { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "i", role: "assistant", content: [] } },
  { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "i", delta: "Logged in." },
  {
    type: "response.completed",
    response: { id: "r", model: "m", status: "completed", output: [], usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } },
  },
];

/** An authorisation server that checks the verifier and takes each refresh token once, and the API behind it. */
async function vendor({ lifeSeconds = 3_600 } = {}): Promise<Vendor> {
  const forms: Readonly<Record<string, string>>[] = [];
  const calls: Vendor["calls"][number][] = [];
  const challenges = new Map<string, string>();
  let [count, refresh] = [0, "refresh-0"];
  const authorize = (query: URLSearchParams, response: ServerResponse): void => {
    challenges.set("code-1", query.get("code_challenge") ?? "");
    const back = new URLSearchParams({ code: "code-1", state: query.get("state") ?? "" });
    response.writeHead(302, { Location: `${query.get("redirect_uri")}?${back}` }).end();
  };
  const tokens = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = Object.fromEntries(new URLSearchParams(await textOf(request)));
    forms.push(form);
    const digest = createHash("sha256")
      .update(form["code_verifier"] ?? "")
      .digest("base64url");
    const isGood =
      form["grant_type"] === "authorization_code" ? challenges.get(form["code"] ?? "") === digest : form["refresh_token"] === refresh;
    if (!isGood) return void response.writeHead(400).end('{"error":"invalid_grant"}');
    count++;
    refresh = `refresh-${count}`;
    const life = count === 1 ? lifeSeconds : 3_600;
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ access_token: `access-${count}`, refresh_token: refresh, id_token: idToken, expires_in: life }));
  };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (pathname === "/oauth/authorize") return authorize(searchParams, response);
    if (pathname === "/oauth/token") return tokens(request, response);
    const body = JSON.parse((await textOf(request)) || "{}") as { readonly stream?: boolean };
    calls.push({
      path: pathname,
      token: request.headers.authorization ?? "",
      account: String(request.headers["chatgpt-account-id"]),
      body,
    });
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end(answer.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, forms, calls };
}

const variablesOf = ({ url }: Vendor): Readonly<Record<string, string>> => ({
  LOOPWRIGHT_OPENAI_ISSUER: url,
  LOOPWRIGHT_OPENAI_LOGIN_URL: `${url}/codex`,
});

/** A home with a login whose token has ended. */
async function endedLogin(refreshToken = "refresh-0"): Promise<{ readonly cwd: string; readonly file: string }> {
  const cwd = await emptyDirectory();
  const file = join(cwd, ".loopwright/credentials/openai.json");
  await mkdir(join(cwd, ".loopwright/credentials"), { recursive: true });
  await writeFile(file, JSON.stringify({ accessToken: "access-old", refreshToken, expiresAt: 1 }), { mode: 0o600 });
  return { cwd, file };
}

describe("a login at OpenAI", () => {
  test("C06, C10: comes back from the browser with a code, proves it by its verifier, is kept for this user alone, and `ask` uses it in place of a key", async () => {
    const at = await vendor();
    const cwd = await emptyDirectory();
    const login = start(["login", "--no-browser", "--callback-port", "0"], { cwd, env: variablesOf(at) });
    let shown = "";
    const address = new Promise<string>((resolve) => {
      login.child.stderr?.on("data", (text: Buffer) => {
        shown += text.toString();
        const found = /^(http\S+)\n/m.exec(shown)?.[1];
        if (found) resolve(found);
      });
    });
    const url = new URL(await address);
    expect(url.searchParams.get("code_challenge_method")).toBe("S256");
    // Another page of the browser cannot bring an answer: it does not know the state.
    const back = url.searchParams.get("redirect_uri") ?? "";
    expect((await fetch(`${back.replace("localhost", "127.0.0.1")}?code=stolen&state=guessed`)).status).toBe(400);
    const shownByAuthorize = await fetch(url, { redirect: "manual" });
    const returned = (shownByAuthorize.headers.get("location") ?? "").replace("localhost", "127.0.0.1");
    expect((await fetch(returned)).status).toBe(200);
    const ended = await login.ended;
    expect(ended).toMatchObject({ code: 0, stdout: "" });
    expect(ended.stderr).not.toMatch(/access-|refresh-/);
    const file = join(cwd, ".loopwright/credentials/openai.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
      accessToken: "access-1",
      refreshToken: "refresh-1",
      accountId: account,
    });
    const asked = await run(["ask", "--quiet", "--provider", "openai", "--model", "m", "Hello."], { cwd, env: variablesOf(at) });
    expect(asked).toMatchObject({ code: 0, stdout: "Logged in.\n" });
    expect(at.calls).toMatchObject([{ path: "/codex/responses", token: "Bearer access-1", account, body: { stream: true } }]);
    expect(await run(["logout"], { cwd })).toMatchObject({ code: 0, stderr: expect.stringContaining("removed") });
    expect(await run(["ask", "--provider", "openai", "Hello."], { cwd, env: variablesOf(at) })).toMatchObject({ code: 3 });
  });

  test("C11: with a token that has ended is refreshed once, whatever calls and processes want it at once, and the file has the new one", async () => {
    const at = await vendor();
    const { cwd, file } = await endedLogin();
    const place = loginPlace(variablesOf(at));
    // Logins that know nothing of each other, as those of processes, beside a process of its own.
    const logins = [new KeptLogin(place, file), new KeptLogin(place, file), new KeptLogin(place, file)];
    const asked = run(["ask", "--quiet", "--provider", "openai", "--model", "m", "Hello."], { cwd, env: variablesOf(at) });
    const tokens = await Promise.all([...logins, ...logins].map((login) => login.tokens()));
    expect(tokens.map(({ accessToken }) => accessToken)).toEqual(Array<string>(6).fill("access-1"));
    expect(await asked).toMatchObject({ code: 0, stdout: "Logged in.\n" });
    expect(at.forms).toMatchObject([{ grant_type: "refresh_token", refresh_token: "refresh-0" }]);
    expect(at.calls).toMatchObject([{ token: "Bearer access-1" }]);
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ accessToken: "access-1", refreshToken: "refresh-1" });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("C11: that the server does not know any more is an error that states what to do, without a token, and the file stays", async () => {
    const at = await vendor();
    const { cwd, file } = await endedLogin("refresh-stolen");
    const before = await readFile(file, "utf8");
    const { code, stderr } = await run(["ask", "--provider", "openai", "--model", "m", "Hello."], { cwd, env: variablesOf(at) });
    expect(code).toBe(3);
    expect(stderr).toContain("the login has ended. Log in again with `loopwright login`");
    expect(stderr).not.toMatch(/access-|refresh-/);
    expect(await readFile(file, "utf8")).toBe(before);
  });

  test("an address that is not https, and a login that is damaged, are refused", async () => {
    expect(() => loginPlace({ LOOPWRIGHT_OPENAI_ISSUER: "http://auth.example.com" })).toThrow("no https address");
    const { file } = await endedLogin();
    await writeFile(file, "{}");
    await expect(new KeptLogin(loginPlace({}), file).tokens()).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(new KeptLogin(loginPlace({}), `${file}.none`).tokens()).rejects.toMatchObject({ code: "MODEL_KEY_MISSING" });
  });
});

test("C12, C13: a script of a skill that finds the mark in its key gets the token of the login, its address and the model, and this process keeps the mark", async () => {
  const at = await vendor();
  const { cwd } = await endedLogin();
  await mkdir(join(cwd, "skills/review/scripts"), { recursive: true });
  await writeFile(
    join(cwd, "skills/review/SKILL.md"),
    `---
name: review
description: Reviews a text.
metadata:
  loopwright:
    variables: { required: [OPENAI_API_KEY] }
    egress: [chatgpt.com]
---
## Tool: review_text

Reviews a text.

| name | type | required | description |
|---|---|---|---|
| text | string | yes | the text |
`,
  );
  await writeFile(
    join(cwd, "skills/review/scripts/review_text.mjs"),
    `const { OPENAI_API_KEY: key, OPENAI_BASE_URL: base, REVIEW_MODEL: model } = process.env;
// A base URL means the Responses API with streaming.
const [path, more] = base ? ["/responses", { stream: true, input: "x" }] : ["/chat/completions", { messages: [] }];
const response = await fetch((base ?? "https://api.openai.com/v1") + path, {
  method: "POST",
  headers: { authorization: "Bearer " + key, "content-type": "application/json" },
  body: JSON.stringify({ model, ...more }),
});
console.log("status " + response.status + ", model " + model + ", base " + base);`,
  );
  const skills = await createSkills({
    skills: await loadSkills(join(cwd, "skills")),
    environment: { PATH: process.env["PATH"], OPENAI_API_KEY: "__oauth__" },
    directory: join(cwd, "files"),
    approval: false,
    variablesFor: loginVariables(new KeptLogin(loginPlace(variablesOf(at)), join(cwd, ".loopwright/credentials/openai.json")), "m-review"),
  });
  const provider = scripted([
    { calls: [{ name: "read_skill", args: { skill: "review" } }] },
    { calls: [{ name: "review_text", args: { text: "x" } }] },
    { text: "Done." },
  ]);
  const session = createSession({ agent: skills.equip(createAgent({ name: "reviewer", provider })) });
  await execute(session, "Review.").result();
  expect(session.messages.map((message) => shownText(message)).join("\n")).toContain(`status 200, model m-review, base ${at.url}/codex`);
  expect(at.calls).toMatchObject([{ path: "/codex/responses", token: "Bearer access-1", body: { stream: true, model: "m-review" } }]);
});

test("C10: `init` offers the login at a terminal, and the folder that it makes needs no key", async () => {
  const at = await vendor();
  const cwd = await emptyDirectory();
  const words = ["init", "greeter", "--provider", "openai", "--model", "m", "--no-browser", "--callback-port", "0"];
  const { program, args, env } = commandLine(words, { cwd, env: variablesOf(at) });
  const quoted = [program, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const terminal = spawn("script", ["-qec", quoted, "/dev/null"], { cwd, env });
  onTestFinished(() => void terminal.kill("SIGKILL"));
  const ended = new Promise<number | null>((resolve) => terminal.on("close", resolve));
  let shown = "";
  let [isAsked, isOpened] = [false, false];
  terminal.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (!isAsked && shown.includes("in place of a key? [y/N] ")) {
      isAsked = true;
      terminal.stdin.write("y\r");
    }
    const url = /^(http\S+)\r?\n/m.exec(shown)?.[1];
    if (isOpened || !url) return;
    isOpened = true;
    void fetch(url, { redirect: "manual" }).then(({ headers }) => fetch((headers.get("location") ?? "").replace("localhost", "127.0.0.1")));
  });
  expect(await ended).toBe(0);
  expect(shown).toContain("Logged in.");
  expect(shown).toMatch(/Next: cd greeter && loopwright run\s*$/);
  const asked = await run(["ask", "--quiet", "Hello."], { cwd: join(cwd, "greeter"), env: { ...variablesOf(at), HOME: cwd } });
  expect(asked).toMatchObject({ code: 0, stdout: "Logged in.\n" });
});
