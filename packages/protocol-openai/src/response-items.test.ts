import type { AgentEvent } from "@loopwright/core/protocol";
import { simulatedRuns } from "@loopwright/testing";
import fc from "fast-check";
import { accumulateResponse } from "openai/lib/responses/ResponseAccumulator";
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import { expect, it } from "vitest";
import { framesAfter, type ItemFrame, ResponseItems } from "./response-items.ts";
import { type ResponseItem, responseOf } from "./response-object.ts";

const head = { id: "resp_simulated.run.1", createdAt: 0, model: "helper" };

/** The frames of a whole response. */
function framesOf(events: readonly AgentEvent[]): readonly ItemFrame[] {
  const items = new ResponseItems({ seq: 1, isFormed: false });
  const begun: ItemFrame = {
    type: "response.created",
    sequence_number: 0,
    response: responseOf(head, { status: "in_progress", output: [] }),
  };
  const frames = [begun, ...events.flatMap((event) => items.take(event))];
  const response = responseOf(head, { status: "completed", output: items.output });
  return [...frames, { type: "response.completed", sequence_number: items.next(), response }];
}

/** What the SDK's own accumulator makes of frames. It throws where one is not legal at its place. */
function accumulated(frames: readonly ItemFrame[]): Response {
  let response: Response | undefined;
  for (const frame of frames) response = accumulateResponse(frame as unknown as ResponseStreamEvent, response);
  if (!response) throw new Error("There is no response.");
  return response;
}

/** The text of each item, by its id, as the deltas give it. */
function textsOf(frames: readonly ItemFrame[]): readonly (readonly [string, string])[] {
  const texts = new Map<string, string>();
  for (const { delta, item_id: id } of frames) if (delta !== undefined) texts.set(String(id), (texts.get(String(id)) ?? "") + delta);
  return [...texts];
}

/** Attempts of the items with these ids. */
const attemptsOf = (ids: readonly string[]): ReadonlySet<string> => new Set(ids.map((id) => id.split("_")[2] ?? ""));

const partsOf = (output: Response["output"] | readonly ResponseItem[]): readonly (readonly [string, string])[] =>
  output.map(({ id, content }: { readonly id?: unknown; readonly content?: unknown }) => {
    const [part] = content as readonly [{ readonly text: string }];
    return [String(id), part.text];
  });

const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });
// The same sessions in each run of the tests.
const runs = { numRuns: 60, seed: 16 };

it("gives a stream of any simulated run that the SDK accepts, with the texts of its transcript", () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      for (const { events, messages } of simulatedRuns(seed)) {
        const frames = framesOf(events);
        const numbers = frames.map(({ sequence_number }) => sequence_number);
        expect(numbers.every((number, at) => at === 0 || number > (numbers[at - 1] as number))).toBe(true);
        const { output } = accumulated(frames);
        const recorded = messages.flatMap(({ message }) => (message.role === "assistant" ? message.content : []));
        const wanted = recorded.flatMap((part) =>
          (part.type === "text" || part.type === "thinking") && part.text !== "" ? [part.text] : [],
        );
        expect(partsOf(output).map(([, text]) => text)).toEqual(wanted);
        const kept = new Map(partsOf(output));
        expect(textsOf(frames).filter(([id]) => kept.has(id))).toEqual([...kept]);
      }
    }),
    runs,
  );
});

it("continues after a cut at any number from the log, where letters have other deltas: nothing is lost and nothing comes twice", () => {
  let cuts = 0;
  fc.assert(
    fc.property(seeds, fc.nat(), (seed, at) => {
      for (const { events } of simulatedRuns(seed)) {
        const live = framesOf(events);
        const logged = framesOf(events.filter((event) => "seq" in event));
        const { response } = logged.at(-1) as ItemFrame & { readonly response: Response };
        const whole = partsOf(response.output);
        const kept = new Map(whole);
        // A text that is replaced within an attempt is not in the log at all. The simulator does that; a driver discards the attempt.
        const replaced = attemptsOf(textsOf(live).flatMap(([id]) => (kept.has(id) ? [] : [id])));
        if ([...attemptsOf([...kept.keys()])].some((attempt) => replaced.has(attempt))) continue;
        const had = live.slice(0, (at % live.length) + 1);
        const rest = framesAfter(logged, had.at(-1)?.sequence_number ?? 0);
        expect(textsOf([...had, ...rest]).filter(([id]) => kept.has(id))).toEqual(whole);
        cuts += 1;
      }
    }),
    runs,
  );
  expect(cuts).toBeGreaterThan(60);
});
