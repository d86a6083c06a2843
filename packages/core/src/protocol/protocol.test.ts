import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  AgentError,
  checkInput,
  compareCursors,
  decodeCursor,
  type ErrorCode,
  encodeCursor,
  errorFromProblem,
  errorTable,
  isAgentError,
  isToolResultMessage,
  isUserMessage,
  problemOf,
} from "./index.ts";

const cursors = fc.record({ seq: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), k: fc.nat() });

describe("a cursor", () => {
  it("is read as it was written, in at most 64 ASCII characters", () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        const text = encodeCursor(cursor);
        expect(decodeCursor(text)).toEqual(cursor);
        expect(text).toMatch(/^[ -~]{1,64}$/);
      }),
    );
  });

  it("has one form only: all other text is refused", () => {
    const others = ["", "1", "1.", ".1", "01.0", "1.00", "+1.0", "-1.0", "1.-1", "1.0 ", "1.0\n", "1e3.0", "1.0.0", "9007199254740992.0"];
    for (const text of [...others, `1.${"0".repeat(64)}`, "٣.0", null, undefined, 1.5, {}])
      expect(decodeCursor(text), String(text)).toBeUndefined();
    fc.assert(
      fc.property(fc.string(), (text) => {
        const cursor = decodeCursor(text);
        expect(cursor === undefined || encodeCursor(cursor) === text).toBe(true);
      }),
    );
  });

  it("is ordered by fact, then by event, as numbers and not as text", () => {
    const ordered = ["1.0", "1.1", "2.0", "9.9", "9.10", "10.0"].map((text) => decodeCursor(text) as { seq: number; k: number });
    expect([...ordered].reverse().sort(compareCursors)).toEqual(ordered);
    expect(compareCursors({ seq: 3, k: 1 }, { seq: 3, k: 1 })).toBe(0);
  });
});

describe("a problem document", () => {
  it("writes every error that exists, and reads it back", () => {
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      const error = new AgentError(code, {
        message: `About ${code}.`,
        retryAfterMs: 5,
        runId: "r1",
        cause: new Error("canary"),
        details: { a: 1 },
      });
      const problem = problemOf(error);
      expect(problem).toMatchObject({ code, status: errorTable[code].status, title: errorTable[code].meaning, fix: errorTable[code].fix });
      expect(problem).toMatchObject({ detail: `About ${code}.`, error: `About ${code}.`, docs: `docs/errors.md#${code.toLowerCase()}` });
      expect(JSON.stringify(problem)).not.toContain("canary");
      const { message, fix, retryable, retryAfterMs, runId } = error;
      const back = errorFromProblem(JSON.parse(JSON.stringify(problem)));
      expect(isAgentError(back, code)).toBe(true);
      expect(back).toMatchObject({ message, fix, retryable, retryAfterMs, runId });
    }
  });

  it("sends no control sequence to a terminal", () => {
    const { detail, error } = problemOf(
      new AgentError("AGENT_NOT_FOUND", { message: "No\u001b]52;c;\u009b2J\r\u202e\u0000\tagent\n`x`." }),
    );
    expect(detail).toBe("No\uFFFD]52;c;\uFFFD2J\uFFFD\uFFFD\uFFFD\tagent\n`x`.");
    expect(error).toBe(detail);
  });

  it("links to the docs page of the deployment that serves it", () => {
    const { docs } = problemOf(new AgentError("SESSION_BUSY", { message: "x" }), { docsPage: "https://docs.example/errors" });
    expect(docs).toBe("https://docs.example/errors#session_busy");
  });

  it("of a newer version keeps its words and its code beside INTERNAL", () => {
    const back = errorFromProblem({ code: "MOON_FULL", detail: "The moon is full.", retryable: true, fix: "Wait." });
    expect(back).toMatchObject({
      code: "INTERNAL",
      message: "The moon is full.",
      retryable: true,
      fix: "Wait.",
      details: { code: "MOON_FULL" },
    });
    expect(errorFromProblem({ code: "toString", detail: "x" }).code).toBe("INTERNAL");
  });

  it("may be missing: what came instead is not repeated", () => {
    for (const json of [undefined, null, "<html>secret</html>", 7, [], {}, { code: 7, detail: "secret" }, { error: "secret" }]) {
      const error = errorFromProblem(json);
      expect(error.code).toBe("INTERNAL");
      expect(`${error.message} ${error.fix}`).not.toContain("secret");
    }
  });
});

const image = { type: "image", mediaType: "image/png", source: { data: "AAAA" } };
const result = { role: "tool_result", toolCallId: "c1", content: "blue" };

