import { readFile } from "node:fs/promises";
import type { LoopwrightClient, OwnProvider } from "@loopwright/client";
import { AgentError } from "@loopwright/core";
import { exitCodes } from "../exit-code.ts";
import { clientOf } from "../remote/remote-place.ts";
import { type ServerFlags, serverOf } from "../remote/server-address.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";

interface ProviderFlags extends ServerFlags {
  readonly env?: string;
  readonly json?: boolean;
}

interface KeyFlags extends ProviderFlags {
  readonly baseUrl?: string;
  readonly keyFile?: string;
}

interface AddFlags extends KeyFlags {
  readonly vendor: string;
  readonly model: string;
  readonly name?: string;
  readonly use?: boolean;
}

const keyBytesMax = 64 * 1024;

/** Prints the models that the caller brought to a running server. */
export async function listProviders(flags: ProviderFlags): Promise<number> {
  const { mode, builders, providers } = await (await clientFor(flags)).providers.list();
  for (const provider of providers) print(flags.json ? jsonLine(provider) : lineOf(provider));
  if (!flags.json) {
    const vendors = builders.map(({ providerId }) => providerId).join(", ");
    const note = mode === "PlatformOnly" ? "This server takes no keys of users." : `Vendors: ${vendors}.`;
    process.stderr.write(`${providers.length === 0 ? "You have brought no model yet. " : ""}${note}\n`);
  }
  return exitCodes.ok;
}

/** Adds a model. The key comes from a file or from standard input, never from the command line, where other users of the machine could read it. */
export async function addProvider({ vendor, model, name, baseUrl, keyFile, use, ...flags }: AddFlags): Promise<number> {
  const client = await clientFor(flags);
  const key = await keyFrom(keyFile);
  const added = await client.providers.add({
    ...{ providerId: vendor, model, key, displayName: name ?? `${vendor} ${model}` },
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(use ? { active: true } : {}),
  });
  print(flags.json ? jsonLine(added) : lineOf(added));
  return exitCodes.ok;
}

/** Makes one short call with a model; the exit code is 4 where the vendor refuses it. */
export async function testProvider(typed: string, flags: ProviderFlags): Promise<number> {
  const client = await clientFor(flags);
  const result = await client.providers.test(await idOf(client, typed));
  if (flags.json) print(jsonLine(result));
  else if (result.ok) print(`${oneLine(result.model, 200)} answered after ${result.totalMs} ms.`);
  else process.stderr.write(`${oneLine(result.message, 500)} (${result.code})\ntry: ${oneLine(result.fix, 500)}\n`);
  return result.ok ? exitCodes.ok : exitCodes.provider;
}

/** From now on the caller's messages go to this model. */
export async function useProvider(typed: string, flags: ProviderFlags): Promise<number> {
  const client = await clientFor(flags);
  const used = await client.providers.change(await idOf(client, typed), { active: true });
  print(flags.json ? jsonLine(used) : lineOf(used));
  return exitCodes.ok;
}

/** From now on the caller's messages go to the models of the server. */
export async function restProviders(flags: ProviderFlags): Promise<number> {
  const client = await clientFor(flags);
  const { providers } = await client.providers.list();
  const active = providers.find((provider) => provider.active && provider.locked !== true);
  if (active) await client.providers.change(active.instanceId, { active: false });
  process.stderr.write("Your messages go to the models of the server.\n");
  return exitCodes.ok;
}

/** Replaces the key of a model. */
export async function replaceKey(typed: string, { keyFile, baseUrl, ...flags }: KeyFlags): Promise<number> {
  const client = await clientFor(flags);
  const id = await idOf(client, typed);
  const changed = await client.providers.change(id, { key: await keyFrom(keyFile), ...(baseUrl === undefined ? {} : { baseUrl }) });
  print(flags.json ? jsonLine(changed) : lineOf(changed));
  return exitCodes.ok;
}

/** Deletes a model and its key. */
export async function removeProvider(typed: string, flags: ProviderFlags): Promise<number> {
  const client = await clientFor(flags);
  const id = await idOf(client, typed);
  await client.providers.remove(id);
  process.stderr.write(`Deleted ${oneLine(id, 64)} and its key.\n`);
  return exitCodes.ok;
}

async function clientFor(flags: ProviderFlags): Promise<LoopwrightClient> {
  return clientOf(await serverOf(flags));
}

/** The id that begins so. @throws AgentError PROVIDER_NOT_FOUND, INPUT_INVALID when several begin so */
async function idOf(client: LoopwrightClient, typed: string): Promise<string> {
  const { providers } = await client.providers.list();
  const found = providers.filter(({ instanceId }) => instanceId === typed || (typed.length >= 4 && instanceId.startsWith(typed)));
  const [first] = found;
  if (first && found.length === 1) return first.instanceId;
  if (first)
    throw new AgentError("INPUT_INVALID", {
      message: `Several models have ids that begin with \`${oneLine(typed, 64)}\`.`,
      fix: "Type more of the id.",
    });
  throw new AgentError("PROVIDER_NOT_FOUND", {
    message: `There is no model \`${oneLine(typed, 64)}\`.`,
    fix: "See `loopwright providers list`.",
  });
}

/** @throws AgentError CONFIG_INVALID without a key */
async function keyFrom(file: string | undefined): Promise<string> {
  const text =
    file === undefined
      ? await piped()
      : await readFile(file, "utf8").catch((cause: unknown) =>
          Promise.reject(noKey(`The file ${JSON.stringify(file)} could not be read.`, cause)),
        );
  const key = text.trim();
  if (key === "") throw noKey("No key was given.");
  return key;
}

async function piped(): Promise<string> {
  if (process.stdin.isTTY) throw noKey("The key is not read from a terminal, which would show it.");
  let text = "";
  for await (const piece of process.stdin.setEncoding("utf8")) {
    text += String(piece);
    if (text.length > keyBytesMax) throw noKey("Standard input holds more than a key.");
  }
  return text;
}

function noKey(message: string, cause?: unknown): AgentError {
  return new AgentError("CONFIG_INVALID", {
    message,
    fix: "Pipe the key, for example from a password manager, or name a file with `--key-file`.",
    cause,
  });
}

function lineOf({ instanceId, displayName, providerId, model, baseUrl, active, locked }: OwnProvider): string {
  const what = locked ? "provided by the server" : `${providerId}/${model}${baseUrl === undefined ? "" : ` at ${baseUrl}`}`;
  return oneLine(`${instanceId} ${active ? "active " : ""}${displayName} ${what}`, 400);
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
