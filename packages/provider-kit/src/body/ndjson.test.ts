import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bodyOf, cutAt, pieces } from "../../test/bodies.ts";
import { readNdjson } from "./ndjson.ts";

async function read(body: ReadableStream<Uint8Array>): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const batch of readNdjson(body)) lines.push(...batch);
  return lines;
}

describe("readNdjson", () => {
  it("F2: gives back any values, however the bytes are cut and whichever line end is used", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.json()),
        fc.constantFrom("\n", "\r\n", "\n\n"),
        fc.boolean(),
        fc.array(fc.nat(500)),
        async (values, end, closed, cuts) => {
          const text = values.join(end) + (closed && values.length > 0 ? end : "");
          const lines = await read(bodyOf(cutAt(new TextEncoder().encode(text), cuts)));
          expect(lines.map((line) => JSON.parse(line))).toEqual(values.map((value) => JSON.parse(value)));
        },
      ),
      { numRuns: 200 },
    );
  });

  it("F2: joins a character cut between two reads", async () => {
    expect(await read(bodyOf(pieces('{"t":"𝄞"}\n', 1)))).toEqual(['{"t":"𝄞"}']);
  });

  it("cancels the body when the reader leaves early", async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("1\n")),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of readNdjson(body)) break;
    expect(cancelled).toBe(true);
  });

  it("refuses a line over the limit", async () => {
    const body = bodyOf(pieces("x".repeat(100), 7));
    const reading = (async () => {
      for await (const _ of readNdjson(body, { pendingCharsMax: 50 }));
    })();
    await expect(reading).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
  });
});
