import { describe, expect, it } from "vitest";
import { AgentError } from "../errors.ts";
import { collectOutput } from "./collect-tool-output.ts";
import type { ToolReturn } from "./tool.ts";

const text = (value: string) => ({ type: "text", text: value });

async function collect(returned: unknown, options: { outputMax?: number; abandon?: AbortSignal } = {}) {
  const deltas: string[] = [];
  const warnings: string[] = [];
  const onDelta = (delta: string) => deltas.push(delta);
  const onWarning = (warning: string) => warnings.push(warning);
  const result = await collectOutput(returned as ToolReturn, { name: "probe", onDelta, onWarning, ...options });
  return { result, deltas, warnings };
}

function makeGate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe("what a tool returned", () => {
  const completion = { type: "complete", output: "seven", details: { rows: 7 }, summary: "7" };
  async function* streaming() {
    yield { type: "delta", delta: "se" };
    yield "ven";
  }
  it.each([
    ["a value", () => "seven"],
    ["a promise", async () => "seven"],
    ["a completion", () => ({ type: "complete", output: "seven" })],
    ["a promise of a completion", async () => ({ type: "complete", output: "seven" })],
    ["a stream of deltas", streaming],
    ["a promise of a stream", async () => streaming()],
    [
      "a stream that completes",
      async function* () {
        yield "thinking";
        yield { type: "complete", output: "seven" };
      },
    ],
    [
      "a stream that returns",
      async function* () {
        yield "thinking";
        return "seven";
      },
    ],
    [
      "a generator that is not asynchronous",
      function* () {
        yield "seven";
      },
    ],
  ])("as %s ends in the same result", async (_, execute) => {
    expect((await collect(execute())).result).toEqual({ outcome: "ok", output: [text("seven")] });
  });

  it("hands on each delta in order before the result", async () => {
    const { result, deltas } = await collect(streaming());
    expect(deltas).toEqual(["se", "ven"]);
    expect(result.output).toEqual([text("seven")]);
  });

  it("carries details and summary beside the output", async () => {
    expect((await collect(completion)).result).toEqual({ outcome: "ok", output: [text("seven")], details: { rows: 7 }, summary: "7" });
  });

  it("counts only what came before and with the completion, and warns of the rest", async () => {
    async function* late() {
      yield { type: "complete", output: "done" };
      yield "late";
      yield { type: "complete", output: "again" };
      return "and again";
    }
    const { result, deltas, warnings } = await collect(late());
    expect(result).toEqual({ outcome: "ok", output: [text("done")] });
    expect(deltas).toEqual([]);
    expect(warnings).toEqual(["Tool `probe`: 2 events after the completion were ignored."]);
  });

  it("may be a generator that gives nothing at all", async () => {
    async function* silent() {}
    expect((await collect(silent())).result).toEqual({ outcome: "ok", output: [text("(no output)")] });
  });

  it.each([[undefined], [""], [{ type: "complete" }], [[text("")]]])("is never an empty result: %j", async (returned) => {
    expect((await collect(returned)).result).toEqual({ outcome: "ok", output: [text("(no output)")] });
  });

  it.each([[null], [0], [false], [[]], [["a", 1]], [{ a: { b: [1] } }], [{ type: "text", text: "one part, no list" }]])(
    "is JSON when it is no text: %j",
    async (value) => {
      expect((await collect(value)).result).toEqual({ outcome: "ok", output: [{ type: "json", value }] });
    },
  );

  it("is taken as data when it only looks like a completion", async () => {
    const value = { type: "complete", percent: 100 };
    expect((await collect(value)).result.output).toEqual([{ type: "json", value }]);
  });

  it("keeps parts as they are", async () => {
    const parts = [
      text("a"),
      { type: "image", mediaType: "image/png", source: { data: "aGk=" } },
      { type: "file", mediaType: "text/plain", name: "a.txt", source: { url: "https://example.org/a.txt" } },
      { type: "json", value: { a: 1 } },
    ];
    expect((await collect(parts)).result).toEqual({ outcome: "ok", output: parts });
  });

  it("turns dates and other values with toJSON into what they give", async () => {
    expect((await collect({ at: new Date(0), none: undefined })).result.output).toEqual([
      { type: "json", value: { at: "1970-01-01T00:00:00.000Z" } },
    ]);
  });
});

