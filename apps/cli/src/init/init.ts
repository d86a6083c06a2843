/*
 * Owns: `loopwright init`: what is chosen, that it is valid before anything is written, and that nothing is overwritten without leave.
 * Does not own: the texts of the files (agent-files), questions (ask-choices), how secrets are encrypted.
 */
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { AgentError } from "@loopwright/core";
import { parseConfigFile } from "../config/config-file.ts";
import { levelOfFlags } from "../config/config-level.ts";
import { configure } from "../config/configure.ts";
import { type Environment, loadEnvironment } from "../config/environment.ts";
import { exitCodes } from "../exit-code.ts";
import { hasLogin } from "../login/kept-login.ts";
import { openPlace } from "../secrets/open-place.ts";
import { platformScope } from "../secrets/read-secrets.ts";
import { secretPlaces } from "../secrets/secret-place.ts";
import { textOfFile } from "../secrets/secret-text.ts";
import { keyOf } from "../settings/key-of.ts";
import { settingsFrom } from "../settings/settings.ts";
import type { HiddenTerminal } from "../terminal/hidden-prompt.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { type AgentChoices, type AgentFile, agentFiles, settingsFile } from "./agent-files.ts";
import { askAddress, askKey, askModel, askUntil, askVendor, askYes } from "./ask-choices.ts";

/** The flags of `init`. */
export interface InitFlags {
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly keyFile?: string;
  readonly dotenv?: boolean;
  readonly existing?: boolean;
  readonly yes?: boolean;
  /** Of the login. */
  readonly browser?: boolean;
  readonly callbackPort?: string;
}

/** Makes the folder of an agent. @throws AgentError CONFIG_INVALID, INPUT_INVALID, RUN_ABORTED; then nothing was written */
export async function init(folder: string | undefined, flags: InitFlags): Promise<number> {
  const isAsking = process.stdin.isTTY === true && process.stderr.isTTY === true && flags.yes !== true;
  const terminal = isAsking ? { input: process.stdin, output: process.stderr } : undefined;
  const environment = await loadEnvironment(process.env, { directory: process.cwd() });
  const name = folder ?? (await askFolder(terminal));
  const directory = resolve(name);
  const isNew = !existsSync(directory);
  if (!isNew && flags.existing !== true) await agreeToExisting(name, terminal);
  const choices = await chosen(flags, environment, terminal);
  const wantsLogin = await isLoginWanted(choices, { flags, environment, terminal });
  const key = wantsLogin ? undefined : await keyFor(choices, { flags, environment, terminal });
  const files = agentFiles(choices);
  await checkSettings(files, directory);
  const writable = await agreeToOverwrite(files, directory, terminal);
  try {
    if (key !== undefined) await keepKey(key, directory, environment);
    for (const file of writable) await writeInto(directory, file);
  } catch (error) {
    // A folder without some of its files would only be refused the next time.
    if (isNew) await rm(directory, { recursive: true, force: true });
    throw error;
  }
  if (wantsLogin) await (await import("../login/login.ts")).login(flags);
  process.stdout.write(`${summaryOf({ name, writable, choices, isKeyKept: key !== undefined, environment }).join("\n")}\n`);
  return exitCodes.ok;
}

type Terminal = HiddenTerminal | undefined;

function askFolder(terminal: Terminal): Promise<string> {
  if (!terminal)
    throw new AgentError("INPUT_INVALID", {
      message: "No folder is named for the agent.",
      fix: "Name one: `loopwright init <folder>`.",
    });
  return askUntil("Folder of the agent: ", terminal, (answer) =>
    answer === "" ? { refused: "Name a folder, which need not be there yet." } : { value: answer },
  );
}

async function agreeToExisting(name: string, terminal: Terminal): Promise<void> {
  const shown = oneLine(name, 200);
  if (terminal && (await askYes(`The folder ${shown} is there already. Make the agent in it?`, terminal))) return;
  throw new AgentError("CONFIG_INVALID", {
    message: `\`${shown}\` is there already.`,
    fix: "Name a folder that is not, or pass `--existing` to make the agent in it: no file of it is overwritten without your leave.",
  });
}

/** What the flags name, and the answers to the rest. @throws AgentError CONFIG_INVALID for flags that do not fit together */
async function chosen(flags: InitFlags, environment: Environment, terminal: Terminal): Promise<AgentChoices> {
  const dotenv = flags.dotenv === true;
  const { provider, model, baseUrl } = flags;
  const isNamed = provider !== undefined || model !== undefined || baseUrl !== undefined;
  if (!terminal || isNamed) {
    const { vendor } = settingsFrom(configure([levelOfFlags({ provider, model, baseUrl })], environment), process.cwd());
    return { vendor: isNamed ? vendor : undefined, model, baseUrl, dotenv };
  }
  const usual = settingsFrom(configure([], environment), process.cwd()).vendor;
  const vendor = await askVendor(usual.name, terminal);
  const address = vendor.name === "custom" ? await askAddress(terminal) : undefined;
  const named = vendor.name === "offline" ? undefined : await askModel(vendor.name === "custom", terminal);
  return { vendor, model: named, baseUrl: address, dotenv };
}

