import { type Person, type PersonOptions, startPerson } from "../world/person.ts";
import { post } from "../world/post.ts";
import { startWatcher, type Watcher, type WatcherTaste } from "../world/watcher.ts";
import type { World } from "../world/world.ts";

export interface CrowdOptions {
  readonly world: World;
  readonly sessions: number;
  readonly random: () => number;
  readonly taste: PersonOptions["taste"];
  /** One watcher per entry and session; the first one is the person's own. */
  readonly watchers: readonly WatcherTaste[];
}

/** One session, its person, and who watches it. */
export interface Place {
  readonly id: string;
  readonly watchers: readonly Watcher[];
  readonly person: Person;
}

/** People and watchers on the sessions of a world. */
export interface Crowd {
  readonly places: readonly Place[];
  /** Times that watchers came back, so far. */
  readonly reconnects: number;
}

/** Opens the sessions and lets people talk in them, until they are judged. */
export async function gatherCrowd({ world, sessions, random, taste, watchers: tastes }: CrowdOptions): Promise<Crowd> {
  const pick = (): string => world.pick(random);
  const places = await Promise.all(
    Array.from({ length: sessions }, async (_, index): Promise<Place> => {
      const id = `s${index}`;
      await post({ pick, path: "/api/sessions", body: { id }, key: `open-${id}` });
      const watchers = tastes.map((one) => startWatcher({ sessionId: id, pick, random, taste: one }));
      return { id, watchers, person: startPerson({ sessionId: id, pick, random, watcher: watchers[0] as Watcher, taste }) };
    }),
  );
  return {
    places,
    get reconnects() {
      return places.flatMap(({ watchers }) => watchers).reduce((sum, { connections }) => sum + Math.max(0, connections - 1), 0);
    },
  };
}
