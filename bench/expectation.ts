import type { Outcome } from "./contenders/contender.ts";
import type { Scene } from "./scenes.ts";
import { largeContent, seenPiece, textPieces } from "./server/script.ts";
import type { ToolRecord } from "./tools.ts";

/** What one conversation did, beside its answer. */
export interface Observed {
  readonly outcome: Outcome;
  /** Text pieces that came while streaming. */
  readonly deltas: number;
  readonly deltaCharacters: number;
}

const textOf = (count: number, messages: number): string => [...textPieces(count), seenPiece(messages)].join("");

/** The only right outcome of an input to the scene, where the conversation had `before` messages (without the system prompt). */
function expected({ path, turns }: Scene, before: number): { readonly text: string; readonly deltas: number; readonly calls: number } {
  const [, name = "", amount = ""] = path.split("/");
  const count = Number(amount);
  // System prompt and this input; each turn with tools added an assistant message and its results.
  const messages = before + 2;
  switch (name) {
    case "text":
      return { text: textOf(count, messages), deltas: count + 1, calls: 0 };
    case "loop":
      return { text: textOf(6, messages + 2 * (turns - 1)), deltas: 7 + 6 * (turns - 1), calls: turns - 1 };
    case "arguments":
      return { text: textOf(6, messages + 2), deltas: 7, calls: 1 };
    case "pair":
      return { text: textOf(40, messages + 2), deltas: 41 + 6, calls: 1 };
    case "parallel":
      return { text: textOf(6, messages + 1 + count), deltas: 7, calls: count };
    default:
      throw new Error(`Nobody knows what ${path} ought to answer.`);
  }
}

/** @throws Error when a contender has dropped, doubled or changed anything: then its figures mean nothing. */
export function checkConversation(scene: Scene, before: number, { outcome, deltas, deltaCharacters }: Observed): void {
  const right = expected(scene, before);
  const problems: string[] = [];
  if (outcome.text !== right.text) problems.push(`answered \`${outcome.text.slice(-60)}\`, not \`${right.text.slice(-60)}\``);
  if (outcome.turns !== scene.turns) problems.push(`took ${outcome.turns} turns, not ${scene.turns}`);
  if (deltas !== right.deltas) problems.push(`handed over ${deltas} pieces of text, not ${right.deltas}`);
  if (deltaCharacters < outcome.text.length)
    problems.push(`handed over ${deltaCharacters} characters, but answered ${outcome.text.length}`);
  if (problems.length > 0) throw new Error(`${scene.id}: ${problems.join("; ")}.`);
}

/** @throws Error when the tools of a run were not called as the model asked. */
export function checkTools(scene: Scene, { calls, content, busiest }: ToolRecord): void {
  const right = expected(scene, 0).calls * scene.concurrency;
  const [, name = "", amount = ""] = scene.path.split("/");
  if (calls !== right) throw new Error(`${scene.id}: tools ran ${calls} times, not ${right}.`);
  if (name === "arguments" && content !== largeContent(Number(amount))) throw new Error(`${scene.id}: the tool got other arguments.`);
  if (name === "parallel" && busiest !== Number(amount)) throw new Error(`${scene.id}: ${busiest} calls ran at once, not ${amount}.`);
}
