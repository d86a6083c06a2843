import { type Message, partsOf, type ResultPart, type ToolResultMessage, textOf, type UserMessage } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { Cuts } from "./cuts.ts";
import { lightSizes, mediaUnits, unitsOf } from "./sizes.ts";

const user = (content: Extract<Message, { role: "user" }>["content"]): Message => ({ role: "user", content });
const answer = (text: string): Message => ({
  role: "assistant",
  content: [{ type: "text", text }],
  provider: "p",
  model: "m",
  stopReason: "stop",
});
const result = (content: ToolResultMessage["content"]): Message => ({
  role: "tool_result",
  toolCallId: "c",
  toolName: "t",
  content,
  isError: false,
  outcome: "ok",
});
const image = (characters: number): ResultPart => ({ type: "image", mediaType: "image/png", source: { data: "A".repeat(characters) } });

/** Fits one growing list as a session does. */
function fitting(tokens: number, shares: { readonly results?: number; readonly attachments?: number } = {}) {
  const all = tokens * 4;
  const room = { all, results: all * (shares.results ?? 1), attachments: all * (shares.attachments ?? 1) };
  let cuts: Cuts | undefined;
  return (messages: readonly Message[]) => {
    if (!cuts?.isOf(messages, lightSizes)) cuts = new Cuts(messages, lightSizes);
    return cuts.fitted(room);
  };
}

const unitsOfAll = (messages: readonly Message[] = []): number => messages.reduce((sum, message) => sum + unitsOf(message), 0);
const textOfAll = (messages: readonly Message[]): string => JSON.stringify(messages);

