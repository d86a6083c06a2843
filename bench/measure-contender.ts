/* One process, one contender, one scene: `measure-contender.ts <contender> <scene> <server> [database] [--profile]`. Prints JSON. */
import { statSync } from "node:fs";
import { type Conversation, contenderNames, type Open, type Opening } from "./contenders/contender.ts";
import { checkConversation, checkTools, type Observed } from "./expectation.ts";
import type { Measurement } from "./measurement.ts";
import { median } from "./median.ts";
import { createProfiler } from "./profiler.ts";
import { type Scene, scenes } from "./scenes.ts";
import { benchTools, emptyRecord, type ToolRecord } from "./tools.ts";
import { youngScenes } from "./young-scenes.ts";

const [contenderName, sceneId, server, ...more] = process.argv.slice(2);
const contender = contenderNames.find((name) => name === contenderName);
const scene = [...scenes, ...youngScenes].find(({ id }) => id === sceneId);
if (!contender || !scene || !server) throw new Error("Usage: measure-contender.ts <contender> <scene> <server> [database] [--profile]");

/** Records of one run; replaced before each. */
let record: ToolRecord = emptyRecord();
const tools = benchTools(() => record);

interface Counted {
  deltas: number;
  deltaCharacters: number;
}

function openingOf({ path, turns, history = 0 }: Scene, database: string | undefined, counted: Counted): Opening {
  return {
    baseURL: `${server}${path}/v1`,
    tools: path.startsWith("/text/") ? [] : tools,
    turnsMax: turns + 1,
    history,
    ...(database === undefined ? {} : { database }),
    onText: (delta) => {
      counted.deltas++;
      counted.deltaCharacters += delta.length;
    },
  };
}

/** Opens a new conversation for every input, as many at once as the scene states. */
async function freshRun(open: Open, measured: Scene): Promise<() => void> {
  const talk = async (): Promise<Observed> => {
    const counted: Counted = { deltas: 0, deltaCharacters: 0 };
    const conversation = await open(openingOf({ ...measured, history: 0 }, undefined, counted));
    const outcome = await conversation.say("Please do what is to be done.");
    await conversation.close();
    return { outcome, ...counted };
  };
  const all = await Promise.all(Array.from({ length: measured.concurrency }, talk));
  return () => {
    for (const observed of all) checkConversation(measured, 0, observed);
    checkTools(measured, record);
  };
}

/** Speaks on in one conversation that stays open. */
function keptRun(conversation: Conversation, measured: Scene, counted: Counted): () => Promise<() => void> {
  let before = measured.history ?? 0;
  return async () => {
    Object.assign(counted, { deltas: 0, deltaCharacters: 0 });
    const outcome = await conversation.say("Please say something more.");
    const observed = { outcome, ...counted };
    const had = before;
    before += 2;
    return () => checkConversation(measured, had, observed);
  };
}

/** Of the write-ahead log. It grows by what is written, until a checkpoint lets it begin again. */
const walBytes = (database: string | undefined): number => (database === undefined ? 0 : statSync(`${database}-wal`).size);

interface Opened {
  readonly open: Measurement["open"];
  readonly run: () => Promise<() => void>;
  close(): Promise<void>;
}

/** The conversation that stays open. */
async function openKept(open: Open, measured: Scene, database: string | undefined): Promise<Opened> {
  const counted: Counted = { deltas: 0, deltaCharacters: 0 };
  const cpu = process.cpuUsage();
  const at = performance.now();
  const conversation = await open(openingOf(measured, database, counted));
  const { user, system } = process.cpuUsage(cpu);
  return {
    open: { cpuMs: (user + system) / 1000, wallMs: performance.now() - at },
    run: keptRun(conversation, measured, counted),
    close: () => conversation.close(),
  };
}

async function measure(open: Open, measured: Scene): Promise<Measurement> {
  const database = more.find((argument) => !argument.startsWith("--"));
  const { isStored = false, history } = measured;
  const fresh = (): Promise<() => void> => freshRun(open, measured);
  const warm = (): Promise<() => void> => freshRun(open, { ...measured, ...measured.warmup });
  const profiler = await createProfiler(more.includes("--profile"));
  let cpuUs = 0;
  let wallMs = 0;
  const written: number[] = [];
  const once = async (run: () => Promise<() => void>, isMeasured: boolean): Promise<void> => {
    record = emptyRecord();
    const cpu = process.cpuUsage();
    const logBytes = walBytes(database);
    const at = performance.now();
    const check = await run();
    const spent = process.cpuUsage(cpu);
    if (isMeasured) {
      cpuUs += spent.user + spent.system;
      wallMs += performance.now() - at;
      written.push(walBytes(database) - logBytes);
    }
    check();
  };
  // What lies in a database is opened by a process that has just begun, which is measured too.
  const stored = isStored ? await openKept(open, measured, database) : undefined;
  for (let index = 0; index < measured.warmups; index++) await once(stored?.run ?? warm, false);
  const kept = stored ?? (history === undefined ? undefined : await openKept(open, measured, database));
  await profiler.start();
  for (let index = 0; index < measured.runs; index++) await once(kept?.run ?? fresh, true);
  const profile = await profiler.stop();
  await kept?.close();
  const units = measured.runs * measured.unitsPerRun;
  return {
    cpuUs: cpuUs / units,
    wallMs: wallMs / measured.runs,
    peakMb: process.resourceUsage().maxRSS / 1024,
    ...(stored?.open ? { open: stored.open } : {}),
    ...(database === undefined ? {} : { writtenBytes: median(written.filter((bytes) => bytes > 0)) }),
    ...(profile ? { profile } : {}),
  };
}

const { open } = (await import(`./contenders/${contender}.ts`)) as { readonly open: Open };
process.stdout.write(JSON.stringify(await measure(open, scene)));
process.exit(0);
