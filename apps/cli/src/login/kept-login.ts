/*
 * Owns: the file of a login, for this user alone, and that its tokens are refreshed once, however many calls and processes want them.
 * Does not own: the requests for tokens (openai-login).
 */
import { existsSync } from "node:fs";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { AgentError } from "@loopwright/core";
import { withFileLock } from "@loopwright/secrets/node";
import { oneLine } from "../terminal/neutralise.ts";
import { type LoginPlace, type LoginTokens, refreshedTokens } from "./openai-login.ts";

/** The file of the login at OpenAI. */
export const loginFile = (home: string = homedir()): string => join(home, ".loopwright/credentials/openai.json");

/** A token is refreshed so long before its end. */
const marginMs = 60_000;
/** Another process that refreshes has so long. */
const lockWaitMs = 30_000;

/** Whether there is a login. */
export const hasLogin = (path: string = loginFile()): boolean => existsSync(path);

/** The tokens of the file. @throws AgentError MODEL_KEY_MISSING without one, CONFIG_INVALID for one that cannot be read */
async function readLogin(path: string): Promise<LoginTokens> {
  const fix = "Log in with `loopwright login`.";
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new AgentError("MODEL_KEY_MISSING", { message: `There is no login at OpenAI in \`${oneLine(path, 200)}\`.`, fix, cause });
  }
  const damaged = (): AgentError =>
    new AgentError("CONFIG_INVALID", { message: `The login in \`${oneLine(path, 200)}\` is damaged.`, fix });
  let kept: Partial<LoginTokens>;
  try {
    kept = JSON.parse(text) as Partial<LoginTokens>;
  } catch {
    throw damaged();
  }
  const { accessToken, refreshToken, expiresAt, accountId } = kept;
  if (typeof accessToken !== "string" || typeof refreshToken !== "string" || typeof expiresAt !== "number") throw damaged();
  return { accessToken, refreshToken, expiresAt, ...(typeof accountId === "string" ? { accountId } : {}) };
}

/** Keeps the tokens: whole or not at all, and readable by this user alone. */
export async function writeLogin(path: string, tokens: LoginTokens): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}`;
  const handle = await open(fresh, "w", 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(`${JSON.stringify(tokens, undefined, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, path);
}

/** Forgets the login; false where there is none. */
export async function removeLogin(path: string): Promise<boolean> {
  if (!hasLogin(path)) return false;
  await rm(path);
  return true;
}

/** The login of the file, with tokens that have not ended. */
export class KeptLogin {
  readonly path: string;
  readonly place: LoginPlace;
  #tokens: LoginTokens | undefined;
  #refreshing: Promise<LoginTokens> | undefined;

  constructor(place: LoginPlace, path: string = loginFile()) {
    this.place = place;
    this.path = path;
  }

  /** Tokens that have not ended. @throws AgentError MODEL_KEY_MISSING, MODEL_AUTH, MODEL_UNREACHABLE, CONFIG_INVALID */
  async tokens(): Promise<LoginTokens> {
    if (isFresh(this.#tokens)) return this.#tokens;
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(): Promise<LoginTokens> {
    const kept = await readLogin(this.path);
    this.#tokens = isFresh(kept) ? kept : await withFileLock(`${this.path}.lock`, () => this.#refreshLocked(), lockWaitMs);
    return this.#tokens;
  }

  /** The refresh token works once: what another process did meanwhile counts. */
  async #refreshLocked(): Promise<LoginTokens> {
    const kept = await readLogin(this.path);
    if (isFresh(kept)) return kept;
    const tokens = await refreshedTokens(this.place, kept);
    await writeLogin(this.path, tokens);
    return tokens;
  }
}

const isFresh = (tokens: LoginTokens | undefined): tokens is LoginTokens =>
  tokens !== undefined && tokens.expiresAt - Date.now() > marginMs;
