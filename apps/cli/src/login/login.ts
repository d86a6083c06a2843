/*
 * Owns: `loopwright login`: the browser, the callback on this machine, that nothing but the answer to this login is taken.
 * Does not own: the requests for tokens (openai-login), where they are kept (kept-login).
 */
import { spawn } from "node:child_process";
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentError } from "@loopwright/core";
import { loadEnvironment } from "../config/environment.ts";
import { exitCodes } from "../exit-code.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { loginFile, removeLogin, writeLogin } from "./kept-login.ts";
import { type BegunLogin, beginLogin, loginPlace, tokensOfCode } from "./openai-login.ts";

/** The flags of `login`. */
export interface LoginFlags {
  readonly browser?: boolean;
  readonly callbackPort?: string;
  readonly timeout?: string;
}

const remark = (text: string): void => void process.stderr.write(`${text}\n`);

/** Logs in at OpenAI with a browser, and keeps the tokens. @throws AgentError MODEL_AUTH, MODEL_UNREACHABLE, CONFIG_INVALID */
export async function login(flags: LoginFlags): Promise<number> {
  const place = loginPlace(await loadEnvironment(process.env, { directory: process.cwd() }));
  const { server, port } = await listening(numberOf(flags.callbackPort ?? "1455", 65_535, "--callback-port"));
  try {
    const begun = beginLogin(place, `http://localhost:${port}/auth/callback`);
    remark(`Log in at OpenAI in a browser of this machine:\n${begun.url}`);
    if (flags.browser !== false) openBrowser(begun.url);
    const code = await callbackOf(server, begun, numberOf(flags.timeout ?? "600", 86_400, "--timeout") * 1_000);
    await writeLogin(loginFile(), await tokensOfCode(place, begun, code));
  } finally {
    server.close();
    server.closeAllConnections();
  }
  remark(`Logged in. The login is kept in ${oneLine(loginFile(), 200)}.`);
  return exitCodes.ok;
}

/** Forgets the login at OpenAI. */
export async function logout(): Promise<number> {
  remark((await removeLogin(loginFile())) ? "The login at OpenAI is removed from this machine." : "There is no login at OpenAI.");
  return exitCodes.ok;
}

function numberOf(text: string, max: number, flag: string): number {
  if (/^\d{1,6}$/.test(text) && Number(text) <= max) return Number(text);
  throw new AgentError("INPUT_INVALID", {
    message: `\`${flag}\` is no whole number up to ${max}.`,
    fix: `Pass one, or leave \`${flag}\` out.`,
  });
}

async function listening(port: number): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(
        new AgentError("CONFIG_INVALID", {
          message: `The port ${port}, to which the browser comes back, is taken.`,
          fix: "End the other login, or name another port with `--callback-port`, where the server of OpenAI allows it.",
          cause,
        }),
      ),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}

/** Where no browser opens, the address that was printed is opened by hand. */
function openBrowser(url: string): void {
  const [program, ...args] = process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["explorer"] : ["xdg-open"];
  const child = spawn(program ?? "", [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one, "latin1"), Buffer.from(other, "latin1"));

/** The code that the browser brings. Requests with another state are refused, and the login stays open. @throws AgentError MODEL_AUTH */
function callbackOf(server: Server, { state }: BegunLogin, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () =>
        reject(
          new AgentError("MODEL_AUTH", {
            message: `No login came back from the browser within ${timeoutMs / 1_000} s.`,
            fix: "Run `loopwright login` again.",
          }),
        ),
      timeoutMs,
    );
    const settle = (run: () => void): void => {
      clearTimeout(timer);
      run();
    };
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
      if (request.method !== "GET" || pathname !== "/auth/callback") return answer(response, 404, "There is nothing here.");
      if (!isSame(searchParams.get("state") ?? "", state)) return answer(response, 400, "This is no answer to the login that waits.");
      const code = searchParams.get("code");
      const error = searchParams.get("error");
      if (!code) {
        answer(response, 400, "The login was refused. This window can be closed.");
        const shown = error === null ? "" : `: ${oneLine(error, 80)}`;
        return settle(() =>
          reject(new AgentError("MODEL_AUTH", { message: `OpenAI refused the login${shown}.`, fix: "Run `loopwright login` again." })),
        );
      }
      answer(response, 200, "You are logged in. This window can be closed.");
      settle(() => resolve(code));
    });
  });
}

function answer(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { "Content-Type": "text/plain; charset=utf-8", "Referrer-Policy": "no-referrer", Connection: "close" })
    .end(`${text}\n`);
}
