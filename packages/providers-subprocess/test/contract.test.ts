import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ExecutorUnderTest, executorKit, runKit } from "@loopwright/testing";
import { describe, it } from "vitest";
import { subprocess } from "../src/index.ts";

const player = fileURLToPath(new URL("player.mjs", import.meta.url));

/** How many processes have this argument. */
const processesWith = (mark: string): number =>
  readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").includes(mark);
    } catch {
      return false;
    }
  }).length;

async function make(): Promise<ExecutorUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "loopwright-subprocess-"));
  const mark = randomUUID();
  return {
    play: (turns) => {
      const players = turns.map((turn) => subprocess({ path: process.execPath, args: [player, JSON.stringify(turn), mark], directory }));
      const [first] = players;
      if (!first) throw new Error("There are no turns.");
      let asked = 0;
      return { ...first, stream: (request, io) => (players[asked++] ?? first).stream(request, io) };
    },
    running: () => processesWith(mark),
    patienceMs: 60_000,
  };
}

describe("C29: a program of one's own keeps every promise of an executor", () => runKit(it, executorKit, { make }));
