import { existsSync } from "node:fs";
import { AgentError } from "@loopwright/core";
import { checkSecret } from "@loopwright/core/stores";
import { type Environment, loadEnvironment } from "../config/environment.ts";
import type { SecretPlace } from "../config/found-secrets.ts";
import { exitCodes } from "../exit-code.ts";
import { openPlace } from "../secrets/open-place.ts";
import { newPassphrase, passphraseSource } from "../secrets/passphrase.ts";
import { openFiles, platformScope } from "../secrets/read-secrets.ts";
import { secretVariables } from "../secrets/secret-categories.ts";
import { secretPlaces } from "../secrets/secret-place.ts";
import { textOfFile, unusableText, withoutEnd } from "../secrets/secret-text.ts";
import { errorLogger } from "../serve/error-logger.ts";
import { promptHidden } from "../terminal/hidden-prompt.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { padTo } from "../terminal/lines.ts";
import { oneLine } from "../terminal/neutralise.ts";

interface SecretFlags {
  readonly global?: boolean;
  readonly env?: string;
  readonly json?: boolean;
}

/** More than the longest secret in any encoding. */
const bytesMax = 64 * 1024;

const variablesOf = ({ env }: SecretFlags): Promise<Environment> => loadEnvironment(process.env, { file: env, directory: process.cwd() });

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const remark = (text: string): void => void process.stderr.write(`${text}\n`);

/** The file that the flags mean. */
function placeOf({ global: isGlobal }: SecretFlags): SecretPlace {
  const places = secretPlaces(process.cwd());
  return places.find(({ kind }) => kind === (isGlobal ? "global" : "local")) ?? (places[0] as SecretPlace);
}

/** Keeps a secret. The value is never an argument, which other users of the machine could read. @throws AgentError INPUT_INVALID, CONFIG_INVALID, SECRET_UNREADABLE */
export async function setSecret(name: string, { file, ...flags }: SecretFlags & { readonly file?: string }): Promise<number> {
  checkSecret(platformScope, name);
  const environment = await variablesOf(flags);
  const place = placeOf(flags);
  const store = await openPlace(place, environment);
  const value = await enteredValue(name, file);
  await store.set(platformScope, name, value);
  remark(`Kept ${name} in ${oneLine(place.path, 200)}.`);
  return exitCodes.ok;
}

async function enteredValue(name: string, file: string | undefined): Promise<string> {
  if (file === undefined && process.stdin.isTTY === true)
    return promptHidden(`Value of ${name}: `, { input: process.stdin, output: process.stderr });
  return file === undefined ? piped() : textOfFile(file);
}

async function piped(): Promise<string> {
  let text = "";
  for await (const piece of process.stdin.setEncoding("utf8")) {
    text += String(piece);
    if (text.length > bytesMax) throw unusableText("Standard input holds more than a secret.");
  }
  if (text.trim() === "") throw unusableText("No value was given.");
  return withoutEnd(text);
}

/** A secret and where it stands; `hides`: places behind that have one of the same name. */
interface ListedSecret {
  readonly name: string;
  readonly place: "local" | "global" | "environment";
  readonly path?: string;
  readonly value: string;
}

/** Every secret of every place, in the order in which they count. */
async function allSecrets(flags: SecretFlags): Promise<readonly ListedSecret[]> {
  const environment = await variablesOf(flags);
  const found: ListedSecret[] = [];
  const files = await openFiles({ directory: process.cwd(), passphrase: passphraseSource(environment), logger: errorLogger });
  for (const { place, store } of files) {
    for (const name of await store.names(platformScope))
      found.push({ name, place: place.kind, path: place.path, value: (await store.get(platformScope, name)) ?? "" });
  }
  for (const name of secretVariables) {
    const value = environment[name];
    if (value) found.push({ name, place: "environment", value });
  }
  return flags.global ? found.filter(({ place }) => place === "global") : found;
}

/** Prints where a secret stands, and its value where that was asked for; the exit code is 1 where there is none. */
export async function getSecret(name: string, flags: SecretFlags & { readonly reveal?: boolean }): Promise<number> {
  checkSecret(platformScope, name);
  const found = (await allSecrets(flags)).find((one) => one.name === name);
  if (!found) return absent(name);
  const value = flags.reveal ? found.value : "********";
  const { place, path } = found;
  if (flags.json) print(jsonLine({ name, place, path, value }));
  else if (flags.reveal) print(value);
  else print(`${value}  ${place}${path === undefined ? "" : `  ${oneLine(path, 200)}`}`);
  return exitCodes.ok;
}

function absent(name: string): number {
  remark(
    `There is no secret \`${oneLine(name, 100)}\` here.\nwhy: No file of secrets and no variable has it.\ntry: See \`loopwright secrets list\`, or keep it with \`loopwright secrets set\`.`,
  );
  return exitCodes.failed;
}

/** Prints names and places, never values. */
export async function listSecrets(flags: SecretFlags): Promise<number> {
  const all = await allSecrets(flags);
  const width = Math.max(0, ...all.map(({ name }) => name.length)) + 2;
  const seen = new Set<string>();
  for (const { name, place, path } of all.toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))) {
    const isHidden = seen.has(name);
    seen.add(name);
    if (flags.json) print(jsonLine({ name, place, path, isHidden }));
    else print(`${padTo(name, width)}${place}${isHidden ? " (not used: it stands behind the one above)" : ""}`);
  }
  if (all.length === 0 && !flags.json) remark("No secret is kept here. `loopwright secrets set <name>` keeps one.");
  return exitCodes.ok;
}

/** Removes a secret from one file; the exit code is 1 where it is not there. @throws AgentError SECRET_UNREADABLE, CONFIG_INVALID */
export async function removeSecret(name: string, flags: SecretFlags): Promise<number> {
  checkSecret(platformScope, name);
  const place = placeOf(flags);
  if (!existsSync(place.path)) return absent(name);
  const store = await openPlace(place, await variablesOf(flags));
  if (!(await store.remove(platformScope, name))) return absent(name);
  remark(`Removed ${name} from ${oneLine(place.path, 200)}.`);
  return exitCodes.ok;
}

/** Encrypts a file anew under another passphrase. @throws AgentError SECRET_UNREADABLE, CONFIG_INVALID */
export async function rotateSecrets(flags: SecretFlags & { readonly newPassphraseFile?: string }): Promise<number> {
  const place = placeOf(flags);
  if (!existsSync(place.path))
    throw new AgentError("CONFIG_INVALID", {
      message: `There is no file of secrets \`${oneLine(place.path, 200)}\`.`,
      fix: "Keep a secret first, with `loopwright secrets set <name>`.",
    });
  const store = await openPlace(place, await variablesOf(flags));
  const given = flags.newPassphraseFile === undefined ? undefined : await textOfFile(flags.newPassphraseFile);
  await store.changePassphrase(await newPassphrase(given, place.path));
  remark(`Every secret of ${oneLine(place.path, 200)} is encrypted anew; its earlier passphrase opens nothing any more.`);
  return exitCodes.ok;
}
