import { AgentError } from "@loopwright/core";
import { vendors as all, type Vendor, type VendorName, vendorNamed } from "../config/vendors.ts";
import { type HiddenTerminal, promptHidden } from "../terminal/hidden-prompt.ts";
import { promptLine } from "../terminal/prompt-line.ts";

/** An executor has a file of its own, which is written by hand. */
const vendors = all.filter(({ isExecutor }) => !isExecutor);

/** How often an answer that cannot be used is asked for again. */
const askedMax = 5;

/** What an answer comes to, or why it cannot be used. */
type Reading<T> = { readonly value: T } | { readonly refused: string };

/** Asks until the answer can be used. @throws AgentError INPUT_INVALID after several that cannot, RUN_ABORTED when the terminal ends */
export async function askUntil<T>(question: string, terminal: HiddenTerminal, read: (answer: string) => Reading<T>): Promise<T> {
  for (let asked = 0; asked < askedMax; asked++) {
    const reading = read(await promptLine(question, terminal));
    if ("value" in reading) return reading.value;
    terminal.output.write(`${reading.refused}\n`);
  }
  throw new AgentError("INPUT_INVALID", {
    message: `None of ${askedMax} answers could be used.`,
    fix: "Give the values as flags: `loopwright init --help` lists them.",
  });
}

/** A yes or a no; nothing means no. */
export const askYes = (question: string, terminal: HiddenTerminal): Promise<boolean> =>
  askUntil(`${question} [y/N] `, terminal, (answer) => {
    if (["", "n", "no"].includes(answer.toLowerCase())) return { value: false };
    return ["y", "yes"].includes(answer.toLowerCase()) ? { value: true } : { refused: "Answer `y` or `n`." };
  });

/** The vendor by its number or its name; nothing means the default one. */
export function askVendor(usual: VendorName, terminal: HiddenTerminal): Promise<Vendor> {
  for (const [at, { name, title, note }] of vendors.entries()) {
    terminal.output.write(`  ${at + 1}  ${name.padEnd(10)} ${title}${note === "" ? "" : ` (${note})`}\n`);
  }
  return askUntil(`Provider [${usual}]: `, terminal, (answer) => {
    const found = vendors[Number(answer) - 1] ?? vendorNamed(answer === "" ? usual : answer);
    return found ? { value: found } : { refused: `Answer a number from 1 to ${vendors.length}, or a name of the list.` };
  });
}

/** The model; nothing means that of the vendor, where it has one. */
export const askModel = (isNeeded: boolean, terminal: HiddenTerminal): Promise<string | undefined> =>
  askUntil(isNeeded ? "Model: " : "Model [the default of the provider]: ", terminal, (answer) => {
    if (answer === "" && isNeeded) return { refused: "The server at that address has no default: name a model that it serves." };
    return { value: answer === "" ? undefined : answer };
  });

/** The address of a server. */
export const askAddress = (terminal: HiddenTerminal): Promise<string> =>
  askUntil("Address of the server, such as http://localhost:1234/v1: ", terminal, (answer) =>
    /^https?:\/\//i.test(answer) && URL.canParse(answer) ? { value: answer } : { refused: "That is no http or https address." },
  );

/** The key of a vendor, of which nothing is shown; nothing means none. */
export async function askKey({ title }: Vendor, terminal: HiddenTerminal): Promise<string | undefined> {
  const key = (await promptHidden(`Key of ${title}, kept encrypted [none now]: `, terminal)).trim();
  return key === "" ? undefined : key;
}
