import { manualClock, seededIds } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { defaultServerLimits } from "../server-limits.ts";
import { createStreamRegistry } from "./create-stream-registry.ts";
import type { EventSink } from "./event-sink.ts";
import { openWebSink } from "./web-sink.ts";

const limits = { ...defaultServerLimits, streamsPerPrincipal: 2, streamsPerScope: 3, streams: 4 };
const principal = (user: string, scope = "one") => ({ user, scope });

function registry() {
  const clock = manualClock();
  return { clock, streams: createStreamRegistry(limits, { clock, ids: seededIds(1) }) };
}

const openStream = (): { sink: EventSink; response: Response } => openWebSink({ status: 200, headers: new Headers() });

describe("the registry of streams", () => {
  it("refuses one more of a principal, of a scope and of the server, with CONNECTION_LIMIT", () => {
    const { streams } = registry();
    streams.take(principal("a"));
    streams.take(principal("a"));
    expect(() => streams.take(principal("a"))).toThrow(expect.objectContaining({ code: "CONNECTION_LIMIT" }));
    streams.take(principal("b"));
    expect(() => streams.take(principal("c"))).toThrow(expect.objectContaining({ code: "CONNECTION_LIMIT" }));
    streams.take(principal("a", "two"));
    expect(() => streams.take(principal("b", "two"))).toThrow(expect.objectContaining({ code: "CONNECTION_LIMIT" }));
    expect(streams.open).toBe(4);
  });

  it("gives a place back once, when its stream is over", () => {
    const { streams } = registry();
    const place = streams.take(principal("a"));
    const { sink } = openStream();
    place.hold(sink);
    sink.end();
    place.release();
    expect(streams.open).toBe(0);
  });

  it("keeps a quiet stream awake, and ends it when it is old", async () => {
    const { clock, streams } = registry();
    const { sink, response } = openStream();
    streams.take(principal("a")).hold(sink);
    const text = response.text();
    for (let minute = 0; minute < 20 && streams.open > 0; minute++) {
      await clock.advance(60_000);
    }
    expect(await text).toMatch(/^(: ping\n\n)+$/);
    expect(streams.open).toBe(0);
  });
});
