import { AgentError } from "./errors.ts";
import { shownId } from "./message/shown-id.ts";

/** The most letters that a typing error changes. */
const changesMax = 2;

/**
 * Refuses an option with an unknown name, because a typing error would be ignored silently otherwise. Members that are `undefined` count as absent.
 * `known` has a member for every option; `owner` is named in the error, such as "the provider `openai`".
 * @throws AgentError CONFIG_INVALID with the option, and with the most similar known option
 */
export function refuseUnknownOptions<Options extends object>(
  options: Options,
  known: { readonly [Name in keyof Options]-?: true },
  owner: string,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    const near = nearOf(name, Object.keys(known));
    throw new AgentError("CONFIG_INVALID", {
      message: `There is no option \`${shownId(name)}\` of ${owner}.`,
      fix: near === undefined ? `Use: ${Object.keys(known).join(", ")}.` : `Did you mean \`${near}\`?`,
    });
  }
}

function nearOf(name: string, known: readonly string[]): string | undefined {
  const written = name.slice(0, 64).toLowerCase();
  const distances = known.map((each) => ({ each, changes: changesBetween(written, each.toLowerCase()) }));
  const [nearest] = distances.sort((a, b) => a.changes - b.changes);
  return nearest && nearest.changes <= Math.min(changesMax, written.length / 3) ? nearest.each : undefined;
}

/** How many letters are changed, added or left out between two words (Levenshtein). */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [at, letter] of Array.from(from).entries()) {
    const next = [at + 1];
    for (let place = 0; place < to.length; place++) {
      const kept = (row[place] ?? 0) + (to[place] === letter ? 0 : 1);
      next.push(Math.min(kept, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
