import { type Message, textOf } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";

/** Characters of standard error that are kept, and those that an error shows. */
const [keptMax, shownMax] = [16_000, 2_000];
/** Shorter texts are parts of ordinary words. */
const hiddenMin = 6;

/** The end of what a program writes to standard error. */
export class ErrorTail {
  #text = "";

  push(text: string): void {
    this.#text = (this.#text + text).slice(-keptMax);
  }

  /** The end for people: without values of the program's variables, and without messages of the conversation. Empty: nothing was written. */
  shown(variables: Readonly<Record<string, string>>, { messages, system = [] }: ModelRequest): string {
    const hidden: (readonly [text: string, instead: string])[] = [
      ...Object.entries(variables).map(([name, value]) => [value, `[variable ${name}]`] as const),
      ...[...messages.map((message: Message) => textOf(message)), ...system.map(({ text }) => text)].map(
        (text) => [text, "[text of the conversation]"] as const,
      ),
    ];
    const text = hidden
      .filter(([value]) => value.trim().length >= hiddenMin)
      .sort(([one], [other]) => other.length - one.length)
      .reduce((shown, [value, instead]) => shown.replaceAll(value.trim(), instead), this.#text);
    return text.trim().slice(-shownMax).trim();
  }
}