describe("an input", () => {
  it("is text, a user message, results, or a message to answer again", () => {
    const good = [
      "hello",
      { role: "user", content: "hello" },
      { role: "user", content: [{ type: "text", text: "look" }, image, { type: "json", value: null }] },
      {
        role: "user",
        content: [{ type: "file", mediaType: "application/pdf", name: "a.pdf", source: { url: "https://example.com/a.pdf" } }],
      },
      [result, { ...result, callKey: "r.1.0", content: [{ type: "json", value: [1] }], isError: true, outcome: "error", durationMs: 3 }],
      { regenerate: "4" },
    ];
    for (const input of good) expect(checkInput(input).value).toBe(input);
  });

  it("is checked once: what has been checked is given back as it is", () => {
    const checked = checkInput([result]);
    expect(checkInput(checked)).toBe(checked);
    expect(checked.results).toBe(checked.value);
    expect(() => checkInput({ ...checked, value: { role: "user" } })).toThrow("neither text");
    expect(() => checkInput(Object.create(checked))).toThrow("neither text");
  });

  it("keeps the fields that this build knows, of messages, their parts and the sources of these", () => {
    const later = { later: { deep: [1] } };
    const source = { data: "AAAA" };
    const content = [
      { ...image, ...later, source: { ...source, ...later } },
      { type: "text", text: "x", ...later },
    ];
    const known = [
      { ...image, source },
      { type: "text", text: "x" },
    ];
    expect(checkInput({ role: "user", content, ...later }).value).toEqual({ role: "user", content: known });
    expect(checkInput([{ ...result, content, ...later }]).value).toEqual([{ ...result, content: known }]);
    expect(checkInput({ regenerate: "4", ...later }).value).toEqual({ regenerate: "4" });
  });

  it.each([
    [undefined, /not JSON/],
    [7, /neither text/],
    [null, /neither text/],
    ["  ", /the text is empty/],
    [[], /list of results is empty/],
    [{ role: "assistant", content: "x" }, /neither text/],
    [{ role: "user" }, /`content` is neither/],
    [{ role: "user", content: "" }, /empty/],
    [{ role: "user", content: [] }, /empty/],
    [{ role: "user", content: ["x"] }, /item 0: it is no object/],
    [{ role: "user", content: [{ type: "text", text: "x" }, { type: "text" }] }, /item 1: `text` is no text/],
    [{ role: "user", content: [{ type: "thinking", text: "x" }] }, /none of text, image, file and json/],
    [{ role: "user", content: [{ type: "json" }] }, /`value` is missing/],
    [{ role: "user", content: [{ ...image, mediaType: "png" }] }, /`mediaType`/],
    [{ role: "user", content: [{ ...image, source: {} }] }, /exactly one/],
    [{ role: "user", content: [{ ...image, source: { data: "A", url: "https://x" } }] }, /exactly one/],
    [{ role: "user", content: [{ ...image, source: { data: 7 } }] }, /`source.data` is no text/],
    [{ role: "user", content: [{ ...image, source: { data: "data:image/png;base64,AAAA" } }] }, /without its `data:` prefix/],
    [{ role: "user", content: [{ ...image, source: { url: "file:///etc/passwd" } }] }, /no https/],
    [{ role: "user", content: [{ ...image, type: "file", name: 7 }] }, /`name`/],
    [[result, "x"], /item 1: it is no message of role/],
    [[{ ...result, toolCallId: "" }], /item 0: `toolCallId` is missing/],
    [[{ ...result, callKey: 7 }], /`callKey`/],
    [[{ ...result, isError: "yes" }], /`isError`/],
    [[{ ...result, content: undefined }], /`content`/],
    [[{ ...result, toolName: 7 }], /`toolName`/],
    [[{ ...result, outcome: "great" }], /`outcome`/],
    [[{ ...result, durationMs: "long" }], /`durationMs`/],
    [{ role: "user", content: [{ type: "text", text: "x", opaque: { vendor: "v" } }] }, /`opaque`/],
    [{ regenerate: 4 }, /`regenerate`/],
    [JSON.parse('{"role":"user","content":"x","__proto__":{}}'), /forbidden key/],
    [{ role: "user", content: "x", more: () => 1 }, /not JSON/],
    [{ role: "user", content: [{ type: "json", value: JSON.parse(`${"[".repeat(70)}${"]".repeat(70)}`) }] }, /deeper than 64/],
  ])("like %j is refused with its reason", (input, reason) => {
    expect(() => checkInput(input)).toThrow(reason);
    try {
      checkInput(input);
    } catch (error) {
      expect(isAgentError(error, "INPUT_INVALID")).toBe(true);
    }
  });

  it("is recognised by its role", () => {
    expect([isUserMessage({ role: "user", content: "x" }), isUserMessage(result), isUserMessage("x")]).toEqual([true, false, false]);
    expect([isToolResultMessage(result), isToolResultMessage({ role: "user", content: "x" })]).toEqual([true, false]);
  });

  it("never makes a guard throw", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(typeof isUserMessage(value)).toBe("boolean");
        expect(typeof isToolResultMessage(value)).toBe("boolean");
      }),
    );
  });
});
