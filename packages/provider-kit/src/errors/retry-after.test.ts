import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

const now = Date.parse("2026-11-21T10:00:00Z");

describe("retryAfterMs", () => {
  it.each<[Record<string, string>, number | undefined]>([
    [{ "retry-after": "2" }, 2_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": " 7 " }, 7_000],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after-ms": "soon", "retry-after": "9" }, 9_000],
    [{ "retry-after": "-5" }, 0],
    [{ "retry-after": "Sat, 21 Nov 2026 10:00:30 GMT" }, 30_000],
    [{ "retry-after": "Sat, 21 Nov 2026 09:00:00 GMT" }, 0],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": "later" }, undefined],
    [{ "retry-after": "1e400" }, undefined],
    [{ "retry-after": "12 monkeys" }, undefined],
    [{}, undefined],
  ])("reads %j as %s", (headers, expected) => {
    expect(retryAfterMs(new Headers(headers), now)).toBe(expected);
  });

  it("counts a date from the answer's own date where no clock is given", () => {
    const headers = new Headers({ "retry-after": "Sat, 21 Nov 2026 10:00:30 GMT", date: "Sat, 21 Nov 2026 10:00:10 GMT" });
    expect(retryAfterMs(headers)).toBe(20_000);
    headers.delete("date");
    expect(retryAfterMs(headers)).toBeUndefined();
  });

  it("is never negative, broken or thrown for any header", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."0123456789-+.eE :GMTSat,Nov") }), (value) => {
        const wait = retryAfterMs(new Headers({ "retry-after": value }), now);
        expect(wait === undefined || (Number.isFinite(wait) && wait >= 0)).toBe(true);
      }),
    );
  });
});
