import { describe, expect, it } from "vitest";
import { listen } from "../src/node/listen.ts";
import { type BusyCuts, busyCuts } from "./busy-cuts.ts";
import { openBusyScene } from "./busy-scene.ts";
import { connectOverPort } from "./connect-over-port.ts";
import { clientCuts } from "./cut-client.ts";
import { listenWithWebStreams } from "./listen-with-web-streams.ts";
import { feedDefects, spoiledSinks } from "./spoiled-sink.ts";

/** More by `LOOPWRIGHT_CUTS=50000`, others by `LOOPWRIGHT_SEED`. A flaw names its seed. */
const cutsWanted = Number(process.env["LOOPWRIGHT_CUTS"] ?? 600);
const firstSeed = Number(process.env["LOOPWRIGHT_SEED"] ?? 1);

interface Sum {
  cuts: number;
  seeds: number;
  wholeTexts: number;
  wholeOutputs: number;
  snapshots: number;
  readonly deeds: { [deed: string]: number };
  readonly flaws: string[];
}

/** What people do in busy sessions. A session is short: a few of them may lack the rarer ones. */
const deeds = ["say", "steer", "interrupt", "abort", "answer", "regenerate"];
const seedsMax = 12;

/** Busy sessions, seed after seed, until so many connections were cut and each of the deeds was done, or something is wrong. */
async function sumOfCuts(cuts: number, play: (seed: number) => Promise<BusyCuts>, wanted: readonly string[] = []): Promise<Sum> {
  const sum: Sum = { cuts: 0, seeds: 0, wholeTexts: 0, wholeOutputs: 0, snapshots: 0, deeds: {}, flaws: [] };
  const isEnough = (): boolean => sum.cuts >= cuts && (sum.seeds >= seedsMax || wanted.every((deed) => deed in sum.deeds));
  for (let seed = firstSeed; !isEnough() && sum.flaws.length === 0; seed++) {
    const played = await play(seed).catch((cause: unknown) => {
      throw new Error(`Seed ${seed} failed.`, { cause });
    });
    sum.cuts += played.tally.cuts;
    sum.seeds += 1;
    sum.wholeTexts += played.counts.wholeTexts;
    sum.wholeOutputs += played.counts.wholeOutputs;
    sum.snapshots += played.counts.snapshots;
    for (const [deed, count] of Object.entries(played.deeds)) sum.deeds[deed] = (sum.deeds[deed] ?? 0) + count;
    sum.flaws.push(...played.flaws.map((flaw) => `seed ${seed}: ${flaw}`));
  }
  return sum;
}

describe("connections that are cut at any byte", () => {
  it("leave every reader with the log, each event once and in order, and the text that was committed", async () => {
    const sum = await sumOfCuts(cutsWanted, (seed) => busyCuts(seed), deeds);
    expect(sum.flaws).toEqual([]);
    expect(sum.cuts).toBeGreaterThanOrEqual(cutsWanted);
    // Not for want of anything to go wrong.
    expect(sum.wholeTexts).toBeGreaterThan(sum.seeds * 10);
    expect(sum.wholeOutputs).toBeGreaterThan(sum.seeds);
    expect(sum.snapshots).toBeGreaterThan(sum.seeds * 20);
    expect(Object.keys(sum.deeds)).toEqual(expect.arrayContaining(deeds));
  });

  it.each([
    ["the sinks of the Node.js adapter", listen],
    ["web streams", listenWithWebStreams],
  ] as const)("do so over sockets too, through %s", async (_, serve) => {
    const sum = await sumOfCuts(100, async (seed) => {
      const scene = openBusyScene(seed);
      const listening = await serve(scene.door);
      try {
        return await busyCuts(seed, { scene, connectTo: () => connectOverPort(listening.url), readers: 3, deeds: 8 });
      } finally {
        await listening.close();
      }
    });
    expect(sum.flaws).toEqual([]);
    expect(sum.cuts).toBeGreaterThanOrEqual(100);
    expect(sum.wholeTexts).toBeGreaterThan(0);
  });

  it("do so while the store is away now and then", async () => {
    let faults = 0;
    const sum = await sumOfCuts(cutsWanted / 5, async (seed) => {
      const scene = openBusyScene(seed, { mayHang: false, faultShare: 0.02 });
      const played = await busyCuts(seed, { scene, readers: 3, deeds: 12 });
      faults += scene.faulty.faults;
      return played;
    });
    expect(sum.flaws).toEqual([]);
    expect(faults).toBeGreaterThanOrEqual(sum.seeds);
  });

  it("leave the client with the log and the view that a snapshot gives", async () => {
    for (let seed = firstSeed; seed < firstSeed + 2; seed++) {
      const { cuts, flaws } = await clientCuts(seed);
      expect(flaws, `seed ${seed}`).toEqual([]);
      expect(cuts, `seed ${seed}`).toBeGreaterThan(20);
    }
  });
});

describe("the suite", () => {
  it.each(Object.entries(feedDefects))("notices that %s", async (_, defect) => {
    const spoil = defect();
    const scene = openBusyScene(firstSeed, { spoil: (openSink) => spoiledSinks(openSink, spoil) });
    const { flaws } = await busyCuts(firstSeed, { scene, readers: 3, deeds: 10 });
    expect(flaws.length).toBeGreaterThan(0);
  });
});
