import { AgentError } from "@loopwright/core";
import type { Environment } from "../config/environment.ts";
import { promptHidden } from "../terminal/hidden-prompt.ts";
import { oneLine } from "../terminal/neutralise.ts";

/** Gives the passphrase of files of secrets. */
export type PassphraseSource = (path: string) => Promise<string>;

/** The variable of the passphrase; with `_FILE` behind it, of a file that holds it. */
export const passphraseVariable = "LOOPWRIGHT_SECRETS_PASSPHRASE";

const lengthMin = 8;
/** How often a person may type a new one that cannot be used. */
const attemptsMax = 3;

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

/**
 * The passphrase of a file that is made or encrypted anew: a person types it twice, and is asked again where it is too short or the two differ.
 * @throws AgentError CONFIG_INVALID for one of a variable or file that is too short, without a terminal, and after three attempts
 */
export async function newPassphrase(given: string | undefined, path: string): Promise<string> {
  if (given) {
    const fault = faultOf(given);
    if (fault) throw fault;
    return given;
  }
  if (process.stdin.isTTY !== true) throw locked(path);
  const terminal = { input: process.stdin, output: process.stderr };
  for (let attempt = 1; ; attempt++) {
    const passphrase = await promptHidden(`New passphrase of ${oneLine(path, 200)}: `, terminal);
    const fault = faultOf(passphrase) ?? ((await promptHidden("The same again: ", terminal)) === passphrase ? undefined : different());
    if (!fault) return passphrase;
    if (attempt === attemptsMax) throw fault;
    terminal.output.write(`${fault.message} ${fault.fix}\n`);
  }
}

function faultOf(passphrase: string): AgentError | undefined {
  if (passphrase.length >= lengthMin) return undefined;
  return new AgentError("CONFIG_INVALID", {
    message: `The passphrase has fewer than ${lengthMin} characters and could be guessed.`,
    fix: "Take a longer one, for example five random words.",
  });
}

const different = (): AgentError =>
  new AgentError("CONFIG_INVALID", { message: "The two passphrases differ.", fix: "Type the same one twice." });

const locked = (path: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The file of secrets \`${oneLine(path, 200)}\` needs its passphrase, and there is no terminal to ask on.`,
    fix: `Name a file that holds it with ${passphraseVariable}_FILE, or set ${passphraseVariable}. LOOPWRIGHT_SECRETS=false starts without secrets.`,
  });