describe("a value that is no JSON", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const bush = Array.from({ length: 40 }).reduce<unknown>((below) => [below, below], 1);
  const deep = Array.from({ length: 70 }).reduce<unknown>((below) => [below], 1);
  const trap = {
    get boom() {
      throw new Error("no");
    },
  };
  it.each([
    ["a function", { a: { b: () => 1 } }, "a function at `a.b`"],
    ["a bigint", [1n], "a bigint at `[0]`"],
    ["a symbol", Symbol("x"), "a symbol"],
    ["a number that is not finite", { mean: Number.NaN }, "the number NaN at `mean`"],
    ["a cycle", cycle, "one that holds itself"],
    ["a bush of shared branches", bush, "more than 1000000 values"],
    ["a tower", deep, "deeper than 64 levels"],
    ["a forbidden key", JSON.parse('{"a":{"__proto__":1}}'), 'the forbidden key "__proto__" at `a`'],
    ["a map", { rows: new Map([[1, 2]]) }, "a Map at `rows`"],
    ["bytes", { rows: new Uint8Array(3) }, "a Uint8Array at `rows`"],
    ["a getter that throws", trap, "throws when it is read"],
  ])("(%s) is a failure with the position", async (_, value, where) => {
    const { result } = await collect(value);
    expect(result.outcome).toBe("error");
    expect(result.failure?.code).toBe("TOOL_FAILED");
    expect(result.failure?.message).toContain(where);
    expect(result.failure?.message).toContain("The tool `probe` ran, but its output is not JSON");
  });

  it("in the details is dropped with a warning, and the output stays", async () => {
    const { result, warnings } = await collect({ type: "complete", output: "ok", details: { f: () => 1 } });
    expect(result).toEqual({ outcome: "ok", output: [text("ok")] });
    expect(warnings).toEqual(["Tool `probe`: its details were dropped: they hold a function at `details.f`."]);
  });

  it("that is a lone surrogate is replaced, in values, keys, parts and deltas", async () => {
    expect((await collect("a\uD800b")).result.output).toEqual([text("a\uFFFDb")]);
    expect((await collect({ "\uDC00": ["\uD800"] })).result.output).toEqual([{ type: "json", value: { "\uFFFD": ["\uFFFD"] } }]);
    expect((await collect([text("\uDC00")])).result.output).toEqual([text("\uFFFD")]);
    async function* halves() {
      yield "a\uD83D";
      yield "\uDE00b\uD83D";
    }
    const { result, deltas } = await collect(halves());
    expect(deltas).toEqual(["a", "\u{1F600}b", "\uFFFD"]);
    expect(result.output).toEqual([text("a\u{1F600}b\uFFFD")]);
  });
});

describe("a tool that throws", () => {
  it("after deltas leaves its partial output beside the error", async () => {
    async function* half() {
      yield "one ";
      yield "two";
      throw new Error("disk on fire");
    }
    const { result } = await collect(half());
    expect(result).toEqual({
      outcome: "error",
      output: [text("one two"), text("TOOL_FAILED: The tool `probe` failed.")],
      failure: { code: "TOOL_FAILED", message: "The tool `probe` failed.", retryable: false },
    });
  });

  it("from a promise is a result like any other", async () => {
    const { result } = await collect(Promise.reject(new AgentError("INVALID_PATH", { message: "No.", fix: "Try `a`." })));
    expect(result.output).toEqual([text("INVALID_PATH: No. Try `a`.")]);
    expect(result.failure).toEqual({ code: "INVALID_PATH", message: "No.", retryable: false });
  });

  it("after its completion keeps its result", async () => {
    async function* late() {
      yield { type: "complete", output: "done" };
      throw new Error("too late");
    }
    const { result, warnings } = await collect(late());
    expect(result).toEqual({ outcome: "ok", output: [text("done")] });
    expect(warnings).toHaveLength(1);
  });

  it("or yields a value of an unknown kind is closed and fails", async () => {
    let cleaned = false;
    async function* strange() {
      try {
        yield { type: "progress", done: 1 };
      } finally {
        cleaned = true;
      }
    }
    const { result } = await collect(strange());
    expect(result.failure?.message).toContain("neither a delta nor a completion");
    expect(cleaned).toBe(true);
  });
});

