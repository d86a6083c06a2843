import type { AssistantPart, ImagePart, Opaque, ResultPart, UserMessage } from "@loopwright/core";
import { opaqueSamples } from "./opaque-samples.ts";

/** Random content of messages beside plain text, drawn from a stream of numbers in [0, 1). */
type Random = () => number;

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image: ImagePart = { type: "image", mediaType: "image/png", source: { data: png } };

/** Parts that a model may stream before its text: thinking with data of any vendor or of none, opaque blocks, blank texts; mostly none. */
export function partsBeforeText(random: Random, unique: string): readonly AssistantPart[] {
  return Array.from({ length: Math.max(0, Math.floor(random() * 5) - 1) }).flatMap((_, i): readonly AssistantPart[] => {
    const samples = opaqueSamples(`${unique}_${i}`);
    const chance = random();
    if (chance < 0.5) return [{ type: "thinking", text: pick(random, ["", " ", "hm"]), ...opaqueOf(random, samples.thinking) }];
    if (chance < 0.8) return pick(random, samples.alone).map((opaque) => ({ type: "opaque", ...opaque }));
    return [{ type: "text", text: pick(random, ["", " ", "Well,\n"]), ...opaqueOf(random, samples.text) }];
  });
}

/** Opaque data of a vendor on the text of an answer; mostly none. */
export function opaqueOnText(random: Random, unique: string): { readonly opaque?: Opaque } {
  return random() < 0.6 ? {} : opaqueOf(random, opaqueSamples(unique).text);
}

/** The vendor's part of a call: an id that may repeat over turns and have any characters, and opaque data. */
export function vendorPartOfCall(random: Random, callKey: string): { readonly id: string; readonly opaque?: Opaque } {
  const at = callKey.slice(callKey.lastIndexOf(".") + 1);
  const id = pick(random, [callKey, callKey, `call_${at}`, `odd.id:${at}/é`, `${"x".repeat(80)}${at}`]);
  return { id, ...(random() < 0.6 ? {} : opaqueOf(random, opaqueSamples(callKey.replaceAll(".", "_")).call)) };
}

/** Content of a user's message. */
export function userContent(random: Random, text: string): UserMessage["content"] {
  const words = { type: "text", text } as const;
  return pick<UserMessage["content"]>(random, [
    text,
    text,
    text,
    [words],
    [{ type: "text", text: "" }, image],
    [words, image, { type: "json", value: { of: text } }],
    [words, { type: "file", mediaType: "text/plain", name: "note.txt", source: { data: "bm90ZQ==" } }],
    " ",
    "",
    [],
  ]);
}

/** Output of a tool. */
export function toolOutput(random: Random, text: string): readonly ResultPart[] {
  const words = { type: "text", text } as const;
  return pick<readonly ResultPart[]>(random, [
    [words],
    [words],
    [{ type: "json", value: { of: text } }],
    [words, image],
    [image],
    [words, { type: "file", mediaType: "text/plain", name: "found.txt", source: { data: "Zm91bmQ=" } }],
    [{ type: "text", text: "" }],
    [{ type: "text", text: " \n" }],
    [],
  ]);
}

function opaqueOf(random: Random, samples: readonly Opaque[]): { readonly opaque?: Opaque } {
  const opaque = random() < 0.2 ? undefined : samples[Math.floor(random() * samples.length)];
  return opaque ? { opaque } : {};
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}
