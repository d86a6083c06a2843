import { expect, test } from "vitest";
import { VirtualTerminal } from "../../test/virtual-terminal.ts";
import { createLiveRegion, type LiveFrame } from "./live-region.ts";

const frame = (finished: readonly string[], live: readonly string[], column = 0): LiveFrame => ({
  finished,
  live,
  cursor: { row: live.length - 1, column },
});

test("finished lines stand above the live ones, in their order", async () => {
  const terminal = new VirtualTerminal(40, 10);
  const region = createLiveRegion(terminal);
  region.draw(frame([], ["live a", "> "]));
  region.draw(frame(["one", "two"], ["live b", "> x"], 3));
  region.draw(frame(["three"], ["> xy"], 4));
  expect(await terminal.lines()).toEqual(["one", "two", "three", "> xy"]);
  expect(await terminal.cursor()).toEqual({ line: "> xy", column: 4 });
});

test("more finished lines than the terminal has rows all reach the scrollback", async () => {
  const terminal = new VirtualTerminal(40, 5);
  const region = createLiveRegion(terminal);
  const lines = Array.from({ length: 50 }, (_, at) => `line ${at}`);
  region.draw(frame([], ["live", "> "]));
  region.draw(frame(lines, ["live", "> "]));
  expect(await terminal.lines()).toEqual([...lines, "live", "> "]);
});

test("live lines may grow, shrink and change at the last row of the terminal", async () => {
  const terminal = new VirtualTerminal(40, 6);
  const region = createLiveRegion(terminal);
  const done = ["a", "b", "c", "d", "e"];
  region.draw(frame(done, ["1"]));
  region.draw(frame([], ["1", "2", "3"]));
  region.draw(frame([], ["1", "2", "3", "4"]));
  region.draw(frame([], ["1", "x"]));
  region.draw(frame(["f"], ["1", "2", "3"]));
  expect(await terminal.lines()).toEqual([...done, "f", "1", "2", "3"]);
});

test("clearing leaves the finished lines alone", async () => {
  const terminal = new VirtualTerminal(40, 6);
  const region = createLiveRegion(terminal);
  region.draw(frame(["a"], ["1", "2"]));
  region.clear();
  terminal.write("behind\r\n");
  expect(await terminal.lines()).toEqual(["a", "behind"]);
});

test("a frame that changes nothing writes nothing, and rows that did not change are not written", async () => {
  const terminal = new VirtualTerminal(40, 10);
  const region = createLiveRegion(terminal);
  region.draw(frame([], ["a".repeat(30), "b", "> "]));
  region.draw(frame([], ["a".repeat(30), "b", "> "]));
  expect(terminal.written).toHaveLength(1);
  region.draw(frame([], ["a".repeat(30), "c", "> "]));
  expect(terminal.written[1]).not.toContain("aaa");
  expect(await terminal.lines()).toEqual(["a".repeat(30), "c", "> "]);
});

test("every frame stands between the marks of synchronized output", () => {
  const terminal = new VirtualTerminal();
  const region = createLiveRegion(terminal);
  region.draw(frame(["a"], ["b"]));
  region.draw(frame([], ["c"]));
  for (const text of terminal.written) expect(text.startsWith("\u001b[?2026h") && text.endsWith("\u001b[?2026l")).toBe(true);
});

test.each([
  [60, 20],
  [25, 20],
  [60, 8],
  [25, 30],
])("a terminal resized to %i x %i keeps every finished line", async (columns, rows) => {
  const terminal = new VirtualTerminal(40, 12);
  const region = createLiveRegion(terminal);
  const done = Array.from({ length: 20 }, (_, at) => `finished line number ${at} of twenty`);
  region.draw(frame(done, ["live one", "a live line of thirty-five columns.", "> typed"], 7));
  await terminal.resize(columns, rows);
  region.draw(frame(["after"], ["live two", "> typed"], 7));
  expect(await terminal.lines()).toEqual([...done, "after", "live two", "> typed"]);
});