describe("the output limit", () => {
  it("cuts text and names how much is missing", async () => {
    const { result } = await collect("a".repeat(101), { outputMax: 100 });
    expect(result.output).toEqual([text("a".repeat(100)), text("[output cut: 1 of 101 characters left out]")]);
  });

  it("cuts JSON to the beginning of its text", async () => {
    const { result } = await collect({ list: [1, 2, 3] }, { outputMax: 8 });
    expect(result.output).toEqual([text('{"list":'), text("[output cut: 8 of 16 characters left out]")]);
  });

  it("counts over all parts and leaves images alone", async () => {
    const image = { type: "image", mediaType: "image/png", source: { data: "aaaaaaaaaa" } };
    const { result } = await collect([text("1234"), image, text("5678"), text("9")], { outputMax: 6 });
    expect(result.output).toEqual([text("1234"), image, text("56"), text("[output cut: 3 of 9 characters left out]")]);
  });

  it("never parts a surrogate pair", async () => {
    const { result } = await collect("ab\u{1F600}", { outputMax: 3 });
    expect(result.output[0]).toEqual(text("ab"));
  });

  it("holds for deltas, of which nothing behind the cut is kept or handed on", async () => {
    async function* long() {
      yield "12345";
      yield "678\u{1F600}";
      yield "x";
    }
    const { result, deltas } = await collect(long(), { outputMax: 9 });
    expect(deltas).toEqual(["12345", "678"]);
    expect(result.output).toEqual([text("12345678"), text("[output cut: 3 of 11 characters left out]")]);
  });

  it("stops a generator that never pauses and never ends", async () => {
    let closed = false;
    async function* endless() {
      try {
        for (;;) yield "";
      } finally {
        closed = true;
      }
    }
    const { result } = await collect(endless());
    expect(result.failure).toMatchObject({ code: "TOOL_FAILED", message: expect.stringContaining("more than 1000000 events") });
    expect(closed).toBe(true);
  });

  it("stops a flood of characters without keeping them", async () => {
    const piece = "x".repeat(1_000_000);
    async function* flood() {
      for (;;) yield piece;
    }
    const { result } = await collect(flood());
    expect(result.failure?.message).toContain("more than 64000000 characters");
    expect(JSON.stringify(result).length).toBeLessThan(102_000);
  });
});

describe("an abandoned tool", () => {
  it("that hangs yields its partial output and the reason at once", async () => {
    const abandon = new AbortController();
    const deltas: string[] = [];
    async function* hanging() {
      yield "half";
      await new Promise(() => {});
    }
    const pending = collectOutput(hanging() as ToolReturn, {
      name: "probe",
      onDelta(delta) {
        deltas.push(delta);
        abandon.abort(new AgentError("TOOL_TIMEOUT", { message: "Too slow." }));
      },
      abandon: abandon.signal,
    });
    expect(await pending).toMatchObject({ outcome: "error", output: [text("half"), {}], failure: { code: "TOOL_TIMEOUT" } });
    expect(deltas).toEqual(["half"]);
  });

  it("for an abort ends as aborted, and later deltas go nowhere", async () => {
    const abandon = new AbortController();
    const [started, gate, ended] = [makeGate(), makeGate(), makeGate()];
    async function* stubborn() {
      started.open();
      await gate.opened;
      try {
        yield "late";
      } finally {
        ended.open();
      }
    }
    const pending = collect(stubborn(), { abandon: abandon.signal });
    await started.opened;
    abandon.abort(new AgentError("RUN_ABORTED", { message: "Stopped." }));
    const { result, deltas } = await pending;
    expect(result).toMatchObject({ outcome: "aborted", failure: { code: "RUN_ABORTED" } });
    gate.open();
    await ended.opened;
    expect(deltas).toEqual([]);
  });

  it("that was not yet started is never started", async () => {
    let hasStarted = false;
    async function* eager() {
      hasStarted = true;
      yield "x";
    }
    const reason = new AgentError("RUN_ABORTED", { message: "Stopped." });
    const { result } = await collect(eager(), { abandon: AbortSignal.abort(reason) });
    expect(result.outcome).toBe("aborted");
    expect(hasStarted).toBe(false);
  });

  it("that had completed keeps its result", async () => {
    const abandon = new AbortController();
    async function* lingering() {
      yield { type: "complete", output: "done" };
      abandon.abort(new AgentError("TOOL_TIMEOUT", { message: "Too slow." }));
      await new Promise(() => {});
    }
    expect((await collect(lingering(), { abandon: abandon.signal })).result).toEqual({ outcome: "ok", output: [text("done")] });
  });
});