describe("a history that is too long for the window", () => {
  it("is the same list as long as it fits", () => {
    const messages = [user("go"), result("x".repeat(3_000))];
    expect(fitting(1_000)(messages)).toBe(messages);
  });

  it.each<[string, ToolResultMessage["content"]]>([
    ["text", "x".repeat(50_000)],
    ["JSON", [{ type: "json", value: { rows: Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}` })) } }]],
    [
      "text and JSON",
      [
        { type: "text", text: "y".repeat(20_000) },
        { type: "json", value: "z".repeat(30_000) },
      ],
    ],
  ])("has its results of %s cut", (_, content) => {
    const fitted = fitting(1_000)([user("go"), result(content)]);
    const shown = String(fitted?.[1] && "content" in fitted[1] && fitted[1].content);
    expect(shown.length).toBeLessThan(2_100);
    expect(shown).toMatch(/\[\d+ characters left out to fit the model's window\]$/);
  });

  it("reads how much of a result is missing", () => {
    const fitted = fitting(1_000)([user("go"), result([{ type: "json", value: "\u{1f600}".repeat(3_000) }])]);
    expect(fitted?.[1]).toMatchObject({ content: expect.stringContaining(`[${6_002 - 499} characters left out`) });
  });

  it.each([1_999, 2_000, 2_001])("is cut in no character after %i others", (before) => {
    const fitted = fitting(1_000)([user("go"), result("a".repeat(before) + "\u{1f600}".repeat(3_000))]);
    expect(JSON.stringify(fitted).isWellFormed() && !/\\ud8/i.test(JSON.stringify(fitted))).toBe(true);
  });

  it("has images of results replaced by a note", () => {
    const messages = [user("go"), result([{ type: "text", text: "seen" }, image(100), image(100)])];
    const fitted = fitting(1_000)(messages);
    expect(fitted?.[1]).toMatchObject({
      content: "seen\n[an image, image/png, left out to fit the model's window]\n[an image, image/png, left out to fit the model's window]",
    });
  });

  it("has images and files of earlier inputs left out, and keeps those of the last one", () => {
    const picture = [{ type: "text", text: "look" }, image(100)] as const;
    const fitted = fitting(2_400 + 30)([user(picture), answer("a cat"), user(picture)]);
    expect(fitted?.[0]).toMatchObject({ content: [{ text: "look" }, { type: "text", text: expect.stringContaining("an image") }] });
    expect(fitted?.[2]).toMatchObject({ content: picture });
  });

  it("counts an image as what vendors bill, not as its bytes", () => {
    expect(unitsOf(result([image(1_000_000)]))).toBe(mediaUnits + 12);
  });

  it("has results cut beyond their budget, while the rest has room", () => {
    const messages = [user("go"), result("x".repeat(9_000)), result("y".repeat(9_000))];
    expect(fitting(10_000)(messages)).toBe(messages);
    const [, first, second] = fitting(10_000, { results: 0.4 })(messages);
    expect([unitsOf(first as Message) < 2_100, second]).toEqual([true, messages[2]]);
  });

  it("has images of earlier inputs left out beyond their budget, while the rest has room", () => {
    const picture = [{ type: "text", text: "look" }, image(100)] as const;
    const messages = [user(picture), answer("a cat"), user(picture), answer("a dog"), user(picture)];
    const shown = fitting(10_000, { attachments: 0.4 })(messages);
    expect(shown.map((message) => textOfAll([message]).includes("left out"))).toEqual([true, false, true, false, false]);
  });

  it("has less shown of the text files of the last input beyond their budget, the largest first, and of no other file; what was cut stays so", () => {
    const stored = (blob: string, sizeBytes: number, mediaType = "text/csv"): ResultPart => ({
      type: "file",
      mediaType,
      name: blob,
      source: { blob, sizeBytes },
    });
    const messages = [
      user([{ type: "text", text: "sum up" }, stored("large", 90_000), stored("small", 3_000), stored("pdf", 9_000, "application/pdf")]),
    ];
    const fit = fitting(20_000, { attachments: 0.5 });
    const [shown] = fit(messages);
    const bounds = partsOf<ResultPart>((shown as UserMessage).content).map(
      (part) => part.type === "file" && part.source.blob !== undefined && part.source.shownBytes,
    );
    expect(bounds).toEqual([false, expect.any(Number), undefined, undefined]);
    expect(unitsOf(shown as Message)).toBeLessThanOrEqual(40_000 * 0.75);
    expect(unitsOf(shown as Message)).toBeGreaterThan(40_000 * 0.7);
    const more = [...messages, answer("done"), user("and?")];
    expect(fitting(20_000, { attachments: 0.5 })(more)[0]).toEqual(shown);
    // What a person has written is not cut for the files beside it.
    const [tight] = fitting(4_000)([user([{ type: "text", text: "x".repeat(3_000) }, stored("large", 90_000)])]);
    expect([textOf(tight as Message).length, unitsOf(tight as Message) <= 16_000]).toEqual([3_000, true]);
  });

  it("B48: has an input cut that alone is ten times too large, at its middle, with a note", () => {
    const shown = fitting(2_000)([user(`begin ${"x".repeat(80_000)} end`)]);
    expect(unitsOfAll(shown)).toBeLessThanOrEqual(8_000);
    expect(textOfAll(shown)).toMatch(/begin x+\\n\[\d+ characters left out to fit the model's window\]\\nx+ end/);
  });

  it("B48: has no character of an input parted", () => {
    for (const before of [0, 1, 2, 3]) {
      const shown = fitting(2_000)([user("a".repeat(before) + "\u{1f600}".repeat(20_000))]);
      expect(textOfAll(shown).isWellFormed() && !/\\ud8/i.test(textOfAll(shown))).toBe(true);
      expect(unitsOfAll(shown)).toBeLessThanOrEqual(8_000);
    }
  });
});

describe("turn by turn", () => {
  /** A history of 60 turns, as it was sent at each of them. */
  function sentTurns(fit: (messages: readonly Message[]) => readonly Message[] | undefined): (readonly Message[])[] {
    const messages: Message[] = [user("go")];
    const sent: (readonly Message[])[] = [];
    for (let turn = 0; turn < 60; turn++) {
      messages.push(answer(`turn ${turn}`), result("x".repeat(2_100 + ((turn * 7_919) % 9_000))));
      sent.push([...(fit(messages) ?? [])]);
    }
    return sent;
  }

  it("what was cut stays cut, as the same object", () => {
    const sent = sentTurns(fitting(40_000));
    for (const [turn, messages] of sent.entries()) {
      for (const [place, message] of (sent[turn - 1] ?? []).entries()) {
        const isCut = JSON.stringify(message).includes("left out to fit");
        if (isCut) expect(messages[place]).toBe(message);
      }
      expect(unitsOfAll(messages)).toBeLessThanOrEqual(160_000);
    }
  });

  it("fits also where every result is cut as far as it usually is, and is cut anew in few turns", () => {
    const sent = sentTurns(fitting(20_000));
    for (const messages of sent) expect(unitsOfAll(messages)).toBeLessThanOrEqual(80_000);
    const changes = sent.filter((messages, turn) => (sent[turn - 1] ?? []).some((message, place) => messages[place] !== message));
    expect(changes.length).toBeLessThanOrEqual(25);
  });

  it("the beginning is cut anew in few turns, so that a vendor's cache of it is of use", () => {
    const sent = sentTurns(fitting(40_000));
    const changes = sent.filter((messages, turn) => (sent[turn - 1] ?? []).some((message, place) => messages[place] !== message));
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.length).toBeLessThanOrEqual(10);
  });

  it("another process that begins with the whole history sends the same", () => {
    const sent = sentTurns(fitting(20_000));
    const messages: Message[] = [user("go")];
    for (let turn = 0; turn < 60; turn++) messages.push(answer(`turn ${turn}`), result("x".repeat(2_100 + ((turn * 7_919) % 9_000))));
    expect(JSON.stringify(fitting(20_000)(messages))).toBe(JSON.stringify(sent.at(-1)));
  });
});
