import { AgentError } from "@loopwright/core";
import type { Environment } from "../config/environment.ts";
import { promptHidden } from "../terminal/hidden-prompt.ts";
import { oneLine } from "../terminal/neutralise.ts";

/** Gives the passphrase of files of secrets. */
export type PassphraseSource = (path: string) => Promise<string>;

/** The variable of the passphrase; with `_FILE` behind it, of a file that holds it. */
export const passphraseVariable = "LOOPWRIGHT_SECRETS_PASSPHRASE";

const lengthMin = 8;

/** The passphrase of the variable, else the one that a person types; it is asked for once. */
export function passphraseSource(environment: Environment): PassphraseSource {
  let asked: Promise<string> | undefined;
  return async (path) => {
    const given = environment[passphraseVariable];
    if (given) return given;
    if (process.stdin.isTTY !== true) throw locked(path);
    asked ??= promptHidden(`Passphrase of ${oneLine(path, 200)}: `, { input: process.stdin, output: process.stderr });
    return asked;
  };
}

/** The passphrase of a file that is made or encrypted anew: a person types it twice. @throws AgentError CONFIG_INVALID */
export async function newPassphrase(given: string | undefined, path: string): Promise<string> {
  if (given) return checked(given);
  if (process.stdin.isTTY !== true) throw locked(path);
  const terminal = { input: process.stdin, output: process.stderr };
  const passphrase = checked(await promptHidden(`New passphrase of ${oneLine(path, 200)}: `, terminal));
  if ((await promptHidden("The same again: ", terminal)) === passphrase) return passphrase;
  throw new AgentError("CONFIG_INVALID", { message: "The two passphrases differ.", fix: "Run the command again." });
}

function checked(passphrase: string): string {
  if (passphrase.length >= lengthMin) return passphrase;
  throw new AgentError("CONFIG_INVALID", {
    message: `The passphrase has fewer than ${lengthMin} characters and could be guessed.`,
    fix: "Take a longer one, for example five random words.",
  });
}

const locked = (path: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The file of secrets \`${oneLine(path, 200)}\` needs its passphrase, and there is no terminal to ask on.`,
    fix: `Name a file that holds it with ${passphraseVariable}_FILE, or set ${passphraseVariable}. LOOPWRIGHT_SECRETS=false starts without secrets.`,
  });
