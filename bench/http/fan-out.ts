import type { FanOutScene } from "./http-scenes.ts";
import { createWordCount, openAgent, send, textOf, type WordCount } from "./load.ts";
import type { Around, MeasuredServer } from "./measured-server.ts";
import { eventsPath, messagesPath, type Pace, paceText } from "./served.ts";

const word = "event: text_delta\n";

interface Watcher {
  readonly events: WordCount;
  characters: number;
}

/** Longest that the events of one play may be on their way after the last was due. */
const lateMs = 20_000;

/** CPU for one event at one client. @throws Error when one of them got more or fewer events than were sent. */
export async function measureFanOut(
  scene: FanOutScene,
  { url }: MeasuredServer,
  around: Around,
): Promise<Readonly<Record<string, readonly number[]>>> {
  const agent = openAgent();
  let expected = 0;
  let arrived = 0;
  let allArrived = (): void => {};
  const watchers = await Promise.all(
    Array.from({ length: scene.watchers }, async (): Promise<Watcher> => {
      const watcher: Watcher = { events: createWordCount(word), characters: 0 };
      const answer = await send(`${url}${eventsPath}`, { agent });
      answer.on("data", (text: string) => {
        const before = watcher.events.count;
        watcher.events.take(text);
        watcher.characters += text.length;
        arrived += watcher.events.count - before;
        if (arrived >= expected) allArrived();
      });
      return watcher;
    }),
  );

  const play = async (pace: Pace): Promise<void> => {
    expected += pace.deltas * scene.watchers;
    const done = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${arrived} of ${expected} events came.`)), pace.deltas * pace.gapMs * 4 + lateMs);
      allArrived = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    await textOf(await send(`${url}${messagesPath}`, { agent, body: { input: paceText(pace) } }));
    await done;
  };

  await play(scene.warmup);
  const before = watchers.map(({ characters }) => characters);
  const cpuUs = await around(() => play(scene.measured));
  const { deltas } = scene.measured;
  for (const { events } of watchers)
    if (events.count !== scene.warmup.deltas + deltas) throw new Error(`${scene.id}: a client got ${events.count} events.`);
  const characters = (watchers[0]?.characters ?? 0) - (before[0] ?? 0);
  return { cpuUs: [cpuUs / (deltas * scene.watchers)], bytesPerEvent: [characters / deltas] };
}
