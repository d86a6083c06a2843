import { median } from "../median.ts";
import type { Row } from "../row.ts";
import { bundleKb, longSession, type PageResults, shortSession } from "./measure-page.ts";

const frameGoalMs = 4;
const bundleGoalKb = 200;

const spreadOf = (values: readonly number[]): string =>
  values.length < 2 ? "" : `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;

/** What the page costs, in the order of the table. */
export function pageRows({ firstPaintMs, frameMs }: PageResults): readonly Row[] {
  const long = frameMs[longSession] ?? [];
  const short = frameMs[shortSession] ?? [];
  const size = bundleKb();
  return [
    {
      id: "page-frame",
      title: "main thread, each frame of an answer of 50 deltas a second, session of 2,000 messages",
      basis: `${median(short).toFixed(2)} ms in a session of ${shortSession}`,
      format: "ms",
      loopwright: { value: median(long), goal: frameGoalMs },
      spread: spreadOf(long),
    },
    {
      id: "page-paint",
      title: "first contentful paint, nothing cached, over the loopback",
      basis: "",
      format: "ms",
      loopwright: { value: median(firstPaintMs) },
      spread: spreadOf(firstPaintMs),
    },
    {
      id: "page-size",
      title: "initial load, gzip",
      basis: `${size.all.toFixed(0)} KB with all that comes on demand`,
      format: "KB",
      loopwright: { value: size.initial, goal: bundleGoalKb },
    },
  ];
}