interface Key {
  readonly name: string;
  readonly value: string;
}

interface KeyQuery {
  readonly flags: InitFlags;
  readonly environment: Environment;
  readonly terminal: Terminal;
}

/** Whether a person wants a login at OpenAI in place of a key, where there is neither. Another address takes no such login. */
async function isLoginWanted({ vendor, baseUrl }: AgentChoices, { flags, environment, terminal }: KeyQuery): Promise<boolean> {
  if (
    vendor?.name !== "openai" ||
    baseUrl !== undefined ||
    !terminal ||
    flags.keyFile !== undefined ||
    keyOf(vendor, environment) ||
    hasLogin()
  )
    return false;
  return askYes("Log in at OpenAI with a browser, in place of a key?", terminal);
}

/** The key to keep: of the file, or the one that is typed where none is set. @throws AgentError CONFIG_INVALID */
async function keyFor({ vendor }: AgentChoices, { flags, environment, terminal }: KeyQuery): Promise<Key | undefined> {
  const [name] = vendor?.keys ?? [];
  if (flags.keyFile !== undefined) {
    const value = await textOfFile(flags.keyFile);
    if (name !== undefined && value.trim() !== "") return { name, value };
    throw new AgentError("CONFIG_INVALID", {
      message: name === undefined ? "A key is given, and no provider that takes one." : "The file of `--key-file` is empty.",
      fix: name === undefined ? "Name the provider of the key with `--provider`." : "Name a file that holds the key alone.",
    });
  }
  if (!vendor || name === undefined || !terminal || keyOf(vendor, environment) || (vendor.name === "openai" && hasLogin()))
    return undefined;
  const value = await askKey(vendor, terminal);
  return value === undefined ? undefined : { name, value };
}

/** Reads the settings as `config validate` would. @throws AgentError CONFIG_INVALID */
async function checkSettings(files: readonly AgentFile[], directory: string): Promise<void> {
  const { text } = files.find(({ path }) => path === settingsFile) ?? { text: "" };
  const { level, flaws } = await parseConfigFile(text, settingsFile);
  if (flaws[0]) throw flaws[0];
  settingsFrom(configure([level]), directory);
}

/** The files that may be written. @throws AgentError CONFIG_INVALID where some are there and no terminal is to ask at */
async function agreeToOverwrite(files: readonly AgentFile[], directory: string, terminal: Terminal): Promise<readonly AgentFile[]> {
  const there = files.filter(({ path }) => existsSync(join(directory, path)));
  if (!terminal && there.length > 0)
    throw new AgentError("CONFIG_INVALID", {
      message: `The folder has ${there.map(({ path }) => path).join(", ")} already, and nothing is overwritten without asking.`,
      fix: "Move these files away, name another folder, or run `loopwright init` at a terminal, which asks about each.",
    });
  const kept = new Set<AgentFile>();
  for (const file of there) {
    if (terminal && !(await askYes(`${file.path} is there already. Overwrite it?`, terminal))) kept.add(file);
  }
  return files.filter((file) => !kept.has(file));
}

async function keepKey({ name, value }: Key, directory: string, environment: Environment): Promise<void> {
  const [place] = secretPlaces(directory);
  if (!place) return;
  await mkdir(dirname(place.path), { recursive: true });
  await (await openPlace(place, environment)).set(platformScope, name, value);
}

async function writeInto(directory: string, { path, text }: AgentFile): Promise<void> {
  const target = join(directory, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, text, path === ".env" ? { mode: 0o600 } : {});
}

interface Made {
  readonly name: string;
  readonly writable: readonly AgentFile[];
  readonly choices: AgentChoices;
  readonly isKeyKept: boolean;
  readonly environment: Environment;
}

function summaryOf({ name, writable, choices: { vendor }, isKeyKept, environment }: Made): readonly string[] {
  const shown = oneLine(name, 200);
  const key = vendor?.keys[0];
  const isKeyMissing =
    key !== undefined &&
    vendor !== undefined &&
    vendor.name !== "custom" &&
    !isKeyKept &&
    !keyOf(vendor, environment) &&
    !(vendor.name === "openai" && hasLogin());
  return [
    `Made ${writable.map(({ path }) => path).join(", ")} in ${shown}.`,
    ...(isKeyKept ? [`Kept ${key} encrypted in ${join(shown, ".loopwright/secrets.enc")}.`] : []),
    `Next: cd ${shown}${isKeyMissing ? ` && loopwright secrets set ${key}` : ""} && loopwright run`,
  ];
}
